// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"embed"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

//go:embed scaffold
var scaffold embed.FS

// Scaffold writes a small stack into a directory that has none, and returns the names of its files.
// It can be planned and applied as it is. Nothing that is there is replaced.
func Scaffold(e *env.Env) ([]string, error) {
	files, err := fs.Sub(scaffold, "scaffold")
	if err != nil {
		return nil, err
	}
	var names []string
	err = fs.WalkDir(files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	present := sources.Beside(e.Dir, func(name string) bool {
		return stackconfig.IsComponentFile(name) || deployconfig.IsDeployFile(name)
	})
	for _, name := range names {
		if _, err := os.Lstat(e.Join(filepath.FromSlash(name))); err == nil && !slices.Contains(present, name) {
			present = append(present, name)
		}
	}
	if len(present) > 0 {
		return nil, failure.Error("Files already there",
			"A new stack replaces nothing, and the directory %s has: %s. Use an empty directory.", env.Absolute(e.Dir), strings.Join(present, ", "))
	}
	for _, name := range names {
		if err := copyNew(files, name, e.Join(filepath.FromSlash(name))); err != nil {
			return nil, failure.Error("New stack not written", "The file %s cannot be written: %s.", name, failure.Reason(err))
		}
	}
	return names, nil
}

// copyNew copies a file to a path at which there is none, to be committed.
func copyNew(files fs.FS, name, path string) error {
	src, err := fs.ReadFile(files, name)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { //nolint:gosec // it holds no secret
		return err
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644) //nolint:gosec // the same
	if err != nil {
		return err
	}
	_, err = file.Write(src)
	return errors.Join(err, file.Close())
}
