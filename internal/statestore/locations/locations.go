// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package locations knows the kinds of stores, by the schemes of their locations. A location is a
// path, or a URL.
package locations

import (
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
)

// Shared is common to stores that one process has open. The zero value knows nothing yet. It is
// safe for concurrent use.
type Shared struct {
	tables tables.Shared
}

// Open returns the store at a location. Shared may be nil. Nothing is created, no file opened, and
// no server connected to, yet.
func Open(location string, shared *Shared, opts statestore.Options) (statestore.Store, error) {
	if shared == nil {
		return tables.Open(location, nil, opts)
	}
	return tables.Open(location, &shared.tables, opts)
}

// Shown returns a location without credentials and other parameters. Parts that the environment
// gives are in it.
func Shown(location string) string {
	if tables.IsPostgres(location) {
		return tables.Shown(location)
	}
	return location
}

// NeedsKey reports whether a location has the states of many stacks, and names none of them.
func NeedsKey(location string) bool { return tables.IsPostgres(location) && tables.NeedsKey(location) }

// WithKey returns a location that needs the key of a stack with that.
func WithKey(location, key string) string { return tables.WithKey(location, key) }

// IsPostgres reports whether a location is in PostgreSQL.
func IsPostgres(location string) bool { return tables.IsPostgres(location) }
