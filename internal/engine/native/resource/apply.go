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

// Applied is the result of a provider's change of an object.
type Applied struct {
	Object *Object // nil if there is none
	Asked  bool    // the provider was asked
	Doubt  bool    // it has not returned the present object: the object is the one before
	OK     bool    // otherwise that has been reported, unless nobody was asked

	end func(ok bool)
}

// End says how the change has ended, with the provisioners that are part of it.
func (a *Applied) End(ok bool) {
	if a.end != nil {
		a.end(ok)
	}
}

// Apply asks the provider for a change: to create the object if there is none, and otherwise to
// update it. The change is that of a plan made now, whose configuration is wholly known. An object
// that was not created without errors is tainted.
func (rt *Runtime) Apply(ctx context.Context, t *Target, c *Change, prior *Object) Applied {
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return Applied{Object: prior}
	}
	request := provider.ApplyRequest{
		Type: t.Name, Prior: t.Null(), Config: c.Config, Private: c.Private, Meta: meta,
		PlannedIdentity: c.AfterIdentity,
	}
	action := engine.ActionCreate
	if prior != nil {
		action = engine.ActionUpdate
		request.Prior, _ = prior.Value.UnmarkDeep()
	}
	var sensitive []cty.Path
	request.Planned, sensitive, _ = marks.Split(c.After)
	response, applied := rt.carryOut(ctx, t, asking{action: action, request: request})
	if !applied.Asked {
		applied.Object = prior
		return applied
	}
	r := &result{Runtime: rt, Target: t, creates: prior == nil, response: response, ok: !response.Diagnostics.HasErrors()}
	r.judge(request.Planned)
	now := r.object(prior, sensitive)
	if now == nil {
		return r.applied(applied, nil)
	}
	if now != prior {
		now.CreateBeforeDestroy = c.CreateBeforeDestroy
		now.Tainted = prior == nil && !r.ok || prior != nil && prior.Tainted
	}
	now.Dependencies = rt.Dependencies(t)
	return r.applied(applied, now)
}

// Destruction is an object to destroy.
type Destruction struct {
	Object  *Object
	Deposed stackaddrs.DeposedKey
	Private []byte // of the plan

	// Before is called first. The provider is not asked if it returns false.
	Before func() bool
}

// Destroy asks the provider to destroy an object.
func (rt *Runtime) Destroy(ctx context.Context, t *Target, d Destruction) Applied {
	o := d.Object
	meta, ok := rt.meta(ctx, t)
	if !ok {
		return Applied{Object: o}
	}
	prior, sensitive, _ := marks.Split(o.Value)
	response, applied := rt.carryOut(ctx, t, asking{
		deposed: d.Deposed, action: engine.ActionDelete, before: d.Before,
		request: provider.ApplyRequest{
			Type: t.Name, Prior: prior, Planned: t.Null(), Config: t.Null(), Private: d.Private, Meta: meta, PlannedIdentity: o.Identity,
		},
	})
	if !applied.Asked {
		applied.Object = o
		return applied
	}
	r := &result{Runtime: rt, Target: t, response: response, ok: !response.Diagnostics.HasErrors()}
	if r.judge(t.Null()); r.ok {
		return r.applied(applied, nil)
	}
	now := r.object(o, sensitive)
	now.Tainted, now.Dependencies = o.Tainted, o.Dependencies // as terraform, which drops CreateBeforeDestroy of objects that it stores anew
	return r.applied(applied, now)
}

// Refines reports whether a change that was planned now agrees with the known parts of the first
// plan.
func (rt *Runtime) Refines(t *Target, action engine.Action, after cty.Value, now *Change) bool {
	const summary, what = "Provider produced inconsistent final plan",
		"plans something else, now that all values are known, than it had planned for"
	if action.Succeeds() {
		action = engine.ActionCreate
	}
	if now.Deferred != "" {
		return rt.fail(t, "Provider deferred the change", "The change of "+t.Address+" was planned, and cannot be made: "+now.Deferred+".")
	}
	if now.Action != action && (action != engine.ActionUpdate || now.Action != engine.ActionNoOp) {
		return rt.fail(t, summary, "The provider "+t.Of.String()+" had planned the action "+string(action)+" for "+t.Address+", and plans "+
			string(now.Action)+
			" now that all values are known. That is a mistake in the provider.")
	}
	planned, _ := after.UnmarkDeep()
	final, _ := now.After.UnmarkDeep()
	differences := change.CheckResult(t.Block, planned, final)
	if rt.Moved && len(differences) > 0 {
		// The provider is most likely not to blame: a value with the path of the checkout in it is
		// another one here.
		return rt.fail(t, "Plan from another directory", "The plan was made in another directory than this one, and "+t.Address+
			" would not become here what the plan says:\n"+listed(differences)+"\n\nValues with path.cwd or the result of abspath in them differ "+
			"from one directory to another. Make a new plan here, or apply this one where it was made. This object was not changed.")
	}
	return rt.broken(t, summary, what, differences)
}

// Settled reports whether a change can be made: its configuration must be known.
func (rt *Runtime) Settled(t *Target, c *Change) bool {
	return rt.settled(t, c.Config)
}

// asking is a request to a provider for a change.
type asking struct {
	deposed stackaddrs.DeposedKey
	action  engine.Action
	before  func() bool // or nil
	request provider.ApplyRequest
}

// carryOut asks the provider for a change, unless it must not be asked any more, and reports the
// progress meanwhile. The caller reports the end.
func (rt *Runtime) carryOut(ctx context.Context, t *Target, a asking) (provider.ApplyResponse, Applied) {
	ctx, done, ok := rt.call(ctx, t)
	if !ok {
		return provider.ApplyResponse{}, Applied{}
	}
	defer done()
	if rt.Before != nil && !rt.Before(t, a.deposed, a.action) {
		return provider.ApplyResponse{}, Applied{}
	}
	known := a.request.Planned
	if known.IsNull() {
		known = a.request.Prior
	}
	p := rt.begin(t, a.action, known)
	applied := Applied{end: func(ok bool) { p.end(ok, t, known) }}
	if a.before != nil && !a.before() {
		return provider.ApplyResponse{}, applied
	}
	response := t.Provider.Apply(ctx, a.request)
	if response.New != cty.NilVal && !response.New.IsNull() {
		known = response.New
	}
	rt.Said(t, response.Diagnostics)
	applied.Asked = true
	return response, applied
}

// result is a provider's answer about an object that it was to change.
type result struct {
	*Runtime
	*Target
	creates  bool // so that nothing is known of the object but by the answer
	response provider.ApplyResponse
	ok       bool
	kept     bool // the answer says nothing about the object that could be kept
	doubt    bool // or nothing at all, so that there may be another one than is kept
}

// applied completes a with the object that there is now.
func (r *result) applied(a Applied, now *Object) Applied {
	a.Object, a.Doubt, a.OK = now, r.doubt, r.ok
	return a
}

// judge checks the answer: a violation of the protocol by the provider is an error, whether the
// object is stored or not.
func (r *result) judge(planned cty.Value) {
	const invalid, inconsistent = "Provider returned invalid object", "Provider produced inconsistent result after apply"
	answer := &r.response.New
	if *answer == cty.NilVal {
		r.kept, r.doubt = true, true
		if r.ok {
			r.ok = r.fail(r.Target, invalid, "The provider "+r.Of.String()+" has returned no new state of "+r.Address+". That is a mistake in "+
				"the provider.")
		}
		return
	}
	faults := append(change.Conform(r.Block, *answer), change.CheckWriteOnly(r.Block, *answer)...)
	if !r.broken(r.Target, "Provider produced invalid object", "has made, with mistakes, the object of", faults) {
		r.ok, r.kept, r.doubt = false, true, r.creates
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
		r.ok = r.fail(r.Target, invalid, "The provider "+r.Of.String()+" has destroyed "+r.Address+", and says that there still is an object. "+
			"That is a mistake in the provider.")
	case !destroyed && answer.IsNull():
		r.doubt = r.creates
		r.ok = r.fail(r.Target, invalid, "The provider "+r.Of.String()+" says that there is no object of "+r.Address+", which it was to make. "+
			"That is a mistake in the provider.")
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
