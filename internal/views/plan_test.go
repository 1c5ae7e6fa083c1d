// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package views

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deferral"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func planText(t *testing.T, plan *stackplan.Plan, options Options) string {
	t.Helper()
	var b strings.Builder
	if err := WritePlan(&b, plan, options); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestWritePlanOfEverything(t *testing.T) {
	viewtest.Golden(t, "plan/everything.txt", planText(t, viewtest.Plan(t), Options{}))
}

func TestWritePlanConcisely(t *testing.T) {
	viewtest.Golden(t, "plan/concise.txt", planText(t, viewtest.Plan(t), Options{Concise: true, Width: 60}))
}

// Components that only get other addresses are listed with both, and are not a reason to say that
// nothing changes.
func TestWritePlanWithMoves(t *testing.T) {
	plan := &stackplan.Plan{
		Applyable: true, Complete: true,
		Moved: []stackaddrs.Rename{{From: viewtest.Instance(t, "component.a"), To: viewtest.Instance(t, `component.b["k"]`)}},
		Components: []*stackplan.Component{
			{Addr: viewtest.Instance(t, `component.b["k"]`), Action: stackplan.NoOp, Complete: true},
			{Addr: viewtest.Instance(t, `component.c`), Action: stackplan.NoOp, Complete: true},
		},
	}
	if plan.IsEmpty() {
		t.Error("the plan is empty")
	}
	viewtest.Golden(t, "plan/moved.txt", planText(t, plan, Options{}))
	plan.Components[1].Action = stackplan.Update
	viewtest.Golden(t, "plan/moved_and_changed.txt", planText(t, plan, Options{}))
}

// A destroy plan adds and changes nothing, so that its table has no columns for that.
func TestWritePlanNamesUnknownInputs(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	plan := &stackplan.Plan{Applyable: true, Complete: true, Inputs: map[string]*stackplan.InputChange{
		"b": {Action: stackplan.Create, After: unknown.Mark(marks.Sensitive)},
		"a": {Action: stackplan.Create, After: cty.ListVal([]cty.Value{cty.StringVal("x"), unknown})},
		"c": {Action: stackplan.Create, After: cty.StringVal("x")},
	}}
	if got, want := planText(t, plan, Options{}), "Not known yet: var.a, var.b. To apply"; !strings.Contains(got, want) {
		t.Errorf("the text has no %q:\n%s", want, got)
	}
}

func TestTableOfDestroyPlan(t *testing.T) {
	plan := viewtest.Plan(t)
	plan.Mode = engine.Destroy
	plan.Components = slices.DeleteFunc(plan.Components, func(c *stackplan.Component) bool { return !c.Complete })
	for _, c := range plan.Components {
		c.Changes = slices.DeleteFunc(c.Changes, func(change *engine.Change) bool {
			return change.Action != engine.ActionDelete || change.IsMove()
		})
	}
	want := `
                            destroy
  component.app["b"]              1
  stack.inner.component.db        1
`
	if got := planText(t, plan, Options{}); !strings.Contains(got, want) {
		t.Errorf("the text has no table%s:\n%s", want, got)
	}
}

// Values that the last apply left unknown are new when an apply can find them out; a destroy plan
// shows the known parts of the state about them.
func TestOutputsThatWereNotKnown(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	urls := func(a, b cty.Value) cty.Value { return cty.MapVal(map[string]cty.Value{"a": a, "b": b}) }
	for name, test := range map[string]struct {
		output stackplan.OutputChange
		want   string
	}{
		"in part": {stackplan.OutputChange{
			Action: stackplan.Update, Before: urls(cty.StringVal("x"), unknown),
			After: urls(cty.StringVal("x"), unknown),
		}, "  ~ o = {\n      + \"b\" = (known after apply)\n        # (1 unchanged attribute " +
			"hidden)\n    }\n"},
		"as a whole": {stackplan.OutputChange{Action: stackplan.Update, Before: unknown, After: cty.StringVal("x")}, "  + o = \"x\"\n"},
		"in a list": {stackplan.OutputChange{
			Action: stackplan.Update, Before: cty.ListVal([]cty.Value{unknown}),
			After: cty.ListVal([]cty.Value{cty.StringVal("x")}),
		}, "  ~ o = [\n      + \"x\",\n    ]\n"},
		"to be gone": {stackplan.OutputChange{Action: stackplan.Delete, Before: urls(cty.StringVal("x"), unknown)}, "  - o = {\n      - \"a\" " +
			"= \"x\"\n      - \"b\" = (not known yet)\n    } -> null\n"},
		"still there": {stackplan.OutputChange{Action: stackplan.Update, Before: cty.StringVal("x"), After: unknown}, "  ~ o = \"x\" -> (known " +
			"after apply)\n"},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &stackplan.Plan{Applyable: true, Complete: true, Outputs: map[string]*stackplan.OutputChange{"o": &test.output}}
			if got, want := planText(t, plan, Options{}), "Changes to Outputs:\n"+test.want; !strings.HasPrefix(got, want) {
				t.Errorf("the text does not begin with\n%s\nbut is\n%s", want, got)
			}
		})
	}
}

// The total counts the components that the table lists, not those without resources.
func TestTotalCountsRowsOfTable(t *testing.T) {
	plan := &stackplan.Plan{Mode: engine.Destroy, Applyable: true, Complete: true}
	for _, name := range []string{"a", "b", "c"} {
		c := &stackplan.Component{Addr: viewtest.Instance(t, "component."+name), Action: stackplan.Delete, Complete: true}
		if name != "c" {
			c.Changes = []*engine.Change{{Addr: viewtest.Resource(t, "thing.x"), Action: engine.ActionDelete}}
		}
		plan.Components = append(plan.Components, c)
	}
	want := `
               destroy
  component.a        1
  component.b        1

Plan: 0 to add, 0 to change, 2 to destroy in 2 components.
`
	if got := planText(t, plan, Options{}); !strings.HasSuffix(got, want) {
		t.Errorf("the text does not end with%s\nbut is\n%s", want, got)
	}
}

func TestWritePlanInColor(t *testing.T) {
	plain := planText(t, viewtest.Plan(t), Options{})
	colored := planText(t, viewtest.Plan(t), Options{Color: true})
	if colored == plain {
		t.Error("colour changes nothing")
	}
	if got := ansi.Strip(colored); got != plain {
		t.Errorf("without its colours the text differs from the plain one:\n%s", got)
	}
}

func TestWritePlanDoesNotDependOnOrder(t *testing.T) {
	want := planText(t, viewtest.Plan(t), Options{})
	shuffled := viewtest.Plan(t)
	for _, c := range shuffled.Components {
		slices.Reverse(c.Changes)
		slices.Reverse(c.Drift)
	}
	if got := planText(t, shuffled, Options{}); got != want {
		t.Errorf("the text depends on the order of changes:\n%s", got)
	}
}

func TestWritePlanTotal(t *testing.T) {
	created := viewtest.Created(t)
	tests := map[string]struct {
		plan *stackplan.Plan
		want string
	}{
		"nothing": {
			&stackplan.Plan{Applyable: true, Complete: true, Components: []*stackplan.Component{viewtest.Unchanged(t)}},
			"No changes. Your infrastructure matches the configuration.\n",
		},
		"nothing to destroy": {
			&stackplan.Plan{Applyable: true, Complete: true, Mode: engine.Destroy},
			"No changes. There is nothing to destroy.\n",
		},
		"nothing to refresh": {
			&stackplan.Plan{Applyable: true, Complete: true, Mode: engine.RefreshOnly, Components: []*stackplan.Component{viewtest.Unchanged(t)}},
			"No changes. The state matches your infrastructure.\n",
		},
		"only outputs": {
			&stackplan.Plan{
				Applyable: true, Complete: true, Components: []*stackplan.Component{viewtest.Unchanged(t)},
				Outputs: map[string]*stackplan.OutputChange{"o": {
					Action: stackplan.Update, Before: cty.StringVal("a"), After: cty.StringVal("b"),
				}},
			},
			"Changes to Outputs:\n  ~ o = \"a\" -> \"b\"\n\nOnly outputs change. Applying this plan saves their new values and changes " +
				"no\ninfrastructure.\n",
		},
		"one component": {
			&stackplan.Plan{Applyable: true, Complete: true, Components: []*stackplan.Component{created, viewtest.Unchanged(t)}},
			"Plan: 1 to import, 1 to add, 0 to change, 0 to destroy in 1 component.\n",
		},
		"two components": {
			&stackplan.Plan{Applyable: true, Complete: true, Components: []*stackplan.Component{created, viewtest.Destroyed(t)}},
			"Plan: 1 to import, 1 to add, 0 to change, 1 to destroy in 2 components.\n",
		},
		"errors": {
			&stackplan.Plan{Components: []*stackplan.Component{{Addr: viewtest.Instance(t, "component.bad")}}},
			"Could not be planned: component.bad.\n\nPlan: 0 to add, 0 to change, 0 to destroy in 0 components.\n\n" +
				"Planning failed. The errors make this plan incomplete. It cannot be applied.\n",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := planText(t, test.plan, Options{}); !strings.HasSuffix(got, test.want) {
				t.Errorf("the text ends\n%s\nwant\n%s", got, test.want)
			}
		})
	}
}

func TestWritePlanThatFailedInPart(t *testing.T) {
	failed := viewtest.Created(t)
	failed.Complete, failed.Applyable = false, false
	got := planText(t, &stackplan.Plan{Components: []*stackplan.Component{failed}}, Options{})
	for _, want := range []string{
		`component.app["a"]  (./modules/app)  could be planned only in part`, `Could not be planned: component.app["a"].`,
		"It cannot be applied.",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text does not contain %q:\n%s", want, got)
		}
	}
}

func TestWritePlanThatOnlyRefreshes(t *testing.T) {
	drifted := viewtest.Unchanged(t)
	drifted.Drift = viewtest.Updated(t).Drift
	plan := &stackplan.Plan{Mode: engine.RefreshOnly, Applyable: true, Complete: true, Components: []*stackplan.Component{drifted}}
	if plan.IsEmpty() {
		t.Error("a refresh-only plan that found changes counts as empty")
	}
	got := planText(t, plan, Options{})
	for _, want := range []string{
		"# thing.lost has been deleted", "Applying this plan records it in the state.",
		"This is a refresh-only plan: applying it updates the state and changes no\ninfrastructure.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text does not contain %q:\n%s", want, got)
		}
	}
}

func TestWritePlanWithManyUnchangedComponents(t *testing.T) {
	components := []*stackplan.Component{viewtest.Created(t)}
	for i := range maxListed + 5 {
		components = append(components, &stackplan.Component{
			Addr: viewtest.Instance(t, fmt.Sprintf("component.same[%d]", i)), Action: stackplan.NoOp, Complete: true,
		})
	}
	got := planText(t, &stackplan.Plan{Applyable: true, Complete: true, Components: components}, Options{Width: 1000})
	if want := "component.same[19], and 5 more.\n"; !strings.Contains(got, want) {
		t.Errorf("the text does not contain %q:\n%s", want, got)
	}
}

func TestWritePlanWithDeferredComponents(t *testing.T) {
	wildcard := viewtest.PartialInstance(t, "component.each[*]")
	inPart := viewtest.Created(t)
	inPart.Complete, inPart.Deferred = false, viewtest.Deferred(t).Deferred
	got := planText(t, &stackplan.Plan{Applyable: true, Components: []*stackplan.Component{
		inPart,
		{Addr: wildcard, Source: "./each", Action: stackplan.Create},
		{
			Addr: viewtest.Instance(t, "component.next"), Action: stackplan.Update,
			Requires: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(wildcard)},
		},
	}}, Options{})
	for _, want := range []string{
		`component.app["a"]  (./modules/app)  will be created`,
		`component.app["a"]  (./modules/app)  is deferred in part: the number of instances is known only after apply`,
		"component.each[*]  (./each)  is deferred: its instances are known only after apply",
		"component.next  is deferred: something that it depends on is deferred",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text does not contain %q:\n%s", want, got)
		}
	}
	for _, unwanted := range []string{"Could not be planned", "Planning failed"} {
		if strings.Contains(got, unwanted) {
			t.Errorf("the text contains %q:\n%s", unwanted, got)
		}
	}
}

func TestWritePlanThatOnlyRefreshesListsWhatDiffers(t *testing.T) {
	drifted, same := viewtest.Unchanged(t), viewtest.Unchanged(t)
	drifted.Addr, drifted.Action, drifted.Drift = viewtest.Instance(t, "component.drifted"), stackplan.Read, viewtest.Updated(t).Drift
	outputs := &stackplan.Component{Addr: viewtest.Instance(t, "component.outputs"), Action: stackplan.Read, Complete: true}
	plan := &stackplan.Plan{Mode: engine.RefreshOnly, Applyable: true, Complete: true, Components: []*stackplan.Component{
		drifted,
		same, outputs,
	}}
	if plan.IsEmpty() {
		t.Error("a plan that records outputs counts as empty")
	}
	got := planText(t, plan, Options{})
	for text, want := range map[string]int{
		"component.drifted":           1,
		"component.outputs":           1,
		"will be recorded":            1,
		"during apply":                0,
		"only outputs":                1,
		"Unchanged: component.net.\n": 1,
	} {
		if n := strings.Count(got, text); n != want {
			t.Errorf("the text contains %q %d times, want %d:\n%s", text, n, want, got)
		}
	}
}

// On a narrow terminal, comments on components and resources break between words.
func TestWritePlanOnNarrowTerminal(t *testing.T) {
	plan := &stackplan.Plan{
		Applyable: true,
		Moved: []stackaddrs.Rename{{
			From: viewtest.Instance(t, `stack.old.component.node["a"]`),
			To:   viewtest.Instance(t, `stack.new.component.node["a"]`),
		}},
		Components: []*stackplan.Component{
			{Addr: viewtest.Instance(t, `component.service["eu-central-1"]`), Source: "./service", Action: stackplan.Update, Complete: true},
			{
				Addr: viewtest.Instance(t, `component.node["a"]`), Source: "./node", Action: stackplan.Update,
				DeferredReason: deferral.DeferredPrerequisite,
				Deferred: []engine.DeferredChange{{
					Reason: deferral.InstanceCountUnknown,
					Change: &engine.Change{Addr: viewtest.Resource(t, "thing.many[*]")},
				}},
			},
		},
	}
	got := planText(t, plan, Options{Width: 44})
	for _, want := range []string{
		"  # stack.old.component.node[\"a\"] has moved\n  # to stack.new.component.node[\"a\"]\n",
		"component.service[\"eu-central-1\"]\n  (./service)  will be updated\n\n",
		"component.node[\"a\"]  (./node)\n  is deferred: something that it depends on\n  is deferred\n\n" +
			"  # thing.many[*] is deferred\n  # (because the number of instances is\n  # known only after apply)\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the text lacks\n%s\nbut is\n%s", want, got)
		}
	}
}

// The plan of a root module names no component, and counts none.
func TestWriteModulePlan(t *testing.T) {
	whole := viewtest.Plan(t)
	module := &stackplan.Component{Action: stackplan.NoOp, Complete: true, Applyable: true}
	for _, c := range whole.Components {
		module.Changes = append(module.Changes, c.Changes...)
		module.Drift = append(module.Drift, c.Drift...)
		module.Checks = append(module.Checks, c.Checks...)
	}
	plan := &stackplan.Plan{Applyable: true, Complete: true, Components: []*stackplan.Component{module}, Outputs: whole.Outputs}
	var b strings.Builder
	if err := WriteModulePlan(&b, plan, Options{}); err != nil {
		t.Fatal(err)
	}
	if strings.Contains(b.String(), "component") {
		t.Error("the text speaks of components")
	}
	viewtest.Golden(t, "plan/module.txt", b.String())
}

func TestWriteModuleSummary(t *testing.T) {
	counts := stackplan.Counts{Add: 1, Remove: 2}
	for want, summary := range map[string]ModuleSummary{
		"Apply complete! Resources: 1 added, 0 changed, 2 destroyed.\n":    {Counts: counts},
		"Destroy complete! Resources: 1 added, 2 destroyed.\n":             {Destroy: true, Counts: counts},
		"Apply incomplete. Resources: 1 added, 0 changed, 2 destroyed.\n":  {Failed: true, Counts: counts},
		"Apply interrupted. Resources: 1 added, 0 changed, 2 destroyed.\n": {Failed: true, Interrupted: true, Counts: counts},
	} {
		var b strings.Builder
		if err := WriteModuleSummary(&b, summary, Options{}); err != nil {
			t.Fatal(err)
		}
		if b.String() != want {
			t.Errorf("WriteModuleSummary(%+v) = %q, want %q", summary, b.String(), want)
		}
	}
}
