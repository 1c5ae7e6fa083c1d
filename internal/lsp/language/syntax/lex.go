// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package syntax

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// mostRepairs is the number of open quotes that are ended with their lines; more would make a file
// that consists of them expensive.
const mostRepairs = 100

// lex returns the tokens of a file in native syntax, with those that are missing to end quotes
// (rule S2).
func lex(src []byte, name string) hclsyntax.Tokens {
	var tokens hclsyntax.Tokens
	pos := hcl.InitialPos
	for range mostRepairs {
		// The lexer reports errors that the parser reports, too; nobody needs them here.
		found, _ := hclsyntax.LexConfig(src[pos.Byte:], name, pos) //nolint:errcheck // see above
		open := openQuote(found)
		if open < 0 {
			return append(tokens, found...)
		}
		line := found[open].Range.Start
		end := len(src)
		if i := bytes.IndexByte(src[line.Byte:], '\n'); i >= 0 {
			end = line.Byte + i
		}
		kept := open + 1
		for kept < len(found) && found[kept].Range.End.Byte <= end && found[kept].Type != hclsyntax.TokenEOF &&
			found[kept].Type != hclsyntax.TokenQuotedNewline {
			kept++
		}
		last := found[kept-1].Range.End
		pos = hcl.Pos{Line: last.Line, Column: last.Column + end - last.Byte, Byte: end}
		tokens = append(tokens, found[:kept]...)
		tokens = append(tokens, closers(found[open:kept], hcl.Range{Filename: name, Start: last, End: last})...)
	}
	return append(tokens, hclsyntax.Token{Type: hclsyntax.TokenEOF, Range: hcl.Range{Filename: name, Start: pos, End: pos}})
}

// openQuote returns the index of the outermost quote that is not closed, -1 if there is none.
func openQuote(tokens hclsyntax.Tokens) int {
	var open []int
	for i, token := range tokens {
		switch token.Type {
		case hclsyntax.TokenOQuote:
			open = append(open, i)
		case hclsyntax.TokenCQuote:
			if len(open) > 0 {
				open = open[:len(open)-1]
			}
		case hclsyntax.TokenQuotedNewline:
			if len(open) > 0 {
				return open[0]
			}
		}
	}
	if len(open) > 0 {
		return open[0]
	}
	return -1
}

var closing = map[hclsyntax.TokenType]hclsyntax.TokenType{
	hclsyntax.TokenOQuote:          hclsyntax.TokenCQuote,
	hclsyntax.TokenTemplateInterp:  hclsyntax.TokenTemplateSeqEnd,
	hclsyntax.TokenTemplateControl: hclsyntax.TokenTemplateSeqEnd,
	hclsyntax.TokenOBrace:          hclsyntax.TokenCBrace,
	hclsyntax.TokenOBrack:          hclsyntax.TokenCBrack,
	hclsyntax.TokenOParen:          hclsyntax.TokenCParen,
}

// closers returns the tokens, without any text, that close brackets and quotes which tokens leave
// open.
func closers(tokens hclsyntax.Tokens, at hcl.Range) hclsyntax.Tokens {
	var open []hclsyntax.TokenType
	for _, token := range tokens {
		if closer, opens := closing[token.Type]; opens {
			open = append(open, closer)
		} else if len(open) > 0 && token.Type == open[len(open)-1] {
			open = open[:len(open)-1]
		}
	}
	var missing hclsyntax.Tokens
	for i := len(open) - 1; i >= 0; i-- {
		missing = append(missing, hclsyntax.Token{Type: open[i], Range: at})
	}
	return missing
}
