// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objectstore

import (
	"errors"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// schemes are those of locations of object storage, and of directories.
var schemes = []string{"s3", "gs", "azblob", directoryScheme}

const directoryScheme = "file"

// Forms are the forms of locations.
const Forms = "s3://BUCKET/PREFIX, gs://BUCKET/PREFIX, azblob://CONTAINER/PREFIX, or file:///DIRECTORY"

// Address is a parsed location.
type Address struct {
	Scheme string
	Bucket string // or the path of the directory
	Path   string // within the bucket, without slashes around it
	Query  url.Values
	Shown  string // without parameters
}

// Directory returns the address of a directory, by its absolute path.
func Directory(path string) Address {
	shown := (&url.URL{Scheme: directoryScheme, Path: filepath.ToSlash(path)}).String()
	return Address{Scheme: directoryScheme, Bucket: path, Shown: shown}
}

// Is reports whether a location is on object storage, or in a directory for objects.
func Is(location string) bool {
	scheme, _, isURL := strings.Cut(location, "://")
	return isURL && slices.Contains(schemes, scheme)
}

// Parse parses a location. Its error does not name it.
func Parse(location string) (Address, error) {
	u, err := url.Parse(location)
	if err != nil {
		return Address{}, errors.New("it is malformed")
	}
	if u.User != nil {
		return Address{}, errors.New("credentials belong into the environment, and not into a location")
	}
	a := Address{Scheme: u.Scheme, Bucket: u.Host, Path: strings.Trim(path.Clean("/"+u.Path), "/"), Query: u.Query()}
	if a.Scheme == directoryScheme {
		if u.Host != "" && u.Host != "localhost" || !filepath.IsAbs(filepath.FromSlash(u.Path)) {
			return Address{}, errors.New("the path of a directory is absolute, with three slashes before it")
		}
		a.Bucket, a.Path = filepath.FromSlash(path.Clean(u.Path)), ""
	}
	if a.Bucket == "" {
		return Address{}, errors.New("it names no bucket")
	}
	a.Shown = (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
	return a, nil
}

// Folder returns the beginning of the names of all objects at the location, which is empty or ends
// with a slash.
func (a *Address) Folder() string {
	if a.Path == "" {
		return ""
	}
	return a.Path + "/"
}
