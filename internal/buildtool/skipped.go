// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/testenv/toolcache"
)

// skipFile is where tests record that they are skipped.
func skipFile(cache *toolcache.Cache) string { return filepath.Join(cache.Dir(), "skipped.txt") }

// newSkipFile makes the file, which is empty.
func newSkipFile(cache *toolcache.Cache) (string, error) {
	path := skipFile(cache)
	return path, errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, nil, 0o600)) //nolint:gosec // as the rest of the cache
}

// maxSkipped is how many tests are named for one reason.
const maxSkipped = 5

// printSkipped writes the tests that were not run, by the reasons. It writes nothing if there are
// none.
func printSkipped(w io.Writer, path string) error {
	content, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	reasons := map[string][]string{}
	for line := range strings.Lines(string(content)) {
		if test, reason, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			reasons[reason] = append(reasons[reason], test)
		}
	}
	for _, reason := range slices.Sorted(maps.Keys(reasons)) {
		tests := reasons[reason]
		slices.Sort(tests)
		tests = slices.Compact(tests)
		more := ""
		if len(tests) > maxSkipped {
			more = fmt.Sprintf(", and %d more", len(tests)-maxSkipped)
		}
		if _, err := fmt.Fprintf(w, "not run: %s: %s%s\n", reason, strings.Join(tests[:min(len(tests), maxSkipped)], ", "), more); err != nil {
			return err
		}
	}
	return nil
}
