// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// Kind is that of the calls of this package.
const Kind = "unit"

// op is a kind of work on a unit.
type op string

const (
	opPlan        op = "plan"
	opShow        op = "show"
	opApply       op = "apply"
	opOutputs     op = "outputs"
	opPublish     op = "publish"
	opPublished   op = "published"
	opDrift       op = "drift"
	opCheck       op = "check"
	opFingerprint op = "fingerprint"
	opTask        op = "task"
)

// shows reports whether somebody sees the work.
func (o op) shows() bool {
	switch o {
	case opPlan, opShow, opApply, opPublish, opDrift, opTask:
		return true
	}
	return false
}

// changes reports whether it may change something.
func (o op) changes() bool { return o == opApply || o == opPublish || o == opTask }

// Sources names the files of a run.
type Sources struct {
	sources.Archive
	Below string // the directory of the workspace, from the top of the archive
}

// View is how the person sees the work who has begun the run.
type View struct {
	Columns  int // for a stack; 0 for any number
	Out, Err Stream
	Concise  bool
}

// Stream is how a person sees a stream.
type Stream struct {
	Color bool
	Width int // columns; 0 for any number
}

// unit is a unit as a worker needs it. Paths are from the top of the archive.
type unit struct {
	Name, Path string
	Kind       rollout.Kind
	Workspace  string
	Deployment string
	Destroyed  bool
	Env        []string
	VarFiles   []string
	Task       *rollout.Task
}

// request is a request for something to be done with a unit.
type request struct {
	Op        op
	Sources   Sources
	Unit      unit
	View      View
	Variables []string // of the caller's environment, that give values to variables

	AcceptRecovery bool
	Together       map[string]bool // deployments, as in [operation.Request]
	Position       driver.Position

	Inputs    *inputs // nil for those of the plan before, or none
	File      []byte  // with the plan; nil for none
	Plan      planRequest
	Apply     driver.ApplyRequest
	Published []planned
	Reacts    bool // of a task, whether its reaction runs
}

// inputs are values of variables, as the run has evaluated them.
type inputs struct {
	Values      []wiring.Value
	Diagnostics hcl.Diagnostics
	Files       map[string][]byte // that they are from
}

// planRequest is [driver.PlanRequest] without functions.
type planRequest struct {
	Destroy, Again, NotToKeep bool

	Upstream map[string]published // by paths of stacks
	Details  bool                 // the plan itself is wanted in the answer
	Taken    bool                 // the values that deployment files have from other stacks now are wanted
}

// published is [upstream.Published].
type published struct {
	Values  map[string]cty.Value
	Failure string // "" for none
}

// planned is [operation.PlannedOutputs].
type planned struct {
	Deployment string
	Outputs    map[string]cty.Value
	Failure    string
}

// response is the answer to a request.
type response struct {
	Failure  *failed
	Position driver.Position

	Plan    driver.Plan
	File    []byte // with the plan; nil for none
	Taken   []operation.Taken
	Applied driver.Applied
	Outputs map[string]cty.Value
	Found   bool

	Published   published
	Publishes   bool
	Drift       drift
	Diagnostics hcl.Diagnostics
	Fingerprint rootmodule.Fingerprint
}

// drift is [driver.Drift].
type drift struct {
	Found   bool
	Objects []driver.Drifted
}

// failed is the error of a driver.
type failed struct {
	Kind        failureKind
	Text        string
	Diagnostics hcl.Diagnostics
	HasExit     bool // of a program
	Code        int
	How         string
}

type failureKind string

const (
	plainFailure failureKind = ""
	unitFailure  failureKind = "unit"    // [*driver.Failure]
	lostOutput   failureKind = "lost"    // [*driver.LostOutputError]
	exited       failureKind = "exit"    // [*process.ExitError]
	stopped      failureKind = "stopped" // [process.ErrStopped]
	waits        failureKind = "wait"    // [*rootmodule.WaitError]
)

// report is a report of a worker while it works.
type report struct {
	Out, Err []byte
	Note     []byte // as in [Screen.Note]; nil for none
}
