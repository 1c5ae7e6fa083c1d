// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package locations knows the kinds of stores, by the schemes of their locations. A location is a
// path, or a URL.
package locations

import (
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/objects"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
)

// Shared is common to stores that one process has open. The zero value knows nothing yet. It is
// safe for concurrent use.
type Shared struct {
	tables  tables.Shared
	objects objects.Shared
}

// Open returns the store at a location. Shared may be nil. Nothing is created, no file opened, and
// no server connected to, yet.
func Open(location string, shared *Shared, opts statestore.Options) (statestore.Store, error) {
	var inTables *tables.Shared
	var onObjects *objects.Shared
	if shared != nil {
		inTables, onObjects = &shared.tables, &shared.objects
	}
	if objects.Is(location) {
		return objects.Open(location, onObjects, opts)
	}
	return tables.Open(location, inTables, opts)
}

// Shown returns a location without credentials and other parameters. Parts that the environment
// gives are in it.
func Shown(location string) string {
	switch {
	case tables.IsPostgres(location):
		return tables.Shown(location)
	case objects.Is(location):
		return objects.Shown(location)
	}
	return location
}

// NeedsKey reports whether a location has the states of many stacks, and names none of them.
func NeedsKey(location string) bool {
	switch {
	case tables.IsPostgres(location):
		return tables.NeedsKey(location)
	case objects.Is(location):
		return objects.NeedsKey(location)
	}
	return false
}

// WithKey returns a location that needs the key of a stack with that.
func WithKey(location, key string) string {
	if objects.Is(location) {
		return objects.WithKey(location, key)
	}
	return tables.WithKey(location, key)
}

// IsPostgres reports whether a location is in PostgreSQL.
func IsPostgres(location string) bool { return tables.IsPostgres(location) }

// IsObjects reports whether a location is on object storage, or in a directory of objects.
func IsObjects(location string) bool { return objects.Is(location) }
