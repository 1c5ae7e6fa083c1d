// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"context"
	"errors"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// readPlan reads the plan in the file of the engine. Nothing is known of one that only its engine
// can read, since it is encrypted: it may have changes.
func (w *Work) readPlan(ctx context.Context) (*Plan, error) {
	file, err := os.ReadFile(w.enginePlan())
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	read, err := decodePlan(file, w.latch != nil)
	if err != nil {
		return &Plan{Changes: true, OutputsChange: true}, nil //nolint:nilerr // see above
	}
	plan := newPlan(read.Plan)
	if read.Private {
		plan.Details = w.planBySchemas(ctx, file)
	}
	return plan, nil
}

func newPlan(details *stackplan.Plan) *Plan {
	counts := details.Counts()
	plan := &Plan{Changes: !details.IsEmpty(), Counts: &counts, Details: details}
	for _, output := range details.Outputs {
		plan.OutputsChange = plan.OutputsChange || output.Action != stackplan.NoOp
	}
	return plan
}

// decodePlan decodes a plan file of the engine without schemas.
func decodePlan(file []byte, inCopy bool) (SavedPlan, error) {
	read, err := planfile.Read(file, planfile.Options{})
	if err != nil {
		return SavedPlan{}, err
	}
	return SavedPlan{modulePlan(read, inCopy), needsSchemas(read)}, nil
}

// planBySchemas decodes a plan by the schemas of its providers; nil if they are not to be had.
// Without them, values would be shown that only schemas call sensitive.
func (w *Work) planBySchemas(ctx context.Context, file []byte) *stackplan.Plan {
	e, err := binary.New(ctx, binary.Options{
		Binary: w.engine.Path, WorkDir: w.engine.WorkDir, SchemaDir: w.engine.SchemaDir, Shared: w.engine.Shared,
		Environ: w.opts.Environ, Dir: w.opts.Dir,
	})
	if err != nil {
		return nil
	}
	plan, err := e.ReadRootPlan(ctx, w.dir(), file)
	if err != nil {
		return nil
	}
	return modulePlan(plan, w.latch != nil)
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

var planModes = map[planfile.Mode]engine.Mode{planfile.ModeDestroy: engine.Destroy, planfile.ModeRefreshOnly: engine.RefreshOnly}

// modulePlan returns a plan as that of a stack with nothing but the module. The generated parts of
// a working copy are not in it.
func modulePlan(plan *planfile.Plan, inCopy bool) *stackplan.Plan {
	if inCopy {
		maps.DeleteFunc(plan.Outputs, func(name string, _ *planfile.OutputChange) bool { return workcopy.IsGeneratedOutput(name) })
		plan.Checks = workcopy.PlannedChecks(plan.Checks)
	}
	result := planOf(planModes[plan.Mode], plan.Timestamp, stackplan.Component{
		Changes: plan.ResourceChanges, Drift: plan.ResourceDrift, Deferred: plan.DeferredChanges, Checks: plan.Checks,
	})
	for name, output := range plan.Outputs {
		change := &stackplan.OutputChange{Action: outputActions[output.Action], Before: output.Before, After: output.After}
		if output.Sensitive {
			change.Before, change.After = change.Before.Mark(marks.Sensitive), change.After.Mark(marks.Sensitive)
		}
		result.Outputs[name] = change
	}
	return result
}

// planOf returns the plan of a stack with nothing but a module, without outputs.
func planOf(mode engine.Mode, timestamp time.Time, module stackplan.Component) *stackplan.Plan {
	module.Action, module.Mode, module.Applyable, module.Complete = stackplan.NoOp, mode, true, true
	return &stackplan.Plan{
		Mode: mode, Applyable: true, Complete: true, Timestamp: timestamp,
		Outputs: map[string]*stackplan.OutputChange{}, Components: []*stackplan.Component{&module},
	}
}

var outputActions = map[engine.Action]stackplan.Action{
	engine.ActionCreate: stackplan.Create, engine.ActionUpdate: stackplan.Update,
	engine.ActionDelete: stackplan.Delete, engine.ActionNoOp: stackplan.NoOp,
}

// tally counts the changes of an apply, by its events.
type tally struct {
	applied Applied
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
func (t *tally) of(result *runner.Result) Applied {
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

// outputValue returns the value of an output as it was reported, and one that is not known if that
// is not understood. The value of one that is sensitive was not reported.
func outputValue(output runner.Output) cty.Value {
	if output.Sensitive {
		return cty.DynamicVal.Mark(marks.Sensitive)
	}
	value, err := decodeOutput(output)
	if err != nil {
		return cty.DynamicVal
	}
	return value
}

func decodeOutput(output runner.Output) (cty.Value, error) {
	ty, err := ctyjson.UnmarshalType(output.Type)
	if err != nil {
		return cty.NilVal, err
	}
	return ctyjson.Unmarshal(output.Value, ty)
}
