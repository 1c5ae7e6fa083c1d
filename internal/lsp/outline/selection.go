// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.lsp.dev/protocol"
)

// Selection returns the ranges that a selection at a byte grows to, from the smallest to the whole
// file.
func (f *File) Selection(offset int) protocol.SelectionRange {
	var around []hcl.Range
	add := func(rng hcl.Range) {
		if rng.Start.Byte <= offset && offset <= rng.End.Byte && rng.End.Byte > rng.Start.Byte {
			around = append(around, rng)
		}
	}
	diags := hclsyntax.VisitAll(f.Body, func(node hclsyntax.Node) hcl.Diagnostics {
		switch node := node.(type) {
		case *hclsyntax.Block:
			add(blockRange(node))
			for _, label := range node.LabelRanges {
				add(label)
			}
		case *hclsyntax.Attribute:
			add(node.SrcRange)
			add(node.NameRange)
		case *hclsyntax.Body:
			if node == f.Body {
				break
			}
			add(node.SrcRange)
		case hclsyntax.Expression:
			add(node.Range())
		}
		return nil
	})
	_ = diags // there are none
	slices.SortStableFunc(around, func(a, b hcl.Range) int { return cmp.Compare(size(b), size(a)) })
	selection := &protocol.SelectionRange{Range: f.Text.Span(0, len(f.Text.Bytes()))}
	for _, rng := range around {
		if next := f.Text.Range(rng); next != selection.Range && within(next, selection.Range) {
			selection = &protocol.SelectionRange{Range: next, Parent: selection}
		}
	}
	return *selection
}

func size(rng hcl.Range) int { return rng.End.Byte - rng.Start.Byte }

// within reports whether a range is part of another.
func within(inner, outer protocol.Range) bool {
	return !before(inner.Start, outer.Start) && !before(outer.End, inner.End)
}

func before(a, b protocol.Position) bool {
	return a.Line < b.Line || (a.Line == b.Line && a.Character < b.Character)
}
