// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package states

import (
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// withKey returns a location with the schema of the stack, where the location has those of many
// stacks and names none of them.
func withKey(location string, e *env.Env, name string) (string, error) {
	if !statestore.NeedsSchema(location) {
		return location, nil
	}
	key := name
	if key == "" {
		if key = pathInRepository(env.Absolute(e.Home)); key == "" {
			return "", failure.Error("Stack without a name", "%s has the states of many stacks, and nothing says which of them is that of "+
				"this one: it has no path in a repository. Give it a name, such as name = %q in %s.",
				statestore.Shown(location), filepath.Base(env.Absolute(e.Home)), settings.File)
		}
	}
	return statestore.WithSchema(location, schemaOf(key)), nil
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

// schemaPrefix distinguishes the schemas of stacks from others in the same database.
const schemaPrefix = "cairn_"

// mostReadable is how much of a key is in the name of a schema, which may have 63 bytes.
const mostReadable = 40

var (
	plainKey   = regexp.MustCompile(`^[a-z0-9_]{1,40}$`)
	otherBytes = regexp.MustCompile(`[^a-z0-9_]+`)
)

// schemaOf returns the name of the schema of a stack: its key, if that can be written in SQL
// without quotes, and otherwise a text like it that no other key has.
func schemaOf(key string) string {
	if plainKey.MatchString(key) {
		return schemaPrefix + key
	}
	readable := strings.Trim(otherBytes.ReplaceAllString(strings.ToLower(key), "_"), "_")
	sum := sha256.Sum256([]byte(key))
	return fmt.Sprintf("%s%s_%x", schemaPrefix, readable[:min(len(readable), mostReadable)], sum[:5])
}
