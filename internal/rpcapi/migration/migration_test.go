// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package migration_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/rpcapi/migration"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// files are a stack whose modules have resources of the provider example.com/a/a, the built-in one,
// and one that cannot be asked.
var files = map[string]string{
	"main.tfcomponent.hcl": `
required_providers {
  a = {
    source  = "example.com/a/a"
    version = "1.0.0"
  }
}
provider "a" "one" {}
provider "a" "two" {
  for_each = toset(["x"])
}
component "single" {
  source    = "./m"
  providers = { a = provider.a.one, a.west = provider.a.two["x"] }
}
component "many" {
  source    = "./m"
  for_each  = toset(["x"])
  providers = { a = provider.a.one, a.west = provider.a.one }
}
component "poor" {
  source    = "./m"
  providers = { a = true ? provider.a.one : provider.a.two["x"] }
}
component "undeclared" {
  source    = "./m"
  providers = { a = provider.a.three }
}
stack "inner" {
  source = "./inner"
}
`,
	"inner/main.tfcomponent.hcl": `
component "deep" {
  source = "../plain"
}
`,
	"plain/main.tf": `resource "terraform_data" "x" {}`,
	"m/main.tf": `
terraform {
  required_providers {
    a = {
      source                = "example.com/a/a"
      configuration_aliases = [a, a.west]
    }
  }
}
variable "v" { default = 1 }
output "o" { value = 1 }
resource "terraform_data" "x" {}
resource "terraform_data" "renamed" {}
resource "a_thing" "x" {}
resource "a_thing" "west" { provider = a.west }
resource "a_unknown" "x" {}
resource "broken_thing" "x" { provider = broken }
data "a_thing" "d" {}
module "child" {
  source    = "./child"
  providers = { a = a.west }
}
module "lost" { source = "./lost" }
`,
	"m/child/main.tf": `
terraform {
  required_providers {
    a = { source = "example.com/a/a" }
  }
}
resource "a_thing" "x" {}
`,
	"m/lost/main.tf": `
terraform {
  required_providers {
    a = {
      source                = "example.com/a/a"
      configuration_aliases = [a.main]
    }
  }
}
resource "a_thing" "x" { provider = a.main }
`,
}

// bench has the stack, loaded.
type bench struct {
	request migration.Request
}

func newBench(t *testing.T) *bench {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := stackconfig.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return &bench{migration.Request{
		Config: config,
		Load:   module.NewLoader(module.Options{Base: dir}).Load,
		HasType: func(p stackaddrs.Provider, r stackaddrs.Resource) (bool, error) {
			if p.Type == "broken" {
				return false, errors.New("it does not answer")
			}
			return !strings.HasSuffix(r.Type, "_unknown"), nil
		},
		Requires: map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent{},
	}}
}

// object is an object of a state: an address, a deposed key after "#", and its dependencies.
type object struct {
	addr     string
	provider string
	depends  []string
}

// run migrates objects and returns where they are then, as "component resource#deposed provider <-
// dependencies", and the summaries of faults.
func (b *bench) run(t *testing.T, objects ...object) (got, faults []string) {
	t.Helper()
	var entries []tfstate.Entry
	for _, o := range objects {
		written, deposed, _ := strings.Cut(o.addr, "#")
		addr, err := stackaddrs.ParseResourceInstance(written)
		if err != nil {
			t.Fatal(err)
		}
		entry, err := tfstate.Object{
			Addr: addr, Deposed: stackaddrs.DeposedKey(deposed), Provider: o.provider, Attributes: []byte(`{"id":"1"}`), Dependencies: o.depends,
		}.Entry()
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, entry)
	}
	var err error
	if b.request.State, err = tfstate.New(nil, entries); err != nil {
		t.Fatal(err)
	}
	result, diags := migration.Run(b.request)
	for _, c := range result.Components {
		migrated, err := tfstate.ParseObjects(c.Module)
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range migrated {
			line := fmt.Sprintf("%s %s#%s %s", c.Addr, o.Addr, o.Deposed, o.Provider)
			if len(o.Dependencies) > 0 {
				line += " <- " + strings.Join(o.Dependencies, " ")
			}
			got = append(got, line)
		}
	}
	for _, diag := range diags {
		faults = append(faults, diag.Summary)
	}
	return got, faults
}

const (
	builtin = `provider["terraform.io/builtin/terraform"]`
	anA     = `provider["example.com/a/a"]`
)

func TestMigrate(t *testing.T) {
	cases := map[string]struct {
		resources, modules map[string]string
		objects            []object
		want, faults       []string
	}{
		"keeps its address": {
			resources: map[string]string{"terraform_data.x": "component.single"},
			objects:   []object{{addr: "terraform_data.x", provider: builtin}},
			want:      []string{"component.single terraform_data.x# " + builtin},
		},
		"gets a new one": {
			resources: map[string]string{
				"terraform_data.x[0]":    `component.many["x"].terraform_data.renamed["k"]`,
				"terraform_data.missing": "component.single",
			},
			objects: []object{{addr: "terraform_data.x[0]", provider: builtin}},
			want:    []string{`component.many["x"] terraform_data.renamed["k"]# ` + builtin},
		},
		"into a nested module, out of one": {
			resources: map[string]string{
				"a_thing.y":                 "component.single.module.child.a_thing.x",
				`module.m["a.b"].a_thing.x`: "component.single.a_thing.west",
			},
			objects: []object{{addr: "a_thing.y", provider: anA}, {addr: `module.m["a.b"].a_thing.x`, provider: anA + ".other"}},
			want:    []string{"component.single a_thing.west# " + anA + ".west", "component.single module.child.a_thing.x# " + anA + ".west"},
		},
		"deposed objects and data sources": {
			resources: map[string]string{"a_thing.x": "component.single", "data.a_thing.d": "component.single"},
			objects: []object{
				{addr: "a_thing.x#0123abcd", provider: anA},
				{addr: "a_thing.x", provider: anA},
				{addr: "data.a_thing.d", provider: anA},
			},
			want: []string{
				"component.single data.a_thing.d# " + anA, "component.single a_thing.x# " + anA, "component.single a_thing.x#0123abcd " + anA,
			},
		},
		"a module": {
			modules: map[string]string{"old": "single", "other": "component.many"},
			objects: []object{
				{addr: "module.old.terraform_data.x", provider: builtin},
				{addr: "module.old.module.child.a_thing.x[1]", provider: anA},
				{addr: `module.other["x"].terraform_data.x`, provider: builtin},
			},
			want: []string{
				`component.many["x"] terraform_data.x# ` + builtin,
				"component.single terraform_data.x# " + builtin,
				"component.single module.child.a_thing.x[1]# " + anA + ".west",
			},
		},
		"resources before modules": {
			resources: map[string]string{"module.old.terraform_data.x": `component.many["y"].terraform_data.x`},
			modules:   map[string]string{"old": "single"},
			objects: []object{
				{addr: "module.old.terraform_data.renamed", provider: builtin},
				{addr: "module.old.terraform_data.x", provider: builtin},
			},
			want: []string{`component.many["y"] terraform_data.x# ` + builtin, "component.single terraform_data.renamed# " + builtin},
		},
		"dependencies": {
			resources: map[string]string{"terraform_data.x": "component.single.terraform_data.renamed", "a_thing.x": `component.many["x"]`},
			modules:   map[string]string{"old": "single"},
			objects: []object{
				{addr: "terraform_data.x", provider: builtin, depends: []string{"a_thing.x", "module.old.module.child.a_thing.x", "a_thing.gone"}},
				{addr: "a_thing.x", provider: anA, depends: []string{"a_thing.gone"}},
				{addr: `module.old.module.child.a_thing.x["a"]`, provider: anA},
				{addr: `module.old.module.child.a_thing.x["b"]`, provider: anA},
			},
			want: []string{
				`component.many["x"] a_thing.x# ` + anA,
				"component.single terraform_data.renamed# " + builtin + " <- module.child.a_thing.x",
				`component.single module.child.a_thing.x["a"]# ` + anA + ".west",
				`component.single module.child.a_thing.x["b"]# ` + anA + ".west",
			},
		},
		"faults of some": {
			resources: map[string]string{
				"terraform_data.good":    "component.single.terraform_data.x",
				"terraform_data.twice":   "component.single.terraform_data.x",
				"terraform_data.c1":      "component.missing",
				"terraform_data.c2":      "single",
				"terraform_data.c3":      "stack.inner.component.deep",
				"terraform_data.c4":      `component.single["x"].terraform_data.x`,
				"terraform_data.c5":      "component.many.terraform_data.x",
				"terraform_data.r1":      "component.single.terraform_data",
				"terraform_data.r2":      "component.single.terraform_data.missing",
				"terraform_data.r3":      "component.single.module.nowhere.terraform_data.x",
				"terraform_data.r4":      "component.single.a_thing.x",
				"a_unknown.x":            "component.single",
				"broken_thing.x":         "component.single",
				"a_thing.x":              "component.poor",
				"a_thing.west":           "component.poor",
				"a_thing.u":              "component.undeclared.a_thing.x",
				"module.old.a_thing.new": "component.single.module.lost.a_thing.x",
			},
			modules: map[string]string{"bad": `single["x"]`, "worse": "stack.inner.component.deep"},
			objects: []object{
				{addr: "terraform_data.good", provider: builtin},
				{addr: "terraform_data.twice", provider: builtin},
				{addr: "terraform_data.unmapped", provider: builtin},
				{addr: "terraform_data.c1", provider: builtin},
				{addr: "terraform_data.c2", provider: builtin},
				{addr: "terraform_data.c3", provider: builtin},
				{addr: "terraform_data.c4", provider: builtin},
				{addr: "terraform_data.c5", provider: builtin},
				{addr: "terraform_data.r1", provider: builtin},
				{addr: "terraform_data.r2", provider: builtin},
				{addr: "terraform_data.r3", provider: builtin},
				{addr: "terraform_data.r4", provider: builtin},
				{addr: "a_unknown.x", provider: anA},
				{addr: "broken_thing.x", provider: anA},
				{addr: "a_thing.x", provider: anA},
				{addr: "a_thing.west", provider: anA},
				{addr: "a_thing.u", provider: anA},
				{addr: "module.old.a_thing.new", provider: anA},
				{addr: "module.old.a_thing.other", provider: anA},
				{addr: "module.bad.a_thing.x", provider: anA},
				{addr: "module.worse.a_thing.x", provider: anA},
			},
			want: []string{"component.single terraform_data.x# " + builtin},
			faults: []string{ // by the order of the state: of types and names, then of modules
				"Provider not declared",             // a_thing.u
				"Provider configuration missing",    // a_thing.west
				"Ambiguous provider configuration",  // a_thing.x
				"Unknown resource type",             // a_unknown.x
				"Provider configuration missing",    // broken_thing.x
				"Component not declared",            // c1
				"Invalid target component",          // c2
				"Invalid target component",          // c3
				"Component not declared",            // c4
				"Component not declared",            // c5
				"Invalid target resource",           // r1
				"Resource not declared",             // r2
				"Resource not declared",             // r3
				"Invalid target resource",           // r4
				"Address used twice",                // twice
				"Resource not mapped",               // unmapped
				"Invalid target component",          // module.bad
				"Provider configuration not passed", // module.old…new
				"Module not mapped",                 // module.old…other
				"Invalid target component",          // module.worse
			},
		},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			b := newBench(t)
			b.request.Resources, b.request.ModuleCalls = c.resources, c.modules
			got, faults := b.run(t, c.objects...)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("objects (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.faults, faults); diff != "" {
				t.Errorf("faults (-want +got):\n%s", diff)
			}
		})
	}
}

// TestUnaskedProvider checks that a provider which cannot be asked is a fault of the objects that
// need it.
func TestUnaskedProvider(t *testing.T) {
	b := newBench(t)
	b.request.Resources = map[string]string{"a_thing.x": "component.single", "terraform_data.x": "component.single"}
	b.request.HasType = func(p stackaddrs.Provider, _ stackaddrs.Resource) (bool, error) {
		if p.IsBuiltin() {
			return true, nil
		}
		return false, errors.New("it does not answer")
	}
	got, faults := b.run(t, object{addr: "a_thing.x", provider: anA}, object{addr: "terraform_data.x", provider: builtin})
	if len(got) != 1 || !slices.Equal(faults, []string{"Provider not usable"}) {
		t.Errorf("got %v, %v", got, faults)
	}
}

// TestComponents checks the records of component instances: their requirements, their dependents,
// and that their values are not known.
func TestComponents(t *testing.T) {
	b := newBench(t)
	parse := func(addr string) stackaddrs.AbsComponent {
		parsed, err := stackaddrs.ParseAbsComponent(addr)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	single, many, poor := parse("component.single"), parse("component.many"), parse("component.poor")
	b.request.Requires = map[stackaddrs.AbsComponent][]stackaddrs.AbsComponent{many: {single}, poor: {single}, single: nil}
	b.request.Resources = map[string]string{
		"terraform_data.x": "component.single",
		"terraform_data.y": `component.many["x"].terraform_data.x`,
		"terraform_data.z": `component.many["y"].terraform_data.x`,
	}
	b.run(t, object{addr: "terraform_data.x", provider: builtin},
		object{addr: "terraform_data.y", provider: builtin}, object{addr: "terraform_data.z", provider: builtin})
	result, diags := migration.Run(b.request)
	if len(diags) > 0 || len(result.Components) != 3 {
		t.Fatalf("got %d components, %v", len(result.Components), diags)
	}
	for _, c := range result.Components {
		wantRequired, wantDependents := []stackaddrs.AbsComponent{single}, []stackaddrs.AbsComponent(nil)
		if stackaddrs.ComponentOf(c.Addr) == single {
			wantRequired, wantDependents = nil, []stackaddrs.AbsComponent{many} // poor has nothing in the state
		}
		if !slices.Equal(c.Dependencies, wantRequired) || !slices.Equal(c.Dependents, wantDependents) {
			t.Errorf("%s: %v, %v", c.Addr, c.Dependencies, c.Dependents)
		}
		if len(c.Inputs) != 1 || len(c.Outputs) != 1 || !c.Inputs["v"].RawEquals(cty.DynamicVal) || !c.Outputs["o"].RawEquals(cty.DynamicVal) {
			t.Errorf("%s: %v, %v", c.Addr, c.Inputs, c.Outputs)
		}
	}
}
