// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/provision"
	"github.com/cairnstacks/cairn/internal/engine/withheld"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Apply implements [engine.Session].
func (s *Session) Apply(
	ctx context.Context, req *engine.ApplyRequest, observe engine.Observer,
) (_ *engine.ApplyResult, diags hcl.Diagnostics) {
	ctx, work, err := s.works.Begin(ctx, req.Work, observe)
	if err != nil {
		return nil, hcl.Diagnostics{stopped("Interrupted apply", err)}
	}
	defer work.End()
	l := s.load(req.ModuleDir)
	if l.tree == nil || l.diags.HasErrors() || l.unsupported.HasErrors() {
		return nil, append(l.diags, l.unsupported...)
	}
	plan, err := planned.Decode(req.Planned)
	if err != nil {
		return nil, hcl.Diagnostics{stopped("Unusable plan", err)}
	}
	if diag := planFits(plan, req.PriorState); diag != nil {
		return nil, hcl.Diagnostics{diag}
	}
	dir, moreDiags := s.newDirectory(l, req.Component.String(), req.Inputs)
	defer func() { diags = append(diags, dir.Close()...) }()
	if moreDiags.HasErrors() {
		return nil, moreDiags
	}
	providers := s.slots(l, dir, req.Providers, "apply")
	defer providers.Release()
	secrets := withheld.NewFilter(l.tree, req.Inputs, req.Providers, req.Planned.RefreshedState)
	results := &providercall.Results{}
	for _, known := range plan.Results {
		results.Expect(known)
	}
	moved := !results.InSameDirectory(s.workPath())
	record := s.journal.Begin(req.Work, req.Component.String(), req.Mode, req.Planned.RefreshedState)
	result, diags := applying.Apply(ctx, &applying.Request{
		ApplyRequest: req, Plan: plan, Tree: l.tree, Graph: l.graph, Providers: providers, Types: &s.opts.Shared.Types,
		Functions: s.remembering(ctx, dir, functionsKey{timestamp: req.Timestamp, applying: true}, results),
		RootPath:  rootPath, WorkPath: s.workPath(), Moved: moved,
		Calls: s.calls, Observe: oneAtATime(secrets.Observer(observe)),
		Journal: record, Provisioners: &provision.Runner{Dir: dir.Root(), Environ: s.opts.Environ},
	})
	if len(diags) > 0 {
		diags = withoutSecrets(secrets, diags, req.Planned, result)
	}
	diags = append(diags, record.Doubts()...)
	if err := record.Finish(); err != nil {
		diags = append(diags, stopped("Result not recorded", err))
	}
	return result, diags
}

// withoutSecrets hides values in the diagnostics of an apply, which may have no result.
func withoutSecrets(secrets *withheld.Filter, diags hcl.Diagnostics, plan *engine.PlanResult, result *engine.ApplyResult) hcl.Diagnostics {
	deferred := make([]*engine.Change, len(plan.Deferred))
	for i, d := range plan.Deferred {
		deferred[i] = d.Change
	}
	var states []engine.State
	if result != nil {
		states = append(states, result.State)
	}
	return secrets.Diagnostics(diags, states, plan.Changes, deferred)
}

// planFits returns the error about a plan that was made for another state.
func planFits(plan *planned.Plan, prior engine.State) *hcl.Diagnostic {
	doc, err := tfstate.Parse(prior)
	if err != nil {
		return stopped("Unreadable state", err)
	}
	if planned.PriorOf(doc) == plan.Prior {
		return nil
	}
	return failure.With(&engine.DiagnosticData{Fault: fault.StalePlan}, failure.New("Stale plan",
		"The plan was made for another state of the component than there is now. Make a new one."))
}
