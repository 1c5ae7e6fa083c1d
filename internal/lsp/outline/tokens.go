// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package outline

import (
	"bytes"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"go.lsp.dev/protocol"
)

// TokenTypes and TokenModifiers are the legend of [File.Tokens].
var (
	TokenTypes = []string{
		string(protocol.SemanticTokenTypesKeyword), string(protocol.SemanticTokenTypesClass), string(protocol.SemanticTokenTypesProperty),
		string(protocol.SemanticTokenTypesVariable), string(protocol.SemanticTokenTypesNamespace), string(protocol.SemanticTokenTypesFunction),
		string(protocol.SemanticTokenTypesType), string(protocol.SemanticTokenTypesParameter), string(protocol.SemanticTokenTypesString),
		string(protocol.SemanticTokenTypesNumber), string(protocol.SemanticTokenTypesComment), string(protocol.SemanticTokenTypesOperator),
	}
	TokenModifiers = []string{string(protocol.SemanticTokenModifiersDeclaration), string(protocol.SemanticTokenModifiersDefaultLibrary)}
)

// tokenType is an index of TokenTypes.
type tokenType uint32

const (
	keyword tokenType = iota
	class             // labels of blocks
	property
	variable // names in references
	namespace
	function
	typeName
	parameter // of a for expression
	text
	number
	comment
	operator
	noToken tokenType = 99
)

// declaration and defaultLibrary are bits of TokenModifiers.
const (
	declaration    uint32 = 1
	defaultLibrary uint32 = 2
)

// meaning is the type and the modifiers of a token.
type meaning struct {
	tokenType tokenType
	modifiers uint32
}

// Tokens returns the colours of the text between two bytes, encoded as the protocol has it.
func (f *File) Tokens(start, end int) []uint32 {
	meanings := f.meanings()
	e := encoder{file: f, data: []uint32{}}
	declaring := false // between for and in
	for _, token := range f.tokens() {
		means := meaningOf(token)
		switch {
		case means.tokenType == keyword:
			declaring = string(token.Bytes) == "for"
		case means.tokenType == variable && declaring:
			means.tokenType = parameter
		}
		if token.Range.End.Byte <= start || token.Range.Start.Byte >= end {
			continue
		}
		if known, ok := meanings[token.Range.Start.Byte]; ok && (token.Type == hclsyntax.TokenIdent || isLabel(token.Type)) {
			means = known
		}
		if means.tokenType != noToken {
			e.add(token.Range.Start.Byte, token.Range.End.Byte, means)
		}
	}
	return e.data
}

// tokens returns the tokens of the file.
func (f *File) tokens() hclsyntax.Tokens {
	tokens, _ := hclsyntax.LexConfig(f.Text.Bytes(), f.Path, hcl.InitialPos) //nolint:errcheck // others report the errors
	return tokens
}

func isLabel(t hclsyntax.TokenType) bool {
	return t == hclsyntax.TokenOQuote || t == hclsyntax.TokenQuotedLit || t == hclsyntax.TokenCQuote
}

// meaningOf returns the meaning of a token by itself.
func meaningOf(token hclsyntax.Token) meaning {
	switch token.Type {
	case hclsyntax.TokenComment:
		return meaning{tokenType: comment}
	case hclsyntax.TokenNumberLit:
		return meaning{tokenType: number}
	case hclsyntax.TokenOQuote, hclsyntax.TokenCQuote, hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit,
		hclsyntax.TokenOHeredoc, hclsyntax.TokenCHeredoc:
		return meaning{tokenType: text}
	case hclsyntax.TokenIdent:
		switch string(token.Bytes) {
		case "true", "false", "null", "for", "in", "if", "else", "endif", "endfor":
			return meaning{tokenType: keyword}
		}
		return meaning{tokenType: variable}
	case hclsyntax.TokenEqualOp, hclsyntax.TokenNotEqual, hclsyntax.TokenLessThan, hclsyntax.TokenLessThanEq, hclsyntax.TokenGreaterThan,
		hclsyntax.TokenGreaterThanEq, hclsyntax.TokenAnd, hclsyntax.TokenOr, hclsyntax.TokenBang, hclsyntax.TokenPlus, hclsyntax.TokenMinus,
		hclsyntax.TokenStar, hclsyntax.TokenSlash, hclsyntax.TokenPercent, hclsyntax.TokenQuestion, hclsyntax.TokenColon, hclsyntax.TokenFatArrow,
		hclsyntax.TokenEllipsis, hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl, hclsyntax.TokenTemplateSeqEnd:
		return meaning{tokenType: operator}
	}
	return meaning{tokenType: noToken}
}

// meanings returns the meanings of names by their context, by their first byte.
func (f *File) meanings() map[int]meaning {
	m := meanings{}
	m.body(f.Body)
	return m
}

type meanings map[int]meaning

func (m meanings) set(rng hcl.Range, t tokenType, modifiers uint32) {
	m[rng.Start.Byte] = meaning{t, modifiers}
}

func (m meanings) body(body *hclsyntax.Body) {
	for _, attribute := range body.Attributes {
		m.set(attribute.NameRange, property, 0)
		if attribute.Name == "type" {
			m.typeNames(attribute.Expr)
			continue
		}
		m.expression(attribute.Expr)
	}
	for _, block := range body.Blocks {
		m.set(block.TypeRange, keyword, 0)
		for _, label := range block.LabelRanges {
			m.set(label, class, declaration) // a quote
			m[label.Start.Byte+1] = meaning{class, declaration}
			m[label.End.Byte-1] = meaning{class, declaration}
		}
		m.body(block.Body)
	}
}

// typeNames marks the names in a type constraint, which are written as references and calls.
func (m meanings) typeNames(expr hclsyntax.Expression) {
	m.walk(expr, func(node hclsyntax.Node) {
		switch node := node.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			m.set(node.Traversal.SourceRange(), typeName, 0)
		case *hclsyntax.FunctionCallExpr:
			m.set(node.NameRange, typeName, 0)
		case *hclsyntax.ObjectConsKeyExpr:
			m.key(node)
		}
	})
}

func (m meanings) expression(expr hclsyntax.Expression) {
	m.walk(expr, func(node hclsyntax.Node) {
		switch node := node.(type) {
		case *hclsyntax.ScopeTraversalExpr:
			m.traversal(node.Traversal)
		case *hclsyntax.RelativeTraversalExpr:
			m.steps(node.Traversal, property)
		case *hclsyntax.FunctionCallExpr:
			m.set(node.NameRange, function, defaultLibrary)
		case *hclsyntax.ObjectConsKeyExpr:
			m.key(node)
		}
	})
}

func (m meanings) walk(expr hclsyntax.Expression, visit func(hclsyntax.Node)) {
	diags := hclsyntax.VisitAll(expr, func(node hclsyntax.Node) hcl.Diagnostics {
		visit(node)
		return nil
	})
	_ = diags // there are none
}

// key marks the key of an object that is a name and no reference.
func (m meanings) key(key *hclsyntax.ObjectConsKeyExpr) {
	if traversal, ok := key.Wrapped.(*hclsyntax.ScopeTraversalExpr); ok && !key.ForceNonLiteral && len(traversal.Traversal) == 1 {
		m.set(traversal.SrcRange, property, 0)
	}
}

// roots are the names with which references begin, all but those of for expressions.
var roots = map[string]bool{
	"var": true, "local": true, "component": true, "stack": true, "provider": true, "output": true, "each": true, "self": true, "path": true,
	"terraform": true, "store": true, "deployment": true,
}

func (m meanings) traversal(traversal hcl.Traversal) {
	root, ok := traversal[0].(hcl.TraverseRoot)
	if !ok {
		return
	}
	if !roots[root.Name] {
		m.set(root.SrcRange, parameter, 0)
		m.steps(traversal[1:], property)
		return
	}
	m.set(root.SrcRange, namespace, 0)
	m.steps(traversal[1:min(2, len(traversal))], variable)
	if len(traversal) > 2 {
		m.steps(traversal[2:], property)
	}
}

func (m meanings) steps(traversal hcl.Traversal, t tokenType) {
	for _, step := range traversal {
		if attr, ok := step.(hcl.TraverseAttr); ok {
			m[attr.SrcRange.End.Byte-len(attr.Name)] = meaning{tokenType: t} // the range begins with the dot
		}
	}
}

// encoder writes tokens relative to each other.
type encoder struct {
	file *File
	data []uint32
	last protocol.Position
}

// add adds a token, line by line.
func (e *encoder) add(start, end int, means meaning) {
	for start < end {
		line := e.file.Text.Line(start)
		stop := min(end, e.file.Text.LineEnd(line))
		if len(bytes.TrimSpace(e.file.Text.Bytes()[start:max(start, stop)])) > 0 {
			e.addInLine(start, stop, means)
		}
		start = max(stop, e.file.Text.LineStart(line+1))
	}
}

func (e *encoder) addInLine(start, end int, means meaning) {
	from, to := e.file.Text.Position(start), e.file.Text.Position(end)
	if to.Character <= from.Character {
		return
	}
	column := from.Character
	if from.Line == e.last.Line {
		column -= e.last.Character
	}
	e.data = append(e.data, from.Line-e.last.Line, column, to.Character-from.Character, uint32(means.tokenType), means.modifiers)
	e.last = from
}
