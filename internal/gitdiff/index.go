// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"cmp"
	"slices"
	"strings"
)

// place is a path that a file of a diff has, or had.
type place struct {
	path string
	file int // position in the diff
	from bool
}

// pathIndex finds the files of a diff by where they are and were, so that not each is looked at for
// each stack.
type pathIndex []place

func newPathIndex(files []File) pathIndex {
	var index pathIndex
	for i, file := range files {
		index = append(index, place{path: file.Path, file: i})
		if file.From != "" {
			index = append(index, place{path: file.From, file: i, from: true})
		}
	}
	slices.SortFunc(index, func(a, b place) int { return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.file, b.file)) })
	return index
}

// at returns the places of the path itself, present and former.
func (x pathIndex) at(path string) []place {
	return x.starting(path, func(p string) bool { return p == path })
}

// below returns the places in a directory or below it, present and former.
func (x pathIndex) below(dir string) []place {
	if dir == "." {
		return x
	}
	return x.starting(dir+"/", func(p string) bool { return strings.HasPrefix(p, dir+"/") })
}

// starting returns the places from a path on, as long as they are wanted.
func (x pathIndex) starting(path string, wanted func(string) bool) []place {
	from, _ := slices.BinarySearchFunc(x, path, func(p place, path string) int { return cmp.Compare(p.path, path) })
	rest := x[from:]
	if end := slices.IndexFunc(rest, func(p place) bool { return !wanted(p.path) }); end >= 0 {
		rest = rest[:end]
	}
	return rest
}

// inOrder returns places in the order of the diff, of each file its present one if that is among
// them.
func inOrder(places []place) []place {
	sorted := slices.SortedFunc(slices.Values(places), func(a, b place) int {
		if a.file != b.file || a.from == b.from {
			return cmp.Compare(a.file, b.file)
		}
		if a.from {
			return 1
		}
		return -1
	})
	return slices.CompactFunc(sorted, func(a, b place) bool { return a.file == b.file })
}
