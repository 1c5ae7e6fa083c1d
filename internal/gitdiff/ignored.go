// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gitdiff

import (
	"bytes"
	"context"
	"path/filepath"
	"slices"
	"strings"
)

// Ignored returns those of some files, by their absolute paths, that git leaves out of "git add",
// also where it has them already. They need not exist. Where git fails, it is none.
func (r *Repository) Ignored(ctx context.Context, paths ...string) []string {
	cmd := r.command(ctx, "check-ignore", "--no-index", "-z", "--stdin")
	cmd.Args = slices.DeleteFunc(cmd.Args, func(arg string) bool { return arg == "--literal-pathspecs" }) // which this command refuses
	var in bytes.Buffer
	for _, path := range paths {
		in.WriteString(filepath.ToSlash(path) + "\x00")
	}
	cmd.Stdin = &in
	out, err := cmd.Output()
	if err != nil {
		return nil // also where none is ignored
	}
	found := strings.Split(string(out), "\x00")
	return slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !slices.Contains(found, filepath.ToSlash(path)) })
}
