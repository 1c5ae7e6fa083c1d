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

// Changed returns a cause for each dirspace that a diff concerns: a file that belongs to it has
// changed, or a file of a local module that it uses at any depth. Root is the directory of the
// repository.
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
	sorted := slices.Sorted(slices.Values(files))
	calls := localsource.NewCalls(root)
	for i, d := range l.Dirspaces {
		if own[i] {
			continue
		}
		for module := range calls.Uses(filepath.Join(root, filepath.FromSlash(d.Dir))) {
			if file := firstBelow(sorted, module.Rel); file != "" {
				causes = append(causes, Cause{Dirspace: i, Reason: fmt.Sprintf("module %s has changed: %s", module.Rel, file)})
				break
			}
		}
	}
	return causes, nil
}

// firstBelow returns the first of sorted files that is in a directory or below it, "" if none is.
func firstBelow(files []string, dir string) string {
	at, _ := slices.BinarySearch(files, dir+"/")
	if at < len(files) && strings.HasPrefix(files[at], dir+"/") {
		return files[at]
	}
	return ""
}
