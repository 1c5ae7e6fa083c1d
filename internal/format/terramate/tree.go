// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"cmp"
	"slices"
	"sort"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
)

// Tree holds the stacks of a directory tree, as read. It does not change.
type Tree struct {
	Root   string               // directory, as it was given
	Stacks []*Stack             // sorted by path
	Files  map[string]*hcl.File // sources, by the names in ranges

	edges []reference // by the referring stack, in the order in which it is written
}

// Stack is a directory whose place in the order can be said.
type Stack struct {
	Path string // from the root of the tree, with slashes and one at the beginning
	ID   string
	Name string // as written, or empty

	Description string
	Tags        []string // sorted, each once

	Before, After, Wants, WantedBy, Watch []Reference

	Kind rollout.Kind // of its other contents; "" if it is neither

	Deployments *deployconfig.Outline // if there are several; else nil

	Range hcl.Range // of the block that makes the stack, or the file
}

// Reference is an entry of an attribute of a stack.
type Reference struct {
	Text  string
	Range hcl.Range
}

// reference is a resolved entry.
type reference struct {
	from      int // the number of the stack that it is written in
	attribute string
	entry     Reference
	named     []int // the stacks that it names themselves, sorted
	to        []int // its meaning: also stacks in their directories
}

// query returns the query of an entry that selects stacks by tags.
func (r *reference) query() (query string, ok bool) { return strings.CutPrefix(r.entry.Text, "tag:") }

// orders reports whether the entry gives an order, and no selection.
func (r *reference) orders() bool { return r.attribute == "before" || r.attribute == "after" }

// Index returns the number of the stack with a path, in [Tree.Stacks] and in the graph.
func (t *Tree) Index(path string) (int, bool) {
	return slices.BinarySearchFunc(t.Stacks, path, func(s *Stack, path string) int { return cmp.Compare(s.Path, path) })
}

// Owner returns the stack whose directory a path is in: of several the innermost.
func (t *Tree) Owner(path string) (int, bool) {
	for {
		if i, ok := t.Index(path); ok {
			return i, true
		}
		if path == "/" {
			return 0, false
		}
		path = parent(path)
	}
}

// within returns the numbers of the stacks in a directory and below it.
func (t *Tree) within(dir string) []int {
	var found []int
	if i, ok := t.Index(dir); ok {
		found = append(found, i)
	}
	below := strings.TrimSuffix(dir, "/") + "/"
	first := sort.Search(len(t.Stacks), func(i int) bool { return t.Stacks[i].Path >= below })
	for i := first; i < len(t.Stacks) && strings.HasPrefix(t.Stacks[i].Path, below); i++ {
		if t.Stacks[i].Path != dir {
			found = append(found, i)
		}
	}
	return found
}

// contains reports whether a path is a directory or below it.
func contains(dir, path string) bool {
	return dir == path || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}

func parent(path string) string {
	return cmp.Or(path[:strings.LastIndexByte(path, '/')], "/")
}

// Resolved is an entry of an attribute with its meaning.
type Resolved struct {
	Reference
	Stack     int    // that it is written in
	Attribute string // "before", "after", "wants" or "wanted_by"
	Means     []int  // stacks, sorted; not to be changed
	Named     []int  // those that it names itself, of which others may be below; not to be changed
}

// Resolved returns the entries of all stacks in the order in which they are written.
func (t *Tree) Resolved() []Resolved {
	list := make([]Resolved, len(t.edges))
	for i, r := range t.edges {
		list[i] = Resolved{r.entry, r.from, r.attribute, r.to, r.named}
	}
	return list
}
