// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Options say how a store is opened.
type Options struct {
	Shared *Shared // has the turns and checks in common with other stores of this process; nil for none

	// Away is called when a server that was reached is away and waited for, once until it is back. It
	// may be nil, and is called from any goroutine.
	Away func(Outage)

	// Traceless is for reading alone, and leaves no trace on the disk, not even the log that SQLite
	// has while it reads. That works while nobody writes: otherwise the problem is [ProblemBusy].
	Traceless bool
}

// Outage says that a server is away.
type Outage struct {
	Location string
	AtMost   time.Duration // for which it is waited for
	Reason   error
}

// Open returns the store at a location: sqlite://PATH, or just PATH; or a schema of a PostgreSQL
// database, postgres://USER@HOST/DATABASE?schema=NAME with all that libpq takes. A relative path is
// taken from the current directory, now and not later. The text after sqlite:// is the path as it
// stands, nothing in it is decoded.
//
// Nothing is created, no file opened, and no server connected to, yet.
func Open(location string, opts Options) (Store, error) {
	if IsPostgres(location) {
		return newPostgresStore(location, opts)
	}
	path := location
	if scheme, rest, ok := strings.Cut(location, "://"); ok {
		if scheme != "sqlite" {
			return nil, &StoreError{
				Location: location,
				Problem:  ProblemURL,
				Detail:   "cannot be opened: there is no state store for " + scheme + "://",
				Remedy:   "give a file path, sqlite:// followed by one, or postgres:// with the address of a database",
			}
		}
		path = rest
	}
	if path == "" || strings.ContainsRune(path, 0) {
		return nil, &StoreError{
			Location: location,
			Problem:  ProblemURL,
			Detail:   "names no file",
			Remedy:   "give a file path, or sqlite:// followed by one",
		}
	}
	absolute, err := filepath.Abs(path)
	if err != nil {
		return nil, &StoreError{Location: location, Problem: ProblemURL, Detail: "cannot be made an absolute path", Err: err}
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
	if opts.Shared != nil {
		store.shared = opts.Shared.file(absolute)
		store.queue = store.shared.turn
	}
	return store, nil
}
