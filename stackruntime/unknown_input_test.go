// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// given gives an apply the value of a root variable.
func given(name string, value cty.Value) func(*stackruntime.ApplyRequest) {
	return func(req *stackruntime.ApplyRequest) { req.Inputs = map[string]cty.Value{name: value} }
}

const unknownInput = `
-- main.tfcomponent.hcl --
variable "vpc" {
  type = object({ id = string, name = string, tags = map(string) })
  validation {
    condition     = startswith(var.vpc.id, "vpc-")
    error_message = "This is not a VPC."
  }
}
component "app" {
  source = "./echo"
  inputs = { in = var.vpc }
}
component "apart" {
  source = "./echo"
  inputs = { in = "apart" }
}
output "id" {
  type  = string
  value = component.app.out.id
}
` + echoModule

func vpc(id, name, env cty.Value) cty.Value {
	return cty.ObjectVal(map[string]cty.Value{"id": id, "name": name, "tags": cty.MapVal(map[string]cty.Value{"env": env})})
}

var unknownString = cty.UnknownVal(cty.String)

func TestUnknownInputIsPlannedAndApplied(t *testing.T) {
	t.Parallel()
	final := vpc(cty.StringVal("vpc-1"), cty.StringVal("main"), cty.StringVal("prod"))
	for name, planned := range map[string]cty.Value{
		"whole":   cty.UnknownVal(final.Type()),
		"dynamic": cty.DynamicVal,
		"nested":  vpc(unknownString, cty.StringVal("main"), unknownString),
		"refined": vpc(unknownString.Refine().NotNull().StringPrefixFull("vpc-").NewValue(), cty.StringVal("main"), cty.StringVal("prod")),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, unknownInput)
			s.Inputs["vpc"] = planned
			plan := s.Plan(engine.Normal)
			input := plan.Inputs["vpc"]
			if !input.IsUnknown() || !input.NeededOnApply() || !input.After.Type().Equals(final.Type()) {
				t.Errorf("planned input: %#v, want an unknown one of the declared type", input.After)
			}
			if id := plan.Outputs["id"].After; id.IsKnown() || id.Type() != cty.String {
				t.Errorf("planned output: %#v, want an unknown string", id)
			}
			s.Apply(plan, given("vpc", final))
			if got := s.State.Inputs["vpc"]; !got.RawEquals(final) {
				t.Errorf("input in the state: %#v, want what the apply was given", got)
			}
			if got := s.State.Outputs["id"]; !got.RawEquals(cty.StringVal("vpc-1")) {
				t.Errorf("output in the state: %#v", got)
			}
			s.Inputs["vpc"] = final
			if again := s.Plan(engine.Normal); again.Counts().Total() > 0 {
				t.Errorf("plan after the apply, want one that changes nothing:\n%s", stacktest.PlanText(again))
			}
		})
	}
}

// With any mistake in the value nothing is done, not even changes that do not depend on it.
func TestUnknownInputNeedsItsValueOnApply(t *testing.T) {
	t.Parallel()
	id, name, env := cty.StringVal("vpc-1"), cty.StringVal("main"), cty.StringVal("prod")
	prefixed := unknownString.Refine().NotNull().StringPrefixFull("vpc-").NewValue()
	for what, test := range map[string]struct {
		planned, given cty.Value // of which NilVal is none
		summary, text  string
	}{
		"missing": {vpc(unknownString, name, env), cty.NilVal, "Value needed for variable", "so it must be set for the apply"},
		"null":    {vpc(unknownString, name, env), cty.NullVal(cty.DynamicPseudoType), "Value needed for variable", ""},
		"still unknown": {
			vpc(unknownString, name, env),
			vpc(unknownString, name, env),
			"Value still not known",
			"an apply needs all of it",
		},
		"unknown in part": {vpc(unknownString, name, unknownString), vpc(id, name, unknownString), "Value still not known", ""},
		"wrong type":      {vpc(unknownString, name, env), cty.StringVal("vpc-1"), "Value does not fit the variable", ""},
		"another known part": {
			vpc(unknownString, name, env),
			vpc(id, cty.StringVal("other"), env),
			"Value contradicting the plan",
			"known while planning: name: the value",
		},
		"another known key": {
			vpc(unknownString, name, env),
			vpc(id, name, cty.StringVal("test")),
			"Value contradicting the plan",
			"tags: the value",
		},
		"outside a refinement": {vpc(prefixed, name, env), vpc(cty.StringVal("net-1"), name, env), "Value contradicting the plan", "id: "},
		"refused by a rule": {
			vpc(unknownString, name, env),
			vpc(cty.StringVal("net-1"), name, env),
			"Variable value rejected",
			"This is not a VPC.",
		},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, unknownInput)
			s.Inputs["vpc"] = test.planned
			adjust := func(req *stackruntime.ApplyRequest) {
				if test.given != cty.NilVal {
					given("vpc", test.given)(req)
				}
			}
			_, diags := s.TryApply(s.Plan(engine.Normal), adjust)
			if len(diags) != 1 || diags[0].Summary != test.summary || !strings.Contains(diags[0].Detail, test.text) || diags[0].Subject == nil {
				t.Errorf("diagnostics:\n%s\nwant one, %q with %q", stacktest.Explain(diags), test.summary, test.text)
			}
			needed, ok := hcl.DiagnosticExtra[fault.Value](diags[0])
			if isNeeded := strings.HasPrefix(test.summary, "Value needed") ||
				strings.HasPrefix(test.summary, "Value still"); ok != isNeeded || isNeeded && needed.Variable != "vpc" {
				t.Errorf("the data of the fault are %#v (%t)", needed, ok)
			}
			same(t, "state", "", stacktest.StateText(s.State))
		})
	}
}

func TestCheckInputsDoesNothing(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, unknownInput)
	s.Inputs["vpc"] = vpc(unknownString, cty.StringVal("main"), cty.StringVal("prod"))
	plan := s.Plan(engine.Normal)
	opts, diags := s.Options()
	if diags.HasErrors() {
		t.Fatal(stacktest.Explain(diags))
	}
	req := stackruntime.ApplyRequest{Options: opts, Plan: plan}
	if diags := stackruntime.CheckInputs(t.Context(), req); len(diags) != 1 || diags[0].Summary != "Value needed for variable" {
		t.Errorf("diagnostics:\n%s\nwant one for the missing value", stacktest.Explain(diags))
	}
	given("vpc", vpc(cty.StringVal("vpc-1"), cty.StringVal("main"), cty.StringVal("prod")))(&req)
	if diags := stackruntime.CheckInputs(t.Context(), req); len(diags) > 0 {
		t.Errorf("diagnostics:\n%s\nwant none", stacktest.Explain(diags))
	}
}

func TestUnknownInputStaysSensitive(t *testing.T) {
	t.Parallel()
	for name, sensitive := range map[string]string{"by declaration": "sensitive = true", "by the caller": ""} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "secrets" {
  type = map(string)
  `+sensitive+`
}
component "app" {
  source = "./echo"
  inputs = { in = var.secrets }
}
`+echoModule)
			value := func(v cty.Value) cty.Value {
				return cty.MapVal(map[string]cty.Value{"hidden": v, "other": cty.StringVal("o")})
			}
			s.Inputs["secrets"] = value(unknownString)
			if sensitive == "" {
				s.Inputs["secrets"] = s.Inputs["secrets"].Mark(marks.Sensitive)
			}
			plan := s.Plan(engine.Normal)
			s.Apply(plan, given("secrets", value(cty.StringVal("hunter2"))))
			if got, want := s.State.Inputs["secrets"], value(cty.StringVal("hunter2")).Mark(marks.Sensitive); !got.RawEquals(want) {
				t.Errorf("input in the state: %#v, want %#v", got, want)
			}

			wrong := cty.MapVal(map[string]cty.Value{"hidden": cty.StringVal("x"), "other": cty.StringVal("hunter3")})
			_, diags := s.TryApply(plan, given("secrets", wrong))
			if text := stacktest.Explain(diags); !diags.HasErrors() || strings.Contains(text, "hunter") || strings.Contains(text, `"other"`) {
				t.Errorf("diagnostics:\n%s\nwant an error without keys and values", text)
			}
		})
	}
}

// A known input that the caller has marked keeps its mark, too.
func TestSensitiveInputOfCallerStaysSensitive(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "v" { type = string }
`)
	s.Inputs["v"] = cty.StringVal("x").Mark(marks.Sensitive)
	s.Apply(s.Plan(engine.Normal))
	if got := s.State.Inputs["v"]; !got.RawEquals(s.Inputs["v"]) {
		t.Errorf("input in the state: %#v, want %#v", got, s.Inputs["v"])
	}
}

func TestEphemeralInputMayBeUnknownWhilePlanning(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "token" {
  type      = string
  ephemeral = true
}
`)
	s.Inputs["token"] = unknownString
	plan := s.Plan(engine.Normal)
	if input := plan.Inputs["token"]; !input.RequiredOnApply || !input.After.IsNull() {
		t.Errorf("planned input: %+v, want a null that is required on apply", input)
	}
	if _, diags := s.TryApply(plan, given("token", unknownString)); len(diags) != 1 || diags[0].Summary != "Value still not known" {
		t.Errorf("diagnostics:\n%s\nwant one for the unknown value", stacktest.Explain(diags))
	}
	s.Apply(plan, given("token", cty.StringVal("t")))
}

// Changes that are deferred for the input wait for the next plan; none of them is applied with
// values that nobody has seen.
func TestUnknownInputDefers(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "zones" { type = set(string) }
component "each" {
  for_each = var.zones
  source   = "./echo"
  inputs   = { in = each.key }
}
component "apart" {
  source = "./echo"
  inputs = { in = "apart" }
}
`+echoModule)
	zones := cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})
	s.Inputs["zones"] = cty.UnknownVal(cty.Set(cty.String))
	plan := s.Plan(engine.Normal)
	if text := stacktest.PlanText(plan); plan.Complete || !strings.Contains(text, "component.each[*]") {
		t.Errorf("plan:\n%s\nwant component.each deferred", text)
	}
	s.Apply(plan, given("zones", zones))
	if text := stacktest.StateText(s.State); strings.Contains(text, "component.each") ||
		!strings.Contains(text, "component.apart") || !s.State.Inputs["zones"].RawEquals(zones) {
		t.Errorf("state:\n%s\nwant component.apart and the known input only", text)
	}
	s.Inputs["zones"] = zones
	next := s.Plan(engine.Normal)
	if !next.Complete {
		t.Errorf("next plan:\n%s\nwant it complete", stacktest.PlanText(next))
	}
	s.Apply(next)
	if text := stacktest.StateText(s.State); !strings.Contains(text, `component.each["b"]`) {
		t.Errorf("state:\n%s\nwant the instances", text)
	}
}

// A caller may let the input stay unknown; components that were planned with it can't be applied
// then, all others are.
func TestUnknownInputMayStayUnknown(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, unknownInput)
	s.LeaveUnknown = true
	s.Inputs["vpc"] = cty.UnknownVal(vpc(unknownString, unknownString, unknownString).Type())
	result, diags := s.TryApply(s.Plan(engine.Normal))
	if len(diags) != 1 {
		t.Fatalf("diagnostics:\n%s\nwant one", stacktest.Explain(diags))
	}
	if about, _ := hcl.DiagnosticExtra[fault.Address](diags[0]); about.Component != component(t, "component.app") {
		t.Errorf("diagnostics:\n%s\nwant one of component.app", stacktest.Explain(diags))
	}
	if n := result.Components[component(t, "component.apart")].Counts.Add; n != 1 {
		t.Errorf("component.apart: %d added, want 1", n)
	}
	if got := s.State.Inputs["vpc"]; got.IsKnown() {
		t.Errorf("input in the state: %#v, want it unknown", got)
	}
}

// Random values with random parts unknown: the value itself can be applied, and one with another
// known part can not.
func TestUnknownPartsOfRandomInputs(t *testing.T) {
	t.Parallel()
	const config = `
-- main.tfcomponent.hcl --
variable "v" { type = map(object({ list = list(string), set = set(number), map = map(bool) })) }
component "app" {
  source = "./echo"
  inputs = { in = var.v }
}
` + echoModule
	rng := rand.New(rand.NewPCG(testenv.Seed(t), 0)) //nolint:gosec // not for secrets
	for range 30 {
		final := randomInput(rng)
		s := stacktest.InMemory(t, config)
		planned, other := hideParts(t, rng, final)
		s.Inputs["v"] = planned
		plan := s.Plan(engine.Normal)
		if plan.Inputs["v"].IsUnknown() && !other.RawEquals(final) {
			_, diags := s.TryApply(plan, given("v", other))
			if len(diags) != 1 || diags[0].Summary != "Value contradicting the plan" {
				t.Fatalf("applying %#v\nto a plan with %#v:\n%s", other, planned, stacktest.Explain(diags))
			}
		}
		s.Apply(plan, given("v", final))
		if got := s.State.Inputs["v"]; !got.RawEquals(final) {
			t.Fatalf("input in the state: %#v, want %#v", got, final)
		}
	}
}

// randomInput is a map of objects with collections in them, none of which is empty.
func randomInput(rng *rand.Rand) cty.Value {
	elements := func(element func(i int) cty.Value) []cty.Value {
		values := make([]cty.Value, 1+rng.IntN(3))
		for i := range values {
			values[i] = element(i)
		}
		return values
	}
	flags := map[string]cty.Value{}
	for i := range 1 + rng.IntN(3) {
		flags[fmt.Sprint("flag", i)] = cty.BoolVal(rng.IntN(2) == 0)
	}
	objects := map[string]cty.Value{}
	for i := range 1 + rng.IntN(3) {
		objects[fmt.Sprint("key", i)] = cty.ObjectVal(map[string]cty.Value{
			"list": cty.ListVal(elements(func(int) cty.Value { return cty.StringVal(fmt.Sprint("text", rng.IntN(9))) })),
			"set":  cty.SetVal(elements(func(i int) cty.Value { return cty.NumberIntVal(int64(10*i + rng.IntN(9))) })),
			"map":  cty.MapVal(flags),
		})
	}
	return cty.MapVal(objects)
}

// hideParts returns a value with parts made unknown, and one that differs from it in one text that
// was left known, if there is any.
func hideParts(t *testing.T, rng *rand.Rand, final cty.Value) (planned, other cty.Value) {
	t.Helper()
	planned, err := cty.Transform(final, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if rng.IntN(6) == 0 {
			return cty.UnknownVal(v.Type()), nil
		}
		return v, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	changed := false
	other, err = cty.Transform(final, func(path cty.Path, v cty.Value) (cty.Value, error) {
		if known, err := path.Apply(planned); err == nil && known.IsKnown() && v.Type() == cty.String && !changed {
			changed = true
			return cty.StringVal("another"), nil
		}
		return v, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return planned, other
}
