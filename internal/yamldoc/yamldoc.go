// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package yamldoc reads YAML files of users as trees of nodes, each with its place. A tree is safe
// to walk: not too large, even with all aliases replaced by their targets, and without an alias
// inside of its target.
package yamldoc

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/safefile"
)

const (
	maxSize  = 1 << 20 // bytes of a file
	maxNodes = 200_000 // of a file, with aliases replaced
)

// Parse returns the content of a file with one document; nil if it is empty or has errors.
func Parse(filename string, src []byte) (*yaml.Node, hcl.Diagnostics) {
	if len(src) > maxSize {
		return nil, hcl.Diagnostics{problem.New(problem.Syntax, &hcl.Range{Filename: filename}, "File too large",
			"The file has %d bytes; cairn reads YAML files of at most %d. Is it the right one?", len(src), maxSize)}
	}
	var document yaml.Node
	decoder := yaml.NewDecoder(bytes.NewReader(src))
	switch err := decoder.Decode(&document); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntaxError(filename, src, err)
	}
	var another yaml.Node
	switch err := decoder.Decode(&another); {
	case err == nil:
		return nil, hcl.Diagnostics{problem.New(problem.Syntax, Range(filename, &another), "Several YAML documents",
			"The file must hold one document. Remove the line \"---\" and the rest of the file.")}
	case !errors.Is(err, io.EOF):
		return nil, syntaxError(filename, src, err)
	}
	root := document.Content[0]
	c := counter{filename: filename, sizes: map[*yaml.Node]int{}}
	if c.count(root); c.problem != nil {
		return nil, hcl.Diagnostics{c.problem}
	}
	return Resolve(root), nil
}

var lineInError = regexp.MustCompile(`^yaml: (?:line (\d+): )?`)

func syntaxError(filename string, src []byte, err error) hcl.Diagnostics {
	text := err.Error()
	at := hcl.InitialPos
	if match := lineInError.FindStringSubmatch(text); match != nil {
		text = text[len(match[0]):]
		if line, err := strconv.Atoi(match[1]); err == nil {
			at.Line = line
		}
	}
	remedy := ""
	if hasTabIndent(src, at.Line) {
		remedy = " The line begins with a tab; YAML is indented with spaces only."
	}
	return hcl.Diagnostics{problem.New(problem.Syntax, &hcl.Range{Filename: filename, Start: at, End: at}, "Invalid YAML",
		"The file is not YAML: %s.%s", strings.TrimSuffix(text, "."), remedy)}
}

// hasTabIndent reports whether there is a tab before the text of a line, counted from 1.
func hasTabIndent(src []byte, line int) bool {
	for text := range bytes.Lines(src) {
		if line--; line == 0 {
			return bytes.HasPrefix(bytes.TrimLeft(text, " "), []byte("\t"))
		}
	}
	return false
}

// counter measures trees with aliases replaced.
type counter struct {
	filename string
	sizes    map[*yaml.Node]int // 0 while a node is being measured
	problem  *hcl.Diagnostic
}

func (c *counter) count(node *yaml.Node) int {
	if c.problem != nil {
		return 0
	}
	if size, known := c.sizes[node]; known {
		if size == 0 {
			c.problem = problem.New(problem.Syntax, Range(c.filename, node), "Recursive YAML alias",
				"The value of the anchor %q holds an alias of itself. Write it out once without the alias.", node.Anchor)
		}
		return size
	}
	c.sizes[node] = 0
	size := 1
	if node.Alias != nil {
		size += c.count(node.Alias)
	}
	for _, child := range node.Content {
		size += c.count(child)
		if size > maxNodes && c.problem == nil {
			c.problem = problem.New(problem.Syntax, Range(c.filename, node), "Too many YAML aliases",
				"With its aliases replaced by their values, the document has more than %d values. Write out those that are needed.", maxNodes)
		}
	}
	c.sizes[node] = size
	return size
}

// Resolve returns the target of an alias, and other nodes themselves.
func Resolve(node *yaml.Node) *yaml.Node {
	for node != nil && node.Kind == yaml.AliasNode {
		node = node.Alias
	}
	return node
}

// Range returns the place of a node. Only of scalars on one line is the end known.
func Range(filename string, node *yaml.Node) *hcl.Range {
	start := hcl.Pos{Line: node.Line, Column: node.Column}
	end := start
	if quote, ok := onOneLine(node); ok {
		end.Column += 2*quote + utf8.RuneCountInString(node.Value)
	}
	return &hcl.Range{Filename: filename, Start: start, End: end}
}

// Within returns the place of a part of a scalar, counted in bytes of its value. For a scalar on
// several lines it is that of the whole scalar. Escapes before the part put it too far to the left.
func Within(filename string, node *yaml.Node, offset, length int) *hcl.Range {
	rng := Range(filename, node)
	quote, ok := onOneLine(node)
	if !ok {
		return rng
	}
	offset = min(offset, len(node.Value))
	length = min(length, len(node.Value)-offset)
	rng.Start.Column += quote + utf8.RuneCountInString(node.Value[:offset])
	rng.End.Column = rng.Start.Column + utf8.RuneCountInString(node.Value[offset:offset+length])
	return rng
}

// onOneLine reports whether a node is a scalar on one line, and how long its opening quote is.
func onOneLine(node *yaml.Node) (quote int, ok bool) {
	if node.Kind != yaml.ScalarNode || node.Style&(yaml.LiteralStyle|yaml.FoldedStyle) != 0 || strings.Contains(node.Value, "\n") {
		return 0, false
	}
	if node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 {
		return 1, true
	}
	return 0, true
}

// Place is the start of a node.
func Place(filename string, node *yaml.Node) order.Place {
	return order.Place{File: filename, Line: node.Line, Column: node.Column}
}

// Pair is an entry of a mapping.
type Pair struct {
	Name       string
	Key, Value *yaml.Node
}

// Pairs returns the entries of a mapping in the order in which they are written, aliases resolved,
// and after them those that << takes from other mappings. A key that is repeated is an error, and
// so is one that is not a string.
func Pairs(filename string, mapping *yaml.Node) ([]Pair, hcl.Diagnostics) {
	var pairs []Pair
	var diags hcl.Diagnostics
	var merged []*yaml.Node
	lines := map[string]int{}
	for i := 0; i+1 < len(mapping.Content); i += 2 {
		key, value := Resolve(mapping.Content[i]), Resolve(mapping.Content[i+1])
		if key.Tag == "!!merge" {
			merged = append(merged, mergedMappings(value)...)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			diags = diags.Append(problem.New(problem.Syntax, Range(filename, key), "Invalid key type",
				"A key must be a word; this one is a %s.", Kind(key)))
			continue
		}
		if line, again := lines[key.Value]; again {
			diags = diags.Append(problem.New(problem.DuplicateID, Range(filename, key), "Repeated key",
				"The key %q is already on line %d. Keep one of them.", key.Value, line))
			continue
		}
		lines[key.Value] = key.Line
		pairs = append(pairs, Pair{key.Value, key, value})
	}
	for _, other := range merged {
		more, moreDiags := Pairs(filename, other)
		diags = diags.Extend(moreDiags)
		for _, pair := range more {
			if _, overridden := lines[pair.Name]; !overridden {
				lines[pair.Name] = pair.Key.Line
				pairs = append(pairs, pair)
			}
		}
	}
	return pairs, diags
}

// mergedMappings returns the mappings that the value of << stands for.
func mergedMappings(value *yaml.Node) []*yaml.Node {
	candidates := []*yaml.Node{value}
	if value.Kind == yaml.SequenceNode {
		candidates = value.Content
	}
	var mappings []*yaml.Node
	for _, one := range candidates {
		if one = Resolve(one); one.Kind == yaml.MappingNode {
			mappings = append(mappings, one)
		}
	}
	return mappings
}

// Kind names the kind of a node, for messages.
func Kind(node *yaml.Node) string {
	switch node.Kind {
	case yaml.MappingNode:
		return "mapping"
	case yaml.SequenceNode:
		return "list"
	}
	switch node.ShortTag() {
	case "!!str":
		return "string"
	case "!!int", "!!float":
		return "number"
	case "!!bool":
		return "boolean"
	case "!!null":
		return "null"
	}
	return "scalar"
}

// ReadFile reads an ordinary file, but hardly more of it than [Parse] takes.
func ReadFile(fsys fs.FS, name string) ([]byte, error) {
	return safefile.Read(fsys, name, maxSize)
}
