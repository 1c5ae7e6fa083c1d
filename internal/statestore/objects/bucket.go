// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
)

// bucket is where objects are. Names have slashes, as paths do.
type bucket interface {
	// create stores an object that must not be there yet. After any other error than errExists it may
	// be there.
	create(ctx context.Context, name string, content []byte) error

	// put stores an object in the place of one that may be there.
	put(ctx context.Context, name string, content []byte) error

	// read fails with errMissing where there is no such object.
	read(ctx context.Context, name string) ([]byte, error)

	// modified returns the time at which an object was stored, by the clock of the service. It fails
	// with errMissing where there is none.
	modified(ctx context.Context, name string) (time.Time, error)

	// list returns names that begin with a prefix, which ends with a slash, in their order, a page at
	// a time: with the token that the page before has returned, nil for the first. The token of the
	// last page is nil.
	list(ctx context.Context, prefix string, token []byte, most int) (names []string, next []byte, err error)

	// folders returns the names between a prefix, which ends with a slash, and the next slash.
	folders(ctx context.Context, prefix string) ([]string, error)

	// remove removes an object, which may be missing.
	remove(ctx context.Context, name string) error

	// problem returns the fault of an error of another method, and the remedy; the zero fault if
	// the service is away, perhaps for a moment.
	problem(err error) fault

	close() error
}

var (
	errExists  = errors.New("there is an object with this name")
	errMissing = errors.New("there is no object with this name")
)

// mostEntries is how many entries a log may have: a second for each is three centuries. Names have
// its complement, so that the newest come first in a list.
const mostEntries = 9_999_999_999

// groupDigits is how many of the ten digits of a name are the file's, and not the folder's: folders
// are only so large that a list of them is quick.
const groupDigits = 3

// The kinds of objects in a log.
const (
	entryKind    = "entry"
	snapshotKind = "state"
)

// objectName returns the name of an object of a log.
func objectName(folder string, number int64, kind string) string {
	digits := fmt.Sprintf("%010d", mostEntries-number)
	at := len(digits) - groupDigits
	return folder + digits[:at] + "/" + digits[at:] + "-" + kind
}

// parseName is the inverse of objectName. Other names are not ok.
func parseName(folder, name string) (number int64, kind string, ok bool) {
	digits, kind, ok := strings.Cut(strings.TrimPrefix(name, folder), "-")
	if !ok || kind != entryKind && kind != snapshotKind {
		return 0, "", false
	}
	number, err := strconv.ParseInt(strings.Replace(digits, "/", "", 1), 10, 64)
	number = mostEntries - number
	return number, kind, err == nil && objectName(folder, number, kind) == name
}
