// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"regexp/syntax"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/tagquery"
)

// lookup finds leaves without asking each of them. It knows the tags that they had when it was
// made.
type lookup struct {
	leaves []*Leaf
	names  []entry // sorted
	dirs   []entry // of stacks, each with a slash at its end, sorted
	tags   *tagquery.Index
}

// entry is a text of a leaf, and the position of that leaf.
type entry struct {
	text string
	leaf int
}

func newLookup(leaves []*Leaf) *lookup {
	x := &lookup{leaves: leaves}
	subjects := make([]tagquery.Subject, len(leaves))
	for i, leaf := range leaves {
		subjects[i] = leaf.Subject()
		x.names = append(x.names, entry{leaf.Name, i})
		if leaf.Stack != nil {
			x.dirs = append(x.dirs, entry{leaf.Stack.Dir + "/", i})
		}
	}
	compare := func(a, b entry) int { return strings.Compare(a.text, b.text) }
	slices.SortFunc(x.names, compare)
	slices.SortFunc(x.dirs, compare)
	x.tags = tagquery.NewIndex(subjects)
	return x
}

// All results are leaves as written.

func (x *lookup) byTags(query tagquery.Query) []*Leaf { return x.at(x.tags.Matches(query)) }

// byName means the leaves whose names match, all of which have the same beginning.
func (x *lookup) byName(beginning string, match func(name string) bool) []*Leaf {
	return x.matching(x.names, beginning, match)
}

// byDir means the stacks whose directories match, all of which have the same beginning.
func (x *lookup) byDir(beginning string, match func(dir string) bool) []*Leaf {
	return x.matching(x.dirs, beginning, func(dir string) bool { return match(strings.TrimSuffix(dir, "/")) })
}

// within means the stacks in a directory and below it.
func (x *lookup) within(dir string) []*Leaf {
	beginning := dir + "/"
	if dir == "." {
		beginning = ""
	}
	return x.matching(x.dirs, beginning, func(string) bool { return true })
}

// matching returns the leaves of those entries that match, all of which have the same beginning.
func (x *lookup) matching(entries []entry, beginning string, match func(text string) bool) []*Leaf {
	first, _ := slices.BinarySearchFunc(entries, beginning, func(e entry, text string) int { return strings.Compare(e.text, text) })
	var found []int
	for _, e := range entries[first:] {
		if !strings.HasPrefix(e.text, beginning) {
			break
		}
		if match(e.text) {
			found = append(found, e.leaf)
		}
	}
	slices.Sort(found)
	return x.at(found)
}

func (x *lookup) at(positions []int) []*Leaf {
	leaves := make([]*Leaf, len(positions))
	for i, n := range positions {
		leaves[i] = x.leaves[n]
	}
	return leaves
}

// literalBeginning returns the common beginning of all texts that a regular expression matches, if
// it is plain from the expression: "net-" of "^net-[0-9]+$".
func literalBeginning(expression string) string {
	expr, err := syntax.Parse(expression, syntax.Perl)
	if err != nil || expr.Op != syntax.OpConcat {
		return ""
	}
	if begin, text := expr.Sub[0], expr.Sub[1]; begin.Op == syntax.OpBeginText &&
		text.Op == syntax.OpLiteral && text.Flags&syntax.FoldCase == 0 {
		return string(text.Rune)
	}
	return ""
}
