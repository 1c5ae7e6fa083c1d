// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/show"
)

// maxReport is the size up to which reports are read: some hundred thousand results.
const maxReport = 64 << 20

// unfinished returns the names of the nodes that failed or did not begin in an earlier run, by its
// report.
func unfinished(file string) ([]string, error) {
	content, err := safefile.Read(os.DirFS(filepath.Dir(file)), filepath.Base(file), maxReport)
	if err != nil {
		return nil, failure.Error("Unreadable report", "The report %s of an earlier run cannot be read: %s. Nothing was done. "+
			"Name a file that -report has written.", file, safefile.Reason(err))
	}
	if len(content) > maxReport {
		err = errors.New("it is too large")
	}
	var names []string
	if err == nil {
		names, err = show.Unfinished(content)
	}
	if err != nil {
		return nil, failure.Error("Unusable report", "The file %s cannot be used as the report of an earlier run: %s. Nothing was done. "+
			"Name a file that -report has written, as JSON or for JUnit.", file, err)
	}
	return names, nil
}
