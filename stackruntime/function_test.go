// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

var otherProvider = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "other"}

// fakeFunctions are the functions of the provider cairnstacks/fake. The one named changing returns
// another result at each call.
func fakeFunctions() map[string]*memengine.Function {
	anything := engine.FunctionParameter{Name: "value", Type: cty.DynamicPseudoType, AllowNull: true, AllowUnknown: true}
	text := engine.FunctionParameter{Name: "text", Type: cty.String}
	words := engine.FunctionParameter{Name: "words", Type: cty.List(cty.String)}
	var calls atomic.Int64
	return map[string]*memengine.Function{
		"echo": {
			Function: engine.Function{Parameters: []engine.FunctionParameter{anything}, Return: cty.DynamicPseudoType},
			Call:     func(_ context.Context, args []cty.Value) (cty.Value, error) { return args[0], nil },
		},
		"join": {
			Function: engine.Function{Parameters: []engine.FunctionParameter{words}, Variadic: &text, Return: cty.String},
			Call: func(_ context.Context, args []cty.Value) (cty.Value, error) {
				var parts []string
				for _, word := range args[0].AsValueSlice() {
					parts = append(parts, word.AsString())
				}
				for _, arg := range args[1:] {
					parts = append(parts, arg.AsString())
				}
				return cty.StringVal(strings.Join(parts, "-")), nil
			},
		},
		"fail": {
			Function: engine.Function{Parameters: []engine.FunctionParameter{text}, Return: cty.String},
			Call: func(_ context.Context, args []cty.Value) (cty.Value, error) {
				return cty.NilVal, &engine.FunctionError{Said: "cannot digest " + args[0].AsString(), Argument: 0}
			},
		},
		"crash": {
			Function: engine.Function{Parameters: []engine.FunctionParameter{text}, Return: cty.String},
			Call: func(_ context.Context, args []cty.Value) (cty.Value, error) {
				return cty.NilVal, &engine.FunctionError{Problem: "The provider has crashed.", Said: "panic: " + args[0].AsString(), Argument: -1}
			},
		},
		"wrong": {
			Function: engine.Function{Return: cty.Number},
			Call:     func(context.Context, []cty.Value) (cty.Value, error) { return cty.StringVal("no number"), nil },
		},
		"changing": {
			Function: engine.Function{Parameters: []engine.FunctionParameter{text}, Return: cty.Number},
			Call: func(context.Context, []cty.Value) (cty.Value, error) {
				return cty.NumberIntVal(calls.Add(1)), nil
			},
		},
		"old": {
			Function: engine.Function{Return: cty.Bool, Deprecated: "Use echo."},
			Call:     func(context.Context, []cty.Value) (cty.Value, error) { return cty.True, nil },
		},
	}
}

// newFunctionWorld is newWorld with an engine that has the provider's functions.
func newFunctionWorld(t *testing.T, archive string) *world {
	t.Helper()
	return newWorld(t, archive, memengine.Options{
		Functions: map[stackaddrs.Provider]map[string]*memengine.Function{fakeProvider: fakeFunctions()},
		Providers: map[stackaddrs.Provider]engine.ProviderSchema{
			otherProvider: {Config: engine.Block{Attributes: map[string]engine.Attribute{"region": {Type: cty.String}}}},
		},
	})
}

const requireFake = `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
`

// evaluate returns the value of an expression in a stack that requires the provider.
func (w *world) evaluate(source string) (cty.Value, hcl.Diagnostics) {
	w.t.Helper()
	opts, diags := w.Options()
	if diags.HasErrors() {
		w.t.Fatal(describe(diags))
	}
	e, diags := hclsyntax.ParseExpression([]byte(source), "expression", hcl.InitialPos)
	if diags.HasErrors() {
		w.t.Fatal(describe(diags))
	}
	inspector := stackruntime.Inspect(stackruntime.InspectRequest{Options: opts, State: w.State, Inputs: w.Inputs})
	return inspector.EvalExpr(w.t.Context(), e)
}

// Row 91 of docs/language.md.
func TestRow091ProviderFunctionInCondition(t *testing.T) {
	w := newFunctionWorld(t, `
-- main.tfcomponent.hcl --`+requireFake+`
variable "name" {
  type = string
  validation {
    condition     = provider::fake::join([var.name], "x") == "good-x"
    error_message = "Bad name: ${provider::fake::echo(var.name)}."
  }
}
`)
	w.Inputs["name"] = cty.StringVal("good")
	w.Apply(w.Plan(engine.Normal))

	w.Inputs["name"] = cty.StringVal("evil")
	_, diags := w.TryPlan(engine.Normal)
	if len(diags) != 1 || diags[0].Summary != "Variable value rejected" || !strings.HasPrefix(diags[0].Detail, "Bad name: evil.") {
		t.Errorf("plan with a bad name:\n%swant that the value is rejected with the message of the rule", describe(diags))
	}
}

func TestProviderFunctionsInAllPlaces(t *testing.T) {
	w := newFunctionWorld(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
  other = {
    source  = "cairnstacks/other"
    version = "1.0.0"
  }
}

locals {
  names = provider::fake::echo(["a", "b"])
}

provider "other" "this" {
  for_each = provider::fake::echo(toset(["eu"]))
  config {
    region = provider::fake::join([each.key], "west")
  }
}

component "c" {
  for_each = toset(provider::fake::echo(local.names))
  source   = "./mod"
  inputs   = { in = provider::fake::join([each.key], "1", "2") }
}

stack "sub" {
  source = "./sub"
  inputs = { in = provider::fake::echo("to sub") }
}

output "all" {
  type  = list(string)
  value = provider::fake::echo([for c in component.c : c.out])
}

output "sub" {
  type  = string
  value = stack.sub.out
}
-- sub/main.tfcomponent.json --
{
  "required_providers": { "mine": { "source": "cairnstacks/fake", "version": "1.0.0" } },
  "variable": { "in": { "type": "string" } },
  "output": { "out": { "type": "string", "value": "<${provider::mine::join([var.in], upper(\"x\"))}>" } }
}
-- mod/main.tf --
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.output }
`)
	w.Apply(w.Plan(engine.Normal))
	want := map[string]cty.Value{
		"all": cty.ListVal([]cty.Value{cty.StringVal("a-1-2"), cty.StringVal("b-1-2")}),
		"sub": cty.StringVal("<to sub-X>"),
	}
	for name, value := range want {
		if got := w.State.Outputs[name]; !got.RawEquals(value) {
			t.Errorf("output %q = %#v, want %#v", name, got, value)
		}
	}
}

func TestProviderFunctionArguments(t *testing.T) {
	w := newFunctionWorld(t, `
-- main.tfcomponent.hcl --`+requireFake+`
variable "open" {
  type = string
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "passing" {
  type      = string
  ephemeral = true
}
`)
	w.Inputs["secret"] = cty.StringVal("s3cret")
	w.Inputs["passing"] = cty.StringVal("t0ken")
	for source, want := range map[string]cty.Value{
		// The provider is not called with an argument that a parameter does not allow.
		`provider::fake::join([], var.open)`:                      cty.UnknownVal(cty.String),
		`provider::fake::join(["a", var.open])`:                   cty.UnknownVal(cty.String),
		`provider::fake::join(var.open == "" ? ["a"] : ["b"])`:    cty.UnknownVal(cty.String),
		`provider::fake::echo([var.open, 1])`:                     cty.TupleVal([]cty.Value{cty.UnknownVal(cty.String), cty.NumberIntVal(1)}),
		`provider::fake::echo(null)`:                              cty.NullVal(cty.DynamicPseudoType),
		`provider::fake::join([1], true)`:                         cty.StringVal("1-true"), // converted
		`provider::fake::join(["a"], ["b", "c"]...)`:              cty.StringVal("a-b-c"),
		`provider::fake::join([], var.secret)`:                    cty.StringVal("s3cret").Mark(marks.Sensitive),
		`provider::fake::join([var.secret])`:                      cty.StringVal("s3cret").Mark(marks.Sensitive),
		`provider::fake::join([var.secret], var.open)`:            cty.UnknownVal(cty.String).Mark(marks.Sensitive),
		`provider::fake::echo(var.passing)`:                       cty.StringVal("t0ken").Mark(marks.Ephemeral),
		`provider::fake::join([], nonsensitive(var.secret), "x")`: cty.StringVal("s3cret-x"),
		`try(provider::fake::fail("x"), "saved")`:                 cty.StringVal("saved"),
	} {
		if got, diags := w.evaluate(source); diags.HasErrors() || !got.RawEquals(want) {
			t.Errorf("%s = %#v, want %#v\n%s", source, got, want, describe(diags))
		}
	}
}

func TestProviderFunctionErrors(t *testing.T) {
	w := newFunctionWorld(t, `
-- main.tfcomponent.hcl --`+requireFake+`
variable "secret" {
  type      = string
  sensitive = true
}
provider "fake" "this" {}
`)
	w.Inputs["secret"] = cty.StringVal("s3cret")
	for source, want := range map[string]struct{ place, summary, detail string }{
		`provider::fake::join([], null)`:  {"null", "Invalid function argument", "must not be null"},
		`provider::fake::join("x")`:       {"x", "Invalid function argument", "list of string required"},
		`provider::fake::join()`:          {")", "Not enough function arguments", ""},
		`provider::fake::fail("a stone")`: {"a stone", "Invalid function argument", "cannot digest a stone."},
		`provider::fake::fail(var.secret)`: {
			"var.secret",
			"Invalid function argument",
			"the details are hidden, because an argument is sensitive or ephemeral.",
		},
		`provider::fake::crash("a stone")`:         {"", "Error in function call", "The provider has crashed. panic: a stone."},
		`provider::fake::crash(var.secret)`:        {"", "Error in function call", "The provider has crashed. (the details are hidden"},
		`provider::fake::wrong()`:                  {"", "Error in function call", "returned a string and not a number"},
		`provider::fake::echo(provider.fake.this)`: {"provider.fake.this", "Invalid function argument", "provider configurations"},
		`try(provider::fake::missing(1), "not used")`: {
			"",
			"Unknown provider function",
			`no function "missing". It has: changing, crash, echo, fail, join, old, wrong.`,
		},
	} {
		_, diags := w.evaluate(source)
		if len(diags) != 1 || diags[0].Summary != want.summary || !strings.Contains(diags[0].Detail, want.detail) {
			t.Errorf("%s:\n%swant %s: … %s", source, describe(diags), want.summary, want.detail)
			continue
		}
		if strings.Contains(diags[0].Detail, "s3cret") {
			t.Errorf("%s: the message shows the secret: %s", source, diags[0].Detail)
		}
		if place := string(diags[0].Subject.SliceBytes([]byte(source))); want.place != "" && place != want.place {
			t.Errorf("%s: the error is at %q, want %q", source, place, want.place)
		}
	}
}

// Where the functions cannot be found out, that is an error at each call (E-FUN-01).
func TestProviderFunctionsUnavailable(t *testing.T) {
	w := newFunctionWorld(t, `
-- main.tfcomponent.hcl --
required_providers {
  gone = {
    source  = "cairnstacks/gone"
    version = "1.0.0"
  }
}
locals {
  x = provider::gone::f(1)
}
`)
	diags := w.Validate()
	if len(diags) != 1 || diags[0].Summary != "Provider functions unavailable" ||
		!strings.Contains(diags[0].Detail, "no provider registry.terraform.io/cairnstacks/gone") {
		t.Errorf("validate:\n%swant that the functions are unavailable, and why", describe(diags))
	}
}

// plainSession hides the abilities of memengine that not every engine has.
type plainSession struct{ engine.Session }

func (plainSession) Abilities() engine.Abilities { return engine.Abilities{} }

func TestEngineWithoutProviderFunctions(t *testing.T) {
	w := newFunctionWorld(t, "\n-- main.tfcomponent.hcl --"+requireFake+"locals {\n  x = provider::fake::echo(1)\n}\n")
	opts, _ := w.Options()
	opts.Session = plainSession{opts.Session}
	diags := stackruntime.Validate(t.Context(), opts)
	if len(diags) != 1 || diags[0].Summary != "Unknown provider function" {
		t.Errorf("validate:\n%swant one error that there is no such function", describe(diags))
	}
}

func TestDeprecatedProviderFunction(t *testing.T) {
	w := newFunctionWorld(t, "\n-- main.tfcomponent.hcl --"+requireFake+"locals {\n  x = provider::fake::old()\n}\n")
	_, diags := w.TryPlan(engine.Normal)
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning ||
		diags[0].Summary != "Deprecated function" || !strings.Contains(diags[0].Detail, "Use echo.") {
		t.Errorf("plan:\n%swant one warning that quotes the provider", describe(diags))
	}
}

// A stack that calls none asks for none.
func TestNoProviderFunctions(t *testing.T) {
	w := newFunctionWorld(t, "\n-- main.tfcomponent.hcl --"+requireFake+"locals {\n  x = upper(\"provider::fake::echo(1)\")\n}\n")
	w.Apply(w.Plan(engine.Normal))
	if calls := w.engine.CallsOf(memengine.CallFunction); len(calls) > 0 {
		t.Errorf("%d calls of functions, want none", len(calls))
	}
}

const twoCalls = "\n-- main.tfcomponent.hcl --" + requireFake + `
component "c" {
  source = "./mod"
  inputs = { in = provider::fake::join(["a"], "b") }
}
output "out" {
  type  = string
  value = provider::fake::join([component.c.out], "end")
}
-- mod/main.tf --
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
output "out" { value = terraform_data.this.id }
`

// Of calls with unknown arguments nothing is known yet: they do not count.
func TestProviderFunctionResultsInPlan(t *testing.T) {
	w := newFunctionWorld(t, twoCalls)
	plan := w.Plan(engine.Normal)
	if len(plan.FunctionResults) != 1 {
		t.Fatalf("the plan has %d results of functions, want 1: that of the call with known arguments", len(plan.FunctionResults))
	}
	path := filepath.Join(t.TempDir(), "plan")
	if _, err := stackplan.WriteFile(path, plan, stackplan.FileContext{}); err != nil {
		t.Fatal(err)
	}
	read, _, err := stackplan.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(plan.FunctionResults, read.FunctionResults); diff != "" {
		t.Errorf("results of functions after writing and reading (-written +read):\n%s", diff)
	}
	w.Apply(read)
}

// Not even a hash is kept of a result that derives from ephemeral values.
func TestProviderFunctionsOfEphemeralValues(t *testing.T) {
	w := newFunctionWorld(t, "\n-- main.tfcomponent.hcl --"+requireFake+`
variable "passing" {
  type      = string
  ephemeral = true
}
component "c" {
  source = "./mod"
  inputs = { in = provider::fake::join([var.passing]) }
}
-- mod/main.tf --
variable "in" {
  type      = string
  ephemeral = true
}
`)
	w.Inputs["passing"] = cty.StringVal("t0ken")
	if plan := w.Plan(engine.Normal); len(plan.FunctionResults) > 0 {
		t.Errorf("the plan has %d results of functions, want none", len(plan.FunctionResults))
	}
}

// A function that returns something else than while planning ends the apply of the component that
// needs it.
func TestProviderFunctionChangesResult(t *testing.T) {
	w := newFunctionWorld(t, twoCalls)
	plan := w.Plan(engine.Normal)
	plan.FunctionResults[0].Result[0] ^= 1
	_, diags := w.TryApply(plan)
	if !slices.Contains(summaries(diags), "Error in function call") ||
		!strings.Contains(describe(diags), "something else for the same arguments") {
		t.Errorf("apply:\n%swant an error that the function changed its result", describe(diags))
	}
}

// It is noticed within one operation, too.
func TestProviderFunctionChangesResultWhilePlanning(t *testing.T) {
	w := newFunctionWorld(t, "\n-- main.tfcomponent.hcl --"+requireFake+`
locals {
  x = provider::fake::changing("x") + provider::fake::changing("x")
}
`)
	diags := w.Validate()
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "something else for the same arguments") {
		t.Errorf("validate:\n%swant an error that the function changed its result", describe(diags))
	}
}
