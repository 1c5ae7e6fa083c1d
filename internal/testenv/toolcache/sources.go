// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"
)

// unusedAge is how long the result of other sources is kept after it was last used.
const unusedAge = 24 * time.Hour

// digest returns a digest of the Go files of a folder of the repository, apart from tests, and of
// the other files named.
func (c *Cache) digest(folder string, names ...string) (string, error) {
	sum := sha256.New()
	fmt.Fprintln(sum, runtime.Version())
	err := fs.WalkDir(os.DirFS(c.root), folder, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		return "", fmt.Errorf("finding the sources in %s: %w", folder, err)
	}
	for _, name := range names {
		raw, err := os.ReadFile(filepath.Join(c.root, filepath.FromSlash(name)))
		if err != nil {
			return "", fmt.Errorf("reading the sources in %s: %w", folder, err)
		}
		fmt.Fprintf(sum, "%s %d\n%s", name, len(raw), raw)
	}
	return hex.EncodeToString(sum.Sum(nil))[:16], nil
}

// markUsed keeps [removeUnused] from removing a directory for a while.
func markUsed(dir string) error {
	now := time.Now()
	if err := os.Chtimes(dir, now, now); err != nil {
		return fmt.Errorf("marking %s as used: %w", dir, err)
	}
	return nil
}

// removeUnused removes those directories in dir that were not used lately and whose names begin
// with a prefix, but not keep. Failing to is no harm.
func removeUnused(dir, prefix, keep string) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		if err == nil && strings.HasPrefix(entry.Name(), prefix) && entry.Name() != keep && time.Since(info.ModTime()) > unusedAge {
			os.RemoveAll(filepath.Join(dir, entry.Name())) //nolint:errcheck // The next build tries again.
		}
	}
}
