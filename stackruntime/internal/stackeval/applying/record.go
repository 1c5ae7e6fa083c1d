// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// checkpointInterval is how often the state of a component is saved while it is
// being applied. The engine keeps it safe in between ([engine.Session]); writing
// down each of many quick resources would cost more than making them.
const checkpointInterval = time.Second

// checkpoint saves the objects of the instance while it is being applied. Objects that cannot be
// saved now are saved at the end, or reported then.
type checkpoint struct {
	applier *applier
	objects Objects
	last    time.Time // when they were saved
}

func (c *checkpoint) change(ctx context.Context, change *engine.ObjectChange) {
	c.objects.Change(change)
	if time.Since(c.last) < checkpointInterval {
		return
	}
	c.last = time.Now()
	a := c.applier
	state, err := c.objects.State()
	if err != nil {
		return // the engine has reported something that is no object; the whole state, which comes at the end, is read again then
	}
	next := a.newRecord(&Result{Module: state})
	if a.saved != nil {
		next.Outputs = a.saved.Outputs
	}
	if diags := a.op.Save(ctx, StateChange{Before: a.saved, After: next, Interim: true, Stage: stackplan.Begun}); !diags.HasErrors() {
		a.saved = next
	}
}

// record saves the result. The subject is needed only where the instance stays.
func (a *applier) record(ctx context.Context, subject Subject, result *Result) {
	change := StateChange{Before: a.saved, Stage: result.stage}
	gone := a.plan.Complete && ends(a.plan) && !planning.HasObjects(result.Module) && !result.Diags.HasErrors()
	if change.Before == nil && (ends(a.plan) || a.plan.Mode.KeepsObjects()) {
		return // neither looking at a component that was never made nor removing it leaves a trace
	}
	if !gone {
		change.After = a.newRecord(result)
		if !IsDeferred(a.plan) || a.prior() == nil {
			change.After.Inputs = a.knownInputs(subject.RecordInputs(ctx))
		}
	}
	if change.Before == nil && change.After == nil {
		return
	}
	// The engine keeps its own record of the apply until it is acknowledged. That comes after the
	// save, and not at all if the save failed: the record is then the only trace of the objects.
	saveDiags := a.op.Save(ctx, change)
	result.Diags = result.Diags.Extend(saveDiags)
	if result.Diags.HasErrors() {
		result.Complete = false
	}
	if !saveDiags.HasErrors() && result.work != "" {
		if err := a.op.Session.Acknowledge(ctx, result.work); err != nil {
			result.Diags = result.Diags.Append(failure.With(fault.Address{Component: a.plan.Addr}, failure.Warning("Apply leftovers not removed",
				"The state of %s is saved, but the engine's record of the apply could not be removed: %s.", a.plan.Addr, err)))
		}
	}
}

// knownInputs replaces values that are not known by those in the state: the objects of a deferred
// or skipped instance were made with them, and they may be needed to destroy these.
func (a *applier) knownInputs(inputs map[string]cty.Value) map[string]cty.Value {
	prior := a.prior()
	if prior == nil {
		return inputs
	}
	return planning.LastKnown(inputs, prior.Inputs)
}

func (a *applier) newRecord(result *Result) *stackstate.Component {
	record := &stackstate.Component{
		Addr:         a.plan.Addr,
		Dependencies: recordable(a.dependencies(result)),
		Dependents:   recordable(a.op.order.dependents[stackaddrs.ComponentOf(a.plan.Addr)]),
		Outputs:      result.Outputs,
		Module:       result.Module,
	}
	if prior := a.prior(); prior != nil {
		record.Inputs = prior.Inputs
	}
	return record
}

// dependencies are the components that the instance uses after a result. Objects that were not all
// changed may still use those of before.
func (a *applier) dependencies(result *Result) []stackaddrs.AbsComponent {
	if result.Complete && a.plan.Complete {
		return a.plan.Requires
	}
	used := append(slices.Clone(a.plan.Requires), a.op.order.recorded(a.plan)...)
	slices.SortFunc(used, stackaddrs.AbsComponent.Compare)
	return slices.Compact(used)
}

// recordable leaves out the components of stacks that stand for those not known yet. There is
// nothing in them, and no address of a state can name them.
func recordable(addrs []stackaddrs.AbsComponent) []stackaddrs.AbsComponent {
	return slices.DeleteFunc(slices.Clone(addrs), func(addr stackaddrs.AbsComponent) bool {
		return slices.ContainsFunc(addr.Stack.Path(), func(step stackaddrs.StackCallInstance) bool { return step.Key.IsWildcard() })
	})
}
