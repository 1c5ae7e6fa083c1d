// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package engine is the contract between the stacks runtime and a runtime of the Terraform modules
// language: something that can describe a module, plan one component instance and apply that plan.
//
// It knows nothing of processes, files of a terraform binary or databases. A
// program that embeds the stacks runtime brings its own [Engine].
//
// An operation opens a [Session], uses it and closes it. Planning and applying a component instance
// is a piece of work: a blocking call whose request has the [WorkID] that the caller has made up
// before. While it runs, its events go to one [Observer]. The result of an apply is kept safe by
// the session until the caller acknowledges it.
//
// Rules for implementations:
//
//   - E1. All methods are safe for concurrent use.
//   - E2. A plan is applied as it was made. With inputs that were unknown while
//     planning, the engine must make sure, resource by resource, that the
//     applied change is a refinement of the planned one.
//   - E3. Whatever happens during an apply, the result holds the newest state.
//   - E4. Diagnostics name module files relative to the stack directory and never show sensitive or
//     ephemeral values. A provider's diagnostic about its configuration names the part of it in its
//     [DiagnosticData].
//   - E5. Output does not depend on scheduling: changes are sorted by address.
//   - E6. A session works on as many component instances at the same time as it was opened for, and
//     begins each with [WorkBegan]. Work whose context has ended by the time that the observer
//     returns from that event is not begun.
//   - E7. Requests are not changed, and results are not changed any more once they are returned.
package engine

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Engine plans and applies component instances.
type Engine interface {
	// Info names the engine. A plan can be applied only by the engine, in the
	// version, that made it.
	Info() Info

	// Open begins a session. The caller closes it. Ending ctx ends the opening only.
	Open(ctx context.Context, opts SessionOptions) (Session, error)
}

// DefaultParallelism is how many component instances are worked on at the same time if nobody says
// otherwise.
const DefaultParallelism = 10

// SessionOptions are the options that a session is opened with.
type SessionOptions struct {
	// StackDir is the directory of the stack. Names of files in diagnostics are relative to it.
	StackDir string

	// Parallelism is how many component instances are planned and applied at the same time; 0 means
	// [DefaultParallelism].
	Parallelism int
}

// Session is an engine at work for one operation on one stack. The processes that its calls share
// are started when they are first needed, and stopped by Close.
type Session interface {
	// Info names the engine whose session it is.
	Info() Info

	// CanApply reports whether the session applies plans that an engine has made: the one whose
	// session it is, or one to which it hands work.
	CanApply(made Info) bool

	// Abilities are the further abilities of the session. They stay the same.
	Abilities() Abilities

	// Module describes the module in a local directory, as far as its source alone shows, including
	// the modules it calls.
	//
	// The result is nil only if there is no module to describe. Repeated calls
	// for one directory are cheap.
	Module(ctx context.Context, dir string) (*Module, hcl.Diagnostics)

	// ValidateModule checks the module tree below dir as far as that is possible
	// without inputs, configured providers and state.
	ValidateModule(ctx context.Context, dir string) hcl.Diagnostics

	// ProviderSchema returns the schema of a provider. The result is nil if it is not known, for a
	// reason which somebody else reports, or with errors.
	ProviderSchema(ctx context.Context, provider stackaddrs.Provider) (*ProviderSchema, hcl.Diagnostics)

	// Plan plans one component instance. With error diagnostics the result is nil, or has Complete and
	// Applyable unset and holds the part that could be planned.
	//
	// Ending ctx stops it, as [Gracefully] does. The observer may be nil.
	Plan(ctx context.Context, req *PlanRequest, observe Observer) (*PlanResult, hcl.Diagnostics)

	// Apply applies a plan made by Plan. The result is nil only if nothing was
	// done (rule E3).
	//
	// Ending ctx stops it, as [Gracefully] does. The observer may be nil.
	Apply(ctx context.Context, req *ApplyRequest, observe Observer) (*ApplyResult, hcl.Diagnostics)

	// Stop ends work that was begun, whose call returns then. It does not wait for that.
	//
	// Errors: [ErrUnknownWork].
	Stop(ctx context.Context, work WorkID, how Urgency) error

	// Acknowledge says that the result of an apply is safe elsewhere, so that the session can drop the
	// copy it has kept in case that the program dies before. Work without such a copy may be
	// acknowledged, too.
	Acknowledge(ctx context.Context, work WorkID) error

	// Close ends the session. Nothing may be running. Results that were not acknowledged stay for
	// another session to recover.
	Close() error
}

// Abilities are optional abilities of sessions. A nil field is an ability that the session lacks.
type Abilities struct {
	Functions FunctionCaller
	Preparer  Preparer
	Recoverer Recoverer
	Delegator Delegator
	Keeper    Keeper
	Types     TypeDescriber
	Configs   ConfigValidator
	Assessor  Assessor
	Chooser   Chooser
	Querier   Querier
}

// ErrUnknownWork is the error for work that the session does not do.
var ErrUnknownWork = errors.New("there is no such work")

// Info names an engine and its version.
type Info struct {
	Name    string // as users know it: "terraform", "tofu"
	Version string // without a leading "v"
}

// State is the state of one module tree: a JSON document in version 4 of the
// Terraform state format, with addresses as plain terraform has them. Empty means
// there is no state.
type State = json.RawMessage
