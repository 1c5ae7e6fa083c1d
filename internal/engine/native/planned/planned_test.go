// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func address(t *testing.T, text string) stackaddrs.ResourceInstance {
	t.Helper()
	addr, err := stackaddrs.ParsePartialResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

func invocation(t *testing.T, text string, provider stackaddrs.Provider) engine.Invocation {
	t.Helper()
	addr, err := stackaddrs.ParsePartialActionInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Invocation{
		Addr: addr, Provider: provider, Config: cty.NilVal,
		Trigger: engine.Trigger{Resource: address(t, `module.m["a"].b_thing.x[0]`), Event: engine.AfterUpdate, Block: 1, Position: 2},
	}
}

// example returns a plan with all that plans have.
func example(t *testing.T) *planned.Plan {
	object := cty.ObjectVal(map[string]cty.Value{
		"id": cty.UnknownVal(cty.String), "name": cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("db-").NewValue(),
		"secret": cty.StringVal("s").Mark(marks.Sensitive), "ports": cty.SetVal([]cty.Value{cty.NumberIntVal(1), cty.NumberIntVal(2)}),
		"any": cty.DynamicVal, "given": cty.TupleVal([]cty.Value{cty.True, cty.NullVal(cty.DynamicPseudoType)}),
	})
	provider := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "a", Type: "b"}
	null := cty.NullVal(object.Type())
	return &planned.Plan{
		Mode: engine.RefreshOnly, Timestamp: time.Date(2020, 1, 2, 3, 4, 5, 6, time.UTC), State: engine.State(`{"version":4}`),
		Inputs:  map[string]cty.Value{"x": cty.UnknownVal(cty.List(cty.String)), "y": cty.StringVal("s").Mark(marks.Sensitive), "z": cty.NullVal(cty.Number)},
		Outputs: map[string]cty.Value{"id": cty.StringVal("i"), "key": cty.ListVal([]cty.Value{cty.StringVal("k")}).Mark(marks.Sensitive)},
		Changes: []*planned.Change{
			{
				Addr: address(t, `module.m["a"].b_thing.x[0]`), Previous: address(t, "b_thing.y"), Provider: provider, Alias: "west",
				Action: engine.ActionCreateThenDelete, Reason: engine.ReplaceByRequest, Before: cty.UnknownAsNull(object), After: object,
				BeforeIdentity: cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("1")}), AfterIdentity: cty.NilVal,
				Private: []byte{1, 0, 2}, BeforePrivate: []byte{3}, Replace: []cty.Path{cty.GetAttrPath("given").IndexInt(0)},
				Importing: &engine.Importing{ID: "i"}, CreateBeforeDestroy: true,
				Invocations: []*planned.Invocation{
					{Invocation: invocation(t, "module.m.action.b_do.x", provider), Conditional: true},
					{Invocation: invocation(t, "action.b_do.x[*]", stackaddrs.Provider{}), Deferred: "provider_config_unknown"},
				},
			},
			{Addr: address(t, "module.m[*].b_thing.same[*]"), Provider: provider, Action: engine.ActionNoOp, Before: null, After: null, Deposed: "01234567", Deferred: "deferred_prereq"},
		},
		Checks: []engine.CheckResult{{
			Kind: engine.CheckOutput, Address: "output.o", Status: engine.CheckFail,
			Objects: []engine.CheckedObject{{Address: "output.o", Status: engine.CheckFail, Messages: []string{"no"}}},
		}},
		Deferred: []stackaddrs.ResourceInstance{address(t, "module.m.b_thing.z")},
	}
}

func TestRoundTrip(t *testing.T) {
	want := example(t)
	text, err := planned.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := planned.Decode(text)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range want.Changes {
		for _, pair := range [][2]*cty.Value{{&c.Before, &got.Changes[i].Before}, {&c.After, &got.Changes[i].After}, {&c.BeforeIdentity, &got.Changes[i].BeforeIdentity}} {
			if *pair[0] != cty.NilVal && !pair[1].RawEquals(*pair[0]) || *pair[0] == cty.NilVal && *pair[1] != cty.NilVal {
				t.Errorf("change %d: got value %#v, want %#v", i, *pair[1], *pair[0])
			}
			*pair[0], *pair[1] = cty.NilVal, cty.NilVal
		}
		if len(c.Replace) != len(got.Changes[i].Replace) || len(c.Replace) > 0 && !c.Replace[0].Equals(got.Changes[i].Replace[0]) {
			t.Errorf("change %d: got replacement for %#v, want %#v", i, got.Changes[i].Replace, c.Replace)
		}
		c.Replace, got.Changes[i].Replace = nil, nil
	}
	for name, value := range want.Inputs {
		if !got.Inputs[name].RawEquals(value) {
			t.Errorf("input %s: got %#v, want %#v", name, got.Inputs[name], value)
		}
	}
	for name, value := range want.Outputs {
		if !got.Outputs[name].RawEquals(value) {
			t.Errorf("output %s: got %#v, want %#v", name, got.Outputs[name], value)
		}
	}
	want.Inputs, got.Inputs, want.Outputs, got.Outputs = nil, nil, nil, nil
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Decode(Encode(plan)):\n got %#v\nwant %#v", got, want)
	}
}

func TestEphemeralIsRefused(t *testing.T) {
	plan := &planned.Plan{Inputs: map[string]cty.Value{"x": cty.True.Mark(marks.Ephemeral)}}
	if _, err := planned.Encode(plan); err == nil {
		t.Error("Encode of an ephemeral value: no error")
	}
}

// TestDamage checks that whatever is done to a plan gives a plan or an error.
func TestDamage(t *testing.T) {
	text, err := planned.Encode(example(t))
	if err != nil {
		t.Fatal(err)
	}
	for i := range text {
		damaged := append([]byte(nil), text...)
		damaged[i] ^= 0xff
		if plan, err := planned.Decode(damaged); (plan == nil) == (err == nil) {
			t.Errorf("Decode with byte %d inverted = %v, %v", i, plan, err)
		}
		if _, err := planned.Decode(text[:i]); i < 2 && err == nil {
			t.Errorf("Decode of %d bytes: no error", i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{8, 1})
	f.Fuzz(func(t *testing.T, text []byte) {
		plan, err := planned.Decode(text)
		if err != nil {
			return
		}
		if _, err := planned.Encode(plan); err != nil {
			t.Errorf("Encode(Decode(%q)): %v", text, err)
		}
	})
}
