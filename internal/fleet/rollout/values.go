// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Inputs are values of variables of a unit that others have.
type Inputs struct {
	*wiring.Inputs
	Units map[wiring.Origin]int // which units are referred to, as positions in [Work.Units]
}

// Sources are the files that the values are from, by their names.
func (in *Inputs) Sources() map[string]*hcl.File {
	if in == nil || in.File == nil || len(in.Inputs.Inputs) == 0 {
		return nil
	}
	return map[string]*hcl.File{in.Inputs.Inputs[0].NameRange.Filename: in.File}
}

// Upstream returns the units that a unit has values from, in the order of their numbers.
func (u *Unit) Upstream() []int {
	units := slices.Clone(u.Publishers)
	if u.Inputs != nil {
		units = slices.AppendSeq(units, maps.Values(u.Inputs.Units))
	}
	slices.Sort(units)
	return slices.Compact(units)
}

// wanted are the units whose outputs others of a run have.
func (w *Work) wanted() map[int]bool {
	wanted := map[int]bool{}
	for _, unit := range w.Chosen() {
		for _, other := range w.Units[unit].Upstream() {
			wanted[other] = true
		}
	}
	return wanted
}

// values evaluates the inputs of a unit. They are nil for a unit without any.
func (r *run) values(ctx context.Context, unit int) ([]wiring.Value, hcl.Diagnostics) {
	in := r.Units[unit].Inputs
	if in == nil {
		return nil, nil
	}
	values, diags := in.Values(func(origin wiring.Origin) (wiring.Outputs, error) {
		return r.outputsOf(ctx, in.Units[origin])
	})
	if r.options.Mode == ApplyAll {
		for _, value := range values {
			if !value.Value.IsWhollyKnown() {
				diags = diags.Append(problem.New(problem.BadValue, value.Range.Ptr(), "Input still unknown",
					"The value of %q is not known, although all that it is made of was applied. See which output of these is not known, and why.",
					value.Name))
			}
		}
	}
	return values, diags
}

// outputsOf returns the present outputs of a unit for others. All steps of it that are selected
// have ended.
func (r *run) outputsOf(ctx context.Context, unit int) (wiring.Outputs, error) {
	now := &r.outcome[unit]
	switch {
	case r.options.Mode == Destroy || now.driver == nil: // its outputs are not to change
		return r.storedOutputs(ctx, unit)
	case now.done && now.exported == nil:
		return r.storedOutputs(ctx, unit)
	case now.done:
		return wiring.Outputs{Values: now.exported}, nil
	case now.waits != "":
		return wiring.Outputs{Open: true}, nil
	}
	return now.plan.Outputs, nil
}

// storedOutputs returns the outputs of the last apply.
func (r *run) storedOutputs(ctx context.Context, unit int) (wiring.Outputs, error) {
	return r.stored.Get(ctx, unit, func() (wiring.Outputs, error) {
		release, err := r.reading.take(ctx, &r.Units[unit])
		if err != nil {
			return wiring.Outputs{}, err
		}
		defer release()
		values, found, err := r.options.Open(unit).Outputs(ctx)
		switch {
		case err != nil:
			return wiring.Outputs{}, err
		case !found && r.options.Mode == Destroy: // remaining units are destroyed without them
			return wiring.Outputs{Open: true}, nil
		case !found:
			name := r.Units[unit].Name
			return wiring.Outputs{Missing: fmt.Sprintf("There are no outputs of %s: it was never applied, and is not part of this run. "+
				"Apply it first, or select it, too.", name)}, nil
		}
		return wiring.Outputs{Values: values, Stored: true, Open: r.options.Mode == Destroy && !r.comparing}, nil
	})
}

// waitsFor says which inputs of a root module are not known yet, and which work has to wait for
// them; "" if all are known.
func (r *run) waitsFor(unit int, values []wiring.Value, cannot string) string {
	if r.Units[unit].Kind != Root {
		return ""
	}
	var names []string
	for _, value := range values {
		if !value.Value.IsWhollyKnown() {
			names = append(names, value.Name)
		}
	}
	if len(names) == 0 {
		return ""
	}
	var others []string
	for _, other := range r.Units[unit].Upstream() {
		others = append(others, r.Units[other].Name)
	}
	return fmt.Sprintf("for %s to be applied: %s while %s unknown", strings.Join(others, ", "), cannot, isOrAre(names))
}

func isOrAre(names []string) string {
	if len(names) == 1 {
		return names[0] + " is"
	}
	return strings.Join(names, ", ") + " are"
}

// plan plans a unit, with values that others have.
func (r *run) plan(ctx context.Context, unit int) error {
	now := &r.outcome[unit]
	now.driver = r.options.Open(unit)
	request := driver.PlanRequest{Destroy: r.options.Mode == Destroy, NotToKeep: r.options.Mode == PlanOnly && !r.options.Keep}
	if r.Units[unit].Inputs != nil {
		values, diags := r.values(ctx, unit)
		request.Inputs = func() ([]wiring.Value, hcl.Diagnostics) { return values, diags }
		now.inputs = values
	}
	if r.options.Mode == PlanOnly && len(r.Units[unit].Publishers) > 0 {
		request.Upstream = r.publishedFor(ctx, unit)
	}
	var err error
	now.plan, err = now.driver.Plan(ctx, request)
	if wait, ok := errors.AsType[*rootmodule.WaitError](err); ok && r.options.Mode == PlanOnly {
		now.waits = r.waitsFor(unit, now.inputs, wait.Reason+", and it cannot be planned")
		return nil
	}
	now.changes = err == nil && now.plan.Changes
	if r.options.Mode == PlanOnly {
		now.outputs = now.plan.OutputsChange
	}
	if err == nil && r.options.Planned != nil {
		err = r.options.Planned(Planning{Unit: unit, Driver: now.driver, Plan: now.plan, Inputs: values(now.inputs, now.plan.Taken)})
	}
	now.plan.Details = nil // which are large
	return err
}

// publishedFor returns the values that stacks publish by their plans for a unit, by their
// directories. Stacks after which the unit does not come have none.
func (r *run) publishedFor(ctx context.Context, unit int) map[string]upstream.Published {
	plans := map[string][]operation.PlannedOutputs{}
	publishers := map[string]driver.Publisher{}
	for _, other := range r.Units[unit].Publishers {
		publisher, ok := r.outcome[other].driver.(driver.Publisher)
		if !ok {
			continue // it is not worked on
		}
		u := &r.Units[other]
		outputs, err := r.outputsOf(ctx, other)
		plans[u.Dir] = append(plans[u.Dir], operation.PlannedOutputs{Deployment: u.Deployment, Outputs: outputs.Values, Err: err})
		publishers[u.Dir] = publisher
	}
	all := map[string]upstream.Published{}
	for dir, publisher := range publishers {
		if published, ok := publisher.PublishedBy(ctx, plans[dir]); ok {
			all[dir] = published
		}
	}
	return all
}

// Planning is a plan that was made of a unit.
type Planning struct {
	Unit   int
	Driver driver.Driver
	Plan   driver.Plan
	Inputs map[string]cty.Value // inputs from others, by name, and published values by references. Marks: sensitive
}

func values(inputs []wiring.Value, taken map[string]cty.Value) map[string]cty.Value {
	byName := map[string]cty.Value{}
	maps.Copy(byName, taken)
	for _, input := range inputs {
		byName[input.Name] = input.Value
	}
	return byName
}
