// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// wantSummaries compares the summaries of the diagnostics of validating and planning.
func wantSummaries(t *testing.T, s *stacktest.Stack, want string) {
	t.Helper()
	_, planning := s.TryPlan(engine.Normal)
	for operation, diags := range map[string]hcl.Diagnostics{"validate": s.Validate(), "plan": planning} {
		if diff := cmp.Diff(want, stacktest.Summaries(diags)); diff != "" {
			t.Errorf("%s: diagnostics (-want +got):\n%s%s", operation, diff, stacktest.Explain(diags))
		}
	}
}

// plannedInputs are the inputs of a component in a plan.
func plannedInputs(t *testing.T, plan *stackplan.Plan, addr string) string {
	t.Helper()
	for _, c := range plan.Components {
		if c.Addr.String() == addr {
			return stacktest.ValuesText(c.Inputs)
		}
	}
	t.Fatalf("%s is not in the plan", addr)
	return ""
}

// The root has no requirements and still takes a configuration that a child stack hands out.
func TestQuirkB03ProviderOfChildStack(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
stack "child" { source = "./child" }
component "a" {
  source    = "./mod"
  providers = { fake = stack.child.config }
}
-- child/main.tfcomponent.hcl --
`+fakeRequired+`
provider "fake" "main" {}
output "config" {
  type  = providerconfig(fake)
  value = provider.fake.main
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "terraform_data" "this" {}
`, withFakeProvider)
	wantPlan(t, s, "component.a: create, applyable\n  terraform_data.this: create\n")
}

func TestQuirkB04StackDeclaredAndRemoved(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- a.tfcomponent.hcl --
removed {
  from   = stack.x
  source = "./child"
}
-- b.tfcomponent.hcl --
stack "x" { source = "./child" }
-- child/main.tfcomponent.hcl --
component "c" { source = "../echo" }
`+echoModule)
	wantSummaries(t, s, "error a.tfcomponent.hcl:2: Stack both declared and removed\n")
}

// The instance that a block removes counts, not the key of its own for_each.
func TestQuirkB05KeysOfRemovedStacks(t *testing.T) {
	const stacks = `
-- main.tfcomponent.hcl --
variable "keys" { type = set(string) }
variable "gone" { type = map(string) }
stack "a" {
  for_each = var.keys
  source   = "./child"
}
removed {
  for_each = var.gone
  from     = stack.a[each.value]
  source   = "./child"
}
-- child/main.tfcomponent.hcl --
component "c" { source = "../echo" }
` + echoModule
	keys := func(names ...string) cty.Value {
		var values []cty.Value
		for _, name := range names {
			values = append(values, cty.StringVal(name))
		}
		return cty.SetVal(values)
	}
	gone := func(key, value string) cty.Value { return cty.MapVal(map[string]cty.Value{key: cty.StringVal(value)}) }
	for name, test := range map[string]struct {
		gone cty.Value
		want string
	}{
		"same key, other target": {gone("one", "two"), ""},
		"other key, same target": {gone("two", "one"), "error main.tfcomponent.hcl:9: Instance both declared and removed\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, stacks)
			s.Inputs["keys"], s.Inputs["gone"] = keys("one", "two"), cty.MapValEmpty(cty.String)
			s.Converge()
			s.Inputs["keys"], s.Inputs["gone"] = keys("one"), test.gone
			plan, diags := s.TryPlan(engine.Normal)
			if diags.HasErrors() {
				diags = diags[:1]
			}
			got := stacktest.Summaries(diags)
			if got != test.want {
				t.Errorf("got %s, want %s", stacktest.Explain(diags), test.want)
			}
			if test.want == "" && plan.Counts() != (stackplan.Counts{Remove: 1}) {
				t.Errorf("counts = %+v, want one removal", plan.Counts())
			}
		})
	}
}

// Keys of records that no version needs any more are dropped by the next apply, even one that
// changes nothing.
func TestQuirkB09DiscardableRecords(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n")
	state, err := stackstate.FromRecords(map[string][]byte{"oldeone": []byte("1"), "oldyother": []byte("2"), "keeP": []byte("3")})
	if err != nil {
		t.Fatal(err)
	}
	s.State = state
	dropped := map[string]bool{}
	s.Apply(s.Plan(engine.Normal), func(req *stackruntime.ApplyRequest) {
		req.Save = func(_ context.Context, change stackruntime.StateChange) error {
			records, err := change.Records()
			for key, value := range records {
				dropped[key] = value == nil
			}
			return err
		}
	})
	if diff := cmp.Diff(map[string]bool{"oldeone": true, "oldyother": true}, dropped); diff != "" {
		t.Errorf("records saved, and whether they are dropped (-want +got):\n%s", diff)
	}
	if len(s.State.Discarded) > 0 {
		t.Errorf("left: %v", s.State.Discarded)
	}
}

// In static checks terraform.applying is an unknown bool, and ephemeral.
func TestQuirkB11Applying(t *testing.T) {
	const modules = `
-- takes/main.tf --
variable "in" {
  type      = bool
  ephemeral = true
}
resource "terraform_data" "this" {}
-- keeps/main.tf --
variable "in" { type = bool }
`
	t.Run("allowed", func(t *testing.T) {
		t.Parallel()
		s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
locals {
  applying = !terraform.applying
}
provider "fake" "main" {
  config { region = terraform.applying ? "now" : "later" }
}
component "a" {
  source = "./takes"
  inputs = { in = local.applying }
}
stack "s" {
  source = "./child"
  inputs = { in = terraform.applying }
}
-- child/main.tfcomponent.hcl --
variable "in" {
  type      = bool
  ephemeral = true
}
`+modules, withFakeProvider)
		wantPlan(t, s, "component.a: create, applyable\n  terraform_data.this: create\n")
		s.Converge()
	})
	t.Run("refused", func(t *testing.T) {
		t.Parallel()
		s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "kept" {
  source = "./keeps"
  inputs = { in = terraform.applying }
}
component "each" {
  source   = "./keeps"
  for_each = terraform.applying ? { a = true } : {}
  inputs   = { in = each.value }
}
output "no_number" {
  type  = number
  value = terraform.applying
}
`+modules)
		wantSummaries(t, s, `error main.tfcomponent.hcl:12: Output value has the wrong type
error main.tfcomponent.hcl:3: Variable does not take ephemeral values
error main.tfcomponent.hcl:7: for_each cannot be ephemeral
`)
	})
}

// An inputs argument may be unknown or marked as a whole.
func TestQuirkB13WholeInputs(t *testing.T) {
	const stack = `
-- main.tfcomponent.hcl --
variable "secret" {
  type      = object({ a = string, b = number })
  sensitive = true
}
variable "passing" {
  type      = object({ a = string })
  ephemeral = true
}
component "source" {
  source = "./echo"
  inputs = { in = { a = "x", b = 1 } }
}
component "unknown" {
  source = "./two"
  inputs = component.source.out
}
component "secret" {
  source = "./two"
  inputs = var.secret
}
component "both" {
  source = "./two"
  inputs = sensitive(component.source.out)
}
component "passing" {
  source = "./one"
  inputs = var.passing
}
-- one/main.tf --
variable "a" {
  type      = string
  ephemeral = true
}
-- two/main.tf --
variable "a" { type = string }
variable "b" {
  type    = number
  default = 5
}
resource "terraform_data" "this" { input = "${var.a} ${var.b}" }
` + echoModule
	s := stacktest.InMemory(t, stack)
	if diags := s.Validate(); len(diags) > 0 {
		t.Errorf("validate:\n%s", stacktest.Explain(diags))
	}
	s.Inputs["secret"] = cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("s"), "b": cty.NumberIntVal(2)})
	s.Ephemeral["passing"] = cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("p")})
	plan := s.Plan(engine.Normal)
	for addr, want := range map[string]string{
		"component.unknown": "a = (unknown)\nb = (unknown)\n",
		"component.secret":  "a = (sensitive \"s\")\nb = (sensitive 2)\n",
		"component.both":    "a = (sensitive (unknown))\nb = (sensitive (unknown))\n",
		"component.passing": "a = null\n",
	} {
		if diff := cmp.Diff(want, plannedInputs(t, plan, addr)); diff != "" {
			t.Errorf("inputs of %s (-want +got):\n%s", addr, diff)
		}
	}
	s.Apply(plan)
	sameState(t, s, `input passing = null
input secret = (sensitive {a = "s", b = 2})
component.both, requires component.source
  terraform_data.this
  in a = (sensitive "x")
  in b = (sensitive 1)
component.passing
  in a = null
component.secret
  terraform_data.this
  in a = (sensitive "s")
  in b = (sensitive 2)
component.source, required by component.both component.unknown
  terraform_data.this
  in in = {a = "x", b = 1}
  out out = {a = "x", b = 1}
component.unknown, requires component.source
  terraform_data.this
  in a = "x"
  in b = 1
`)
}

// Ephemeral values stay out of variables that would be stored, however little of them is known.
func TestQuirkB13WholeEphemeralInputs(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "passing" {
  type      = object({ a = string })
  ephemeral = true
}
component "source" {
  source = "./echo"
  inputs = { in = "x" }
}
component "one" {
  source = "./kept"
  inputs = var.passing
}
component "two" {
  source = "./kept"
  inputs = { for k in ["a"] : k => component.source.out if terraform.applying }
}
stack "three" {
  source = "./child"
  inputs = var.passing
}
-- kept/main.tf --
variable "a" { type = string }
-- child/main.tfcomponent.hcl --
variable "a" { type = string }
`+echoModule)
	s.Ephemeral["passing"] = cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("p")})
	const summary = "Variable does not take ephemeral values\n"
	wantSummaries(t, s,
		"error main.tfcomponent.hcl:11: "+summary+"error main.tfcomponent.hcl:15: "+summary+"error main.tfcomponent.hcl:19: "+summary)
}

// The attribute names of an unknown object are known.
func TestQuirkB13UnknownInputsOfKnownType(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "fits" { type = object({ a = string }) }
variable "other" { type = object({ b = string }) }
variable "wrong" { type = object({ a = list(string) }) }
component "fits" {
  source = "./mod"
  inputs = var.fits
}
component "lacks" {
  source = "./mod"
  inputs = var.other
}
component "wrong" {
  source = "./mod"
  inputs = var.wrong
}
-- mod/main.tf --
variable "a" { type = string }
`)
	got, want := stacktest.Summaries(s.Validate()), `error main.tfcomponent.hcl:10: Component inputs do not fit
error main.tfcomponent.hcl:14: Component inputs do not fit
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("validate: diagnostics (-want +got):\n%s", diff)
	}
}

// slotEngine keeps the configurations that planning was given for provider slots.
type slotEngine struct {
	engine.Session
	mu struct {
		sync.Mutex
		slots map[string]engine.ProviderConfig // by component and slot
	}
}

func (e *slotEngine) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	e.mu.Lock()
	for slot, config := range req.Providers {
		if e.mu.slots == nil {
			e.mu.slots = map[string]engine.ProviderConfig{}
		}
		e.mu.slots[req.Component.String()+" "+slot.String()] = config
	}
	e.mu.Unlock()
	return e.Session.Plan(ctx, req, observe)
}

// recordSlots has the stack keep them.
func recordSlots(s *stacktest.Stack) *slotEngine {
	recorded := &slotEngine{}
	s.Engine = enginetest.Replaced{Engine: s.Engine, Session: func(session engine.Session) engine.Session {
		recorded.Session = session
		return recorded
	}}
	return recorded
}

// The value for a slot may not be known at all while planning, not even that it is a provider
// configuration.
func TestQuirkB14UnknownSlotValue(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
provider "fake" "main" {}
component "names" {
  source = "./echo"
  inputs = { in = { main = "x" } }
}
component "a" {
  source    = "./mod"
  providers = { fake = { for name, v in component.names.out : name => provider.fake.main }["main"] }
}
-- mod/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
`+echoModule, withFakeProvider)
	recorded := recordSlots(s)
	if diags := s.Validate(); len(diags) > 0 {
		t.Errorf("validate:\n%s", stacktest.Explain(diags))
	}
	plan := s.Plan(engine.Normal)
	if n := len(plan.Components); n != 2 {
		t.Errorf("%d components in the plan, want both", n)
	}
	if got := recorded.mu.slots["component.a fake"]; !got.Unknown || got.Provider != fakeProvider {
		t.Errorf("the slot has %+v, want an unknown configuration of the fake provider", got)
	}
}

// Defaults of nested optional attributes count in static checks, too: a null in their place would
// be an error here.
func TestQuirkB15NestedDefaultsInStaticChecks(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
stack "child" {
  source = "./child"
  inputs = { in = [{ name = "a" }] }
}
output "sum" {
  type  = number
  value = stack.child.sum
}
-- child/main.tfcomponent.hcl --
variable "in" {
  type = list(object({
    name  = string
    size  = optional(number, 3)
    inner = optional(object({ factor = optional(number, 2) }), {})
  }))
}
output "sum" {
  type  = number
  value = var.in[0].size * var.in[0].inner.factor
}
`)
	wantPlan(t, s, "output sum: create 6\n")
}

// Mode and completeness are part of the plan file, and apply goes by them.
func TestQuirkB17ModeAndCompleteAreStored(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
component "keys" {
  source = "./echo"
  inputs = { in = ["x"] }
}
component "each" {
  for_each = toset(component.keys.out)
  source   = "./echo"
}
output "keys" {
  type  = list(string)
  value = component.keys.out
}
`+echoModule)
	first := rereadPlan(t, s.Plan(engine.Normal))
	if first.Complete || first.Mode != engine.Normal {
		t.Errorf("mode %s, complete %v; want an incomplete plan in normal mode", first.Mode, first.Complete)
	}
	s.Apply(first)
	s.Converge()
	refresh := rereadPlan(t, s.Plan(engine.RefreshOnly))
	if !refresh.Complete || refresh.Mode != engine.RefreshOnly {
		t.Errorf("mode %s, complete %v; want a complete plan that only refreshes", refresh.Mode, refresh.Complete)
	}
	last := rereadPlan(t, s.Plan(engine.Destroy))
	if !last.Complete || last.Mode != engine.Destroy {
		t.Errorf("mode %s, complete %v; want a complete destroy plan", last.Mode, last.Complete)
	}
	s.Apply(last)
	sameState(t, s, "")
}

func rereadPlan(t *testing.T, plan *stackplan.Plan) *stackplan.Plan {
	t.Helper()
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		t.Fatal(err)
	}
	reread, _, err := stackplan.ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		t.Fatal(err)
	}
	return reread
}

const echoStack = `
-- child/main.tfcomponent.hcl --
component "c" { source = "../echo" }
` + echoModule

func TestQuirkB19ListsInForEach(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
component "c" {
  for_each = ["a", "b"]
  source   = "./echo"
}
stack "s" {
  for_each = ["a", "b"]
  source   = "./child"
}
provider "fake" "p" {
  for_each = ["a", "b"]
}
removed {
  for_each = ["a", "b"]
  from     = component.gone[each.value]
  source   = "./echo"
}
`+echoStack, withFakeProvider)
	const summary = "for_each needs a map, an object or a set of strings\n"
	wantSummaries(t, s, "error main.tfcomponent.hcl:10: "+summary+"error main.tfcomponent.hcl:14: "+summary+
		"error main.tfcomponent.hcl:18: "+summary+"error main.tfcomponent.hcl:21: "+summary)
	for _, diag := range s.Validate() {
		if !strings.Contains(diag.Detail, "toset(") {
			t.Errorf("line %d: toset is not suggested: %s", diag.Subject.Start.Line, diag.Detail)
		}
	}
}

// An object that may be declared in a file that can't be decoded is not missing in the others, nor
// to those that embed the stack.
func TestQuirkB26FileWithErrors(t *testing.T) {
	for name, test := range map[string]struct{ archive, want string }{
		"same stack": {`
-- main.tfcomponent.hcl --
component "c" {
  source     = "./echo"
  inputs     = { in = [var.v, local.l, component.d.out, stack.s.out, provider.fake.p] }
  depends_on = [component.d, stack.s]
}
provider "fake" "q" {}
removed {
  from   = stack.s.component.x
  source = "./echo"
}
-- broken.tfcomponent.hcl --
variable "v" {
  type = = string
}
`, "error broken.tfcomponent.hcl:2: Invalid expression\n"},
		"embedded stack": {`
-- main.tfcomponent.hcl --
stack "single" {
  source = "./child"
  inputs = { v = "x" }
}
stack "each" {
  for_each = toset(["a"])
  source   = "./child"
  inputs   = { v = each.key }
}
removed {
  from   = stack.gone
  source = "./child"
  inputs = { v = "x" }
}
output "all" {
  type  = string
  value = "${stack.single.out} ${stack.each["a"].out}"
}
-- child/broken.tfcomponent.hcl --
variable "v" {
  type = = string
}
output "out" {
  type  = string
  value = var.v
}
`, "error child/broken.tfcomponent.hcl:2: Invalid expression\n"},
		"rejected blocks": {`
-- main.tfcomponent.hcl --
component "a" {
  source = "./echo"
  nope   = 1
}
stack "s" {
  source = "./nowhere"
}
component "b" {
  source     = "./echo"
  inputs     = { in = [component.a.out, stack.s.out] }
  depends_on = [component.a, stack.s]
}
`, "error main.tfcomponent.hcl:3: Unsupported argument\nerror main.tfcomponent.hcl:6: No such stack directory\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, test.archive+echoModule)
			config, loading := stackconfig.Load(s.Dir)
			opts := stackruntime.Options{Config: config, Session: s.Open()}
			_, planning := stackruntime.Plan(t.Context(), stackruntime.PlanRequest{Options: opts})
			for operation, diags := range map[string]hcl.Diagnostics{"validate": stackruntime.Validate(t.Context(), opts), "plan": planning} {
				diags = slices.Concat(loading, diags)
				if got := stacktest.Summaries(diags); got != test.want {
					t.Errorf("%s: got %s, want %s", operation, stacktest.Explain(diags), test.want)
				}
			}
		})
	}
}

// Keys are stored, so they must not be ephemeral.
func TestQuirkB27EphemeralForEach(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --\n"+fakeRequired+`
variable "keys" {
  type      = map(string)
  ephemeral = true
}
component "c" {
  for_each = var.keys
  source   = "./echo"
}
stack "s" {
  for_each = var.keys
  source   = "./child"
}
provider "fake" "p" {
  for_each = var.keys
}
removed {
  for_each = var.keys
  from     = component.gone[each.value]
  source   = "./echo"
}
`+echoStack, withFakeProvider)
	s.Ephemeral["keys"] = cty.MapVal(map[string]cty.Value{"a": cty.StringVal("b")})
	const summary = "for_each cannot be ephemeral\n"
	wantSummaries(t, s, "error main.tfcomponent.hcl:14: "+summary+"error main.tfcomponent.hcl:18: "+summary+
		"error main.tfcomponent.hcl:22: "+summary+"error main.tfcomponent.hcl:25: "+summary)
}
