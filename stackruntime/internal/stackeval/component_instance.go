// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"sync/atomic"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// ComponentInstance is one instance of a component: the thing that is planned
// and applied.
type ComponentInstance struct {
	component *Component
	standIn   bool // as in [Stack]
	managedInstance

	inputs  memo.Memo[map[string]cty.Value]
	plan    memo.Memo[*stackplan.Component]
	refresh memo.Memo[*engine.PlanResult] // the hidden plan of a destroy

	// fleeting are the ephemeral results of the plan, which holds the others.
	fleeting atomic.Pointer[map[string]cty.Value]
	again    memo.Memo[map[string]cty.Value] // ephemeral results that were evaluated apart

	// failed is the incomplete plan with errors, to be shown: others see no plan.
	failed atomic.Pointer[stackplan.Component]
}

func newComponentInstance(component *Component, key stackaddrs.InstanceKey, repetition foreach.Repetition) *ComponentInstance {
	return &ComponentInstance{
		component: component,
		standIn:   component.stack.standsIn(key, repetition),
		managedInstance: managedInstance{
			main:  component.stack.main,
			addr:  stackaddrs.InstanceOf(component.addr, key),
			use:   &component.config.moduleUse,
			scope: repetitionScope{component.stack, repetition},
		},
	}
}

// ResultValue is the value of the instance in expressions.
//
// Shape: an object with all declared outputs of the module. Unknown: in part
// while planning, and where applying failed. A placeholder if the instance
// could not be planned.
func (c *ComponentInstance) ResultValue(ctx context.Context) cty.Value {
	module := c.component.module(ctx)
	if module == nil {
		return expr.Placeholder(cty.DynamicPseudoType)
	}
	outputs, ok := c.outputs(ctx)
	if !ok {
		return expr.Placeholder(cty.DynamicPseudoType)
	}
	var ephemeral map[string]cty.Value
	if hasEphemeralOutputs(module) {
		ephemeral = c.ephemeralOutputs(ctx)
	}
	attrs := make(map[string]cty.Value, len(module.Outputs))
	for name, declared := range module.Outputs {
		value, ok := outputs[name]
		if declared.Ephemeral {
			value, ok = ephemeral[name]
		}
		if !ok {
			value = cty.DynamicVal
		}
		attrs[name] = marks.Declared(value, declared.Sensitive, declared.Ephemeral)
	}
	return cty.ObjectVal(attrs)
}

// outputs are the results in this phase; ok is false when there are none
// because of an error reported elsewhere.
func (c *ComponentInstance) outputs(ctx context.Context) (outputs map[string]cty.Value, ok bool) {
	main := c.main
	switch {
	case main.planning != nil && !main.isSelected(ctx, c.addr):
		return c.priorOutputs(), true
	case main.planning != nil && c.isRemoved():
		// Not the plan's: it depends on those who ask here (docs/language.md, section 3.4).
		return c.refreshedOutputs(ctx)
	case main.planning != nil:
		plan := c.Plan(ctx)
		if plan == nil {
			return nil, false
		}
		return plan.Outputs, true
	case main.applying != nil:
		return c.appliedOutputs(ctx), true
	default:
		return c.priorOutputs(), true
	}
}

func hasEphemeralOutputs(module *engine.Module) bool {
	for _, output := range module.Outputs {
		if output.Ephemeral {
			return true
		}
	}
	return false
}

// ephemeralOutputs are the ephemeral results in this phase. Nothing stores them: where the engine
// has not just planned or applied the instance, they are evaluated anew. Those that are not there
// are unknown.
func (c *ComponentInstance) ephemeralOutputs(ctx context.Context) map[string]cty.Value {
	main := c.main
	switch {
	case main.planning != nil && main.isSelected(ctx, c.addr) && !c.isRemoved():
		c.Plan(ctx)
		if planned := c.fleeting.Load(); planned != nil {
			return *planned
		}
		return nil
	case main.planning != nil && main.isSelected(ctx, c.addr) && !main.planning.SkipRefresh:
		if result := c.refresh.Value(ctx, c.refreshAspect); result != nil {
			return result.Ephemeral
		}
		return nil
	case main.applying != nil && main.planFor(c.addr) == nil && !main.isPartial(), main.planning == nil && main.applying == nil:
		return nil
	}
	return c.again.Value(ctx, c.againAspect)
}

// stays reports whether an apply leaves the instance there, so that its results are those of
// afterwards.
func (c *ComponentInstance) stays() bool {
	plan := c.main.planFor(c.addr)
	return plan != nil && plan.Action != stackplan.Delete && plan.Action != stackplan.Forget
}

// againAspect has the ephemeral results of the engine where it has applied something, and otherwise
// evaluates them for the objects that there are, without reading those.
func (c *ComponentInstance) againAspect() memo.Aspect[map[string]cty.Value] {
	return memo.Aspect[map[string]cty.Value]{
		Name: c.addr.String() + " ephemeral results",
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			state := c.priorModule()
			if c.main.applying != nil && c.stays() {
				applied, err := c.main.changes.Await(ctx, c.addr)
				if err != nil || !applied.Complete {
					return nil, nil //nolint:nilerr // reported where it was applied
				}
				if applied.Ephemeral != nil {
					return applied.Ephemeral, nil
				}
				state = applied.Module
			}
			inputs := c.Inputs(ctx)
			providers := c.providers.Value(ctx, c.providersAspect)
			if failedInputs(inputs) || failedProviders(providers) {
				return nil, nil
			}
			result, diags := c.runPlan(ctx, hooks.WorkAgain, &engine.PlanRequest{
				Component: c.addr, ModuleDir: c.use.source.Dir, Mode: engine.RefreshOnly, Inputs: inputs, Providers: providers,
				PriorState: state, SkipRefresh: true, Timestamp: c.main.timestamp(),
			})
			if result == nil || diags.HasErrors() {
				return nil, diags
			}
			return result.Ephemeral, nil // the plan of the instance has the warnings
		},
	}
}

// priorOutputs are the results as the state has them; nil when it has none.
func (c *ComponentInstance) priorOutputs() map[string]cty.Value {
	if prior := c.prior(); prior != nil {
		return prior.Outputs
	}
	return nil
}

// isDeferred reports whether the instance stands for ones not known yet, so that
// nothing of it can be done.
func (c *ComponentInstance) isDeferred() bool { return c.standIn || c.component.stack.standIn }

// isRemoved reports whether the plan destroys or forgets the instance.
func (c *ComponentInstance) isRemoved() bool {
	return c.component.stack.isRemoved()
}

// Inputs are the values of the module's variables.
func (c *ComponentInstance) Inputs(ctx context.Context) map[string]cty.Value {
	return c.inputs.Value(ctx, c.inputsAspect)
}

func (c *ComponentInstance) inputsAspect() memo.Aspect[map[string]cty.Value] {
	return memo.Aspect[map[string]cty.Value]{
		Name: c.addr.String() + " inputs",
		Compute: func(ctx context.Context) (map[string]cty.Value, hcl.Diagnostics) {
			return c.component.config.evalInputs(ctx, c.component.module(ctx), c.main.phase, c.scope)
		},
	}
}

// failedInputs reports whether an input could not be computed, for a reason that is
// reported elsewhere.
func failedInputs(inputs map[string]cty.Value) bool {
	for _, value := range inputs {
		if expr.IsFailed(value) {
			return true
		}
	}
	return false
}
