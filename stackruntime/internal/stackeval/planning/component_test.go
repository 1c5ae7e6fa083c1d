// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// module is the state of a module with a resource, an object of it that was put aside, and a data
// source.
var module = engine.State(`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[
	{"mode":"managed","type":"terraform_data","name":"a","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[
		{"schema_version":0,"attributes":{"id":"1"}},{"schema_version":0,"deposed":"0a1b2c3d","attributes":{"id":"0"}}]},
	{"mode":"data","type":"terraform_remote_state","name":"d","provider":"provider[\"terraform.io/builtin/terraform\"]","instances":[
		{"schema_version":0,"attributes":{}}]}]}`)

func changeTo(action engine.Action) []*engine.Change { return []*engine.Change{{Action: action}} }

func outputs(value cty.Value) map[string]cty.Value { return map[string]cty.Value{"o": value} }

func TestActionOfStaying(t *testing.T) {
	a, b := cty.StringVal("a"), cty.StringVal("b")
	prior := &stackstate.Component{Outputs: outputs(a)}
	for name, test := range map[string]struct {
		prior  *stackstate.Component
		mode   engine.Mode
		result engine.PlanResult
		want   stackplan.Action
	}{
		"new":             {nil, engine.Normal, engine.PlanResult{Complete: true}, stackplan.Create},
		"new, of nothing": {nil, engine.RefreshOnly, engine.PlanResult{Complete: true}, stackplan.NoOp},
		"same":            {prior, engine.Normal, engine.PlanResult{Complete: true, Applyable: true, Outputs: outputs(a)}, stackplan.NoOp},
		"other output":    {prior, engine.Normal, engine.PlanResult{Complete: true, Outputs: outputs(b)}, stackplan.Update},
		"one output more": {
			prior,
			engine.Normal,
			engine.PlanResult{Complete: true, Outputs: map[string]cty.Value{"o": a, "p": b}},
			stackplan.Update,
		},
		"deferred": {prior, engine.Normal, engine.PlanResult{Outputs: outputs(a)}, stackplan.Update},
		"change": {
			prior,
			engine.Normal,
			engine.PlanResult{Complete: true, Applyable: true, Plan: []byte("plan"), Changes: changeTo(engine.ActionUpdate), Outputs: outputs(a)},
			stackplan.Update,
		},
		"no drift": {prior, engine.RefreshOnly, engine.PlanResult{Complete: true, Outputs: outputs(a)}, stackplan.NoOp},
		"drift": {
			prior,
			engine.RefreshOnly,
			engine.PlanResult{Complete: true, Outputs: outputs(a), Drift: changeTo(engine.ActionUpdate)},
			stackplan.Read,
		},
		"drift of an output": {prior, engine.RefreshOnly, engine.PlanResult{Complete: true, Outputs: outputs(b)}, stackplan.Read},
	} {
		plan := planning.Instance{Prior: test.prior}.NewStaying(&engine.PlanRequest{Mode: test.mode}, &test.result)
		if plan.Action != test.want {
			t.Errorf("%s: %v, want %v", name, plan.Action, test.want)
		}
	}
}

// The engine applies only plans that it has something to do for.
func TestNeedsApply(t *testing.T) {
	for name, test := range map[string]struct {
		result engine.PlanResult
		want   bool
	}{
		"change":        {engine.PlanResult{Applyable: true, Changes: changeTo(engine.ActionCreate)}, true},
		"not applyable": {engine.PlanResult{Changes: changeTo(engine.ActionCreate)}, false},
		"no change":     {engine.PlanResult{Applyable: true, Changes: changeTo(engine.ActionNoOp), Outputs: outputs(cty.True)}, false},
		"import": {
			engine.PlanResult{Applyable: true, Changes: []*engine.Change{{Action: engine.ActionNoOp, Importing: &engine.Importing{}}}},
			true,
		},
		"unknown output": {engine.PlanResult{Applyable: true, Outputs: outputs(cty.UnknownVal(cty.String))}, true},
	} {
		test.result.Plan = []byte("plan")
		plan := planning.Instance{}.NewComponent(&engine.PlanRequest{Mode: engine.Normal}, &test.result)
		if got := planning.NeedsApply(&test.result); got != test.want || (len(plan.EnginePlan) > 0) != test.want {
			t.Errorf("%s: %t with plan %q, want %t", name, got, plan.EnginePlan, test.want)
		}
	}
}

func TestDeferredReason(t *testing.T) {
	deferred := func(reasons ...string) engine.PlanResult {
		var result engine.PlanResult
		for _, reason := range reasons {
			result.Deferred = append(result.Deferred, engine.DeferredChange{Reason: reason})
		}
		return result
	}
	unknown := map[engine.ProviderSlot]engine.ProviderConfig{{LocalName: "p"}: {Unknown: true}}
	for name, test := range map[string]struct {
		req    engine.PlanRequest
		result engine.PlanResult
		want   string
	}{
		"complete":               {engine.PlanRequest{DeferAll: true}, engine.PlanResult{Complete: true}, ""},
		"provider configuration": {engine.PlanRequest{Providers: unknown, DeferAll: true}, engine.PlanResult{}, "provider_config_unknown"},
		"prerequisite":           {engine.PlanRequest{DeferAll: true}, deferred("instance_count_unknown"), "deferred_prereq"},
		"most specific":          {engine.PlanRequest{}, deferred("deferred_prereq", "instance_count_unknown"), "instance_count_unknown"},
		"of the engine":          {engine.PlanRequest{}, deferred("deferred_prereq"), "deferred_prereq"},
	} {
		if got := (planning.Instance{}).NewComponent(&test.req, &test.result).DeferredReason; got != test.want {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}

func TestFailedPlan(t *testing.T) {
	result := engine.PlanResult{Complete: true, Applyable: true, Plan: []byte("plan"), Changes: changeTo(engine.ActionCreate)}
	instance := planning.Instance{Source: "./mod"}
	for _, found := range []*engine.PlanResult{&result, nil} {
		plan := instance.NewFailed(&engine.PlanRequest{Mode: engine.Normal}, found)
		if plan.Applyable || plan.Complete || plan.EnginePlan != nil || plan.DeferredReason != "" || plan.Source != "./mod" {
			t.Errorf("%+v", plan)
		}
		if found != nil && len(plan.Changes) != 1 {
			t.Error("what was found is not shown")
		}
	}
	if result.Plan == nil {
		t.Error("the result is changed")
	}
}

func TestForget(t *testing.T) {
	result, err := planning.Forget(&engine.PlanRequest{PriorState: module})
	if err != nil || !result.Applyable || len(result.Changes) != 2 || len(result.Deferred) != 0 {
		t.Fatalf("%+v, %v", result, err)
	}
	for i, deposed := range []string{"", "0a1b2c3d"} {
		change := result.Changes[i]
		if change.Address() != "terraform_data.a" || string(change.Deposed) != deposed ||
			change.Action != engine.ActionForget || change.Provider.Type != "terraform" {
			t.Errorf("%d: %+v", i, change)
		}
	}
	result, err = planning.Forget(&engine.PlanRequest{PriorState: module, DeferAll: true})
	if err != nil || result.Applyable || result.Complete || len(result.Changes) != 0 || len(result.Deferred) != 2 {
		t.Errorf("with all deferred: %+v, %v", result, err)
	}
	if result, err := planning.Forget(&engine.PlanRequest{}); err != nil || !result.Complete || len(result.Changes) != 0 {
		t.Errorf("nothing: %+v, %v", result, err)
	}
	if _, err := planning.Forget(&engine.PlanRequest{PriorState: engine.State("{")}); err == nil {
		t.Error("no error of a state that cannot be read")
	}
}

func TestHasObjects(t *testing.T) {
	for text, want := range map[string]bool{
		string(module): true,
		"":             false,
		"{":            true,
		`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[]}`: false,
	} {
		if got := planning.HasObjects(engine.State(text)); got != want {
			t.Errorf("%.20q: %t, want %t", text, got, want)
		}
	}
}

func TestLastKnown(t *testing.T) {
	known, later, unknown := cty.StringVal("known"), cty.StringVal("later"), cty.UnknownVal(cty.String)
	values := map[string]cty.Value{"same": later, "not known": unknown, "never known": unknown, "new": unknown}
	got := planning.LastKnown(values, map[string]cty.Value{"same": known, "not known": known, "never known": unknown, "gone": known})
	for name, want := range map[string]cty.Value{
		"same":        later,
		"not known":   known,
		"never known": unknown,
		"new":         unknown,
		"gone":        cty.NilVal,
	} {
		if got[name] != want {
			t.Errorf("%s: %#v, want %#v", name, got[name], want)
		}
	}
}
