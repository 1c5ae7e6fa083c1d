// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package syntax

import (
	"bytes"
	"encoding/json"
	"slices"
	"sort"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// Shape is the meaning of the keys of a JSON object: in that syntax, blocks and arguments look
// alike.
type Shape struct {
	Labels int
	Blocks map[string]Shape

	// Static are the arguments whose strings are expressions without ${ and }.
	Static []string
}

// ParseJSON reads a file in JSON syntax, up to the first mistake. Strings with escapes have no
// references.
func ParseJSON(name string, src []byte, top Shape) *File {
	r := &jsonReader{name: name, src: src, lines: []int{0}}
	for i, char := range src {
		if char == '\n' {
			r.lines = append(r.lines, i+1)
		}
	}
	body := &Body{Range: r.between(0, len(src))}
	if value := r.value(0); value != nil && value.kind == '{' {
		r.fill(body, value, top)
	}
	return &File{Name: name, Src: src, Root: body, JSON: true}
}

// jsonValue is a value; one that is not closed ends with the file.
type jsonValue struct {
	kind       byte // '{', '[', '"', or 0 for anything else
	start, end int  // with brackets or quotes
	closed     bool
	keys       []*jsonValue // of an object
	values     []*jsonValue // of an object or array
}

// inside returns the range between brackets or quotes.
func (v *jsonValue) inside() (start, end int) {
	start, end = v.start+1, v.end
	if v.closed {
		end--
	}
	return start, end
}

type jsonReader struct {
	name  string
	src   []byte
	lines []int // offsets at which they begin
	i     int
}

func (r *jsonReader) between(start, end int) hcl.Range {
	return hcl.Range{Filename: r.name, Start: r.pos(start), End: r.pos(end)}
}

func (r *jsonReader) pos(offset int) hcl.Pos {
	line := sort.SearchInts(r.lines, offset+1)
	return hcl.Pos{Line: line, Column: 1 + utf8.RuneCount(r.src[r.lines[line-1]:offset]), Byte: offset}
}

// next returns the next character that is no space, 0 at the end.
func (r *jsonReader) next() byte {
	for r.i < len(r.src) && bytes.IndexByte([]byte(" \t\r\n"), r.src[r.i]) >= 0 {
		r.i++
	}
	if r.i == len(r.src) {
		return 0
	}
	return r.src[r.i]
}

// value reads a value; nil where there is none.
func (r *jsonReader) value(depth int) *jsonValue {
	char := r.next()
	value := &jsonValue{kind: char, start: r.i}
	switch {
	case depth > maxDepth:
		return nil
	case char == '{':
		r.i++
		r.members(value, depth)
	case char == '[':
		r.i++
		r.elements(value, depth)
	case char == '"':
		r.text(value)
	default:
		value.kind = 0
		for r.i < len(r.src) && (isWordByte(r.src[r.i]) || bytes.IndexByte([]byte("+-."), r.src[r.i]) >= 0) {
			r.i++
		}
		if r.i == value.start {
			return nil
		}
	}
	value.end = r.i
	return value
}

func isWordByte(char byte) bool {
	return char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9'
}

// text reads a string, up to the end of the line if it is open.
func (r *jsonReader) text(value *jsonValue) {
	for r.i++; r.i < len(r.src) && r.src[r.i] != '\n'; r.i++ {
		switch r.src[r.i] {
		case '\\':
			if r.i+1 < len(r.src) && r.src[r.i+1] != '\n' {
				r.i++
			}
		case '"':
			r.i++
			value.closed = true
			return
		}
	}
}

func (r *jsonReader) members(value *jsonValue, depth int) {
	for r.next() == '"' {
		key := r.value(depth)
		if r.next() != ':' {
			break
		}
		r.i++
		member := r.value(depth + 1)
		if member == nil {
			break
		}
		value.keys, value.values = append(value.keys, key), append(value.values, member)
		if r.next() != ',' {
			break
		}
		r.i++
	}
	r.end(value, '}')
}

func (r *jsonReader) elements(value *jsonValue, depth int) {
	for r.next() != ']' {
		element := r.value(depth + 1)
		if element == nil {
			break
		}
		value.values = append(value.values, element)
		if r.next() != ',' {
			break
		}
		r.i++
	}
	r.end(value, ']')
}

// end reads the closing bracket. Without one, the file ends here.
func (r *jsonReader) end(value *jsonValue, bracket byte) {
	if r.next() == bracket {
		value.closed = true
		r.i++
		return
	}
	r.i = len(r.src)
}

// decoded returns the text of a string; not ok if it has escapes, behind which places would be
// wrong.
func (r *jsonReader) decoded(value *jsonValue) (text string, ok bool) {
	start, end := value.inside()
	raw := r.src[start:end]
	if !bytes.Contains(raw, []byte{'\\'}) {
		return string(raw), true
	}
	if err := json.Unmarshal(r.src[value.start:value.end], &text); err != nil {
		return string(raw), false
	}
	return text, false
}

// fill adds the members of an object to a body.
func (r *jsonReader) fill(body *Body, object *jsonValue, shape Shape) {
	for i, key := range object.keys {
		name, _ := r.decoded(key)
		value := object.values[i]
		if nested, isBlock := shape.Blocks[name]; isBlock {
			start, end := key.inside()
			r.blocks(body, &Block{Type: name, TypeRange: r.between(start, end)}, value, nested)
			continue
		}
		start, end := key.inside()
		argument := &Argument{Name: name, NameRange: r.between(start, end), Value: &Expr{Range: r.between(value.start, value.end)}}
		r.expr(argument.Value, value, nil, slices.Contains(shape.Static, name))
		body.Arguments = append(body.Arguments, argument)
	}
}

// blocks adds the blocks that a value stands for, of which the first labels are known.
func (r *jsonReader) blocks(body *Body, known *Block, value *jsonValue, shape Shape) {
	switch {
	case value.kind == '[':
		for _, element := range value.values {
			r.blocks(body, known, element, shape)
		}
	case value.kind != '{':
	case len(known.Labels) < shape.Labels:
		for i, key := range value.keys {
			text, _ := r.decoded(key)
			start, end := key.inside()
			labelled := *known
			labelled.Labels = append(slices.Clone(known.Labels), Label{text, r.between(start, end)})
			r.blocks(body, &labelled, value.values[i], shape)
		}
	default:
		block := *known
		start, end := value.inside()
		block.Range = r.between(value.start, value.end)
		block.Body = &Body{Range: r.between(start, end)}
		r.fill(block.Body, value, shape)
		body.Blocks = append(body.Blocks, &block)
	}
}

// expr adds the contents of a value to an expression.
func (r *jsonReader) expr(expr *Expr, value *jsonValue, parent *Group, static bool) {
	start, end := value.inside()
	switch value.kind {
	case '{':
		group := &Group{Kind: MapGroup, Range: r.between(start, end), parent: parent}
		expr.Groups = append(expr.Groups, group)
		for i, key := range value.keys {
			text, _ := r.decoded(key)
			from, to := key.inside()
			member := value.values[i]
			group.Items = append(group.Items, &Item{
				Key:      text,
				KeyRange: r.between(from, to),
				Value:    r.between(member.start, member.end),
				assigned: true,
				ended:    true,
			})
			r.expr(expr, member, group, static)
		}
	case '[':
		group := &Group{Kind: ListGroup, Range: r.between(start, end), parent: parent}
		expr.Groups = append(expr.Groups, group)
		for _, element := range value.values {
			r.expr(expr, element, group, static)
		}
	case '"':
		r.template(expr, value, static)
	}
}

// template adds the contents of a string.
func (r *jsonReader) template(expr *Expr, value *jsonValue, static bool) {
	start, end := value.inside()
	text, exact := r.decoded(value)
	rng := r.between(start, end)
	expr.Quotes = append(expr.Quotes, rng)
	isTemplate := !static && (bytes.Contains(r.src[start:end], []byte("${")) || bytes.Contains(r.src[start:end], []byte("%{")))
	if !isTemplate {
		expr.Strings = append(expr.Strings, &String{Text: text, Range: rng})
	}
	if !exact || !isTemplate && !static {
		return
	}
	lex := hclsyntax.LexTemplate
	if static {
		lex = hclsyntax.LexExpression
	}
	tokens, _ := lex([]byte(text), r.name, rng.Start) //nolint:errcheck // as in lex
	tokens = slices.DeleteFunc(tokens, func(token hclsyntax.Token) bool { return token.Range.End.Byte > end })
	tokens = append(tokens, hclsyntax.Token{Type: hclsyntax.TokenEOF, Range: hcl.Range{Filename: r.name, Start: rng.End, End: rng.End}})
	found := (&parser{tokens: tokens, balanced: true}).expression(rng.Start)
	expr.Groups = append(expr.Groups, found.Groups...)
	expr.Refs = append(expr.Refs, found.Refs...)
	expr.Calls = append(expr.Calls, found.Calls...)
	if !static {
		expr.Strings = append(expr.Strings, found.Strings...)
	}
}
