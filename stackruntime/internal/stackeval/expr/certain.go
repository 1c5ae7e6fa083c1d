// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package expr

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// StepChecker is implemented by objects whose values are not known in static checks, although the
// names in them are.
type StepChecker interface {
	// CheckSteps reports mistakes in the steps that follow a reference to the object.
	CheckSteps(ctx context.Context, steps hcl.Traversal) hcl.Diagnostics
}

// OptionalScope is implemented by scopes of expressions that may be evaluated for no instance at
// all.
type OptionalScope interface {
	IsOptional() bool
}

// IsOptional reports whether expressions in a scope may be evaluated for no instance at all.
func IsOptional(scope EvaluationScope) bool {
	optional, ok := scope.(OptionalScope)
	return ok && optional.IsOptional()
}

// checkSteps checks the steps of all references that are certain to be followed. Where there may be
// no instance that follows them, a mistake is a warning.
func checkSteps(ctx context.Context, expressions []hcl.Expression, objects resolved, scope EvaluationScope) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, e := range expressions {
		for _, traversal := range certainTraversals(e) {
			ref, steps, moreDiags := stackaddrs.ParseReference(traversal)
			if moreDiags.HasErrors() {
				continue // reported already
			}
			if checker, ok := objects.objects[ref.Target].(StepChecker); ok {
				diags = diags.Extend(checker.CheckSteps(ctx, steps))
			}
		}
	}
	if len(diags) > 0 && IsOptional(scope) {
		for _, diag := range diags {
			diag.Severity = hcl.DiagWarning
		}
	}
	return diags
}

// certainTraversals are the traversals of an expression that fail the expression if they fail,
// whatever the values are. Those are left out that try or can may catch, and those in branches and
// loops, which may not be taken. Of expressions in JSON nothing is certain.
func certainTraversals(e hcl.Expression) []hcl.Traversal {
	node, ok := e.(hclsyntax.Node)
	if !ok {
		return nil
	}
	w := &certainWalker{doubtful: make(map[hclsyntax.Expression]bool)}
	hclsyntax.Walk(node, w) //nolint:errcheck // it reports nothing
	return w.found
}

type certainWalker struct {
	doubtful map[hclsyntax.Expression]bool // expressions that need not be evaluated, or need not succeed
	inside   int                           // how many of those are around
	found    []hcl.Traversal
}

// Enter implements [hclsyntax.Walker].
func (w *certainWalker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	e, ok := node.(hclsyntax.Expression)
	if !ok {
		return nil
	}
	if w.doubtful[e] {
		w.inside++
	}
	// HCL drops the errors of the branch that is not taken, and of a second operand that does not
	// decide; loops may have no elements; try and can catch errors.
	doubt := func(parts ...hclsyntax.Expression) {
		for _, part := range parts {
			if part != nil {
				w.doubtful[part] = true
			}
		}
	}
	switch e := e.(type) {
	case *hclsyntax.ConditionalExpr:
		doubt(e.TrueResult, e.FalseResult)
	case *hclsyntax.BinaryOpExpr:
		if e.Op == hclsyntax.OpLogicalAnd || e.Op == hclsyntax.OpLogicalOr {
			doubt(e.RHS)
		}
	case *hclsyntax.ForExpr:
		doubt(e.KeyExpr, e.ValExpr, e.CondExpr)
	case *hclsyntax.SplatExpr:
		doubt(e.Each)
	case *hclsyntax.FunctionCallExpr:
		if name := strings.TrimPrefix(e.Name, "core::"); name == "try" || name == "can" {
			doubt(e.Args...)
		}
	case *hclsyntax.ScopeTraversalExpr:
		if w.inside == 0 {
			w.found = append(w.found, e.Traversal)
		}
	}
	return nil
}

// Exit implements [hclsyntax.Walker].
func (w *certainWalker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if e, ok := node.(hclsyntax.Expression); ok && w.doubtful[e] {
		w.inside--
	}
	return nil
}
