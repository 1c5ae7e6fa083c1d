// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// The phases of the work on a unit.
const (
	planPhase    = "plan"
	applyPhase   = "apply"
	destroyPhase = "destroy"
)

// Keep says how long a plan file stays.
type Keep int

// The values of Keep.
const (
	WhilePlanned Keep = iota // no longer than until the plan is read
	UntilApplied             // so that the plan can also be applied later; one without changes is removed
	Always                   // whatever becomes of the plan, as in a set
)

// StackOptions say which stack is worked on, and how.
type StackOptions struct {
	Operation operation.Options
	Request   operation.Request // completed by the fields below
	VarFiles  []string
	Version   string // of this program, for plans
	PlanFile  string // where the plan is written, which holds secrets
	Keep      Keep   // how long the file stays
	Prepared  bool   // the packages and providers of the stack were fetched and installed

	// Sources are files that values of variables are from, by the names in their places.
	Sources map[string]*hcl.File

	// Show begins to show a phase of the work. It may complete the options with which the stack is
	// opened for that.
	Show func(phase string, options *operation.Options) View
}

// View shows one phase of the work on a stack, until it is closed.
type View interface {
	// Opened is called with the stack, unless the phase needs none.
	Opened(stack *operation.Stack)

	// Prepared shows the packages and versions that were fetched and installed before a plan.
	Prepared(packages []bundle.Package, with operation.Versions)

	// Again says that deferred changes are planned now.
	Again()

	// Caller is by which the operation is shown. Nobody is asked by it.
	Caller() operation.Caller

	// Plan shows a plan that was made before.
	Plan(plan *stackplan.Plan) error

	// Report shows the diagnostics of the whole phase.
	Report(diags hcl.Diagnostics) error

	// Close ends the view. Its error is that something could not be shown.
	Close() error
}

// Stack works on a stack of the Terraform Stacks language, in this process.
type Stack struct {
	opts StackOptions
	plan *stackplan.Plan // nil until there is one
	made stackplan.FileContext

	inputs []wiring.Value
	Position
}

// Position is the position of a stack's driver between two of its phases. Another driver of the
// same unit goes on with it, as on another machine.
type Position struct {
	Plans     int  // that were made one after the other
	Destroys  bool // the latest plan was asked for to destroy everything
	Publishes bool // as it was found when the latest plan was made
}

var (
	_ Driver       = (*Stack)(nil)
	_ Publisher    = (*Stack)(nil)
	_ SavedChecker = (*Stack)(nil)
)

// NewStack returns a driver of a stack.
func NewStack(opts StackOptions) *Stack { return &Stack{opts: opts} }

func (s *Stack) request(destroy bool) operation.Request {
	req := s.opts.Request
	req.Version, req.Variables = s.opts.Version, slices.Clone(req.Variables)
	if destroy {
		req.Mode = engine.Destroy
	}
	for _, file := range s.opts.VarFiles {
		req.Variables = append(req.Variables, variables.Argument{File: file})
	}
	for _, input := range s.inputs {
		req.Variables = append(req.Variables, variables.Argument{Name: input.Name, Value: input.Value, Sensitive: true, Range: input.Range.Ptr()})
	}
	return req
}

// Plan implements [Driver].
func (s *Stack) Plan(ctx context.Context, req PlanRequest) (Plan, error) {
	s.plan, s.Destroys = nil, req.Destroy
	var result Plan
	err := s.during(ctx, planPhase, func(stack *operation.Stack, view View) hcl.Diagnostics {
		defer func() { s.Publishes = stack.Sources().Publishes() }()
		if diags := s.take(req.Inputs); diags.HasErrors() {
			return diags
		}
		if req.Saved {
			var diags hcl.Diagnostics
			result, diags = s.takeSaved(ctx, stack, req)
			return diags
		}
		request := s.request(req.Destroy)
		request.Replans, request.Upstream = s.Plans, req.Upstream
		s.opts.Request.Given = nil // which is good for one plan
		switch {
		case req.Again:
			view.Again()
		case !s.opts.Prepared:
			if diags := prepare(ctx, stack, view, &request); diags.HasErrors() {
				return diags // of which the others are found again by planning
			}
		}
		file := s.opts.PlanFile
		if req.NotToKeep {
			file = ""
		}
		planned, diags := stack.Plan(ctx, request, view.Caller(), file)
		if diags.HasErrors() {
			return diags
		}
		s.Plans++
		result = describe(planned.Plan)
		result.Judged, result.Taken = planned.Judged, planned.Taken
		switch {
		case result.Changes && file != "":
			return diags.Extend(failure.Diagnostics(s.keep(ctx, &result)))
		case file != "" && s.opts.Keep == UntilApplied:
			return diags.Extend(failure.Diagnostics(os.Remove(file)))
		}
		return diags
	})
	return result, err
}

// takeSaved takes the plan in the file, if the values of other stacks that it was made with are
// unchanged.
func (s *Stack) takeSaved(ctx context.Context, stack *operation.Stack, req PlanRequest) (Plan, hcl.Diagnostics) {
	if err := s.read(ctx); err != nil {
		return Plan{}, failure.Diagnostics(err)
	}
	if req.CheckTaken == nil {
		return describe(s.plan), nil
	}
	now, diags := stack.TakenNow(ctx, s.made.Deployment)
	if diags.HasErrors() {
		return Plan{}, diags
	}
	return describe(s.plan), req.CheckTaken(now)
}

// Publish implements [Publisher]. It is shown as the apply that it stands for.
func (s *Stack) Publish(ctx context.Context) error {
	if !s.Publishes {
		return nil
	}
	return s.during(ctx, applyPhase, func(stack *operation.Stack, _ View) hcl.Diagnostics {
		return stack.Publish(ctx, s.request(s.Destroys))
	})
}

// PublishedBy implements [Publisher].
func (s *Stack) PublishedBy(ctx context.Context, plans []operation.PlannedOutputs) (upstream.Published, bool) {
	stack := s.openToRead()
	defer stack.Close() //nolint:errcheck // nothing was written
	return stack.PublishedBy(ctx, plans)
}

// openToRead opens the stack for an operation that changes nothing, and shows nothing.
func (s *Stack) openToRead() *operation.Stack {
	options := s.opts.Operation
	options.Engine.ChangesNothing = true
	return operation.Open(options)
}

// prepare fetches and installs the packages and providers of the stack for a plan, and completes
// the request for that.
func prepare(ctx context.Context, stack *operation.Stack, view View, request *operation.Request) hcl.Diagnostics {
	var fetched []bundle.Package
	installed, diags := stack.Install(ctx, operation.InstallRequest{
		Fetched: func(packages []bundle.Package) { fetched = packages },
		Check: func(ctx context.Context) (diags hcl.Diagnostics) {
			request.Given, diags = stack.CheckGiven(ctx, *request, view.Caller())
			return diags
		},
	})
	if diags.HasErrors() {
		return diags
	}
	view.Prepared(fetched, installed)
	return nil
}

// take keeps values of variables.
func (s *Stack) take(inputs func() ([]wiring.Value, hcl.Diagnostics)) hcl.Diagnostics {
	if inputs == nil {
		return nil
	}
	var diags hcl.Diagnostics
	s.inputs, diags = inputs()
	return diags
}

func describe(plan *stackplan.Plan) Plan {
	counts := plan.Counts()
	described := Plan{Changes: !plan.IsEmpty(), Complete: plan.Complete, Destroys: plan.Mode == engine.Destroy, Counts: &counts, Details: plan}
	described.Outputs, described.OutputsChange = plannedOutputs(plan)
	return described
}

// plannedOutputs returns the outputs as they are after a plan, and whether it changes any.
func plannedOutputs(plan *stackplan.Plan) (outputs wiring.Outputs, change bool) {
	outputs.Values = map[string]cty.Value{}
	for name, output := range plan.Outputs {
		if output.Action != stackplan.Delete {
			outputs.Values[name] = output.After
		}
		change = change || output.Action != stackplan.NoOp
	}
	return outputs, change
}

// Outputs implements [Driver].
func (s *Stack) Outputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	stack := s.openToRead()
	defer stack.Close() //nolint:errcheck // nothing was written
	state, err := stack.States().Read(ctx)
	if err != nil {
		return nil, false, err
	}
	return state.State.Outputs, state.Lineage != "", nil
}

// keep reads the plan as it was saved: only then it is known as the plan of a version of the state.
// The file is of no use any more.
func (s *Stack) keep(ctx context.Context, plan *Plan) error {
	if err := s.read(ctx); err != nil {
		return err
	}
	plan.State = fmt.Sprintf("%s %d", s.made.StateLineage, s.made.StateSerial)
	if s.opts.Keep != WhilePlanned {
		return nil
	}
	return os.Remove(s.opts.PlanFile)
}

func (s *Stack) read(ctx context.Context) (err error) {
	stack := operation.Open(s.opts.Operation)
	s.plan, s.made, err = stack.ReadPlan(ctx, s.opts.PlanFile)
	return errors.Join(err, stack.Close())
}

// CheckSaved checks whether the plan in the file still fits the configuration, the engine and the
// state. The packages and providers of the stack are fetched and installed for that.
func (s *Stack) CheckSaved(ctx context.Context) hcl.Diagnostics {
	if err := s.read(ctx); err != nil {
		return failure.Diagnostics(err)
	}
	stack := operation.Open(s.opts.Operation)
	defer stack.Close() //nolint:errcheck // nothing was written
	if _, diags := stack.Install(ctx, operation.InstallRequest{}); diags.HasErrors() {
		return diags
	}
	return stack.CheckSaved(ctx, s.plan, s.made, s.request(s.plan.Mode == engine.Destroy))
}

// errNoPlan is a mistake of the caller's.
var errNoPlan = errors.New("there is no plan")

// Show implements [Driver].
func (s *Stack) Show(context.Context) error {
	if s.plan == nil {
		return errNoPlan
	}
	view := s.opts.Show(planPhase, &operation.Options{})
	return withLost(view.Plan(s.plan), view.Close())
}

// Apply implements [Driver].
func (s *Stack) Apply(ctx context.Context, req ApplyRequest) (Applied, error) {
	if s.plan == nil {
		return Applied{}, errNoPlan
	}
	phase := applyPhase
	if req.Destroy {
		phase = destroyPhase
	}
	var outputs outputs
	err := s.during(ctx, phase, func(stack *operation.Stack, view View) hcl.Diagnostics {
		caller := view.Caller()
		if req.Outputs || req.Values {
			var err error
			if outputs.before, err = stack.States().Outputs(ctx); err == nil {
				outputs.watch(&caller)
			}
		}
		request := s.request(req.Destroy)
		request.ApprovedBy = req.ApprovedBy
		return stack.ApplySaved(ctx, s.plan, s.made, request, caller)
	})
	if s.opts.Keep == UntilApplied && err == nil {
		err = os.Remove(s.opts.PlanFile)
	}
	return Applied{OutputsChanged: outputs.changed(), Outputs: outputs.after}, err
}

// outputs are those of a stack before and after an apply. The zero value is of outputs that are not
// known.
type outputs struct {
	before, after map[string]cty.Value
	known         bool
}

// watch takes notice of the state at the end.
func (o *outputs) watch(caller *operation.Caller) {
	applied, unchanged := caller.Applied, caller.Unchanged
	caller.Applied = func(done operation.Applied) error {
		o.after, o.known = done.Result.State.Outputs, true
		return applied(done)
	}
	caller.Unchanged = func(state *stackstate.State, before bool) error {
		o.after, o.known = state.Outputs, true
		return unchanged(state, before)
	}
}

// changed reports whether the outputs are not known to be the same.
func (o *outputs) changed() bool {
	if !o.known || len(o.before) != len(o.after) {
		return true
	}
	for name, before := range o.before {
		if after, ok := o.after[name]; !ok || !after.RawEquals(before) {
			return true
		}
	}
	return false
}

// during does a phase of the work. The recovery of an earlier apply counts as reported only if it
// could be shown.
func (s *Stack) during(ctx context.Context, phase string, do func(*operation.Stack, View) hcl.Diagnostics) error {
	if err := process.Stopped(ctx); err != nil {
		return err
	}
	options := s.opts.Operation
	view := s.opts.Show(phase, &options)
	if options.Env.Files != nil {
		maps.Copy(options.Env.Files, s.opts.Sources)
	}
	stack := operation.Open(options)
	view.Opened(stack)
	diags := do(stack, view)
	lost := errors.Join(view.Report(diags), view.Close())
	diags = diags.Extend(failure.Diagnostics(stack.Acknowledge(lost == nil)))
	_ = stack.Close() //nolint:errcheck // all that matters was saved before
	if diags.HasErrors() {
		return &Failure{Diagnostics: diags}
	}
	return withLost(nil, lost)
}
