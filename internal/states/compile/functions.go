// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"context"
	"time"

	"github.com/hashicorp/hcl/v2"
)

// Functions make calls. They must be safe for concurrent use if calls may be made in parallel.
type Functions interface {
	// Call makes one call. In test mode nothing is changed.
	Call(ctx context.Context, req Request) Outcome

	// Reacts reports whether a function has a reaction for when what it watches has changed.
	Reacts(module, function string) bool
}

// Request is one call of a function.
type Request struct {
	Module, Function string
	ID, SLS, Name    string
	Args             *Map // all but the name, requisites and what is for the run; not to be changed
	Test             bool // says what would change and changes nothing

	// Reaction asks for the reaction to changes of what is watched, after the call itself was made. Changes is what that has
	// changed. Late says that it is the end of the run, as for "listen".
	Reaction, Late bool
	Changes        *Map
}

// Outcome is what became of a call.
type Outcome struct {
	Failed   bool
	Changed  bool // in test mode: something would change
	Needless bool // a condition of the call said that there is nothing to do, so that no reaction follows
	Changes  *Map // what exactly has changed; may be nil
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

// Result is what became of one call in a run.
type Result struct {
	Call    *Call
	Status  Status
	Changes *Map
	Comment string
	Because *Call // the requisite on account of which the call was skipped, or was not needed; nil if there is none
	Took    time.Duration
}

// request returns what is asked of functions for a call.
func (c *Call) request(test bool) Request {
	return Request{Module: c.Module, Function: c.Function, ID: c.ID, SLS: c.SLS, Name: c.Name, Args: c.FunctionArgs(), Test: test}
}

// FunctionArgs returns the arguments that are for the function: all but the name, requisites and what is for the run.
func (c *Call) FunctionArgs() *Map {
	args := &Map{}
	for _, entry := range c.Args.Entries {
		if entry.Key != "name" && !forRun(entry.Key) && !isRequisite(entry.Key) {
			args.Entries = append(args.Entries, entry)
		}
	}
	return args
}

// forRun reports whether an argument is for the run and not for functions.
func forRun(arg string) bool {
	switch arg {
	case "failhard", "parallel", "retry":
		return true
	}
	return withoutEffect(arg) != ""
}

// withoutEffect says why an argument that Salt knows does nothing here; "" if it is not one of these.
func withoutEffect(arg string) string {
	switch arg {
	case "fire_event":
		return "there is no master that events could be sent to"
	case "aggregate":
		return "each call is made on its own"
	case "reload_modules", "reload_grains", "reload_pillar":
		return "there is nothing that is loaded once and could have to be loaded again"
	}
	return ""
}

// ArgRange returns where an argument is written, or the call if it is not.
func (c *Call) ArgRange(name string) *hcl.Range {
	if r := c.ranges[name]; r != nil {
		return r
	}
	return c.Range
}

// Request returns the call without what only the run needs, for checks.
func (c *Call) Request() Request { return c.request(true) }
