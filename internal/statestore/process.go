// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"os"
	"os/user"
)

// ProcessIdentity distinguishes one process from every other, on this machine and
// elsewhere.
type ProcessIdentity struct {
	// Scope is equal for two processes if and only if they see the same
	// process numbers and clocks: same boot of the same machine, same
	// namespaces. Empty: unknown.
	Scope string
	PID   int
	Start string // when it started, in the system's own terms; empty: unknown
}

// The results of [ProcessIdentity.Status].
const (
	ProcessRunning = "running" // on this machine
	ProcessGone    = "gone"    // was on this machine
	ProcessUnknown = "unknown" // perhaps on another one
)

// CurrentProcess returns the identity of this process.
func CurrentProcess() ProcessIdentity {
	p := ProcessIdentity{Scope: processScope(), PID: os.Getpid()}
	p.Start, _ = processStart(p.PID)
	return p
}

// Status reports whether p still runs, as far as this process can tell.
func (p ProcessIdentity) Status() string {
	if p.Scope == "" || p.Scope != processScope() {
		return ProcessUnknown
	}
	if !processExists(p.PID) {
		return ProcessGone
	}
	start, state := processStart(p.PID)
	switch {
	case state == ProcessGone: // ended, its parent has not noticed yet
		return ProcessGone
	case start == "" || p.Start == "":
		return ProcessUnknown
	case start != p.Start: // the number was given to another process
		return ProcessGone
	}
	return ProcessRunning
}

// CurrentOwner returns the name of the user this process runs as.
func CurrentOwner() string {
	if u, err := user.Current(); err == nil && u.Username != "" {
		return u.Username
	}
	for _, name := range []string{"USER", "USERNAME", "LOGNAME"} {
		if v := os.Getenv(name); v != "" {
			return v
		}
	}
	return "unknown user"
}

// CurrentHost returns the name of this machine.
func CurrentHost() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "unknown host"
}
