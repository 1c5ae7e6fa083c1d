// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// edit replaces the bytes from start to end.
type edit struct {
	start, end int
	text       string
}

// edited is a file as it is in the working copy, and where its content comes from.
type edited struct {
	original []byte
	display  string // name for people
	edits    []edit // sorted, not overlapping
	content  []byte
}

// blank overwrites all but line ends with spaces.
func blank(text []byte) {
	for i, c := range text {
		if c != '\n' && c != '\r' {
			text[i] = ' '
		}
	}
}

// newEdited applies edits to source, which has the length and lines of original.
func newEdited(display string, original, source []byte, edits []edit) *edited {
	slices.SortStableFunc(edits, func(a, b edit) int { // insertions at a place come before replacements there
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end))
	})
	file := &edited{original: original, display: display}
	var out bytes.Buffer
	last := 0
	for _, e := range edits {
		if e.start < last {
			continue // inside of an earlier replacement
		}
		out.Write(source[last:e.start])
		out.WriteString(e.text)
		file.edits = append(file.edits, e)
		last = e.end
	}
	out.Write(source[last:])
	file.content = out.Bytes()
	return file
}

// position maps a byte offset in the content to the place in the original.
func (f *edited) position(offset int) hcl.Pos {
	shift := 0 // how far the content is behind or ahead of the original
	for _, e := range f.edits {
		start := e.start + shift
		if offset <= start {
			break
		}
		if offset < start+len(e.text) {
			offset = start + min(offset-start, e.end-e.start)
			return positionOf(f.original, offset-shift)
		}
		shift += len(e.text) - (e.end - e.start)
	}
	return positionOf(f.original, offset-shift)
}

// positionOf counts lines and columns up to a byte offset.
func positionOf(source []byte, offset int) hcl.Pos {
	offset = max(0, min(offset, len(source)))
	before := source[:offset]
	line := bytes.Count(before, []byte("\n"))
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:])
	return hcl.Pos{Line: line + 1, Column: column + 1, Byte: offset}
}

// reference is an occurrence of var.NAME.
type reference struct {
	name       string
	start, end int
}

// walker collects the references and calls of a syntax tree that the working copy replaces.
type walker struct {
	references []reference
	timestamps []hcl.Range // calls of plantimestamp
	absolutes  []hcl.Range // arguments of calls of abspath, up to the parenthesis
	others     bool        // there are references to something else than variables
	shadowed   int         // enclosing for expressions that use the name var themselves
}

func (w *walker) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch node := node.(type) {
	case hclsyntax.ChildScope:
		if _, shadows := node.LocalNames["var"]; shadows {
			w.shadowed++
		}
	case *hclsyntax.ScopeTraversalExpr:
		w.traversal(node.Traversal)
	case *hclsyntax.FunctionCallExpr:
		switch strings.TrimPrefix(node.Name, "core::") {
		case "plantimestamp":
			if len(node.Args) == 0 {
				w.timestamps = append(w.timestamps, node.Range())
			}
		case "abspath":
			if len(node.Args) == 1 && !node.ExpandFinal {
				// The end of a text has to be on the line after it.
				w.absolutes = append(w.absolutes, hcl.Range{Start: node.Args[0].Range().Start, End: node.CloseParenRange.Start})
			}
		}
	}
	return nil
}

func (w *walker) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if scope, ok := node.(hclsyntax.ChildScope); ok {
		if _, shadows := scope.LocalNames["var"]; shadows {
			w.shadowed--
		}
	}
	return nil
}

func (w *walker) traversal(traversal hcl.Traversal) {
	if traversal.RootName() != "var" || len(traversal) < 2 {
		w.others = true
		return
	}
	attr, ok := traversal[1].(hcl.TraverseAttr)
	if !ok || w.shadowed > 0 {
		return
	}
	w.references = append(w.references, reference{
		name:  attr.Name,
		start: traversal[0].SourceRange().Start.Byte,
		end:   attr.SrcRange.End.Byte,
	})
}

func walk(node hclsyntax.Node) *walker {
	w := &walker{}
	_ = hclsyntax.Walk(node, w) //nolint:errcheck // Enter and Exit return no diagnostics
	return w
}
