// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/mod/sumdb/dirhash"
)

// hashDirectory identifies the files below a directory by names and contents; links count by where
// they lead. Modes don't count: not every system has them.
func hashDirectory(dir string) (string, error) {
	var names []string
	err := filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		names = append(names, filepath.ToSlash(name))
		return err
	})
	if err != nil {
		return "", fmt.Errorf("hashing a source package: %w", err)
	}
	hash, err := dirhash.Hash1(names, func(name string) (io.ReadCloser, error) {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if target, err := os.Readlink(path); err == nil {
			return io.NopCloser(strings.NewReader("link to " + filepath.ToSlash(target))), nil
		}
		return os.Open(path)
	})
	if err != nil {
		return "", fmt.Errorf("hashing a source package: %w", err)
	}
	return hash, nil
}
