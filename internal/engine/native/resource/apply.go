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

// Applied is what has become of an object that a provider was to change.
type Applied struct {
	Object *Object // nil if there is none
	Asked  bool    // the provider was asked
	Doubt  bool    // it has not said what there is now: the object is the one before
	OK     bool    // otherwise that has been reported, unless nobody was asked
}

// Apply asks the provider for a change: to create the object if there is none, and otherwise to update it. The change is that of a plan made now, whose configuration is
// wholly known. An object that was not created without errors is tainted.
func (rt *Runtime) Apply(ctx context.Context, t *Target, c *Change, prior *Object) Applied {
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return Applied{Object: prior}
	}
	request := provider.ApplyRequest{Type: t.Name, Prior: t.Null(), Config: c.Config, Private: c.Private, Meta: meta, PlannedIdentity: c.AfterIdentity}
	action := engine.ActionCreate
	if prior != nil {
		action = engine.ActionUpdate
		request.Prior, _ = prior.Value.UnmarkDeep()
	}
	var sensitive []cty.Path
	request.Planned, sensitive, _ = marks.Split(c.After)
	response, asked := rt.carryOut(ctx, t, "", action, request)
	if !asked {
		return Applied{Object: prior}
	}
	r := &result{Runtime: rt, Target: t, response: response, ok: !response.Diagnostics.HasErrors()}
	r.judge(request.Planned)
	now := r.object(prior, sensitive)
	if now == nil {
		return Applied{nil, true, r.doubt, r.ok}
	}
	if now != prior {
		now.CreateBeforeDestroy = c.CreateBeforeDestroy
		now.Tainted = prior == nil && !r.ok || prior != nil && prior.Tainted
	}
	now.Dependencies = rt.Dependencies(t)
	return Applied{now, true, r.doubt, r.ok}
}

// Destruction says what to destroy.
type Destruction struct {
	Object  *Object
	Deposed stackaddrs.DeposedKey
	Private []byte // of the plan
}

// Destroy asks the provider to destroy an object.
func (rt *Runtime) Destroy(ctx context.Context, t *Target, d Destruction) Applied {
	o := d.Object
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return Applied{Object: o}
	}
	prior, sensitive, _ := marks.Split(o.Value)
	response, asked := rt.carryOut(ctx, t, d.Deposed, engine.ActionDelete, provider.ApplyRequest{
		Type: t.Name, Prior: prior, Planned: t.Null(), Config: t.Null(), Private: d.Private, Meta: meta, PlannedIdentity: o.Identity,
	})
	if !asked {
		return Applied{Object: o}
	}
	r := &result{Runtime: rt, Target: t, response: response, ok: !response.Diagnostics.HasErrors()}
	if r.judge(t.Null()); r.ok {
		return Applied{nil, true, false, true}
	}
	now := r.object(o, sensitive)
	now.CreateBeforeDestroy, now.Tainted, now.Dependencies = o.CreateBeforeDestroy, o.Tainted, o.Dependencies
	return Applied{now, true, r.doubt, false}
}

// Refines reports whether a change that was planned now does what the first plan says, as far as that was known.
func (rt *Runtime) Refines(t *Target, action engine.Action, after cty.Value, now *Change) bool {
	const summary, what = "Provider produced inconsistent final plan", "plans something else, now that all values are known, than it had planned for"
	if action.Replaces() || action.ForgetsOld() {
		action = engine.ActionCreate
	}
	if now.Deferred != "" {
		return rt.fail(t, "Provider deferred the change", "The change of "+t.Address+" was planned, and cannot be made: "+now.Deferred+".")
	}
	if now.Action != action && (action != engine.ActionUpdate || now.Action != engine.ActionNoOp) {
		return rt.fail(t, summary, "The provider "+t.Of.String()+" had planned the action "+string(action)+" for "+t.Address+", and plans "+string(now.Action)+
			" now that all values are known. That is a mistake in the provider.")
	}
	planned, _ := after.UnmarkDeep()
	final, _ := now.After.UnmarkDeep()
	return rt.broken(t, summary, what, change.CheckResult(t.Block, planned, final))
}

// Settled reports whether a change can be made: its configuration must be known.
func (rt *Runtime) Settled(t *Target, c *Change) bool {
	return rt.settled(t, c.Config)
}

// carryOut asks the provider for a change, and says what is going on meanwhile. It is false if the provider was not asked any more.
func (rt *Runtime) carryOut(ctx context.Context, t *Target, deposed stackaddrs.DeposedKey, action engine.Action, request provider.ApplyRequest) (provider.ApplyResponse, bool) {
	done, ok := rt.call(ctx)
	if !ok {
		return provider.ApplyResponse{}, false
	}
	defer done()
	if rt.Before != nil && !rt.Before(t, deposed, action) {
		return provider.ApplyResponse{}, false
	}
	known := request.Planned
	if known.IsNull() {
		known = request.Prior
	}
	p := rt.begin(t, action, known)
	response := t.Provider.Apply(ctx, request)
	if response.New != cty.NilVal && !response.New.IsNull() {
		known = response.New
	}
	p.end(!response.Diagnostics.HasErrors(), t, known)
	rt.said(t, response.Diagnostics)
	return response, true
}

// result is what a provider says that it has made.
type result struct {
	*Runtime
	*Target
	response provider.ApplyResponse
	ok       bool
	kept     bool // the answer says nothing about the object that could be kept
	doubt    bool // or nothing at all
}

// judge checks the answer: whatever the provider may not do is an error, whether something is stored of it or not (section 6.3 of the sheet of the modules language, step 6).
func (r *result) judge(planned cty.Value) {
	const invalid, inconsistent = "Provider returned invalid object", "Provider produced inconsistent result after apply"
	answer := &r.response.New
	if *answer == cty.NilVal {
		r.kept, r.doubt = true, true
		if r.ok {
			r.ok = r.fail(r.Target, invalid, "The provider "+r.Of.String()+" has not said what has become of "+r.Address+". That is a mistake in the provider.")
		}
		return
	}
	faults := append(change.Conform(r.Block, *answer), change.CheckWriteOnly(r.Block, *answer)...)
	if !r.broken(r.Target, "Provider produced invalid object", "has made, with mistakes, the object of", faults) {
		r.ok, r.kept = false, true
		return
	}
	if unknown := notKnown(*answer); len(unknown) > 0 {
		r.ok = r.broken(r.Target, invalid, "has finished, without knowing all of it, the object of", unknown)
		*answer = cty.UnknownAsNull(*answer)
	}
	destroyed := planned.IsNull()
	switch {
	case !r.ok:
	case destroyed && !answer.IsNull():
		r.ok = r.fail(r.Target, invalid, "The provider "+r.Of.String()+" has destroyed "+r.Address+", and says that there still is an object. That is a mistake in the provider.")
	case !destroyed && answer.IsNull():
		r.ok = r.fail(r.Target, invalid, "The provider "+r.Of.String()+" says that there is no object of "+r.Address+", which it was to make. That is a mistake in the provider.")
	case !destroyed && !r.response.LegacyTypeSystem:
		r.ok = r.broken(r.Target, inconsistent, "has not made what it had planned of", change.CheckResult(r.Block, planned, *answer))
	}
}

// object returns the object that there is now. It is the prior one if the answer does not say.
func (r *result) object(prior *Object, sensitive []cty.Path) *Object {
	if r.kept || r.response.New.IsNull() {
		return prior
	}
	return &Object{Value: r.Mark(r.response.New, sensitive), Private: r.response.Private, Identity: r.response.Identity}
}
