// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/tempdir"
)

// temporary is the directory of a service for the files of operations. It is made when it is first
// needed.
type temporary struct {
	kind tempdir.Kind

	mu  sync.Mutex
	dir *tempdir.Dir
}

// directories are those of services.
func directories(log *slog.Logger) tempdir.Kind {
	return tempdir.Kind{Prefix: "cairn-rpcapi-", Log: log, Keep: func(dir string) bool {
		if !hasRuns(dir) {
			return false
		}
		log.Warn("directory of a server that has ended is kept: an apply in it came to no end", "dir", dir) // nobody else knows of that
		return true
	}}
}

// hasRuns reports whether there is a file in one of the directories in which engines keep the
// records of applies, or whether that cannot be known.
func hasRuns(dir string) bool {
	errFound := errors.New("found")
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !entry.IsDir() || entry.Name() != "runs" {
			return nil
		}
		return filepath.WalkDir(path, func(_ string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() {
				return errFound
			}
			return err
		})
	}) != nil
}

// newDir makes a directory in it, which others cannot read.
func (t *temporary) newDir() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == nil {
		made, err := t.kind.Make()
		if err != nil {
			return "", err
		}
		t.dir = made
	}
	return os.MkdirTemp(t.dir.Path, "stack-")
}

// remove removes it with all that is in it.
func (t *temporary) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.dir == nil {
		return nil
	}
	dir := t.dir
	t.dir = nil
	return dir.Remove()
}

// workDir is the working directory of one configuration. It is removed when the configuration is
// closed and no operation uses it any more.
type workDir struct {
	below *temporary

	mu     sync.Mutex
	path   string // empty until it is needed
	users  int
	closed bool
}

// acquire returns the directory for operations with some providers, which stays until the caller
// calls release: at the same time, operations with others may run.
func (d *workDir) acquire(providers *operation.Providers) (string, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.path == "" {
		made, err := d.below.newDir()
		if err != nil {
			return "", err
		}
		d.path = made
	}
	path := filepath.Join(d.path, nameOf(providers))
	if err := os.MkdirAll(path, 0o700); err != nil {
		return "", err
	}
	d.users++
	return path, nil
}

// nameOf returns a name that other providers do not have.
func nameOf(providers *operation.Providers) string {
	sum := sha256.New()
	if providers != nil {
		for _, p := range providers.Packages {
			fmt.Fprintf(sum, "%q\n", append([]string{p.Provider.String(), p.Version, p.Dir}, p.Hashes...))
		}
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}

func (d *workDir) release() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.users--
	return d.removeUnused()
}

func (d *workDir) close() error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.closed = true
	return d.removeUnused()
}

func (d *workDir) removeUnused() error {
	if !d.closed || d.users > 0 || d.path == "" {
		return nil
	}
	path := d.path
	d.path = ""
	return os.RemoveAll(path)
}
