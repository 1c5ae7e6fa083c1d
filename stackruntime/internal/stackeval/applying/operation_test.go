// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/promising/changeexec"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/work"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// An operation in these tests is a bench: an engine, a configuration and a place for states, which
// write down the requests they get.
type bench struct {
	engine.Session // nil: methods that are not replaced are not called

	t       *testing.T
	mu      sync.Mutex // guards the log and the status of components
	log     []string
	objects string                // in states that the engine makes
	fails   map[string]string     // summaries of errors, by component
	apply   func(engine.Observer) // while a component is applied
	room    time.Duration         // until there is some for a component
	rest    []*engine.Change      // of plans that are made again
	noBlock bool                  // no block produces any component
	cannot  error                 // why nothing can be saved
}

func (b *bench) note(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.log = append(b.log, fmt.Sprintf(format, args...))
}

func (b *bench) Plan(_ context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	observe(engine.Event{Type: engine.WorkBegan})
	b.note("plan %s %v", req.Component, req.Replace)
	changes := b.rest
	if len(req.Replace) > 0 {
		changes = []*engine.Change{
			{Addr: resource(b.t, "x.a"), Action: engine.ActionDeleteThenCreate, Before: object("old"), After: cty.DynamicVal},
		}
	}
	return &engine.PlanResult{Applyable: true, Complete: true, Plan: []byte("rest"), Changes: changes}, nil
}

func (b *bench) Apply(_ context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	time.Sleep(b.room) //nolint:forbidigo // virtual time, where it is not 0
	observe(engine.Event{Type: engine.WorkBegan})
	b.note("apply %s %s", req.Component, req.Planned.Plan)
	if b.apply != nil {
		b.apply(observe)
	}
	result := &engine.ApplyResult{State: state(b.objects), Outputs: map[string]cty.Value{"o": cty.StringVal("made")}}
	if summary := b.fails[req.Component.String()]; summary != "" {
		return result, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: summary}}
	}
	return result, nil
}

func (b *bench) Acknowledge(_ context.Context, work engine.WorkID) error {
	b.note("acknowledge %s", work)
	return nil
}

func (b *bench) Stop(context.Context, engine.WorkID, engine.Urgency) error { return nil }

func (b *bench) save(_ context.Context, change StateChange) hcl.Diagnostics {
	what, addr := "drop", stackaddrs.AbsComponentInstance{}
	if change.Before != nil {
		addr = change.Before.Addr
	}
	if change.After != nil {
		what, addr = "save", change.After.Addr
	}
	b.note("%s", strings.TrimSpace(fmt.Sprintf("%s %s %s", what, addr, change.Stage)))
	if b.cannot != nil {
		return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: b.cannot.Error()}}
	}
	return nil
}

// subject is a block of the configuration.
type subject struct{ *bench }

func (subject) Arguments(context.Context) (Arguments, bool) {
	return Arguments{}, true
}

func (subject) StoredInputs(context.Context, map[string]cty.Value) map[string]cty.Value { return nil }

func (subject) RecordInputs(context.Context) map[string]cty.Value { return nil }

func (subject) EngineDiagnostics(_ context.Context, diags hcl.Diagnostics) hcl.Diagnostics {
	return diags
}

func object(id string) cty.Value { return cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal(id)}) }

// state is a state with a resource if there is an ID for it.
func state(id string) engine.State {
	if id == "" {
		return nil
	}
	return engine.State(fmt.Sprintf(`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[
		{"mode":"managed","type":"x","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[{"schema_version":0,"attributes":{"id":%q}}]}]}`, id))
}

func instance(t *testing.T, name string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance("component." + name)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// run applies a plan, and returns the status of each component.
func (b *bench) run(ctx context.Context, op Operation) (map[string]hooks.Status, hcl.Diagnostics) {
	b.t.Helper()
	status := map[string]hooks.Status{}
	op.Session, op.Works, op.Save = b, work.NewOperation(work.Options{Name: "1", Session: b}), b.save
	op.Hooks.ComponentStatus = func(addr stackaddrs.AbsComponentInstance, s hooks.Status) {
		b.mu.Lock()
		defer b.mu.Unlock()
		status[addr.Item.Component.Name] = s
	}
	op.Subject = func(context.Context, *stackplan.Component) (Subject, hcl.Diagnostics) {
		if b.noBlock {
			return nil, hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "No block"}}
		}
		return subject{b}, nil
	}
	if op.Prior == nil {
		op.Prior = stackstate.New()
	}
	var panics maintask.Panics
	_, diags := maintask.Run(ctx, &panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		var diags hcl.Diagnostics
		results := changeexec.ChangeExec(ctx, op.Begin)
		for _, plan := range op.Plan.Components {
			result, err := results.Await(ctx, plan.Addr)
			if err != nil {
				b.t.Error(err)
				continue
			}
			diags = diags.Extend(result.Diags)
		}
		return struct{}{}, diags
	})
	return status, diags
}

func (b *bench) component(name string, action stackplan.Action, requires ...string) *stackplan.Component {
	b.t.Helper()
	c := &stackplan.Component{Addr: instance(b.t, name), Action: action, Complete: true, EnginePlan: []byte("plan")}
	for _, required := range requires {
		c.Requires = append(c.Requires, stackaddrs.ComponentOf(instance(b.t, required)))
	}
	return c
}

func (b *bench) prior(ids map[string]string) *stackstate.State {
	prior := stackstate.New()
	for name, id := range ids {
		addr := instance(b.t, name)
		prior.Components[addr] = &stackstate.Component{Addr: addr, Module: state(id)}
	}
	return prior
}

func (b *bench) check(name string, diags hcl.Diagnostics, wantDiags string, want ...string) {
	b.t.Helper()
	var summaries []string
	for _, diag := range diags {
		summaries = append(summaries, diag.Summary)
	}
	if got := strings.Join(summaries, ", "); got != wantDiags {
		b.t.Errorf("%s: diagnostics %q, want %q", name, got, wantDiags)
	}
	if diff := cmp.Diff(want, b.log); diff != "" {
		b.t.Errorf("%s: what was done (-want +got):\n%s", name, diff)
	}
}

func TestApplyInOrder(t *testing.T) {
	b := &bench{t: t, objects: "new"}
	plan := &stackplan.Plan{Components: []*stackplan.Component{b.component("a", stackplan.Create, "b"), b.component("b", stackplan.Create)}}
	status, diags := b.run(t.Context(), Operation{Plan: plan})
	b.check("apply", diags, "",
		"apply component.b plan", "save component.b done", "acknowledge 1/apply/component.b",
		"apply component.a plan", "save component.a done", "acknowledge 1/apply/component.a")
	if status["a"] != hooks.Applied || status["b"] != hooks.Applied {
		t.Errorf("status: %v", status)
	}
}

// Dependents of a failed component are skipped, and a partial result is saved as begun.
func TestFailure(t *testing.T) {
	b := &bench{t: t, objects: "new", fails: map[string]string{"component.b": "It failed"}}
	plan := &stackplan.Plan{Components: []*stackplan.Component{b.component("a", stackplan.Update, "b"), b.component("b", stackplan.Create)}}
	status, diags := b.run(t.Context(), Operation{Plan: plan, Prior: b.prior(map[string]string{"a": "old"})})
	b.check("apply", diags, "It failed",
		"apply component.b plan", "save component.b begun", "acknowledge 1/apply/component.b", "save component.a")
	if status["a"] != hooks.Skipped || status["b"] != hooks.Failed {
		t.Errorf("status: %v", status)
	}
}

// A result that could not be saved is not acknowledged: the engine has it still.
func TestNotSaved(t *testing.T) {
	b := &bench{t: t, objects: "new", cannot: errors.New("Disk full")}
	status, diags := b.run(t.Context(), Operation{
		Plan: &stackplan.Plan{Components: []*stackplan.Component{b.component("a", stackplan.Create)}},
	})
	b.check("apply", diags, "Disk full", "apply component.a plan", "save component.a done")
	if status["a"] != hooks.Failed {
		t.Errorf("status: %v", status)
	}
}

func TestEnd(t *testing.T) {
	for name, test := range map[string]struct {
		prior, left string // IDs of the resource before and after
		noBlock     bool
		engine      bool
		says        string
		want        []string
	}{
		"destroyed": {
			"old",
			"",
			false,
			true,
			"",
			[]string{"apply component.a plan", "drop component.a done", "acknowledge 1/apply/component.a"},
		},
		"not all destroyed": {
			"old",
			"left",
			false,
			true,
			"",
			[]string{"apply component.a plan", "save component.a done", "acknowledge 1/apply/component.a"},
		},
		"of nothing":                {"", "", false, false, "", []string{"drop component.a"}},
		"of nothing, by no block":   {"", "", true, false, "", []string{"drop component.a"}},
		"of something, by no block": {"old", "", true, true, "No block", nil},
	} {
		b := &bench{t: t, objects: test.left, noBlock: test.noBlock}
		c := b.component("a", stackplan.Delete)
		if !test.engine {
			c.EnginePlan = nil
		}
		_, diags := b.run(t.Context(), Operation{
			Plan:  &stackplan.Plan{Components: []*stackplan.Component{c}},
			Prior: b.prior(map[string]string{"a": test.prior}),
		})
		b.check(name, diags, test.says, test.want...)
	}
}

// Without a change for the engine, the refreshed state of the plan is kept. Deferred instances stay
// as they are.
func TestNothingToApply(t *testing.T) {
	b := &bench{t: t}
	kept, deferred := b.component("a", stackplan.Read), b.component("b", stackplan.Update)
	kept.EnginePlan, deferred.EnginePlan, deferred.Complete = nil, nil, false
	plan := &stackplan.Plan{Components: []*stackplan.Component{kept, deferred}}
	status, diags := b.run(t.Context(), Operation{Plan: plan, Prior: b.prior(map[string]string{"a": "old", "b": "old"})})
	slices.Sort(b.log)
	b.check("apply", diags, "", "save component.a", "save component.b")
	if status["a"] != hooks.Applied || status["b"] != hooks.Deferred {
		t.Errorf("status: %v", status)
	}
}

// While a component is applied, its state is saved at most once a second.
func TestCheckpoints(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, objects: "new"}
		b.apply = func(observe engine.Observer) {
			changed := engine.Event{Type: engine.ObjectChanged, Object: &engine.ObjectChange{Addr: resource(t, "x.a")}}
			for range 3 {
				time.Sleep(600 * time.Millisecond) //nolint:forbidigo // virtual time
				observe(changed)
			}
		}
		_, diags := b.run(t.Context(), Operation{Plan: &stackplan.Plan{Components: []*stackplan.Component{b.component("a", stackplan.Create)}}})
		b.check("apply", diags, "", "apply component.a plan", "save component.a begun", "save component.a done",
			"acknowledge 1/apply/component.a")
	})
}

// Waiting until there is room for a component is no time in which it was applied.
func TestNoCheckpointForWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &bench{t: t, objects: "new", room: 5 * time.Second}
		b.apply = func(observe engine.Observer) {
			observe(engine.Event{Type: engine.ObjectChanged, Object: &engine.ObjectChange{Addr: resource(t, "x.a")}})
		}
		_, diags := b.run(t.Context(), Operation{Plan: &stackplan.Plan{Components: []*stackplan.Component{b.component("a", stackplan.Create)}}})
		b.check("apply", diags, "", "apply component.a plan", "save component.a done", "acknowledge 1/apply/component.a")
	})
}

func TestGoOn(t *testing.T) {
	replaced := &engine.Change{Addr: resource(t, "x.a"), Action: engine.ActionDeleteThenCreate, Before: object("old"), After: cty.DynamicVal}
	unchanged := func(id string) []*engine.Change {
		return []*engine.Change{{Addr: resource(t, "x.a"), Action: engine.ActionNoOp, Before: object(id), After: object(id)}}
	}
	applied := []string{"apply component.a rest", "save component.a done", "acknowledge 1/apply/component.a"}
	for name, test := range map[string]struct {
		stage stackplan.Stage
		rest  []*engine.Change
		says  string
		want  []string
	}{
		"done": {stackplan.Done, nil, "", nil},
		"still to replace": {
			stackplan.Begun,
			unchanged("old"),
			"",
			append([]string{"plan component.a []", "plan component.a [x.a]"}, applied...),
		},
		"replaced":           {stackplan.Begun, unchanged("new"), "", []string{"plan component.a []", "save component.a done"}},
		"replaced by itself": {stackplan.Begun, []*engine.Change{replaced}, "", append([]string{"plan component.a []"}, applied...)},
		"another change": {
			stackplan.Begun,
			[]*engine.Change{
				{Addr: resource(t, "x.b"), Action: engine.ActionCreate, Before: cty.NullVal(cty.DynamicPseudoType), After: object("b")},
			},
			"Stale plan",
			[]string{"plan component.a []", "save component.a"},
		},
	} {
		b := &bench{t: t, objects: "new", rest: test.rest}
		c := b.component("a", stackplan.Update)
		c.Changes = []*engine.Change{replaced}
		_, diags := b.run(t.Context(), Operation{
			Plan: &stackplan.Plan{Components: []*stackplan.Component{c}}, Prior: b.prior(map[string]string{"a": "old"}),
			Progress: stackplan.Progress{c.Addr: test.stage},
		})
		b.check(name, diags, test.says, test.want...)
	}
}

// An interrupt lets nothing begin, and running work comes to its end.
func TestInterrupt(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	b := &bench{t: t, objects: "new", fails: map[string]string{"component.b": "Interrupted"}}
	b.apply = func(engine.Observer) { stop() }
	plan := &stackplan.Plan{Components: []*stackplan.Component{b.component("b", stackplan.Create)}}
	status, diags := b.run(ctx, Operation{Plan: plan})
	b.check("apply", diags, "Interrupted", "apply component.b plan", "save component.b begun", "acknowledge 1/apply/component.b")
	if status["b"] != hooks.Interrupted {
		t.Errorf("status: %v", status)
	}
	b.log = nil
	status, diags = b.run(ctx, Operation{Plan: plan})
	b.check("apply after the interrupt", diags, "", "save component.b")
	if status["b"] != hooks.Skipped {
		t.Errorf("status: %v", status)
	}
}
