// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package reparse parses a file in native syntax anew of which one block has changed, as that of a
// stack does with each key that is pressed.
//
// Only the block is parsed. The others are those of the tree that there was, moved to where they
// are now. The result is the same as that of parsing the whole file: outside of blocks the lexer
// has no state, and the text before and after the block has not changed.
package reparse

import (
	"sort"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// File returns the tree of a text, given one of an earlier text that was parsed without any
// diagnostics. It is nil unless exactly one block has changed and has no errors: then the whole
// file is to be parsed. Neither tree may be changed afterwards, as they share blocks. The tree has
// no [hcl.File.Nav].
func File(before *hcl.File, filename string, src []byte) *hcl.File {
	body, ok := before.Body.(*hclsyntax.Body)
	if !ok {
		return nil
	}
	start, end := changed(before.Bytes, src)
	n := blockWith(body, start, end)
	if n < 0 || !beginsLine(before.Bytes, body.Blocks[n].TypeRange.Start.Byte) {
		return nil
	}
	old := body.Blocks[n]
	first, last := old.TypeRange.Start, old.CloseBraceRange.End
	grown := len(src) - len(before.Bytes)
	block := parseBlock(src[first.Byte:last.Byte+grown], filename, first)
	if block == nil {
		return nil
	}
	m := mover{lines: block.CloseBraceRange.End.Line - last.Line, bytes: grown}
	moved := &hclsyntax.Body{Attributes: make(hclsyntax.Attributes, len(body.Attributes)), Blocks: make(hclsyntax.Blocks, len(body.Blocks))}
	for name, attr := range body.Attributes {
		if attr.SrcRange.Start.Byte > last.Byte {
			attr = m.attribute(attr)
		}
		moved.Attributes[name] = attr
	}
	copy(moved.Blocks, body.Blocks[:n])
	moved.Blocks[n] = block
	for i, after := range body.Blocks[n+1:] {
		moved.Blocks[n+1+i] = m.block(after)
	}
	moved.SrcRange, moved.EndRange = body.SrcRange, body.EndRange
	m.end(&moved.SrcRange.End, last, block.CloseBraceRange.End)
	m.end(&moved.EndRange.Start, last, block.CloseBraceRange.End)
	m.end(&moved.EndRange.End, last, block.CloseBraceRange.End)
	return &hcl.File{Body: moved, Bytes: src}
}

// changed returns the part of a text that another one has something else for. The text before it
// and the text after it are the same in both.
func changed(before, after []byte) (start, end int) {
	shorter := min(len(before), len(after))
	for start < shorter && before[start] == after[start] {
		start++
	}
	same := 0
	for same < shorter-start && before[len(before)-1-same] == after[len(after)-1-same] {
		same++
	}
	return start, len(before) - same
}

// blockWith returns the index of the block whose inner text has a part of the file, -1 if none has.
func blockWith(body *hclsyntax.Body, start, end int) int {
	n := sort.Search(len(body.Blocks), func(i int) bool { return body.Blocks[i].TypeRange.Start.Byte >= start }) - 1
	if n < 0 || end > body.Blocks[n].CloseBraceRange.Start.Byte {
		return -1
	}
	return n
}

// beginsLine reports whether there is nothing but space before an offset in its line.
func beginsLine(src []byte, offset int) bool {
	for offset > 0 {
		offset--
		switch src[offset] {
		case ' ', '\t':
		case '\n':
			return true
		default:
			return false
		}
	}
	return true
}

// parseBlock parses a text that is one block; nil if it is not.
func parseBlock(src []byte, filename string, start hcl.Pos) *hclsyntax.Block {
	file, diags := safehcl.ParseConfig(src, filename, start)
	if len(diags) > 0 || file == nil {
		return nil
	}
	body, ok := file.Body.(*hclsyntax.Body)
	if !ok || len(body.Attributes) > 0 || len(body.Blocks) != 1 {
		return nil
	}
	block := body.Blocks[0]
	if block.TypeRange.Start.Byte != start.Byte || block.CloseBraceRange.End.Byte != start.Byte+len(src) {
		return nil
	}
	return block
}

// mover moves the nodes of a tree to a later place. Their lines begin after the change, so that
// columns stay.
type mover struct{ lines, bytes int }

func (m mover) pos(p hcl.Pos) hcl.Pos {
	return hcl.Pos{Line: p.Line + m.lines, Column: p.Column, Byte: p.Byte + m.bytes}
}

func (m mover) rng(r hcl.Range) hcl.Range {
	if r == (hcl.Range{}) {
		return r // of a node that has none
	}
	return hcl.Range{Filename: r.Filename, Start: m.pos(r.Start), End: m.pos(r.End)}
}

func (m mover) ranges(all []hcl.Range) []hcl.Range {
	if all == nil {
		return nil
	}
	moved := make([]hcl.Range, len(all))
	for i, r := range all {
		moved[i] = m.rng(r)
	}
	return moved
}

// end moves the end of the file, which is in the line of the changed block if nothing but spaces
// follows that.
func (m mover) end(p *hcl.Pos, before, now hcl.Pos) {
	if p.Line == before.Line {
		p.Column += now.Column - before.Column
	}
	*p = m.pos(*p)
}

func (m mover) block(b *hclsyntax.Block) *hclsyntax.Block {
	if m == (mover{}) {
		return b
	}
	return &hclsyntax.Block{
		Type: b.Type, Labels: b.Labels, Body: m.body(b.Body),
		TypeRange: m.rng(b.TypeRange), LabelRanges: m.ranges(b.LabelRanges), OpenBraceRange: m.rng(b.OpenBraceRange),
		CloseBraceRange: m.rng(b.CloseBraceRange),
	}
}

func (m mover) body(b *hclsyntax.Body) *hclsyntax.Body {
	moved := &hclsyntax.Body{SrcRange: m.rng(b.SrcRange), EndRange: m.rng(b.EndRange)}
	moved.Attributes = make(hclsyntax.Attributes, len(b.Attributes))
	for name, attr := range b.Attributes {
		moved.Attributes[name] = m.attribute(attr)
	}
	for _, block := range b.Blocks {
		moved.Blocks = append(moved.Blocks, m.block(block))
	}
	return moved
}

func (m mover) attribute(a *hclsyntax.Attribute) *hclsyntax.Attribute {
	return &hclsyntax.Attribute{
		Name: a.Name, Expr: m.expression(a.Expr, nil),
		SrcRange: m.rng(a.SrcRange), NameRange: m.rng(a.NameRange), EqualsRange: m.rng(a.EqualsRange),
	}
}
