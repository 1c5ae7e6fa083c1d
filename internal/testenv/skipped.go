// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// SkippedVariable names a file to which tests add a line when they are skipped for want of
// something. Empty records nothing.
const SkippedVariable = "CAIRN_TEST_SKIPPED"

// RecordSkipped adds a test to the file of those that were skipped, of whatever package: the name,
// a tab, and the reason.
func RecordSkipped(test, reason string) {
	path := os.Getenv(SkippedVariable)
	if path == "" {
		return
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return // the test itself says that it is skipped
	}
	defer f.Close() //nolint:errcheck // as above
	program, _, _ := strings.Cut(filepath.Base(os.Args[0]), ".test")
	fmt.Fprintf(f, "%s.%s\t%s\n", program, test, strings.Join(strings.Fields(reason), " "))
}
