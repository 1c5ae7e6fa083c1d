// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

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
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Request is a component to plan, with the modules, providers and hooks that planning needs.
type Request struct {
	*engine.PlanRequest

	Tree      *module.Node
	Graph     *deps.Graph
	Providers resource.Providers
	Types     *resource.Types
	Functions func(*module.Node) *hcl.EvalContext
	RootPath  string // the value of path.root
	WorkPath  string // the value of path.cwd
	Calls     chan struct{}
	Observe   engine.Observer // called by one task at a time
}

// Plan plans a component. With error diagnostics the result has the changes that were planned.
func Plan(ctx context.Context, req *Request) (*engine.PlanResult, *planned.Plan, hcl.Diagnostics) {
	prior, err := state.Read(req.PriorState)
	if err != nil {
		return nil, nil, unreadable(err)
	}
	p := newPlanner(req, prior)
	p.rt.Spans = telemetry.NewModules(ctx)
	defer p.rt.Spans.End()
	_, err = promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) {
		defer p.rt.CloseEphemerals(ctx)
		if p.move(prior) {
			p.findImports(p.Tree, stackaddrs.RootModuleInstance)
			p.run(ctx)
		} else {
			p.stopped = true
		}
		return struct{}{}, nil
	})
	if err != nil {
		p.eval.Diagnostics.Add(interrupted(err))
	}
	return p.result(ctx)
}

func unreadable(err error) hcl.Diagnostics {
	return hcl.Diagnostics{failure.New("Unreadable state", "The state of the component cannot be used: %s.", err)}
}

func interrupted(err error) *hcl.Diagnostic { return failure.New("Interrupted planning", "%s.", err) }

// planner plans one component.
type planner struct {
	*Request
	eval   *eval.Evaluation
	rt     *resource.Runtime
	before string         // distinguishes the prior state from others
	prior  *state.State   // after moves
	fresh  *state.Working // after reading

	moved      map[stackaddrs.ResourceInstance]stackaddrs.ResourceInstance // addresses in the state before moves
	statements *moves.Statements
	removals   *moves.Removals
	imports    map[stackaddrs.ResourceInstance][]importConfig // by addresses without keys
	stopped    bool                                           // before anything was planned

	instances sync.Map // *instance by stackaddrs.ResourceInstance
	blocks    sync.Map // *block by *eval.Resource

	importBlocks sync.Map // *importBlock by the block and the module instance

	requested []*planned.Invocation // in the order of the request

	mu struct {
		sync.Mutex
		changes  []*planned.Change
		drift    []*engine.Change
		deferred map[stackaddrs.ResourceInstance]bool // blocks, by their addresses in the configuration

		// changing are the module instances with changes of a block, by its address in the configuration.
		changing map[stackaddrs.ResourceInstance]map[stackaddrs.ModuleInstance]bool

		deletes   []*deletion
		forgotten []string // addresses
	}
}

func newPlanner(req *Request, prior *state.State) *planner {
	p := &planner{Request: req, before: planned.PriorOf(prior.Document()), prior: prior, fresh: prior.Working()}
	p.imports = map[stackaddrs.ResourceInstance][]importConfig{}
	p.forgetChanges()
	p.eval = eval.New(eval.Options{
		Tree: req.Tree, Phase: eval.Plan, Objects: p, Inputs: req.Inputs, Deferral: true, Conditions: eval.ConditionsOf(req.Mode),
		Functions: req.Functions, RootPath: req.RootPath, WorkPath: req.WorkPath,
	})
	p.rt = &resource.Runtime{
		Eval: p.eval, Providers: req.Providers, Graph: req.Graph, Types: req.Types, Observe: req.Observe, Calls: req.Calls, DeferralAllowed: true,
	}
	return p
}

// forgetChanges makes as if nothing was planned yet.
func (p *planner) forgetChanges() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.changes, p.mu.drift, p.mu.deletes, p.mu.forgotten = nil, nil, nil, nil
	p.mu.deferred = map[stackaddrs.ResourceInstance]bool{}
	p.mu.changing = map[stackaddrs.ResourceInstance]map[stackaddrs.ModuleInstance]bool{}
}

// run does all the work. In destroy mode, the objects to destroy are those that a normal plan
// finds, whose changes do not count.
func (p *planner) run(ctx context.Context) {
	if p.Mode == engine.Destroy {
		p.destroy(ctx)
		p.finishDeletes(ctx)
		p.warnForgotten()
		return
	}
	p.walk(ctx)
	p.orphans(ctx)
	p.finishDeletes(ctx)
	p.planRequested(ctx)
	p.eval.Diagnostics.Add(p.statements.CheckDeclared(declared{p, ctx})...)
	p.checkImports(ctx)
	p.warnForgotten()
	p.warnUnmatched()
}

// walk plans all that is declared.
func (p *planner) walk(ctx context.Context) {
	var closing promising.Group
	if p.Mode != engine.Invoke { // actions come after all else, and may use any of them
		p.closeUnused(ctx, &closing)
	}
	p.eval.Walk(ctx, p)
	closing.Wait()
}

// Resource implements [eval.Visitor].
func (p *planner) Resource(ctx context.Context, r *eval.Resource) { p.block(r).plan(ctx) }

// Object implements [eval.Objects].
func (p *planner) Object(ctx context.Context, r *eval.Resource, key stackaddrs.InstanceKey) (cty.Value, bool) {
	i := p.instance(r, key)
	value, ok := i.value(ctx)
	if ok && i.schema != nil {
		value = p.eval.Deprecate(value, i.schema)
	}
	return value, ok
}

// record adds a change.
func (p *planner) record(c *planned.Change) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.changes = append(p.mu.changes, c)
	p.noteChanging(c)
	if c.Deferred != "" {
		p.mu.deferred[resource.ConfigAddr(c.Addr)] = true
	}
}

// announce passes on the planned changes as events.
func (p *planner) announce(result *engine.PlanResult) {
	for _, c := range result.Changes {
		if c.IsNoOp() || c.Deposed != "" {
			continue
		}
		p.Observe.Observe(plannedEvent(c))
	}
	for _, i := range result.Invocations {
		bare := *i
		bare.Config = cty.NilVal
		p.Observe.Observe(engine.Event{Type: engine.PlannedInvocation, Resource: i.Trigger.Caller(), Invocation: &bare})
	}
}

// plannedEvent returns the event about a change, whose action is named as by terraform.
func plannedEvent(c *engine.Change) engine.Event {
	event := engine.Event{Type: engine.PlannedChange, Resource: c.Address(), Action: string(c.Action)}
	if c.IsMove() {
		event.Previous = c.PreviousAddr.String()
	}
	if c.Importing != nil {
		event.ImportID = c.Importing.ID
	}
	switch {
	case c.Action.Succeeds():
		event.Action = "replace"
	case c.Action == engine.ActionForget:
		event.Action = "remove"
	case c.Action == engine.ActionNoOp && c.Importing != nil:
		event.Action = "import"
	case c.Action == engine.ActionNoOp:
		event.Action = "move"
	}
	return event
}

// deferredBefore reports whether something is deferred on which a block depends.
func (p *planner) deferredBefore(addr stackaddrs.ResourceInstance) bool {
	if p.DeferAll {
		return true
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.mu.deferred) == 0 {
		return false
	}
	block := p.Graph.Resource(addr)
	if block == nil {
		return false
	}
	for _, dependency := range block.Dependencies() {
		if p.mu.deferred[dependency.Addr] {
			return true
		}
	}
	return false
}

// Reasons for which changes are deferred.
const (
	instanceCountUnknown = "instance_count_unknown"
	deferredPrerequisite = "deferred_prereq"
)
