// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackruntime_test

import (
	"bytes"
	"encoding/json"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// deferringStack is a stack whose module "./late" has two resources: the provider defers the first,
// and the second refers to it.
func deferringStack(t *testing.T, config string, reason func() string) *stacktest.Stack {
	t.Helper()
	modules := map[string]*memengine.Module{}
	s := stacktest.InMemory(t, "-- main.tfcomponent.hcl --"+config+`
-- late/main.tf --
# The test has it as Go functions.
`+passModule, memengine.Options{Modules: modules})
	modules[filepath.Join(s.Dir, "late")] = &memengine.Module{
		Variables: map[string]*engine.Variable{
			"name": {Name: "name", Type: cty.DynamicPseudoType, Default: cty.NullVal(cty.DynamicPseudoType), Nullable: true},
		},
		Resources: []memengine.Resource{
			{
				Name:  "late",
				Input: func(scope memengine.Scope) (cty.Value, error) { return scope.Inputs["name"], nil },
				Defer: func(memengine.Scope) string { return reason() },
			},
			{Name: "after", DependsOn: []string{"late"}},
			{Name: "free"},
		},
		Outputs: memengine.Outputs("result"),
		Values: func(scope memengine.Scope) (map[string]cty.Value, error) {
			return map[string]cty.Value{"result": scope.Resources["late"].GetAttr("output")}, nil
		},
	}
	return s
}

func TestRow068ResourceDeferredByProvider(t *testing.T) {
	t.Parallel()
	reason := "resource_config_unknown"
	s := deferringStack(t, `
component "late" {
  source = "./late"
  inputs = { name = "x" }
}
component "other" {
  source = "./echo"
  inputs = { in = "y" }
}
output "late" {
  type  = string
  value = component.late.result
}
`+echoModule, func() string { return reason })
	samePlan(t, s, `incomplete
component.late: create, applyable, incomplete, deferred (resource_config_unknown)
  terraform_data.free: create
  terraform_data.after: deferred (deferred_prereq), create
  terraform_data.late: deferred (resource_config_unknown), create
component.other: create, applyable
  terraform_data.this: create
output late: create (unknown)
`)
	s.Converge()
	sameState(t, s, `component.late
  terraform_data.free
  in name = "x"
  out result = (unknown)
component.other
  terraform_data.this
  in in = "y"
  out out = "y"
output late = (unknown)
`)

	reason = "" // it can be planned now
	samePlan(t, s, `component.late: update, applyable
  terraform_data.after: create
  terraform_data.free: no-op
  terraform_data.late: create
component.other: no-op
  terraform_data.this: no-op
output late: create (unknown)
`)
	s.Converge()
	sameState(t, s, `component.late
  terraform_data.after
  terraform_data.free
  terraform_data.late
  in name = "x"
  out result = "x"
component.other
  terraform_data.this
  in in = "y"
  out out = "y"
output late = "x"
`)
}

// All that follows a deferral is deferred, though it does not know by itself why.
func TestRow112ChainAfterDeferral(t *testing.T) {
	t.Parallel()
	s := deferringStack(t, `
component "a" { source = "./late" }
component "b" {
  source     = "./echo"
  inputs     = { in = "known" }
  depends_on = [component.a]
}
component "c" {
  source = "./echo"
  inputs = { in = component.b.out }
}
`+echoModule, func() string { return "absent_prereq" })
	samePlan(t, s, `incomplete
component.a: create, applyable, incomplete, deferred (absent_prereq)
  terraform_data.free: create
  terraform_data.after: deferred (deferred_prereq), create
  terraform_data.late: deferred (absent_prereq), create
component.b: create, incomplete, deferred (deferred_prereq), requires component.a
  terraform_data.this: deferred (deferred_prereq), create
component.c: create, incomplete, deferred (deferred_prereq), requires component.b
  terraform_data.this: deferred (deferred_prereq), create
`)
}

func TestRow104UnknownComponentSet(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "names" { type = set(string) }
component "self" {
  for_each = var.names
  source   = "./echo"
  inputs   = { in = each.key }
}
component "dependent" {
  source = "./echo"
  inputs = { in = [for c in component.self : c.out] }
}
`+echoModule)
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input names: create (unknown)
component.dependent: create, incomplete, deferred (deferred_prereq), requires component.self
  terraform_data.this: deferred (deferred_prereq), create
component.self[*]: create, incomplete, deferred (deferred_prereq)
  terraform_data.this: deferred (deferred_prereq), create
`)
}

func TestRow105KnownAndUnknownComponentSet(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "known" { type = set(string) }
variable "unknown" { type = set(string) }
component "known" {
  for_each = var.known
  source   = "./echo"
  inputs   = { in = each.key }
}
component "unknown" {
  for_each = var.unknown
  source   = "./echo"
  inputs   = { in = component.known }
}
`+echoModule)
	s.Inputs["known"] = list("a", "b")
	s.Inputs["unknown"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input known: create ["a", "b"]
input unknown: create (unknown)
component.known["a"]: create, applyable
  terraform_data.this: create
component.known["b"]: create, applyable
  terraform_data.this: create
component.unknown[*]: create, incomplete, deferred (deferred_prereq), requires component.known
  terraform_data.this: deferred (deferred_prereq), create
`)
}

func TestRow106UnknownSetOfWrongType(t *testing.T) {
	t.Parallel()
	const want = "error main.tfcomponent.hcl:9: for_each needs a map, an object or a set of strings\n"
	s := stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "keys" {
  type = list(string)
}
component "keys" {
  source = "./decode"
  inputs = { json = jsonencode(var.keys) }
}
component "each" {
  for_each = component.keys.out
  source   = "./echo"
}
-- decode/main.tf --
variable "json" { type = string }
resource "terraform_data" "this" { input = var.json }
output "out" { value = jsondecode(terraform_data.this.output) }
`+echoModule)
	s.Inputs["keys"] = list("a")
	plan := s.Plan(engine.Normal) // of unknown type, which may turn out to be an object
	if got := deferrals(plan); !got["component.each[*]"] {
		t.Errorf("deferred: %v, want component.each[*] to be", got)
	}
	_, diags := s.TryApply(plan)
	if got := stacktest.Summaries(diags); got != want {
		t.Errorf("apply: %s, want %s", got, want)
	}
	planFails(t, s, want) // now it is known

	// Of an unknown list it is known that it will never do.
	s = stacktest.InMemory(t, `
-- main.tfcomponent.hcl --
variable "keys" {
  type = list(string)
}


component "each" {

  for_each = var.keys
  source   = "./echo"
}
`+echoModule)
	s.Inputs["keys"] = cty.UnknownVal(cty.List(cty.String))
	planFails(t, s, strings.ReplaceAll(want, ":9:", ":8:"))
}

const unknownStack = `
-- main.tfcomponent.hcl --
variable "names" { type = set(string) }
stack "a" {
  for_each = var.names
  source   = "./child"
  inputs   = { names = var.names, name = each.value }
}
output "a" {
  type  = map(string)
  value = { for k, s in stack.a : k => s.out }
}
-- child/main.tfcomponent.hcl --
variable "names" { type = set(string) }
variable "name" { type = string }
output "out" {
  type  = string
  value = component.self.out
}
component "self" {
  source = "../echo"
  inputs = { in = var.name }
}
`

func TestRow107UnknownStackSetWithExistingInstance(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, unknownStack+echoModule)
	s.Inputs["names"] = list("x")
	s.Converge()
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input names: update (unknown)
stack.a["x"].component.self: update, incomplete, deferred (deferred_prereq)
  terraform_data.this: deferred (deferred_prereq), update
output a: update (unknown)
`)
	before := stacktest.StateText(s.State)
	s.Converge()
	want := strings.NewReplacer(`names = ["x"]`, "names = (unknown)", `a = {x = "x"}`, "a = (unknown)").Replace(before)
	if diff := cmp.Diff(want, stacktest.StateText(s.State)); diff != "" {
		t.Errorf("a deferred instance has changed (-before +after):\n%s", diff)
	}
}

func TestRow108UnknownStackSet(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, unknownStack+echoModule)
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input names: create (unknown)
stack.a[*].component.self: create, incomplete, deferred (deferred_prereq)
  terraform_data.this: deferred (deferred_prereq), create
output a: create (unknown)
`)
}

func TestRow109UnknownStackAndComponentSet(t *testing.T) {
	t.Parallel()
	s := stacktest.InMemory(t, unknownStack+echoModule)
	s.Write(`
-- child/main.tfcomponent.hcl --
variable "names" { type = set(string) }
variable "name" { type = string }
output "out" {
  type  = string
  value = "known"
}
component "self" {
  for_each = var.names
  source   = "../echo"
  inputs   = { in = var.name }
}
`)
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input names: create (unknown)
stack.a[*].component.self[*]: create, incomplete, deferred (deferred_prereq)
  terraform_data.this: deferred (deferred_prereq), create
output a: create (unknown)
`)
	s.Converge()
	sameState(t, s, "input names = (unknown)\noutput a = (unknown)\n")
}

const unknownProviders = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 0.0.0"
  }
}
variable "names" { type = set(string) }
provider "fake" "main" {}
provider "fake" "each" {
  for_each = var.names
  config {
    region = each.key
  }
}
-- constant/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
data "fake_data" "there" { id = "there" }
resource "fake_resource" "a" { value = data.fake_data.there.value }
output "value" { value = data.fake_data.there.value }
-- both/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "secret" {
  type      = string
  ephemeral = true
}
data "fake_data" "there" { id = "there" }
resource "fake_writeonly" "a" {
  secret = var.secret
  value  = data.fake_data.there.value
}
resource "terraform_data" "plain" {}
`

func TestRow101UnknownProviderSet(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, unknownProviders+`
-- a.tfcomponent.hcl --
component "a" {
  source    = "./one"
  providers = { fake = provider.fake.each["a"] }
}
component "b" {
  source    = "./one"
  providers = { fake = provider.fake.each["b"] }
}
-- one/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
resource "fake_resource" "one" {}
resource "fake_resource" "many" { for_each = toset(["x"]) }
`)
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	known := strings.NewReplacer()
	if isNative(s) {
		known = strings.NewReplacer("[*]", `["x"]`)
	}
	samePlan(t, s, known.Replace(`incomplete
input names: create (unknown)
component.a: create, incomplete, deferred (provider_config_unknown)
  fake_resource.many[*]: deferred (provider_config_unknown), create
  fake_resource.one: deferred (provider_config_unknown), create
component.b: create, incomplete, deferred (provider_config_unknown)
  fake_resource.many[*]: deferred (provider_config_unknown), create
  fake_resource.one: deferred (provider_config_unknown), create
`))

	s.Inputs["names"] = list("a", "b")
	s.Converge()
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	if isNative(s) {
		known = strings.NewReplacer("[*]", `["x"]`, ", create\n", ", update\n")
	}
	samePlan(t, s, known.Replace(`incomplete
input names: update (unknown)
component.a: update, incomplete, deferred (provider_config_unknown)
  fake_resource.many[*]: deferred (provider_config_unknown), create
  fake_resource.one: deferred (provider_config_unknown), update
component.b: update, incomplete, deferred (provider_config_unknown)
  fake_resource.many[*]: deferred (provider_config_unknown), create
  fake_resource.one: deferred (provider_config_unknown), update
`))
	before := stacktest.StateText(s.State)
	s.Converge()
	if diff := cmp.Diff(strings.ReplaceAll(before, `names = ["a", "b"]`, "names = (unknown)"), stacktest.StateText(s.State)); diff != "" {
		t.Errorf("deferred components have changed (-before +after):\n%s", diff)
	}
}

// isNative reports whether the stack runs on the native engine, which defers resources by itself
// and so knows more of them than a binary.
func isNative(s *stacktest.Stack) bool { return s.Engine.Info().Name == "native" }

func TestRow102UnknownProviderWithWriteOnlyAttribute(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, unknownProviders+`
-- a.tfcomponent.hcl --
variable "secret" {
  type      = string
  ephemeral = true
}
component "a" {
  source    = "./both"
  inputs    = { secret = var.secret }
  providers = { fake = provider.fake.each["a"] }
}
`)
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	s.Ephemeral["secret"] = cty.StringVal("planted")
	plan := s.Plan(engine.Normal)
	want := `incomplete
input names: create (unknown)
input secret: create null, required on apply
component.a: create, incomplete, deferred (provider_config_unknown)
  data.fake_data.there: deferred (provider_config_unknown), read
  fake_writeonly.a: deferred (provider_config_unknown), create
  terraform_data.plain: deferred (deferred_prereq), create
`
	if isNative(s) {
		want = `incomplete
input names: create (unknown)
input secret: create null, required on apply
component.a: create, applyable, incomplete, deferred (provider_config_unknown)
  terraform_data.plain: create
  data.fake_data.there: deferred (provider_config_unknown), read
  fake_writeonly.a: deferred (provider_config_unknown), create
`
	}
	if diff := cmp.Diff(want, stacktest.PlanText(plan)); diff != "" {
		t.Errorf("plan (-want +got):\n%s", diff)
	}
	text, err := json.Marshal(plan.Components[0].Deferred)
	if err != nil {
		t.Fatal(err)
	}
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(text, []byte("planted")) || bytes.Contains(file.Bytes(), []byte("planted")) {
		t.Error("the value of a write-only attribute is in the plan")
	}
}

func TestRow103ConstantNextToUnknownProvider(t *testing.T) {
	t.Parallel()
	s := stacktest.Real(t, unknownProviders+`
-- a.tfcomponent.hcl --
component "constant" {
  source    = "./constant"
  providers = { fake = provider.fake.main }
}
component "main" {
  for_each  = var.names
  source    = "./constant"
  providers = { fake = provider.fake.each[each.key] }
}
`)
	if err := s.Store.Create(&testprovider.Object{
		Type:   "fake_resource",
		ID:     "there",
		Values: map[string]json.RawMessage{"value": json.RawMessage(`"found"`)},
	}); err != nil {
		t.Fatal(err)
	}
	s.LeaveUnknown = true
	s.Inputs["names"] = cty.UnknownVal(cty.Set(cty.String))
	samePlan(t, s, `incomplete
input names: create (unknown)
component.constant: create, applyable
  fake_resource.a: create
component.main[*]: create, incomplete, deferred (provider_config_unknown)
  data.fake_data.there: deferred (provider_config_unknown), read
  fake_resource.a: deferred (provider_config_unknown), create
`)
	s.Converge()
	sameState(t, s, `input names = (unknown)
component.constant
  data.fake_data.there
  fake_resource.a
  out value = "found"
`)
}
