// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"
)

// The files of a run's directory.
const (
	EventsFile = "events.jsonl"
	StderrFile = "stderr.txt"
	runFile    = "run.json"
)

// Run is what is recorded about a process, in run.json.
type Run struct {
	Path      string    `json:"path"`
	Args      []string  `json:"args"`
	Dir       string    `json:"dir"`
	StartedAt time.Time `json:"started_at"`

	PID int `json:"pid"`

	// ProcessStart tells the process from a later one that got the same number. Its form depends on
	// the system; it is empty where the system doesn't say.
	ProcessStart string `json:"process_start,omitempty"`

	// Interrupted is set before the one interrupt is sent.
	Interrupted bool `json:"interrupted,omitempty"`

	// ExitCode is set once the program that started the process has seen it end.
	ExitCode *int `json:"exit_code,omitempty"`
}

// ReadRun returns what is recorded in a run's directory.
//
// Errors: one that is [fs.ErrNotExist] if no process was started there.
func ReadRun(runDir string) (Run, error) {
	var run Run
	data, err := os.ReadFile(filepath.Join(runDir, runFile))
	if err != nil {
		return run, fmt.Errorf("reading the record of a run: %w", err)
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return run, fmt.Errorf("reading the record of a run: %s: %w", filepath.Join(runDir, runFile), err)
	}
	return run, nil
}

// Running reports whether the process is still there.
func (r Run) Running() bool {
	return r.ExitCode == nil && r.PID > 0 && processRunning(r.PID, r.ProcessStart)
}

// write replaces run.json as a whole, so that a reader never sees half of it.
func (r Run) write(runDir string) (err error) {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("recording a run: %w", err)
	}
	name := filepath.Join(runDir, runFile)
	if err := os.WriteFile(name+".new", data, 0o600); err != nil {
		return fmt.Errorf("recording a run: %w", err)
	}
	if err := os.Rename(name+".new", name); err != nil {
		return fmt.Errorf("recording a run: %w", err)
	}
	return nil
}

// createFile creates a file that only its owner can read, in place of an older one.
func createFile(name string) (*os.File, error) {
	if err := os.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	return os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o600)
}
