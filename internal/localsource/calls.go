// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package localsource

import (
	"iter"
	"path/filepath"
	"slices"
)

// Calls are the local modules that directories use, at any depth. Each directory is read once.
type Calls struct {
	top  string
	used map[string][]*Use // by directory
	more map[string][]*Use // that are not in the configuration
}

// NewCalls returns the calls below a directory, which is an absolute path without links: modules
// outside of it are left out.
func NewCalls(top string) *Calls {
	return &Calls{top: top, used: map[string][]*Use{}, more: map[string][]*Use{}}
}

// Use is a module on the way from a directory.
type Use struct {
	Dir string // absolute
	Rel string // from the top, with slashes

	from *Use // by which it is used; nil for the directory itself
}

// Chain returns the directories that lead to the module, itself the last, from the top.
func (u *Use) Chain() []string {
	var dirs []string
	for ; u != nil; u = u.from {
		dirs = append(dirs, u.Rel)
	}
	slices.Reverse(dirs)
	return dirs
}

// Add says that a directory uses another one although its configuration does not name it. It counts
// only before the directory is asked for.
func (c *Calls) Add(dir, uses string) {
	if use := c.use(uses); use != nil {
		c.more[dir] = append(c.more[dir], use)
	}
}

// Uses yields the directories that a directory uses, each module once, the nearest first.
func (c *Calls) Uses(dir string) iter.Seq[*Use] {
	return func(yield func(*Use) bool) {
		seen := map[string]bool{dir: true}
		for queue := []*Use{nil}; len(queue) > 0; queue = queue[1:] {
			from, at := queue[0], dir
			if from != nil {
				if !yield(from) {
					return
				}
				at = from.Dir
			}
			for _, use := range c.in(at) {
				if !seen[use.Dir] {
					seen[use.Dir] = true
					queue = append(queue, &Use{use.Dir, use.Rel, from})
				}
			}
		}
	}
}

func (c *Calls) in(dir string) []*Use {
	uses, known := c.used[dir]
	if known {
		return uses
	}
	calls, _ := In(dir) //nolint:errcheck // a missing directory calls nothing; its users report it
	for _, call := range calls {
		if use := c.use(call.Dir); use != nil {
			uses = append(uses, use)
		}
	}
	uses = append(uses, c.more[dir]...)
	c.used[dir] = uses
	return uses
}

// use returns the use of a directory, nil for one outside of the top.
func (c *Calls) use(dir string) *Use {
	rel, err := filepath.Rel(c.top, dir)
	if err != nil || !filepath.IsLocal(rel) {
		return nil
	}
	return &Use{Dir: dir, Rel: filepath.ToSlash(rel)}
}
