// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// TofuPath returns a value for PATH with which tofu is found, built if need be, and terraform is
// not. All other programs that PATH leads to are found as before: a directory that has terraform is
// replaced by links to its other programs.
func (c *Cache) TofuPath(ctx context.Context) (string, error) {
	tofu, err := c.Tofu(ctx)
	if err != nil {
		return "", err
	}
	dirs := []string{filepath.Dir(tofu)}
	dirs = append(dirs, filepath.SplitList(os.Getenv("PATH"))...)
	for i, dir := range dirs {
		if _, err := os.Stat(filepath.Join(dir, exe("terraform"))); dir == "" || err != nil {
			continue // no program is found in an unreadable directory either
		}
		if dirs[i], err = c.withoutTerraform(dir); err != nil {
			return "", err
		}
	}
	return strings.Join(dirs, string(filepath.ListSeparator)), nil
}

// withoutTerraform returns a directory of links to the entries of dir apart from terraform. Its
// name stands for its content.
func (c *Cache) withoutTerraform(dir string) (string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return "", fmt.Errorf("looking for programs: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if name := entry.Name(); name != exe("terraform") {
			names = append(names, name)
		}
	}
	sum := sha256.Sum256([]byte(dir + "\n" + strings.Join(names, "\n")))
	links := filepath.Join(c.dir, "path", hex.EncodeToString(sum[:8]))
	return links, c.provide(links, func(out string) error {
		if err := os.Mkdir(out, 0o755); err != nil {
			return err
		}
		for _, name := range names {
			if err := os.Symlink(filepath.Join(dir, name), filepath.Join(out, name)); err != nil {
				return fmt.Errorf("linking to a program: %w", err)
			}
		}
		return nil
	})
}
