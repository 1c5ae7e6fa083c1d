// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Open returns the store at a location: sqlite://PATH, or just PATH; or a schema of a PostgreSQL
// database, postgres://USER@HOST/DATABASE?schema=NAME with all that libpq takes. A relative path is
// taken from the current directory, now and not later. The text after sqlite:// is the path as it
// stands, nothing in it is decoded.
//
// Shared has the turns and checks in common with other stores of this process; nil for none.
// Nothing is created, no file opened, and no server connected to, yet.
func Open(location string, shared *Shared, opts statestore.Options) (statestore.Store, error) {
	if IsPostgres(location) {
		return newPostgresStore(location, shared, opts)
	}
	path := location
	if scheme, rest, ok := strings.Cut(location, "://"); ok {
		if scheme != "sqlite" {
			return nil, &statestore.StoreError{
				Location: location,
				Problem:  statestore.ProblemURL,
				Detail:   "cannot be opened: there is no state store for " + scheme + "://",
				Remedy:   "give a file path, sqlite:// followed by one, or postgres:// with the address of a database",
			}
		}
		path = rest
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, &statestore.StoreError{
			Location: location,
			Problem:  statestore.ProblemURL,
			Detail:   "names no file",
			Remedy:   "give a file path, or sqlite:// followed by one",
		}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, &statestore.StoreError{
			Location: location, Problem: statestore.ProblemURL, Detail: "cannot be made an absolute path", Err: err,
		}
	}
	if info, err := os.Lstat(absolute); err == nil && info.Mode()&os.ModeSymlink != 0 {
		// SQLite keeps its log next to the file that the link leads to. A link
		// that leads nowhere is explained when it is used.
		if target, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = target
		}
	}
	store := newSQLiteStore(absolute)
	store.traceless = opts.Traceless
	if shared != nil {
		store.shared = shared.file(absolute)
		store.queue = store.shared.turn
	}
	return store, nil
}
