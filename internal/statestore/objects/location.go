// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"net/url"
	"strings"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// stackParameter is the parameter of a location that names the stack.
const stackParameter = "stack"

// address is a parsed location. Neither its parameters nor its text to show have others than the
// stack.
type address struct {
	objectstore.Address
	stack string
}

// Is reports whether a location is on object storage, or in a directory for objects.
func Is(location string) bool { return objectstore.Is(location) }

// Shown returns a location on object storage without parameters that are not part of its identity.
func Shown(location string) string {
	a, err := parse(location)
	if err != nil {
		scheme, _, _ := strings.Cut(location, "://")
		return scheme + "://…"
	}
	return a.Shown
}

// NeedsKey reports whether a location on object storage names no stack.
func NeedsKey(location string) bool {
	a, err := parse(location)
	return err == nil && a.stack == ""
}

// WithKey returns a location on object storage with the key of a stack.
func WithKey(location, key string) string {
	u, err := url.Parse(location)
	if err != nil {
		return location // which [Open] reports
	}
	query := u.Query()
	query.Set(stackParameter, key)
	u.RawQuery = query.Encode()
	return u.String()
}

func parse(location string) (address, error) {
	parsed, err := objectstore.Parse(location)
	if err != nil {
		return address{}, err
	}
	a := address{parsed, parsed.Query.Get(stackParameter)}
	a.Query.Del(stackParameter)
	if a.stack != "" {
		a.Shown += "?" + stackParameter + "=" + strings.ReplaceAll(url.QueryEscape(a.stack), "%2F", "/")
	}
	return a, nil
}

// folder returns the beginning of the names of all objects. There is one folder for each stack:
// that of another is never within it.
func (a *address) folder() string { return a.Folder() + escape(a.stack) + "/" }

func unusable(location string, err error) error {
	return &statestore.StoreError{
		Location: Shown(location), Problem: statestore.ProblemURL, Detail: "cannot be opened", Remedy: "give " + objectstore.Forms, Err: err,
	}
}
