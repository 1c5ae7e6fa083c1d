// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/engine/native/moves"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Request is a plan to apply, with the modules, providers and hooks that applying needs.
type Request struct {
	*engine.ApplyRequest

	Plan      *planned.Plan
	Tree      *module.Node
	Graph     *deps.Graph
	Providers resource.Providers
	Types     *resource.Types
	Functions func(*module.Node) *hcl.EvalContext
	RootPath  string // the value of path.root
	WorkPath  string // the value of path.cwd
	Moved     bool   // it was another one when the plan was made
	Calls     chan struct{}
	Observe   engine.Observer

	Journal      Journal      // or nil
	Provisioners Provisioners // or nil, if there are none in the configuration
}

// Journal records the changes of an apply, in case the program dies. Safe for concurrent use.
type Journal interface {
	// Intend is called before a provider is asked to change something outside. With an error, it is
	// not asked.
	Intend(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey, action engine.Action) error

	// Store and Remove are called for each object that was written to the state or removed from it,
	// before anything begins that waits for that.
	Store(e tfstate.Entry) error
	Remove(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) error

	// Unchanged is called if an intention had no effect. If its outcome is unknown, none of these
	// methods is called.
	Unchanged(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) error
}

// Apply applies a plan. The result is nil only if nothing was done: otherwise it has the newest
// state, whatever happened. Ending ctx stops the work (rule A4).
func Apply(ctx context.Context, req *Request) (*engine.ApplyResult, hcl.Diagnostics) {
	before, err := state.Read(req.Planned.RefreshedState)
	if err != nil {
		return nil, hcl.Diagnostics{failure.New("Unreadable state", "The state in the plan cannot be used: %s.", err)}
	}
	a := newApplier(req, before)
	if !a.acceptInputs() {
		return nil, a.eval.Diagnostics.All()
	}
	a.rt.Spans = telemetry.NewModules(ctx)
	defer a.rt.Spans.End()
	var stopping sync.WaitGroup
	ended := make(chan struct{})
	work := context.WithoutCancel(ctx)
	stopping.Go(func() {
		select {
		case <-ctx.Done():
			a.stop(work)
		case <-ended:
		}
	})
	defer stopping.Wait()
	defer close(ended)
	_, err = promising.MainTask(work, func(ctx context.Context) (struct{}, error) {
		a.run(ctx)
		return struct{}{}, nil
	})
	if err != nil {
		a.eval.Diagnostics.Add(failure.New("Interrupted apply", "%s.", err))
	}
	return a.result()
}

// knownOutputs are the outputs of the root module that were known while planning: an apply stores
// them without evaluating them again, even if it fails.
func (r *Request) knownOutputs() map[string]cty.Value {
	known := map[string]cty.Value{}
	if r.Mode == engine.Destroy {
		return known
	}
	for name, value := range r.Planned.Outputs {
		if value.IsWhollyKnown() {
			known[name] = value
		}
	}
	return known
}

// applier applies one plan.
type applier struct {
	*Request
	eval   *eval.Evaluation
	rt     *resource.Runtime
	before *state.State   // of the plan
	now    *state.Working //
	steps  []*step
	makers map[stackaddrs.ResourceInstance]*step // by the instances whose current objects they make or read

	deferrals deferrals
	removals  func() *moves.Removals

	observed sync.Mutex // events are passed on one at a time
	stopped  chan struct{}

	outputs map[string]cty.Value // of the root module, as far as they could be computed

	mu struct {
		sync.Mutex
		stopped bool
		asked   map[provider.Provider]bool // those that were asked for changes
	}
}

func newApplier(req *Request, before *state.State) *applier {
	a := &applier{Request: req, before: before, now: before.Working(), deferrals: deferralsOf(req.Plan), stopped: make(chan struct{})}
	a.mu.asked = map[provider.Provider]bool{}
	a.removals = sync.OnceValue(func() *moves.Removals {
		removals, _ := moves.FindRemovals(req.Tree) //nolint:errcheck // planning has reported their errors
		return removals
	})
	a.eval = eval.New(eval.Options{
		Tree: req.Tree, Phase: eval.Apply, Objects: a, Inputs: req.Inputs, Outputs: req.knownOutputs(), Deferral: true,
		Conditions: eval.ConditionsOf(req.Mode),
		Functions:  req.Functions, RootPath: req.RootPath, WorkPath: req.WorkPath, Unexpanded: a.deferrals.isUnexpanded(),
	})
	a.rt = &resource.Runtime{
		Eval: a.eval, Providers: req.Providers, Graph: req.Graph, Types: req.Types, Calls: req.Calls, Stopped: a.stopped, Before: a.intend,
		BeforeInvoke: a.mayInvoke,
		Moved:        req.Moved,
	}
	if req.Observe != nil {
		a.rt.Observe = a.observe
	}
	a.steps = schedule(situation{changes: req.Plan.Changes, graph: req.Graph, storedBefore: storedIn(before)})
	a.makers = make(map[stackaddrs.ResourceInstance]*step, len(a.steps))
	for _, s := range a.steps {
		if s.kind == changeStep || s.kind == readStep {
			a.makers[s.change.Addr] = s
		}
	}
	return a
}

func (a *applier) observe(event engine.Event) {
	a.observed.Lock()
	defer a.observed.Unlock()
	a.Observe(event)
}

// acceptInputs checks that the inputs are those that the plan was made for.
func (a *applier) acceptInputs() bool {
	ok := true
	for name, planned := range a.PlannedInputs {
		final, given := a.Inputs[name]
		if v := a.Tree.Variables[name]; !given || v == nil || v.Ephemeral { // of which no plan has the value
			continue
		}
		if err := engine.CheckRefines(planned, final); err != nil {
			ok = a.eval.Diagnostics.Add(failure.New("Inconsistent input value",
				"The variable %q does not have the value for which the plan was made: %s.", name, err))
		}
	}
	return ok
}

// run does all the work.
func (a *applier) run(ctx context.Context) {
	defer a.rt.CloseEphemerals(ctx)
	a.announce()
	a.begin(ctx)
	var closing promising.Group
	if a.Mode != engine.Invoke { // actions come after all else, and may use any of them
		a.closeUnused(ctx, &closing)
	}
	if a.Mode != engine.Destroy {
		a.eval.Walk(ctx, a)
		a.evaluateOutputs(ctx)
	}
	a.await(ctx)
	a.invokeRequested(ctx)
	closing.Wait()
}

// Resource implements [eval.Visitor]: the work on resources is in the steps.
func (a *applier) Resource(context.Context, *eval.Resource) {}

// storedIn returns a function that finds the dependencies with which the objects of a state were
// stored.
func storedIn(before *state.State) func(*planned.Change) []string {
	return func(c *planned.Change) []string {
		object := before.Object(c.Addr, c.Deposed)
		if object == nil {
			return nil
		}
		content, err := object.Content()
		if err != nil {
			return nil
		}
		return content.Dependencies
	}
}
