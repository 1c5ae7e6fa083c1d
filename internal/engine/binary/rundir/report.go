// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rundir

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Report is the messages about an apply whose state is saved.
type Report struct {
	Component   string       `json:"component"`
	Mode        engine.Mode  `json:"mode"`
	Doubts      []string     `json:"doubts,omitempty"`
	Lost        string       `json:"lost,omitempty"` // as in [engine.Recovered]
	Seen        bool         `json:"seen,omitempty"` // the doubts were shown
	Diagnostics []Diagnostic `json:"diagnostics"`
}

// Diagnostic is the part of a diagnostic that matters when the configuration may have changed.
type Diagnostic struct {
	Severity hcl.DiagnosticSeverity `json:"severity"`
	Summary  string                 `json:"summary"`
	Detail   string                 `json:"detail"`
	Subject  *hcl.Range             `json:"subject,omitempty"`
}

// Diagnostics returns diagnostics in the form of a report.
func Diagnostics(diags hcl.Diagnostics) []Diagnostic {
	stored := make([]Diagnostic, len(diags))
	for i, diag := range diags {
		stored[i] = Diagnostic{diag.Severity, diag.Summary, diag.Detail, diag.Subject}
	}
	return stored
}

// Retire writes a report into the directory, after which nobody takes it for something to recover,
// and makes room for the next run of the component.
func (d *Dir) Retire(r Report) error {
	if err := d.WriteReport(r); err != nil {
		return err
	}
	return errors.Join(d.reduce(), d.makeRoom())
}

// WriteReport writes the report, again for a directory that is retired.
func (d *Dir) WriteReport(r Report) error {
	data, err := json.Marshal(r)
	if err == nil {
		err = safefile.Replace(d.File(reportFile), data, 0o600)
	}
	if err != nil {
		return fmt.Errorf("keeping the messages of an apply: %w", err)
	}
	return nil
}

// evidence are the files that stay in a directory with a report. In others there are secrets, and
// the caller has the state.
var evidence = []string{lockFile, RecordFile, reportFile, runner.EventsFile, runner.StderrFile}

// reduce removes all but the evidence, also files that were being written when a program was
// killed.
func (d *Dir) reduce() error {
	entries, err := os.ReadDir(d.path)
	for _, entry := range entries {
		if !slices.Contains(evidence, entry.Name()) {
			err = errors.Join(err, os.RemoveAll(d.File(entry.Name())))
		}
	}
	return err
}

var retiredName = regexp.MustCompile(regexp.QuoteMeta(retiredSuffix) + `[0-9]*$`)

// FinishRetiring does the rest of [Dir.Retire] for a program that was killed within it.
func (d *Dir) FinishRetiring() error {
	if retiredName.MatchString(d.path) {
		return nil
	}
	return errors.Join(d.reduce(), d.makeRoom())
}

// makeRoom gives the directory another name.
func (d *Dir) makeRoom() error {
	for attempt := 1; ; attempt++ {
		path := d.path + retiredSuffix
		if attempt > 1 {
			path += fmt.Sprint(attempt)
		}
		if _, err := os.Lstat(path); err == nil {
			continue
		}
		if err := os.Rename(d.path, path); err != nil {
			return fmt.Errorf("keeping the messages of an apply: %w", err)
		}
		d.path = path
		return nil
	}
}

// ReadReport returns the messages about the apply in a directory that was retired, nil for another
// one.
func (d *Dir) ReadReport() (*engine.Recovered, error) {
	data, err := os.ReadFile(d.File(reportFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var r Report
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("reading the messages of an apply: %w", err)
	}
	said := &engine.Recovered{Component: r.Component, Mode: r.Mode, Saved: true, Doubts: r.Doubts, Lost: r.Lost, Seen: r.Seen}
	for _, diag := range r.Diagnostics {
		said.Diagnostics = said.Diagnostics.Append(&hcl.Diagnostic{
			Severity: diag.Severity, Summary: diag.Summary, Detail: diag.Detail, Subject: diag.Subject,
		})
	}
	return said, nil
}
