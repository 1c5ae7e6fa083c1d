// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/order"
)

// FromRoots makes a workspace file of directories, as [cairnfile.Find] returns them. There is no
// order between them.
func FromRoots(dirs []string) Result {
	w := newWriter()
	taken := names{}
	for _, dir := range dirs {
		if !writable(dir) {
			w.lose(order.Place{}, "The directory %q, which a workspace file cannot name", dir)
			continue
		}
		at := order.Place{File: dir}
		w.block(cairnfile.StackType, w.nameOfDir(taken, "stack", dir, at), at).text("path", dir)
	}
	return w.result()
}
