// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package sealed

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/safefile"
)

// Dir is a directory of sealed files, each of which can be made again. Directory and files are for
// their owner alone. The zero value keeps nothing.
type Dir struct {
	Path   string // made when it is needed
	Suffix string // of the names of files
	Kind   string // of their content, see [Seal]
}

// keepUnused is how long a file stays after it was last read, and touchAfter how exactly that is
// known.
const (
	keepUnused = 60 * 24 * time.Hour
	touchAfter = 24 * time.Hour
)

func (d Dir) file(name string) string { return filepath.Join(d.Path, name+d.Suffix) }

// Load returns the content of a file, and false if it is not there as a whole. It counts as used
// from then on.
func (d Dir) Load(name string) (content []byte, whole bool) {
	if d.Path == "" {
		return nil, false
	}
	file, err := os.ReadFile(d.file(name))
	if err != nil {
		return nil, false
	}
	if content, whole = Open(d.Kind, file); whole {
		touch(d.file(name))
	}
	return content, whole
}

// Store writes a file, and removes those that nobody has used for long.
func (d Dir) Store(name string, content []byte) error {
	if d.Path == "" {
		return nil
	}
	if err := os.MkdirAll(d.Path, 0o700); err != nil {
		return err
	}
	d.prune(time.Now())
	return safefile.Replace(d.file(name), Seal(d.Kind, content), 0o600)
}

// touch records that a file is in use.
func touch(path string) {
	now := time.Now()
	if info, err := os.Stat(path); err == nil && now.Sub(info.ModTime()) > touchAfter {
		_ = os.Chtimes(path, now, now) //nolint:errcheck // it is made again if it is removed too early
	}
}

// prune removes files that nobody has used for long, also those that a killed process has not
// finished.
func (d Dir) prune(now time.Time) {
	entries, err := os.ReadDir(d.Path)
	if err != nil {
		return
	}
	for _, entry := range entries {
		info, err := entry.Info()
		ours := strings.HasSuffix(entry.Name(), d.Suffix) || strings.HasPrefix(entry.Name(), safefile.TemporaryPrefix)
		if err == nil && ours && info.Mode().IsRegular() && now.Sub(info.ModTime()) > keepUnused {
			_ = os.Remove(filepath.Join(d.Path, entry.Name())) //nolint:errcheck // the next one tries again
		}
	}
}
