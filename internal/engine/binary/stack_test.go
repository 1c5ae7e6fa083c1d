// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// stack is a whole stack run with the real engine.
type stack struct {
	t     *testing.T
	opts  stackruntime.Options
	state *stackstate.State
}

// newStack writes the files of a txtar archive and prepares the engine for them.
func newStack(t *testing.T, archive string) *stack {
	t.Helper()
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return &stack{t: t, opts: loadStack(t, dir), state: stackstate.New()}
}

// loadStack loads the stack in a directory and prepares an engine for it.
func loadStack(t *testing.T, dir string) stackruntime.Options {
	t.Helper()
	config, diags := stackconfig.Load(dir)
	if diags.HasErrors() {
		t.Fatal(explain(diags))
	}
	e := stacktest.NewEngine(t, stacktest.EngineOptions{WorkDir: filepath.Join(dir, ".cairn")})
	session := enginetest.Open(t, e, engine.SessionOptions{StackDir: config.Root.Dir})
	req := &engine.PrepareRequest{Requirements: map[stackaddrs.Provider][]string{}}
	for _, c := range config.Root.Components {
		req.Modules = append(req.Modules, c.Source.Dir)
	}
	if reqs := config.Root.RequiredProviders; reqs != nil {
		for _, r := range reqs.Providers {
			if !r.Provider.IsBuiltin() {
				req.Requirements[r.Provider] = append(req.Requirements[r.Provider], r.Version)
			}
		}
	}
	preparer := session.Abilities().Preparer
	if _, diags := preparer.Prepare(t.Context(), req); diags.HasErrors() {
		t.Fatal(explain(diags))
	}
	locks, err := preparer.Locks(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return stackruntime.Options{Config: config, Session: session, Locks: locks}
}

func explain(diags hcl.Diagnostics) string {
	var b strings.Builder
	for _, d := range diags {
		fmt.Fprintf(&b, "%v: %s: %s\n", d.Subject, d.Summary, d.Detail)
	}
	return b.String()
}

func (s *stack) plan(mode engine.Mode) *stackplan.Plan {
	s.t.Helper()
	plan, diags := stackruntime.Plan(s.t.Context(), stackruntime.PlanRequest{Options: s.opts, Mode: mode, Prior: s.state})
	if diags.HasErrors() {
		s.t.Fatal(explain(diags))
	}
	return plan
}

func (s *stack) apply(plan *stackplan.Plan) {
	s.t.Helper()
	result, diags := stackruntime.Apply(s.t.Context(), stackruntime.ApplyRequest{Options: s.opts, Plan: plan, Prior: s.state})
	if diags.HasErrors() {
		s.t.Fatal(explain(diags))
	}
	s.state = result.State
}

const typedModule = `
variable "str" { type = string }
variable "num" { type = number }
variable "flag" { type = bool }
variable "list" { type = list(string) }
variable "set" { type = set(string) }
variable "map" { type = map(number) }
variable "tuple" { type = tuple([string, number]) }
variable "obj" {
  type = object({
    name  = string
    extra = optional(string, "filled in")
    inner = optional(object({ x = number }))
  })
}
variable "nothing" {
  type    = string
  default = null
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "part" {
  type = object({ known = string, later = string })
}
resource "terraform_data" "all" {
  input = {
    str = var.str, num = var.num, flag = var.flag, list = var.list, set = var.set, map = var.map
    tuple = var.tuple, obj = var.obj, nothing = var.nothing, part = var.part
  }
}
resource "terraform_data" "secret" {
  input = var.secret
}
output "str" { value = "${terraform_data.all.output.str}+" }
output "num" { value = terraform_data.all.output.num + 1 }
output "flag" { value = !terraform_data.all.output.flag }
output "list" { value = concat(terraform_data.all.output.list, ["+"]) }
output "set" { value = terraform_data.all.output.set }
output "map" { value = terraform_data.all.output.map }
output "tuple" { value = terraform_data.all.output.tuple }
output "obj" { value = { name = terraform_data.all.output.obj.name } }
output "nothing" { value = terraform_data.all.output.nothing }
output "later" { value = terraform_data.all.output.part.later }
output "extra" { value = terraform_data.all.output.obj.extra }
output "secret" {
  value     = terraform_data.secret.output
  sensitive = true
}
`

const typedChain = `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
component "c1" {
  source = "./mod"
  inputs = {
    str = "s", num = 1, flag = true, list = ["a", "b"], set = ["y", "x"], map = { k = 1 }, tuple = ["t", 2]
    obj = { name = "n" }, nothing = null, secret = "hush", part = { known = "k", later = "l" }
  }
}
component "c2" {
  source = "./mod"
  inputs = merge(component.c1, { part = { known = "k", later = component.c1.later } })
}
component "c3" {
  source = "./mod"
  inputs = merge(component.c2, { part = { known = "k", later = component.c2.later } })
}
component "c4" {
  source = "./mod"
  inputs = merge(component.c3, { part = { known = "k", later = component.c3.later } })
}
provider "fake" "main" {
  config {
    region = component.c4.str
    token  = component.c4.secret
    set    = component.c3.set
    list_block {
      name  = component.c3.str
      value = "v"
    }
  }
}
component "regional" {
  source = "./regional"
  providers = {
    fake = provider.fake.main
  }
}
output "all" {
  type = object({
    str = string, num = number, flag = bool, list = list(string), set = set(string), map = map(number)
    tuple = tuple([string, number]), nothing = string, extra = string, later = string, secret = string
  })
  value = component.c4
}
output "region" {
  type  = string
  value = component.regional.region
}
-- regional/main.tf --
terraform {
  required_providers {
    fake = {
      source = "cairnstacks/fake"
    }
  }
}
resource "fake_computed" "this" {
  value = "v"
}
output "region" { value = fake_computed.this.region }
-- mod/main.tf --
` + typedModule

// Every input of a component is an output, unknown before apply, of the one
// before; provider configurations get unknown and sensitive values the same way.
func TestValuesOfEveryTypeFlowThroughAChain(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	s := newStack(t, typedChain)

	plan := s.plan(engine.Normal)
	wantTypes := map[string]cty.Type{
		"str": cty.String, "num": cty.Number, "flag": cty.Bool, "list": cty.List(cty.String), "set": cty.Set(cty.String),
		"map": cty.Map(cty.Number), "tuple": cty.Tuple([]cty.Type{cty.String, cty.Number}), "nothing": cty.String,
	}
	for _, c := range plan.Components {
		if name := c.Addr.Item.Component.Name; name == "c1" || name == "regional" {
			continue
		}
		for name, ty := range wantTypes {
			v, _ := c.Inputs[name].Unmark()
			if v.IsWhollyKnown() || !v.Type().Equals(ty) {
				t.Errorf("planned input %s of %s = %#v, want an unknown %s", name, c.Addr, v, ty.FriendlyName())
			}
		}
		if !marks.Has(c.Inputs["secret"], marks.Sensitive) {
			t.Errorf("planned input secret of %s is not sensitive", c.Addr)
		}
		if v := c.Inputs["part"].GetAttr("known"); !v.RawEquals(cty.StringVal("k")) {
			t.Errorf("known part of an input of %s = %#v", c.Addr, v)
		}
	}

	s.apply(plan)
	str := cty.StringVal
	want := map[string]cty.Value{
		"str": str("s++++"), "num": cty.NumberIntVal(5), "flag": cty.True,
		"list":  cty.ListVal([]cty.Value{str("a"), str("b"), str("+"), str("+"), str("+"), str("+")}),
		"set":   cty.SetVal([]cty.Value{str("x"), str("y")}),
		"map":   cty.MapVal(map[string]cty.Value{"k": cty.NumberIntVal(1)}),
		"tuple": cty.TupleVal([]cty.Value{str("t"), cty.NumberIntVal(2)}),
		"extra": str("filled in"), "later": str("l"), "nothing": cty.NullVal(cty.String),
		"secret": str("hush").Mark(marks.Sensitive),
	}
	for name, wantValue := range want {
		if got := s.state.Outputs["all"].GetAttr(name); !got.RawEquals(wantValue) {
			t.Errorf("output %s = %#v, want %#v", name, got, wantValue)
		}
	}
	if got := s.state.Outputs["region"]; !got.RawEquals(str("s++++")) {
		t.Errorf("output region = %#v, want the provider to have been configured with s++++", got)
	}

	for _, c := range s.plan(engine.Normal).Components {
		if c.Action != stackplan.NoOp {
			t.Errorf("second plan: %s has action %s", c.Addr, c.Action)
		}
	}

	s.apply(s.plan(engine.Destroy))
	if len(s.state.Components) > 0 {
		t.Errorf("%d components left after destroy", len(s.state.Components))
	}
}

// A component that others depend on is planned twice to be destroyed, and the second plan is made
// from the state that the first found.
func TestDestroyAfterARefreshFitsItsPlan(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	store := t.TempDir()
	t.Setenv("CAIRN_FAKE_STORE", store)
	for range 3 { // the order of sensitive paths in a state is random
		s := newStack(t, `
-- main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = ">= 1.0.0"
  }
}
provider "fake" "main" {}
component "first" {
  source    = "./first"
  inputs    = { secret = "hush" }
  providers = { fake = provider.fake.main }
}
component "second" {
  source = "./second"
  inputs = { in = component.first.out }
}
-- first/main.tf --
terraform {
  required_providers {
    fake = {
      source = "cairnstacks/fake"
    }
  }
}
variable "secret" {
  type      = string
  sensitive = true
}
resource "fake_everything" "this" {
  string = var.secret
  map    = { a = var.secret, b = var.secret }
  list   = [var.secret]
}
output "out" { value = fake_everything.this.id }
-- second/main.tf --
variable "in" { type = string }
resource "terraform_data" "this" { input = var.in }
`)
		s.apply(s.plan(engine.Normal))
		s.apply(s.plan(engine.Destroy))
		if len(s.state.Components) > 0 {
			t.Fatalf("%d components left after destroy", len(s.state.Components))
		}
	}
}
