// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"cmp"
	"errors"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// resolve finds out which stacks the entries of all stacks mean.
func (l *loader) resolve() {
	var all []reference
	for i, stack := range l.tree.Stacks {
		for _, list := range []struct {
			attribute string
			entries   []Reference
		}{{"before", stack.Before}, {"after", stack.After}, {"wants", stack.Wants}, {"wanted_by", stack.WantedBy}} {
			for _, entry := range list.entries {
				all = append(all, reference{from: i, attribute: list.attribute, entry: entry})
			}
		}
	}
	e := &entries{
		tree: l.tree, referring: map[[2]string][]int{}, inner: map[[2]string][]int{}, queries: map[string][]int{}, below: map[string][]int{},
	}
	// Two passes: a directory stands for the stacks in it, but for those in it that refer to it
	// themselves (rule S3), so that all references must be known before any of them can be resolved.
	dirs := make([]string, len(all))
	for i := range all {
		r := &all[i]
		if query, isQuery := r.query(); isQuery {
			found, ok := e.queries[query]
			if !ok && l.spend(r, len(l.tree.Stacks)*(perStack+len(query))) {
				if found, ok = l.resolveQuery(r, query); ok {
					e.queries[query] = found
				}
			}
			r.named = found
			for _, above := range e.above(r) {
				e.refers(r, l.tree.Stacks[above].Path)
			}
		} else if dirs[i] = l.pathOf(r); dirs[i] != "" {
			if named, ok := l.tree.Index(dirs[i]); ok {
				r.named = []int{named}
			}
			e.refers(r, dirs[i])
		}
	}
	for i := range all {
		r := &all[i]
		if _, isQuery := r.query(); isQuery {
			r.to = e.tagged(r)
		} else if dirs[i] != "" {
			r.to = e.in(r, dirs[i])
		}
		if len(r.to) > 0 && !l.spend(r, len(r.to)*order.StepsPerReferenced) {
			break
		}
	}
	l.tree.edges = all
}

// entries resolves entries once all references between stacks are known.
type entries struct {
	tree      *Tree
	referring map[[2]string][]int // the stacks that refer with an attribute to a directory
	inner     map[[2]string][]int // the meaning of a directory for the stacks in it
	queries   map[string][]int    // the stacks that a query selects
	below     map[string][]int    // these, and those in their directories
}

func (e *entries) refers(r *reference, dir string) {
	key := [2]string{r.attribute, dir}
	e.referring[key] = append(e.referring[key], r.from)
}

// in returns the stacks that a directory stands for (rule S3). A stack that wants a directory that
// it is in, or is wanted by it, has to do with all of it: that is not order, so that waiting for
// each other does not matter.
func (e *entries) in(r *reference, dir string) []int {
	if own := e.tree.Stacks[r.from].Path; own == dir || !contains(dir, own) || !r.orders() {
		return e.tree.within(dir)
	}
	key := [2]string{r.attribute, dir}
	if _, known := e.inner[key]; !known {
		e.inner[key] = e.tree.without(dir, e.referring[key])
	}
	return e.inner[key]
}

// above returns those of the stacks that an entry names in whose directories the stack is that has
// the entry.
func (e *entries) above(r *reference) []int {
	var above []int
	for at := e.tree.Stacks[r.from].Path; at != "/"; {
		at = parent(at)
		if i, ok := e.tree.Index(at); ok {
			if _, named := slices.BinarySearch(r.named, i); named {
				above = append(above, i)
			}
		}
	}
	return above
}

// tagged returns the stacks that a query stands for: those that it selects, and but for "wants"
// also those below them.
func (e *entries) tagged(r *reference) []int {
	if r.attribute == "wants" {
		return r.named
	}
	query, _ := r.query()
	if above := e.above(r); len(above) > 0 && r.orders() {
		var all []int
		for _, i := range r.named {
			all = append(all, e.in(r, e.tree.Stacks[i].Path)...)
		}
		slices.Sort(all)
		return slices.Compact(all)
	}
	all, known := e.below[query]
	if !known {
		for _, i := range r.named {
			if inside := e.above(&reference{from: i, named: r.named}); len(inside) == 0 {
				all = append(all, e.tree.within(e.tree.Stacks[i].Path)...)
			}
		}
		slices.Sort(all)
		e.below[query] = all
	}
	return all
}

// circularWants warns of stacks that want each other by name, or are wanted by each other: each is
// only ever selected with all of them. That is allowed (line A-56).
func (l *loader) circularWants() {
	var b order.Builder
	for _, stack := range l.tree.Stacks {
		b.Add(order.Node{Name: stack.Path})
	}
	for _, r := range l.tree.edges {
		for _, named := range r.named {
			switch {
			case named == r.from:
			case r.attribute == "wants":
				b.Edge(order.Edge{From: r.from, To: named, Place: problem.PlaceOf(r.entry.Range)})
			case r.attribute == "wanted_by":
				b.Edge(order.Edge{From: named, To: r.from, Place: problem.PlaceOf(r.entry.Range)})
			}
		}
	}
	_, err := b.Build()
	var cycles order.CycleErrors
	errors.As(err, &cycles)
	for _, cycle := range cycles {
		places := make([]string, len(cycle.Edges))
		for i, edge := range cycle.Edges {
			places[i] = edge.Place.String()
		}
		l.diags = l.diags.Append(problem.Warning(problem.Cycle, problem.RangeAt(cycle.Place()), "Cycle of wanted stacks",
			"These are wanted by each other, so that none of them is ever selected without the rest: %s (%s). "+
				"If that is meant, one of them can name the others.",
			strings.Join(append(cycle.Nodes, cycle.Nodes[0]), " → "), strings.Join(places, ", ")))
	}
}

const perStack = 20 // steps for each stack that a query is compared with

// spend reports whether the cost of an entry is within the rest of the budget. The first that is
// not is reported as an error.
func (l *loader) spend(r *reference, cost int) bool {
	return l.budget.Spend(cost, func() {
		l.diags = l.diags.Append(problem.New(problem.Syntax, &r.entry.Range, "Too many stacks referenced",
			"The entries of all stacks stand for more than %d stacks, or take more comparisons than would be done in seconds. "+
				"Name directories rather than tags, or fewer stacks.", order.MaxReferenced))
	})
}

// resolveQuery returns the stacks that a query selects. It is not ok if it is not a query.
func (l *loader) resolveQuery(r *reference, text string) (found []int, ok bool) {
	query, err := tagquery.ParseTerms(text)
	if err != nil {
		l.diags = l.diags.Append(problem.New(problem.BadTagQuery, &r.entry.Range, "Invalid tag query",
			"The entry %q is not a query of tags: %s. Join tags that are all needed by \":\", and alternatives by \",\".", r.entry.Text, err))
		return nil, false
	}
	return l.matching(query), true
}

// matching returns the stacks that a query selects. It asks only those that have the rarest of the
// tags of an alternative.
func (l *loader) matching(query tagquery.Terms) []int {
	if l.tagged == nil {
		l.tagged = map[string][]int{}
		for i, stack := range l.tree.Stacks {
			for _, tag := range stack.Tags {
				l.tagged[tag] = append(l.tagged[tag], i)
			}
		}
	}
	var found []int
	for _, all := range query {
		rarest := slices.MinFunc(all, func(a, b string) int { return cmp.Compare(len(l.tagged[a]), len(l.tagged[b])) })
		for _, i := range l.tagged[rarest] {
			if (tagquery.Terms{all}).Matches(l.tree.Stacks[i].Tags) {
				found = append(found, i)
			}
		}
	}
	slices.Sort(found)
	return slices.Compact(found)
}

// pathOf returns the directory that an entry names, "" if there is none.
func (l *loader) pathOf(r *reference) string {
	stack := l.tree.Stacks[r.from]
	rel := strings.TrimPrefix(r.entry.Text, "/")
	if rel == r.entry.Text {
		rel = path.Join(strings.TrimPrefix(stack.Path, "/"), rel)
	} else {
		rel = path.Clean(rel)
	}
	if rel == ".." || strings.HasPrefix(rel, "../") {
		l.diags = l.diags.Append(problem.New(problem.BadPath, &r.entry.Range, "Path outside of the repository",
			"Stack %s references a path (%s) in the '%s' attribute that is not below the root of the tree. Name a directory in it.",
			stack.Path, r.entry.Text, r.attribute))
		return ""
	}
	dir := path.Join("/", rel)
	if l.dirs[dir] {
		return dir
	}
	// A directory that is skipped, or behind a link, has no stacks, but exists.
	if info, err := os.Stat(l.onDisk(dir)); err != nil || !info.IsDir() {
		l.diags = l.diags.Append(problem.Warning(problem.BadPath, &r.entry.Range, "Invalid directory path",
			"Stack %s references an invalid path (%s) in the '%s' attribute.", stack.Path, r.entry.Text, r.attribute))
		return ""
	}
	return dir
}

// without returns the stacks in a directory except for some that are below it, and those below
// these (rule S3).
func (t *Tree) without(dir string, stacks []int) []int {
	left := map[int]bool{}
	for _, stack := range stacks {
		if top := t.Stacks[stack].Path; top != dir && contains(dir, top) {
			for _, i := range t.within(top) {
				left[i] = true
			}
		}
	}
	return slices.DeleteFunc(t.within(dir), func(i int) bool { return left[i] })
}
