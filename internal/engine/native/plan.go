// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic/identity"
	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/planning"
	"github.com/cairnstacks/cairn/internal/engine/withheld"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Plan implements [engine.Session].
func (s *Session) Plan(
	ctx context.Context, req *engine.PlanRequest, observe engine.Observer,
) (_ *engine.PlanResult, diags hcl.Diagnostics) {
	ctx, work, err := s.works.Begin(ctx, req.Work, observe)
	if err != nil {
		return nil, hcl.Diagnostics{stopped("Interrupted planning", err)}
	}
	defer work.End()
	l := s.load(req.ModuleDir)
	invalid := s.validate(ctx, l)
	if l.tree == nil || invalid.HasErrors() {
		return nil, invalid
	}
	if changed := changedConstants(l.read, req); changed.HasErrors() {
		return nil, changed
	}
	warnings := s.ofPlans(req.ModuleDir, invalid)
	dir, moreDiags := s.newDirectory(l, req.Component.String(), req.Inputs)
	defer func() { diags = append(diags, dir.Close()...) }()
	if moreDiags.HasErrors() {
		return nil, moreDiags
	}
	providers := s.slots(l, dir, req.Providers, "plan")
	defer providers.Release()
	secrets := withheld.NewFilter(l.tree, req.Inputs, req.Providers, req.PriorState)
	results := &providercall.Results{}
	results.InSameDirectory(s.workPath())
	result, plan, diags := planning.Plan(ctx, &planning.Request{
		PlanRequest: req, Tree: l.tree, Graph: l.graph, Providers: providers, Types: &s.opts.Shared.Types,
		Functions: s.remembering(ctx, dir, functionsKey{timestamp: req.Timestamp}, results), RootPath: rootPath, WorkPath: s.workPath(),
		Calls: s.calls, Observe: oneAtATime(secrets.Observer(observe)),
	})
	if result == nil {
		return nil, slices.Concat(warnings, identity.Without(secrets.Diagnostics(diags, nil), warnings))
	}
	if !diags.HasErrors() {
		if circular := applying.CheckOrder(plan, result.RefreshedState, l.graph); circular.HasErrors() {
			diags, result.Complete, result.Applyable = append(diags, circular...), false, false
		}
	}
	// A provider repeats for each instance the diagnostics of validating the configuration.
	diags = slices.Concat(warnings, identity.Without(secrets.Diagnostics(diags, nil, result.Changes, result.Drift), warnings))
	result.Engine, result.Reason = s.info, s.behaviour(req.ModuleDir)
	if !diags.HasErrors() && (result.Complete || result.Applyable) {
		plan.Results = results.All()
		if result.Plan, err = planned.Encode(plan); err != nil {
			diags = append(diags, stopped("Unstorable plan", err))
		}
	}
	return result, diags
}

// ofPlans returns the findings of the static checks that are reported with a plan: those that
// describing the module does not report.
func (s *Session) ofPlans(dir string, found hcl.Diagnostics) hcl.Diagnostics {
	_, described := s.modules.Load(dir)
	return identity.Without(found, described)
}

// changedConstants returns the errors about constant variables that get other values than those
// with which the calls of the modules were followed, as from a program whose stack is another one.
func changedConstants(tree *module.Tree, req *engine.PlanRequest) hcl.Diagnostics {
	if req.Mode == engine.Destroy {
		return nil // the modules are needed for their providers and provisioners only
	}
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(tree.Constants)) {
		given, ok := req.Inputs[name]
		if !ok {
			continue
		}
		variable := tree.Root.Variables[name]
		value, refusal := variable.Accept(given)
		if refusal != nil {
			continue // evaluating reports it
		}
		if value, _ = value.UnmarkDeep(); !value.RawEquals(tree.Constants[name]) {
			diags = append(diags, failure.At(variable.Range, "Constant variable changed", "The variable %q is constant, and got another value "+
				"than the one with which the calls of modules were evaluated.", name))
		}
	}
	return diags
}

// stopped returns an error that is not the configuration's fault as a diagnostic.
func stopped(summary string, err error) *hcl.Diagnostic {
	return failure.With(fault.OfError(err), failure.New(summary, "%s.", strings.TrimSuffix(err.Error(), ".")))
}
