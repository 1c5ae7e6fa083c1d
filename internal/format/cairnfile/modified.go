// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Cause says why something counts as modified.
type Cause struct {
	Text  string
	By    *Leaf       // the other that it is modified by, nil for files of its own
	Place order.Place // of the rule, if there is one
}

// watching returns the stacks that name changed files in var_files, or have a pattern in files or
// watch that matches one.
func (m *Model) watching(files []string) map[*Leaf]Cause {
	changed := map[*Leaf]Cause{}
	files = slices.Sorted(slices.Values(files))
	for _, leaf := range m.Leaves {
		if leaf.Stack == nil {
			continue
		}
		if text := leaf.Stack.watcher().first(files); text != "" {
			changed[leaf] = Cause{Text: text}
		}
	}
	return changed
}

// watcher holds the watched files of a stack, ready to be matched with many files.
type watcher struct {
	stack    *Stack
	watch    []glob.Pattern // as in the stack; those that are none match nothing
	prefixes []string       // of the paths of all files that it watches
}

func (s *Stack) watcher() *watcher {
	w := &watcher{stack: s, prefixes: slices.Clone(s.VarFiles)}
	for _, p := range s.Files {
		w.prefixes = append(w.prefixes, p.Pattern.Prefix())
	}
	for _, text := range s.Watch {
		pattern, err := glob.Compile(text)
		if err != nil {
			pattern = glob.Pattern{}
		}
		w.watch = append(w.watch, pattern)
		if prefix := pattern.Prefix(); prefix == "." {
			w.prefixes = append(w.prefixes, "") // the directory that holds everything
		} else {
			w.prefixes = append(w.prefixes, prefix)
		}
	}
	return w
}

// first returns the reason for which the first of sorted files that has one belongs to the stack,
// "" if none has. Only files with a prefix of the stack's patterns are looked at.
func (w *watcher) first(files []string) string {
	text, end := "", len(files)
	for _, prefix := range w.prefixes {
		for i, _ := slices.BinarySearch(files, prefix); i < end && strings.HasPrefix(files[i], prefix); i++ {
			if why := w.watches(files[i]); why != "" {
				text, end = why, i
			}
		}
	}
	return text
}

// watches says why a file that has changed belongs to the stack wherever it is, "" if it does not.
func (w *watcher) watches(file string) string {
	if slices.Contains(w.stack.VarFiles, file) {
		return file + ", one of its var_files, has changed"
	}
	var match string
	for _, p := range w.stack.Files {
		switch {
		case !p.Pattern.Match(file):
		case p.Without:
			return ""
		case match == "":
			match = p.Text
		}
	}
	if match != "" {
		return fmt.Sprintf("%s has changed, one of its files by %q", file, match)
	}
	for i, pattern := range w.watch {
		if text := w.stack.Watch[i]; pattern.Match(file) || !strings.ContainsAny(text, "*?[{") && contains(text, file) {
			return fmt.Sprintf("%s has changed, which it watches by %q", file, text)
		}
	}
	return ""
}

// modified adds to changed leaves those that count as modified because of them, at any distance,
// each with its nearest cause.
func (m *Model) modified(changed map[*Leaf]Cause) map[*Leaf]Cause {
	modified := map[*Leaf]Cause{}
	var queue []*Leaf
	for _, leaf := range m.Leaves {
		if cause, ok := changed[leaf]; ok {
			modified[leaf] = cause
			queue = append(queue, leaf)
		}
	}
	passedOn := m.passedOn()
	had := map[*effect]bool{}
	for len(queue) > 0 {
		leaf := queue[0]
		queue = queue[1:]
		for _, e := range passedOn[leaf] {
			if had[e] {
				continue
			}
			had[e] = true
			for _, to := range e.on {
				if _, known := modified[to]; !known {
					modified[to] = e.cause(leaf)
					queue = append(queue, to)
				}
			}
		}
	}
	return modified
}

// onlyByOutputs returns the stacks among modified that are so only if outputs of others change,
// with these others. Changed holds the leaves that have changed themselves.
func (m *Model) onlyByOutputs(changed, modified map[*Leaf]Cause) map[*Leaf][]*Leaf {
	passedOn := m.passedOn()
	otherwise := map[*Leaf]bool{}
	only := map[*Leaf][]*Leaf{}
	for _, from := range m.Leaves {
		if _, ok := modified[from]; !ok {
			continue
		}
		for _, e := range passedOn[from] {
			for _, to := range e.on {
				switch others := only[to]; {
				case !e.outputs:
					otherwise[to] = true
				case len(others) == 0 || others[len(others)-1] != from:
					only[to] = append(others, from)
				}
			}
		}
	}
	maps.DeleteFunc(only, func(leaf *Leaf, _ []*Leaf) bool {
		_, own := changed[leaf]
		return own || otherwise[leaf]
	})
	return only
}

// effect is a common effect of some leaves on others. As these may be groups, it is not written out
// for each pair.
type effect struct {
	on      []*Leaf
	cause   func(by *Leaf) Cause
	outputs bool // it depends on outputs
}

// passedOn lists for each leaf the leaves that it makes modified.
func (m *Model) passedOn() map[*Leaf][]*effect {
	effects := map[*Leaf][]*effect{}
	for _, r := range m.rules {
		if r.rel != ModifiedBy && r.rel != ModifiedByOutputs && r.rel != Input {
			continue
		}
		for _, t := range r.targets {
			e := &effect{on: m.LeavesOf(r.of), outputs: r.rel != ModifiedBy, cause: func(by *Leaf) Cause {
				return Cause{Text: fmt.Sprintf("%s is modified, and %s", by.Name, reason(r, t)), By: by, Place: problem.PlaceOf(t.ref.Range)}
			}}
			for _, from := range m.LeavesOf(t.block) {
				effects[from] = append(effects[from], e)
			}
		}
	}
	return effects
}
