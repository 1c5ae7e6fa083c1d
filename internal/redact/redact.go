// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package redact hides sensitive values in texts that other programs write, such as the errors of a
// provider.
//
// A value is found as it is, and in the forms in which programs quote it: in JSON, HCL, Go and
// HTML, in URLs and in Base64. How much of a text may be taken for a value depends on its length,
// since hiding each "a" of a message says more than it hides:
//
//	R1. Strings of six bytes or more are hidden wherever they occur, of a value of several lines each
//	    line.
//	R2. Strings of three to five bytes, and numbers of four digits or more, are hidden where they
//	    stand as a word.
//	R3. Shorter strings are hidden only in quotes; shorter numbers, and true and false, not at all.
//
// Derivatives of a value, such as a hash of it, are not recognised.
package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
)

// Hidden is the text in the place of a value.
const Hidden = "(sensitive value)"

// The lengths of rules R1 and R2, in bytes.
const (
	anywhere = 6
	asWord   = 3
	asNumber = 4
)

// Set is a set of values to hide. The zero value is empty. It is safe for concurrent use while no
// values are added.
type Set struct {
	known map[string]bool
	forms map[string][]form // by their first bytes, the longest first
}

// form is a way in which a value is written.
type form struct {
	text  string
	quote int  // bytes at both ends that are not part of the value
	word  bool // must not continue at its ends
}

// prefixLength is the number of bytes by which forms are looked up. No form is shorter.
const prefixLength = 3

// Add adds all strings and numbers in a value, whatever its marks. Parts that are not known are
// left out.
func (s *Set) Add(value cty.Value) {
	if value == cty.NilVal {
		return
	}
	value, _ = value.UnmarkDeep()
	//nolint:errcheck // the callback returns no error
	_ = cty.Walk(value, func(_ cty.Path, part cty.Value) (bool, error) {
		switch {
		case !part.IsKnown() || part.IsNull():
			return false, nil
		case part.Type() == cty.String:
			s.AddString(part.AsString())
		case part.Type() == cty.Number:
			s.addNumber(part)
		case part.Type().IsMapType():
			for key := range part.AsValueMap() {
				s.addKey(key)
			}
		}
		return true, nil
	})
}

// AddMarked adds those parts of a value that have a mark.
func (s *Set) AddMarked(value cty.Value) {
	if value == cty.NilVal {
		return
	}
	bare, paths := value.UnmarkDeepWithPaths()
	for _, marked := range paths {
		if part, err := marked.Path.Apply(bare); err == nil {
			s.Add(part)
			continue
		}
		s.Add(bare) // an element of a set has no path
	}
}

// Empty reports whether there is nothing to hide.
func (s *Set) Empty() bool { return len(s.forms) == 0 }

// addKey adds the key of a map, unless it looks like the name of something.
func (s *Set) addKey(key string) {
	if strings.ContainsFunc(key, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) }) {
		s.AddString(key)
	}
}

func (s *Set) addNumber(number cty.Value) {
	float := number.AsBigFloat()
	for _, text := range []string{float.Text('f', -1), float.Text('g', -1)} {
		text = strings.TrimPrefix(text, "-")
		if len(text) >= asNumber {
			s.addForm(form{text: text, word: true})
		}
	}
}

// AddString adds a string.
func (s *Set) AddString(text string) {
	if text == "" || text == "true" || text == "false" || text == "null" || s.known[text] {
		return
	}
	if s.known == nil {
		s.known = map[string]bool{}
	}
	s.known[text] = true
	s.addQuoted(text)
	lines := strings.FieldsFunc(text, func(r rune) bool { return r == '\n' || r == '\r' })
	for _, line := range lines {
		line = strings.TrimSpace(line)
		if line != text && (len(line) >= anywhere || len(lines) == 1) {
			s.AddString(line)
		}
	}
}

// addQuoted adds the forms of a string.
func (s *Set) addQuoted(text string) {
	if len(text) < asWord {
		for _, quote := range []string{`"`, "'", "`"} {
			s.addForm(form{text: quote + text + quote, quote: 1})
		}
		return
	}
	written := []string{
		text,
		inQuotes(mustJSON(text, true)),
		inQuotes(mustJSON(text, false)),
		inQuotes(strconv.Quote(text)),
		inQuotes(string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())),
		html.EscapeString(text),
		url.QueryEscape(text),
		url.PathEscape(text),
		strings.ReplaceAll(text, "'", `'\''`), // for a shell
	}
	if len(text) >= anywhere {
		written = append(written, base64.RawStdEncoding.EncodeToString([]byte(text)), base64.RawURLEncoding.EncodeToString([]byte(text)))
	}
	for _, how := range written {
		s.addForm(form{text: how, word: len(text) < anywhere})
	}
}

func inQuotes(text string) string { return text[1 : len(text)-1] }

func mustJSON(text string, escapeHTML bool) string {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(escapeHTML)
	if err := encoder.Encode(text); err != nil {
		panic("encoding a string as JSON: " + err.Error())
	}
	return strings.TrimSuffix(out.String(), "\n")
}

func (s *Set) addForm(added form) {
	if s.forms == nil {
		s.forms = map[string][]form{}
	}
	prefix := added.text[:prefixLength]
	forms := s.forms[prefix]
	if slices.Contains(forms, added) {
		return
	}
	forms = append(forms, added)
	slices.SortStableFunc(forms, func(a, b form) int { return cmp.Compare(len(b.text), len(a.text)) })
	s.forms[prefix] = forms
}

// span is a part of a text.
type span struct{ start, end int }

// Text returns a text without the values. Parts of one of the texts to keep, such as an address,
// stay.
func (s *Set) Text(text string, keep ...string) string {
	if s.Empty() {
		return text
	}
	kept := occurrences(text, keep)
	var found []span
	for at := 0; at+prefixLength <= len(text); at++ {
		match, ok := s.match(text, at)
		if !ok || slices.ContainsFunc(kept, func(k span) bool { return k.start <= match.start && match.end <= k.end }) {
			continue
		}
		if last := len(found) - 1; last >= 0 && match.start <= found[last].end {
			found[last].end = max(found[last].end, match.end)
			continue
		}
		found = append(found, match)
	}
	if len(found) == 0 {
		return text
	}
	var out strings.Builder
	end := 0
	for _, hidden := range found {
		out.WriteString(text[end:hidden.start])
		out.WriteString(Hidden)
		end = hidden.end
	}
	out.WriteString(text[end:])
	return out.String()
}

// match returns the longest value that a text has at a place.
func (s *Set) match(text string, at int) (span, bool) {
	for _, form := range s.forms[text[at:at+prefixLength]] {
		end := at + len(form.text)
		if !strings.HasPrefix(text[at:], form.text) || form.word && (continues(text, at) || continues(text, end)) {
			continue
		}
		return span{at + form.quote, end - form.quote}, true
	}
	return span{}, false
}

// continues reports whether a place in a text is inside of a word.
func continues(text string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(text[:at])
	after, _ := utf8.DecodeRuneInString(text[at:])
	return at > 0 && at < len(text) && ofWord(before) && ofWord(after)
}

func ofWord(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }

func occurrences(text string, of []string) []span {
	var spans []span
	for _, wanted := range of {
		if wanted == "" {
			continue
		}
		for from := 0; ; {
			i := strings.Index(text[from:], wanted)
			if i < 0 {
				break
			}
			spans = append(spans, span{from + i, from + i + len(wanted)})
			from += i + len(wanted)
		}
	}
	return spans
}
