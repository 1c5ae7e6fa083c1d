// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Apply implements [engine.Session].
func (s *session) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	ctx, done, diags := s.beginWork(ctx, req.Work, observe, Call{
		Operation: Apply, Dir: req.ModuleDir, Component: req.Component,
		Mode: req.Mode,
	})
	defer done()
	if diags.HasErrors() {
		return nil, diags
	}
	a := &applier{engine: s.Engine, req: req, observe: observe.Numbered()}
	if err := a.load(); err != nil {
		return nil, diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Plan cannot be applied",
			Detail:   sentence(err),
			Extra:    faultOf(err),
		})
	}
	prog, diags := s.program(req.ModuleDir)
	if prog == nil {
		return nil, diags
	}
	inputs := map[string]cty.Value{}
	if req.Mode == engine.Normal {
		var moreDiags hcl.Diagnostics
		if inputs, moreDiags = prepareInputs(prog.module, req.Inputs); moreDiags.HasErrors() {
			return nil, diags.Extend(moreDiags)
		}
		if moreDiags = a.checkInputs(inputs); moreDiags.HasErrors() {
			return nil, diags.Extend(moreDiags)
		}
	}
	return a.apply(ctx, prog, inputs)
}

// applier applies the plan of one component instance.
type applier struct {
	engine  *Engine
	req     *engine.ApplyRequest
	observe engine.Observer

	inputs   map[string][]byte       // of the plan, by name
	planned  map[string]storedChange // by address
	deferred map[string]bool         // addresses
	state    *moduleState
	doc      engine.State
}

func (a *applier) load() error {
	var stored storedPlan
	if err := json.Unmarshal(a.req.Planned.Plan, &stored); err != nil {
		return fmt.Errorf("the engine's plan is damaged: %w", err)
	}
	if component := a.req.Component.String(); stored.Component != component {
		return fmt.Errorf("the plan was made for %s, not for %s", stored.Component, component)
	}
	a.inputs = stored.Inputs
	a.planned = make(map[string]storedChange, len(stored.Changes))
	for _, change := range stored.Changes {
		a.planned[change.Address] = change
	}
	a.deferred = map[string]bool{}
	markAll(a.deferred, stored.Deferred)
	var err error
	a.state, err = decodeState(a.req.PriorState, a.engine.opts.Info)
	a.doc = a.req.PriorState
	if err == nil && (a.state.lineage != stored.Lineage || a.state.serial != stored.Serial) {
		err = errStale
	}
	return err
}

var errStale = errors.New("the state has changed since the plan was made")

// faultOf returns the Extra of a diagnostic about an error: its fault.
func faultOf(err error) any {
	if errors.Is(err, errStale) {
		return &engine.DiagnosticData{Fault: fault.StalePlan}
	}
	return nil
}

// checkInputs checks that the final inputs are such as the plan was made for.
func (a *applier) checkInputs(inputs map[string]cty.Value) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, name := range slices.Sorted(maps.Keys(a.inputs)) {
		planned, err := decodeValue(a.inputs[name])
		if err != nil {
			return diags.Append(failure("the inputs of the plan", err))
		}
		if final, ok := inputs[name]; !ok || engine.CheckRefines(planned, final) != nil {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Input changed since planning",
				Detail:   fmt.Sprintf("The value for the variable %q is not one that the plan was made for. Make a new plan.", name),
			})
		}
	}
	return diags
}

func (a *applier) apply(ctx context.Context, prog *program, inputs map[string]cty.Value) (*engine.ApplyResult, hcl.Diagnostics) {
	a.state.serial++
	diags := a.deleteObjects(ctx)
	result := &engine.ApplyResult{}
	switch a.req.Mode {
	case engine.Destroy:
		result.Outputs = map[string]cty.Value{}
		for name := range prog.module.Outputs {
			result.Outputs[name] = cty.NullVal(cty.DynamicPseudoType)
		}
	default:
		outputs, moreDiags := prog.execute(&execution{
			inputs: inputs,
			settle: func(r resourceInstance) (cty.Value, hcl.Diagnostics) { return a.settle(ctx, r) },
		})
		diags = diags.Extend(moreDiags)
		result.Outputs = completeOutputs(prog.module, outputs)
	}
	diags = diags.Extend(a.save())
	result.State = a.doc
	return result, diags
}

// deleteObjects makes the pure deletions of the plan: each object is deleted after those that
// depend on it.
func (a *applier) deleteObjects(ctx context.Context) hcl.Diagnostics {
	var diags hcl.Diagnostics
	waiting := map[string]*priorObject{}
	for addr, change := range a.planned {
		if o := a.state.objects[addr]; o != nil && change.Action == engine.ActionDelete {
			waiting[addr] = o
		}
	}
	failed := map[string]bool{} // resources that an object which is still there depends on
	for len(waiting) > 0 {
		addr := nextDeletion(waiting)
		o := waiting[addr]
		delete(waiting, addr)
		if failed[o.resource()] {
			markAll(failed, o.dependencies)
			continue
		}
		moreDiags := a.change(ctx, Delete, addr, func() error {
			delete(a.state.objects, addr)
			return nil
		})
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			markAll(failed, o.dependencies)
		}
	}
	return diags
}

func markAll(set map[string]bool, names []string) {
	for _, name := range names {
		set[name] = true
	}
}

// nextDeletion returns the first address in order that no other waiting object
// depends on.
func nextDeletion(waiting map[string]*priorObject) string {
	needed := map[string]bool{}
	for _, o := range waiting {
		markAll(needed, o.dependencies)
	}
	addrs := slices.Sorted(maps.Keys(waiting))
	for _, addr := range addrs {
		if !needed[waiting[addr].resource()] {
			return addr
		}
	}
	return addrs[0] // a cycle, which only a damaged state has
}

// settle applies the planned change of one resource instance.
func (a *applier) settle(ctx context.Context, r resourceInstance) (cty.Value, hcl.Diagnostics) {
	addr := r.addr()
	prior := a.state.objects[addr]
	if isEphemeral(r) {
		return cty.NilVal, hcl.Diagnostics{ephemeralArgument(r)}
	}
	planned, ok := a.planned[addr]
	if !ok {
		return a.keep(r, prior)
	}
	after, err := decodeValue(planned.After)
	if err != nil {
		return cty.NilVal, hcl.Diagnostics{failure(addr, err)}
	}
	if engine.CheckRefines(after.GetAttr("input"), r.input) != nil || engine.CheckRefines(after.GetAttr("triggers_replace"),
		r.triggersReplace) != nil {
		return cty.NilVal, hcl.Diagnostics{inconsistent(addr)}
	}
	if !r.input.IsWhollyKnown() || !r.triggersReplace.IsWhollyKnown() {
		return cty.NilVal, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Unknown value while applying",
			Detail:   fmt.Sprintf("The arguments of %s are not known yet, because something that they come from was not applied.", addr),
		}}
	}
	final := finishObject(
		object(after.GetAttr("id"), r.input, r.input, r.triggersReplace),
		newID(a.req.Component, addr, prior),
	)
	diags := a.replaceOrWrite(ctx, planned.Action, addr, &priorObject{
		at: r.at(), value: final, dependencies: r.dependencies,
	})
	return final, diags
}

func (a *applier) replaceOrWrite(ctx context.Context, action engine.Action, addr string, next *priorObject) hcl.Diagnostics {
	remove := func() error { delete(a.state.objects, addr); return nil }
	write := func() error { a.state.objects[addr] = next; return nil }
	switch action {
	case engine.ActionUpdate:
		return a.change(ctx, Update, addr, write)
	case engine.ActionDeleteThenCreate:
		diags := a.change(ctx, Delete, addr, remove)
		if diags.HasErrors() {
			return diags
		}
		return diags.Extend(a.change(ctx, Create, addr, write))
	default:
		return a.change(ctx, Create, addr, write)
	}
}

// keep settles an instance for which nothing was planned.
func (a *applier) keep(r resourceInstance, prior *priorObject) (cty.Value, hcl.Diagnostics) {
	if a.deferred[r.addr()] {
		return newObject(r), nil
	}
	if a.req.Mode == engine.RefreshOnly && prior == nil {
		return newObject(r), nil
	}
	if a.req.Mode == engine.RefreshOnly {
		return prior.value, nil
	}
	if prior == nil {
		return cty.NilVal, hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Change not planned",
			Detail:   fmt.Sprintf("The plan has no change for %s, so it cannot be created now.", r.addr()),
		}}
	}
	if change := planObject(prior, r, false); change.action != engine.ActionNoOp {
		return cty.NilVal, hcl.Diagnostics{inconsistent(r.addr())}
	}
	return prior.value, nil
}

func inconsistent(addr string) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Inconsistent final plan",
		Detail: fmt.Sprintf("With the final values, the change of %s is no longer the one that was planned. Nothing was done to it; make a "+
			"new plan.", addr),
	}
}

// change carries out one change of a resource instance and saves the state.
func (a *applier) change(ctx context.Context, op Operation, addr string, do func() error) hcl.Diagnostics {
	a.progress(engine.ApplyStart, op, addr)
	done, diags := a.engine.begin(ctx, Call{
		Operation: op, Dir: a.req.ModuleDir, Component: a.req.Component, Mode: a.req.Mode, Resource: addr,
	})
	defer done()
	if !diags.HasErrors() {
		if err := do(); err != nil {
			diags = diags.Append(failure(addr, err))
		}
	}
	if diags.HasErrors() {
		a.progress(engine.ApplyErrored, op, addr)
		return diags
	}
	a.progress(engine.ApplyComplete, op, addr)
	return diags.Extend(a.report(addr))
}

// report calls the observer with the change of an object.
func (a *applier) report(addr string) hcl.Diagnostics {
	if a.observe == nil {
		return nil
	}
	changed, err := stackaddrs.ParseResourceInstance(addr)
	if err != nil {
		return hcl.Diagnostics{failure(addr, err)}
	}
	event := engine.Event{Type: engine.ObjectChanged, Resource: addr, Object: &engine.ObjectChange{Addr: changed}}
	if o := a.state.objects[addr]; o != nil {
		entry, err := o.encode()
		if err != nil {
			return hcl.Diagnostics{failure("the state", err)}
		}
		event.Object.Entry = entry.AppendJSON(nil)
	}
	a.observe(event)
	return nil
}

// save encodes the newest state.
func (a *applier) save() hcl.Diagnostics {
	doc, err := a.state.encode(a.req.Component)
	if err != nil {
		return hcl.Diagnostics{failure("the state", err)}
	}
	a.doc = doc
	return nil
}

func (a *applier) progress(kind engine.EventType, op Operation, addr string) {
	if a.observe == nil {
		return
	}
	event := engine.Event{Type: kind, Resource: addr, Action: string(op)}
	words := map[engine.EventType]string{
		engine.ApplyStart: "started", engine.ApplyComplete: "complete", engine.ApplyErrored: "errored",
	}
	event.Message = fmt.Sprintf("%s: %s %s", addr, op, words[kind])
	if o := a.state.objects[addr]; o != nil {
		event.IDKey, event.IDValue = "id", o.value.GetAttr("id").AsString()
	}
	a.observe(event)
}
