// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"bytes"
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.lsp.dev/protocol"
)

// Folds returns the ranges that can be folded: blocks, lists, objects and calls of several lines,
// texts, and comments.
func (f *File) Folds() []protocol.FoldingRange {
	folds := f.foldComments()
	diags := hclsyntax.VisitAll(f.Body, func(node hclsyntax.Node) hcl.Diagnostics {
		switch node := node.(type) {
		case *hclsyntax.Block:
			folds = f.appendFold(folds, blockRange(node), "")
		case *hclsyntax.ObjectConsExpr, *hclsyntax.TupleConsExpr, *hclsyntax.ForExpr, *hclsyntax.FunctionCallExpr, *hclsyntax.TemplateExpr:
			folds = f.appendFold(folds, node.Range(), "")
		}
		return nil
	})
	_ = diags // there are none
	slices.SortStableFunc(folds, func(a, b protocol.FoldingRange) int {
		return cmp.Or(cmp.Compare(a.StartLine, b.StartLine), cmp.Compare(b.EndLine, a.EndLine))
	})
	return slices.CompactFunc(folds, func(a, b protocol.FoldingRange) bool { return a.StartLine == b.StartLine })
}

func (f *File) appendFold(folds []protocol.FoldingRange, rng hcl.Range, kind protocol.FoldingRangeKind) []protocol.FoldingRange {
	start, end := f.Text.Line(rng.Start.Byte), f.Text.Line(rng.End.Byte)
	if kind == "" {
		end-- // the closing bracket stays visible
	}
	if end <= start {
		return folds
	}
	return append(folds, protocol.FoldingRange{StartLine: uint32(start), EndLine: uint32(end), Kind: kind}) //nolint:gosec // lines of a text
}

// foldComments folds comments of several lines, and comments on lines that follow each other.
func (f *File) foldComments() []protocol.FoldingRange {
	var folds []protocol.FoldingRange
	first, last := -1, -1
	end := func() {
		if first >= 0 && last > first {
			folds = append(folds, protocol.FoldingRange{
				StartLine: uint32(first), EndLine: uint32(last), Kind: protocol.FoldingRangeKindComment, //nolint:gosec // lines of a text
			})
		}
		first = -1
	}
	for _, token := range f.tokens() {
		if token.Type != hclsyntax.TokenComment {
			continue
		}
		start := f.Text.Line(token.Range.Start.Byte)
		stop := f.Text.Line(token.Range.Start.Byte + len(bytes.TrimRight(token.Bytes, "\r\n")))
		alone := len(bytes.TrimSpace(f.Text.Bytes()[f.Text.LineStart(start):token.Range.Start.Byte])) == 0
		if !alone || first < 0 || start != last+1 {
			end()
			if alone {
				first = start
			}
		}
		last = stop
	}
	end()
	return folds
}
