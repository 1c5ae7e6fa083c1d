// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackplan

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Of two values, only the difference is stored, and both are read again as they were.
func TestStoredDifference(t *testing.T) {
	object := func(a, b cty.Value) cty.Value { return cty.ObjectVal(map[string]cty.Value{"a": a, "b": b}) }
	x, y, secret := cty.StringVal("x"), cty.StringVal("y"), cty.StringVal("x").Mark(marks.Sensitive)
	before := object(x, cty.Zero)
	null := cty.NullVal(before.Type())
	for name, test := range map[string]struct{ before, after, stored cty.Value }{
		"the same":        {before, before, cty.NilVal},
		"an attribute":    {before, object(y, cty.Zero), cty.ObjectVal(map[string]cty.Value{"a": y})},
		"a mark":          {before, object(secret, cty.Zero), cty.ObjectVal(map[string]cty.Value{"a": secret})},
		"no mark":         {object(secret, cty.Zero), before, cty.ObjectVal(map[string]cty.Value{"a": x})},
		"a type":          {before, object(cty.True, cty.Zero), cty.ObjectVal(map[string]cty.Value{"a": cty.True})},
		"an unknown type": {before, object(cty.DynamicVal, cty.Zero), cty.ObjectVal(map[string]cty.Value{"a": cty.DynamicVal})},
		"all":             {before, object(y, cty.DynamicVal), object(y, cty.DynamicVal)},
		"other attributes": {
			before, cty.ObjectVal(map[string]cty.Value{"a": x, "c": cty.Zero}),
			cty.ObjectVal(map[string]cty.Value{"a": x, "c": cty.Zero}),
		},
		"an attribute less":    {before, cty.ObjectVal(map[string]cty.Value{"a": x}), cty.ObjectVal(map[string]cty.Value{"a": x})},
		"a mark of the object": {before, before.Mark(marks.Sensitive), before.Mark(marks.Sensitive)},
		"unknown":              {before, cty.UnknownVal(before.Type()), cty.UnknownVal(before.Type())},
		"created":              {null, before, before},
		"created, sensitive":   {null, before.Mark(marks.Sensitive), before.Mark(marks.Sensitive)},
		"created, other type":  {cty.NullVal(cty.DynamicPseudoType), before, before},
		"removed":              {before, null, cty.NilVal},
		"never there":          {null, null, cty.NilVal},
		"empty":                {cty.EmptyObjectVal, cty.EmptyObjectVal, cty.NilVal},
		"not looked at":        {cty.NilVal, cty.NilVal, cty.NilVal},
		"only now":             {cty.NilVal, before, before},
	} {
		t.Run(name, func(t *testing.T) {
			encoded, err := encodeChange(&engine.Change{Addr: resourceAddr(t, "t.r"), Before: test.before, After: test.after})
			if err != nil {
				t.Fatal(err)
			}
			if want := stored(t, test.stored); !proto.Equal(encoded.GetAfter(), want) {
				t.Errorf("stored after: %v, want %v", encoded.GetAfter(), want)
			}
			got, err := decodeChange(encoded)
			if err != nil {
				t.Fatal(err)
			}
			for _, pair := range [][2]cty.Value{{got.Before, test.before}, {got.After, test.after}} {
				if (pair[0] == cty.NilVal) != (pair[1] == cty.NilVal) || pair[0] != cty.NilVal && !pair[0].RawEquals(pair[1]) {
					t.Errorf("got %#v, want %#v", pair[0], pair[1])
				}
			}
		})
	}
}

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
		"header only":         {&Plan{Engine: engine.Info{Name: "terraform", Version: "1.11.4"}, Applyable: true, Complete: true}, Counts{}},
		"not applyable":       {&Plan{}, Counts{}},
		"create component":    {component(Create, resource(engine.ActionCreate)), Counts{Add: 1}},
		"unchanged component": {component(NoOp, resource(engine.ActionNoOp)), Counts{}},
		"delete component":    {component(Delete, resource(engine.ActionDelete)), Counts{Remove: 1}},
		"deferred resource":   {deferred, Counts{Defer: 1}},
		"delete, then create": {component(Update, resource(engine.ActionDeleteThenCreate)), Counts{Add: 1, Remove: 1}},
		"create, then delete": {component(Update, resource(engine.ActionCreateThenDelete)), Counts{Add: 1, Remove: 1}},
		"import":              {component(Create, imported), Counts{Import: 1}},
		"move":                {component(Update, moved), Counts{Move: 1}},
		"forget":              {component(Forget, resource(engine.ActionForget)), Counts{Forget: 1}},
		"sensitive input":     {input(InputChange{Action: Create, Before: null, After: cty.StringVal("s").Mark(marks.Sensitive)}), Counts{}},
		"ephemeral input":     {input(InputChange{Action: Update, Before: null, After: cty.NullVal(cty.String)}), Counts{}},
		"input to give again": {
			input(InputChange{Action: Create, Before: null, After: cty.NullVal(cty.String), RequiredOnApply: true}),
			Counts{},
		},
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
