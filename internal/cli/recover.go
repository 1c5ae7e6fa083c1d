// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/tfengine"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// recover saves what applies have done whose program was killed, and says so.
func (o *operation) recover(ctx context.Context) hcl.Diagnostics {
	found, err := o.engine.Recover(ctx)
	diags := errorDiagnostics(err)
	if len(found) == 0 {
		return diags
	}
	if o.stored.lock == nil { // nothing was to be changed until now
		locked, err := o.lockState(ctx, "recover")
		if err != nil {
			return diags.Extend(keep(found)).Extend(asDiagnostics(err))
		}
		o.stored = locked
	}
	state := o.stored.State.With(func(state *stackstate.State) {
		for _, recovered := range found {
			diags = diags.Extend(recovered.Diagnostics)
			diags = diags.Extend(o.recoverComponent(ctx, state, recovered))
		}
	})
	if diags.HasErrors() {
		return diags.Extend(keep(found))
	}
	if err := o.stored.change(ctx, "recover", state); err != nil {
		return diags.Extend(keep(found)).Extend(asDiagnostics(err))
	}
	for _, recovered := range found {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagWarning,
			Summary:  "Interrupted apply recovered",
			Detail:   "An earlier apply of " + recovered.Component + " was cut off. What it had done until then is now saved in the state.",
		})
		if err := recovered.Done(); err != nil {
			diags = diags.Extend(asDiagnostics(err))
		}
	}
	o.stored.State = state
	return diags
}

func keep(found []*tfengine.Recovered) hcl.Diagnostics {
	var errs []error
	for _, recovered := range found {
		errs = append(errs, recovered.Keep())
	}
	return errorDiagnostics(errors.Join(errs...))
}

// recoverComponent puts the state of a module into the state of the stack.
func (o *operation) recoverComponent(ctx context.Context, state *stackstate.State, recovered *tfengine.Recovered) hcl.Diagnostics {
	addr, err := stackaddrs.ParseAbsComponentInstance(recovered.Component)
	if err != nil {
		return asDiagnostics(err)
	}
	hasObjects, err := stackstate.HasObjects(recovered.State)
	if err != nil {
		return asDiagnostics(err)
	}
	if !hasObjects && recovered.Mode == engine.Destroy {
		delete(state.Components, addr)
		return nil
	}
	var component stackstate.Component
	if known := state.Components[addr]; known != nil {
		component = *known
	} else {
		component = stackstate.Component{Addr: addr}
		component.Dependencies, component.Dependents = o.neighbours(ctx, stackaddrs.ComponentOf(addr))
	}
	component.Module = recovered.State
	state.Components[addr] = &component
	return nil
}

// neighbours returns what a component requires, and what requires it, by the configuration.
func (o *operation) neighbours(ctx context.Context, of stackaddrs.AbsComponent) (dependencies, dependents []stackaddrs.AbsComponent) {
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: o.opts, State: o.stored.State})
	graph := inspector.ComponentGraph(ctx)
	for component, requires := range graph {
		if slices.Contains(requires, of) {
			dependents = append(dependents, component)
		}
	}
	slices.SortFunc(dependents, stackaddrs.AbsComponent.Compare)
	return graph[of], dependents
}
