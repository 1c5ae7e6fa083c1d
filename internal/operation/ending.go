// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"
	"maps"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// ending is the end of the apply of a plan: what it writes besides its components.
type ending struct {
	run    *run
	plan   *stackplan.Plan
	inputs variables.Given
	after  *stackstate.State // as the apply has left it
	failed bool              // not all was done

	diags hcl.Diagnostics // of the latest try
}

// finish ends the apply.
func (e *ending) finish(ctx context.Context, saver *deployment.Saver) error {
	if !e.failed {
		defer e.run.publishing()()
	}
	saver.EndWith(e.records)
	return saver.Finish(ctx)
}

// records implements [deployment.Ending].
func (e *ending) records(ctx context.Context, now *deployment.Stored, overtaken bool) (map[string][]byte, error) {
	e.diags = nil
	state, records := e.after, map[string][]byte{}
	if overtaken {
		change := e.values(ctx, now.State)
		var err error
		if records, err = change.Records(); err != nil {
			return nil, err
		}
		state = now.State.With(func(state *stackstate.State) { set(state.Outputs, change.Outputs) })
	}
	if e.failed {
		return records, nil
	}
	kept, diags := e.run.keptRecords(ctx, now, state)
	e.diags = diags
	maps.Copy(records, kept)
	return records, nil
}

// values returns the root values that the plan changes in a state that others have changed, too.
// Outputs that cannot be evaluated stay.
func (e *ending) values(ctx context.Context, state *stackstate.State) stackruntime.StateChange {
	change := stackruntime.StateChange{Inputs: map[string]cty.Value{}, Outputs: map[string]cty.Value{}}
	inputs := maps.Clone(state.Inputs)
	for name, planned := range e.plan.Inputs {
		value, known := e.after.Inputs[name]
		switch {
		case planned.Action == stackplan.NoOp && !planned.RequiredOnApply:
		case known:
			change.Inputs[name], inputs[name] = value, value
		default:
			change.Inputs[name] = cty.NilVal
			delete(inputs, name)
		}
		if given, ok := e.inputs.Values[name]; ok { // such as that of an ephemeral one, which no state has
			inputs[name] = given
		}
	}
	evaluated := stackruntime.Inspect(stackruntime.InspectRequest{Options: e.run.runtime, State: state, Inputs: inputs}).RootOutputs(ctx)
	for name, planned := range e.plan.Outputs {
		value, ok := evaluated[name]
		_, declared := e.run.runtime.Config.Root.Outputs[name]
		switch {
		case planned.Action == stackplan.Delete || !declared:
			change.Outputs[name] = cty.NilVal
		case ok && value.IsWhollyKnown():
			change.Outputs[name] = value
		}
	}
	return change
}

// set changes root values. [cty.NilVal] removes one.
func set(values, changes map[string]cty.Value) {
	for name, value := range changes {
		if value == cty.NilVal {
			delete(values, name)
			continue
		}
		values[name] = value
	}
}
