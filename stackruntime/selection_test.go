// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

func TestTargetsAndExcludes(t *testing.T) {
	const config = `
-- main.tfcomponent.hcl --
variable "v" {
  type    = string
  default = "1"
}
component "a" {
  source = "./echo"
  inputs = { in = var.v }
}
component "b" {
  source = "./echo"
  inputs = { in = "${component.a.out}b" }
}
component "c" {
  source = "./echo"
  inputs = { in = "${component.b.out}c" }
}
component "each" {
  for_each = { x = 1, y = 2 }
  source   = "./echo"
  inputs   = { in = "${each.value}${var.v}" }
}
output "c" {
  type  = string
  value = component.c.out
}
` + echoModule
	tests := map[string]struct {
		mode              engine.Mode
		targets, excludes []string
		want              []string
	}{
		"target with what it requires": {engine.Normal, []string{"component.b"}, nil, []string{"component.a", "component.b"}},
		"target of one instance":       {engine.Normal, []string{`component.each["y"]`}, nil, []string{`component.each["y"]`}},
		"target of all instances": {
			engine.Normal,
			[]string{`component.each`},
			nil,
			[]string{`component.each["x"]`, `component.each["y"]`},
		},
		"exclude with what requires it": {
			engine.Normal,
			nil,
			[]string{"component.b"},
			[]string{"component.a", `component.each["x"]`, `component.each["y"]`},
		},
		"both": {
			engine.Normal,
			[]string{"component.each"},
			[]string{`component.each["x"]`},
			[]string{`component.each["y"]`},
		},
		"destroy target with what requires it": {engine.Destroy, []string{"component.b"}, nil, []string{"component.b", "component.c"}},
		"destroy without excluded and its ground": {
			engine.Destroy,
			nil,
			[]string{"component.b"},
			[]string{"component.c", `component.each["x"]`, `component.each["y"]`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, config)
			w.Apply(w.Plan(engine.Normal))
			before := left(w.State)
			w.Inputs["v"] = cty.StringVal("2")
			w.engine.Forget()

			opts, _ := w.Options()
			req := stackruntime.PlanRequest{Options: opts, Mode: test.mode, Prior: w.State, Inputs: w.Inputs}
			for _, addr := range test.targets {
				req.Targets = append(req.Targets, component(t, addr))
			}
			for _, addr := range test.excludes {
				req.Excludes = append(req.Excludes, component(t, addr))
			}
			plan, diags := stackruntime.Plan(t.Context(), req)
			if diags.HasErrors() {
				t.Fatal(describe(diags))
			}
			var planned []string
			for _, c := range plan.Components {
				planned = append(planned, c.Addr.String())
			}
			if diff := cmp.Diff(test.want, planned); diff != "" {
				t.Fatalf("planned (-want +got):\n%s", diff)
			}
			checkSelected(t, stackruntime.SelectedComponents(t.Context(), req), plan)
			prior := w.State
			w.Apply(plan)
			checkWritten(t, stackruntime.Writes(plan, prior), prior, w.State)
			if test.mode == engine.Normal {
				if diff := cmp.Diff(before, left(w.State)); diff != "" {
					t.Errorf("component instances (-before +after):\n%s", diff)
				}
			} else if len(left(w.State)) != len(before)-len(test.want) {
				t.Errorf("left after destroy: %v", left(w.State))
			}
			if test.mode == engine.Normal {
				w.Apply(w.Plan(engine.Normal))
				if got, want := w.State.Outputs["c"], cty.StringVal("2bc"); !got.RawEquals(want) {
					t.Errorf("output after a plan of everything = %#v, want %#v", got, want)
				}
				inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: opts, State: w.State, Inputs: w.Inputs})
				if got := inspector.RootOutputs(t.Context())["c"]; !got.RawEquals(w.State.Outputs["c"]) {
					t.Errorf("output evaluated from the state = %#v", got)
				}
			}
		})
	}
}

// checkSelected fails unless the selected components are those of a plan with those that they
// require.
func checkSelected(t *testing.T, selected []stackaddrs.AbsComponent, plan *stackplan.Plan) {
	t.Helper()
	want := map[stackaddrs.AbsComponent]bool{}
	for _, c := range plan.Components {
		want[stackaddrs.ComponentOf(c.Addr)] = true
		for _, required := range c.Requires {
			want[required] = true
		}
	}
	got := map[stackaddrs.AbsComponent]bool{}
	for _, component := range selected {
		got[component] = true
	}
	if !maps.Equal(want, got) {
		t.Errorf("selected: %s, want those of the plan: %v", selected, want)
	}
}

// checkWritten fails if the record of a component has changed of which nobody said so.
func checkWritten(t *testing.T, written []stackaddrs.AbsComponentInstance, before, after *stackstate.State) {
	t.Helper()
	for _, state := range []*stackstate.State{before, after} {
		for addr := range state.Components {
			records, err := stackstate.ComponentRecords(before.Components[addr], after.Components[addr])
			if err != nil {
				t.Fatal(err)
			}
			if len(records) > 0 && !slices.Contains(written, addr) {
				t.Errorf("the record of %s has changed, and %s were to be written", addr, written)
			}
		}
	}
}

func TestTargetThatIsNothing(t *testing.T) {
	w := newWorld(t, chain)
	opts, _ := w.Options()
	_, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{
		Options: opts,
		Targets: []stackaddrs.AbsComponentInstance{component(t, "component.nope")},
	})
	if diff := cmp.Diff([]string{"No such component"}, summaries(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

// An instance that neither the state nor the configuration has is as much a mistake as such a
// component.
func TestTargetWithWrongKey(t *testing.T) {
	w := newWorld(t, chain)
	w.Apply(w.Plan(engine.Normal))
	opts, _ := w.Options()
	addrs := []stackaddrs.AbsComponentInstance{component(t, `component.a["nope"]`)}
	for name, req := range map[string]stackruntime.PlanRequest{
		"target":  {Options: opts, Prior: w.State, Targets: addrs},
		"exclude": {Options: opts, Prior: w.State, Excludes: addrs},
	} {
		_, diags := stackruntime.Plan(t.Context(), req)
		if diff := cmp.Diff([]string{"No such component"}, summaries(diags)); diff != "" {
			t.Errorf("%s: diagnostics (-want +got):\n%s", name, diff)
		}
	}
}
