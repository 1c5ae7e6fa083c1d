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
		name := "root"
		if wish := ofDir(dir); wish == "" {
			name = taken.add(name)
		} else {
			name = w.name(taken, "stack", wish, order.Place{File: dir})
		}
		w.block(cairnfile.StackType, name, order.Place{File: dir}).text("path", dir)
	}
	return w.result()
}
