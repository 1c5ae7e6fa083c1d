// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"os"
	"os/user"
)

// processIdentity distinguishes one process from every other, on this machine and
// elsewhere.
type processIdentity struct {
	// scope is equal for two processes if and only if they see the same
	// process numbers and clocks: same boot of the same machine, same
	// namespaces. Empty: unknown.
	scope string
	pid   int
	start string // when it started, in the system's own terms; empty: unknown
}

// liveness is the knowledge about whether another process runs.
type liveness int

const (
	livenessUnknown liveness = iota
	livenessRunning
	livenessDead // proved
)

// currentProcess returns the identity of this process.
func currentProcess() processIdentity {
	p := processIdentity{scope: processScope(), pid: os.Getpid()}
	p.start, _ = processStart(p.pid)
	return p
}

// liveness reports whether p still runs, as far as this process can tell.
func (p processIdentity) liveness() liveness {
	if p.scope == "" || p.scope != processScope() {
		return livenessUnknown
	}
	if !processExists(p.pid) {
		return livenessDead
	}
	start, state := processStart(p.pid)
	switch {
	case state == livenessDead: // ended, its parent has not noticed yet
		return livenessDead
	case start == "" || p.start == "":
		return livenessUnknown
	case start != p.start: // the number was given to another process
		return livenessDead
	}
	return livenessRunning
}

// currentOwner returns the name of the user this process runs as.
func currentOwner() string {
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

func currentHost() string {
	if name, err := os.Hostname(); err == nil && name != "" {
		return name
	}
	return "unknown host"
}
