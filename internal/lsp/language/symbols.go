// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language

import (
	"cmp"
	"slices"
	"strings"
)

// SymbolInfo is something that is declared.
type SymbolInfo struct {
	Symbol
	Title string // as it is referred to, or with its kind
	Location
}

// Symbols returns the declarations of the stack whose names have the letters of a query in their
// order. The best match is first.
func (s *Stack) Symbols(query string) []SymbolInfo {
	var found []SymbolInfo
	for _, dir := range s.dirs {
		for _, symbol := range dir.names {
			title := symbol.reference()
			if title == "" {
				title = strings.ToLower(string(symbol.Kind)) + " " + symbol.Name
			}
			if matches(title, query) {
				found = append(found, SymbolInfo{symbol, title, s.declared(symbol)[0]})
			}
		}
	}
	slices.SortFunc(found, func(a, b SymbolInfo) int {
		return cmp.Or(
			cmp.Compare(distance(a.Title, query), distance(b.Title, query)),
			cmp.Compare(a.Path, b.Path),
			cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte),
		)
	})
	return found
}

// matches reports whether a text has the letters of a query in their order.
func matches(text, query string) bool {
	text = strings.ToLower(text)
	for _, letter := range strings.ToLower(query) {
		_, rest, ok := strings.Cut(text, string(letter))
		if !ok {
			return false
		}
		text = rest
	}
	return true
}

// distance is smaller for better matches.
func distance(text, query string) int {
	text, query = strings.ToLower(text), strings.ToLower(query)
	switch {
	case strings.HasSuffix(text, query):
		return 0
	case strings.Contains(text, query):
		return 1
	}
	return 2
}
