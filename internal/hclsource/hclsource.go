// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package hclsource parses files of HCL that anybody may have written.
//
// The parser of HCL calls itself for each bracket and each operator, and so does everything that walks its trees, so that a file
// of a few megabytes can end the program for want of stack. Here such files are errors:
//
//  1. A file is not larger than [MaxSize], and has not many more than [MaxTokens] tokens, each of which takes a hundred times its size.
//  2. Brackets, braces, templates and their directives are nested at most [MaxDepth] deep.
//  3. An expression has at most [MaxOperators] operators in a row, which is those without a bracket, comma or end of line between them.
//  4. A number has at most [MaxDigits] digits in a row: reading them takes the square of the time.
package hclsource

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/json"
)

// What is parsed; see the package comment. What people write is far from each of them.
const (
	MaxSize      = 4 << 20
	MaxTokens    = 500_000
	MaxDepth     = 200
	MaxOperators = 1000
	MaxDigits    = 1000
)

// Parse is [hclsyntax.ParseConfig] for files of strangers. The file may be nil with errors.
func Parse(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if diag := check(src, filename); diag != nil {
		return nil, hcl.Diagnostics{diag}
	}
	return hclsyntax.ParseConfig(src, filename, hcl.InitialPos)
}

// ParseJSON is [Parse] for files of HCL's JSON syntax, where only rules 1 and 2 matter.
func ParseJSON(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if len(src) > MaxSize {
		return nil, hcl.Diagnostics{tooLarge(src, filename)}
	}
	depth, digits, inString := 0, 0, false
	for i := 0; i < len(src); i++ {
		switch digits++; {
		case inString || src[i] < '0' || src[i] > '9':
			digits = 0
		case digits > MaxDigits:
			return nil, hcl.Diagnostics{tooComplicated(tooManyDigits, hcl.Range{Filename: filename})}
		}
		switch char := src[i]; {
		case inString && char == '\\':
			i++
		case char == '"':
			inString = !inString
		case inString:
		case char == '[' || char == '{':
			depth++
		case char == ']' || char == '}':
			depth--
		}
		if depth > MaxDepth {
			return nil, hcl.Diagnostics{tooComplicated(tooDeep, hcl.Range{Filename: filename})}
		}
	}
	return json.Parse(src, filename)
}

func tooLarge(src []byte, filename string) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "File too large",
		Detail:  fmt.Sprintf("The file has %d bytes; cairn reads files of at most %d. Is it the right one?", len(src), MaxSize),
		Subject: &hcl.Range{Filename: filename},
	}
}

var (
	tooDeep       = fmt.Sprintf("Brackets, braces and templates are nested more than %d deep here.", MaxDepth)
	tooManyDigits = fmt.Sprintf("A number has more than %d digits.", MaxDigits)
)

func tooComplicated(what string, at hcl.Range) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: "File too complicated", Detail: what + " Write it in smaller pieces.", Subject: &at,
	}
}

func check(src []byte, filename string) *hcl.Diagnostic {
	if len(src) > MaxSize {
		return tooLarge(src, filename)
	}
	switch atMost, longNumber := tokensIn(src); {
	case atMost > MaxTokens:
		return tooComplicated(fmt.Sprintf("The file has more than %d words and signs.", MaxTokens), hcl.Range{Filename: filename})
	case atMost <= min(MaxDepth, MaxOperators) && !longNumber:
		return nil // as most files are; each token opens at most one thing, or is one operator
	}
	tokens, _ := hclsyntax.LexConfig(src, filename, hcl.InitialPos) //nolint:errcheck // the parser reports the same
	var c counter
	for i := range tokens {
		if tokens[i].Type == hclsyntax.TokenNumberLit && len(tokens[i].Bytes) > MaxDigits {
			return tooComplicated(tooManyDigits, tokens[i].Range)
		}
		if i > 0 && tokens[i-1].Type == hclsyntax.TokenTemplateControl && c.directive(string(tokens[i].Bytes)) > MaxDepth {
			return tooComplicated(tooDeep, tokens[i].Range)
		}
		if what := c.token(tokens[i].Type); what != "" {
			return tooComplicated(what, tokens[i].Range)
		}
	}
	return nil
}

// tokensIn estimates how many tokens there are, from above: each word and each other character outside of words counts, but space. It also
// tells whether there may be a number of more than [MaxDigits] digits.
func tokensIn(src []byte) (tokens int, longNumber bool) {
	inWord, start := false, 0
	for i, char := range src {
		isWord := char >= 'a' && char <= 'z' || char >= 'A' && char <= 'Z' || char >= '0' && char <= '9' || char == '_' || char >= 0x80
		if isWord != inWord && isWord || !isWord && char != ' ' && char != '\t' {
			tokens++
		}
		if isWord && !inWord {
			start = i
		}
		longNumber = longNumber || isWord && i-start > MaxDigits/4 && src[start] >= '0' && src[start] <= '9'
		inWord = isWord
	}
	return tokens, longNumber
}

// counter follows the tokens of a file.
type counter struct {
	open      []hclsyntax.TokenType // what is open
	operators []int                 // of each that is around what is open, how many operators have come
	current   int                   // of what is open

	directives int // of templates that are open
}

// directive follows the word at the start of a directive of a template, and returns how many are open.
func (c *counter) directive(word string) int {
	switch word {
	case "if", "for":
		c.directives++
	case "endif", "endfor":
		c.directives--
	}
	return c.directives
}

// token tells what is wrong with a token, or "".
func (c *counter) token(t hclsyntax.TokenType) string {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		if t == hclsyntax.TokenOBrack {
			c.current++ // may be an index, one of many
		}
		c.open, c.operators, c.current = append(c.open, t), append(c.operators, c.current), 0
		if len(c.open) > MaxDepth {
			return tooDeep
		}
	case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc,
		hclsyntax.TokenTemplateSeqEnd:
		if last := len(c.open) - 1; last >= 0 {
			c.open, c.operators, c.current = c.open[:last], c.operators[:last], c.operators[last]
		}
	case hclsyntax.TokenComma:
		c.current = 0
	case hclsyntax.TokenNewline:
		if last := len(c.open) - 1; last < 0 || c.open[last] == hclsyntax.TokenOBrace {
			c.current = 0
		}
	case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenGreaterThan,
		hclsyntax.TokenGreaterThanEq, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenQuestion:
		c.current++
	}
	if c.current > MaxOperators {
		return fmt.Sprintf("An expression has more than %d operators in a row.", MaxOperators)
	}
	return ""
}
