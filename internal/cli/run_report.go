// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/userfile"
)

// runReport is what became of a run, in the formats of reports.
type runReport interface {
	JSON() ([]byte, error)
	JUnit() ([]byte, error)
}

var _ runReport = show.Summary{}

// checkReport finds out, before anything is run, whether the file can be written.
func checkReport(s *session.Session, file cmdline.File) error {
	if file == "" {
		return nil
	}
	info, err := os.Stat(string(file))
	isNew := errors.Is(err, fs.ErrNotExist)
	if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil // a pipe, whose reader would take this for the report
	}
	opened, err := os.OpenFile(string(file), os.O_WRONLY|os.O_CREATE, 0o644) //nolint:gosec // there is nothing secret in it
	if err == nil {
		err = opened.Close()
	}
	if err == nil && isNew {
		err = os.Remove(string(file))
	}
	if err != nil {
		return failure.Error("Report cannot be written", "The results could not be written to %s: %s. Nothing was run.", file, userfile.Reason(err))
	}
	return nil
}

// writeRunReport writes results in the format that the name of the file asks for, if there is to be one.
func writeRunReport(s *session.Session, file cmdline.File, report runReport) error {
	if file == "" {
		return nil
	}
	write := report.JSON
	if strings.HasSuffix(string(file), ".xml") {
		write = report.JUnit
	}
	mode := fs.FileMode(0o644)
	if _, ok := report.(statesReport); ok {
		mode = 0o600 // it has contents of files, and what commands have written
	}
	content, err := write()
	if err == nil {
		err = os.WriteFile(string(file), content, mode)
	}
	if err != nil {
		return failure.Error("Report cannot be written", "The results cannot be written to %s: %s.", file, failure.Reason(err))
	}
	return nil
}
