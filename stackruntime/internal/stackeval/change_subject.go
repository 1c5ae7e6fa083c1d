// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// The subjects of changes of component instances.
var (
	_ applying.Subject = (*ComponentInstance)(nil)
	_ applying.Subject = (*RemovedComponentInstance)(nil)
)

// changeSubject finds the object that the configuration produces for a plan. It is nil if there is
// none, or if it is not known which.
func (m *Main) changeSubject(ctx context.Context, plan *stackplan.Component) (applying.Subject, hcl.Diagnostics) {
	stack, found := m.findStack(ctx, plan.Addr.Stack)
	if found == certaintyFailed {
		return nil, nil // because of an error reported elsewhere
	}
	if stack != nil {
		if subject, found := stack.changeSubject(ctx, plan.Addr); found != certaintyNo {
			return subject, nil
		}
	}
	if applying.IsDeferred(plan) {
		return nil, nil // it was not known which block produces it, and now none does
	}
	return nil, hcl.Diagnostics{failure.With(fault.Address{Component: plan.Addr}, failure.New("Plan does not match the configuration",
		"The plan has changes for %s, which no block of the configuration produces. Make a new plan.", plan.Addr))}
}

// changeSubject finds the object that a component instance comes from. It is nil if that is not
// known.
//
// Removed blocks are asked only if the component block does not say: their targets may depend on
// the instance.
func (s *Stack) changeSubject(ctx context.Context, addr stackaddrs.AbsComponentInstance) (applying.Subject, certainty) {
	name, key := addr.Item.Component.Name, addr.Item.Key
	var instances foreach.Expansion[*ComponentInstance]
	if component := s.components[name]; component != nil {
		instances = component.Instances(ctx)
		if instances.Kind == foreach.Failed {
			return nil, certaintyFailed
		}
		if inst, ok := instances.Instances[key]; ok {
			return inst, certaintyYes
		}
	}
	if removals := s.componentRemovals[name]; removals != nil {
		claims := removals.Claims(ctx)
		if inst := claims.instances[key]; inst != nil {
			return inst, certaintyYes
		}
		if claims.failed {
			return nil, certaintyFailed
		}
	}
	if inst, ok := instances.StandIns[key]; ok {
		return inst, certaintyYes
	}
	return nil, certaintyNo
}

// Arguments implements [applying.Subject].
func (c *ComponentInstance) Arguments(ctx context.Context) (applying.Arguments, bool) {
	inputs := c.Inputs(ctx)
	if plan := c.main.planFor(c.addr); plan.Action == stackplan.Delete && c.prior() != nil {
		inputs = c.destroyInputs(c.plannedInputs(ctx, plan, inputs))
	}
	return c.arguments(ctx, inputs)
}

// plannedInputs replaces values by those that a destroy was planned with: of one that was not known
// then, as the result of uuid(), the last apply's is in the plan. Ephemeral values are in no plan.
func (c *ComponentInstance) plannedInputs(
	ctx context.Context, plan *stackplan.Component, inputs map[string]cty.Value,
) map[string]cty.Value {
	module := c.use.Module(ctx)
	if module == nil || failedInputs(inputs) {
		return inputs
	}
	planned := maps.Clone(inputs)
	for name, value := range plan.Inputs {
		if v := module.Variables[name]; v != nil && !v.Ephemeral && value.IsWhollyKnown() {
			planned[name] = value
		}
	}
	return planned
}

// RecordInputs implements [applying.Subject].
func (c *ComponentInstance) RecordInputs(ctx context.Context) map[string]cty.Value {
	inputs := c.Inputs(ctx)
	if failedInputs(inputs) {
		return nil
	}
	return c.StoredInputs(ctx, inputs)
}

// Arguments implements [applying.Subject].
func (r *RemovedComponentInstance) Arguments(ctx context.Context) (applying.Arguments, bool) {
	module := r.use.Module(ctx)
	if module == nil {
		return applying.Arguments{}, false
	}
	return r.arguments(ctx, r.recordedInputs(module))
}

// RecordInputs implements [applying.Subject].
func (r *RemovedComponentInstance) RecordInputs(context.Context) map[string]cty.Value {
	return r.prior().Inputs
}

// arguments are inputs with the provider configurations to apply with. It returns false if
// something of that could not be computed.
func (i *managedInstance) arguments(ctx context.Context, inputs map[string]cty.Value) (applying.Arguments, bool) {
	providers := i.providers.Value(ctx, i.providersAspect)
	arguments := applying.Arguments{ModuleDir: i.use.source.Dir, Inputs: inputs, Providers: providers}
	return arguments, !failedInputs(inputs) && !failedProviders(providers)
}
