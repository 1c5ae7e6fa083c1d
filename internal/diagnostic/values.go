// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostic

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safetext"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// values returns the values of the references in the expression at fault.
func values(diag *hcl.Diagnostic) []Value {
	list := []Value{} // an empty list in JSON, not null
	if reported, ok := hcl.DiagnosticExtra[WithValues](diag); ok {
		for traversal, text := range reported.ReferenceValues() {
			list = append(list, Value{safetext.Clean(traversal), safetext.Clean(text)})
		}
		slices.SortFunc(list, compareValues)
	}
	if diag.Expression == nil || diag.EvalContext == nil {
		return list
	}
	for _, traversal := range diag.Expression.Variables() {
		if v, ok := valueOf(traversal, diag.EvalContext); ok && !slices.Contains(list, v) {
			list = append(list, v)
		}
	}
	slices.SortFunc(list, compareValues)
	return list
}

func compareValues(a, b Value) int {
	return cmp.Or(strings.Compare(a.Traversal, b.Traversal), strings.Compare(a.Statement, b.Statement))
}

// valueOf evaluates as much of a traversal as there is.
func valueOf(traversal hcl.Traversal, ctx *hcl.EvalContext) (Value, bool) {
	for ; len(traversal) > 1; traversal = traversal[:len(traversal)-1] {
		v, diags := traversal.TraverseAbs(ctx)
		if diags.HasErrors() || v == cty.NilVal {
			continue // an error that is reported already: try the steps before it
		}
		return Value{Traversal: traversalText(traversal), Statement: statement(v)}, true
	}
	if len(traversal) == 1 && isIterator(traversal, ctx) {
		if v, diags := traversal.TraverseAbs(ctx); !diags.HasErrors() && v != cty.NilVal {
			return Value{Traversal: traversalText(traversal), Statement: statement(v)}, true
		}
	}
	return Value{}, false
}

// isIterator reports whether a bare name is one of a "for" expression, and not a
// whole table of names such as "var".
func isIterator(traversal hcl.Traversal, ctx *hcl.EvalContext) bool {
	root := ctx
	for root.Parent() != nil {
		root = root.Parent()
	}
	_, global := root.Variables[traversal.RootName()]
	return !global
}

// maxShown bounds the characters shown of a string.
const maxShown = 200

// statement describes a value, following rule D1.
func statement(v cty.Value) string {
	switch {
	case marks.Has(v, marks.Ephemeral):
		return "has an ephemeral value"
	case marks.Has(v, marks.Sensitive):
		return "has a sensitive value"
	}
	v, _ = v.Unmark() // other marks hide nothing
	switch {
	case !v.IsKnown():
		return unknownStatement(v.Type())
	case v.IsNull():
		return "is null"
	}
	ty := v.Type()
	switch {
	case ty == cty.Bool:
		return "is " + strconv.FormatBool(v.True())
	case ty == cty.Number:
		return "is " + v.AsBigFloat().Text('g', 30)
	case ty == cty.String:
		text := []rune(v.AsString())
		if len(text) > maxShown {
			return "is " + strconv.Quote(string(text[:maxShown])) + fmt.Sprintf("… (%d characters)", len(text))
		}
		return "is " + strconv.Quote(string(text))
	case ty.IsCollectionType():
		return "is " + sized(ty.FriendlyName(), v.LengthInt(), "element")
	case ty.IsTupleType():
		return "is " + sized("tuple", len(ty.TupleElementTypes()), "element")
	case ty.IsObjectType():
		return "is " + sized("object", len(ty.AttributeTypes()), "attribute")
	}
	return "is " + ty.FriendlyName()
}

// unknownStatement does not say when the value will be known: a value unknown to validation may
// exist already.
func unknownStatement(ty cty.Type) string {
	switch {
	case ty.IsObjectType():
		return "is an object that is not known yet"
	case ty.IsTupleType():
		return "is a tuple that is not known yet"
	case ty == cty.DynamicPseudoType:
		return "is not known yet"
	default:
		return "is a " + ty.FriendlyName() + " that is not known yet"
	}
}

func sized(name string, n int, part string) string {
	switch n {
	case 0:
		return "empty " + name
	case 1:
		return name + " with 1 " + part
	}
	return fmt.Sprintf("%s with %d %ss", name, n, part)
}

// traversalText writes a traversal as it stands in the configuration.
func traversalText(traversal hcl.Traversal) string {
	var b strings.Builder
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			b.WriteString(step.Name)
		case hcl.TraverseAttr:
			b.WriteString("." + step.Name)
		case hcl.TraverseIndex:
			b.WriteString("[" + indexText(step.Key) + "]")
		case hcl.TraverseSplat:
			b.WriteString("[*]")
		}
	}
	return b.String()
}

func indexText(key cty.Value) string {
	switch {
	case key.IsMarked() || key.IsNull() || !key.IsKnown():
		return "…"
	case key.Type() == cty.Number:
		return key.AsBigFloat().Text('f', -1)
	case key.Type() == cty.String:
		return strconv.Quote(key.AsString())
	}
	return "…"
}

// functionCall returns the call during which an error occurred, or nil.
func functionCall(diag *hcl.Diagnostic) *FunctionCall {
	extra, ok := hcl.DiagnosticExtra[hclsyntax.FunctionCallDiagExtra](diag)
	if !ok || extra.CalledFunctionName() == "" {
		return nil
	}
	call := &FunctionCall{Name: extra.CalledFunctionName(), Parameters: []string{}}
	for ctx := diag.EvalContext; ctx != nil; ctx = ctx.Parent() {
		fn, ok := ctx.Functions[call.Name]
		if !ok {
			continue
		}
		for _, param := range fn.Params() {
			call.Parameters = append(call.Parameters, param.Name)
		}
		if rest := fn.VarParam(); rest != nil {
			call.Parameters = append(call.Parameters, rest.Name+"...")
		}
		break
	}
	return call
}
