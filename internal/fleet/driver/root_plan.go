// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// takePlan keeps and shows the plan that was just made, and returns the numbers of its changes.
// Nothing is known of a file that only its engine can read, since it is encrypted.
func (w *rootWork) takePlan(ctx context.Context) (counts *stackplan.Counts, err error) {
	counts, err = w.decodePlan(ctx)
	if err != nil {
		return nil, err
	}
	return counts, w.showPlan(ctx)
}

// decodePlan keeps the plan in the file, as far as it can be read.
func (w *rootWork) decodePlan(ctx context.Context) (counts *stackplan.Counts, err error) {
	file, err := os.ReadFile(w.enginePlan())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	if plan, err := planfile.Read(file, planfile.Options{}); err == nil {
		if w.latch != nil {
			withoutGenerated(plan)
		}
		w.keepsOutputs = keepsOutputs(plan)
		w.plan = modulePlan(plan)
		all := w.plan.Counts()
		counts = &all
		if needsSchemas(plan) {
			w.plan = w.planBySchemas(ctx, file)
		}
	}
	return counts, nil
}

// readPlan returns a plan that was made before. One that nobody else can read may have changes.
func (w *rootWork) readPlan(ctx context.Context) Plan {
	plan := Plan{Changes: true, Complete: true, Outputs: wiring.Outputs{Open: true}}
	counts, err := w.decodePlan(ctx)
	if err != nil || w.plan == nil {
		return plan
	}
	plan.Changes, plan.Counts = !w.plan.IsEmpty(), counts
	plan.Outputs, plan.OutputsChange = plannedOutputs(w.plan)
	plan.Details = w.plan
	return plan
}

// showPlan shows the plan, which the engine does itself if nobody else can read it.
func (w *rootWork) showPlan(ctx context.Context) error {
	if w.plan == nil {
		return w.printing(ctx, []string{"show", w.enginePlan()})
	}
	return w.view.Plan(w.plan, w.diags)
}

// planBySchemas decodes a plan by the schemas of its providers; nil if they are not to be had.
// Without them, values would be shown that only schemas call sensitive.
func (w *rootWork) planBySchemas(ctx context.Context, file []byte) *stackplan.Plan {
	e, err := binary.New(ctx, binary.Options{
		Binary: w.Engine, WorkDir: w.WorkDir, SchemaDir: w.SchemaDir, Shared: w.Shared, Environ: w.opts.Environ, Dir: w.opts.Dir,
	})
	if err != nil {
		return nil
	}
	plan, err := e.ReadRootPlan(ctx, w.dir(), file)
	if err != nil {
		return nil
	}
	if w.latch != nil {
		withoutGenerated(plan)
	}
	return modulePlan(plan)
}

// withoutGenerated removes the generated parts of the copy from a plan that was made in a working
// copy.
func withoutGenerated(plan *planfile.Plan) {
	maps.DeleteFunc(plan.Outputs, func(name string, _ *planfile.OutputChange) bool { return workcopy.IsGeneratedOutput(name) })
	plan.Checks = workcopy.PlannedChecks(plan.Checks)
}

// needsSchemas reports whether there is something to show that is not of the builtin provider,
// whose values carry their types.
func needsSchemas(plan *planfile.Plan) bool {
	shown := func(c *engine.Change) bool {
		return !c.Provider.IsBuiltin() && (stackplan.IsChange(c) || stackplan.IsDrift(c))
	}
	return slices.ContainsFunc(plan.ResourceChanges, shown) || slices.ContainsFunc(plan.ResourceDrift, shown) ||
		slices.ContainsFunc(plan.DeferredChanges, func(d engine.DeferredChange) bool { return !d.Change.Provider.IsBuiltin() })
}

// keepsOutputs reports whether a plan is known to leave all outputs as they are.
func keepsOutputs(plan *planfile.Plan) bool {
	for _, output := range plan.Outputs {
		if !output.After.RawEquals(output.Before) {
			return false
		}
	}
	return true
}

var planModes = map[planfile.Mode]engine.Mode{planfile.ModeDestroy: engine.Destroy, planfile.ModeRefreshOnly: engine.RefreshOnly}

// modulePlan returns a plan as that of a stack with nothing but the module.
func modulePlan(plan *planfile.Plan) *stackplan.Plan {
	mode := planModes[plan.Mode]
	result := &stackplan.Plan{
		Mode: mode, Applyable: true, Complete: true, Timestamp: plan.Timestamp, Outputs: map[string]*stackplan.OutputChange{},
		Components: []*stackplan.Component{{
			Action: stackplan.NoOp, Mode: mode, Applyable: true, Complete: true,
			Changes: plan.ResourceChanges, Drift: plan.ResourceDrift, Deferred: plan.DeferredChanges, Checks: plan.Checks,
		}},
	}
	for name, output := range plan.Outputs {
		change := &stackplan.OutputChange{Action: outputActions[output.Action], Before: output.Before, After: output.After}
		if output.Sensitive {
			change.Before, change.After = change.Before.Mark(marks.Sensitive), change.After.Mark(marks.Sensitive)
		}
		result.Outputs[name] = change
	}
	return result
}

var outputActions = map[engine.Action]stackplan.Action{
	engine.ActionCreate: stackplan.Create, engine.ActionUpdate: stackplan.Update, engine.ActionDelete: stackplan.Delete, engine.ActionNoOp: stackplan.NoOp,
}

// tally counts the changes of an apply, by its events.
type tally struct {
	applied RootApplied
	outputs map[string]runner.Output
}

func (t *tally) event(ev runner.Event) {
	switch ev.Type {
	case runner.EventOutputs:
		t.outputs = ev.Outputs
	case runner.EventApplyComplete:
		if ev.Hook != nil {
			t.count(ev.Hook.Action)
		}
	}
}

func (t *tally) count(action string) {
	switch action {
	case "create":
		t.applied.Counts.Add++
	case "update":
		t.applied.Counts.Change++
	case "delete":
		t.applied.Counts.Remove++
	}
}

// of returns the result of an apply that has ended. The engine's own numbers, which only come at
// the end of one without errors, also count changes without an event.
func (t *tally) of(result *runner.Result) RootApplied {
	done := t.applied
	done.Failed = result.Outcome != runner.OutcomeSucceeded
	done.Interrupted = done.Failed && result.Interrupted
	if done.Failed {
		return done
	}
	if n := result.Summary; n != nil {
		done.Counts = stackplan.Counts{Add: n.Add, Change: n.Change, Remove: n.Remove, Import: n.Import, Forget: n.Forget}
	}
	done.Outputs = map[string]cty.Value{}
	for name, output := range t.outputs {
		if workcopy.IsGeneratedOutput(name) {
			continue
		}
		done.Outputs[name] = outputValue(output)
	}
	return done
}

// outputValue returns the value of an output as it was reported. One that is sensitive was not.
func outputValue(output runner.Output) cty.Value {
	if output.Sensitive {
		return cty.DynamicVal.Mark(marks.Sensitive)
	}
	ty, err := ctyjson.UnmarshalType(output.Type)
	if err != nil {
		return cty.DynamicVal
	}
	value, err := ctyjson.Unmarshal(output.Value, ty)
	if err != nil {
		return cty.DynamicVal
	}
	return value
}
