// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Each kind of change is as before after writing and reading it, and counts as it should.
func TestRow244KindsOfChanges(t *testing.T) {
	addr, err := stackaddrs.ParseAbsComponentInstance(`stack.s["k"].component.c`)
	if err != nil {
		t.Fatal(err)
	}
	component := func(action Action, changes ...*engine.Change) *Plan {
		mode := engine.Normal
		if action == Delete {
			mode = engine.Destroy
		}
		return &Plan{Applyable: true, Complete: true, Components: []*Component{{
			Addr: addr, Action: action, Mode: mode, Applyable: action != NoOp, Complete: true,
			Inputs: map[string]cty.Value{}, Outputs: map[string]cty.Value{}, Changes: changes,
		}}}
	}
	resource := func(action engine.Action) *engine.Change {
		return &engine.Change{Addr: resourceAddr(t, "t.r"), Action: action}
	}
	imported := resource(engine.ActionNoOp)
	imported.Importing = &engine.Importing{ID: "i-1"}
	moved := resource(engine.ActionNoOp)
	moved.PreviousAddr = resourceAddr(t, "t.old")
	deferred := component(Update)
	deferred.Complete, deferred.Components[0].Complete = false, false
	deferred.Components[0].Deferred = []engine.DeferredChange{{Reason: "resource_config_unknown", Change: resource(engine.ActionCreate)}}
	input := func(change InputChange) *Plan {
		return &Plan{Applyable: true, Complete: true, Inputs: map[string]*InputChange{"x": &change}}
	}
	null := cty.NullVal(cty.DynamicPseudoType)

	for name, test := range map[string]struct {
		plan   *Plan
		counts Counts
	}{
		"header only":           {&Plan{Engine: engine.Info{Name: "terraform", Version: "1.11.4"}, Applyable: true, Complete: true}, Counts{}},
		"not applyable":         {&Plan{}, Counts{}},
		"create component":      {component(Create, resource(engine.ActionCreate)), Counts{Add: 1}},
		"unchanged component":   {component(NoOp, resource(engine.ActionNoOp)), Counts{}},
		"delete component":      {component(Delete, resource(engine.ActionDelete)), Counts{Remove: 1}},
		"deferred resource":     {deferred, Counts{Defer: 1}},
		"delete, then create":   {component(Update, resource(engine.ActionDeleteThenCreate)), Counts{Add: 1, Remove: 1}},
		"create, then delete":   {component(Update, resource(engine.ActionCreateThenDelete)), Counts{Add: 1, Remove: 1}},
		"import":                {component(Create, imported), Counts{Import: 1}},
		"move":                  {component(Update, moved), Counts{Move: 1}},
		"forget":                {component(Forget, resource(engine.ActionForget)), Counts{Forget: 1}},
		"sensitive input":       {input(InputChange{Action: Create, Before: null, After: cty.StringVal("s").Mark(marks.Sensitive)}), Counts{}},
		"ephemeral input":       {input(InputChange{Action: Update, Before: null, After: cty.NullVal(cty.String)}), Counts{}},
		"input to give again":   {input(InputChange{Action: Create, Before: null, After: cty.NullVal(cty.String), RequiredOnApply: true}), Counts{}},
		"updated input":         {input(InputChange{Action: Update, Before: cty.StringVal("a"), After: cty.UnknownVal(cty.String)}), Counts{}},
		"input that is removed": {input(InputChange{Action: NoOp, Before: cty.True, After: cty.True, DeleteOnApply: true}), Counts{}},
		"updated output": {&Plan{Applyable: true, Complete: true, Outputs: map[string]*OutputChange{
			"o": {Action: Update, Before: cty.StringVal("a").Mark(marks.Sensitive), After: cty.StringVal("b").Mark(marks.Sensitive)},
		}}, Counts{}},
	} {
		t.Run(name, func(t *testing.T) {
			test.plan.Timestamp = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
			if test.plan.Inputs == nil {
				test.plan.Inputs = map[string]*InputChange{}
			}
			if test.plan.Outputs == nil {
				test.plan.Outputs = map[string]*OutputChange{}
			}
			got, _, err := decode(encode(t, test.plan, FileContext{}))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.plan, got, comparePlans); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
			if counts := got.Counts(); counts != test.counts {
				t.Errorf("counts = %+v, want %+v", counts, test.counts)
			}
		})
	}
}
