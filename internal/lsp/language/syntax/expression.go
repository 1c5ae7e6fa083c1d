// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package syntax

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
)

// scanner finds the parts of one expression.
type scanner struct {
	*parser
	expr *Expr

	group  *Group  // innermost
	ref    *Ref    // that the next token may go on with
	inside []frame // strings and groups around the token
}

// frame is something that is open, of which not all are groups.
type frame struct {
	closer hclsyntax.TokenType
	group  *Group  // nil for a string
	text   *String // of a string; nil as soon as there is a template in it
	quote  int     // of a string: which of the quotes it is
}

// expression reads the value of an argument, up to the end of the line on which it ends.
func (p *parser) expression(start hcl.Pos) *Expr {
	s := &scanner{parser: p, expr: &Expr{Range: hcl.Range{Filename: p.tokens[0].Range.Filename, Start: start}}}
	for p.i < len(p.tokens) {
		token := p.tokens[p.i]
		if s.ends(token) {
			break
		}
		s.token(token)
		p.i++
	}
	end := p.tokens[min(p.i, len(p.tokens)-1)].Range.Start
	for _, open := range s.inside {
		if open.group != nil {
			s.closeGroup(open.group, end)
		} else {
			s.expr.Quotes[open.quote].End = end
		}
	}
	s.expr.Range.End = end
	return s.expr
}

// ends reports whether the expression ends before a token.
func (s *scanner) ends(token hclsyntax.Token) bool {
	switch {
	case token.Type == hclsyntax.TokenEOF:
		return true
	case len(s.inside) == 0:
		return endsLine(token) || token.Type == hclsyntax.TokenCBrace
	default:
		return s.startsTopLevel(s.i)
	}
}

func (s *scanner) token(token hclsyntax.Token) {
	ref := s.ref
	s.ref = nil // unless the token goes on with it
	switch token.Type {
	case hclsyntax.TokenIdent:
		s.ident(token)
	case hclsyntax.TokenDot:
		s.dot(token, ref)
	case hclsyntax.TokenOBrack:
		s.openBracket(token, ref)
	case hclsyntax.TokenOBrace:
		s.open(token, MapGroup)
		s.forNames()
	case hclsyntax.TokenOParen:
		s.open(token, ParenGroup)
	case hclsyntax.TokenTemplateInterp, hclsyntax.TokenTemplateControl:
		s.dropText()
		s.open(token, TemplateGroup)
	case hclsyntax.TokenOQuote, hclsyntax.TokenOHeredoc:
		s.openString(token)
	case hclsyntax.TokenQuotedLit, hclsyntax.TokenStringLit:
		s.literal(token)
	case hclsyntax.TokenCBrace, hclsyntax.TokenCBrack, hclsyntax.TokenCParen,
		hclsyntax.TokenTemplateSeqEnd, hclsyntax.TokenCQuote, hclsyntax.TokenCHeredoc:
		s.close(token)
	case hclsyntax.TokenComma:
		s.separator(token)
	case hclsyntax.TokenEqual, hclsyntax.TokenColon:
		s.assign(token)
	default:
		if endsLine(token) {
			s.separator(token)
		}
	}
}

// ident reads a word that begins a reference, or that is the name of a function or a key.
func (s *scanner) ident(token hclsyntax.Token) {
	name := string(token.Bytes)
	if s.at(s.i+1) == hclsyntax.TokenDoubleColon || s.at(s.i+1) == hclsyntax.TokenOParen {
		s.call(token)
		return
	}
	if s.inKey() {
		if s.pending() == nil {
			s.group.Items = append(s.group.Items, &Item{Key: name, KeyRange: token.Range})
		}
		return
	}
	if slices.Contains(keywords, name) || s.declared(name) {
		return
	}
	s.ref = &Ref{Steps: []Step{{Kind: NameStep, Name: name, Range: token.Range}}, Range: token.Range}
	s.expr.Refs = append(s.expr.Refs, s.ref)
}

var keywords = []string{"true", "false", "null", "for", "in", "if", "else", "endif", "endfor"}

// inMap reports whether the innermost thing that is open is a map.
func (s *scanner) inMap() bool {
	return len(s.inside) > 0 && s.inside[len(s.inside)-1].group == s.group && s.group != nil && s.group.Kind == MapGroup &&
		len(s.group.names) == 0
}

// pending returns the last item of the map around if it has not ended, else nil.
func (s *scanner) pending() *Item {
	if s.group == nil || len(s.group.Items) == 0 {
		return nil
	}
	if last := s.group.Items[len(s.group.Items)-1]; !last.ended {
		return last
	}
	return nil
}

// inKey reports whether a token is part of a key of a map.
func (s *scanner) inKey() bool {
	if !s.inMap() {
		return false
	}
	item := s.pending()
	return item == nil || !item.assigned
}

// declared reports whether a name is that of a for expression around.
func (s *scanner) declared(name string) bool {
	for group := s.group; group != nil; group = group.parent {
		if slices.Contains(group.names, name) {
			return true
		}
	}
	return false
}

// call reads the name of a function, up to its last word.
func (s *scanner) call(token hclsyntax.Token) {
	call := &Call{Name: string(token.Bytes), NameRange: token.Range}
	for s.at(s.i+1) == hclsyntax.TokenDoubleColon {
		s.i++
		call.Name += "::"
		call.NameRange.End = s.tokens[s.i].Range.End
		if s.at(s.i+1) != hclsyntax.TokenIdent {
			break
		}
		s.i++
		call.Name += string(s.tokens[s.i].Bytes)
		call.NameRange.End = s.tokens[s.i].Range.End
	}
	s.expr.Calls = append(s.expr.Calls, call)
	if s.at(s.i+1) == hclsyntax.TokenOParen {
		s.i++
		call.Args = s.open(s.tokens[s.i], CallGroup)
		call.Args.Call = call
	}
}

// dot reads the step behind a dot.
func (s *scanner) dot(dot hclsyntax.Token, ref *Ref) {
	if ref == nil {
		if s.at(s.i+1) != hclsyntax.TokenIdent {
			return
		}
		s.i++ // of a key, or of something that is no reference
		if item := s.pending(); s.inKey() && item != nil {
			item.Key += "." + string(s.tokens[s.i].Bytes)
			item.KeyRange.End = s.tokens[s.i].Range.End
		}
		return
	}
	step := Step{Kind: NameStep, Range: hcl.Range{Filename: dot.Range.Filename, Start: dot.Range.End, End: dot.Range.End}}
	switch s.at(s.i + 1) {
	case hclsyntax.TokenIdent:
		s.i++
		step.Name, step.Range = string(s.tokens[s.i].Bytes), s.tokens[s.i].Range
	case hclsyntax.TokenNumberLit:
		s.i++
		step.Kind, step.Range = IndexStep, s.tokens[s.i].Range
	case hclsyntax.TokenStar:
		s.i++
		step.Kind, step.Range = SplatStep, s.tokens[s.i].Range
	}
	s.extend(ref, step)
}

func (s *scanner) extend(ref *Ref, step Step) {
	ref.Steps = append(ref.Steps, step)
	ref.Range.End = step.Range.End
	s.ref = ref
}

// openBracket opens an index of a reference, or a list.
func (s *scanner) openBracket(token hclsyntax.Token, ref *Ref) {
	if ref == nil {
		s.open(token, ListGroup)
		s.forNames()
		return
	}
	if s.at(s.i+1) == hclsyntax.TokenStar && s.at(s.i+2) == hclsyntax.TokenCBrack {
		s.extend(ref, Step{Kind: SplatStep, Range: s.tokens[s.i+1].Range})
		s.i += 2
		ref.Range.End = s.tokens[s.i].Range.End
		return
	}
	s.open(token, IndexGroup).ref = ref
}

func (s *scanner) open(token hclsyntax.Token, kind GroupKind) *Group {
	group := &Group{
		Kind:   kind,
		Range:  hcl.Range{Filename: token.Range.Filename, Start: token.Range.End, End: token.Range.End},
		parent: s.group,
	}
	s.expr.Groups = append(s.expr.Groups, group)
	s.group = group
	s.inside = append(s.inside, frame{closer: closing[token.Type], group: group})
	return group
}

// forNames reads the names that a for expression declares, if one begins here.
func (s *scanner) forNames() {
	next := s.i + 1
	for next < len(s.tokens) && endsLine(s.tokens[next]) {
		next++
	}
	if s.at(next) != hclsyntax.TokenIdent || string(s.tokens[next].Bytes) != "for" || s.at(next+1) != hclsyntax.TokenIdent {
		return
	}
	s.group.names = append(s.group.names, string(s.tokens[next+1].Bytes))
	s.i = next + 1
	if s.at(next+2) == hclsyntax.TokenComma && s.at(next+3) == hclsyntax.TokenIdent {
		s.group.names = append(s.group.names, string(s.tokens[next+3].Bytes))
		s.i = next + 3
	}
}

func (s *scanner) openString(token hclsyntax.Token) {
	closer := hclsyntax.TokenCHeredoc
	var text *String
	if token.Type == hclsyntax.TokenOQuote {
		closer = hclsyntax.TokenCQuote
		text = &String{Range: hcl.Range{Filename: token.Range.Filename, Start: token.Range.End, End: token.Range.End}}
		s.expr.Strings = append(s.expr.Strings, text)
		if s.inKey() && s.pending() == nil {
			s.group.Items = append(s.group.Items, &Item{KeyRange: text.Range})
		}
	}
	s.expr.Quotes = append(s.expr.Quotes, hcl.Range{Filename: token.Range.Filename, Start: token.Range.End, End: token.Range.End})
	s.inside = append(s.inside, frame{closer: closer, text: text, quote: len(s.expr.Quotes) - 1})
}

func (s *scanner) literal(token hclsyntax.Token) {
	if len(s.inside) == 0 || s.inside[len(s.inside)-1].text == nil {
		return
	}
	text := s.inside[len(s.inside)-1].text
	text.Text += string(token.Bytes)
	text.Range.End = token.Range.End
}

// dropText notes that the string around is no literal.
func (s *scanner) dropText() {
	if len(s.inside) == 0 || s.inside[len(s.inside)-1].text == nil {
		return
	}
	top := &s.inside[len(s.inside)-1]
	s.expr.Strings = slices.DeleteFunc(s.expr.Strings, func(text *String) bool { return text == top.text })
	top.text = nil
}

// close closes the innermost bracket or quote that a token can close, and those open inside of it.
func (s *scanner) close(token hclsyntax.Token) {
	at := -1
	for i := len(s.inside) - 1; i >= 0 && at < 0; i-- {
		if s.inside[i].closer == token.Type {
			at = i
		}
	}
	if at < 0 {
		return
	}
	for i := len(s.inside) - 1; i >= at; i-- {
		s.closeFrame(s.inside[i], token)
	}
	s.inside = s.inside[:at]
}

func (s *scanner) closeFrame(f frame, token hclsyntax.Token) {
	if f.group != nil {
		s.closeGroup(f.group, token.Range.Start)
		s.group = f.group.parent
		if ref := f.group.ref; ref != nil && token.Type == hclsyntax.TokenCBrack {
			s.extend(ref, s.indexStep(f.group))
			ref.Range.End = token.Range.End
		}
		return
	}
	s.expr.Quotes[f.quote].End = token.Range.Start
	if item := s.pending(); item != nil && f.text != nil && !item.assigned && item.KeyRange.Start == f.text.Range.Start {
		item.Key, item.KeyRange = f.text.Text, f.text.Range
	}
}

// indexStep is the step that an index stands for.
func (s *scanner) indexStep(group *Group) Step {
	step := Step{Kind: IndexStep, Range: group.Range}
	for i := len(s.expr.Strings) - 1; i >= 0; i-- {
		if text := s.expr.Strings[i]; text.Range.Start.Byte == group.Range.Start.Byte+1 && text.Range.End.Byte == group.Range.End.Byte-1 {
			step.Name = text.Text
		}
	}
	return step
}

func (s *scanner) closeGroup(group *Group, end hcl.Pos) {
	group.Range.End = end
	endItem(group, end)
}

// separator ends an element of a map or list.
func (s *scanner) separator(token hclsyntax.Token) {
	if len(s.inside) == 0 || s.group == nil || s.inside[len(s.inside)-1].group != s.group {
		return
	}
	if token.Type == hclsyntax.TokenComma {
		s.group.Commas = append(s.group.Commas, token.Range.Start.Byte)
	}
	endItem(s.group, token.Range.Start)
}

// endItem ends the last item of a map; a word without a value was none.
func endItem(group *Group, end hcl.Pos) {
	if len(group.Items) == 0 {
		return
	}
	last := group.Items[len(group.Items)-1]
	switch {
	case last.ended:
	case !last.assigned:
		group.Items = group.Items[:len(group.Items)-1]
	default:
		last.Value.End, last.ended = end, true
	}
}

// assign begins the value of an item.
func (s *scanner) assign(token hclsyntax.Token) {
	if !s.inKey() {
		return
	}
	if s.pending() == nil { // the key is computed
		s.group.Items = append(s.group.Items, &Item{
			KeyRange: hcl.Range{Filename: token.Range.Filename, Start: token.Range.Start, End: token.Range.Start},
		})
	}
	item := s.pending()
	item.assigned = true
	item.Value = hcl.Range{Filename: token.Range.Filename, Start: token.Range.End, End: token.Range.End}
}
