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
	"google.golang.org/protobuf/proto"

	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// storedPlan is the content of [engine.PlanResult.Plan].
type storedPlan struct {
	Component string         `json:"component"`
	Changes   []storedChange `json:"changes"`

	// Inputs are the values planned with, each an encoded DynamicValue, except
	// for ephemeral ones.
	Inputs map[string][]byte `json:"inputs,omitempty"`

	// Lineage and Serial are those of the state planned with.
	Lineage string `json:"lineage,omitempty"`
	Serial  uint64 `json:"serial,omitempty"`

	// Deferred are the addresses of the resources of which something is deferred.
	Deferred []string `json:"deferred,omitempty"`
}

// storedChange is a planned change that is not a no-op.
type storedChange struct {
	Address string        `json:"address"`
	Action  engine.Action `json:"action"`

	// After is the planned object, an encoded DynamicValue. Empty for deletions.
	After []byte `json:"after,omitempty"`
}

// Plan implements [engine.Session].
func (s *session) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	_, done, diags := s.beginWork(ctx, req.Work, observe, Call{Operation: Plan, Dir: req.ModuleDir, Component: req.Component, Mode: req.Mode})
	defer done()
	if diags.HasErrors() {
		return nil, diags
	}
	if req.Mode == engine.Invoke {
		return nil, diags.Append(failure("the plan", errors.New("modules have no actions here")))
	}
	p := &planner{
		req: req, observe: observe.Numbered(), seen: map[string]bool{}, static: map[string]bool{},
		result: &engine.PlanResult{Engine: s.opts.Info, RefreshedState: req.PriorState},
	}
	var err error
	if p.prior, err = decodeState(req.PriorState, s.opts.Info); err != nil {
		return nil, diags.Append(failure("prior state", err))
	}
	prog, diags := s.program(req.ModuleDir)
	if prog == nil {
		return nil, diags
	}
	diags = p.plan(prog)
	if diags.HasErrors() {
		p.result.Plan, p.result.Complete, p.result.Applyable = nil, false, false
	}
	return p.result, diags
}

// planner makes the plan of one component instance.
type planner struct {
	req     *engine.PlanRequest
	observe engine.Observer
	prior   *moduleState
	seen    map[string]bool // resource instances that the configuration has
	static  map[string]bool // resources that are deferred
	stored  storedPlan
	result  *engine.PlanResult
}

func (p *planner) plan(prog *program) hcl.Diagnostics {
	p.stored.Component = p.req.Component.String()
	p.stored.Lineage, p.stored.Serial = p.prior.lineage, p.prior.serial
	var diags hcl.Diagnostics
	if p.req.Mode == engine.Destroy {
		p.result.Outputs = map[string]cty.Value{}
		for name := range prog.module.Outputs {
			p.result.Outputs[name] = cty.NullVal(cty.DynamicPseudoType)
		}
	} else {
		diags = p.execute(prog)
	}
	if p.req.Mode != engine.RefreshOnly {
		diags = diags.Extend(p.planDeletions(prog))
	}
	p.finish()
	raw, err := json.Marshal(p.stored)
	if err != nil {
		return diags.Append(failure("the plan", err))
	}
	if p.result.Applyable || p.result.Complete {
		p.result.Plan = raw
	}
	return diags
}

func (p *planner) execute(prog *program) hcl.Diagnostics {
	inputs, diags := prepareInputs(prog.module, p.req.Inputs)
	if diags.HasErrors() {
		return diags
	}
	if err := p.storeInputs(inputs); err != nil {
		return diags.Append(failure("the inputs", err))
	}
	outputs, moreDiags := prog.execute(&execution{inputs: inputs, settle: p.settle, deferInstance: p.deferInstance})
	p.result.Outputs = completeOutputs(prog.module, outputs)
	return diags.Extend(moreDiags)
}

func (p *planner) storeInputs(inputs map[string]cty.Value) error {
	p.stored.Inputs = make(map[string][]byte, len(inputs))
	for name, v := range inputs {
		if marks.Contains(v, marks.Ephemeral) {
			continue
		}
		raw, err := encodeValue(v)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		p.stored.Inputs[name] = raw
	}
	return nil
}

// settle plans one resource instance.
func (p *planner) settle(r resourceInstance) (cty.Value, hcl.Diagnostics) {
	addr := r.addr()
	p.seen[addr] = true
	if isEphemeral(r) {
		return cty.NilVal, hcl.Diagnostics{ephemeralArgument(r)}
	}
	prior := p.prior.objects[addr]
	if p.req.Mode == engine.RefreshOnly {
		if prior != nil {
			return prior.value, nil
		}
		return newObject(r), nil
	}
	change := planObject(prior, r, slices.Contains(p.req.Replace, addr))
	if err := p.add(r.at(), change); err != nil {
		return cty.NilVal, hcl.Diagnostics{failure(addr, err)}
	}
	return change.after, nil
}

// deferInstance defers an instance that can't be planned yet. Existing objects of the resource
// stay.
func (p *planner) deferInstance(r resourceInstance, reason string) {
	p.static[r.addr()] = true
	if isEphemeral(r) { // which is refused when it is planned
		r.input, r.triggersReplace = cty.DynamicVal, cty.DynamicVal
	}
	prior := p.prior.objects[r.addr()]
	p.deferChange(describeChange(r.at(), planObject(prior, r, false)), reason)
}

// add records a planned change.
func (p *planner) add(at stackaddrs.ResourceInstance, change objectChange) error {
	described := describeChange(at, change)
	if reason := p.deferAll(); reason != "" && change.action != engine.ActionNoOp {
		p.deferChange(described, reason)
		return nil
	}
	p.result.Changes = append(p.result.Changes, described)
	if change.action == engine.ActionNoOp {
		return nil
	}
	stored := storedChange{Address: described.Address(), Action: change.action}
	if !change.after.IsNull() {
		var err error
		if stored.After, err = encodeValue(change.after); err != nil {
			return err
		}
	}
	p.stored.Changes = append(p.stored.Changes, stored)
	p.announce(described)
	return nil
}

// deferAll returns why the component as a whole is deferred, or "".
func (p *planner) deferAll() string {
	for _, config := range p.req.Providers {
		if config.Unknown {
			return reasonProvider
		}
	}
	if p.req.DeferAll {
		return reasonPrerequisite
	}
	return ""
}

func (p *planner) deferChange(change *engine.Change, reason string) {
	p.stored.Deferred = append(p.stored.Deferred, change.Address())
	p.result.Deferred = append(p.result.Deferred, engine.DeferredChange{Reason: reason, Change: change})
}

func (p *planner) announce(change *engine.Change) {
	if p.observe == nil {
		return
	}
	action := string(change.Action)
	if change.Action.Replaces() {
		action = "replace"
	}
	p.observe(engine.Event{
		Type:     engine.PlannedChange,
		Resource: change.Address(),
		Action:   action,
		Message:  fmt.Sprintf("%s: Plan to %s", change.Address(), action),
	})
}

// planDeletions plans the end of the objects that the configuration does not
// have: all of them in destroy mode.
func (p *planner) planDeletions(prog *program) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, addr := range slices.Sorted(maps.Keys(p.prior.objects)) {
		if p.seen[addr] || p.static[addr] {
			continue
		}
		o := p.prior.objects[addr]
		change := objectChange{action: engine.ActionDelete, before: o.value, after: noObject}
		if p.req.Mode == engine.Normal {
			change.reason = engine.DeleteBecauseNoResourceConfig
		} else if reason := prog.defersDestroy(o.at.Resource.Name, p.req.Inputs); reason != "" {
			p.deferChange(describeChange(o.at, change), reason)
			continue
		}
		if err := p.add(o.at, change); err != nil {
			diags = diags.Append(failure(addr, err))
		}
	}
	return diags
}

// finish sorts the result (rule E5 of package engine) and sums it up.
func (p *planner) finish() {
	r := p.result
	engine.SortChanges(r.Changes)
	engine.SortDeferred(r.Deferred)
	r.Complete = len(r.Deferred) == 0
	r.Applyable = len(p.stored.Changes) > 0
	if p.req.Mode == engine.Normal && r.Complete {
		for _, v := range r.Outputs {
			r.Applyable = r.Applyable || !v.IsWhollyKnown()
		}
	}
	if p.deferAll() != "" {
		r.Complete, r.Applyable = false, false
	}
}

// describeChange describes a change as the contract has it.
func describeChange(at stackaddrs.ResourceInstance, change objectChange) *engine.Change {
	return &engine.Change{
		Addr:     at,
		Provider: stackaddrs.BuiltinProvider,
		Action:   change.action,
		Reason:   change.reason,
		Before:   change.before,
		After:    change.after,
		Replace:  change.replace,
	}
}

// prepareInputs turns the arguments of a request into the values of variables:
// one for each, with the marks that the declaration asks for.
func prepareInputs(module *engine.Module, given map[string]cty.Value) (map[string]cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	inputs := make(map[string]cty.Value, len(module.Variables))
	for _, name := range slices.Sorted(maps.Keys(module.Variables)) {
		variable := module.Variables[name]
		v, ok := given[name]
		bare, _ := v.Unmark()
		if !ok || v == cty.NilVal || bare.IsNull() && !variable.Nullable {
			v = variable.Default
		}
		if v == cty.NilVal {
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Required variable not set",
				Detail:   fmt.Sprintf("The variable %q must be given a value that is not null.", name),
			})
			continue
		}
		if variable.Sensitive {
			v = v.Mark(marks.Sensitive)
		}
		if variable.Ephemeral {
			v = v.Mark(marks.Ephemeral)
		}
		inputs[name] = v
	}
	return inputs, diags
}

// completeOutputs gives each declared output a value: unknown if it has none.
// The result has no ephemeral marks, only sensitive ones.
func completeOutputs(module *engine.Module, computed map[string]cty.Value) map[string]cty.Value {
	outputs := make(map[string]cty.Value, len(module.Outputs))
	for name, output := range module.Outputs {
		v, ok := computed[name]
		if !ok {
			v = cty.DynamicVal
		}
		v = marks.Remove(v, marks.Ephemeral)
		if output.Sensitive {
			v = v.Mark(marks.Sensitive)
		}
		outputs[name] = v
	}
	return outputs
}

func encodeValue(v cty.Value) ([]byte, error) {
	stored, err := storedvalue.Encode(v)
	if err != nil {
		return nil, err
	}
	return proto.MarshalOptions{Deterministic: true}.Marshal(stored)
}

func decodeValue(raw []byte) (cty.Value, error) {
	var stored valuev1.DynamicValue
	if err := proto.Unmarshal(raw, &stored); err != nil {
		return cty.NilVal, err
	}
	return storedvalue.Decode(&stored)
}

func ephemeralArgument(r resourceInstance) *hcl.Diagnostic {
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Invalid use of ephemeral value",
		Detail:   fmt.Sprintf("The arguments of %s are stored in the state, so ephemeral values cannot be used in them.", r.addr()),
	}
}
