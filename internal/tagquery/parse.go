// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tagquery

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// Error is a mistake in a query, with its place.
type Error struct {
	Offset, Length int // in bytes
	Message        string
}

func (e *Error) Error() string { return e.Message }

// maxDepth is how deep parentheses may be nested.
const maxDepth = 200

// Parse reads a query.
//
// Errors: [*Error].
func Parse(text string) (Query, error) {
	tokens, err := scan(text)
	if err != nil {
		return Query{}, err
	}
	p := &parser{tokens: tokens}
	if p.peek().kind == end {
		return Query{text: text}, nil
	}
	root, err := p.or(0)
	if err != nil {
		return Query{}, err
	}
	if t := p.peek(); t.kind == closing {
		return Query{}, t.problem("this closing parenthesis has no opening one")
	}
	return Query{text: text, root: root}, nil
}

type kind int

const (
	word kind = iota
	opening
	closing
	opAnd
	opOr
	opNot
	opIn
	end
)

type token struct {
	kind           kind
	text           string
	quoted         bool
	offset, length int
}

func (t token) problem(format string, args ...any) *Error {
	return &Error{Offset: t.offset, Length: t.length, Message: fmt.Sprintf(format, args...)}
}

var operators = map[string]kind{"and": opAnd, "or": opOr, "not": opNot, "in": opIn}

// scan splits a text into words. The last token is the end.
func scan(text string) ([]token, error) {
	var tokens []token
	for i := 0; i < len(text); {
		switch c := text[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		case '(':
			tokens = append(tokens, token{kind: opening, text: "(", offset: i, length: 1})
			i++
		case ')':
			tokens = append(tokens, token{kind: closing, text: ")", offset: i, length: 1})
			i++
		case '"', '\'':
			length := strings.IndexByte(text[i+1:], c)
			if length < 0 {
				return nil, &Error{Offset: i, Length: len(text) - i, Message: fmt.Sprintf("the string has no closing %c", c)}
			}
			tokens = append(tokens, token{kind: word, text: text[i+1 : i+1+length], quoted: true, offset: i, length: length + 2})
			i += length + 2
		default:
			length := strings.IndexFunc(text[i:], func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune(`()"'`, r) })
			if length < 0 {
				length = len(text) - i
			}
			if length == 0 { // a space beyond ASCII
				_, size := utf8.DecodeRuneInString(text[i:])
				i += size
				continue
			}
			t := token{kind: word, text: text[i : i+length], offset: i, length: length}
			if operator, ok := operators[strings.ToLower(t.text)]; ok {
				t.kind = operator
			}
			tokens = append(tokens, t)
			i += length
		}
	}
	return append(tokens, token{kind: end, text: "the end", offset: len(text)}), nil
}

type parser struct {
	tokens []token
	next   int
}

func (p *parser) peek() token { return p.tokens[p.next] }

// take returns the next token and passes it, unless it is the end.
func (p *parser) take() token {
	t := p.tokens[p.next]
	if t.kind != end {
		p.next++
	}
	return t
}

func (p *parser) or(depth int) (node, error) {
	var terms or
	for {
		term, err := p.and(depth)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
		if p.peek().kind != opOr {
			break
		}
		p.take()
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	return terms, nil
}

func (p *parser) and(depth int) (node, error) {
	var terms and
	for {
		term, err := p.term(depth)
		if err != nil {
			return nil, err
		}
		terms = append(terms, term)
		switch p.peek().kind {
		case opAnd:
			p.take()
			continue
		case word, opening, opNot, opIn: // side by side; a stray in is reported by term
			continue
		}
		break
	}
	if len(terms) == 1 {
		return terms[0], nil
	}
	return terms, nil
}

// term reads a tag, a question about the directory, something in parentheses, or not with one of
// these.
func (p *parser) term(depth int) (node, error) {
	switch t := p.take(); t.kind {
	case opNot:
		if next := p.peek(); next.kind != word && next.kind != opening {
			return nil, t.problem("%q needs a tag or a parenthesis after it, but there is %s", t.text, next.name())
		}
		of, err := p.term(depth)
		return not{of}, err
	case opening:
		return p.parenthesised(t, depth)
	case word:
		return p.word(t)
	case end, closing:
		return nil, p.missing(t)
	default:
		return nil, t.problem("%q has nothing before it to work on; put it in quotes if it is a tag", t.text)
	}
}

// missing reports the absence of a term before a token.
func (p *parser) missing(t token) *Error {
	if before := p.before(t); before.kind == opAnd || before.kind == opOr {
		return before.problem("%q has nothing after it to work on; put it in quotes if it is a tag", before.text)
	}
	return t.problem("this closing parenthesis has no opening one")
}

// before returns the token before one that was just taken. At the beginning, the token itself.
func (p *parser) before(t token) token {
	at := p.next - 1
	if t.kind == end {
		at = p.next
	}
	return p.tokens[max(at-1, 0)]
}

func (p *parser) parenthesised(start token, depth int) (node, error) {
	if depth == maxDepth {
		return nil, start.problem("parentheses are nested more than %d deep", maxDepth)
	}
	switch p.peek().kind {
	case closing:
		return nil, start.problem("there is nothing between these parentheses")
	case end:
		return nil, start.problem("this parenthesis has no closing one")
	}
	inner, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if p.take().kind != closing {
		return nil, start.problem("this parenthesis has no closing one")
	}
	return inner, nil
}

func (p *parser) word(t token) (node, error) {
	if p.peek().kind == opIn {
		in := p.take()
		right := p.take()
		if right.kind == end || right.kind == closing {
			return nil, in.problem(`%q needs the word "dir" after it`, in.text)
		}
		if right.kind != word || right.quoted || right.text != "dir" {
			return nil, right.problem(`after "in" there is only the word "dir", not %s`, right.name())
		}
		return newInside(t, t.text)
	}
	if elements, ok := strings.CutPrefix(t.text, insidePrefix); ok && !t.quoted {
		return newInside(t, elements)
	}
	return newTag(t.text), nil
}

func newInside(t token, elements string) (node, error) {
	elements = strings.Trim(elements, "/")
	if elements == "" {
		return nil, t.problem("there is no part of a path to look for")
	}
	return inside(elements), nil
}

func (t token) name() string {
	if t.kind == end {
		return t.text
	}
	return fmt.Sprintf("%q", t.text)
}
