// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"errors"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// moveable has the objects that the tests below move: a component, one that requires it, one with
// instances, and a stack with instances.
const (
	moveableBase = `
component "base" {
  source = "./echo"
  inputs = { in = "base" }
}
`
	moveableUser = `
component "user" {
  source = "./echo"
  inputs = { in = component.base.out }
}
`
	moveableEach = `
component "each" {
  for_each = toset(["x", "y"])
  source   = "./echo"
  inputs   = { in = each.key }
}
`
	moveableRegion = `
stack "region" {
  for_each = toset(["eu", "us"])
  source   = "./region"
  inputs   = { in = component.base.out }
}
`
	moveableFiles = `
-- region/main.tfcomponent.hcl --
variable "in" { type = string }
component "inner" {
  source = "../echo"
  inputs = { in = var.in }
}
component "outer" {
  source = "../echo"
  inputs = { in = component.inner.out }
}
` + echoModule
	moveable = moveableBase + moveableUser + moveableEach + moveableRegion
)

// movedBlock writes a block.
func movedBlock(from, to string) string {
	return "\nmoved {\n  from = " + from + "\n  to = " + to + "\n}\n"
}

const mainFile = "-- main.tfcomponent.hcl --"

// moveableWorld is a stack that was applied once with everything moveable, and has another
// configuration then.
func moveableWorld(t *testing.T, after string) *world {
	t.Helper()
	w := newWorld(t, mainFile+moveable+moveableFiles)
	w.Converge()
	w.Write(mainFile + "\n" + after)
	return w
}

func movesOf(plan *stackplan.Plan) []string {
	var lines []string
	for _, rename := range plan.Moved {
		lines = append(lines, rename.From.String()+" to "+rename.To.String())
	}
	return lines
}

// objectsByAddress are the objects of all component instances.
func objectsByAddress(t *testing.T, state *stackstate.State) map[string]string {
	t.Helper()
	found := make(map[string]string)
	for addr, c := range state.Components {
		objects, err := tfstate.ParseObjects(c.Module)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range objects {
			found[addr.String()] += o.Addr.String() + string(o.Attributes)
		}
	}
	return found
}

// A moved component keeps its objects, nothing else changes, its dependents follow, and after that
// there is nothing to move.
func TestMoved(t *testing.T) {
	region := func(eu, us string) []string {
		return []string{
			`stack.region["eu"].component.inner to ` + eu + `.component.inner`, `stack.region["eu"].component.outer to ` + eu + `.component.outer`,
			`stack.region["us"].component.inner to ` + us + `.component.inner`, `stack.region["us"].component.outer to ` + us + `.component.outer`,
		}
	}
	network := strings.NewReplacer(`"base" {`, `"network" {`, `.base.`, `.network.`)
	tests := map[string]struct {
		after string
		moves []string
	}{
		"component": {
			network.Replace(moveable) + movedBlock("component.base", "component.network"),
			[]string{`component.base to component.network`},
		},
		"chain": {
			network.Replace(moveable) + movedBlock("component.middle", "component.network") + movedBlock("component.base", "component.middle"),
			[]string{`component.base to component.network`},
		},
		"component with instances": {
			strings.Replace(moveable, `"each" {`, `"many" {`, 1) + movedBlock("component.each", "component.many"),
			[]string{`component.each["x"] to component.many["x"]`, `component.each["y"] to component.many["y"]`},
		},
		"for_each gained": {
			moveableBase + moveableEach + moveableRegion + `
				component "user" {
				  for_each = toset(["one"])
				  source   = "./echo"
				  inputs   = { in = component.base.out }
				}` + movedBlock("component.user", `component.user["one"]`),
			[]string{`component.user to component.user["one"]`},
		},
		"for_each lost": {
			moveableBase + moveableUser + moveableRegion + `
				component "each" {
				  source = "./echo"
				  inputs = { in = "x" }
				}
				component "second" {
				  source = "./echo"
				  inputs = { in = "y" }
				}` + movedBlock(`component.each["x"]`, "component.each") + movedBlock(`component.each["y"]`, "component.second"),
			[]string{`component.each["x"] to component.each`, `component.each["y"] to component.second`},
		},
		"stack": {
			strings.Replace(moveable, `"region" {`, `"area" {`, 1) + movedBlock("stack.region", "stack.area"),
			region(`stack.area["eu"]`, `stack.area["us"]`),
		},
		"one instance of a stack": {
			strings.Replace(moveable, `["eu", "us"]`, `["europe", "us"]`, 1) + movedBlock(`stack.region["eu"]`, `stack.region["europe"]`),
			region(`stack.region["europe"]`, ``)[:2],
		},
		"out of a stack": {
			moveableBase + moveableUser + moveableEach + strings.Replace(moveableRegion, `["eu", "us"]`, `["us"]`, 1) + `
				component "inner" {
				  source = "./echo"
				  inputs = { in = component.base.out }
				}
				component "outer" {
				  source = "./echo"
				  inputs = { in = component.inner.out }
				}` + movedBlock(`stack.region["eu"].component.inner`, "component.inner") + movedBlock(`stack.region["eu"].component.outer`,
				"component.outer"),
			[]string{`stack.region["eu"].component.inner to component.inner`, `stack.region["eu"].component.outer to component.outer`},
		},
		"inside of each instance of a stack that moves": {
			strings.Replace(moveable, `"region" {`, `"area" {`, 1) + movedBlock("stack.region", "stack.area") + `
-- region/main.tfcomponent.hcl --
				variable "in" { type = string }
				component "first" {
				  source = "../echo"
				  inputs = { in = var.in }
				}
				component "outer" {
				  source = "../echo"
				  inputs = { in = component.first.out }
				}` + movedBlock("component.inner", "component.first"),
			[]string{
				`stack.region["eu"].component.inner to stack.area["eu"].component.first`,
				`stack.region["eu"].component.outer to stack.area["eu"].component.outer`,
				`stack.region["us"].component.inner to stack.area["us"].component.first`,
				`stack.region["us"].component.outer to stack.area["us"].component.outer`,
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := moveableWorld(t, test.after)
			before := objectsByAddress(t, w.State)
			records, err := w.State.Records()
			if err != nil {
				t.Fatal(err)
			}

			plan := w.Plan(engine.Normal)
			if diff := cmp.Diff(test.moves, movesOf(plan)); diff != "" {
				t.Errorf("moves (-want +got):\n%s", diff)
			}
			for addr, action := range actions(plan) {
				if action != stackplan.NoOp {
					t.Errorf("%s has action %s, want no-op", addr, action)
				}
			}
			w.Apply(plan, func(req *stackruntime.ApplyRequest) { req.Save = saveTo(records) })

			want := maps.Clone(before)
			for _, rename := range plan.Moved {
				delete(want, rename.From.String())
				want[rename.To.String()] = before[rename.From.String()]
			}
			if diff := cmp.Diff(want, objectsByAddress(t, w.State)); diff != "" {
				t.Errorf("objects after the apply (-want +got):\n%s", diff)
			}
			checkNeighbours(t, w.State)
			saved, err := stackstate.FromRecords(records)
			if err != nil {
				t.Fatal(err)
			}
			if changes, err := stackstate.Diff(w.State, saved); err != nil || len(changes) > 0 {
				t.Errorf("what was saved differs from the result: %v, %v", changes, err)
			}

			again := w.Plan(engine.Normal)
			if len(again.Moved) > 0 {
				t.Errorf("the next plan moves %v, want nothing", movesOf(again))
			}
			for addr, action := range actions(again) {
				if action != stackplan.NoOp {
					t.Errorf("next plan: %s has action %s, want no-op", addr, action)
				}
			}
			w.Apply(w.Plan(engine.Destroy))
			if len(w.State.Components) > 0 {
				t.Errorf("left after destroying: %v", left(w.State))
			}
		})
	}
}

// saveTo returns a function that writes changes to records as a store does.
func saveTo(records map[string][]byte) func(context.Context, stackruntime.StateChange) error {
	return func(_ context.Context, change stackruntime.StateChange) error {
		changes, err := change.Records()
		for key, value := range changes {
			if value == nil {
				delete(records, key)
				continue
			}
			records[key] = value
		}
		return err
	}
}

// checkNeighbours checks that the recorded requirements of component instances are there, and that
// each knows its dependents.
func checkNeighbours(t *testing.T, state *stackstate.State) {
	t.Helper()
	has := make(map[stackaddrs.AbsComponent]map[stackaddrs.AbsComponent]bool)
	for addr, c := range state.Components {
		component := stackaddrs.ComponentOf(addr)
		if has[component] == nil {
			has[component] = make(map[stackaddrs.AbsComponent]bool)
		}
		for _, dependent := range c.Dependents {
			has[component][dependent] = true
		}
	}
	for addr, c := range state.Components {
		for _, required := range c.Dependencies {
			if !has[required][stackaddrs.ComponentOf(addr)] {
				t.Errorf("%s requires %s, which does not know it", addr, required)
			}
		}
		for _, dependent := range c.Dependents {
			if has[dependent] == nil {
				t.Errorf("%s is required by %s, which is not there", addr, dependent)
			}
		}
	}
}

// Moves are part of plans of every mode, of those of a part of the stack, and of those that go on
// in a next round.
func TestMovedInOtherModes(t *testing.T) {
	after := strings.NewReplacer(`"base" {`, `"network" {`, `.base.`, `.network.`).Replace(moveable) + movedBlock("component.base",
		"component.network")
	want := []string{`component.base to component.network`}
	check := func(t *testing.T, plan *stackplan.Plan) {
		t.Helper()
		if diff := cmp.Diff(want, movesOf(plan)); diff != "" {
			t.Errorf("moves (-want +got):\n%s", diff)
		}
	}
	network := componentAddress(t, "component.network")

	t.Run("refresh-only", func(t *testing.T) {
		w := moveableWorld(t, after)
		plan := w.Plan(engine.RefreshOnly)
		check(t, plan)
		w.Apply(plan)
		if w.State.Components[network] == nil || len(w.Plan(engine.Normal).Moved) > 0 {
			t.Errorf("the move was not recorded: %v", left(w.State))
		}
	})
	t.Run("destroy", func(t *testing.T) {
		w := moveableWorld(t, after)
		plan := w.Plan(engine.Destroy)
		check(t, plan)
		if got := actions(plan)["component.network"]; got != stackplan.Delete {
			t.Errorf("component.network has action %q, want delete", got)
		}
		w.Apply(plan)
		if len(w.State.Components) > 0 {
			t.Errorf("left after destroying: %v", left(w.State))
		}
	})
	t.Run("part of the stack", func(t *testing.T) {
		w := moveableWorld(t, after)
		plan := w.Plan(engine.Normal, func(req *stackruntime.PlanRequest) {
			req.Targets = []stackaddrs.AbsComponentInstance{componentAddress(t, `component.each["x"]`)}
		})
		check(t, plan)
		if got := actions(plan); len(got) != 1 {
			t.Errorf("planned: %v, want one target", got)
		}
		w.Apply(plan)
		checkNeighbours(t, w.State)
		if w.State.Components[network] == nil {
			t.Errorf("the move was not recorded: %v", left(w.State))
		}
	})
	t.Run("with changes", func(t *testing.T) {
		w := moveableWorld(t, strings.Replace(after, `in = "base"`, `in = "other"`, 1))
		plan := w.Plan(engine.Normal)
		check(t, plan)
		if n := plan.Counts(); n.Change == 0 || n.Add+n.Remove > 0 {
			t.Errorf("counts: %+v, want only changes", n)
		}
		w.Apply(plan)
		checkNeighbours(t, w.State)
	})
	t.Run("while something is deferred", func(t *testing.T) {
		w := moveableWorld(t, after+`
component "late" {
  for_each = toset([component.seed.out])
  source   = "./echo"
  inputs   = { in = each.key }
}
component "seed" {
  source = "./echo"
  inputs = { in = "seed" }
}
`)
		plan := w.Plan(engine.Normal)
		check(t, plan)
		if plan.Complete {
			t.Error("nothing is deferred")
		}
		w.Apply(plan)
		second := w.Plan(engine.Normal)
		if len(second.Moved) > 0 || !second.Complete {
			t.Errorf("the second round moves %v, and is complete: %t", movesOf(second), second.Complete)
		}
		w.Apply(second)
	})
	t.Run("then removed", func(t *testing.T) {
		w := moveableWorld(t, moveableBase+moveableUser+moveableRegion+movedBlock("component.each", "component.gone")+`
removed {
  from   = component.gone["x"]
  source = "./echo"
}
removed {
  from   = component.gone["y"]
  source = "./echo"
  lifecycle {
    destroy = false
  }
}
`)
		plan := w.Plan(engine.Normal)
		got := actions(plan)
		if got[`component.gone["x"]`] != stackplan.Delete || got[`component.gone["y"]`] != stackplan.Forget || len(plan.Moved) != 2 {
			t.Errorf("actions: %v, moves: %v", got, movesOf(plan))
		}
		w.Apply(plan)
		for _, addr := range left(w.State) {
			if strings.Contains(addr, "each") || strings.Contains(addr, "gone") {
				t.Errorf("%s is left", addr)
			}
		}
	})
}

func componentAddress(t *testing.T, text string) stackaddrs.AbsComponentInstance {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return addr
}

// A move that cannot be made is an error at its block, and nothing is planned on top of it.
func TestMoveMistakes(t *testing.T) {
	tests := map[string]struct {
		after, summary, detail, place string
	}{
		"address is taken": {
			moveableBase + moveableUser + moveableRegion + strings.Replace(moveableEach, `["x", "y"]`,
				`["y"]`, 1) + movedBlock(`component.each["x"]`, `component.each["y"]`),
			"Move to an occupied address",
			`component.each["x"] cannot become component.each["y"], since the state has something at both addresses.`,
			`component.each["y"]`,
		},
		"addresses of a stack are taken": {
			moveableBase + moveableUser + moveableEach + strings.Replace(moveableRegion, `["eu", "us"]`,
				`["us"]`, 1) + movedBlock(`stack.region["eu"]`, `stack.region["us"]`),
			"Move to an occupied address",
			`The same goes for stack.region["eu"].component.outer and stack.region["us"].component.outer.`, `stack.region["us"]`,
		},
		"two to one address": {
			moveableUser + moveableEach + moveableRegion + strings.Replace(moveableBase, `source`, "for_each = toset([\"x\"])\nsource", 1) +
				movedBlock(`component.base`, `component.each["z"]`) + movedBlock(`component.each["x"]`, `component.each["z"]`),
			"Two objects moved to one address", "", `component.each["z"]`,
		},
		"instance still declared": {
			strings.Replace(moveable, `["x", "y"]`, `["x", "y", "z"]`, 1) + movedBlock(`component.each["x"]`, `component.each["z"]`),
			"Moved object still declared",
			`The for_each of its block still has component.each["x"], and this block moves it to component.each["z"].`,
			`component.each["x"]`,
		},
		"stack instance still declared": {
			strings.Replace(moveable, `["eu", "us"]`, `["de", "eu", "us"]`, 1) + movedBlock(`stack.region["eu"]`, `stack.region["de"]`),
			"Moved object still declared", `The for_each of its block still has stack.region["eu"]`, `stack.region["eu"]`,
		},
		"instance not declared": {
			moveableBase + moveableUser + moveableRegion + strings.Replace(moveableEach, `["x", "y"]`,
				`["y"]`, 1) + movedBlock(`component.each["x"]`, `component.each["z"]`),
			"Target of a move not declared",
			`This block moves component.each["x"] to component.each["z"], which no block of the configuration produces.`,
			`component.each["z"]`,
		},
		"instances that the new block does not have": {
			moveableBase + moveableUser + moveableRegion + `
component "many" {
  source = "./echo"
  inputs = { in = "x" }
}
` + movedBlock(`component.each`, `component.many`),
			"Target of a move not declared", `This block moves component.each["x"] to component.many["x"]`, `component.many`,
		},
		"stack instance not declared": {
			strings.Replace(moveable, `["eu", "us"]`, `["us"]`, 1) + movedBlock(`stack.region["eu"]`, `stack.region["de"]`),
			"Target of a move not declared", `The same goes for stack.region["de"].component.outer.`, `stack.region["de"]`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := moveableWorld(t, test.after)
			plan, diags := w.TryPlan(engine.Normal)
			if plan != nil && plan.Applyable || !diags.HasErrors() {
				t.Fatalf("no error: %s", describe(diags))
			}
			if len(diags) != 1 || diags[0].Summary != test.summary {
				t.Errorf("diagnostics, want only %q:\n%s", test.summary, describe(diags))
			}
			if !strings.Contains(describe(diags), test.detail) {
				t.Errorf("the diagnostics lack %q:\n%s", test.detail, describe(diags))
			}
			opts, _ := w.Options()
			file := opts.Config.Files["main.tfcomponent.hcl"]
			if got := string(diags[0].Subject.SliceBytes(file.Bytes)); got != test.place {
				t.Errorf("place: %s, want %s", got, test.place)
			}
		})
	}
}

// Nothing is begun if the new addresses could not be saved.
func TestMovesNotSaved(t *testing.T) {
	w := moveableWorld(t, moveableUser+strings.Replace(moveableBase, `in = "base"`, `in = "changed"`, 1)+moveableRegion+
		strings.Replace(moveableEach, `"each" {`, `"many" {`, 1)+movedBlock("component.each", "component.many"))
	plan := w.Plan(engine.Normal)
	saves := 0
	result, diags := w.TryApply(plan, func(req *stackruntime.ApplyRequest) {
		req.Save = func(context.Context, stackruntime.StateChange) error {
			saves++
			return errors.New("disk full")
		}
	})
	if saves != 1 || len(diags) != 1 || diags[0].Summary != "State not saved" || result.Counts().Total() > 0 {
		t.Errorf("%d saves, %d things done, diagnostics:\n%s", saves, result.Counts().Total(), describe(diags))
	}
}

// Left-over objects come with one error for each component instance or lost stack, and with a block
// that makes it right where there is no choice.
func TestLeftOverSuggestsMoves(t *testing.T) {
	tests := map[string]struct {
		after  string
		blocks []string // as "from to"; one with a name to fill in is not tried
	}{
		"component": {
			after:  strings.NewReplacer(`"base" {`, `"network" {`, `.base.`, `.network.`).Replace(moveable),
			blocks: []string{"component.base component.network"},
		},
		"component with instances": {
			after:  strings.Replace(moveable, `"each" {`, `"many" {`, 1),
			blocks: []string{"component.each component.many", "component.each component.many"},
		},
		"two new components": {
			after: strings.NewReplacer(`"base" {`, `"network" {`, `.base.`, `.network.`).Replace(moveable) + strings.Replace(moveableBase, "base",
				"third", 1),
			blocks: []string{"component.base component.NEW_NAME"},
		},
		"no new component": {
			after:  moveableBase + moveableEach + moveableRegion,
			blocks: []string{"component.user component.NEW_NAME"},
		},
		"for_each gained": {
			after:  moveableBase + moveableEach + moveableRegion + strings.Replace(moveableUser, "source", "for_each = toset([\"one\"])\nsource", 1),
			blocks: []string{`component.user component.user["one"]`},
		},
		"for_each gained with two keys": {
			after: moveableBase + moveableEach + moveableRegion + strings.Replace(moveableUser, "source",
				"for_each = toset([\"one\", \"two\"])\nsource", 1),
			blocks: []string{`component.user component.user["NEW_KEY"]`},
		},
		"key": {
			after: moveableBase + moveableUser + moveableRegion + strings.NewReplacer(`toset(["x", "y"])`, `{ x = "x", z = "y" }`, "each.key",
				"each.value").Replace(moveableEach),
			blocks: []string{`component.each["y"] component.each["z"]`},
		},
		"stack with all instances": {
			after:  strings.Replace(moveable, `"region" {`, `"area" {`, 1),
			blocks: []string{"stack.region stack.area"},
		},
		"stack instance": {
			after:  strings.Replace(moveable, `["eu", "us"]`, `["europe", "us"]`, 1),
			blocks: []string{`stack.region["eu"] stack.region["europe"]`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := moveableWorld(t, test.after)
			_, diags := w.TryPlan(engine.Normal)
			var blocks []string
			paste := make(map[string]bool)
			for _, diag := range diags {
				text := suggestedBlock.FindStringSubmatch(diag.Detail)
				if text == nil {
					t.Fatalf("no block in:\n%s", describe(diags))
				}
				blocks = append(blocks, text[1]+" "+text[2])
				paste[text[0]] = true
			}
			if diff := cmp.Diff(test.blocks, blocks); diff != "" {
				t.Fatalf("blocks (-want +got):\n%s", diff)
			}
			if strings.Contains(strings.Join(blocks, ""), "NEW_") {
				return
			}
			w.Write(mainFile + "\n" + test.after + strings.Join(slices.Collect(maps.Keys(paste)), ""))
			for addr, action := range actions(w.Plan(engine.Normal)) {
				if action != stackplan.NoOp {
					t.Errorf("with the block, %s has action %s, want no-op", addr, action)
				}
			}
		})
	}
}

var suggestedBlock = regexp.MustCompile(`(?s)\n  moved \{\n    from = (.+?)\n    to   = (.+?)\n  \}\n`)

// In an embedded stack the block is one for all instances of that.
func TestLeftOverInEmbeddedStackSuggestsMove(t *testing.T) {
	w := moveableWorld(t, moveable+strings.NewReplacer(`"inner" {`, `"first" {`, ".inner.", ".first.").Replace(moveableFiles))
	_, diags := w.TryPlan(engine.Normal)
	if len(diags) != 2 {
		t.Fatalf("diagnostics: %s; want one for each instance", describe(diags))
	}
	for _, diag := range diags {
		block := suggestedBlock.FindStringSubmatch(diag.Detail)
		if block == nil || block[1] != "component.inner" || block[2] != "component.first" ||
			!strings.Contains(diag.Detail, "in the files of stack.region says so") {
			t.Errorf("detail:\n%s", diag.Detail)
		}
	}
}

// A removed block that an error suggests destroys the instance that was left over, and nothing
// else, when it is pasted.
func TestLeftOverSuggestsRemovals(t *testing.T) {
	const region = `
stack "region" {
  for_each = { eu = ["a", "b"], us = ["a"] }
  source   = "./region"
  inputs   = { in = "${each.key}-1", keys = each.value }
}
`
	const files = `
-- region/main.tfcomponent.hcl --
variable "in" { type = string }
variable "keys" { type = set(string) }
component "inner" {
  for_each = var.keys
  source   = "../echo"
  inputs   = { in = var.in }
}
` + echoModule
	tests := map[string]struct {
		after string
		file  string // to paste into
		fill  []string
		want  []string
	}{
		"component": {
			after: strings.Replace(moveableEach, `["x", "y"]`, `["y"]`, 1) + region,
			want:  []string{`component.each["x"]`},
		},
		"last of a component": {
			after: strings.Replace(moveableEach, `["x", "y"]`, `[]`, 1) + region,
			want:  []string{`component.each["x"]`, `component.each["y"]`},
		},
		"component in one instance of a stack": {
			after: moveableEach + strings.Replace(region, `["a", "b"]`, `["b"]`, 1),
			file:  "region/more.tfcomponent.hcl",
			want:  []string{`stack.region["eu"].component.inner["a"]`},
		},
		"stack": {
			after: moveableEach + strings.Replace(region, `eu = ["a", "b"], `, "", 1),
			fill:  []string{`"VALUE_IT_HAD"`, `["a", "b"]`},
			want:  []string{`stack.region["eu"].component.inner["a"]`, `stack.region["eu"].component.inner["b"]`},
		},
		"block of a component": {
			after: region,
			fill:  []string{"./SOURCE-IT-HAD", "./echo"},
			want:  []string{`component.each["x"]`, `component.each["y"]`},
		},
		"block of a stack": {
			after: moveableEach,
			fill:  []string{"./SOURCE-IT-HAD", "./region", "= {}", `= { in = "", keys = ["a", "b"] }`},
			want: []string{
				`stack.region["eu"].component.inner["a"]`, `stack.region["eu"].component.inner["b"]`,
				`stack.region["us"].component.inner["a"]`,
				`stack.region["us"].component.inner["b"]`, // by the inputs of the block; there is nothing of it
			},
		},
	}
	block := regexp.MustCompile(`(?s)\n  removed \{\n.+?\n  \}\n`)
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, mainFile+moveableEach+region+files)
			w.Converge()
			w.Write(mainFile + "\n" + test.after)
			_, diags := w.TryPlan(engine.Normal)
			var blocks string
			for _, diag := range diags {
				blocks += block.FindString(diag.Detail)
			}
			if blocks = strings.NewReplacer(test.fill...).Replace(blocks); test.file != "" {
				w.Write("-- " + test.file + " --\n" + blocks)
			} else {
				w.Write(mainFile + "\n" + test.after + blocks)
			}
			var destroyed []string
			for addr, action := range actions(w.Plan(engine.Normal)) {
				if action == stackplan.Delete {
					destroyed = append(destroyed, addr)
				} else if action != stackplan.NoOp {
					t.Errorf("%s has action %s, want no-op", addr, action)
				}
			}
			slices.Sort(destroyed)
			if diff := cmp.Diff(test.want, destroyed); diff != "" {
				t.Errorf("destroyed (-want +got):\n%s\nby:%s", diff, blocks)
			}
		})
	}
}
