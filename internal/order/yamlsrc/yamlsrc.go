// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package yamlsrc reads YAML that others wrote, and knows the place of everything in it.
//
// A tree that [Parse] returns is safe to walk, aliases followed: it has an end and is not much larger than its file.
package yamlsrc

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/order"
)

const (
	// MaxSize is the size in bytes over which a file is refused.
	MaxSize = 1 << 20

	maxNodes = 1 << 20 // with all aliases written out
)

// File is a file with one document.
type File struct {
	Name string
	Root *yaml.Node // never an alias; nil if the file is empty

	lines [][]byte
	start []int // byte offset of each line
}

// Parse reads a file. If there are error diagnostics, the file has places, but no root.
func Parse(name string, src []byte) (*File, hcl.Diagnostics) {
	f := &File{Name: name, lines: bytes.SplitAfter(src, []byte("\n"))}
	offset := 0
	for _, line := range f.lines {
		f.start = append(f.start, offset)
		offset += len(line)
	}
	if len(src) > MaxSize {
		return f, hcl.Diagnostics{order.Problem(order.CodeSyntax, f.at(1, 1, 0), "File too large",
			"The file has %d bytes; cairn reads at most %d. Split it, or move what does not belong in it elsewhere.", len(src), MaxSize)}
	}
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	var doc, more yaml.Node
	if err := decoder.Decode(&doc); errors.Is(err, io.EOF) {
		return f, nil
	} else if err != nil {
		return f, hcl.Diagnostics{f.syntaxError(err)}
	}
	if err := decoder.Decode(&more); err == nil {
		return f, hcl.Diagnostics{order.Problem(order.CodeSyntax, f.at(max(more.Line, 1), 1, 0), "Several documents",
			"The file has a second document, which would have no meaning. Remove it with the --- before it.")}
	} else if !errors.Is(err, io.EOF) {
		return f, hcl.Diagnostics{f.syntaxError(err)}
	}
	if diag := f.checkAliases(&doc); diag != nil {
		return f, hcl.Diagnostics{diag}
	}
	if root := Resolve(doc.Content[0]); root.Tag != "!!null" {
		f.Root = root
	}
	return f, nil
}

// syntaxError finds the line in the text of an error, the only place where the parser says it.
func (f *File) syntaxError(err error) *hcl.Diagnostic {
	text := strings.TrimPrefix(err.Error(), "yaml: ")
	line := 1
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if number, after, ok := strings.Cut(rest, ": "); ok {
			if n, err := strconv.Atoi(number); err == nil {
				line, text = n, after
			}
		}
	}
	return order.Problem(order.CodeSyntax, f.at(line, 1, 0), "Invalid YAML", "This is not YAML: %s.", text)
}

// checkAliases refuses a tree that has no end, or that is many times larger than its file.
func (f *File) checkAliases(doc *yaml.Node) *hcl.Diagnostic {
	const open = -1
	sizes := map[*yaml.Node]int{}
	var problem *hcl.Diagnostic
	var measure func(n *yaml.Node) int
	measure = func(n *yaml.Node) int {
		size, known := sizes[n]
		switch {
		case size == open:
			problem = order.Problem(order.CodeSyntax, f.Range(n), "Alias of itself", "The value holds itself by an alias. Write it out.")
			return 0
		case known:
			return size
		}
		sizes[n] = open
		size = 1
		if n.Alias != nil {
			size += measure(n.Alias)
		}
		for _, part := range n.Content {
			size += measure(part)
		}
		if size > maxNodes && problem == nil {
			problem = order.Problem(order.CodeSyntax, f.Range(n), "Too many aliases",
				"Written out, the aliases of this value make more than %d values. Use fewer aliases.", maxNodes)
		}
		size = min(size, maxNodes+1)
		sizes[n] = size
		return size
	}
	measure(doc)
	return problem
}

// Resolve returns what an alias stands for, and any other node itself.
func Resolve(n *yaml.Node) *yaml.Node {
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// Range is the place of a node; of one that is more than a line of text, its beginning.
func (f *File) Range(n *yaml.Node) *hcl.Range {
	length := 0
	if n.Kind == yaml.ScalarNode && n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) == 0 {
		length = utf8.RuneCountInString(n.Value)
		if n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
			length += 2
		}
	}
	return f.at(n.Line, n.Column, length)
}

// Within is the place of some characters in the text of a scalar, counted in bytes of it. It is exact for texts on
// one line without escapes, else the place of the scalar.
func (f *File) Within(n *yaml.Node, offset, length int) *hcl.Range {
	quote := 0
	switch {
	case n.Kind != yaml.ScalarNode || n.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(n.Value, "\n"):
		return f.Range(n)
	case n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0:
		quote = 1
	}
	offset = min(offset, len(n.Value))
	length = min(length, len(n.Value)-offset)
	column := n.Column + quote + utf8.RuneCountInString(n.Value[:offset])
	return f.at(n.Line, column, utf8.RuneCountInString(n.Value[offset:offset+length]))
}

// at is the place of some characters of one line, all counted from 1. They end with the line at the latest.
func (f *File) at(line, column, length int) *hcl.Range {
	line = min(max(line, 1), len(f.lines))
	text := bytes.TrimRight(f.lines[line-1], "\r\n")
	pos := func(column int) hcl.Pos {
		at := 0
		n := 1
		for ; n < column && at < len(text); n++ {
			_, size := utf8.DecodeRune(text[at:])
			at += size
		}
		return hcl.Pos{Line: line, Column: n, Byte: f.start[line-1] + at}
	}
	return &hcl.Range{Filename: f.Name, Start: pos(column), End: pos(column + length)}
}

// Entry is an entry of a mapping.
type Entry struct {
	Name  string
	Key   *yaml.Node
	Value *yaml.Node // never an alias
}

// Entries returns the entries of a mapping in the order in which they are written, those that << merges into it last.
// Keys that are no text, and keys that come twice, are errors.
func (f *File) Entries(mapping *yaml.Node) ([]Entry, hcl.Diagnostics) {
	if mapping.Kind != yaml.MappingNode {
		return nil, nil
	}
	var diags hcl.Diagnostics
	var entries []Entry
	var merged []*yaml.Node
	own := map[string]*yaml.Node{}
	for pair := range slices.Chunk(mapping.Content, 2) {
		key, value := Resolve(pair[0]), Resolve(pair[1])
		if key.Tag == "!!merge" {
			merged = append(merged, mergedMappings(value)...)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			diags = diags.Append(order.Problem(order.CodeSyntax, f.Range(key), "Invalid key", "A key is a text, not a list or mapping."))
			continue
		}
		if first, twice := own[key.Value]; twice {
			diags = diags.Append(order.Problem(order.CodeDuplicateID, f.Range(key), "Duplicate key",
				"The key %q is already in line %d. Remove one of them.", key.Value, first.Line))
			continue
		}
		own[key.Value] = key
		entries = append(entries, Entry{key.Value, key, value})
	}
	for _, mapping := range merged {
		more, moreDiags := f.Entries(mapping)
		diags = diags.Extend(moreDiags)
		for _, entry := range more {
			if _, overridden := own[entry.Name]; !overridden {
				own[entry.Name] = entry.Key
				entries = append(entries, entry)
			}
		}
	}
	return entries, diags
}

func mergedMappings(value *yaml.Node) []*yaml.Node {
	var mappings []*yaml.Node
	switch value.Kind {
	case yaml.MappingNode:
		mappings = append(mappings, value)
	case yaml.SequenceNode:
		for _, part := range value.Content {
			if part = Resolve(part); part.Kind == yaml.MappingNode {
				mappings = append(mappings, part)
			}
		}
	}
	return mappings
}
