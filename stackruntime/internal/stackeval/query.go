// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
)

// NewForQuerying returns the root of an evaluation that has a component queried. It is that of a
// plan that leaves out all components, whose results are then those of the prior state.
func NewForQuerying(opts Options, planning PlanOptions) *Main {
	m := NewForPlanning(opts, planning)
	m.querying = true
	return m
}

// QueryComponent has the engine find the objects that the query files of a component's module ask
// for. With error diagnostics the result may be nil.
func (m *Main) QueryComponent(
	ctx context.Context, addr stackaddrs.AbsComponentInstance, generate bool,
) (*engine.QueryResult, hcl.Diagnostics) {
	result, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (*engine.QueryResult, hcl.Diagnostics) {
		diags := m.walkStatic(ctx, &walker{})
		if m.panics.Any() || diags.HasErrors() {
			return nil, diags
		}
		_, moreDiags := m.followMoves()
		if diags = diags.Extend(moreDiags); moreDiags.HasErrors() {
			return nil, diags
		}
		inst, moreDiags := m.instanceToQuery(ctx, addr)
		diags = diags.Extend(moreDiags)
		if inst == nil {
			return nil, m.explainCycles(diags)
		}
		result, moreDiags := inst.query(ctx, generate)
		if diags = diags.Extend(moreDiags); result == nil && !diags.HasErrors() && maintask.StopContext(ctx).Err() == nil {
			_, moreDiags := m.walkPlan(ctx) // the reason is in something that the component depends on
			if diags = diags.Extend(moreDiags); !diags.HasErrors() {
				diags = diags.Append(diagnostics.Bug("Internal evaluation error", "The query of %s has no result.", addr))
			}
		}
		return result, m.explainCycles(diags)
	})
	if ctx.Err() != nil {
		diags = diags.Append(interrupted(ctx, "queried"))
	}
	return result, diags
}

// instanceToQuery finds a component instance; nil with errors.
func (m *Main) instanceToQuery(ctx context.Context, addr stackaddrs.AbsComponentInstance) (*ComponentInstance, hcl.Diagnostics) {
	component := m.component(ctx, stackaddrs.ComponentOf(addr))
	if component == nil {
		return nil, hcl.Diagnostics{failure.New("No such component", "The configuration has no %s.%s", addr, m.meantComponent(ctx, addr))}
	}
	instances, diags := component.CheckInstances(ctx)
	if inst := instances.Instances[addr.Item.Key]; inst != nil {
		return inst, diags
	}
	switch {
	case instances.Kind == foreach.Failed:
		return nil, diags
	case instances.Kind == foreach.Unknown:
		return nil, diags.Append(failure.At(component.config.decl.Range, "Undetermined component instances", "The instances of %s depend on "+
			"values that are known after apply only. Apply the components that they come from first, then query.", component.addr))
	case instances.Kind == foreach.Keyed && addr.Item.Key == stackaddrs.NoKey:
		var names []string
		for _, inst := range instances.InOrder() {
			names = append(names, inst.addr.String())
		}
		return nil, diags.Append(failure.New("Component instance not named", "%s has for_each, and a query is about one of its instances: %s.",
			component.addr, strings.Join(names, ", ")))
	}
	return nil, diags.Append(failure.New("No such component", "The configuration has no %s.%s", addr, m.meantComponent(ctx, addr)))
}

// query has the engine query the instance. Without errors the result is nil if the inputs or the
// provider configurations could not be evaluated, for a reason that other objects report.
func (c *ComponentInstance) query(ctx context.Context, generate bool) (*engine.QueryResult, hcl.Diagnostics) {
	inputs, diags := c.inputs.Check(ctx, c.inputsAspect)
	providers, moreDiags := c.providers.Check(ctx, c.providersAspect)
	diags = diags.Extend(moreDiags)
	if c.component.module(ctx) == nil || diags.HasErrors() || failedInputs(inputs) || failedProviders(providers) {
		return nil, diags
	}
	querier := c.main.session.Abilities().Querier
	if querier == nil {
		info := c.main.session.Info()
		return nil, diags.Append(failure.With(fault.QueryUnsupported, failure.New("Engine without queries",
			"The engine %s %s cannot query the module of %s.", info.Name, info.Version, c.addr)))
	}
	piece := c.main.works.Piece(hooks.WorkQuery, c.addr)
	req := &engine.QueryRequest{
		Work: piece.ID, Component: c.addr, ModuleDir: c.use.source.Dir, Inputs: inputs, Providers: providers,
		Generate: generate,
	}
	var result *engine.QueryResult
	began := c.main.works.Run(ctx, piece, func(ctx context.Context, began func() bool) hcl.Diagnostics {
		result, moreDiags = querier.Query(ctx, req, func(event engine.Event) {
			if event.Type == engine.WorkBegan {
				began()
			}
		})
		return moreDiags
	})
	if !began {
		return nil, diags // reported for the whole operation
	}
	return result, diags.Extend(c.EngineDiagnostics(ctx, moreDiags))
}
