// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package postgres

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// schemes are the schemes of locations in PostgreSQL.
var schemes = []string{"postgres", "postgresql"}

// SchemaParameter is the parameter of a location that names the schema.
const SchemaParameter = "schema"

// RecordsTable is the table of the records of runs on many machines, which may be in the schema of
// a state store.
const RecordsTable = "cairn_records"

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
	schema = query.Get(SchemaParameter)
	query.Del(SchemaParameter)
	return withQuery(u, query), schema, nil
}

// WithSchema returns a location in PostgreSQL with a schema.
func WithSchema(location, schema string) string {
	u, err := url.Parse(location)
	if err != nil {
		return location // which [Parse] reports
	}
	query := u.Query()
	query.Set(SchemaParameter, schema)
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

// Is reports whether a location is in PostgreSQL.
func Is(location string) bool {
	scheme, _, isURL := strings.Cut(location, "://")
	return isURL && slices.Contains(schemes, scheme)
}

// Address is a parsed location in PostgreSQL.
type Address struct {
	Shown  string // without credentials
	Schema string // may be empty
	Server string // the location without the schema
	Config *pgx.ConnConfig
}

// Parse parses a location. With an error, only the text to show is there.
func Parse(location string) (Address, error) {
	scheme, _, _ := strings.Cut(location, "://")
	unusable := Address{Shown: scheme + "://…"}
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
		query.Set(SchemaParameter, schema)
	}
	return Address{withQuery(shown, query), schema, server, config}, nil
}
