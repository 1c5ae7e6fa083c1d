// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package resource

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/change"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Change is the planned change of the current object of a resource instance.
type Change struct {
	Action engine.Action
	Reason engine.ActionReason

	// Before and After have marks. Null where there is no object.
	Before, After cty.Value

	Config cty.Value // without marks, as it is written: with the attributes to ignore, too

	Private                       []byte // for applying
	BeforePrivate                 []byte
	BeforeIdentity, AfterIdentity cty.Value
	Replace                       []cty.Path
	Legacy                        bool // the provider may break rules
	Deferred                      string
	CreateBeforeDestroy           bool
}

// PlanOptions are the parameters of [Runtime.Plan].
type PlanOptions struct {
	Prior *Object // as it is; nil without one

	Requested bool // the object is to be replaced since somebody asks for that
	Triggered bool // or since something that it names has changed
	Imported  bool // the object is new here: values that the configuration calls sensitive were never called otherwise

	// PlannedPrivate are the private bytes of the plan that is being applied, when a change is planned
	// again for that. Nil while planning.
	PlannedPrivate []byte
	Applying       bool
}

// Plan plans the change of the current object of an instance that the configuration declares.
func (rt *Runtime) Plan(ctx context.Context, t *Target, opts PlanOptions) (*Change, bool) {
	config, ok := rt.Evaluate(ctx, t)
	if !ok {
		return nil, false
	}
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return nil, false
	}
	p := &planner{Runtime: rt, Target: t, PlanOptions: opts, config: config, meta: meta, before: t.Null()}
	p.createFirst = rt.CreateFirst(t)
	if opts.Prior != nil {
		p.before = opts.Prior.Value
	}
	if !t.Known {
		return p.unknownProvider(), true
	}
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return nil, false
	}
	defer done()
	return p.plan(ctx)
}

// planner plans one change.
type planner struct {
	*Runtime
	*Target
	PlanOptions

	config      cty.Value // with marks
	meta        cty.Value
	before      cty.Value // the object as it is, with marks; null without one
	createFirst bool
}

// unknownProvider is the plan for a provider whose configuration is not known yet: nobody can be
// asked.
func (p *planner) unknownProvider() *Change {
	bare, sensitive := kept(p.Target, p.config)
	after := change.NullWriteOnly(p.Block, change.PlannedUnknown(p.Block, bare))
	action := engine.ActionCreate
	if !p.before.IsNull() {
		action = engine.ActionUpdate
	}
	return &Change{
		Action: action, Before: p.before, After: p.Mark(after, sensitive), BeforeIdentity: cty.NilVal, AfterIdentity: cty.NilVal,
		Deferred: provider.DeferredProviderConfigUnknown.String(),
	}
}

func (p *planner) tainted() bool { return p.Prior != nil && p.Prior.Tainted }

// basis returns the object that a change is planned from: for a tainted one as if there were none.
func (p *planner) basis() (value cty.Value, private []byte, identity cty.Value) {
	if p.Prior == nil || p.Prior.Tainted {
		return p.Null(), nil, cty.NilVal
	}
	return p.Prior.Value, p.Prior.Private, p.Prior.Identity
}

func (p *planner) plan(ctx context.Context) (*Change, bool) {
	original, sensitive := kept(p.Target, p.config)
	if p.Imported && !p.before.IsNull() {
		bare, _ := p.before.UnmarkDeep()
		p.before = p.Mark(bare, sensitive)
	}
	if !p.Said(p.Target, p.Provider.ValidateResource(ctx, stackaddrs.ManagedResource, p.Name, original)) {
		return nil, false
	}
	priorMarked, private, identity := p.basis()
	prior, _ := priorMarked.UnmarkDeep()
	config := original
	block := p.Config()
	if paths := p.ignored(); len(paths) > 0 || block.IgnoreAll {
		config, sensitive = kept(p.Target, change.IgnoreChanges(p.Block, priorMarked, p.config, paths, block.IgnoreAll))
	}
	response, ok := p.ask(ctx, provider.PlanRequest{
		Type: p.Name, Prior: prior, Config: config, Proposed: change.ProposedNew(p.Block, prior, config),
		PriorPrivate: private, PriorIdentity: identity, PlannedPrivate: p.PlannedPrivate, Meta: p.meta, DeferralAllowed: p.DeferralAllowed,
	}, true)
	if !ok {
		return nil, false
	}
	if response.LegacyTypeSystem && (block.IgnoreAll || len(block.IgnoreChanges) > 0) {
		response.Planned = change.IgnoreChanges(p.Block, prior, response.Planned, p.ignored(), block.IgnoreAll)
	}
	planned := &Change{
		Before: p.before, After: p.Mark(response.Planned, sensitive), Config: original, Private: response.Private,
		Legacy:         response.LegacyTypeSystem,
		BeforeIdentity: cty.NilVal, AfterIdentity: response.Identity, CreateBeforeDestroy: p.createFirst,
	}
	if p.Prior != nil {
		planned.BeforeIdentity, planned.BeforePrivate = p.Prior.Identity, p.Prior.Private
	}
	if response.Deferred != provider.NotDeferred {
		planned.Deferred, planned.Action = response.Deferred.String(), p.tentative(prior, response.Planned)
		return planned, p.mayDefer(p.Target)
	}
	var errs []error
	if planned.Replace, errs = change.ReplacePaths(p.Block, prior, response.Planned, response.RequiresReplace); !p.broken(p.Target,
		"Provider produced invalid plan", "wants to replace, for parts that it does not have,", errs) {
		return nil, false
	}
	p.choose(planned, prior, response.Planned)
	if planned.Action.Succeeds() && !prior.IsNull() {
		ok = p.replace(ctx, planned, original, response.Private)
	}
	return planned, ok
}

// tentative is the action of a change that is deferred.
func (p *planner) tentative(prior, planned cty.Value) engine.Action {
	switch {
	case prior.IsNull():
		return engine.ActionCreate
	case prior.RawEquals(planned):
		return engine.ActionNoOp
	default:
		return engine.ActionUpdate
	}
}

// ask asks the provider for a plan and checks the answer. Its warnings are for the first plan of a
// change only.
func (p *planner) ask(ctx context.Context, request provider.PlanRequest, first bool) (provider.PlanResponse, bool) {
	response := p.Provider.Plan(ctx, request)
	if (first || response.Diagnostics.HasErrors()) && !p.Said(p.Target, response.Diagnostics) {
		return response, false
	}
	if response.Planned == cty.NilVal {
		response.Planned = p.Null()
	}
	const summary, what = "Provider produced invalid plan", "has planned, against the rules, the change of"
	faults := append(change.Conform(p.Block, response.Planned), change.CheckWriteOnly(p.Block, response.Planned)...)
	if !p.broken(p.Target, summary, what, faults) {
		return response, false
	}
	if response.LegacyTypeSystem || response.Deferred != provider.NotDeferred {
		return response, true
	}
	return response, p.broken(p.Target, summary, what, change.CheckPlanned(p.Block, request.Prior, request.Config, response.Planned))
}

// choose sets the action and its reason (section 5.3.3).
func (p *planner) choose(c *Change, prior, planned cty.Value) {
	forced := p.Requested || p.Triggered
	switch {
	case p.tainted():
		c.Action, c.Reason = p.replacing(), engine.ReplaceBecauseTainted
		if p.Triggered {
			c.Reason = engine.ReplaceByTriggers
		}
	case prior.IsNull():
		c.Action = engine.ActionCreate
	case len(c.Replace) > 0 || forced:
		c.Action, c.Reason = p.replacing(), p.reason()
	case equal(prior, planned) && sameMarks(p.before, c.After):
		c.Action = engine.ActionNoOp
	default:
		c.Action = engine.ActionUpdate
	}
}

func (p *planner) reason() engine.ActionReason {
	switch {
	case p.Triggered:
		return engine.ReplaceByTriggers
	case p.Requested:
		return engine.ReplaceByRequest
	default:
		return engine.ReplaceBecauseCannotUpdate
	}
}

// replacing returns how an object is replaced. One that is not to be destroyed makes way for a new
// one where that cannot be created beside it; of a tainted one, terraform thinks that it can be.
func (p *planner) replacing() engine.Action {
	switch {
	case p.Config().Forgets && (p.createFirst || p.tainted()):
		return engine.ActionCreateThenForget
	case p.createFirst:
		return engine.ActionCreateThenDelete
	}
	return engine.ActionDeleteThenCreate
}

// equal reports whether two objects are certainly the same.
func equal(a, b cty.Value) bool {
	same := a.Equals(b)
	return same.IsKnown() && same.True()
}

func sameMarks(a, b cty.Value) bool {
	return marks.EqualPaths(marks.SortPaths(marks.Paths(a, marks.Sensitive)), marks.SortPaths(marks.Paths(b, marks.Sensitive)))
}

// replace plans the new object of a replacement, from the configuration without the attributes to
// ignore.
func (p *planner) replace(ctx context.Context, c *Change, config cty.Value, private []byte) bool {
	response, ok := p.ask(ctx, provider.PlanRequest{
		Type: p.Name, Prior: p.Null(), Config: config, Proposed: change.ProposedNew(p.Block, p.Null(), config),
		PriorPrivate: private, PlannedPrivate: p.PlannedPrivate, Meta: p.meta, DeferralAllowed: p.DeferralAllowed,
	}, false)
	if !ok {
		return false
	}
	_, sensitive := kept(p.Target, p.config)
	c.After, c.Private, c.AfterIdentity = p.Mark(response.Planned, sensitive), response.Private, response.Identity
	return true
}

// PlanDestroy plans the destruction of an object.
func (rt *Runtime) PlanDestroy(ctx context.Context, t *Target, o *Object) (*Change, bool) {
	planned := &Change{
		Action: engine.ActionDelete, Before: o.Value, After: t.Null(), Private: o.Private, BeforePrivate: o.Private,
		BeforeIdentity: o.Identity, AfterIdentity: cty.NilVal,
	}
	if !t.Known {
		planned.Deferred = provider.DeferredProviderConfigUnknown.String()
		return planned, true
	}
	if !t.Can.PlanDestroy {
		return planned, true
	}
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return nil, false
	}
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return nil, false
	}
	defer done()
	bare, _ := o.Value.UnmarkDeep()
	response := t.Provider.Plan(ctx, provider.PlanRequest{
		Type: t.Name, Prior: bare, Proposed: t.Null(), Config: t.Null(), PriorPrivate: o.Private, PriorIdentity: o.Identity, Meta: meta,
		DeferralAllowed: rt.DeferralAllowed,
	})
	if !rt.Said(t, response.Diagnostics) {
		return nil, false
	}
	if response.Deferred != provider.NotDeferred {
		planned.Deferred = response.Deferred.String()
		return planned, rt.mayDefer(t)
	}
	if response.Planned != cty.NilVal && !response.Planned.IsNull() {
		return nil, rt.fail(t, "Provider produced invalid plan", "The provider "+t.Of.String()+" plans an object for "+t.Address+", which is "+
			"to be destroyed. That is a mistake in the provider.")
	}
	planned.Private = response.Private
	return planned, true
}
