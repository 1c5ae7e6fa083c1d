// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package reportfile writes the outcome of a run to a file, in the format that its name asks for.
package reportfile

import (
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Report is the outcome of a run, in the formats of reports.
type Report interface {
	JSON() ([]byte, error)
	JUnit() ([]byte, error)
}

// markdownReport is a report that can be Markdown, too.
type markdownReport interface{ Markdown() ([]byte, error) }

// Permissions of reports.
const (
	ForAll   fs.FileMode = 0o644
	ForOwner fs.FileMode = 0o600 // holds contents of files, or output of commands
)

// Check finds out, before anything is run, whether the file can be written. None is named by "".
func Check(file cmdline.File) error {
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
		return failure.Error("Report not written", "The results could not be written to %s: %s. Nothing was run.", file, safefile.Reason(err))
	}
	return nil
}

// Write writes a report to the file, if one is named: as JUnit if its name ends in .xml, as
// Markdown if it ends in .md and the report can be that, as JSON otherwise.
func Write(file cmdline.File, report Report, permissions fs.FileMode) error {
	if file == "" {
		return nil
	}
	write := report.JSON
	if strings.HasSuffix(string(file), ".xml") {
		write = report.JUnit
	}
	if as, ok := report.(markdownReport); ok && strings.HasSuffix(string(file), ".md") {
		write = as.Markdown
	}
	content, err := write()
	if err == nil {
		err = os.WriteFile(string(file), content, permissions)
	}
	if err != nil {
		return failure.Error("Report not written", "The results cannot be written to %s: %s.", file, failure.Reason(err))
	}
	return nil
}
