// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objectstore

import (
	"context"
	"errors"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Bucket is where objects are. Names have slashes, as paths do.
type Bucket interface {
	// Create stores an object that must not be there yet. After any other error than ErrExists it may
	// be there.
	Create(ctx context.Context, name string, content []byte) error

	// Put stores an object in the place of one that may be there.
	Put(ctx context.Context, name string, content []byte) error

	// Read fails with ErrMissing where there is no such object.
	Read(ctx context.Context, name string) ([]byte, error)

	// Modified returns the time at which an object was stored, by the clock of the service. It fails
	// with ErrMissing where there is none.
	Modified(ctx context.Context, name string) (time.Time, error)

	// List returns names that begin with a prefix, which ends with a slash, in their order, a page at
	// a time: with the token that the page before has returned, nil for the first. The token of the
	// last page is nil.
	List(ctx context.Context, prefix string, token []byte, most int) (names []string, next []byte, err error)

	// Folders returns the names between a prefix, which ends with a slash, and the next slash.
	Folders(ctx context.Context, prefix string) ([]string, error)

	// Remove removes an object, which may be missing.
	Remove(ctx context.Context, name string) error

	// Problem returns the fault of an error of another method, and the remedy; the zero fault if
	// the service is away, perhaps for a moment.
	Problem(err error) Fault

	Close() error
}

var (
	// ErrExists is the error of an object that is to be created and is there.
	ErrExists = errors.New("there is an object with this name")

	// ErrMissing is the error of an object that is not there.
	ErrMissing = errors.New("there is no object with this name")
)

// Fault is a fault of a service, for people.
type Fault struct {
	Problem        statestore.Problem
	Detail, Remedy string
}
