// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package runner

import (
	"bytes"
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
	aliveFile  = "alive" // locked by the process, and by its children
)

// Run is the record of a process, in run.json.
type Run struct {
	Path      string    `json:"path"`
	Args      []string  `json:"args"`
	Dir       string    `json:"dir"`
	StartedAt time.Time `json:"started_at"`

	// PID is 0 until the process was started.
	PID int `json:"pid"`

	// Scope is where the number means this process: a boot of a machine, and a container. It is empty
	// where the system doesn't say.
	Scope string `json:"scope,omitempty"`

	// ProcessStart distinguishes the process from a later one that got the same number. Its form
	// depends on the system; it is empty where the system doesn't say.
	ProcessStart string `json:"process_start,omitempty"`

	// Interrupted is set before the one interrupt is sent.
	Interrupted bool `json:"interrupted,omitempty"`

	// ExitCode is set once the program that started the process has seen it end.
	ExitCode *int `json:"exit_code,omitempty"`

	runDir string
}

func (r Run) aliveFile() string { return filepath.Join(r.runDir, aliveFile) }

// identified returns r with the number of its process.
func (r Run) identified(pid int) Run {
	r.PID, r.Scope = pid, processScope()
	r.ProcessStart, _ = processStart(pid)
	return r
}

// ReadRun returns the record in a run's directory.
//
// Errors: one that is [fs.ErrNotExist] if no process was started there.
func ReadRun(runDir string) (Run, error) {
	run := Run{runDir: runDir}
	data, err := os.ReadFile(filepath.Join(runDir, runFile))
	if err != nil {
		return run, fmt.Errorf("reading the record of a run: %w", err)
	}
	if err := json.Unmarshal(data, &run); err != nil {
		return run, fmt.Errorf("reading the record of a run: %s: %w", filepath.Join(runDir, runFile), err)
	}
	return run, nil
}

// Running reports whether the process is still there. Its children may outlive it, and have the
// lock, too.
func (r Run) Running() bool {
	if r.ExitCode != nil {
		return false
	}
	held, err := isHeld(r.aliveFile())
	switch {
	case err == nil && !held:
		return false
	case r.PID > 0 && (err != nil || r.Scope == processScope()):
		return processRunning(r.PID, r.ProcessStart)
	}
	return held
}

// Scope names where this program runs, as [Run.Scope].
func Scope() string { return processScope() }

// Lost names, as the end of a sentence about the directory, the events that are lost of a process
// that has ended, as after a power failure; "" for none. An engine writes no zeros, and says which
// version it is before it does anything: if something else shows that the process may have begun,
// it has not been silent.
func (r Run) Lost(mayHaveBegun bool) (string, error) {
	content, err := os.ReadFile(filepath.Join(r.runDir, EventsFile))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "has lost its " + EventsFile, nil
	case err != nil:
		return "", fmt.Errorf("reading the events of a run: %w", err)
	case bytes.IndexByte(content, 0) >= 0:
		return "has zeros in its " + EventsFile, nil
	case len(content) == 0 && mayHaveBegun:
		return "has an empty " + EventsFile, nil
	}
	return "", nil
}

// killOrphans ends the remaining group of a process that was killed: providers have nobody left to
// work for, and would stay forever. They are known by the lock, since the number may be that of
// another group by now.
func (r Run) killOrphans() {
	for _, pid := range holders(r.aliveFile()) {
		if r.PID > 0 && inGroup(pid, r.PID) {
			_ = killGroup(r.PID) //nolint:errcheck // it is only tidying up
			return
		}
	}
}

// write replaces run.json as a whole, so that a reader never sees half of it.
func (r Run) write() error {
	data, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("recording a run: %w", err)
	}
	name := filepath.Join(r.runDir, runFile)
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
