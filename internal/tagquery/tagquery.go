// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package tagquery reads and evaluates tag expressions such as "prod and (network or not
// dir:base)".
//
// The words and, or, not and in, in any case, are operators, with parentheses; two terms side by
// side mean the same as and, which binds tighter than or. A quoted word is always a tag. "x in
// dir", or "dir~x", asks for whole elements of the path of a directory, "dir:x" for the whole path,
// and "relative_dir:x" for a path seen from where the query is declared.
//
// [Terms] are simpler: tags joined by ":" and ",".
package tagquery

import (
	"path"
	"slices"
	"strconv"
	"strings"
)

// Query is an expression over the tags of a directory. The zero value is the empty query, which
// matches everything.
type Query struct {
	text string
	root node
}

func (q Query) String() string { return q.text }

// Key returns a text that two queries have in common only if they match the same.
func (q Query) Key() string {
	if q.root == nil {
		return ""
	}
	return q.root.key()
}

// Alternatives returns queries that together match the same subjects as the query.
func (q Query) Alternatives() []Query {
	terms, ok := q.root.(or)
	if !ok {
		return []Query{q}
	}
	alternatives := make([]Query, len(terms))
	for i, term := range terms {
		alternatives[i] = Query{text: q.text, root: term}
	}
	return alternatives
}

// Subject has the properties of a directory that queries refer to.
type Subject struct {
	Dir  string // with slashes, from the root of the repository
	Tags map[string]bool
}

// Match reports whether the query matches.
func (q Query) Match(s Subject) bool { return q.root == nil || q.root.match(s) }

// At returns the query as one that is declared in a directory: relative_dir: is resolved against
// it.
func (q Query) At(dir string) Query {
	if q.root != nil && strings.Contains(q.text, relativePrefix) {
		q.root = q.root.at(dir)
	}
	return q
}

// AnyOf returns tags of which each subject that the query matches has at least one, of several
// choices those with the least cost. Without ok there are no such tags. It spares asking about
// every subject.
func (q Query) AnyOf(cost func(tag string) int) (tags []string, ok bool) {
	if q.root == nil {
		return nil, false
	}
	return q.root.anyOf(cost)
}

const (
	dirPrefix      = "dir:"
	relativePrefix = "relative_dir:"
	insidePrefix   = "dir~"
)

type node interface {
	match(s Subject) bool
	at(dir string) node
	anyOf(cost func(tag string) int) ([]string, bool)
	key() string
	terms() []term
}

type tag string

func newTag(text string) node {
	if dir, ok := strings.CutPrefix(text, dirPrefix); ok {
		return tag(dirPrefix + path.Clean(dir))
	}
	if dir, ok := strings.CutPrefix(text, relativePrefix); ok {
		return relative(dir)
	}
	return tag(text)
}

func (t tag) match(s Subject) bool {
	if dir, ok := strings.CutPrefix(string(t), dirPrefix); ok {
		return s.Dir == dir
	}
	return s.Tags[string(t)]
}

func (t tag) at(string) node                          { return t }
func (t tag) anyOf(func(string) int) ([]string, bool) { return []string{string(t)}, true }

func (t tag) key() string   { return strconv.Quote(string(t)) }
func (t tag) terms() []term { return []term{t} }

// relative is a path from a directory that is not known yet, and then matches nothing.
type relative string

func (r relative) match(Subject) bool                      { return false }
func (r relative) at(dir string) node                      { return tag(dirPrefix + path.Join(dir, string(r))) }
func (r relative) anyOf(func(string) int) ([]string, bool) { return nil, true }

func (r relative) key() string   { return "relative" + strconv.Quote(string(r)) }
func (r relative) terms() []term { return nil }

// inside asks for elements of a path.
type inside string

func (i inside) match(s Subject) bool {
	return strings.Contains("/"+s.Dir+"/", "/"+string(i)+"/")
}

func (i inside) at(string) node                          { return i }
func (i inside) anyOf(func(string) int) ([]string, bool) { return nil, false }

func (i inside) key() string   { return "inside" + strconv.Quote(string(i)) }
func (i inside) terms() []term { return []term{i} }

type not struct{ of node }

func (n not) match(s Subject) bool                    { return !n.of.match(s) }
func (n not) at(dir string) node                      { return not{n.of.at(dir)} }
func (n not) anyOf(func(string) int) ([]string, bool) { return nil, false }

func (n not) key() string   { return "not " + n.of.key() }
func (n not) terms() []term { return nil } // a tag that is missing takes nothing away

type and []node

func (a and) match(s Subject) bool {
	return !slices.ContainsFunc(a, func(n node) bool { return !n.match(s) })
}

func (a and) at(dir string) node { return and(each(a, dir)) }

func (a and) anyOf(cost func(string) int) ([]string, bool) {
	var cheapest []string
	least := -1
	for _, n := range a {
		tags, ok := n.anyOf(cost)
		if !ok {
			continue
		}
		sum := 0
		for _, tag := range tags {
			sum += cost(tag)
		}
		if least < 0 || sum < least {
			cheapest, least = tags, sum
		}
	}
	return cheapest, least >= 0
}

func (a and) key() string   { return keys(a, "and") }
func (a and) terms() []term { return termsOf(a) }

type or []node

func (o or) match(s Subject) bool {
	return slices.ContainsFunc(o, func(n node) bool { return n.match(s) })
}

func (o or) at(dir string) node { return or(each(o, dir)) }

func (o or) anyOf(cost func(string) int) ([]string, bool) {
	var all []string
	for _, n := range o {
		tags, ok := n.anyOf(cost)
		if !ok {
			return nil, false
		}
		all = append(all, tags...)
	}
	return all, true
}

func (o or) key() string   { return keys(o, "or") }
func (o or) terms() []term { return termsOf(o) }

func termsOf(nodes []node) []term {
	var all []term
	for _, n := range nodes {
		all = append(all, n.terms()...)
	}
	return all
}

func keys(nodes []node, operator string) string {
	texts := make([]string, len(nodes))
	for i, n := range nodes {
		texts[i] = n.key()
	}
	return "(" + strings.Join(texts, " "+operator+" ") + ")"
}

func each(nodes []node, dir string) []node {
	moved := make([]node, len(nodes))
	for i, n := range nodes {
		moved[i] = n.at(dir)
	}
	return moved
}
