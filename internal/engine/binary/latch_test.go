// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// latchTest is one input that is unknown, in whole or in part, while planning.
type latchTest struct {
	constraint     string
	planned, final cty.Value
}

func unknownNotNull(ty cty.Type) cty.Value { return cty.UnknownVal(ty).RefineNotNull() }

func latchTests() map[string]latchTest {
	str, object := cty.StringVal, cty.ObjectVal
	settings := cty.Object(map[string]cty.Type{"name": cty.String, "size": cty.Number, "tags": cty.List(cty.String)})
	return map[string]latchTest{
		"string":          {"string", cty.UnknownVal(cty.String), str("a ${b} %{c} \"d\"\n")},
		"string_not_null": {"string", unknownNotNull(cty.String), str("x")},
		"string_prefix": {
			"string", cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("id-$").NewValue(), str("id-${5}"),
		},
		"number":          {"number", cty.UnknownVal(cty.Number), cty.MustParseNumberVal("12345678901234567890.125")},
		"number_not_null": {"number", unknownNotNull(cty.Number), cty.MustParseNumberVal("0.1")},
		"bool":            {"bool", cty.UnknownVal(cty.Bool), cty.False},
		"bool_not_null":   {"bool", unknownNotNull(cty.Bool), cty.True},
		"null":            {"string", cty.UnknownVal(cty.String), cty.NullVal(cty.String)},
		"null_list":       {"list(string)", cty.UnknownVal(cty.List(cty.String)), cty.NullVal(cty.List(cty.String))},
		"list":            {"list(string)", unknownNotNull(cty.List(cty.String)), cty.ListVal([]cty.Value{str("a"), str("b")})},
		"list_empty":      {"list(string)", cty.UnknownVal(cty.List(cty.String)), cty.ListValEmpty(cty.String)},
		"map":             {"map(number)", unknownNotNull(cty.Map(cty.Number)), cty.MapVal(map[string]cty.Value{"a.b": cty.NumberIntVal(1)})},
		"set":             {"set(string)", unknownNotNull(cty.Set(cty.String)), cty.SetVal([]cty.Value{str("a"), str("b")})},
		"tuple": {
			"tuple([string, number])",
			unknownNotNull(cty.Tuple([]cty.Type{cty.String, cty.Number})), cty.TupleVal([]cty.Value{str("a"), cty.Zero}),
		},
		"object": {
			"object({ name = string, size = optional(number), tags = optional(list(string), [\"t\"]) })",
			unknownNotNull(settings),
			object(map[string]cty.Value{"name": str("n"), "size": cty.NullVal(cty.Number), "tags": cty.ListVal([]cty.Value{str("t")})}),
		},
		"object_partly": {
			"object({ name = string, size = number, tags = list(string) })",
			object(map[string]cty.Value{
				"name": str("kn${o}wn"), "size": cty.UnknownVal(cty.Number),
				"tags": cty.ListVal([]cty.Value{str("a"), cty.UnknownVal(cty.String)}),
			}),
			object(map[string]cty.Value{
				"name": str("kn${o}wn"), "size": cty.NumberIntVal(3),
				"tags": cty.ListVal([]cty.Value{str("a"), str("b")}),
			}),
		},
		"map_partly": {
			"map(string)",
			cty.MapVal(map[string]cty.Value{"k ey": str("known"), "other": cty.UnknownVal(cty.String)}),
			cty.MapVal(map[string]cty.Value{"k ey": str("known"), "other": str("now")}),
		},
		"set_partly": {
			"set(string)",
			cty.SetVal([]cty.Value{str("known"), cty.UnknownVal(cty.String)}),
			cty.SetVal([]cty.Value{str("known"), str("now")}),
		},
		"any":          {"any", cty.DynamicVal, cty.ListVal([]cty.Value{str("a")})},
		"any_set":      {"any", cty.UnknownVal(cty.Set(cty.String)), cty.SetVal([]cty.Value{str("a")})},
		"any_known":    {"any", cty.SetVal([]cty.Value{str("a")}), cty.SetVal([]cty.Value{str("a")})},
		"any_map":      {"any", cty.MapVal(map[string]cty.Value{"a": cty.True}), cty.MapVal(map[string]cty.Value{"a": cty.True})},
		"any_in_list":  {"list(any)", cty.UnknownVal(cty.List(cty.String)), cty.ListVal([]cty.Value{str("a")})},
		"any_is_null":  {"any", cty.DynamicVal, cty.NullVal(cty.DynamicPseudoType)},
		"any_in_tuple": {"any", cty.TupleVal([]cty.Value{str("a"), cty.UnknownVal(cty.Bool)}), cty.TupleVal([]cty.Value{str("a"), cty.True})},
	}
}

// Trap 1: unknown inputs of every type, in native and in JSON syntax: the saved plan is applied,
// and the values arrive with their types.
func TestUnknownInputTypes(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	for _, syntax := range []string{"native", "json"} {
		t.Run(syntax, func(t *testing.T) {
			files := map[string]string{}
			planned, final := map[string]cty.Value{}, map[string]cty.Value{}
			var native strings.Builder
			for name, test := range latchTests() {
				planned[name], final[name] = test.planned, test.final
				if syntax == "native" {
					native.WriteString("variable \"" + name + "\" {\n  type = " + test.constraint + "\n}\n" +
						"resource \"terraform_data\" \"" + name + "\" {\n  input = var." + name + "\n}\n" +
						"output \"" + name + "\" {\n  value = terraform_data." + name + ".output\n}\n")
					continue
				}
				files["mod/"+name+".tf.json"] = `{
  "variable": {"` + name + `": {"type": "` + strings.ReplaceAll(test.constraint, `"`, `\"`) + `"}},
  "resource": {"terraform_data": {"` + name + `": {"input": "${var.` + name + `}"}}},
  "output": {"` + name + `": {"value": "${terraform_data.` + name + `.output}"}}
}`
			}
			if syntax == "native" {
				files["mod/main.tf"] = native.String()
			}
			b := newBench(t, files)
			req := b.request(planned)
			plan := b.plan(req)
			for name, test := range latchTests() {
				if test.planned.IsWhollyKnown() {
					continue
				}
				if got := plan.Outputs[name]; got.IsWhollyKnown() {
					t.Errorf("planned output %s: got %#v, want an unknown", name, got)
				}
			}
			result := b.apply(applyRequest(req, plan.Plan, final))
			for name, test := range latchTests() {
				want := test.final
				if want.IsNull() {
					want = cty.NullVal(cty.DynamicPseudoType) // no state says which type a null output has
				}
				if got := result.Outputs[name]; !got.RawEquals(want) {
					t.Errorf("output %s: got %#v, want %#v", name, got, want)
				}
			}
			noTraces(t, result.State)

			// The state is that of plain terraform: known inputs now change nothing.
			req = b.request(final)
			req.PriorState = result.State
			again := b.plan(req)
			for address, action := range actions(again) {
				if action != "no-op " {
					t.Errorf("second plan: %s is %q, want no-op", address, action)
				}
			}
		})
	}
}

func noTraces(t *testing.T, state engine.State) {
	t.Helper()
	if bytes.Contains(state, []byte("__stack_")) {
		t.Errorf("the state has generated objects:\n%s", state)
	}
}

// Trap 1c: refinements of an unknown input hold in the module, too.
func TestUnknownInputRefinements(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "s" { type = string }
variable "n" { type = number }
variable "b" { type = bool }
variable "l" { type = list(string) }
variable "m" { type = map(string) }
variable "t" { type = set(string) }
variable "o" { type = object({ a = string }) }
locals {
  given = [var.s != null, var.n != null, var.b != null, var.l != null, var.m != null, var.t != null, var.o != null]
}
resource "terraform_data" "each" {
  count = alltrue(local.given) ? 1 : 0
  input = [var.s, var.n, var.b, var.l, var.m, var.t, var.o]
}
output "prefix" { value = startswith(var.s, "arn:") }
`})
	req := b.request(map[string]cty.Value{
		"s": cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("arn:").NewValue(),
		"n": unknownNotNull(cty.Number),
		"b": unknownNotNull(cty.Bool),
		"l": unknownNotNull(cty.List(cty.String)),
		"m": unknownNotNull(cty.Map(cty.String)),
		"t": unknownNotNull(cty.Set(cty.String)),
		"o": unknownNotNull(cty.Object(map[string]cty.Type{"a": cty.String})),
	})
	plan := b.plan(req)
	if got := plan.Outputs["prefix"]; !got.RawEquals(cty.True) {
		t.Errorf("prefix: got %#v, want true", got)
	}
	if got := actions(plan)["terraform_data.each[0]"]; got != "create " {
		t.Errorf("planned changes: got %v, want each[0] created", actions(plan))
	}
}

// Trap 3: inputs that were known while planning must be the same when applying; nothing is done
// otherwise.
func TestInputsThatDontRefineThePlanAreRefused(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "v" { type = object({ known = string, later = string }) }
resource "terraform_data" "independent" {}
output "v" { value = var.v }
`})
	value := func(known string, later cty.Value) map[string]cty.Value {
		return map[string]cty.Value{"v": cty.ObjectVal(map[string]cty.Value{"known": cty.StringVal(known), "later": later})}
	}
	req := b.request(value("a", unknownNotNull(cty.String)))
	plan := b.plan(req)
	for name, final := range map[string]map[string]cty.Value{
		"other known part": value("b", cty.StringVal("x")),
		"null":             value("a", cty.NullVal(cty.String)),
		"still unknown":    value("a", cty.UnknownVal(cty.String)),
		"missing":          {},
	} {
		t.Run(name, func(t *testing.T) {
			result, diags := b.tryApply(context.Background(), applyRequest(req, plan.Plan, final))
			if result != nil || !diags.HasErrors() || diags[0].Summary != "Input changed since planning" {
				t.Errorf("Apply: got %v, %v, want no result and a refusal", result, diags)
			}
		})
	}
}

// Trap 4: sensitive inputs stay so in outputs, and reach variables that aren't declared sensitive.
func TestSensitiveInputs(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "known" { type = string }
variable "later" { type = string }
variable "partly" { type = object({ open = string, closed = string }) }
output "known" {
  value     = var.known
  sensitive = true
}
output "later" {
  value     = var.later
  sensitive = true
}
output "open" { value = var.partly.open }
output "closed" {
  value     = var.partly.closed
  sensitive = true
}
resource "terraform_data" "a" { input = [var.known, var.later] }
`})
	inputs := func(later cty.Value) map[string]cty.Value {
		return map[string]cty.Value{
			"known": cty.StringVal("hush1").Mark(marks.Sensitive),
			"later": later.Mark(marks.Sensitive),
			"partly": cty.ObjectVal(map[string]cty.Value{
				"open": cty.StringVal("o"), "closed": cty.StringVal("hush2").Mark(marks.Sensitive),
			}),
		}
	}
	req := b.request(inputs(cty.UnknownVal(cty.String)))
	var events []engine.Event
	b.observe = func(ev engine.Event) { events = append(events, ev) }
	plan := b.plan(req)
	want := map[string]cty.Value{
		"known": cty.StringVal("hush1").Mark(marks.Sensitive), "later": cty.StringVal("hush3").Mark(marks.Sensitive),
		"open": cty.StringVal("o"), "closed": cty.StringVal("hush2").Mark(marks.Sensitive),
	}
	if got := plan.Outputs["known"]; !got.RawEquals(want["known"]) {
		t.Errorf("planned known: got %#v", got)
	}
	if got := plan.Outputs["later"]; !got.HasMark(marks.Sensitive) {
		t.Errorf("planned later: got %#v, want a sensitive value", got)
	}
	apply := applyRequest(req, plan.Plan, inputs(cty.StringVal("hush3")))
	result := b.apply(apply)
	for name, value := range want {
		if got := result.Outputs[name]; !got.RawEquals(value) {
			t.Errorf("%s: got %#v, want %#v", name, got, value)
		}
	}
	for _, ev := range events {
		if strings.Contains(string(ev.Raw)+ev.Message, "hush") || strings.Contains(string(ev.Raw), "__stack_") {
			t.Errorf("event shows what it mustn't: %s", ev.Raw)
		}
	}
}

// Trap 4: ephemeral inputs are in no plan, and are given anew for the apply.
func TestEphemeralInputs(t *testing.T) {
	b := newBench(t, map[string]string{"mod/main.tf": `
variable "token" {
  type      = string
  ephemeral = true
}
variable "later" {
  type      = string
  ephemeral = true
}
variable "absent" {
  type      = string
  ephemeral = true
  default   = null
}
resource "terraform_data" "a" {
  lifecycle {
    postcondition {
      condition     = !terraform.applying || (var.token == "apply-token" && var.later == "later-token")
      error_message = "wrong token"
    }
  }
}
`})
	eph := func(v cty.Value) cty.Value { return v.Mark(marks.Ephemeral) }
	req := b.request(map[string]cty.Value{
		"token":  eph(cty.StringVal("plan-token")),
		"later":  eph(cty.UnknownVal(cty.String)),
		"absent": cty.NullVal(cty.String),
	})
	plan := b.plan(req)
	if bytes.Contains(plan.Plan, []byte("plan-token")) {
		t.Error("the plan has an ephemeral value")
	}
	b.apply(applyRequest(req, plan.Plan, map[string]cty.Value{
		"token":  eph(cty.StringVal("apply-token")),
		"later":  eph(cty.StringVal("later-token")),
		"absent": cty.NullVal(cty.String),
	}))
}
