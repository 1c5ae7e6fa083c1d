// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package states

import (
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
)

// withKey returns a location with the key of the stack, where the location has those of many
// stacks and names none of them.
func withKey(location string, e *env.Env, name string) (string, error) {
	if !locations.NeedsKey(location) {
		return location, nil
	}
	key := name
	if key == "" {
		if key = pathInRepository(env.Absolute(e.Home)); key == "" {
			return "", failure.Error("Stack without a name", "%s has the states of many stacks, and nothing says which of them is that of "+
				"this one: it has no path in a repository. Give it a name, such as name = %q in %s.",
				locations.Shown(location), filepath.Base(env.Absolute(e.Home)), settings.File)
		}
	}
	return locations.WithKey(location, key), nil
}

// pathInRepository returns the path of a directory from the top of the repository that it is in, ""
// if it is in none or is the top: clones of a repository are in directories of any names.
func pathInRepository(dir string) string {
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			if path, err := filepath.Rel(at, dir); err == nil && path != "." {
				return filepath.ToSlash(path)
			}
			return ""
		}
		if at == filepath.Dir(at) {
			return ""
		}
	}
}
