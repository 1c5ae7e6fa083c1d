// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package records

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"

	"golang.org/x/sync/errgroup"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/postgres"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Store keeps records. All methods are safe for concurrent use, also by many machines. A call waits
// for a place that is away, for about a minute.
//
// Errors of all methods: [*Error]; ErrName; context.Cause(ctx), after which a record may have been
// written all the same.
type Store interface {
	// Put writes a record unless there is one of that name: then it changes nothing. One of the same
	// content counts as written (rule K3).
	//
	// Errors: ErrExists, for another content.
	Put(ctx context.Context, name string, content []byte) error

	// Get returns the content of a record.
	//
	// Errors: ErrMissing.
	Get(ctx context.Context, name string) ([]byte, error)

	// GetAll returns the contents of records in the order of their names, in as few requests as the
	// place allows.
	//
	// Errors: ErrMissing, if any of them is missing.
	GetAll(ctx context.Context, names []string) ([][]byte, error)

	// List returns the names that begin with a prefix, which ends with a slash, sorted.
	List(ctx context.Context, prefix string) ([]string, error)

	// Remove removes all records whose names begin with a prefix, which ends with a slash. After an
	// error some may be gone.
	Remove(ctx context.Context, prefix string) error

	Close() error
}

var (
	// ErrExists is the error of a record that is there with another content.
	ErrExists = errors.New("another record has this name")

	// ErrMissing is the error of a record that is not there.
	ErrMissing = errors.New("there is no such record")

	// ErrName is the error of a name or a prefix that no record can have (rule K4).
	ErrName = errors.New("no record can have this name")
)

// Error is a fault of the place of records.
type Error struct {
	Location string // without credentials
	Problem  statestore.Problem
	Detail   string // the fault: a clause that follows the location
	Remedy   string // a sentence without its full stop
	Err      error  // cause, may be nil
}

func (e *Error) Error() string {
	text := fmt.Sprintf("the place of records %s %s", e.Location, e.Detail)
	if e.Err != nil {
		text += fmt.Sprintf(" (%s)", e.Err)
	}
	return text + "; " + e.Remedy
}

func (e *Error) Unwrap() error { return e.Err }

// explain makes an error of this package of one of the packages that have places in common with
// state stores.
func explain(err error) error {
	if fault, ok := errors.AsType[*statestore.StoreError](err); ok {
		return &Error{fault.Location, fault.Problem, fault.Detail, fault.Remedy, fault.Err}
	}
	return err
}

// compare returns nil if a record that exists has a content: it may be of an attempt of the same
// call, whose answer was lost (rule K3). Otherwise it returns ErrExists.
func compare(ctx context.Context, s Store, name string, content []byte) error {
	there, err := s.Get(ctx, name)
	if err != nil && !errors.Is(err, ErrMissing) { // it was removed since
		return err
	}
	if err == nil && bytes.Equal(there, content) {
		return nil
	}
	return ofRecord(name, ErrExists)
}

// getEach is [Store.GetAll] by one request for each record, some at the same time.
func getEach(ctx context.Context, s Store, names []string) ([][]byte, error) {
	contents := make([][]byte, len(names))
	reading, reads := errgroup.WithContext(ctx)
	reading.SetLimit(mostAtOnce)
	for i, name := range names {
		reading.Go(func() (err error) {
			contents[i], err = s.Get(reads, name)
			return err
		})
	}
	if err := reading.Wait(); err != nil {
		return nil, err
	}
	return contents, nil
}

// mostAtOnce is the number of requests that are made at the same time for many records.
const mostAtOnce = 8

func ofRecord(name string, err error) error { return fmt.Errorf("record %s: %w", name, err) }

// Open returns the store at a location: s3://BUCKET/PREFIX, gs://BUCKET/PREFIX,
// azblob://CONTAINER/PREFIX, postgres://USER@HOST:PORT/DATABASE?schema=NAME, file:///DIRECTORY, or
// the path of a directory, with the parameters of locations of states. It makes sure that the place
// is there and can be read.
//
// Credentials are those of the environment of this process, where the libraries of the services
// look for them. Environ has to be that environment.
//
// Away is told once when the place was reached before, is away and is waited for; nil for nobody.
//
// Errors: [*Error].
func Open(ctx context.Context, location string, environ []string, away func(statestore.Outage)) (Store, error) {
	s, err := open(location, away)
	if err != nil {
		return nil, err
	}
	// A place that is not there is noticed by whoever has named it, and not by their first work.
	if _, err := s.List(ctx, "cairn-opens/"); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// forms are the forms of locations.
const forms = objectstore.Forms + ", postgres://USER@HOST:PORT/DATABASE?schema=NAME, or the path of a directory"

func open(location string, away func(statestore.Outage)) (Store, error) {
	scheme, _, isURL := strings.Cut(location, "://")
	switch {
	case postgres.Is(location):
		return openPostgres(location, away)
	case objectstore.Is(location):
		address, err := objectstore.Parse(location)
		if err != nil {
			return nil, unusable(scheme+"://…", err)
		}
		return newObjectStore(address, away), nil
	case isURL:
		return nil, unusable(scheme+"://…", errors.New("there is no place of that kind"))
	}
	absolute, err := filepath.Abs(location)
	if err != nil || location == "" {
		return nil, unusable(fmt.Sprintf("%q", location), err)
	}
	return newObjectStore(objectstore.Directory(absolute), away), nil
}

func unusable(shown string, cause error) error {
	return &Error{shown, statestore.ProblemURL, "cannot be opened", "give " + forms, cause}
}

// The sizes of names, in bytes. Objects have names of 1024, with a prefix before ours; files have
// names of 255, and indexes of PostgreSQL values of some 2700.
const (
	mostOfPart = 200
	mostOfName = 512
)

var part = regexp.MustCompile(fmt.Sprintf(`^[A-Za-z0-9_+=@~%%-][A-Za-z0-9._+=@~%%-]{0,%d}$`, mostOfPart-1))

// checkName returns ErrName for a name that no record can have (rule K4).
func checkName(name string) error {
	for each := range strings.SplitSeq(name, "/") {
		if len(name) > mostOfName || !part.MatchString(each) {
			return fmt.Errorf("%q: %w; give parts of at most %d letters, digits and -_.+=@~%%, %d in all, with slashes between them",
				name, ErrName, mostOfPart, mostOfName)
		}
	}
	return nil
}

// checkPrefix is checkName for the beginning of names.
func checkPrefix(prefix string) error {
	folder, ok := strings.CutSuffix(prefix, "/")
	if !ok {
		return fmt.Errorf("%q: %w; a prefix ends with a slash", prefix, ErrName)
	}
	return checkName(folder)
}
