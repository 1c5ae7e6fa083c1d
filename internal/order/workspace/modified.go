// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workspace

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/glob"
)

// Cause says why something counts as modified.
type Cause struct {
	Text  string
	By    *Leaf       // the other that it is modified by, nil for files of its own
	Place order.Place // of the rule, if there is one
}

// Changed returns the stacks that changed files belong to: files with slashes, from the root of the repository. A file belongs to the stacks
// in its directory, or in the nearest directory above it that has some, and to those of [Model.Watching].
func (m *Model) Changed(files []string) map[*Leaf]Cause {
	inDir := map[string][]*Leaf{}
	for _, leaf := range m.Leaves {
		if leaf.Stack != nil {
			inDir[leaf.Stack.Dir] = append(inDir[leaf.Stack.Dir], leaf)
		}
	}
	changed := map[*Leaf]Cause{}
	for _, file := range slices.Sorted(slices.Values(files)) {
		for dir := path.Dir(file); ; dir = path.Dir(dir) {
			for _, leaf := range inDir[dir] {
				if _, known := changed[leaf]; !known {
					changed[leaf] = Cause{Text: file + " has changed"}
				}
			}
			if len(inDir[dir]) > 0 || dir == "." || dir == "/" {
				break
			}
		}
	}
	for leaf, cause := range m.Watching(files) {
		if _, known := changed[leaf]; !known {
			changed[leaf] = cause
		}
	}
	return changed
}

// Watching returns the stacks that name changed files in var_files, or have a pattern in watch that matches one.
func (m *Model) Watching(files []string) map[*Leaf]Cause {
	changed := map[*Leaf]Cause{}
	files = slices.Sorted(slices.Values(files))
	for _, leaf := range m.Leaves {
		if leaf.Stack == nil {
			continue
		}
		for _, file := range slices.Backward(files) { // so that the first one remains
			if pattern := watching(leaf.Stack.Watch, file); pattern != "" {
				changed[leaf] = Cause{Text: fmt.Sprintf("%s has changed, which it watches by %q", file, pattern)}
			}
			if slices.Contains(leaf.Stack.VarFiles, file) {
				changed[leaf] = Cause{Text: file + ", one of its var_files, has changed"}
			}
		}
	}
	return changed
}

// watching returns the first of patterns that matches a file, or stands for a directory that holds it.
func watching(patterns []string, file string) string {
	for _, text := range patterns {
		pattern, err := glob.Compile(text)
		if err == nil && pattern.Match(file) || contains(text, file) && !strings.ContainsAny(text, "*?[{") {
			return text
		}
	}
	return ""
}

// Modified adds to what has changed what counts as modified because of it, at any distance, each with its nearest cause.
func (m *Model) Modified(changed map[*Leaf]Cause) map[*Leaf]Cause {
	modified := map[*Leaf]Cause{}
	var queue []*Leaf
	for _, leaf := range m.Leaves {
		if cause, ok := changed[leaf]; ok {
			modified[leaf] = cause
			queue = append(queue, leaf)
		}
	}
	passedOn := m.passedOn()
	for len(queue) > 0 {
		leaf := queue[0]
		queue = queue[1:]
		for _, to := range passedOn[leaf] {
			if _, known := modified[to.leaf]; !known {
				modified[to.leaf] = to.cause
				queue = append(queue, to.leaf)
			}
		}
	}
	return modified
}

type effect struct {
	leaf  *Leaf
	cause Cause
}

// passedOn lists for each leaf what it makes modified.
func (m *Model) passedOn() map[*Leaf][]effect {
	effects := map[*Leaf][]effect{}
	for _, r := range m.rules {
		if r.rel != ModifiedBy {
			continue
		}
		for _, t := range r.targets {
			for _, from := range m.LeavesOf(t.block) {
				cause := Cause{
					Text: fmt.Sprintf("%s is modified, and %s", from.Name, reason(r, t)),
					By:   from, Place: place(t.ref.Range),
				}
				for _, to := range m.LeavesOf(r.of) {
					effects[from] = append(effects[from], effect{to, cause})
				}
			}
		}
	}
	return effects
}
