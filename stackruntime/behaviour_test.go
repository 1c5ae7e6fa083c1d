// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

const echoModule = `
-- echo/main.tf --
variable "in" {
  type    = any
  default = null
}
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`

func summaries(diags hcl.Diagnostics) []string {
	var got []string
	for _, d := range diags {
		got = append(got, d.Summary)
	}
	slices.Sort(got)
	return got
}

func component(t *testing.T, addr string) stackaddrs.AbsComponentInstance {
	t.Helper()
	parsed, err := stackaddrs.ParseAbsComponentInstance(addr)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func requires(plan *stackplan.Plan) map[string][]string {
	got := make(map[string][]string)
	for _, c := range plan.Components {
		names := []string{}
		for _, r := range c.Requires {
			names = append(names, r.String())
		}
		got[c.Addr.String()] = names
	}
	return got
}

// The outcome of a failing component: its partial state is kept, dependents are skipped, the rest
// goes on; the next plan continues from there.
func TestFailedComponentIsKeptAndOthersGoOn(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
variable "limit" {
  type    = number
  default = 1
}
component "base" {
  source = "./echo"
  inputs = { in = "b" }
}
component "flaky" {
  source = "./flaky"
  inputs = { in = component.base.out, limit = var.limit }
}
component "after" {
  source = "./echo"
  inputs = { in = component.flaky.out }
}
component "last" {
  source = "./echo"
  inputs = { in = component.after.out }
}
component "other" {
  source = "./echo"
}
-- flaky/main.tf --
variable "in" { type = string }
variable "limit" { type = number }
resource "terraform_data" "first" { input = var.in }
resource "terraform_data" "second" {
  input = "${terraform_data.first.output}${var.limit}"
  lifecycle {
    postcondition {
      condition     = self.output != "b1"
      error_message = "One is too few."
    }
  }
}
output "out" { value = terraform_data.second.output }
`+echoModule)

	plan := w.Plan(engine.Normal)
	result, diags := w.TryApply(plan)
	if len(diags) != 1 || !strings.Contains(describe(diags), "One is too few.") {
		t.Fatalf("apply: %s; want the failed condition only", describe(diags))
	}
	want := map[string]hooks.Status{
		"component.base": hooks.Applied, "component.other": hooks.Applied,
		"component.flaky": hooks.Failed, "component.after": hooks.Skipped, "component.last": hooks.Skipped,
	}
	got := make(map[string]hooks.Status)
	for addr, outcome := range result.Components {
		got[addr.String()] = outcome.Status
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("outcomes (-want +got):\n%s", diff)
	}
	if got, want := result.Counts(), (stackplan.Counts{Add: 4}); got != want {
		t.Errorf("counts = %+v, want %+v: what a failing component made counts too", got, want)
	}
	objects, err := tfstate.ParseObjects(w.State.Components[component(t, "component.flaky")].Module)
	if err != nil || len(objects) == 0 {
		t.Errorf("objects of component.flaky = %v, %v; want those that were created", objects, err)
	}
	if left, err := tfstate.ParseObjects(w.State.Components[component(t, "component.after")].Module); err != nil || len(left) > 0 {
		t.Error("component.after was skipped but has objects")
	}

	w.Inputs["limit"] = cty.NumberIntVal(2)
	next := w.Plan(engine.Normal)
	if a := actions(next)["component.base"]; a != stackplan.NoOp {
		t.Errorf("component.base has action %s in the next plan, want no-op", a)
	}
	w.Apply(next)
	if got, want := w.State.Components[component(t, "component.last")].Outputs["out"], cty.StringVal("b2"); !got.RawEquals(want) {
		t.Errorf("result of the last component = %#v, want %#v", got, want)
	}
}

func applyOrder(w *world) []string {
	var order []string
	for _, call := range w.engine.CallsOf(memengine.Apply) {
		order = append(order, call.Component.String())
	}
	return order
}

// Rows 196, 197 and 207.
func TestDestroyRunsInReverseOrder(t *testing.T) {
	w := newWorld(t, chain)
	w.Apply(w.Plan(engine.Normal))
	if diff := cmp.Diff([]string{"component.a", "component.b", "component.c"}, applyOrder(w)); diff != "" {
		t.Errorf("order of creation (-want +got):\n%s", diff)
	}
	w.engine.Forget()
	w.Apply(w.Plan(engine.Destroy))
	if diff := cmp.Diff([]string{"component.c", "component.b", "component.a"}, applyOrder(w)); diff != "" {
		t.Errorf("order of destruction (-want +got):\n%s", diff)
	}

	// Row 217: destroying a component that is not there.
	w.Apply(w.Plan(engine.Destroy))
}

const nested = `
-- main.tfcomponent.hcl --
variable "regions" {
  type    = set(string)
  default = ["eu", "us"]
}
component "base" {
  source = "./echo"
  inputs = { in = "base" }
}
stack "region" {
  for_each = var.regions
  source   = "./region"
  inputs   = { name = each.key, base = component.base.out }
}
component "sum" {
  source = "./echo"
  inputs = { in = [for name, r in stack.region : "${name}=${r.result}"] }
}
output "all" {
  type  = list(string)
  value = component.sum.out
}
-- region/main.tfcomponent.hcl --
variable "name" { type = string }
variable "base" { type = string }
component "inner" {
  for_each = { one = 1, two = 2 }
  source   = "../echo"
  inputs   = { in = "${var.name}-${var.base}-${each.value}" }
}
component "free" {
  source = "../echo"
}
output "result" {
  type  = string
  value = join(",", [for c in component.inner : c.out])
}
` + echoModule

// Rows 134 and 135.
func TestEmbeddedStacksForEach(t *testing.T) {
	w := newWorld(t, nested)
	plan := w.Plan(engine.Normal)
	inStack := func(region, name string) string { return `stack.region["` + region + `"].component.` + name }
	all := []string{inStack("eu", "free"), inStack("eu", "inner"), inStack("us", "free"), inStack("us", "inner")}
	want := map[string][]string{
		"component.base":              {},
		inStack("eu", `inner["one"]`): {"component.base"},
		inStack("eu", `inner["two"]`): {"component.base"},
		inStack("us", `inner["one"]`): {"component.base"},
		inStack("us", `inner["two"]`): {"component.base"},
		inStack("eu", "free"):         {},
		inStack("us", "free"):         {},
		"component.sum":               append([]string{"component.base"}, all...),
	}
	if diff := cmp.Diff(want, requires(plan)); diff != "" {
		t.Errorf("required components (-want +got):\n%s", diff)
	}
	w.Apply(plan)
	wantOut := cty.ListVal([]cty.Value{cty.StringVal("eu=eu-base-1,eu-base-2"), cty.StringVal("us=us-base-1,us-base-2")})
	if got := w.State.Outputs["all"]; !got.RawEquals(wantOut) {
		t.Errorf("output all = %#v, want %#v", got, wantOut)
	}
	w.Apply(w.Plan(engine.Destroy))
	if len(w.State.Components) != 0 {
		t.Errorf("left after destroy: %v", slices.Collect(maps.Keys(w.State.Components)))
	}
}

// Rows 115 and 130: an instance that is no longer in the configuration is never dropped silently.
func TestLeftOverInstancesAreErrors(t *testing.T) {
	w := newWorld(t, nested)
	w.Apply(w.Plan(engine.Normal))
	w.Inputs["regions"] = cty.SetVal([]cty.Value{cty.StringVal("eu")})
	plan, diags := w.TryPlan(engine.Normal)
	want := []string{"Embedded stack left over"}
	if diff := cmp.Diff(want, summaries(diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
	if plan.Applyable || len(plan.Components) == 0 {
		t.Errorf("applyable %v with %d components, want not applyable but the rest announced", plan.Applyable, len(plan.Components))
	}
	if _, diags := w.TryApply(plan); len(diags) != 1 || diags[0].Summary != "Plan cannot be applied" {
		t.Errorf("apply of a plan with errors: %s", describe(diags))
	}
}

// Rows 51 to 54, 56 to 58, 65.
func TestRootVariables(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
variable "required" { type = string }
variable "defaulted" {
  type    = number
  default = 3
}
variable "object" {
  type = object({ a = optional(string, "x"), b = optional(object({ c = optional(number, 7) }), {}) })
  default = {}
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "token" {
  type      = string
  ephemeral = true
  default   = null
}
component "c" {
  source = "./echo"
  inputs = { in = { secret = var.secret, object = var.object } }
}
output "defaulted" {
  type  = number
  value = var.defaulted
}
component "keeper" {
  source = "./keeper"
  inputs = { in = var.secret }
}
output "secret" {
  type  = string
  value = component.keeper.out
}
-- keeper/main.tf --
variable "in" {
  type = string
}
output "out" {
  value     = var.in
  sensitive = true
}
`+echoModule)
	_, diags := w.TryPlan(engine.Normal)
	if diff := cmp.Diff([]string{"Value needed for variable", "Value needed for variable"}, summaries(diags)); diff != "" {
		t.Errorf("missing values (-want +got):\n%s", diff)
	}

	w.Inputs["required"] = cty.True // converted
	w.Inputs["secret"] = cty.StringVal("hush")
	w.Inputs["defaulted"] = cty.NullVal(cty.DynamicPseudoType) // the default
	w.Inputs["token"] = cty.StringVal("t1")
	plan := w.Plan(engine.Normal)
	if got := plan.Inputs["required"].After; !got.RawEquals(cty.StringVal("true")) {
		t.Errorf("required = %#v, want the value converted to string", got)
	}
	if got := plan.Outputs["defaulted"].After; !got.RawEquals(cty.NumberIntVal(3)) {
		t.Errorf("defaulted = %#v, want 3", got)
	}
	wantObject := cty.ObjectVal(map[string]cty.Value{
		"a": cty.StringVal("x"),
		"b": cty.ObjectVal(map[string]cty.Value{"c": cty.NumberIntVal(7)}),
	})
	if got := plan.Inputs["object"].After; !got.RawEquals(wantObject) {
		t.Errorf("object = %#v, want all defaults filled in", got)
	}
	token := plan.Inputs["token"]
	if !token.After.IsNull() || !token.RequiredOnApply {
		t.Errorf("token = %#v, required on apply %v; want null and true", token.After, token.RequiredOnApply)
	}
	if !marks.Contains(plan.Components[0].Inputs["in"], marks.Sensitive) {
		t.Error("the mark of a sensitive variable is lost in a component input")
	}

	// Row 173: an ephemeral variable is needed again.
	_, diags = w.TryApply(plan)
	if diff := cmp.Diff([]string{"Value needed for variable"}, summaries(diags)); diff != "" {
		t.Errorf("apply without the ephemeral value (-want +got):\n%s", diff)
	}
	if !marks.Contains(w.State.Outputs["secret"], marks.Sensitive) {
		t.Errorf("output secret = %#v, want it sensitive", w.State.Outputs["secret"])
	}
	if v, ok := w.State.Inputs["token"]; ok {
		t.Errorf("token is in the state as %#v although it had no value", v)
	}
}

// Rows 78 to 99, a selection.
func TestVariableValidation(t *testing.T) {
	const config = `
-- main.tfcomponent.hcl --
variable "v" {
  type      = any_type
  validation {
    condition     = COND
    error_message = MSG
  }
}
`
	tests := map[string]struct {
		typ, cond, msg string
		flags          string
		value          cty.Value
		want           []string
	}{
		"holds": {"number", "var.v > 1", `"small"`, "", cty.NumberIntVal(2), nil},
		"fails": {"number", "var.v > 1", `"small"`, "", cty.NumberIntVal(1), []string{"Variable value rejected"}},
		"null condition": {
			"string",
			`var.v == "a" ? null : null`,
			`"x"`,
			"",
			cty.StringVal("b"),
			[]string{"Validation condition gave no yes/no answer"},
		},
		"list condition":     {"string", `[var.v]`, `"x"`, "", cty.StringVal("b"), []string{"Validation condition gave no yes/no answer"}},
		"unknown condition":  {"string", `var.v == uuid()`, `"x"`, "", cty.StringVal("b"), nil},
		"error in condition": {"string", `var.v.x == 1`, `"x"`, "", cty.StringVal("b"), []string{"Unsupported attribute"}},
		"unknown message":    {"string", `var.v == "a"`, `uuid()`, "", cty.StringVal("b"), []string{"Unusable validation message"}},
		"null message": {
			"string",
			`var.v == "a"`,
			`var.v == "b" ? null : ""`,
			"",
			cty.StringVal("b"),
			[]string{"Variable value rejected"},
		},
		"message of wrong type": {
			"string",
			`var.v == "a"`,
			`["x"]`,
			"",
			cty.StringVal("b"),
			[]string{"Unusable validation message", "Variable value rejected"},
		},
		"other variable": {"string", `var.v == var.w`, `"x"`, "", cty.StringVal("b"), []string{"Reference not allowed here"}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			text := strings.NewReplacer("any_type", test.typ+"\n"+test.flags, "COND", test.cond, "MSG", test.msg).Replace(config)
			w := newWorld(t, text)
			w.Inputs["v"] = test.value
			_, diags := w.TryPlan(engine.Normal)
			if diff := cmp.Diff(test.want, summaries(diags)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s\n%s", diff, describe(diags))
			}
		})
	}
}

// Row 136.
func TestDependsOn(t *testing.T) {
	w := newWorld(t, `
-- main.tfcomponent.hcl --
component "empty" {
  for_each = {}
  source   = "./echo"
}
component "first" {
  source     = "./echo"
  depends_on = [component.empty, stack.s]
}
component "second" { source = "./echo" }
stack "s" {
  source     = "./s"
  inputs     = { x = "y" }
  depends_on = [component.second]
}
-- s/main.tfcomponent.hcl --
variable "x" { type = string }
component "uses" {
  source = "../echo"
  inputs = { in = var.x }
}
component "free" { source = "../echo" }
`+echoModule)
	want := map[string][]string{
		"component.first":        {"component.empty", "component.second", "stack.s.component.free", "stack.s.component.uses"},
		"component.second":       {},
		"stack.s.component.uses": {"component.second"},
		"stack.s.component.free": {},
	}
	plan := w.Plan(engine.Normal)
	if diff := cmp.Diff(want, requires(plan)); diff != "" {
		t.Errorf("required components (-want +got):\n%s", diff)
	}
	w.Apply(plan)
}

// Whoever writes down the records of all changes has the state.
func TestRecordsOfChangesMakeTheState(t *testing.T) {
	w := newWorld(t, nested)
	stored := map[string][]byte{"xxxx-dropped": []byte("old"), "aaaA-kept": []byte("kept")}
	load := func(records map[string][]byte) *stackstate.State {
		state, err := stackstate.FromRecords(records)
		if err != nil {
			t.Fatal(err)
		}
		return state
	}
	// Loading gives documents that have no lineage one of their own.
	loaded := func(records map[string][]byte) map[string][]byte {
		records, err := load(records).Records()
		if err != nil {
			t.Fatal(err)
		}
		return records
	}
	for _, mode := range []engine.Mode{engine.Normal, engine.Normal, engine.Destroy} {
		w.State = load(stored)
		plan := w.Plan(mode)
		opts, _ := w.Options()
		result, diags := stackruntime.Apply(t.Context(), stackruntime.ApplyRequest{
			Options: opts, Plan: plan, Prior: w.State,
			Save: func(_ context.Context, change stackruntime.StateChange) error {
				records, err := change.Records()
				for key, value := range records {
					if value == nil {
						delete(stored, key)
						continue
					}
					stored[key] = value
				}
				return err
			},
		})
		if diags.HasErrors() {
			t.Fatal(describe(diags))
		}
		want, err := result.State.Records()
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(slices.Sorted(maps.Keys(want)), slices.Sorted(maps.Keys(stored))); diff != "" {
			t.Errorf("%s: keys of records (-of the result +saved):\n%s", mode, diff)
		}
		if diff := cmp.Diff(loaded(want), loaded(stored)); diff != "" {
			t.Errorf("%s: records (-of the result +saved):\n%s", mode, diff)
		}
	}
	if diff := cmp.Diff([]string{"aaaA-kept"}, slices.Collect(maps.Keys(stored))); diff != "" {
		t.Errorf("left after destroy (-want +got):\n%s", diff)
	}
}

// A state that cannot be saved ends the apply before the next component.
func TestSaveErrorStopsTheApply(t *testing.T) {
	w := newWorld(t, chain)
	plan := w.Plan(engine.Normal)
	opts, _ := w.Options()
	var tries int
	_, diags := stackruntime.Apply(t.Context(), stackruntime.ApplyRequest{
		Options: opts, Plan: plan,
		Save: func(context.Context, stackruntime.StateChange) error {
			tries++
			return errors.New("no space left")
		},
	})
	if tries == 0 || !strings.Contains(describe(diags), "no space left") {
		t.Errorf("%d tries to save; diagnostics: %s", tries, describe(diags))
	}
	if order := applyOrder(w); len(order) != 1 {
		t.Errorf("applied %v, want nothing after the first component", order)
	}
}

// A caller that has saved a change can end the apply before the next component.
func TestSaveEndsTheApply(t *testing.T) {
	w := newWorld(t, chain)
	plan := w.Plan(engine.Normal)
	opts, _ := w.Options()
	result, diags := stackruntime.Apply(t.Context(), stackruntime.ApplyRequest{
		Options: opts, Plan: plan,
		Save: func(context.Context, stackruntime.StateChange) error {
			return fmt.Errorf("no space left: %w", stackruntime.ErrBeginNothing)
		},
	})
	if diags.HasErrors() {
		t.Errorf("diagnostics of a change that was saved: %s", describe(diags))
	}
	order := applyOrder(w)
	if len(order) != 1 {
		t.Errorf("applied %v, want nothing after the first component", order)
	}
	for addr, outcome := range result.Components {
		want := hooks.Skipped
		if addr.String() == order[0] {
			want = hooks.Applied
		}
		if outcome.Status != want {
			t.Errorf("%s: status %v, want %v", addr, outcome.Status, want)
		}
	}
}

func TestRow266InspectSeesRecordedOutputs(t *testing.T) {
	w := newWorld(t, nested)
	w.Apply(w.Plan(engine.Normal))
	opts, _ := w.Options()
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: opts, State: w.State, Inputs: w.State.Inputs})
	for text, want := range map[string]cty.Value{
		`component.base.out`:                             cty.StringVal("base"),
		`stack.region["eu"].result`:                      cty.StringVal("eu-base-1,eu-base-2"),
		`sort([for k, _ in stack.region : upper(k)])[1]`: cty.StringVal("US"),
	} {
		e, diags := hclsyntax.ParseExpression([]byte(text), "<expression>", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got, diags := inspector.EvalExpr(t.Context(), e)
		if diags.HasErrors() || !got.RawEquals(want) {
			t.Errorf("%s = %#v, %s; want %#v", text, got, describe(diags), want)
		}
	}
}

// The same plan whatever task runs first (rule V5 of package stackeval).
func TestPlansDoNotDependOnScheduling(t *testing.T) {
	w := newWorld(t, nested)
	want := w.Plan(engine.Normal)
	for range 20 {
		w.Parallelism = 1
		opts, _ := w.Options()
		got, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{Options: opts, Timestamp: want.Timestamp})
		if diags.HasErrors() {
			t.Fatal(describe(diags))
		}
		compare := cmp.Comparer(func(a, b cty.Value) bool { return a.RawEquals(b) })
		exported := cmp.Comparer(func(a, b stackaddrs.AbsComponentInstance) bool { return a == b })
		component := cmp.Comparer(func(a, b stackaddrs.AbsComponent) bool { return a == b })
		resource := cmp.Comparer(func(a, b stackaddrs.ResourceInstance) bool { return a == b })
		if diff := cmp.Diff(want, got, compare, exported, component, resource, cmp.Comparer(cty.Path.Equals)); diff != "" {
			t.Fatalf("another plan (-first +this):\n%s", diff)
		}
	}
}

// Slow components are saved while they are applied, quick ones at their end only.
func TestCheckpointsAreSavedNowAndThen(t *testing.T) {
	for name, test := range map[string]struct {
		pause time.Duration
		saves int
	}{
		"slow":  {2 * time.Second, 3},
		"quick": {time.Millisecond, 1},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, `
-- main.tfcomponent.hcl --
component "c" { source = "./mod" }
-- mod/main.tf --
# Is made of Go functions.
`)
			module := &memengine.Module{Resources: []memengine.Resource{{Name: "a"}, {Name: "b", DependsOn: []string{"a"}}}}
			config, diags := stackconfig.Load(w.Dir)
			if diags.HasErrors() {
				t.Fatal(describe(diags))
			}
			synctest.Test(t, func(t *testing.T) {
				opts := stackruntime.Options{Config: config, Session: enginetest.Open(t, memengine.New(memengine.Options{
					Modules: map[string]*memengine.Module{filepath.Join(w.Dir, "mod"): module},
					Before: func(_ context.Context, call memengine.Call) error {
						if call.Operation == memengine.Create {
							time.Sleep(test.pause) //nolint:forbidigo // virtual time
						}
						return nil
					},
				}), engine.SessionOptions{})}
				plan, diags := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{Options: opts})
				if diags.HasErrors() {
					t.Fatal(describe(diags))
				}
				var objects []int
				_, diags = stackruntime.Apply(t.Context(), stackruntime.ApplyRequest{
					Options: opts, Plan: plan,
					Save: func(_ context.Context, change stackruntime.StateChange) error {
						list, err := tfstate.ParseObjects(change.After.Module)
						objects = append(objects, len(list))
						return err
					},
				})
				if diags.HasErrors() {
					t.Fatal(describe(diags))
				}
				if len(objects) != test.saves || objects[len(objects)-1] != 2 {
					t.Errorf("saved states with %v objects, want %d states and both objects in the last", objects, test.saves)
				}
			})
		})
	}
}
