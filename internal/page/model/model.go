// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package model has the contents of pages: plain data for templates, made of the data of overviews,
// plans and histories.
//
// Rules:
//
//   - M1. Each text of a user, a provider or a file goes through [Text] or valuediff: control
//     characters and turned directions of writing are visible, and nothing is longer than a page
//     can bear.
//   - M2. What is sensitive is hidden here by the same functions as for a terminal.
//   - M3. A page has no more than [PageSize] entries of a list; others have pages of their own, or
//     are found by a search.
package model

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cairnstacks/cairn/internal/safetext"
)

// PageSize is how many entries of a list are on one page.
const PageSize = 100

// The lengths from which on texts and values are cut.
const (
	mostText  = 300
	mostValue = 1000
	mostRows  = 200 // of one object
)

// Text makes a text safe to show in a line (rule M1).
func Text(text string) string {
	if len(text) > mostText*utf8.UTFMax {
		text = strings.ToValidUTF8(text[:mostText*utf8.UTFMax], "")
	}
	text = safetext.Name(text)
	if utf8.RuneCountInString(text) <= mostText {
		return text
	}
	return string([]rune(text)[:mostText]) + "…"
}

func texts(all []string) []string {
	made := make([]string, len(all))
	for i, text := range all {
		made[i] = Text(text)
	}
	return made
}

// Time is a time as it is shown, and for programs.
type Time struct{ Shown, Machine string }

// NewTime returns a time; the zero value for none.
func NewTime(t time.Time) Time {
	if t.IsZero() {
		return Time{}
	}
	return Time{t.Local().Format(time.DateTime), t.UTC().Format(time.RFC3339)}
}

// Query is a search in a list, and a page of it.
type Query struct {
	Search string // letters that a name has; "" for all
	Page   int    // from 1 on
}

func (q Query) matches(names ...string) bool {
	if q.Search == "" {
		return true
	}
	for _, name := range names {
		if strings.Contains(strings.ToLower(name), strings.ToLower(q.Search)) {
			return true
		}
	}
	return false
}

// Pages are the place of a page in a list.
type Pages struct {
	Search         string
	Page, Last     int
	Total, Shown   int // entries that match, and those on this page
	First          int // number of the first one
	Previous, Next int // 0 for none
}

// pageOf returns the place of the asked page, and the limits of its entries.
func pageOf(q Query, total int) (p Pages, from, to int) {
	p = Pages{Search: q.Search, Total: total, Last: max((total+PageSize-1)/PageSize, 1)}
	p.Page = min(max(q.Page, 1), p.Last)
	from = (p.Page - 1) * PageSize
	to = min(from+PageSize, total)
	p.Shown, p.First = to-from, from+1
	if p.Page > 1 {
		p.Previous = p.Page - 1
	}
	if p.Page < p.Last {
		p.Next = p.Page + 1
	}
	return p, from, to
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
