// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Options are the options of every operation.
type Options struct {
	Config  *stackconfig.Config
	Session engine.Session
	Hooks   hooks.Hooks

	// Operation begins the names of all work that the engine is given. No other operation may have
	// had it. Empty stands for a random one.
	Operation string

	// StopNow is closed when running work is to end now, after the context of the operation has
	// ended. Nil is never closed.
	StopNow <-chan struct{}

	// Locks are the selected versions of all providers that have one, and empty for those that need
	// none. Nil turns the checks against the lock file off.
	Locks map[stackaddrs.Provider]string
}

// Functions returns the built-in functions of the language by both of their names, for callers that
// describe them. The caller must not change the table. Those that give another result at each call
// give an unknown one.
func Functions() map[string]function.Function { return functions() }

var functions = sync.OnceValue(func() map[string]function.Function { return lang.Functions(lang.Options{PureOnly: true}) })

// Validate checks a configuration as far as that is possible without values,
// state and configured providers.
func Validate(ctx context.Context, opts Options) hcl.Diagnostics {
	return stackeval.NewForValidating(stackeval.Options(opts)).ValidateStack(ctx)
}

// SoundComponents are components whose checks find nothing.
type SoundComponents map[stackaddrs.ConfigComponent]bool

// Revalidate is [Validate] for a caller that validates a configuration again and again while it
// changes, as an editor does. Components that are known to be sound are not checked. It returns all
// that are sound now, nil if that did not turn out.
//
// A component is sound if an earlier Revalidate has found it to be, and nothing has changed since
// that the checks of the component look at: its block and its module; in the same stack and those
// around it all but the inputs of other components, the outputs of embedded stacks included; files
// that functions read.
func Revalidate(ctx context.Context, opts Options, known SoundComponents) (SoundComponents, hcl.Diagnostics) {
	sound, diags := stackeval.NewForValidating(stackeval.Options(opts)).RevalidateStack(ctx, stackeval.SoundComponents(known))
	return SoundComponents(sound), diags
}

// PlanRequest is a request to plan a stack.
type PlanRequest struct {
	Options

	Mode engine.Mode

	// Inputs are the values given for root variables, converted or not. Null and absent select the
	// default. Values may be unknown in whole or in part, if they come from elsewhere and are not
	// there yet: applying the plan needs them then.
	Inputs map[string]cty.Value

	// Prior is the state to start from; nil means an empty one.
	Prior *stackstate.State

	// Timestamp is the result of plantimestamp() everywhere; zero means now.
	Timestamp time.Time

	// SkipRefresh takes the prior state for the truth.
	SkipRefresh bool

	// Replace has addresses of resource instances that must be replaced, by component.
	Replace map[stackaddrs.AbsComponentInstance][]string

	// Targets limit the plan to some components and their requirements, or when destroying, their
	// dependents. Without a key all instances are meant.
	Targets []stackaddrs.AbsComponentInstance

	// Excludes leave components out of the plan, and their dependents, or when destroying, their
	// requirements. Without a key all instances are meant.
	Excludes []stackaddrs.AbsComponentInstance

	// Requested are the actions to invoke, in mode [engine.Invoke], by component instances. Without a
	// key all instances are meant. The rest of the stack is left as the state has it.
	Requested map[stackaddrs.AbsComponentInstance]engine.Requested

	// GenerateConfig has resource blocks made for objects that import blocks of modules name and that
	// no block declares; see [stackplan.Component]. The plan is as if the modules had them, and can
	// only be looked at: they are not there when it is applied. In mode [engine.Normal] only.
	GenerateConfig bool
}

// Plan makes a plan of the whole stack.
//
// There is a plan even with errors, for showing the part that could be planned; it is not applyable
// then.
func Plan(ctx context.Context, req PlanRequest) (*stackplan.Plan, hcl.Diagnostics) {
	return newForPlanning(req).PlanStack(ctx)
}

func newForPlanning(req PlanRequest) *stackeval.Main {
	return stackeval.NewForPlanning(stackeval.Options(req.Options), planOptions(req))
}

func planOptions(req PlanRequest) stackeval.PlanOptions {
	if req.Prior == nil {
		req.Prior = stackstate.New()
	}
	if req.Timestamp.IsZero() {
		req.Timestamp = time.Now()
	}
	return stackeval.PlanOptions{
		Mode:        req.Mode,
		Inputs:      req.Inputs,
		Prior:       req.Prior,
		Timestamp:   req.Timestamp.UTC().Truncate(time.Second),
		SkipRefresh: req.SkipRefresh,
		Replace:     req.Replace,
		Targets:     req.Targets,
		Excludes:    req.Excludes,
		Requested:   req.Requested,

		GenerateConfig: req.GenerateConfig,
	}
}

// SelectedComponents returns the components that [Plan] may look at for a request with targets or
// excludes, sorted: those that it is limited to, and those that they require. It is nil if that may
// be all, and also if they cannot be known.
func SelectedComponents(ctx context.Context, req PlanRequest) []stackaddrs.AbsComponent {
	return newForPlanning(req).SelectedComponents(ctx)
}

// CheckPlanInputs reports the errors that [Plan] would have about the values of root variables, as
// far as they show without providers, which the session of the request need not have. It does
// nothing else.
func CheckPlanInputs(ctx context.Context, req PlanRequest) hcl.Diagnostics {
	return newForPlanning(req).CheckInputs(ctx)
}

// ApplyRequest is a request to apply a plan.
type ApplyRequest struct {
	Options

	// Plan must have been made from the same configuration and prior state, by
	// the same version of the engine. The caller sees to that.
	Plan  *stackplan.Plan
	Prior *stackstate.State // nil means an empty one

	// Progress, unless it is nil, goes on with a plan that was applied in part: it is the progress
	// that earlier applies have given to Save, and Prior is the state that they have left behind,
	// changed by nobody else. Finished components are not applied again. Those that were begun are
	// planned again: if no change is left that the plan does not have, the rest is applied, and
	// otherwise fails with nothing done.
	Progress stackplan.Progress

	// Inputs are the values of root variables that the plan does not hold, see
	// [stackplan.InputChange.NeededOnApply]: of ephemeral ones, and of those that were unknown in
	// whole or in part. The latter must be known now, and their known parts must be the same;
	// otherwise nothing is begun. Others may be given only if they have not changed.
	Inputs map[string]cty.Value

	// LeaveUnknown lets root variables stay unknown that were so while planning. Changes that were
	// deferred for them stay deferred, but a component that was planned with one fails.
	LeaveUnknown bool

	// Save records a change of the state. It is called once something was done,
	// and never for two changes at a time, unless SavesTogether. After an error nothing more is begun;
	// [ErrBeginNothing] says that the change was saved nevertheless. Nil keeps the
	// state in the result only.
	Save func(ctx context.Context, change StateChange) error

	// SavesTogether says that Save may be called for changes of several component instances at the
	// same time, of which it can make one write. Dependents of an instance wait for its own change to
	// be saved.
	SavesTogether bool
}

// ErrBeginNothing is for [ApplyRequest.Save] to return when a change was saved and
// no further one may be begun. That not all was done is for the caller to report.
var ErrBeginNothing = stackeval.ErrBeginNothing

// ApplyResult is the result of an apply.
type ApplyResult struct {
	// State is the state after the apply.
	State *stackstate.State

	// Components has the outcome for each instance in the plan.
	Components map[stackaddrs.AbsComponentInstance]Outcome
}

// Outcome is how the apply of one component instance went.
type Outcome struct {
	Status hooks.Status // Applied, Failed, Interrupted, Skipped, or Deferred if nothing of it could be planned
	Counts stackplan.Counts
}

// Counts adds up the counts of all component instances.
func (r *ApplyResult) Counts() stackplan.Counts {
	var n stackplan.Counts
	for _, outcome := range r.Components {
		n = n.Plus(outcome.Counts)
	}
	return n
}

// Apply carries out a plan. Without error diagnostics, everything was done.
//
// Dependents of a component instance that fails are skipped; all else goes on, and everything done
// is saved.
func Apply(ctx context.Context, req ApplyRequest) (*ApplyResult, hcl.Diagnostics) {
	if req.Prior == nil {
		req.Prior = stackstate.New()
	}
	recorder := newRecorder(req)
	results, diags := newForApplying(req, recorder.save).ApplyStack(ctx)

	outcomes := make(map[stackaddrs.AbsComponentInstance]Outcome, len(results))
	for addr, result := range results {
		outcome := Outcome{Status: hooks.Applied, Counts: result.Counts}
		switch {
		case result.Skipped:
			outcome.Status = hooks.Skipped
		case result.Interrupted:
			outcome.Status = hooks.Interrupted
		case !result.Complete:
			outcome.Status = hooks.Failed
		case result.Deferred:
			outcome.Status = hooks.Deferred
		}
		outcomes[addr] = outcome
	}
	return &ApplyResult{State: recorder.state, Components: outcomes}, diags
}

// CheckInputs reports the errors that [Apply] would have about the values of root variables. It
// does nothing else.
func CheckInputs(ctx context.Context, req ApplyRequest) hcl.Diagnostics {
	if req.Prior == nil {
		req.Prior = stackstate.New()
	}
	return newForApplying(req, nil).CheckInputs(ctx)
}

func newForApplying(req ApplyRequest, save func(context.Context, applying.StateChange) error) *stackeval.Main {
	return stackeval.NewForApplying(stackeval.Options(req.Options), stackeval.ApplyOptions{
		Plan:         req.Plan,
		Prior:        req.Prior,
		Inputs:       req.Inputs,
		LeaveUnknown: req.LeaveUnknown,
		Progress:     req.Progress,
		Save:         save,

		SavesTogether: req.SavesTogether,
	})
}

// Writes returns the component instances whose records [Apply] may change in the state before it,
// in the order of the plan. The plan moves nothing.
func Writes(plan *stackplan.Plan, prior *stackstate.State) []stackaddrs.AbsComponentInstance {
	return applying.Writes(plan, prior)
}

// InspectRequest is a request to evaluate expressions against a state.
type InspectRequest struct {
	Options

	State  *stackstate.State    // nil means an empty one
	Inputs map[string]cty.Value // root variables; those not given are unknown

	// Stack is where expressions are evaluated.
	Stack stackaddrs.StackInstance
}

// Inspector evaluates expressions against a stored state.
type Inspector struct {
	main  *stackeval.Main
	stack stackaddrs.StackInstance
}

// Inspect prepares for evaluating expressions against a stored state.
func Inspect(req InspectRequest) *Inspector {
	if req.State == nil {
		req.State = stackstate.New()
	}
	main := stackeval.NewForInspecting(stackeval.Options(req.Options), stackeval.InspectOptions{State: req.State, Inputs: req.Inputs})
	return &Inspector{main, req.Stack}
}

// EvalExpr evaluates an expression. With errors the value is unknown.
func (i *Inspector) EvalExpr(ctx context.Context, e hcl.Expression) (cty.Value, hcl.Diagnostics) {
	return i.main.EvalExpr(ctx, e, i.stack)
}

// RootOutputs returns the root outputs by name, without those that cannot be evaluated. Unknown:
// those made of values that the state does not have. Marks: sensitive.
func (i *Inspector) RootOutputs(ctx context.Context) map[string]cty.Value {
	return i.main.RootOutputs(ctx)
}

// ComponentGraph reports for each component of the configuration which ones it requires.
func (i *Inspector) ComponentGraph(ctx context.Context) map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent {
	return i.main.ComponentGraph(ctx)
}
