// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/localsource"
)

// Changed returns a cause for each dirspace that a diff concerns: a file that belongs to it has changed, or a file of a local module that it
// uses at any depth. Root is the directory of the repository.
func (l *Layout) Changed(root string, diff *gitdiff.Diff) ([]Cause, error) {
	files, err := diff.Below(root)
	if err != nil {
		return nil, err
	}
	if root, err = localsource.RealPath(root); err != nil {
		return nil, err
	}
	causes := l.ByFiles(files)
	own := map[int]bool{}
	for _, cause := range causes {
		own[cause.Dirspace] = true
	}
	m := &modules{root: root, files: slices.Sorted(slices.Values(files)), calls: map[string][]localsource.Call{}}
	for i, d := range l.Dirspaces {
		if own[i] {
			continue
		}
		if reason := m.changedIn(d.Dir); reason != "" {
			causes = append(causes, Cause{Dirspace: i, Reason: reason})
		}
	}
	return causes, nil
}

// modules finds local modules that have changed.
type modules struct {
	root  string                        // absolute, without links
	files []string                      // that have changed, from the root, sorted
	calls map[string][]localsource.Call // by directory
}

// changedIn says which module that a directory uses has changed, "" if none has.
func (m *modules) changedIn(dir string) string {
	own := filepath.Join(m.root, filepath.FromSlash(dir))
	seen := map[string]bool{own: true}
	for queue := []string{own}; len(queue) > 0; queue = queue[1:] {
		for _, call := range m.callsIn(queue[0]) {
			rel, err := filepath.Rel(m.root, call.Dir)
			if seen[call.Dir] || err != nil || !filepath.IsLocal(rel) {
				continue
			}
			seen[call.Dir] = true
			queue = append(queue, call.Dir)
			module := filepath.ToSlash(rel)
			at, _ := slices.BinarySearch(m.files, module+"/")
			if at < len(m.files) && strings.HasPrefix(m.files[at], module+"/") {
				return fmt.Sprintf("module %s has changed: %s", module, m.files[at])
			}
		}
	}
	return ""
}

func (m *modules) callsIn(dir string) []localsource.Call {
	calls, known := m.calls[dir]
	if !known {
		calls, _ = localsource.In(dir) //nolint:errcheck // what is not there calls nothing; the engine says so
		m.calls[dir] = calls
	}
	return calls
}
