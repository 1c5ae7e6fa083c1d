// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"context"
	"time"

	"github.com/cairnstacks/cairn/internal/states/compile"
)

// Functions make calls. They must be safe for concurrent use if calls may be made in parallel.
type Functions interface {
	// Call makes one call. In test mode nothing is changed.
	Call(ctx context.Context, req Request) Outcome

	// Reacts reports whether a function has a reaction to changes of the objects it watches.
	Reacts(module, function string) bool
}

// Request is one call of a function.
type Request struct {
	Module, Function string
	ID, SLS, Name    string
	Args             *compile.Map // all but the name, requisites and those for the run; not to be changed
	Test             bool         // reports the changes it would make, and makes none

	// Reaction asks for the reaction to changes of watched objects, after the call itself was made.
	// Changes are the changes of that call. Late says that it is the end of the run, as for "listen".
	Reaction, Late bool
	Changes        *compile.Map
}

// Outcome is the outcome of a call.
type Outcome struct {
	Failed   bool
	Changed  bool         // in test mode: something would change
	Needless bool         // a condition of the call said that there is nothing to do, so that no reaction follows
	Changes  *compile.Map // the changes in detail; may be nil
	Comment  string
}

// Status is how a call ended.
type Status int

// The statuses of calls.
const (
	NotStarted Status = iota // the run was stopped first
	OK                       // nothing had to change
	Changed                  // in test mode: would change something
	Failed                   //
	Skipped                  // a requisite is not met, which counts as a failure of the call
	NotNeeded                // by its requisites there is nothing to do, which is fine
)

var statusNames = [...]string{"not started", "ok", "changed", "failed", "skipped", "not needed"}

// Statuses returns all statuses, the best first.
func Statuses() []Status { return []Status{OK, Changed, NotNeeded, Failed, Skipped, NotStarted} }

func (s Status) String() string { return statusNames[s] }

// Success reports whether calls that require one of this status can be made.
func (s Status) Success() bool { return s == OK || s == Changed || s == NotNeeded }

// Result is the outcome of one call in a run.
type Result struct {
	Call    *compile.Call
	Status  Status
	Changes *compile.Map
	Comment string
	Because *compile.Call // the requisite on account of which the call was skipped, or was not needed; nil if there is none
	Took    time.Duration
}

// RequestFor returns the request to functions for a call.
func RequestFor(c *compile.Call, test bool) Request {
	return Request{Module: c.Module, Function: c.Function, ID: c.ID, SLS: c.SLS, Name: c.Name, Args: c.FunctionArgs(), Test: test}
}
