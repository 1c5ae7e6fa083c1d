// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package links

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
)

// blockedBy returns the dependents of the block, itself included.
func blockedBy(t *testing.T, files map[string]string, address string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: dir}).Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	name := func(place Place) string {
		if place.Node.Parent == nil {
			return place.Address()
		}
		return place.Node.Key + "/" + place.Address()
	}
	found := New(tree)
	found.Block(slices.DeleteFunc(found.Places(), func(place Place) bool { return name(place) != address }))
	var blocked []string
	for _, place := range found.Places() {
		if found.Blocked(place) {
			blocked = append(blocked, name(place))
		}
	}
	return blocked
}

func TestLinks(t *testing.T) {
	child := map[string]string{
		"child/main.tf": `
variable "in" {}
resource "t" "own" {}
resource "t" "given" { in = var.in }
output "own" { value = t.own.id }
output "given" { value = t.given.id }
module "deep" {
  source = "../deep"
  in     = local.passed
}
locals { passed = { x = var.in } }
`,
		"deep/main.tf": "variable \"in\" {}\nresource \"t\" \"deep\" {\n  nested {\n    in = [for i in var.in : i]\n  }\n}\n",
	}
	tests := map[string]struct {
		root, json, block string
		want              []string
	}{
		"direct":     {root: `resource "t" "b" { in = t.a.id }`, block: "t.a", want: []string{"t.a", "t.b"}},
		"data":       {root: `resource "t" "b" { in = data.t.d[0].id }`, block: "data.t.d", want: []string{"data.t.d", "t.b"}},
		"depends on": {root: `resource "t" "b" { depends_on = [t.a] }`, block: "t.a", want: []string{"t.a", "t.b"}},
		"lifecycle": {
			root: "resource \"t\" \"b\" {\n  lifecycle {\n    replace_triggered_by = [t.a]\n  }\n}\n", block: "t.a", want: []string{"t.a", "t.b"},
		},
		"locals": {
			root: "locals {\n  x = t.a\n  y = local.x\n}\nresource \"t\" \"b\" { in = local.y }", block: "t.a",
			want: []string{"t.a", "t.b"},
		},
		"no cycle": {root: `resource "t" "b" { in = each.key }`, block: "t.a", want: []string{"t.a"}},
		"own names are not references": {
			root: `resource "t" "b" { in = [for t in ["x"] : t.a] }`, block: "t.a", want: []string{"t.a"},
		},
		"argument of a module": {
			root: "module \"m\" {\n  source = \"./child\"\n  in     = t.a.id\n}\nresource \"t\" \"x\" { in = module.m.own }\nresource \"t\" " +
				"\"y\" { in = module.m[0].given }\n",
			block: "t.a", want: []string{"t.a", "t.y", "m/t.given", "m.deep/t.deep"},
		},
		"whole module": {
			root:  "module \"m\" {\n  source = \"./child\"\n  in     = t.a.id\n}\nresource \"t\" \"x\" { in = module.m }\n",
			block: "t.a", want: []string{"t.a", "t.x", "m/t.given", "m.deep/t.deep"},
		},
		"unknown module": {
			root:  "module \"m\" {\n  source = \"./child\"\n  count  = 2\n  in     = 1\n}\nresource \"t\" \"x\" { in = module.m[*].own }\n",
			block: "module.m", want: []string{"module.m", "t.x", "m/module.deep", "m/t.given", "m/t.own", "m.deep/t.deep"},
		},
		"depends on a module": {
			root: "module \"m\" {\n  source = \"./child\"\n  in     = 1\n}\nmodule \"n\" {\n  source     = \"./deep\"\n  in         = 1\n  " +
				"depends_on = [module.m]\n}\n",
			block: "m.deep/t.deep", want: []string{"module.n", "m.deep/t.deep", "n/t.deep"},
		},
		"JSON": {
			json:  `{"resource": {"t": {"b": {"in": {"x": ["${t.a.id}"]}}, "c": {"depends_on": ["t.b"]}, "d": {"in": "t.a"}}}}`,
			block: "t.a", want: []string{"t.a", "t.b", "t.c"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"main.tf": "resource \"t\" \"a\" {}\ndata \"t\" \"d\" {}\n", "test.tf": test.root, "test2.tf.json": test.json}
			if test.json == "" {
				delete(files, "test2.tf.json")
			}
			for file, content := range child {
				files[file] = content
			}
			if diff := cmp.Diff(test.want, blockedBy(t, files, test.block)); diff != "" {
				t.Errorf("blocked (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLinksAt(t *testing.T) {
	dir := t.TempDir()
	source := "resource \"t\" \"a\" {\n  count = 1\n}\nmodule \"m\" {\n  source   = \"./child\"\n  for_each = {}\n}\n"
	for name, content := range map[string]string{"main.tf": source, "child/main.tf": "resource \"t\" \"a\" {}\n"} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: dir}).Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	found := New(tree)
	for text, want := range map[string]string{"1\n": "t.a", "{}": "module.m", "./child": ""} {
		start := hcl.Pos{Byte: strings.Index(source, text)}
		got := ""
		for _, place := range found.At(hcl.Range{Filename: "main.tf", Start: start}) {
			got += place.Address()
		}
		if got != want {
			t.Errorf("At(%q) = %q, want %q", text, got, want)
		}
	}
}
