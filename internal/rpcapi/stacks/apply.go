// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"

	"github.com/hashicorp/hcl/v2"
	"google.golang.org/grpc"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/rpcapi/dependencies"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// ApplyStackChanges implements [stackspb.StacksServer].
func (s *Service) ApplyStackChanges(
	req *stackspb.ApplyStackChanges_Request, stream grpc.ServerStreamingServer[stackspb.ApplyStackChanges_Event],
) error {
	opened, err := s.takePlan(req)
	if err != nil {
		return err
	}
	config, err := s.configuration(req.GetStackConfigHandle())
	if err != nil {
		return err
	}
	stack, done, err := s.openWith(config, dependencies.Handles{Locks: req.GetDependencyLocksHandle(), Cache: req.GetProviderCacheHandle()},
		opened.plan)
	if err != nil {
		return err
	}
	defer done()
	inputs, err := parseInputs(req.GetInputValues())
	if err != nil {
		return err
	}
	ctx, end := s.running.begin(stream.Context())
	defer end()
	a := &applier{config: config, stack: stack, opened: opened, inputs: inputs, out: newSender(stream)}
	if setup := policySetup(req); setup != nil {
		a.out.send(&stackspb.ApplyStackChanges_Event{
			Event: &stackspb.ApplyStackChanges_Event_PolicySetupDiagnostics{PolicySetupDiagnostics: setup},
		})
	}
	a.apply(ctx)
	return a.out.failed()
}

// applier carries out one plan, and sends the changes while they are made.
type applier struct {
	config *configuration
	stack  *operation.Stack
	opened *openPlan
	inputs map[string]input
	out    *sender[stackspb.ApplyStackChanges_Event]
}

func (a *applier) apply(ctx context.Context) {
	runtime, diags := a.stack.Runtime(ctx)
	if !diags.HasErrors() {
		target := a.stack.PlanTarget(runtime)
		target.Deployment = a.opened.made.Deployment // the client knows which it is
		diags = diags.Extend(operation.Diagnostics(target.CheckConfig(a.opened.plan, a.opened.made)))
	}
	if diags.HasErrors() {
		a.report(diags)
		return
	}
	values, moreDiags := convertInputs(a.inputs, runtime.Config.Root.Variables)
	diags = diags.Extend(moreDiags)
	if diags.HasErrors() {
		a.report(diags)
		return
	}
	watch := newApplyWatch(ctx, a, &resourceTypes{session: runtime.Session})
	runtime.Hooks = watch.hooks()
	_, moreDiags = stackruntime.Apply(ctx, stackruntime.ApplyRequest{
		Options: runtime, Plan: a.opened.plan, Prior: a.opened.prior.state, Inputs: values, Save: watch.save,
	})
	watch.flush()
	a.report(diags.Extend(moreDiags))
}

func (a *applier) change(change *stackspb.AppliedChange) {
	a.out.send(&stackspb.ApplyStackChanges_Event{Event: &stackspb.ApplyStackChanges_Event_AppliedChange{AppliedChange: change}})
}

func (a *applier) progress(message *progress) {
	a.out.send(&stackspb.ApplyStackChanges_Event{Event: &stackspb.ApplyStackChanges_Event_Progress{Progress: message}})
}

func (a *applier) report(diags hcl.Diagnostics) {
	for _, message := range wire.Diagnostics(diags, a.config.sources.Name) {
		a.out.send(&stackspb.ApplyStackChanges_Event{Event: &stackspb.ApplyStackChanges_Event_Diagnostic{Diagnostic: message}})
	}
}

// instancesOf returns the component instances of a plan by their components.
func instancesOf(plan *stackplan.Plan) map[stackaddrs.AbsComponent][]stackaddrs.AbsComponentInstance {
	instances := map[stackaddrs.AbsComponent][]stackaddrs.AbsComponentInstance{}
	for _, c := range plan.Components {
		component := stackaddrs.ComponentOf(c.Addr)
		instances[component] = append(instances[component], c.Addr)
	}
	return instances
}
