// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/safefile"
)

// manifestName is the name of the list of packages, in their directory.
const manifestName = "packages.json"

// manifestVersion is the version of the list's format.
const manifestVersion = 1

type manifest struct {
	Version  int               `json:"version"`
	Packages []preparedPackage `json:"packages"`
}

// readManifest returns the packages that are in a directory. A list of another version counts as
// none: everything is fetched again.
func readManifest(dir string) ([]preparedPackage, error) {
	data, err := os.ReadFile(filepath.Join(dir, manifestName))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("the list of packages cannot be read: %w", err)
	}
	var content manifest
	if err := json.Unmarshal(data, &content); err != nil || content.Version != manifestVersion {
		return nil, nil //nolint:nilerr // as the comment says
	}
	return slices.DeleteFunc(content.Packages, func(p preparedPackage) bool {
		info, err := os.Stat(filepath.Join(dir, p.Dir))
		return err != nil || !info.IsDir() || filepath.Base(p.Dir) != p.Dir
	}), nil
}

// writeManifest replaces the list.
func writeManifest(dir string, packages []preparedPackage) error {
	slices.SortFunc(packages, func(a, b preparedPackage) int { return comparePackages(a.packageID, b.packageID) })
	data, err := json.MarshalIndent(manifest{manifestVersion, packages}, "", "  ")
	if err != nil {
		return err
	}
	return safefile.Replace(filepath.Join(dir, manifestName), data, 0o600)
}

// keepUnused is how long a directory stays after it was last needed: another command may still use
// it.
const keepUnused = 24 * time.Hour

// prune removes directories that have not been needed for long. before and after are the packages
// listed until now and from now on.
func prune(dir string, before, after []preparedPackage, now time.Time) error {
	listed := func(packages []preparedPackage, name string) bool {
		return slices.ContainsFunc(packages, func(p preparedPackage) bool { return p.Dir == name })
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, entry := range entries {
		path := filepath.Join(dir, entry.Name())
		info, err := entry.Info()
		switch {
		case err != nil || !entry.IsDir() || listed(after, entry.Name()):
		case listed(before, entry.Name()):
			err = os.Chtimes(path, now, now)
		case now.Sub(info.ModTime()) > keepUnused:
			err = os.RemoveAll(path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
