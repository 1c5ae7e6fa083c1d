// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bounds

import (
	"errors"
	"reflect"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

var reflectBudget = reflect.TypeFor[budget]()

// ErrHuge says that a number breaks rule 3.
var ErrHuge = errors.New("the number has too many digits when it is written out")

// Prepare makes the loops and the operators of a syntax tree keep the rules of this package, and
// reports whether there are any. Call it once, before anybody else has the tree.
func Prepare(node hclsyntax.Node) (found bool) {
	_ = hclsyntax.VisitAll(node, func(node hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // nothing is wrong
		switch node := node.(type) {
		case *hclsyntax.ForExpr:
			if _, done := node.ValExpr.(*round); done {
				break
			}
			found = true
			first := true
			for _, part := range []*hclsyntax.Expression{&node.CondExpr, &node.KeyExpr, &node.ValExpr} {
				if *part != nil {
					*part = &round{&hclsyntax.ParenthesesExpr{Expression: *part, SrcRange: (*part).Range()}, first}
					first = false
				}
			}
		case *hclsyntax.BinaryOpExpr:
			if bounded := operators[node.Op]; bounded != nil {
				node.Op, found = bounded, true
			}
		case *hclsyntax.UnaryOpExpr:
			if bounded := operators[node.Op]; bounded != nil {
				node.Op, found = bounded, true
			}
		}
		return nil
	})
	return found
}

// operators are those on numbers with their bounded forms.
var operators = func() map[*hclsyntax.Operation]*hclsyntax.Operation {
	bounded := map[*hclsyntax.Operation]*hclsyntax.Operation{}
	for _, op := range []*hclsyntax.Operation{
		hclsyntax.OpAdd, hclsyntax.OpSubtract, hclsyntax.OpMultiply, hclsyntax.OpDivide, hclsyntax.OpModulo, hclsyntax.OpNegate,
	} {
		bounded[op] = &hclsyntax.Operation{Impl: boundOperands(op.Impl), Type: op.Type, ShortCircuit: op.ShortCircuit}
	}
	return bounded
}()

// Is reports whether an operator of a prepared tree is one of HCL.
func Is(op, of *hclsyntax.Operation) bool { return op == of || op == operators[of] }

// boundOperands makes a function that is like another for numbers that keep rule 3, and has results
// that do.
func boundOperands(f function.Function) function.Function {
	params := f.Params()
	for i := range params {
		params[i].AllowNull, params[i].AllowUnknown, params[i].AllowDynamicType, params[i].AllowMarked = true, true, true, true
	}
	return function.New(&function.Spec{
		Params: params,
		Type:   function.StaticReturnType(cty.Number),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			if slices.ContainsFunc(args, Huge) {
				return cty.NilVal, ErrHuge
			}
			result, err := f.Call(args)
			if err == nil && Huge(result) {
				err = ErrHuge
			}
			return result, err
		},
	})
}
