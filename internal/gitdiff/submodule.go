// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"context"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// addSubmodules adds the files of the submodules that have changed. To git such a submodule is one
// entry, which says that it is at another commit, and the commit that it was at before may not be
// there: each of its files counts.
func (d *Diff) addSubmodules(ctx context.Context) error {
	for _, module := range slices.Clone(d.Files) {
		dir := filepath.Join(d.repository.Dir, filepath.FromSlash(module.Path))
		if info, err := os.Lstat(dir); err != nil || !info.IsDir() || module.Untracked {
			continue // git lists directories of its own only
		}
		names, err := d.repository.run(ctx, "-C", dir, "ls-files", "-z")
		if err != nil {
			return fmt.Errorf("list the files of the submodule %s: %w", module.Path, err)
		}
		for name := range strings.SplitSeq(strings.TrimSuffix(names, "\x00"), "\x00") {
			if name != "" {
				d.Files = append(d.Files, File{Path: path.Join(module.Path, name), Added: module.Added, Uncommitted: module.Uncommitted})
			}
		}
	}
	return nil
}
