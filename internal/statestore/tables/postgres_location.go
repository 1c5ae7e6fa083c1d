// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// postgresSchemes are the schemes of locations in PostgreSQL.
var postgresSchemes = []string{"postgres", "postgresql"}

// schemaParameter is the parameter of a location that names the schema.
const schemaParameter = "schema"

// redactedReason is the reason why a URL cannot be parsed. The whole error of pgx has the URL.
func redactedReason(err error) error {
	if parse, ok := errors.AsType[*pgconn.ParseConfigError](err); ok {
		if reason := parse.Unwrap(); reason != nil {
			return reason
		}
	}
	return errors.New("it is not understood")
}

// cutSchema returns a location without its schema, and the schema.
func cutSchema(location string) (address, schema string, err error) {
	u, err := url.Parse(location)
	if err != nil {
		return "", "", errors.New("it is malformed") // the error would show the password
	}
	query := u.Query()
	schema = query.Get(schemaParameter)
	query.Del(schemaParameter)
	return withQuery(u, query), schema, nil
}

// WithKey returns a location in PostgreSQL with the schema of a stack.
func WithKey(location, key string) string { return WithSchema(location, schemaOf(key)) }

// WithSchema returns a location in PostgreSQL with a schema.
func WithSchema(location, schema string) string {
	u, err := url.Parse(location)
	if err != nil {
		return location // which [Open] reports
	}
	query := u.Query()
	query.Set(schemaParameter, schema)
	return withQuery(u, query)
}

// withQuery returns a URL with other parameters, also one without a host, which [url.URL] writes
// without slashes.
func withQuery(u *url.URL, query url.Values) string {
	rest := strings.TrimPrefix((&url.URL{Scheme: u.Scheme, User: u.User, Host: u.Host, Path: u.Path}).String(), u.Scheme+":")
	text := u.Scheme + "://" + strings.TrimPrefix(rest, "//")
	if len(query) > 0 {
		text += "?" + query.Encode()
	}
	return text
}

// NeedsKey reports whether a location in PostgreSQL names no schema.
func NeedsKey(location string) bool {
	u, err := url.Parse(location)
	return err == nil && !u.Query().Has(schemaParameter)
}

// IsPostgres reports whether a location is in PostgreSQL.
func IsPostgres(location string) bool {
	scheme, _, isURL := strings.Cut(location, "://")
	return isURL && slices.Contains(postgresSchemes, scheme)
}

// Shown returns a location in PostgreSQL without credentials and other parameters. Parts that the
// environment gives are in it.
func Shown(location string) string {
	address, _ := parsePostgres(location) //nolint:errcheck // What can be shown is there.
	return address.shown
}

// postgresAddress is a parsed location in PostgreSQL.
type postgresAddress struct {
	shown  string // without credentials
	schema string
	server string // the location without the schema
	config *pgx.ConnConfig
}

// parsePostgres parses a location. With an error, only the text to show is there.
func parsePostgres(location string) (postgresAddress, error) {
	scheme, _, _ := strings.Cut(location, "://")
	unusable := postgresAddress{shown: scheme + "://…"}
	server, schema, err := cutSchema(location)
	if err != nil {
		return unusable, err
	}
	config, err := pgx.ParseConfig(server)
	if err != nil {
		return unusable, redactedReason(err)
	}
	query := url.Values{}
	shown := &url.URL{Scheme: scheme, Path: "/" + config.Database}
	if filepath.IsAbs(config.Host) { // of a socket
		query.Set("host", config.Host)
	} else {
		shown.Host = net.JoinHostPort(config.Host, fmt.Sprint(config.Port))
	}
	if schema != "" {
		query.Set(schemaParameter, schema)
	}
	return postgresAddress{withQuery(shown, query), schema, server, config}, nil
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
