// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
)

// temporary is the directory of a service for what operations keep on the disk. It is made when it is first needed.
type temporary struct {
	mu   sync.Mutex
	path string
	lock *os.File // in it
}

// newDir makes a directory in it, which others cannot read.
func (t *temporary) newDir() (string, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path == "" {
		made, lock, err := makeLocked(os.TempDir())
		if err != nil {
			return "", err
		}
		t.path, t.lock = made, lock
	}
	return os.MkdirTemp(t.path, "stack-")
}

// remove removes it with all that is in it.
func (t *temporary) remove() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path == "" {
		return nil
	}
	path, lock := t.path, t.lock
	t.path, t.lock = "", nil
	return errors.Join(lock.Close(), os.RemoveAll(path)) // some systems remove no file that is open
}

// workDir is the working directory of one configuration. It is removed when the configuration is closed and no operation uses it any more.
type workDir struct {
	below *temporary

	mu     sync.Mutex
	path   string // empty until it is needed
	users  int
	closed bool
}

// acquire returns the directory for operations with some providers, which stays until the caller calls release: at the same time, operations with others may run.
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
