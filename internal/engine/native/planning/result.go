// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// result puts together the results of planning.
func (p *planner) result(ctx context.Context) (*engine.PlanResult, *planned.Plan, hcl.Diagnostics) {
	result := &engine.PlanResult{Drift: p.mu.drift, Checks: p.eval.Checks.Results()}
	if p.Mode == engine.Destroy { // earlier results of checks do not hold afterwards
		for i := range result.Checks {
			result.Checks[i].Status, result.Checks[i].Objects = engine.CheckUnknown, nil
		}
	}
	plan := &planned.Plan{Prior: p.before, Requested: p.requested}
	for _, c := range p.mu.changes {
		plan.Changes = append(plan.Changes, c) // those that are deferred, too: their values stand for the objects
		for _, i := range c.Invocations {
			if i.Deferred != "" {
				result.DeferredInvocations = append(result.DeferredInvocations, engine.DeferredInvocation{
					Reason:     i.Deferred,
					Invocation: &i.Invocation,
				})
			} else {
				result.Invocations = append(result.Invocations, &i.Invocation)
			}
		}
		if c.Deferred != "" {
			result.Deferred = append(result.Deferred, engine.DeferredChange{Reason: c.Deferred, Change: &c.Change})
			continue
		}
		result.Changes = append(result.Changes, &c.Change)
	}
	for _, i := range p.requested {
		result.Invocations = append(result.Invocations, &i.Invocation)
	}
	for addr := range p.mu.deferred {
		plan.Deferred = append(plan.Deferred, addr)
	}
	slices.SortFunc(plan.Deferred, stackaddrs.ResourceInstance.Compare)
	slices.SortFunc(plan.Changes, (*planned.Change).Compare)
	engine.SortChanges(result.Changes)
	engine.SortChanges(result.Drift)
	engine.SortDeferred(result.Deferred)
	engine.SortInvocations(result.Invocations)
	engine.SortDeferredInvocations(result.DeferredInvocations)
	p.announce(result)
	result.Outputs, result.Ephemeral = p.eval.Root().SplitOutputs(p.outputs(ctx))
	if doc, err := p.fresh.Document(p.finish(result)); err != nil {
		p.eval.Diagnostics.Add(failure.New("Unusable state", "%s.", err))
	} else {
		result.RefreshedState = doc.Bytes()
	}
	diags := p.eval.Diagnostics.All()
	if !diags.HasErrors() {
		// A component without resources has nothing to defer, but its outputs stay unknown: those that
		// use them must not be applied.
		result.Complete = len(plan.Deferred) == 0 && !p.DeferAll
		result.Applyable = p.applyable(result)
	}
	return result, plan, diags
}

// outputs returns the values of all outputs of the root module. Those that could not be computed
// are unknown. When everything is destroyed, all are null.
func (p *planner) outputs(ctx context.Context) map[string]cty.Value {
	outputs := p.eval.Root().Outputs()
	values := make(map[string]cty.Value, len(outputs))
	_, _ = promising.MainTask(ctx, func(ctx context.Context) (struct{}, error) { //nolint:errcheck // an interrupted plan has no outputs
		for name, output := range outputs {
			none := cty.DynamicVal
			if p.Mode == engine.Destroy {
				none = cty.NullVal(cty.DynamicPseudoType)
			}
			values[name] = marks.Declared(none, output.Config().Sensitive, output.Config().Ephemeral)
			if p.Mode == engine.Destroy || p.stopped {
				continue
			}
			if value, ok := output.Value(ctx); ok && !p.waits(name) {
				values[name] = value
			}
		}
		return struct{}{}, nil
	})
	return values
}

// waits reports whether an output of the root module depends on a deferred change: its value is
// unknown then.
func (p *planner) waits(output string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.mu.deferred) > 0 && slices.ContainsFunc(p.Graph.Output(output), func(r *deps.Resource) bool { return p.mu.deferred[r.Addr] })
}

// finish returns the parts of the state besides objects. Outputs are brought up to date when
// nothing else is done, and otherwise while applying.
func (p *planner) finish(result *engine.PlanResult) state.Finish {
	outputs, err := p.prior.Document().Outputs()
	if err != nil {
		outputs = nil
	}
	if p.Mode.KeepsObjects() {
		outputs = map[string]tfstate.Output{}
		for name, value := range result.Outputs {
			bare, found := value.UnmarkDeep()
			if bare.IsWhollyKnown() && !bare.IsNull() {
				_, sensitive := found[marks.Sensitive]
				outputs[name] = tfstate.Output{Value: bare, Sensitive: sensitive}
			}
		}
	}
	return state.Finish{Outputs: outputs, Checks: result.Checks}
}

// applyable reports whether there is something to apply.
func (p *planner) applyable(result *engine.PlanResult) bool {
	var changes bool
	if p.Mode.KeepsObjects() {
		changes = len(p.requested) > 0 || slices.ContainsFunc(result.Drift, func(c *engine.Change) bool { return c.Action != engine.ActionNoOp })
	} else {
		changes = slices.ContainsFunc(result.Changes, func(c *engine.Change) bool { return !c.IsNoOp() })
	}
	if !result.Complete { // outputs can wait for the rest
		return changes
	}
	return changes || p.outputsChange(result)
}

// outputsChange reports whether an output of the root module gets another value than the state has.
func (p *planner) outputsChange(result *engine.PlanResult) bool {
	before, err := p.prior.Document().Outputs()
	if err != nil {
		return true
	}
	if p.Mode == engine.Destroy {
		return len(before) > 0
	}
	for name := range before {
		if _, declared := result.Outputs[name]; !declared {
			return true
		}
	}
	for name, value := range result.Outputs {
		bare, found := value.UnmarkDeep()
		_, sensitive := found[marks.Sensitive]
		old, known := before[name]
		switch {
		case bare.IsKnown() && bare.IsNull():
			if known {
				return true
			}
		case !known, !bare.IsWhollyKnown(), old.Sensitive != sensitive, !old.Value.RawEquals(bare):
			return true
		}
	}
	return false
}
