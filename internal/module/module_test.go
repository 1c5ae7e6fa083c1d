// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func write(t *testing.T, base string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// load loads the module in the directory m below the base directory.
func load(t *testing.T, files map[string]string, opts Options) (*Tree, hcl.Diagnostics) {
	t.Helper()
	opts.Base = t.TempDir()
	write(t, opts.Base, files)
	return NewLoader(opts).Load(filepath.Join(opts.Base, "m"))
}

func mustLoad(t *testing.T, files map[string]string) *Tree {
	t.Helper()
	tree, diags := load(t, files, Options{})
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return tree
}

func TestVariables(t *testing.T) {
	tests := map[string]struct {
		source, json string // one of them, or both for the same result
		want         engine.Variable
	}{
		"nothing set": {
			`variable "v" {}`, `{"variable": {"v": {}}}`,
			engine.Variable{Type: cty.DynamicPseudoType, Nullable: true},
		},
		"type": {
			`variable "v" { type = list(string) }`, `{"variable": {"v": {"type": "list(string)"}}}`,
			engine.Variable{Type: cty.List(cty.String), Nullable: true},
		},
		"default is converted": {
			"variable \"v\" {\n  type = set(number)\n  default = [\"1\"]\n}",
			`{"variable": {"v": {"type": "set(number)", "default": ["1"]}}}`,
			engine.Variable{Type: cty.Set(cty.Number), Default: cty.SetVal([]cty.Value{cty.NumberIntVal(1)}), Nullable: true},
		},
		"flags": {
			"variable \"v\" {\n  nullable = false\n  sensitive = true\n  ephemeral = true\n}",
			`{"variable": {"v": {"nullable": false, "sensitive": true, "ephemeral": true}}}`,
			engine.Variable{Type: cty.DynamicPseudoType, Sensitive: true, Ephemeral: true},
		},
		"old type in quotes": {
			`variable "v" { type = "map" }`, "",
			engine.Variable{Type: cty.Map(cty.DynamicPseudoType), Nullable: true},
		},
		"type without argument": {
			`variable "v" { type = list }`, `{"variable": {"v": {"type": "list"}}}`,
			engine.Variable{Type: cty.List(cty.DynamicPseudoType), Nullable: true},
		},
		"null default": {
			"variable \"v\" {\n  type = string\n  default = null\n}", `{"variable": {"v": {"type": "string", "default": null}}}`,
			engine.Variable{Type: cty.String, Default: cty.NullVal(cty.String), Nullable: true},
		},
	}
	for name, test := range tests {
		for file, source := range map[string]string{"m/a.tf": test.source, "m/a.tf.json": test.json} {
			if source == "" {
				continue
			}
			t.Run(name+" "+file, func(t *testing.T) {
				got := mustLoad(t, map[string]string{file: source}).Module.Variables["v"]
				if got == nil {
					t.Fatal("there is no variable v")
				}
				same := got.Type.Equals(test.want.Type) && got.Nullable == test.want.Nullable &&
					got.Sensitive == test.want.Sensitive && got.Ephemeral == test.want.Ephemeral &&
					got.Required() == test.want.Required()
				if !same || !got.Required() && !got.Default.RawEquals(test.want.Default) {
					t.Errorf("got %+v, want %+v", got, test.want)
				}
				if got.Range.Filename != file {
					t.Errorf("range: got %s, want %s", got.Range.Filename, file)
				}
			})
		}
	}
}

func TestOverrideFiles(t *testing.T) {
	tree := mustLoad(t, map[string]string{
		"m/main.tf": `
variable "v" {
  type    = string
  default = "1"
}
output "o" { value = var.v }
module "c" { source = "./one" }
terraform {
  required_providers {
    p = { source = "a/p" }
    q = { source = "a/q" }
  }
}
`,
		"m/a_override.tf": `
variable "v" {
  type      = number
  sensitive = true
}
output "o" { sensitive = true }
module "c" { source = "./two" }
terraform {
  required_providers {
    p = { source = "b/p" }
  }
}
`,
		"m/one/a.tf": ``,
		"m/two/a.tf": ``,
	})
	v := tree.Module.Variables["v"]
	if v.Type != cty.Number || !v.Sensitive || !v.Default.RawEquals(cty.NumberIntVal(1)) {
		t.Errorf("variable: got %+v", v)
	}
	if !tree.Module.Outputs["o"].Sensitive {
		t.Error("output is not sensitive")
	}
	if len(tree.Nodes) != 1 || filepath.Base(tree.Nodes[0].Dir) != "two" {
		t.Errorf("calls: got %v", tree.Nodes)
	}
	for name, want := range map[string]string{"p": "b", "q": "a"} {
		if got, declared := tree.Root.Provider(name); !declared || got.Namespace != want {
			t.Errorf("provider %s: got %v, %v", name, got, declared)
		}
	}
}

func provider(namespace, name string) stackaddrs.Provider {
	return stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: namespace, Type: name}
}

// slots writes slots as "name[.alias]=namespace/type", with ! if they are not declared.
func slots(tree *Tree) []string {
	var out []string
	for slot, needed := range tree.Module.Slots {
		text := slot.String() + "=" + needed.Provider.Namespace + "/" + needed.Provider.Type
		if !needed.Declared {
			text += "!"
		}
		out = append(out, text)
	}
	slices.Sort(out)
	return out
}

func TestSlots(t *testing.T) {
	const child = `
terraform {
  required_providers {
    inner = {
      source                = "ns/p"
      configuration_aliases = [inner.a]
    }
  }
}
resource "inner_thing" "default" {}
resource "inner_thing" "alias" { provider = inner.a }
`
	tests := map[string]struct {
		files map[string]string
		want  []string
	}{
		"declared": {
			map[string]string{"m/a.tf": `terraform {
  required_providers {
    p = { source = "ns/p" }
  }
}`},
			[]string{"p=ns/p"},
		},
		"aliases only": {
			map[string]string{"m/a.tf": "terraform {\n  required_providers {\n    p = {\n      source = \"ns/p\"\n      configuration_aliases = " +
				"[p.a, p.b]\n    }\n  }\n}"},
			[]string{"p.a=ns/p", "p.b=ns/p"},
		},
		"assumed": {
			map[string]string{"m/a.tf": `
resource "one_thing" "a" {}
data "two_thing" "a" { provider = two.x }
ephemeral "three_thing" "a" {}
check "c" {
  data "four_thing" "a" {}
}
locals { f = provider::five::f() }
resource "terraform_data" "a" {}
`},
			[]string{"five=hashicorp/five!", "four=hashicorp/four!", "one=hashicorp/one!", "three=hashicorp/three!", "two.x=hashicorp/two!"},
		},
		"imported without a block": {
			map[string]string{"m/a.tf": `
import {
  to = one_thing.a
  id = "x"
}
import {
  to       = one_thing.b
  id       = "x"
  provider = two.x
}
import {
  to = three_thing.a
  id = "x"
}
resource "three_thing" "a" { provider = three.x }
import {
  to = module.c
  id = "x"
}
`},
			[]string{"one=hashicorp/one!", "three.x=hashicorp/three!", "two.x=hashicorp/two!"},
		},
		"assumed in JSON": {
			map[string]string{"m/a.tf.json": `{
				"resource": {"one_thing": {"a": {"provider": "one.x"}}},
				"locals": {"f": "${[provider::five::f()]}"}
			}`},
			[]string{"five=hashicorp/five!", "one.x=hashicorp/one!"},
		},
		"passed to a child module": {
			map[string]string{
				"m/a.tf": `
terraform {
  required_providers {
    outer = { source = "ns/p" }
  }
}
module "c" {
  source    = "./c"
  providers = { inner.a = outer.west }
}`,
				"m/c/a.tf": child,
			},
			[]string{"outer.west=ns/p", "outer=ns/p"},
		},
		"only in a child module": {
			map[string]string{"m/a.tf": `module "c" { source = "./c" }`, "m/c/a.tf": child},
			[]string{"inner=ns/p"},
		},
		"through two calls": {
			map[string]string{
				"m/a.tf": "module \"b\" {\n  source = \"./b\"\n  providers = { mid = top.x }\n}\n",
				"m/b/a.tf": `
terraform {
  required_providers {
    mid = { source = "ns/p" }
  }
}
module "c" {
  source    = "../c"
  providers = {
    inner   = mid
    inner.a = mid
  }
}`,
				"m/c/a.tf": child,
			},
			[]string{"top.x=ns/p"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, slots(mustLoad(t, test.files))); diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
		})
	}
}

func TestRequirements(t *testing.T) {
	tree := mustLoad(t, map[string]string{
		"m/a.tf": `
terraform {
  required_providers {
    p = {
      source  = "ns/p"
      version = ">= 2.0"
    }
    old = "~> 1.0"
  }
}
module "c" { source = "./c" }
module "d" { source = "./c" }
`,
		"m/c/a.tf": "terraform {\n  required_providers {\n    p = {\n      source = \"ns/p\"\n      version = \"< 3.0\"\n    }\n  " +
			"}\n}\nresource \"implied_thing\" \"a\" {}\n",
	})
	want := map[stackaddrs.Provider][]string{
		provider("ns", "p"):              {"< 3.0", ">= 2.0"},
		provider("hashicorp", "old"):     {"~> 1.0"},
		provider("hashicorp", "implied"): nil,
	}
	if diff := cmp.Diff(want, tree.Module.Requirements); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
}

func TestDiagnostics(t *testing.T) {
	tests := map[string]struct {
		files   map[string]string
		summary string
		place   string // file:line of the subject
		nilTree bool
	}{
		"no directory":        {map[string]string{"x": ""}, "No module at this source", "", true},
		"no files (E-MOD-01)": {map[string]string{"m/readme.md": ""}, "No module at this source", "", true},
		"provider in root (E-MOD-02)": {
			map[string]string{"m/a.tf": "\nprovider \"p\" {}"}, "Modules used by components cannot configure providers", "m/a.tf:2", false,
		},
		"provider in child (E-MOD-03)": {
			map[string]string{"m/a.tf": `module "c" { source = "../c" }`, "c/a.tf": "\n\nprovider \"p\" { region = 1 }"},
			"Modules used by components cannot configure providers", "c/a.tf:3", false,
		},
		"const variable (E-MOD-04)": {
			map[string]string{"m/a.tf": "variable \"v\" {\n  const = true\n}"}, "Constant variables cannot be used here", "m/a.tf:2", false,
		},
		"ephemeral output": {
			map[string]string{"m/a.tf": "output \"o\" {\n  value     = 1\n  ephemeral = true\n}"},
			"Ephemeral output not allowed here",
			"m/a.tf:1", false,
		},
		"workspace": {
			map[string]string{"m/a.tf": "module \"c\" {\n  source = \"../c\"\n}", "c/a.tf": "output \"o\" {\n  value = " +
				"\"x-${terraform.workspace}\"\n}"},
			"Workspace name not available", "c/a.tf:2", false,
		},
		"workspace in JSON": {
			map[string]string{"m/a.tf.json": `{"output": {"o": {"value": "x-${terraform.workspace}"}}}`},
			"Workspace name not available",
			"m/a.tf.json:1", false,
		},
		"syntax error": {map[string]string{"m/a.tf": "\nresource {"}, "Unclosed configuration block", "m/a.tf:2", false},
		"type error":   {map[string]string{"m/a.tf": `variable "v" { type = strang }`}, "Invalid type specification", "m/a.tf:1", false},
		"default error": {
			map[string]string{"m/a.tf": "variable \"v\" {\n  type = number\n  default = \"x\"\n}"},
			"Invalid default value for variable", "m/a.tf:3", false,
		},
		"flag error": {map[string]string{"m/a.tf": "variable \"v\" {\n  sensitive = []\n}"}, "Invalid argument value", "m/a.tf:2", false},
		"registry child": {
			map[string]string{"m/a.tf": "module \"c\" {\n  source = \"ns/c/aws\"\n}"},
			"Module source not supported",
			"m/a.tf:2", false,
		},
		"missing child": {map[string]string{"m/a.tf": "module \"c\" {\n  source = \"./c\"\n}"}, "No module at this source", "m/a.tf:2", false},
		"call of itself": {
			map[string]string{"m/a.tf": "module \"c\" {\n  source = \"../c\"\n}", "c/a.tf": `module "m" { source = "../m" }`},
			"Recursive module call", "c/a.tf:1", false,
		},
		"provider source": {
			map[string]string{"m/a.tf": "terraform {\n  required_providers {\n    p = { source = \"a b\" }\n  }\n}"},
			"Invalid provider requirement", "m/a.tf:3", false,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tree, diags := load(t, test.files, Options{})
			if (tree == nil) != test.nilTree {
				t.Errorf("tree: got %v", tree)
			}
			if len(diags) != 1 || diags[0].Summary != test.summary {
				t.Fatalf("got %v, want %q", diags, test.summary)
			}
			place := ""
			if at := diags[0].Subject; at != nil {
				place, _, _ = strings.Cut(at.String(), ",")
			}
			if place != test.place {
				t.Errorf("subject: got %q, want %q", place, test.place)
			}
		})
	}
}

// Modules that call the next one twice end with an error, not after a million calls.
func TestTooManyCalls(t *testing.T) {
	files := map[string]string{}
	dir := "m"
	for i := range 20 {
		next := "c" + strconv.Itoa(i)
		files[dir+"/a.tf"] = "module \"a\" {\n  source = \"../" + next + "\"\n}\nmodule \"b\" {\n  source = \"../" + next + "\"\n}\n"
		dir = next
	}
	files[dir+"/a.tf"] = ""
	tree, diags := load(t, files, Options{})
	if len(diags) != 1 || diags[0].Summary != "Too many module calls" || diags[0].Subject == nil {
		t.Errorf("got %v", diags)
	}
	if len(tree.Nodes) != maxCalls {
		t.Errorf("%d calls, want %d", len(tree.Nodes), maxCalls)
	}
}

func TestProxyProviderInChildIsAccepted(t *testing.T) {
	mustLoad(t, map[string]string{"m/a.tf": `module "c" { source = "./c" }`, "m/c/a.tf": "provider \"p\" {\n  alias = \"x\"\n}"})
}

func TestFilesOfTofu(t *testing.T) {
	files := map[string]string{
		"m/a.tf": `output "from_tf" {}`, "m/a.tofu": `output "from_tofu" {}`, "m/b.tf": `output "b" {}`,
		"m/.hidden.tf": `broken {`, "m/backup.tf~": `broken {`, "m/#x.tf#": `broken {`, "m/c.tftest.hcl": `broken {`,
	}
	for _, test := range []struct {
		tofu bool
		want []string
	}{{false, []string{"b", "from_tf"}}, {true, []string{"b", "from_tofu"}}} {
		tree, diags := load(t, files, Options{Tofu: test.tofu})
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var got []string
		for name := range tree.Module.Outputs {
			got = append(got, name)
		}
		slices.Sort(got)
		if !slices.Equal(got, test.want) {
			t.Errorf("tofu %v: got outputs %v, want %v", test.tofu, got, test.want)
		}
	}
}

// Modules that plain terraform takes, although they are unusual.
func TestUnusualModules(t *testing.T) {
	fake := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}
	clock := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "hashicorp", Type: "time"}
	required := func(arguments string) string {
		return "terraform {\n  required_providers {\n    fake = {\n      source = \"cairnstacks/fake\"\n" + arguments + "\n    }\n  }\n}\n"
	}
	tests := map[string]struct {
		files        map[string]string
		slots        map[string]stackaddrs.Provider
		requirements map[stackaddrs.Provider][]string
	}{
		"local name alone as alias": {
			map[string]string{"m/main.tf": required("configuration_aliases = [fake]")},
			map[string]stackaddrs.Provider{"fake": fake},
			map[stackaddrs.Provider][]string{fake: nil},
		},
		"local name and alias": {
			map[string]string{"m/main.tf": required("configuration_aliases = [fake, fake.b]")},
			map[string]stackaddrs.Provider{"fake": fake, "fake.b": fake},
			map[stackaddrs.Provider][]string{fake: nil},
		},
		"local name alone in a called module": {
			map[string]string{
				"m/main.tf":   required("") + "module \"c\" {\n  source    = \"./c\"\n  providers = { fake = fake.x }\n}\n",
				"m/c/main.tf": required("configuration_aliases = [fake]"),
			},
			map[string]stackaddrs.Provider{"fake": fake, "fake.x": fake},
			map[stackaddrs.Provider][]string{fake: nil},
		},
		"placeholder in a called module": {
			map[string]string{
				"m/main.tf":   "module \"c\" {\n  source = \"./c\"\n}\n",
				"m/c/main.tf": "provider \"time\" {\n  version = \"~> 0.9\"\n}\n",
			},
			map[string]stackaddrs.Provider{"time": clock},
			map[stackaddrs.Provider][]string{clock: {"~> 0.9"}},
		},
		"placeholder with an alias": {
			map[string]string{
				"m/main.tf":   "module \"c\" {\n  source    = \"./c\"\n  providers = { time.a = time.b }\n}\n",
				"m/c/main.tf": "provider \"time\" {\n  alias = \"a\"\n}\n",
			},
			map[string]stackaddrs.Provider{"time.b": clock},
			map[stackaddrs.Provider][]string{clock: nil},
		},
		"called directory without files": {
			map[string]string{"m/main.tf": "module \"c\" {\n  source = \"./c\"\n}\n", "m/c/README.md": "later"},
			map[string]stackaddrs.Provider{},
			map[stackaddrs.Provider][]string{},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			tree := mustLoad(t, test.files)
			slots := map[string]stackaddrs.Provider{}
			for slot, needed := range tree.Module.Slots {
				slots[slot.String()] = needed.Provider
			}
			if diff := cmp.Diff(test.slots, slots); diff != "" {
				t.Errorf("slots (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.requirements, tree.Module.Requirements); diff != "" {
				t.Errorf("requirements (-want +got):\n%s", diff)
			}
		})
	}
}

func TestInvalidLocalNames(t *testing.T) {
	_, diags := load(t, map[string]string{"m/main.tf": `terraform {
  required_providers {
    my_fake = { source = "cairnstacks/fake" }
    a--b    = { source = "cairnstacks/fake" }
    My-fake = { source = "cairnstacks/fake" }
  }
}
`}, Options{})
	var lines []int
	for _, diag := range diags {
		if diag.Summary != "Invalid provider local name" {
			t.Errorf("unexpected: %s", diag)
		}
		lines = append(lines, diag.Subject.Start.Line)
	}
	slices.Sort(lines)
	if want := []int{3, 4, 5}; !slices.Equal(lines, want) {
		t.Errorf("errors in lines %v, want %v", lines, want)
	}
}

// A module for another version of terraform may be wrong for this one in many ways, of which only
// this matters.
func TestUnsupportedVersionIsReportedAlone(t *testing.T) {
	files := map[string]string{
		"m/main.tf": "terraform {\n  required_version = \">= 1.12\"\n}\nvariable \"v\" { type = no_such_type }\nmodule \"c\" {\n  source = " +
			"\"./c\"\n}\n",
		"m/c/main.tf": "terraform {\n  required_version = \"< 1.0\"\n}\nvariable \"v\" { type = no_such_type }\n",
	}
	for version, want := range map[string][]string{
		"1.11.4":       {"m/main.tf:2 Unsupported Terraform version", "m/c/main.tf:2 Unsupported Terraform version"},
		"1.12.0-beta1": {"m/c/main.tf:2 Unsupported Terraform version"},
		"":             {"m/main.tf:4 Invalid type specification", "m/c/main.tf:4 Invalid type specification"},
	} {
		_, diags := load(t, files, Options{Terraform: version})
		var got []string
		for _, diag := range diags {
			got = append(got, diag.Subject.Filename+":"+strconv.Itoa(diag.Subject.Start.Line)+" "+diag.Summary)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("with version %q (-want +got):\n%s", version, diff)
		}
	}
}

// An engine with the language of several versions does a module as the newest one that it is for.
func TestRangeOfVersions(t *testing.T) {
	both := Options{Terraform: "1.16.0", Oldest: "1.11.0"}
	for _, test := range []struct {
		root, called string
		want         string // "", "older", or the files of the errors
	}{
		{">= 1.0", ">= 1.3, < 2.0", ""},
		{"~> 1.16", "", ""},
		{"~> 1.16.2", "", ""},
		{"1.16.7", "", ""},
		{"> 1.16.0", "!= 1.16.1", ""},
		{">= 1.12, < 1.16", "", ""}, // and may need something that 1.11 does not have
		{"~> 1.13.0", "", ""},
		{"= 1.14.3", "", ""},
		{"> 1.11.4, < 1.12", "", "older"},
		{"~> 1.11.0", "", "older"},
		{"", "< 1.16", "older"},
		{">= 1.5, < 1.15.3", ">= 1.11", "older"},
		{"1.11.4", ">= 1.0", "older"},
		{">= 1.17", ">= 1.0", "m/main.tf"},
		{"~> 1.10.0", "< 1.0", "m/main.tf m/c/main.tf"},
		{"~> 1.12.0", "~> 1.13.0", "m/main.tf m/c/main.tf"}, // of which each is right
		{"~> 1.11.0", ">= 1.12", "m/main.tf"},
	} {
		require := func(constraint string) string {
			if constraint == "" {
				return ""
			}
			return "terraform {\n  required_version = \"" + constraint + "\"\n}\n"
		}
		tree, diags := load(t, map[string]string{
			"m/main.tf": require(test.root) + "module \"c\" {\n  source = \"./c\"\n}\n", "m/c/main.tf": require(test.called) + "locals {}\n",
		}, both)
		var got []string
		for _, diag := range diags {
			got = append(got, diag.Subject.Filename)
		}
		if len(diags) == 0 && tree.Older != nil {
			got = []string{"older"}
		}
		if text := strings.Join(got, " "); text != test.want {
			t.Errorf("%q with %q: %q, want %q", test.root, test.called, text, test.want)
		}
	}
}

// A module cannot use something that none of the versions has that it is for.
func TestFeaturesOfNewerVersions(t *testing.T) {
	const uses = "output \"o\" {\n  type  = string\n  value = convert(1, string)\n}\nimport {\n  to = a_b.c\n  identity = {}\n}\n" +
		"action \"a_b\" \"c\" {}\nresource \"a_b\" \"c\" {}\nvariable \"v\" {\n  deprecated = \"\"\n}\n" +
		"output \"d\" {\n  value = 1\n  deprecated = \"\"\n}\nmodule \"d\" {\n  source = \"./d\"\n  ignore_nested_deprecations = true\n}\n"
	for constraint, want := range map[string][]string{
		"":          nil,
		">= 1.5":    nil,
		"< 1.16":    {"m/c/main.tf:8"},
		"~> 1.14.0": {"m/c/main.tf:5", "m/c/main.tf:6", "m/c/main.tf:15", "m/c/main.tf:19", "m/c/main.tf:23", "m/c/main.tf:8"},
		"~> 1.11.0": {
			"m/c/main.tf:5", "m/c/main.tf:6", "m/c/main.tf:10", "m/c/main.tf:12", "m/c/main.tf:15", "m/c/main.tf:19", "m/c/main.tf:23",
			"m/c/main.tf:8",
		},
	} {
		required := "# any\n\n\n"
		if constraint != "" {
			required = "terraform {\n  required_version = \"" + constraint + "\"\n}\n"
		}
		dir := t.TempDir()
		write(t, dir, map[string]string{
			"m/main.tf": "module \"c\" {\n  source = \"./c\"\n}\n", "m/c/main.tf": required + uses, "m/c/d/main.tf": "locals {}\n",
		})
		_, diags := NewLoader(Options{Base: dir, Terraform: "1.16.0", Oldest: "1.11.0"}).LoadStrict(filepath.Join(dir, "m"))
		var got []string
		for _, diag := range diags {
			if diag.Summary == "Feature of a newer terraform" {
				got = append(got, diag.Subject.Filename+":"+strconv.Itoa(diag.Subject.Start.Line))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("for %q (-want +got):\n%s", constraint, diff)
		}
	}
}

// A constraint that is not a string of the usual form is one, or an error, with any engine.
func TestOddVersionConstraints(t *testing.T) {
	for odd, want := range map[string]string{
		`"soon"`:         "Invalid version constraint",
		`""`:             "Invalid version constraint",
		`[">= 1.0"]`:     "Invalid version constraint",
		`var.x`:          "Variables not allowed",
		`2`:              "Unsupported Terraform version",
		`1.5`:            "Unsupported Terraform version",
		`"${1 + 1}"`:     "Unsupported Terraform version",
		`"= 1.11.4-rc1"`: "Invalid version constraint",
		`null`:           "",
		`">= 1.0"`:       "",
		`">=1, != 2"`:    "",
	} {
		_, diags := load(
			t, map[string]string{"m/main.tf": "terraform {\n  required_version = " + odd + "\n}\n"}, Options{Terraform: "1.11.4"},
		)
		got := ""
		if len(diags) > 0 {
			got = diags[0].Summary
		}
		if got != want || len(diags) > 1 {
			t.Errorf("required_version = %s: %v, want %q", odd, diags, want)
		}
	}
}

// A constraint of an override file takes the place of the others.
func TestOverriddenVersionConstraint(t *testing.T) {
	tree := mustLoad(t, map[string]string{
		"m/main.tf":     "terraform {\n  required_version = \">= 2\"\n}\nterraform {\n  required_version = \">= 3\"\n}\n",
		"m/override.tf": "terraform {\n  required_version = \">= 1\"\n}\n",
	})
	if got := tree.Root.Versions; len(got) != 1 || got[0].Text != ">= 1" {
		t.Errorf("the constraints are %v", got)
	}
}

// A part without effect is not dropped silently.
func TestIgnoredParts(t *testing.T) {
	files := map[string]string{
		"m/main.tf":                "terraform {\n  backend \"local\" {}\n}\nmodule \"c\" {\n  source = \"./c\"\n}\n",
		"m/main.tofu":              "locals {}",
		"m/more.tofu.json":         "{}",
		"m/terraform.tfvars":       "",
		"m/x.auto.tfvars.json":     "",
		"m/c/main.tf":              "terraform {\n  cloud {}\n}\n",
		"m/c/c.tofu":               "locals {}",
		"m/c/terraform.tfvars":     "",
		"m/other.tfvars":           "",
		"m/my-terraform.tfvars":    "",
		"m/m.tftest.hcl":           "",
		"m/.hidden.tofu":           "",
		"m/directory.tofu/main.tf": "",
	}
	for _, test := range []struct {
		tofu bool
		want []string
	}{
		{false, []string{
			"m/c/c.tofu:1 File for tofu ignored", "m/c/main.tf:2 Backend of a module ignored", "m/main.tofu:1 File for tofu ignored",
			"m/more.tofu.json:1 File for tofu ignored", "m/terraform.tfvars:1 Values of variables ignored",
			"m/x.auto.tfvars.json:1 Values of variables ignored",
		}},
		// Here main.tofu hides main.tf.
		{true, []string{"m/terraform.tfvars:1 Values of variables ignored", "m/x.auto.tfvars.json:1 Values of variables ignored"}},
	} {
		_, diags := load(t, files, Options{Tofu: test.tofu})
		var got []string
		for _, diag := range diags {
			if diag.Severity != hcl.DiagWarning {
				t.Errorf("unexpected: %s", diag)
			}
			got = append(got, diag.Subject.Filename+":"+strconv.Itoa(diag.Subject.Start.Line)+" "+diag.Summary)
		}
		slices.Sort(got)
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("with tofu %t (-want +got):\n%s", test.tofu, diff)
		}
	}
}

func TestEmptySources(t *testing.T) {
	for _, source := range []string{`""`, "<<X\nX", `"${""}"`, "null", "var.x", `" "`, "2"} {
		tree, diags := load(t, map[string]string{"m/main.tf": "module \"c\" {\n  source = " + source + "\n}\n"}, Options{})
		if !diags.HasErrors() || diags[0].Subject == nil || diags[0].Subject.Start.Line != 2 || !tree.Faulty[tree.Root.Directory] {
			t.Errorf("source = %s: %v", source, diags)
		}
	}
}

// A name that no provider can have is an error in a reference, too, and so is such an alias.
func TestInvalidProviderReferences(t *testing.T) {
	for text, want := range map[string]string{
		`resource "fake_x" "a" { provider = fake }`:                             "",
		`resource "fake_x" "a" { provider = fake.b }`:                           "",
		`resource "fake_x" "a" { provider = "fake.b" }`:                         "",
		`resource "a_b" "a" { provider = a_b }`:                                 "Invalid provider local name",
		`resource "a_b" "a" { provider = "A.b" }`:                               "Invalid provider local name",
		`resource "fake_x" "a" { provider = fake.b.c }`:                         "Invalid provider reference",
		`resource "fake_x" "a" { provider = fake["b"] }`:                        "Invalid provider reference",
		`resource "fake_x" "a" { provider = "fake." }`:                          "Invalid provider reference",
		`resource "fake_x" "a" { provider = "fake.b c" }`:                       "Invalid provider reference",
		`resource "_x" "a" {}`:                                                  "Invalid provider local name",
		`data "a-_x" "a" {}`:                                                    "Invalid provider local name",
		`ephemeral "Fake_x" "a" {}`:                                             "Invalid provider local name",
		"terraform {\n  required_providers {\n    fake = { 1 = \"x\" }\n  }\n}": "Invalid provider requirement",
	} {
		_, diags := load(t, map[string]string{"m/main.tf": text + "\n"}, Options{})
		got := ""
		if len(diags) > 0 {
			got = diags[0].Summary
		}
		if got != want || len(diags) > 1 {
			t.Errorf("%s: %v, want %q", text, diags, want)
		}
	}
}

func TestProviderBlocks(t *testing.T) {
	for text, want := range map[string]string{
		"provider \"fake\" {}\nprovider \"fake\" {\n  alias = \"b\"\n}": "",
		"provider \"a_b\" {}":                          "Invalid provider local name",
		"provider \"fake\" {\n  alias = 2\n}":          "Invalid provider alias",
		"provider \"fake\" {\n  alias = null\n}":       "Unsuitable value type",
		"provider \"fake\" {\n  version = \"soon\"\n}": "Invalid version constraint",
		"provider \"fake\" {\n  version = var.x\n}":    "Variables not allowed",
		"provider \"fake\" {}\nprovider \"fake\" {}":   "Duplicate provider configuration",
	} {
		_, diags := load(
			t, map[string]string{"m/main.tf": "module \"c\" {\n  source = \"./c\"\n}\n", "m/c/main.tf": text + "\n"}, Options{},
		)
		got := ""
		if len(diags) > 0 {
			got = diags[0].Summary
		}
		if got != want || len(diags) > 1 {
			t.Errorf("%s: %v, want %q", text, diags, want)
		}
	}
}
