// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reparse

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// splat is an expression with a splat, which is referred to from inside of it.
type splat struct {
	item, moved *hclsyntax.AnonSymbolExpr
	outer       *splat
}

// of returns the symbol in the place of one of the tree before, which is in one of the splats.
func (s *splat) of(item *hclsyntax.AnonSymbolExpr) *hclsyntax.AnonSymbolExpr {
	for s.item != item {
		s = s.outer
	}
	return s.moved
}

// bare returns the expression that a loop evaluates in each round, without the one that counts the
// rounds.
func bare(e hclsyntax.Expression) hclsyntax.Expression {
	if e == nil {
		return nil
	}
	if _, parentheses := e.(*hclsyntax.ParenthesesExpr); parentheses {
		return e
	}
	var nodes []hclsyntax.Node
	_ = hclsyntax.VisitAll(e, func(node hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // nothing is wrong
		nodes = append(nodes, node)
		return nil
	})
	return nodes[1].(hclsyntax.Expression) //nolint:forcetypeassert // all but the root are in a prepared loop
}

// expression returns an expression in its new place. Splats around it are those that it may refer
// to.
func (m mover) expression(e hclsyntax.Expression, around *splat) hclsyntax.Expression {
	in := func(e hclsyntax.Expression) hclsyntax.Expression { return m.expression(e, around) }
	switch e := e.(type) {
	case nil:
		return nil
	case *hclsyntax.LiteralValueExpr:
		return &hclsyntax.LiteralValueExpr{Val: e.Val, SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.ScopeTraversalExpr:
		return &hclsyntax.ScopeTraversalExpr{Traversal: m.traversal(e.Traversal), SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.RelativeTraversalExpr:
		return &hclsyntax.RelativeTraversalExpr{Source: in(e.Source), Traversal: m.traversal(e.Traversal), SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.TemplateExpr:
		return &hclsyntax.TemplateExpr{Parts: m.expressions(e.Parts, around), SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.TemplateWrapExpr:
		return &hclsyntax.TemplateWrapExpr{Wrapped: in(e.Wrapped), SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.TemplateJoinExpr:
		// It has no range of its own: HCL takes that of the tuple.
		return &hclsyntax.TemplateJoinExpr{Tuple: in(e.Tuple)}
	case *hclsyntax.ObjectConsExpr:
		moved := &hclsyntax.ObjectConsExpr{SrcRange: m.rng(e.SrcRange), OpenRange: m.rng(e.OpenRange)}
		for _, item := range e.Items {
			moved.Items = append(moved.Items, hclsyntax.ObjectConsItem{KeyExpr: in(item.KeyExpr), ValueExpr: in(item.ValueExpr)})
		}
		return moved
	case *hclsyntax.ObjectConsKeyExpr:
		return &hclsyntax.ObjectConsKeyExpr{Wrapped: in(e.Wrapped), ForceNonLiteral: e.ForceNonLiteral}
	case *hclsyntax.TupleConsExpr:
		return &hclsyntax.TupleConsExpr{Exprs: m.expressions(e.Exprs, around), SrcRange: m.rng(e.SrcRange), OpenRange: m.rng(e.OpenRange)}
	case *hclsyntax.FunctionCallExpr:
		return &hclsyntax.FunctionCallExpr{
			Name: e.Name, Args: m.expressions(e.Args, around), ExpandFinal: e.ExpandFinal,
			NameRange: m.rng(e.NameRange), OpenParenRange: m.rng(e.OpenParenRange), CloseParenRange: m.rng(e.CloseParenRange),
		}
	case *hclsyntax.ConditionalExpr:
		return &hclsyntax.ConditionalExpr{
			Condition: in(e.Condition), TrueResult: in(e.TrueResult), FalseResult: in(e.FalseResult), SrcRange: m.rng(e.SrcRange),
		}
	case *hclsyntax.BinaryOpExpr:
		return &hclsyntax.BinaryOpExpr{LHS: in(e.LHS), Op: e.Op, RHS: in(e.RHS), SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.UnaryOpExpr:
		return &hclsyntax.UnaryOpExpr{Op: e.Op, Val: in(e.Val), SrcRange: m.rng(e.SrcRange), SymbolRange: m.rng(e.SymbolRange)}
	case *hclsyntax.ParenthesesExpr:
		return &hclsyntax.ParenthesesExpr{Expression: in(e.Expression), SrcRange: m.rng(e.SrcRange)}
	case *hclsyntax.IndexExpr:
		return &hclsyntax.IndexExpr{
			Collection: in(e.Collection), Key: in(e.Key),
			SrcRange: m.rng(e.SrcRange), OpenRange: m.rng(e.OpenRange), BracketRange: m.rng(e.BracketRange),
		}
	case *hclsyntax.ForExpr:
		in := func(e hclsyntax.Expression) hclsyntax.Expression { return m.expression(bare(e), around) }
		moved := &hclsyntax.ForExpr{
			KeyVar: e.KeyVar, ValVar: e.ValVar, CollExpr: m.expression(e.CollExpr, around), KeyExpr: in(e.KeyExpr),
			ValExpr: in(e.ValExpr), CondExpr: in(e.CondExpr), Group: e.Group,
			SrcRange: m.rng(e.SrcRange), OpenRange: m.rng(e.OpenRange), CloseRange: m.rng(e.CloseRange),
		}
		bounds.Prepare(moved)
		return moved
	case *hclsyntax.SplatExpr:
		// HCL gives the symbol the value of an element while it evaluates the rest. Two trees with one
		// symbol would write to the same place.
		item := &hclsyntax.AnonSymbolExpr{SrcRange: m.rng(e.Item.SrcRange)}
		return &hclsyntax.SplatExpr{
			Source: in(e.Source), Each: m.expression(e.Each, &splat{e.Item, item, around}), Item: item,
			SrcRange: m.rng(e.SrcRange), MarkerRange: m.rng(e.MarkerRange),
		}
	case *hclsyntax.AnonSymbolExpr:
		return around.of(e)
	}
	panic(fmt.Sprintf("no place for %T", e)) // none other is in a tree without errors
}

func (m mover) expressions(all []hclsyntax.Expression, around *splat) []hclsyntax.Expression {
	if all == nil {
		return nil
	}
	moved := make([]hclsyntax.Expression, len(all))
	for i, e := range all {
		moved[i] = m.expression(e, around)
	}
	return moved
}

func (m mover) traversal(t hcl.Traversal) hcl.Traversal {
	moved := make(hcl.Traversal, len(t))
	for i, step := range t {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			step.SrcRange = m.rng(step.SrcRange)
			moved[i] = step
		case hcl.TraverseAttr:
			step.SrcRange = m.rng(step.SrcRange)
			moved[i] = step
		case hcl.TraverseIndex:
			step.SrcRange = m.rng(step.SrcRange)
			moved[i] = step
		default:
			panic(fmt.Sprintf("no place for %T", step))
		}
	}
	return moved
}
