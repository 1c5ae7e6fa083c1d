// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// rewrite changes a file of the configuration.
func (w *world) rewrite(name, content string) {
	w.t.Helper()
	if err := os.WriteFile(filepath.Join(w.Dir, name), []byte(content), 0o644); err != nil {
		w.t.Fatal(err)
	}
}

func left(state *stackstate.State) []string {
	var addrs []string
	for addr := range state.Components {
		addrs = append(addrs, addr.String())
	}
	slices.Sort(addrs)
	return addrs
}

// Blocks of removable.
const (
	baseBlock = `
component "base" {
  source = "./echo"
  inputs = { in = "b" }
}
`
	userBlock = `
component "user" {
  source = "./echo"
  inputs = { in = component.base.out }
}
`
	eachBlock = `
component "each" {
  for_each = { a = 1, b = 2 }
  source   = "./echo"
  inputs   = { in = each.value }
}
`
)

const removable = `
-- main.tfcomponent.hcl --
` + baseBlock + userBlock + eachBlock + echoModule

// Rows 159 to 162: whole components and instances, with literal and repeated keys.
func TestRemovedComponents(t *testing.T) {
	tests := map[string]struct {
		config string
		left   []string
	}{
		"whole component": {baseBlock + eachBlock + `
removed {
  from   = component.user
  source = "./echo"
}
`, []string{"component.base", `component.each["a"]`, `component.each["b"]`}},
		"chain": {eachBlock + `
removed {
  from   = component.user
  source = "./echo"
}
removed {
  from   = component.base
  source = "./echo"
}
`, []string{`component.each["a"]`, `component.each["b"]`}},
		"literal key": {baseBlock + userBlock + `
component "each" {
  for_each = { a = 1, c = 3 }
  source   = "./echo"
  inputs   = { in = each.value }
}
removed {
  from   = component.each["b"]
  source = "./echo"
}
`, []string{"component.base", `component.each["a"]`, `component.each["c"]`, "component.user"}},
		"all keys": {baseBlock + userBlock + `
removed {
  for_each = toset(["a", "b", "never there"])
  from     = component.each[each.key]
  source   = "./echo"
}
`, []string{"component.base", "component.user"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, removable)
			w.Apply(w.Plan(engine.Normal))
			w.engine.Forget()
			w.rewrite("main.tfcomponent.hcl", test.config)
			if diags := w.Validate(); len(diags) > 0 {
				t.Fatalf("validate: %s", describe(diags))
			}
			w.Apply(w.Plan(engine.Normal))
			if diff := cmp.Diff(test.left, left(w.State)); diff != "" {
				t.Errorf("component instances left (-want +got):\n%s", diff)
			}
			if name == "chain" {
				if diff := cmp.Diff([]string{"component.user", "component.base"}, applyOrder(w)); diff != "" {
					t.Errorf("order of removal (-want +got):\n%s", diff)
				}
			}
			again := w.Plan(engine.Normal)
			for addr, action := range actions(again) {
				if action != stackplan.NoOp {
					t.Errorf("next plan: %s has action %s, want no-op", addr, action)
				}
			}
		})
	}
}

// Rows 164 to 166: a block in the root, and one in the embedded stack itself.
func TestRemovedComponentsInEmbeddedStacks(t *testing.T) {
	for name, blocks := range map[string]struct{ root, child string }{
		"from the root": {root: `
removed {
  for_each = toset(["eu", "us"])
  from     = stack.region[each.value].component.free
  source   = "./echo"
}
`},
		"from inside": {child: `
removed {
  from   = component.free
  source = "../echo"
}
`},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nested)
			w.Apply(w.Plan(engine.Normal))
			root, err := os.ReadFile(filepath.Join(w.Dir, "main.tfcomponent.hcl"))
			if err != nil {
				t.Fatal(err)
			}
			region, err := os.ReadFile(filepath.Join(w.Dir, "region/main.tfcomponent.hcl"))
			if err != nil {
				t.Fatal(err)
			}
			w.rewrite("main.tfcomponent.hcl", string(root)+blocks.root)
			w.rewrite("region/main.tfcomponent.hcl", strings.Replace(string(region),
				"component \"free\" {\n  source = \"../echo\"\n}\n", blocks.child, 1))
			w.Apply(w.Plan(engine.Normal))
			for _, addr := range left(w.State) {
				if strings.HasSuffix(addr, ".free") {
					t.Errorf("%s is still there", addr)
				}
			}
			if n := len(w.State.Components); n != 6 {
				t.Errorf("%d component instances left, want 6: %v", n, left(w.State))
			}
		})
	}
}

// Rows 167 to 170: forgotten resources go on to exist.
func TestForgottenComponents(t *testing.T) {
	w := newWorld(t, removable)
	w.Apply(w.Plan(engine.Normal))
	w.engine.Forget()
	w.rewrite("main.tfcomponent.hcl", `
removed {
  from   = component.user
  source = "./echo"
  lifecycle {
    destroy = false
  }
}
removed {
  from   = component.base
  source = "./echo"
  lifecycle {
    destroy = false
  }
}
component "each" {
  for_each = { a = 1, b = 2 }
  source   = "./echo"
  inputs   = { in = each.value }
}
`)
	plan, diags := w.TryPlan(engine.Normal)
	if diff := cmp.Diff([]string{"Resources no longer managed", "Resources no longer managed"}, summaries(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	if got, want := plan.Counts(), (stackplan.Counts{Forget: 2}); got != want {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
	w.Apply(plan)
	if order := applyOrder(w); len(order) > 0 {
		t.Errorf("the engine applied %v, want nothing", order)
	}
	if diff := cmp.Diff([]string{`component.each["a"]`, `component.each["b"]`}, left(w.State)); diff != "" {
		t.Errorf("component instances left (-want +got):\n%s", diff)
	}
}

func TestRemovalMistakes(t *testing.T) {
	tests := map[string]struct {
		block string
		want  []string
	}{
		// Row 131.
		"instance still declared": {`
removed {
  from   = component.each["a"]
  source = "./echo"
}
`, []string{"Instance both declared and removed"}},
		"never there, removed twice": {`
removed {
  from   = component.each["z"]
  source = "./echo"
}
removed {
  from   = component.each["z"]
  source = "./echo"
}
`, nil},
		"bad index": {`
removed {
  from   = component.each[null]
  source = "./echo"
}
`, []string{"Unusable index in from"}},
		// Row 128.
		"never existed": {`
removed {
  from   = component.never
  source = "./echo"
}
`, nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, removable)
			w.Apply(w.Plan(engine.Normal))
			main, err := os.ReadFile(filepath.Join(w.Dir, "main.tfcomponent.hcl"))
			if err != nil {
				t.Fatal(err)
			}
			w.rewrite("main.tfcomponent.hcl", string(main)+test.block)
			plan, diags := w.TryPlan(engine.Normal)
			if diff := cmp.Diff(test.want, summaries(diags)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%s", diff, describe(diags))
			}
			if len(plan.Components) != 4 {
				t.Errorf("%d components planned, want all 4 that are declared: %v", len(plan.Components), slices.Collect(maps.Keys(actions(plan))))
			}
		})
	}
}

// Two blocks for one instance are a mistake as long as it exists, and harmless afterwards.
func TestRemovedTwice(t *testing.T) {
	w := newWorld(t, removable)
	w.Converge()
	const rest = `
component "base" {
  source = "./echo"
  inputs = { in = "b" }
}
component "user" {
  source = "./echo"
  inputs = { in = component.base.out }
}
component "each" {
  for_each = { a = 1 }
  source   = "./echo"
  inputs   = { in = each.value }
}
removed {
  from   = component.each["b"]
  source = "./echo"
}
`
	const again = `
removed {
  for_each = toset(["b", "c"])
  from     = component.each[each.key]
  source   = "./echo"
}
`
	w.rewrite("main.tfcomponent.hcl", rest+again)
	_, diags := w.TryPlan(engine.Normal)
	same(t, "diagnostics", "error main.tfcomponent.hcl:22: Instance removed twice\n", stacktest.Summaries(diags))

	w.rewrite("main.tfcomponent.hcl", rest)
	w.Converge()
	w.rewrite("main.tfcomponent.hcl", rest+again)
	if plan := w.Plan(engine.Normal); plan.Counts().Total() > 0 {
		t.Errorf("changes of a plan with nothing to remove: %+v", plan.Counts())
	}
}

// Row 119.
func TestRemovalInAMissingStack(t *testing.T) {
	w := newWorld(t, nested)
	w.Apply(w.Plan(engine.Normal))
	w.Inputs["regions"] = cty.SetVal([]cty.Value{cty.StringVal("eu")})
	main, err := os.ReadFile(filepath.Join(w.Dir, "main.tfcomponent.hcl"))
	if err != nil {
		t.Fatal(err)
	}
	w.rewrite("main.tfcomponent.hcl", string(main)+`
removed {
  from   = stack.region["us"].component.free
  source = "./echo"
}
`)
	_, diags := w.TryPlan(engine.Normal)
	want := []string{"Embedded stack left over", "Removal target lies in a missing stack"}
	if diff := cmp.Diff(want, summaries(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s\n%s", diff, describe(diags))
	}
}

const removedRegion = `
removed {
  from   = stack.region["us"]
  source = "./region"
  inputs = { name = "us", base = component.base.out }
}
`

func (w *world) appendTo(name, text string) {
	w.t.Helper()
	old, err := os.ReadFile(filepath.Join(w.Dir, name))
	if err != nil {
		w.t.Fatal(err)
	}
	w.rewrite(name, string(old)+text)
}

// Row 163: one instance of a stack goes, the others stay.
func TestRemovedStackInstance(t *testing.T) {
	w := newWorld(t, nested)
	w.Apply(w.Plan(engine.Normal))
	w.Inputs["regions"] = cty.SetVal([]cty.Value{cty.StringVal("eu"), cty.StringVal("ap")})
	w.appendTo("main.tfcomponent.hcl", removedRegion)
	plan := w.Plan(engine.Normal)
	if got, want := plan.Counts(), (stackplan.Counts{Add: 3, Change: 1, Remove: 3}); got != want {
		t.Errorf("counts = %+v, want %+v", got, want)
	}
	w.Apply(plan)
	for _, addr := range left(w.State) {
		if strings.HasPrefix(addr, `stack.region["us"]`) {
			t.Errorf("%s is still there", addr)
		}
	}
	if n := len(w.State.Components); n != 8 {
		t.Errorf("%d component instances, want 8: %v", n, left(w.State))
	}
	for addr, action := range actions(w.Plan(engine.Normal)) {
		if action != stackplan.NoOp {
			t.Errorf("next plan: %s has action %s, want no-op", addr, action)
		}
	}
}

// A stack that only a removed block names any more, destroyed or forgotten. Row 123: with
// a component that the state does not have.
func TestRemovedStack(t *testing.T) {
	for name, lifecycle := range map[string]string{"destroyed": "", "forgotten": "lifecycle {\n destroy = false\n}\n"} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, nested)
			w.Apply(w.Plan(engine.Normal))
			delete(w.State.Components, component(t, `stack.region["us"].component.free`))
			w.engine.Forget()
			w.rewrite("main.tfcomponent.hcl", `
component "base" {
  source = "./echo"
  inputs = { in = "base" }
}
removed {
  from   = component.sum
  source = "./echo"
}
removed {
  for_each = toset(["eu", "us", "never"])
  from     = stack.region[each.key]
  source   = "./region"
  inputs   = { name = each.key, base = component.base.out }
  `+lifecycle+`
}
`)
			if diags := w.Validate(); len(diags) > 0 {
				t.Fatal(describe(diags))
			}
			w.Apply(w.Plan(engine.Normal))
			if diff := cmp.Diff([]string{"component.base"}, left(w.State)); diff != "" {
				t.Errorf("component instances left (-want +got):\n%s", diff)
			}
			applied := applyOrder(w)
			if name == "destroyed" && (len(applied) != 6 || applied[0] != "component.sum") {
				t.Errorf("the engine applied %v, want the dependent component.sum and then five of the stacks", applied)
			}
			if name == "forgotten" && len(applied) != 1 {
				t.Errorf("the engine applied %v, want component.sum only", applied)
			}
		})
	}
}

// Rows 116, 118, 120 and 145.
func TestStackRemovalMistakes(t *testing.T) {
	w := newWorld(t, nested)
	w.Apply(w.Plan(engine.Normal))
	w.appendTo("main.tfcomponent.hcl", removedRegion)
	_, diags := w.TryPlan(engine.Normal)
	if diff := cmp.Diff([]string{"Instance both declared and removed"}, summaries(diags)); diff != "" {
		t.Errorf("still called (-want +got):\n%s\n%s", diff, describe(diags))
	}

	w.Inputs["regions"] = cty.SetVal([]cty.Value{cty.StringVal("eu")})
	w.appendTo("main.tfcomponent.hcl", `
removed {
  from   = stack.region["us"].component.free
  source = "./echo"
}
`)
	_, diags = w.TryPlan(engine.Normal)
	if diff := cmp.Diff([]string{"Instance both declared and removed"}, summaries(diags)); diff != "" {
		t.Errorf("component of a removed stack (-want +got):\n%s\n%s", diff, describe(diags))
	}
}

// Row 146.
func TestRefreshOnlyDoesNotRemove(t *testing.T) {
	w := newWorld(t, nested)
	w.Apply(w.Plan(engine.Normal))
	w.Inputs["regions"] = cty.SetVal([]cty.Value{cty.StringVal("eu")})
	w.appendTo("main.tfcomponent.hcl", removedRegion)
	for addr, action := range actions(w.Plan(engine.RefreshOnly)) {
		if action != stackplan.Read && action != stackplan.NoOp {
			t.Errorf("%s has action %s, want none but to look", addr, action)
		}
	}
}

// An unclaimed object comes with the block to write, whether it is an instance, a whole stack, or
// an instance that the inputs of a removed stack leave out.
func TestLeftOverNamesTheRemedy(t *testing.T) {
	const embedded = `
-- s/main.tfcomponent.hcl --
variable "names" { type = set(string) }
component "in" {
  for_each = var.names
  source   = "../echo"
  inputs   = { in = each.key }
}
`
	world := func(after string) hcl.Diagnostics {
		w := newWorld(t, `
-- main.tfcomponent.hcl --
component "each" {
  for_each = toset(["a", "b"])
  source   = "./echo"
  inputs   = { in = each.key }
}
stack "s" {
  for_each = toset(["k"])
  source   = "./s"
  inputs   = { names = ["x", "y"] }
}
`+embedded+echoModule)
		w.Apply(w.Plan(engine.Normal))
		w.rewrite("main.tfcomponent.hcl", after)
		_, diags := w.TryPlan(engine.Normal)
		return diags
	}
	removedEach := "removed {\n  for_each = toset([\"a\", \"b\"])\n  from = component.each[each.key]\n  source = \"./echo\"\n}\n"
	removedStack := func(names string) string {
		return "removed {\n  from = stack.s[\"k\"]\n  source = \"./s\"\n  inputs = { names = [" + names + "] }\n}\n"
	}
	tests := map[string]struct {
		after  string
		detail string
		place  string
	}{
		"instance": {
			after: strings.Replace(removedEach, `"a", `, "", 1) + removedStack(`"x", "y"`),
			detail: "This block destroys it, once you have replaced the words in capitals, or forgets it with lifecycle { destroy = false }:\n\n" +
				"  removed {\n    from      = component.each[\"a\"]\n",
		},
		"stack": {
			after:  removedEach,
			detail: `nothing in the configuration produces it any more.`,
		},
		"stack to remove": {
			after:  removedEach,
			detail: "\n\n  removed {\n    from   = stack.s[\"k\"]\n    source = \"./SOURCE-IT-HAD\"\n    inputs = {}\n  }\n\n",
		},
		"inputs of a removed stack": {
			after:  removedEach + removedStack(`"x"`),
			detail: `stack.s["k"].component.in["y"] exists in the state, but the stack that this block removes does not have it with these inputs.`,
			place:  "main.tfcomponent.hcl:7,10-22",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			diags := world(test.after)
			if len(diags) == 0 {
				t.Fatal("no error")
			}
			for _, diag := range diags {
				place := ""
				if diag.Subject != nil {
					place = filepath.Base(diag.Subject.String())
				}
				if !strings.HasSuffix(diag.Summary, " left over") || place != test.place {
					t.Errorf("%q at %q, want \"Component instance left over\" at %q", diag.Summary, place, test.place)
				}
			}
			if !strings.Contains(describe(diags), test.detail) {
				t.Errorf("the diagnostics lack %q:\n%s", test.detail, describe(diags))
			}
		})
	}
}
