// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package safehcl parses HCL that may be nested to any depth.
//
// The parser of HCL calls itself for each bracket and each operator, and so does everything that
// walks its trees: text of less than a megabyte can end the process for want of stack, which
// nothing can recover from. The functions here are those of packages hclsyntax and json, except
// that such text is an error:
//
//  1. Brackets, braces, blocks, templates and their directives are nested at most [MaxDepth] deep.
//     In JSON that holds for each string, too, as it is a template.
//  2. An expression has at most [MaxOperators] operators in a row, which is those without a comma
//     or an end of line between them, and with them those in a row around the brackets that it is
//     in.
//  3. A number has at most [MaxDigits] digits in a row: reading them takes the square of the time.
//     Its exponent is at most [MaxNumberExponent] either way: as a text it has as many digits.
//  4. Loops and operators keep the rules of package bounds when they are evaluated.
//
// Text may have any length; package hclsource bounds that of untrusted files.
package safehcl

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/hashicorp/hcl/v2/json"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bounds"
)

// The limits of files; see the package comment. Files that people write, and those that programs
// write for them, are far from each of them.
const (
	MaxDepth     = 200
	MaxOperators = 10_000
	MaxDigits    = 1000

	MaxNumberExponent = 18_000 // with the digits before it, below bounds.MaxExponent
)

// ParseConfig is [hclsyntax.ParseConfig], but the file is nil if it breaks a rule.
func ParseConfig(src []byte, filename string, start hcl.Pos) (*hcl.File, hcl.Diagnostics) {
	if diags := Check(src, filename, start); diags.HasErrors() {
		return nil, diags
	}
	file, diags := hclsyntax.ParseConfig(src, filename, start)
	if file != nil {
		bounds.Prepare(file.Body.(*hclsyntax.Body)) //nolint:forcetypeassert // as package hclsyntax promises
	}
	return file, diags
}

// ParseExpression is [hclsyntax.ParseExpression], but the expression is an unknown value if it
// breaks a rule.
func ParseExpression(src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if diags := check(hclsyntax.LexExpression, src, filename, start); diags.HasErrors() {
		return placeholder(diags), diags
	}
	return prepared(hclsyntax.ParseExpression(src, filename, start))
}

// ParseTemplate is [hclsyntax.ParseTemplate], but the template is an unknown value if it breaks a
// rule.
func ParseTemplate(src []byte, filename string, start hcl.Pos) (hclsyntax.Expression, hcl.Diagnostics) {
	if diags := check(hclsyntax.LexTemplate, src, filename, start); diags.HasErrors() {
		return placeholder(diags), diags
	}
	return prepared(hclsyntax.ParseTemplate(src, filename, start))
}

func prepared(expr hclsyntax.Expression, diags hcl.Diagnostics) (hclsyntax.Expression, hcl.Diagnostics) {
	if expr != nil {
		bounds.Prepare(expr)
	}
	return expr, diags
}

// ParseJSON is [json.Parse], but the file is nil if it breaks a rule, and no diagnostic is about a
// place after its end: for an end that is unexpected, package json reports the byte that should
// have followed.
func ParseJSON(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if diags := checkJSON(src, filename); diags.HasErrors() {
		return nil, diags
	}
	file, diags := json.Parse(src, filename)
	if file != nil {
		file.Body = boundedBody{file.Body}
	}
	for _, diag := range diags {
		endAt(diag.Subject, len(src))
		endAt(diag.Context, len(src))
	}
	return file, diags
}

// ParseFile is [ParseJSON] for a file whose name ends in ".json", and [ParseConfig] for others.
func ParseFile(src []byte, filename string) (*hcl.File, hcl.Diagnostics) {
	if strings.HasSuffix(filename, ".json") {
		return ParseJSON(src, filename)
	}
	return ParseConfig(src, filename, hcl.InitialPos)
}

// endAt cuts off the part of a range after the end of a file.
func endAt(rng *hcl.Range, size int) {
	if rng == nil {
		return
	}
	for _, pos := range []*hcl.Pos{&rng.Start, &rng.End} {
		if excess := pos.Byte - size; excess > 0 {
			pos.Byte = size
			pos.Column = max(1, pos.Column-excess)
		}
	}
}

// Check returns an error if a file in native syntax breaks a rule, for callers that parse it with
// package hclwrite.
func Check(src []byte, filename string, start hcl.Pos) hcl.Diagnostics {
	return check(hclsyntax.LexConfig, src, filename, start)
}

// placeholder stands for an expression that was not parsed. It is not nil, as results of package
// hclsyntax never are.
func placeholder(diags hcl.Diagnostics) hclsyntax.Expression {
	return &hclsyntax.LiteralValueExpr{Val: cty.DynamicVal, SrcRange: *diags[0].Subject}
}

// lexer is a function of package hclsyntax, none of which calls itself.
type lexer func(src []byte, filename string, start hcl.Pos) (hclsyntax.Tokens, hcl.Diagnostics)

func check(lex lexer, src []byte, filename string, start hcl.Pos) hcl.Diagnostics {
	if surelyHarmless(src) {
		return nil
	}
	tokens, _ := lex(src, filename, start) //nolint:errcheck // the parser reports the same
	var c counter
	for i, token := range tokens {
		if i > 0 && tokens[i-1].Type == hclsyntax.TokenTemplateControl {
			c.directive(string(token.Bytes))
		}
		c.token(token.Type)
		switch {
		case max(len(c.open), c.directives) > MaxDepth:
			return hcl.Diagnostics{tooDeep(token.Range)}
		case c.current > MaxOperators:
			return hcl.Diagnostics{tooLong(token.Range)}
		case token.Type == hclsyntax.TokenNumberLit && len(token.Bytes) > MaxDigits:
			return hcl.Diagnostics{tooManyDigits(token.Range)}
		case token.Type == hclsyntax.TokenNumberLit && exponentTooLarge(token.Bytes):
			return hcl.Diagnostics{tooLarge(token.Range)}
		}
	}
	return nil
}

// surelyHarmless reports, without looking at more than single bytes, that no rule is broken, as in
// most files.
func surelyHarmless(src []byte) bool {
	opening, operators, digits, exponent := 0, 0, 0, false
	for _, char := range src {
		switch char {
		case 'e', 'E':
			exponent = digits > 0
		case '(', '[', '{', '"', '<':
			opening++
			operators++ // an index and a comparison are operators
		case '!', '-', '+', '*', '/', '%', '&', '|', '=', '>', '?':
			operators++
		}
		digits++
		switch {
		case char >= '0' && char <= '9', char == '.':
		case char == 'e', char == 'E', char == '+', char == '-':
			digits = 0
		default:
			digits, exponent = 0, false
		}
		// A number has up to two such runs, around the sign of its exponent.
		if opening > MaxDepth || operators > MaxOperators || digits > MaxDigits/4 || exponent && digits > 4 {
			return false
		}
	}
	return true
}

// counter follows tokens.
type counter struct {
	open      []hclsyntax.TokenType // the open tokens
	operators []int                 // of each that is open, how many operators stood in a row where it was opened
	current   int                   // how many operators stand in a row, with those around the open tokens

	directives int // of templates that are open
}

// directive follows the word at the start of a directive of a template.
func (c *counter) directive(word string) {
	switch word {
	case "if", "for":
		c.directives++
	case "endif", "endfor":
		c.directives--
	}
}

func (c *counter) token(t hclsyntax.TokenType) {
	switch t {
	case hclsyntax.TokenOBrace, hclsyntax.TokenOParen, hclsyntax.TokenOBrack, hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc,
		hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		if t == hclsyntax.TokenOBrack {
			c.current++ // may be an index, one of many
		}
		c.open, c.operators = append(c.open, t), append(c.operators, c.current)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCParen, hclsyntax.TokenCBrack, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc,
		hclsyntax.TokenTemplateSeqEnd:
		if last := len(c.open) - 1; last >= 0 {
			c.open, c.operators, c.current = c.open[:last], c.operators[:last], c.operators[last]
		}
	case hclsyntax.TokenComma, hclsyntax.TokenNewline:
		last := len(c.open) - 1
		switch {
		case last < 0:
			c.current = 0
		case t == hclsyntax.TokenComma || c.open[last] == hclsyntax.TokenOBrace:
			c.current = c.operators[last]
		}
	case hclsyntax.TokenBang, hclsyntax.TokenMinus, hclsyntax.TokenPlus, hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent,
		hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenGreaterThan,
		hclsyntax.TokenGreaterThanEq, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenQuestion:
		c.current++
	}
}

func tooDeep(at hcl.Range) *hcl.Diagnostic {
	return problem(at, "Nesting too deep",
		"Brackets, braces and templates are nested more than %d deep here. Write this in smaller pieces.", MaxDepth)
}

func tooLong(at hcl.Range) *hcl.Diagnostic {
	return problem(at, "Expression too long", "An expression has more than %d operators in a row. Write it in smaller pieces.", MaxOperators)
}

func tooManyDigits(at hcl.Range) *hcl.Diagnostic {
	return problem(at, "Number too long", "A number has more than %d digits. Write it in quotes if it is meant as a text.", MaxDigits)
}

func tooLarge(at hcl.Range) *hcl.Diagnostic {
	return problem(at, "Number too large or small", "The exponent of a number is at most %d either way. Write the number in quotes if it "+
		"is meant as a text.", MaxNumberExponent)
}

// exponentTooLarge reports whether a number has a larger exponent than numbers may have.
func exponentTooLarge(number []byte) bool {
	e := bytes.IndexAny(number, "eE")
	if e < 0 {
		return false
	}
	exponent, err := strconv.Atoi(string(number[e+1:]))
	return err != nil && errors.Is(err, strconv.ErrRange) || exponent > MaxNumberExponent || exponent < -MaxNumberExponent
}

func problem(at hcl.Range, summary, detail string, limit int) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, limit), Subject: &at}
}

// Format returns the canonical form of a file in native syntax, and the file as it is. A file with
// errors has none.
func Format(src []byte, filename string) (formatted []byte, file *hcl.File, diags hcl.Diagnostics) {
	file, diags = ParseConfig(src, filename, hcl.InitialPos)
	if diags.HasErrors() {
		return nil, file, diags
	}
	return hclwrite.Format(src), file, diags
}
