// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// maxDepth is the maximal depth of nested blocks; those that are deeper are ignored.
const maxDepth = 50

// ParseNative reads a file in native syntax. Types are those of the blocks that are at the top
// level and nowhere else.
func ParseNative(name string, src []byte, types []string) *File {
	p := &parser{tokens: lex(src, name), types: map[string]bool{}}
	for _, blockType := range types {
		p.types[blockType] = true
	}
	p.balanced = balanced(p.tokens)
	file := &File{Name: name, Src: src, Root: p.body(0, hcl.InitialPos)}
	for _, token := range p.tokens {
		if token.Type == hclsyntax.TokenComment {
			file.Comments = append(file.Comments, token.Range)
		}
	}
	return file
}

// balanced reports whether all braces are closed.
func balanced(tokens hclsyntax.Tokens) bool {
	depth := 0
	for _, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOBrace, hclsyntax.TokenOBrack, hclsyntax.TokenOParen:
			depth++
		case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen:
			depth--
		}
		if depth < 0 {
			return false
		}
	}
	return depth == 0
}

type parser struct {
	tokens   hclsyntax.Tokens // the last one is the end of the file
	i        int
	types    map[string]bool
	balanced bool
}

func (p *parser) at(i int) hclsyntax.TokenType {
	if i >= len(p.tokens) {
		return hclsyntax.TokenEOF
	}
	return p.tokens[i].Type
}

// endsLine reports whether a token ends a line: comments up to the end of their line include it.
func endsLine(token hclsyntax.Token) bool {
	return token.Type == hclsyntax.TokenNewline || token.Type == hclsyntax.TokenComment && bytes.HasSuffix(token.Bytes, []byte("\n"))
}

// startsTopLevel reports whether a block of the top level begins at a token, though something is
// open (rule S2).
func (p *parser) startsTopLevel(i int) bool {
	if p.balanced || p.at(i) != hclsyntax.TokenIdent || p.tokens[i].Range.Start.Column != 1 || !p.types[string(p.tokens[i].Bytes)] {
		return false
	}
	return p.at(i+1) == hclsyntax.TokenOQuote || p.at(i+1) == hclsyntax.TokenOBrace
}

// body reads the contents of braces, or a whole file, up to the closing brace, which it leaves.
func (p *parser) body(depth int, start hcl.Pos) *Body {
	body := &Body{}
	for p.i < len(p.tokens) {
		token := p.tokens[p.i]
		switch {
		case token.Type == hclsyntax.TokenEOF,
			depth > 0 && token.Type == hclsyntax.TokenCBrace,
			depth > 0 && p.startsTopLevel(p.i):
			body.Range = hcl.Range{Filename: token.Range.Filename, Start: start, End: token.Range.Start}
			return body
		case token.Type != hclsyntax.TokenIdent:
			p.i++
		case p.at(p.i+1) == hclsyntax.TokenEqual:
			body.Arguments = append(body.Arguments, p.argument())
		case p.at(p.i+1) == hclsyntax.TokenOQuote, p.at(p.i+1) == hclsyntax.TokenOBrace, p.at(p.i+1) == hclsyntax.TokenIdent:
			body.Blocks = append(body.Blocks, p.block(depth))
		default:
			p.i++
		}
	}
	end := p.tokens[len(p.tokens)-1].Range
	body.Range = hcl.Range{Filename: end.Filename, Start: start, End: end.Start}
	return body
}

func (p *parser) argument() *Argument {
	name := p.tokens[p.i]
	equals := p.tokens[p.i+1]
	p.i += 2
	return &Argument{Name: string(name.Bytes), NameRange: name.Range, Value: p.expression(equals.Range.End)}
}

func (p *parser) block(depth int) *Block {
	name := p.tokens[p.i]
	block := &Block{Type: string(name.Bytes), TypeRange: name.Range}
	for p.i++; ; {
		switch p.at(p.i) {
		case hclsyntax.TokenIdent:
			if p.at(p.i+1) == hclsyntax.TokenEqual { // the argument behind a word that is being written
				block.Range = hcl.RangeBetween(name.Range, p.tokens[p.i-1].Range)
				return block
			}
			block.Labels = append(block.Labels, Label{string(p.tokens[p.i].Bytes), p.tokens[p.i].Range})
			p.i++
		case hclsyntax.TokenOQuote:
			block.Labels = append(block.Labels, p.label())
		case hclsyntax.TokenOBrace:
			open := p.tokens[p.i]
			p.i++
			if depth == maxDepth {
				block.Range = hcl.RangeBetween(name.Range, open.Range)
				return block
			}
			block.Body = p.body(depth+1, open.Range.End)
			end := hcl.Range{Filename: open.Range.Filename, Start: block.Body.Range.End, End: block.Body.Range.End}
			if p.at(p.i) == hclsyntax.TokenCBrace {
				end = p.tokens[p.i].Range
				p.i++
			}
			block.Range = hcl.RangeBetween(name.Range, end)
			return block
		default:
			block.Range = hcl.RangeBetween(name.Range, p.tokens[p.i-1].Range)
			return block
		}
	}
}

// label reads a label in quotes.
func (p *parser) label() Label {
	open := p.tokens[p.i].Range
	label := Label{Range: hcl.Range{Filename: open.Filename, Start: open.End, End: open.End}}
	for p.i++; p.i < len(p.tokens); p.i++ {
		token := p.tokens[p.i]
		switch token.Type {
		case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
			label.Text += string(token.Bytes)
			label.Range.End = token.Range.End
		case hclsyntax.TokenCQuote:
			p.i++
			return label
		case hclsyntax.TokenEOF, hclsyntax.TokenNewline, hclsyntax.TokenOBrace:
			return label
		}
	}
	return label
}
