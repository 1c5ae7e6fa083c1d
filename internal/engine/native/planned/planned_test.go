// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planned_test

import (
	"bytes"
	"reflect"
	"slices"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/planned"
	"github.com/cairnstacks/cairn/internal/lang/providercall"
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

func invocation(t *testing.T, text string, provider stackaddrs.Provider, position int) engine.Invocation {
	t.Helper()
	addr, err := stackaddrs.ParsePartialActionInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return engine.Invocation{
		Addr: addr, Provider: provider, Config: cty.NilVal,
		Trigger: engine.Trigger{Resource: address(t, `module.m["a"].b_thing.x[0]`), Event: engine.AfterUpdate, Block: 1, Position: position},
	}
}

// example returns a plan with all that plans have.
func example(t *testing.T) *planned.Plan {
	object := cty.ObjectVal(map[string]cty.Value{"id": cty.UnknownVal(cty.String), "secret": cty.StringVal("s").Mark(marks.Sensitive)})
	provider := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "a", Type: "b"}
	null := cty.NullVal(object.Type())
	return &planned.Plan{
		Prior: `["lineage",1]`,
		Changes: []*planned.Change{
			{
				Change: engine.Change{Addr: address(t, "b_thing.bare"), Provider: provider, Action: engine.ActionCreate, Before: null, After: object},
			},
			{
				Change: engine.Change{
					Addr: address(t, `module.m["a"].b_thing.x[0]`), PreviousAddr: address(t, "b_thing.y"), Provider: provider,
					Action: engine.ActionUpdate, Reason: engine.ReplaceByRequest, Before: cty.UnknownAsNull(object), After: object,
					Replace: []cty.Path{cty.GetAttrPath("given").IndexInt(0)}, Importing: &engine.Importing{ID: "i"},
				},
				Alias: "west", Private: []byte{1, 0, 2}, BeforePrivate: []byte{3}, CreateBeforeDestroy: true,
				Invocations: []*planned.Invocation{
					{Invocation: invocation(t, "module.m.action.b_do.x", provider, 0)},
					{Invocation: invocation(t, "module.m.action.b_do.x", provider, 1), Conditional: true},
				},
			},
			{
				Change: engine.Change{
					Addr: address(t, `module.m["a"].b_thing.x[0]`), Provider: provider, Action: engine.ActionDelete, Before: object, After: null,
					Deposed: "01234567",
				},
				Private: []byte{4},
			},
			{
				Change: engine.Change{
					Addr: address(t, "module.m[*].b_thing.same[*]"), Provider: provider, Action: engine.ActionNoOp,
					Before: null, After: null,
				},
				Deferred: "deferred_prereq",
			},
		},
		Results:  []providercall.Result{{Call: providercall.Hash{1}, Result: providercall.Hash{2}}},
		Deferred: []stackaddrs.ResourceInstance{address(t, "module.m.b_thing.z")},
	}
}

// resultOf returns the result of planning that goes with a plan.
func resultOf(t *testing.T, p *planned.Plan) *engine.PlanResult {
	t.Helper()
	result := &engine.PlanResult{}
	for _, c := range slices.Backward(p.Changes) { // in another order
		for _, i := range c.Invocations {
			result.Invocations = append(result.Invocations, &i.Invocation)
		}
		if c.Deferred != "" {
			result.Deferred = append(result.Deferred, engine.DeferredChange{Reason: c.Deferred, Change: &c.Change})
		} else {
			result.Changes = append(result.Changes, &c.Change)
		}
	}
	var err error
	if result.Plan, err = planned.Encode(p); err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRoundTrip(t *testing.T) {
	want := example(t)
	slices.SortFunc(want.Changes, (*planned.Change).Compare)
	got, err := planned.Decode(resultOf(t, want))
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("Decode(Encode(plan)):\n got %#v\nwant %#v", got, want)
	}
}

// TestNothingTwice checks that a change of which nothing is to be added takes no room.
func TestNothingTwice(t *testing.T) {
	plan := &planned.Plan{Changes: []*planned.Change{example(t).Changes[0]}}
	if text := resultOf(t, plan).Plan; len(text) > 4 {
		t.Errorf("Encode of a change without details: got %d bytes, want none for the change", len(text))
	}
}

// TestOtherResult checks that details are refused where they belong to another plan.
func TestOtherResult(t *testing.T) {
	for name, change := range map[string]func(*engine.PlanResult){
		"a change less": func(r *engine.PlanResult) { r.Changes = r.Changes[1:] },
		"another change": func(r *engine.PlanResult) {
			r.Changes[1] = &engine.Change{Addr: address(t, "b_thing.other"), Before: cty.True, After: cty.True}
		},
		"a change of nothing": func(r *engine.PlanResult) { r.Changes[2] = &engine.Change{Addr: r.Changes[2].Addr} },
		"no invocations":      func(r *engine.PlanResult) { r.Invocations = nil },
	} {
		t.Run(name, func(t *testing.T) {
			result := resultOf(t, example(t))
			change(result)
			if plan, err := planned.Decode(result); err == nil {
				t.Errorf("Decode = %#v, want an error", plan)
			}
		})
	}
}

// TestDamage checks that whatever is done to a plan gives a plan or an error.
func TestDamage(t *testing.T) {
	result := resultOf(t, example(t))
	text := result.Plan
	for i := range text {
		result.Plan = bytes.Clone(text)
		result.Plan[i] ^= 0xff
		if plan, err := planned.Decode(result); (plan == nil) == (err == nil) {
			t.Errorf("Decode with byte %d inverted = %v, %v", i, plan, err)
		}
		result.Plan = text[:i]
		if _, err := planned.Decode(result); i < 2 && err == nil {
			t.Errorf("Decode of %d bytes: no error", i)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte{8, 2})
	f.Fuzz(func(t *testing.T, text []byte) {
		result := resultOf(t, example(t))
		result.Plan = text
		plan, err := planned.Decode(result)
		if err != nil {
			return
		}
		if _, err := planned.Encode(plan); err != nil {
			t.Errorf("Encode(Decode(%q)): %v", text, err)
		}
	})
}
