// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deps_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/engine/native/deps"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// load makes the graph of a tree of files, which are given as NAME and text.
func load(tb testing.TB, files map[string]string) *deps.Graph {
	tb.Helper()
	dir := tb.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
	if diags.HasErrors() {
		tb.Fatal(diags)
	}
	return deps.New(tree.Root)
}

func texts(list []*deps.Resource) string {
	var names []string
	for _, r := range list {
		names = append(names, strings.ReplaceAll(r.Text, "terraform_data.", "t."))
	}
	return strings.Join(names, " ")
}

// byText is the non-empty results of a function by resource.
func byText(g *deps.Graph, about func(*deps.Resource) string) map[string]string {
	all := map[string]string{}
	for _, r := range g.Resources() {
		if said := about(r); said != "" {
			all[texts([]*deps.Resource{r})] = said
		}
	}
	return all
}

// The dependencies here are those that a state of terraform 1.11.4 has.
func TestDependencies(t *testing.T) {
	g := load(t, map[string]string{
		"main.tf": `
			resource "terraform_data" "b" {}
			resource "terraform_data" "a" { depends_on = [terraform_data.b] }
			data "terraform_remote_state" "d" {
			  backend    = "local"
			  depends_on = [terraform_data.a]
			}
			module "m" {
			  source     = "./m"
			  for_each   = toset(["x"])
			  depends_on = [terraform_data.dep]
			  unused     = terraform_data.b.id
			}
			resource "terraform_data" "dep" {}
			resource "terraform_data" "one" { input = module.m["x"].one }
			resource "terraform_data" "all" { input = [for m in module.m : m.one] }
			resource "terraform_data" "data" {
			  input = local.d
			  connection { host = terraform_data.dep.id }
			}
			locals { d = data.terraform_remote_state.d.outputs }
			resource "terraform_data" "validated" { input = var.v }
			ephemeral "fake_ephemeral" "e" { name = terraform_data.b.id }
			resource "terraform_data" "passing" { depends_on = [ephemeral.fake_ephemeral.e] }
			variable "v" {
			  default = 1
			  validation {
			    condition     = var.v != terraform_data.dep.id
			    error_message = "Equal."
			  }
			}
		`,
		"m/main.tf": `
			variable "unused" {}
			resource "terraform_data" "p" {}
			resource "terraform_data" "q" {
			  lifecycle { replace_triggered_by = [terraform_data.p] }
			}
			output "one" { value = terraform_data.p.id }
		`,
	})
	got := byText(g, func(r *deps.Resource) string { return texts(r.Dependencies()) })
	want := map[string]string{
		"t.a":                           "t.b",
		"data.terraform_remote_state.d": "t.a t.b",
		"t.one":                         "module.m.t.p t.dep",
		"t.all":                         "module.m.t.p module.m.t.q t.dep",
		"t.data":                        "data.terraform_remote_state.d t.a t.b t.dep",
		"t.validated":                   "t.dep",
		"t.passing":                     "ephemeral.fake_ephemeral.e t.b",
		"ephemeral.fake_ephemeral.e":    "t.b",
		"module.m.t.p":                  "t.dep",
		"module.m.t.q":                  "module.m.t.p t.dep",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	for name, want := range map[string]string{
		"data":    "data.terraform_remote_state.d t.dep", // t.a and t.b are behind the data source
		"passing": "t.b",                                 // the resource between is none of those
	} {
		addr := stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "terraform_data", Name: name}}
		near := g.Resource(addr).Nearest(func(r *deps.Resource) bool { return r.Addr.Resource.Mode != stackaddrs.EphemeralResource })
		if got := texts(near); got != want {
			t.Errorf("nearest of %s: %s, want %s", name, got, want)
		}
	}
	if diags := g.Cycles(); len(diags) > 0 {
		t.Errorf("Cycles() = %v", diags)
	}
	keyed := stackaddrs.ResourceInstance{
		Module:   stackaddrs.RootModuleInstance.Child("m", stackaddrs.StringKey("x")),
		Resource: stackaddrs.Resource{Type: "terraform_data", Name: "q"}, Key: stackaddrs.IntKey(1),
	}
	if r := g.Resource(keyed); r == nil || r.Text != "module.m.terraform_data.q" {
		t.Errorf("Resource(%s) = %v", keyed, r)
	}
	keyed.Resource.Name = "other"
	if r := g.Resource(keyed); r != nil {
		t.Errorf("Resource(%s) = %v, want none", keyed, r.Text)
	}
}

func TestDirectAndExplicit(t *testing.T) {
	g := load(t, map[string]string{
		"main.tf": `
			resource "terraform_data" "a" { input = terraform_data.z.id }
			resource "terraform_data" "z" {}
			locals { a = terraform_data.a.id }
			data "terraform_remote_state" "d" {
			  backend    = terraform_data.z.output
			  workspace  = local.a
			  depends_on = [terraform_data.a]
			}
			data "terraform_remote_state" "e" {
			  backend    = data.terraform_remote_state.d.outputs
			  depends_on = [local.a, data.terraform_remote_state.d]
			}
			module "m" {
			  source     = "./m"
			  depends_on = [module.n]
			}
			module "n" { source = "./n" }
		`,
		"m/main.tf": `
			data "terraform_remote_state" "d" { backend = "local" }
			resource "terraform_data" "own" {}
		`,
		"n/main.tf": `resource "terraform_data" "n" {}`,
	})
	gotDirect := byText(g, func(r *deps.Resource) string { return texts(r.Direct()) })
	wantDirect := map[string]string{"t.a": "t.z", "data.terraform_remote_state.d": "t.z"}
	if diff := cmp.Diff(wantDirect, gotDirect); diff != "" {
		t.Errorf("direct references (-want +got):\n%s", diff)
	}
	got := byText(g, func(r *deps.Resource) string { return texts(r.Explicit()) })
	want := map[string]string{
		"data.terraform_remote_state.d":          "t.a",
		"data.terraform_remote_state.e":          "t.a t.z",
		"module.m.data.terraform_remote_state.d": "module.n.t.n",
		"module.m.t.own":                         "module.n.t.n",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explicit dependencies (-want +got):\n%s", diff)
	}
}

func TestCreateBeforeDestroy(t *testing.T) {
	g := load(t, map[string]string{
		"main.tf": `
			resource "terraform_data" "first" {
			  input = local.via
			  lifecycle { create_before_destroy = true }
			}
			locals { via = module.m.out }
			module "m" {
			  source = "./m"
			  in     = terraform_data.below.id
			}
			resource "terraform_data" "below" {
			  lifecycle { create_before_destroy = false }
			}
			resource "terraform_data" "after" { input = terraform_data.first.id }
		`,
		"m/main.tf": `
			variable "in" {}
			resource "terraform_data" "inner" { input = var.in }
			resource "terraform_data" "aside" {}
			output "out" { value = terraform_data.inner.id }
		`,
	})
	got := byText(g, func(r *deps.Resource) string {
		if r.CreateBeforeDestroy {
			return "first"
		}
		return ""
	})
	want := []string{"module.m.t.inner", "t.below", "t.first"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(got))); diff != "" {
		t.Errorf("created first (-want +got):\n%s", diff)
	}
}

func TestCycles(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want []string // members of each
	}{
		"local": {`locals { a = local.a }`, []string{"local.a, at main.tf:1"}},
		"attributes": {
			"locals {\na = { x = 1, y = local.b.x }\nb = { x = local.a.x }\n}",
			[]string{"local.a, at main.tf:2; local.b, at main.tf:3"},
		},
		"resources": {
			"resource \"terraform_data\" \"a\" { input = terraform_data.b.id }\nresource \"terraform_data\" \"b\" { depends_on = " +
				"[terraform_data.a] }",
			[]string{"terraform_data.a, at main.tf:1; terraform_data.b, at main.tf:2"},
		},
		"two cycles":     {"locals {\na = local.a\nb = local.b\n}", []string{"local.a, at main.tf:2", "local.b, at main.tf:3"}},
		"self reference": {`resource "terraform_data" "a" { input = terraform_data.a.id }`, nil},
		"through a module": {
			"module \"m\" {\nsource = \"./m\"\nin = module.m.same\n}",
			[]string{"module.m.var.in, at m/main.tf:1; module.m.output.same, at m/main.tf:2"},
		},
		"back to what triggers an action": {
			"resource \"terraform_data\" \"a\" {\nlifecycle {\naction_trigger {\nevents = [after_create]\nactions = " +
				"[action.x_y.z]\n}\n}\n}\naction \"x_y\" \"z\" {\nconfig { v = [terraform_data.a.id, terraform_data.b.id] }\n}\nresource " +
				"\"terraform_data\" \"b\" { input = terraform_data.a.id }",
			[]string{"terraform_data.a, at main.tf:1; action.x_y.z, at main.tf:9; terraform_data.b, at main.tf:12"},
		},
		"what triggers an action itself": {
			"resource \"terraform_data\" \"a\" {\nlifecycle {\naction_trigger {\nevents = [after_create]\nactions = " +
				"[action.x_y.z]\n}\n}\n}\naction \"x_y\" \"z\" {\nconfig { v = terraform_data.a.id }\n}",
			nil,
		},
		"past each other": {"module \"m\" {\nsource = \"./m\"\nin = module.m.other\n}", nil},
		"dependency of a call": {
			"module \"m\" {\nsource = \"./m\"\nin = 1\ndepends_on = [terraform_data.a]\n}\nresource \"terraform_data\" \"a\" { input = " +
				"module.m.other }",
			[]string{"module.m.output.other, at m/main.tf:3; module.m (its instances), at main.tf:1; terraform_data.a, at main.tf:6"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			g := load(t, map[string]string{"main.tf": c.text, "m/main.tf": "variable \"in\" {}\noutput \"same\" { value = var.in }\noutput " +
				"\"other\" { value = 1 }"})
			var got []string
			for _, diag := range g.Cycles() {
				_, members, _ := strings.Cut(diag.Detail, "\n")
				got = append(got, strings.ReplaceAll(strings.TrimSpace(members), "\n  ", "; "))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("Cycles() (-want +got):\n%s", diff)
			}
		})
	}
}

// TestChain has each resource of a long chain force the others before it.
func TestChain(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text, "resource \"terraform_data\" \"r%d\" {\nlifecycle { create_before_destroy = true }\n", i)
		if i > 0 {
			fmt.Fprintf(&text, "input = terraform_data.r%d.id\n", i-1)
		}
		text.WriteString("}\n")
	}
	g := load(t, map[string]string{"main.tf": text.String()})
	last := g.Resource(stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "terraform_data", Name: "r1999"}})
	if got := len(last.Dependencies()); got != 1999 {
		t.Errorf("the last resource of the chain depends on %d others", got)
	}
}

// BenchmarkNew makes the graph of 10 000 resources in one module.
func BenchmarkNew(b *testing.B) {
	var text strings.Builder
	for i := range 10000 {
		fmt.Fprintf(&text, "resource \"terraform_data\" \"r%d\" {\ninput = local.l%d\n}\nlocals { l%d = terraform_data.r%d.id }\n", i,
			i/2, i, i/3+1)
	}
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(text.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
	if diags.HasErrors() {
		b.Fatal(diags)
	}
	for b.Loop() {
		for _, r := range deps.New(tree.Root).Resources() {
			r.Dependencies()
		}
	}
}
