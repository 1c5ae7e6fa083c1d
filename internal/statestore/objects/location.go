// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// schemes are those of locations of object storage, and of directories.
var schemes = []string{"s3", "gs", "azblob", directoryScheme}

const directoryScheme = "file"

// forms are the forms of locations.
const forms = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX, or file:///DIRECTORY"

// stackParameter is the parameter of a location that names the stack.
const stackParameter = "stack"

// address is a parsed location.
type address struct {
	scheme string
	bucket string // or the path of the directory
	path   string // within the bucket, without slashes around it
	stack  string
	query  url.Values // without the stack
	shown  string
}

// Is reports whether a location is on object storage, or in a directory for objects.
func Is(location string) bool {
	scheme, _, isURL := strings.Cut(location, "://")
	return isURL && slices.Contains(schemes, scheme)
}

// Shown returns a location on object storage without parameters that are not part of its identity.
func Shown(location string) string {
	a, err := parse(location)
	if err != nil {
		scheme, _, _ := strings.Cut(location, "://")
		return scheme + "://…"
	}
	return a.shown
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
	u, err := url.Parse(location)
	if err != nil {
		return address{}, errors.New("it is malformed")
	}
	if u.User != nil {
		return address{}, errors.New("credentials belong into the environment, and not into a location")
	}
	a := address{scheme: u.Scheme, bucket: u.Host, path: strings.Trim(path.Clean("/"+u.Path), "/"), query: u.Query()}
	if a.scheme == directoryScheme {
		if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
			return address{}, errors.New("the path of a directory is absolute, with three slashes before it")
		}
		a.bucket, a.path = filepath.FromSlash(path.Clean(u.Path)), ""
	}
	if a.bucket == "" {
		return address{}, errors.New("it names no bucket")
	}
	a.stack = a.query.Get(stackParameter)
	a.query.Del(stackParameter)
	shown := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if a.stack != "" {
		shown.RawQuery = stackParameter + "=" + strings.ReplaceAll(url.QueryEscape(a.stack), "%2F", "/")
	}
	a.shown = shown.String()
	return a, nil
}

// folder returns the beginning of the names of all objects.
func (a *address) folder() string {
	folder := ""
	if a.path != "" {
		folder = a.path + "/"
	}
	// One folder for each stack: that of another is never within it.
	return folder + escape(a.stack) + "/"
}

func unusable(location string, err error) error {
	return &statestore.StoreError{
		Location: Shown(location), Problem: statestore.ProblemURL, Detail: "cannot be opened", Remedy: "give " + forms, Err: err,
	}
}
