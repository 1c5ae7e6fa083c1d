// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"fmt"
	"strconv"
	"strings"
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
