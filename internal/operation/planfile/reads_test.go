// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

func instance(t *testing.T, text string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// stateOf returns a state of components with these inputs, and one variable.
func stateOf(t *testing.T, variable string, inputs map[string]string) *stackstate.State {
	t.Helper()
	state := stackstate.New()
	state.Inputs["v"] = cty.StringVal(variable)
	for text, input := range inputs {
		addr := instance(t, text)
		state.Components[addr] = &stackstate.Component{Addr: addr, Inputs: map[string]cty.Value{"in": cty.StringVal(input)}}
	}
	return state
}

func TestReads(t *testing.T) {
	before := stateOf(t, "x", map[string]string{"component.a": "1", "component.b[0]": "1", "component.c": "1"})
	plan := func(partial bool) *stackplan.Plan {
		return &stackplan.Plan{
			Partial: partial,
			Components: []*stackplan.Component{{
				Addr: instance(t, "component.a"), Requires: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(instance(t, "component.b[0]"))},
			}},
			Removed: []stackaddrs.AbsComponentInstance{instance(t, "component.gone")},
			Inputs:  map[string]*stackplan.InputChange{"v": {After: cty.StringVal("y")}},
		}
	}
	dependents := stateOf(t, "x", map[string]string{"component.b[0]": "1", "component.c": "1", "component.a": "1"})
	dependents.Components[instance(t, "component.a")].Dependents = []stackaddrs.AbsComponent{
		stackaddrs.ComponentOf(instance(t, "component.c")),
	}
	with := func(change, to string) *stackstate.State {
		inputs := map[string]string{"component.a": "1", "component.b[0]": "1", "component.c": "1"}
		inputs[change] = to
		return stateOf(t, "x", inputs)
	}
	same := map[string]string{"component.a": "1", "component.b[0]": "1", "component.c": "1"}
	for name, test := range map[string]struct {
		now           *stackstate.State
		partial, full string // the changed parts
	}{
		"nothing":       {before, "", ""},
		"other":         {with("component.c", "2"), "", "component.c"},
		"planned":       {with("component.a", "2"), "component.a", "component.a"},
		"required":      {with("component.b[0]", "2"), "component.b[0]", "component.b[0]"},
		"new instance":  {with("component.b[1]", "1"), "component.b[1]", "component.b[1]"},
		"removed":       {stateOf(t, "x", map[string]string{"component.b[0]": "1"}), "component.a", "component.a, component.c"},
		"to be removed": {with("component.gone", "1"), "component.gone", "component.gone"},
		"variable":      {stateOf(t, "z", same), "var.v", "var.v"},
		"planned value": {stateOf(t, "y", same), "", ""},
		"dependents":    {dependents, "", ""},
		"a whole lot":   {stackstate.New(), "component.a, component.b[0]", "component.a, component.b[0], component.c"},
	} {
		for partial, want := range map[bool]string{true: test.partial, false: test.full} {
			got, err := newReads(plan(partial)).changed(before, test.now)
			if err != nil || strings.Join(got, ", ") != want {
				t.Errorf("%s, partial %v: changed are %q, error %v, want %q", name, partial, got, err, want)
			}
		}
	}
}

// A component is not destroyed under one that has come to depend on it.
func TestReadsOfDestroy(t *testing.T) {
	plan := &stackplan.Plan{Partial: true, Components: []*stackplan.Component{{Addr: instance(t, "component.a"), Action: stackplan.Delete}}}
	before := stateOf(t, "x", map[string]string{"component.a": "1"})
	now := stateOf(t, "x", map[string]string{"component.a": "1", "component.c": "1"})
	if got, err := newReads(plan).changed(before, now); err != nil || len(got) > 0 {
		t.Errorf("with another component: changed are %q, error %v", got, err)
	}
	now.Components[instance(t, "component.a")].Dependents = []stackaddrs.AbsComponent{stackaddrs.ComponentOf(instance(t, "component.c"))}
	if got, err := newReads(plan).changed(before, now); err != nil || !slices.Equal(got, []string{"component.a"}) {
		t.Errorf("with a new dependent: changed are %q, error %v", got, err)
	}
}

// A plan whose serial cannot be read any more is stale.
func TestReadsOfDroppedSerial(t *testing.T) {
	target := Target{Serial: 7, State: stackstate.New()}
	made := stackplan.FileContext{StateLineage: "x", StateSerial: 5}
	plan := &stackplan.Plan{}
	for name, past := range map[string]func(int64) (*stackstate.State, error){
		"unknown": nil,
		"dropped": func(int64) (*stackstate.State, error) { return nil, errors.New("dropped") },
	} {
		target.Past = past
		if err := target.checkReads(plan, made); err == nil || !strings.Contains(err.Error(), "at serial 5. Nothing was done") {
			t.Errorf("%s: got error %v", name, err)
		}
	}
	var asked []int64
	target.Past = func(serial int64) (*stackstate.State, error) {
		asked = append(asked, serial)
		return stackstate.New(), nil
	}
	if err := target.checkReads(plan, made); err != nil || !slices.Equal(asked, []int64{5}) {
		t.Errorf("unchanged since: error %v, asked for the serials %v", err, asked)
	}
}
