// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackdir

import (
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
	for i := range all {
		r := &all[i]
		if query, isQuery := strings.CutPrefix(r.entry.Text, "tag:"); isQuery {
			l.resolveQuery(r, query)
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
	}
	l.tree.edges = all
}

func (l *loader) resolveQuery(r *reference, text string) {
	query, err := ParseQuery(text)
	if err != nil {
		l.diags = l.diags.Append(order.Problem(order.CodeBadTagQuery, &r.entry.Range, "Malformed tag query",
			"The entry %q is no query of tags: %s. Join tags that are all needed by \":\", and alternatives by \",\".", r.entry.Text, err))
		return
	}
	for i, stack := range l.tree.Stacks {
		if query.Matches(stack.Tags) {
			r.to = append(r.to, i)
		}
	}
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
