// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// RestoreFiles puts files that [Copy.KeepFiles] has kept in dir back where the module has written
// them. A file of the module's sources at the same place wins. Files that are never kept are not
// put back either, so that a directory that somebody else has made can hold nothing but the files
// that a module's own directory could: no state, no configuration.
func (c *Copy) RestoreFiles(dir string) error {
	err := c.walkWritten(dir, func(rel string) error {
		target := filepath.Join(c.top, rel)
		if _, err := os.Lstat(target); err == nil {
			return nil
		}
		return moveOrCopy(os.Link, filepath.Join(dir, rel), target)
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restoring files that the module has written: %w", err)
	}
	return nil
}

// KeepFiles moves the files that the module has written into the copy to dir, in place of its
// contents: the next run then finds them as it would next to the module's sources. Files of
// configuration are not kept.
func (c *Copy) KeepFiles(dir string) error {
	var written []string
	err := c.walkWritten(c.top, func(rel string) error {
		written = append(written, rel)
		return nil
	})
	if err == nil {
		err = os.RemoveAll(dir)
	}
	for _, rel := range written {
		if err == nil {
			err = moveOrCopy(os.Rename, filepath.Join(c.top, rel), filepath.Join(dir, rel))
		}
	}
	if err != nil {
		return fmt.Errorf("keeping files that the module has written: %w", err)
	}
	return nil
}

// Return makes the engine's changes to files in the copy to the originals that it links to, and
// next to these: files that it has written there, changed or removed are then as if it had run
// where the module is.
func (c *Copy) Return() error {
	err := c.walkWritten(c.top, func(rel string) error {
		return moveOrCopy(os.Rename, filepath.Join(c.top, rel), filepath.Join(c.layout.Top, rel))
	})
	for _, link := range c.layout.links {
		if err != nil {
			break
		}
		err = c.returnLink(link)
	}
	if err != nil {
		return fmt.Errorf("returning files that the module has written: %w", err)
	}
	return nil
}

func (c *Copy) returnLink(link link) error {
	if name, err := filepath.Rel(c.layout.Root, link.target); err == nil && c.files[filepath.ToSlash(name)] != nil {
		return nil // a changed copy of a configuration
	}
	at := filepath.Join(c.top, link.target)
	switch info, err := os.Lstat(at); {
	case errors.Is(err, fs.ErrNotExist):
		if of, err := os.Stat(link.source); err != nil || of.IsDir() { // of which nobody knows whether all of it was to be removed
			return nil //nolint:nilerr // it is gone there, too
		}
		return os.Remove(link.source)
	case err != nil:
		return err
	case info.Mode().IsRegular():
		return moveOrCopy(os.Rename, at, link.source)
	}
	return nil
}

// walkWritten visits the files below a directory that were not there when the copy was made and are
// neither of the engine nor configuration. It gives their places relative to that directory, which
// is the top of the copy or has files at the same places.
func (c *Copy) walkWritten(top string, visit func(rel string) error) error {
	made := map[string]bool{}
	for _, link := range c.layout.links {
		made[link.target] = true
	}
	for name := range c.files {
		made[filepath.Join(c.layout.Root, filepath.FromSlash(name))] = true
	}
	packages := filepath.Join(c.layout.Root, ".terraform", "modules") // with the modules that were fetched
	return filepath.WalkDir(top, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(top, path)
		if err != nil {
			return err
		}
		inRoot := filepath.Dir(rel) == c.layout.Root
		switch {
		case entry.IsDir() && (rel == packages || rel == filepath.Dir(packages)):
		case filepath.Dir(rel) == packages && entry.IsDir():
		case filepath.Dir(rel) == packages || filepath.Dir(rel) == filepath.Dir(packages):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case made[rel] || leftOut(entry.Name(), inRoot) || inRoot && ofEngine(entry.Name()):
			if entry.IsDir() {
				return filepath.SkipDir
			}
		case entry.Type().IsRegular() && !isConfiguration(entry.Name()):
			return visit(rel)
		}
		return nil
	})
}

// ofEngine reports whether a file or directory of the root was made by Build or the engine.
func ofEngine(name string) bool {
	return isGenerated(name) || slices.Contains([]string{latchDir, LockFile, StateFile}, name) || strings.HasPrefix(name, "crash.")
}

// isConfiguration reports whether the engine would read a file although the module's sources do not
// have it.
func isConfiguration(name string) bool {
	name = strings.TrimSuffix(name, ".json")
	return slices.Contains([]string{".tf", ".tofu", ".tfvars"}, filepath.Ext(name))
}

// moveOrCopy gives a file another place or another name, which only works on one file system, or
// else copies it.
func moveOrCopy(move func(from, to string) error, from, to string) error {
	if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
		return err
	}
	if move(from, to) == nil {
		return nil
	}
	info, err := os.Stat(from)
	if err != nil {
		return err
	}
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, info.Mode()&0o700)
}
