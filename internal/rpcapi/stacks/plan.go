// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planModes are the kinds of plans.
var planModes = map[stackspb.PlanMode]engine.Mode{
	stackspb.PlanMode_NORMAL:       engine.Normal,
	stackspb.PlanMode_REFRESH_ONLY: engine.RefreshOnly,
	stackspb.PlanMode_DESTROY:      engine.Destroy,
}

// PlanStackChanges implements [stackspb.StacksServer].
func (s *Service) PlanStackChanges(
	req *stackspb.PlanStackChanges_Request, stream grpc.ServerStreamingServer[stackspb.PlanStackChanges_Event],
) error {
	config, err := s.configuration(req.GetStackConfigHandle())
	if err != nil {
		return err
	}
	mode, ok := planModes[req.GetPlanMode()]
	if !ok {
		return status.Errorf(codes.InvalidArgument, "there is no plan mode %d", req.GetPlanMode())
	}
	prior, err := s.previousState(req)
	if err != nil {
		return err
	}
	inputs, err := parseInputs(req.GetInputValues())
	if err != nil {
		return err
	}
	stack, done, err := s.openWith(config, dependencies.Handles{Locks: req.GetDependencyLocksHandle(), Cache: req.GetProviderCacheHandle()},
		nil)
	if err != nil {
		return err
	}
	defer done()
	ctx, end := s.running.begin(stream.Context())
	defer end()
	p := &planner{service: s, config: config, stack: stack, mode: mode, prior: prior, inputs: inputs, out: newSender(stream)}
	if setup := policySetup(req); setup != nil {
		p.out.send(&stackspb.PlanStackChanges_Event{
			Event: &stackspb.PlanStackChanges_Event_PolicySetupDiagnostics{PolicySetupDiagnostics: setup},
		})
	}
	return p.plan(ctx)
}

// previousState returns the state that a request has, or names.
func (s *Service) previousState(req *stackspb.PlanStackChanges_Request) (*openState, error) {
	inline := req.GetPreviousState() //nolint:staticcheck // former clients send it
	switch {
	case req.GetPreviousStateHandle() != 0 && len(inline) > 0:
		return nil, status.Error(codes.InvalidArgument, "the request has both a handle of a previous state and a previous state")
	case req.GetPreviousStateHandle() != 0:
		return handle.Get[*openState](s.handles, req.GetPreviousStateHandle(), stateHandle)
	}
	decoded, err := decodeState(inline)
	return &openState{inline, decoded}, err
}

// planner makes one plan, and sends it while it is made.
type planner struct {
	service *Service
	config  *configuration
	stack   *operation.Stack
	mode    engine.Mode
	prior   *openState
	inputs  map[string]input
	out     *sender[stackspb.PlanStackChanges_Event]
}

func (p *planner) plan(ctx context.Context) error {
	runtime, diags := p.stack.Runtime(ctx)
	now := time.Now().UTC().Truncate(time.Second)
	if err := p.begin(runtime, now); err != nil {
		return err
	}
	if diags.HasErrors() {
		p.report(diags)
		p.verdict(false, false)
		return p.out.failed()
	}
	values, moreDiags := convertInputs(p.inputs, runtime.Config.Root.Variables)
	diags = diags.Extend(moreDiags)
	watch := newPlanWatch(ctx, p, runtime.Session)
	runtime.Hooks = watch.hooks()
	plan, moreDiags := stackruntime.Plan(ctx, stackruntime.PlanRequest{
		Options:   runtime,
		Mode:      p.mode,
		Inputs:    values,
		Prior:     p.prior.state,
		Timestamp: now,
	})
	diags = diags.Extend(moreDiags)
	p.report(diags)
	if plan != nil {
		p.sendRest(plan)
	}
	applyable := plan != nil && plan.Applyable && !diags.HasErrors()
	p.verdict(applyable, plan != nil && plan.Complete)
	return p.out.failed()
}

// begin sends the elements that come before all planned changes.
func (p *planner) begin(runtime stackruntime.Options, now time.Time) error {
	var made engine.Info
	context := stackplan.FileContext{CairnVersion: p.service.opts.Version}
	if runtime.Session != nil && runtime.Config != nil {
		made = runtime.Session.Info()
		var err error
		if context, err = p.stack.PlanTarget(runtime).Context(made, p.service.opts.Version); err != nil {
			p.service.opts.Log.Error("hashing a configuration", "error", err.Error()) // an apply finds that it has changed
		}
	}
	p.element(stackplan.HeaderElement(context, p.mode, made))
	for _, key := range slices.Sorted(maps.Keys(p.prior.records)) {
		p.element(stackplan.PriorElement(key, p.prior.records[key]))
	}
	p.element(stackplan.TimestampElement(now))
	return p.out.failed()
}

// element sends an element of the plan with its descriptions.
func (p *planner) element(element *anypb.Any, err error, descriptions ...*description) {
	if err != nil {
		p.out.fail(err)
		return
	}
	p.change(plannedChange(element, descriptions...))
}

// verdict sends the last element of the plan.
func (p *planner) verdict(applyable, complete bool) {
	element, err := stackplan.VerdictElement(applyable, complete)
	p.element(element, err, describeVerdict(applyable))
}

// described returns a function that sends an element of the plan with its description.
func (p *planner) described(element *anypb.Any, err error) func(*description, error) {
	return func(d *description, describeErr error) {
		p.out.fail(describeErr)
		p.element(element, err, d)
	}
}

func (p *planner) change(change *stackspb.PlannedChange) {
	p.out.send(&stackspb.PlanStackChanges_Event{Event: &stackspb.PlanStackChanges_Event_PlannedChange{PlannedChange: change}})
}

func (p *planner) progress(message *progress) {
	p.out.send(&stackspb.PlanStackChanges_Event{Event: &stackspb.PlanStackChanges_Event_Progress{Progress: message}})
}

func (p *planner) report(diags hcl.Diagnostics) {
	for _, message := range wire.Diagnostics(diags, p.config.sources.Name) {
		p.out.send(&stackspb.PlanStackChanges_Event{Event: &stackspb.PlanStackChanges_Event_Diagnostic{Diagnostic: message}})
	}
}

// sendRest sends the elements that are no part of any component.
func (p *planner) sendRest(plan *stackplan.Plan) {
	for _, name := range slices.Sorted(maps.Keys(plan.Inputs)) {
		p.described(stackplan.InputElement(name, plan.Inputs[name]))(describeInput(name, plan.Inputs[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(plan.Outputs)) {
		p.described(stackplan.OutputElement(name, plan.Outputs[name]))(describeOutput(name, plan.Outputs[name]))
	}
	for _, addr := range plan.Removed {
		p.element(stackplan.RemovedElement(addr))
	}
	for _, moved := range plan.Moved {
		p.element(stackplan.MovedElement(moved))
	}
	if len(plan.FunctionResults) > 0 {
		p.element(stackplan.FunctionResultsElement(plan.FunctionResults))
	}
}

// sendComponent sends the plan's elements of a component instance, in the order in which they are
// read again.
func (p *planner) sendComponent(ctx context.Context, c *stackplan.Component, made engine.Info, types *resourceTypes) {
	announced, err := stackplan.ComponentElements(c, made)
	if err != nil {
		p.out.fail(err)
		return
	}
	described, err := describeComponent(c)
	p.out.fail(err)
	p.change(plannedChange(announced[0], described))
	for _, part := range announced[1:] {
		p.change(plannedChange(part))
	}
	for _, change := range c.Changes {
		if c.Mode == engine.RefreshOnly {
			p.element(stackplan.ChangeElement(c.Addr, change))
		} else {
			p.described(stackplan.ChangeElement(c.Addr, change))(types.describeResource(ctx, c.Addr, change))
		}
	}
	for _, change := range c.Drift {
		p.element(stackplan.DriftElement(c.Addr, change))
	}
	for _, change := range c.Deferred {
		p.described(stackplan.DeferredElement(c.Addr, change))(types.describeDeferred(ctx, c.Addr, change))
	}
	for _, i := range c.Invocations {
		p.described(stackplan.InvocationElement(c.Addr, i, ""))(describeInvocation(c.Addr, i))
	}
	for _, d := range c.DeferredInvocations {
		p.described(stackplan.InvocationElement(c.Addr, d.Invocation, d.Reason))(describeDeferredInvocation(c.Addr, d))
	}
}
