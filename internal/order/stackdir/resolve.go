// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackdir

import (
	"cmp"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
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
	dirs := make([]string, len(all))
	referring := map[[2]string][]int{} // the stacks that refer with an attribute to a directory
	queries := map[string][]int{}      // what each means
	for i := range all {
		r := &all[i]
		if query, isQuery := strings.CutPrefix(r.entry.Text, "tag:"); isQuery {
			found, ok := queries[query]
			if !ok && l.spend(r, len(l.tree.Stacks)*(perStack+len(query))) {
				if found, ok = l.resolveQuery(r, query); ok {
					queries[query] = found
				}
			}
			r.to = found
			l.spend(r, len(r.to)*order.StepsPerReferenced)
			continue
		}
		if dirs[i] = l.pathOf(r); dirs[i] != "" {
			key := [2]string{r.attribute, dirs[i]}
			referring[key] = append(referring[key], r.from)
		}
	}
	inner := map[[2]string][]int{} // what a directory stands for to those in it
	for i := range all {
		r := &all[i]
		switch own := l.tree.Stacks[r.from].Path; {
		case dirs[i] == "":
		case own == dirs[i] || !contains(dirs[i], own):
			r.to = l.tree.within(dirs[i])
		default:
			key := [2]string{r.attribute, dirs[i]}
			if _, known := inner[key]; !known {
				inner[key] = l.tree.without(dirs[i], referring[key])
			}
			r.to = inner[key]
		}
		if dirs[i] != "" && !l.spend(r, len(r.to)*order.StepsPerReferenced) {
			break
		}
	}
	l.tree.edges = all
}

const perStack = 20 // steps for each stack that a query is compared with

// spend tells whether an entry costs no more than what is left. That it does is told once.
func (l *loader) spend(r *reference, cost int) bool {
	return l.budget.Spend(cost, func() {
		l.diags = l.diags.Append(order.Problem(order.CodeSyntax, &r.entry.Range, "Entries for too much",
			"What the entries of all stacks mean comes to more than %d stacks, or takes more comparisons than would be done in seconds. "+
				"Name directories rather than tags, or fewer stacks.", order.MaxReferenced))
	})
}

// resolveQuery returns the stacks that a query selects. It is not ok if it is no query.
func (l *loader) resolveQuery(r *reference, text string) (found []int, ok bool) {
	query, err := ParseQuery(text)
	if err != nil {
		l.diags = l.diags.Append(order.Problem(order.CodeBadTagQuery, &r.entry.Range, "Invalid tag query",
			"The entry %q is no query of tags: %s. Join tags that are all needed by \":\", and alternatives by \",\".", r.entry.Text, err))
		return nil, false
	}
	return l.matching(query), true
}

// matching returns the stacks that a query selects. It asks only those that have the rarest of the tags of an alternative.
func (l *loader) matching(query Query) []int {
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
			if (Query{all}).Matches(l.tree.Stacks[i].Tags) {
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
		l.diags = l.diags.Append(order.Problem(order.CodeBadPath, &r.entry.Range, "Path leads out of the tree",
			"Stack %s references a path (%s) in the '%s' attribute that is not below the root of the tree. Name a directory in it.",
			stack.Path, r.entry.Text, r.attribute))
		return ""
	}
	dir := path.Join("/", rel)
	if l.dirs[dir] {
		return dir
	}
	// What is skipped, or led to by a link, has no stacks, but exists.
	if info, err := os.Stat(l.onDisk(dir)); err != nil || !info.IsDir() {
		l.diags = l.diags.Append(order.Warning(order.CodeBadPath, &r.entry.Range, "Path of no directory",
			"Stack %s references an invalid path (%s) in the '%s' attribute.", stack.Path, r.entry.Text, r.attribute))
		return ""
	}
	return dir
}

// without returns the stacks in a directory but for some that are below it, and what is below those (rule S3).
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
