// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"crypto/sha256"
	"fmt"
	"net/url"
	"regexp"
	"strings"

	"github.com/cairnstacks/cairn/internal/postgres"
)

// WithKey returns a location in PostgreSQL with the schema of a stack.
func WithKey(location, key string) string { return postgres.WithSchema(location, schemaOf(key)) }

// NeedsKey reports whether a location in PostgreSQL names no schema.
func NeedsKey(location string) bool {
	u, err := url.Parse(location)
	return err == nil && !u.Query().Has(postgres.SchemaParameter)
}

// IsPostgres reports whether a location is in PostgreSQL.
func IsPostgres(location string) bool { return postgres.Is(location) }

// Shown returns a location in PostgreSQL without credentials and other parameters. Parts that the
// environment gives are in it.
func Shown(location string) string {
	address, _ := postgres.Parse(location) //nolint:errcheck // What can be shown is there.
	return address.Shown
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
