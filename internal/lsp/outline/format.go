// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"bytes"

	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/lsp/position"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// Format returns the edits that bring the lines from first to last into the canonical form, as
// `cairn fmt` does it. Lines that are right are not touched. A file with errors of the syntax has
// no such form.
func (f *File) Format(first, last int) []protocol.TextEdit {
	formatted, _, diags := safehcl.Format(f.Text.Bytes(), f.Path)
	if diags.HasErrors() {
		return nil
	}
	after := position.NewText(formatted)
	if after.Lines() != f.Text.Lines() {
		return f.replaceAll(formatted, first, last)
	}
	edits := []protocol.TextEdit{}
	for line := max(0, first); line <= last && line < after.Lines(); line++ {
		was, is := f.line(f.Text, line), f.line(after, line)
		if !bytes.Equal(was, is) {
			edits = append(edits, protocol.TextEdit{Range: f.Text.Span(f.Text.LineStart(line), f.Text.LineEnd(line)), NewText: string(is)})
		}
	}
	return edits
}

func (f *File) line(text *position.Text, line int) []byte {
	return text.Bytes()[text.LineStart(line):text.LineEnd(line)]
}

// replaceAll replaces the whole text, unless only a part of it was meant.
func (f *File) replaceAll(formatted []byte, first, last int) []protocol.TextEdit {
	if first > 0 || last < f.Text.Lines()-1 {
		return nil
	}
	return []protocol.TextEdit{{Range: f.Text.Span(0, len(f.Text.Bytes())), NewText: string(formatted)}}
}
