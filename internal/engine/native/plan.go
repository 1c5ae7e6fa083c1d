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
	"github.com/cairnstacks/cairn/internal/engine/native/slots"
	"github.com/cairnstacks/cairn/internal/engine/withheld"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang/providercall"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Plan implements [engine.Session].
func (s *Session) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	ctx, work, err := s.works.Begin(ctx, req.Work, observe)
	if err != nil {
		return nil, hcl.Diagnostics{stopped("Interrupted planning", err)}
	}
	defer work.End()
	l := s.load(req.ModuleDir)
	if !req.GenerateConfig || l.tree == nil || len(l.tree.Undeclared()) == 0 {
		return s.plan(ctx, l, req, observe)
	}
	generated, diags := s.generate(ctx, l, req)
	if diags.HasErrors() {
		return nil, diags
	}
	result, diags := s.plan(ctx, s.with(l, generated), req, observe)
	if result == nil {
		result = &engine.PlanResult{}
	}
	result.Generated = generated
	return result, diags
}

// plan plans a component with the modules of a tree.
func (s *Session) plan(
	ctx context.Context, l *loaded, req *engine.PlanRequest, observe engine.Observer,
) (_ *engine.PlanResult, diags hcl.Diagnostics) {
	invalid := s.validate(ctx, l)
	p, moreDiags := s.begin(ctx, l, req, invalid)
	defer func() { diags = append(diags, p.close()...) }()
	if moreDiags.HasErrors() {
		return nil, moreDiags
	}
	warnings := s.ofPlans(req.ModuleDir, invalid)
	p.Observe = oneAtATime(p.secrets.Observer(observe))
	result, plan, diags := planning.Plan(ctx, &p.Request)
	if result == nil {
		return nil, slices.Concat(warnings, identity.Without(p.secrets.Diagnostics(diags, nil), warnings))
	}
	if !diags.HasErrors() {
		if circular := applying.CheckOrder(plan, result.RefreshedState, l.graph); circular.HasErrors() {
			diags, result.Complete, result.Applyable = append(diags, circular...), false, false
		}
	}
	// A provider repeats for each instance the diagnostics of validating the configuration.
	diags = slices.Concat(warnings, identity.Without(p.secrets.Diagnostics(diags, nil, result.Changes, result.Drift), warnings))
	result.Engine, result.Reason = s.info, s.behaviour(req.ModuleDir)
	if !diags.HasErrors() && (result.Complete || result.Applyable) {
		plan.Results = p.results.All()
		var err error
		if result.Plan, err = planned.Encode(plan); err != nil {
			diags = append(diags, stopped("Unstorable plan", err))
		}
	}
	return result, diags
}

// planRun is the planning of one component. It is closed when nothing uses it any more.
type planRun struct {
	planning.Request
	dir       *directory   // nil before it begins
	providers *slots.Slots // likewise
	secrets   *withheld.Filter
	results   *providercall.Results
}

// begin returns the means to plan a component with the modules of a tree, which has mistakes or
// not. With errors it cannot be planned.
func (s *Session) begin(ctx context.Context, l *loaded, req *engine.PlanRequest, invalid hcl.Diagnostics) (*planRun, hcl.Diagnostics) {
	p := &planRun{}
	if l.tree == nil || invalid.HasErrors() {
		return p, invalid
	}
	if changed := changedConstants(l.read, req); changed.HasErrors() {
		return p, changed
	}
	var diags hcl.Diagnostics
	if p.dir, diags = s.newDirectory(l, req.Component.String(), req.Inputs); diags.HasErrors() {
		return p, diags
	}
	p.providers = s.slots(l, p.dir, req.Providers, "plan")
	p.secrets = withheld.NewFilter(l.tree, req.Inputs, req.Providers, req.PriorState)
	p.results = &providercall.Results{}
	p.results.InSameDirectory(s.workPath())
	p.Request = planning.Request{
		PlanRequest: req, Tree: l.tree, Graph: l.graph, Providers: p.providers, Types: &s.opts.Shared.Types,
		Functions: s.remembering(ctx, p.dir, functionsKey{timestamp: req.Timestamp}, p.results), RootPath: rootPath, WorkPath: s.workPath(),
		Calls: s.calls,
	}
	return p, nil
}

func (p *planRun) close() hcl.Diagnostics {
	if p.providers != nil {
		p.providers.Release()
	}
	if p.dir == nil {
		return nil
	}
	return p.dir.Close()
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
