// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/module"
)

const queriedModule = `
terraform {
  required_providers {
    fake = { source = "a/fake" }
  }
}
variable "v" {}
locals {
  fixed = 1
  of    = fake_x.r.id
}
resource "fake_x" "r" {}
module "m" {
  source = "./m"
}
`

// The mistakes of query files have their places, and those of the module's files are none.
func TestQuery(t *testing.T) {
	for name, test := range map[string]struct {
		files map[string]string
		want  []string // FILE:LINE SUMMARY
	}{
		"good": {map[string]string{
			"a.tfquery.hcl":  "list \"fake_x\" \"a\" {\n  provider = fake\n  limit = local.here\n}\nlocals {\n  here = local.fixed\n}\n",
			"b.tfquery.json": `{"list": {"fake_x": {"b": {"provider": "fake", "config": {"x": "${list.fake_x.a.data[0].identity}"}}}}}`,
			"c.tfquery.hcl~": "nonsense",
		}, nil},
		"none":    {map[string]string{"tfquery.hcl": "nonsense"}, []string{":0 No queries"}},
		"syntax":  {map[string]string{"a.tfquery.hcl": "list {\n"}, []string{"a.tfquery.hcl:1 Unclosed configuration block"}},
		"unknown": {map[string]string{"a.tfquery.hcl": "resource \"fake_x\" \"x\" {}\n"}, []string{"a.tfquery.hcl:1 Unsupported block type"}},
		"twice": {
			map[string]string{
				"a.tfquery.hcl": "list \"fake_x\" \"a\" {\n  provider = fake\n}\n",
				"b.tfquery.hcl": "list \"fake_x\" \"a\" {\n  provider = fake\n}\nlocals {\n  fixed = 2\n}\n",
			},
			[]string{"b.tfquery.hcl:1 Duplicate module object", "b.tfquery.hcl:5 Duplicate module object"},
		},
		"provider": {
			map[string]string{"a.tfquery.hcl": "list \"fake_x\" \"a\" {}\nlist \"fake_x\" \"b\" {\n  provider = fake.west\n}\n"},
			[]string{"a.tfquery.hcl:1 Missing required argument", "a.tfquery.hcl:3 Unknown provider configuration"},
		},
		"references": {
			map[string]string{
				"a.tfquery.hcl": "list \"fake_x\" \"a\" {\n  provider = fake\n  limit = local.of\n  config {\n    x = module.m.o\n  }\n}\n" +
					"locals {\n  unused = fake_x.r\n}\n",
			},
			// The first of several places with the same resource is enough.
			[]string{"a.tfquery.hcl:5 Reference not allowed in a query", "a.tfquery.hcl:9 Reference not allowed in a query"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			files := map[string]string{"main.tf": queriedModule, "m/main.tf": "output \"o\" {\n  value = 1\n}\n"}
			for name, text := range test.files {
				files[name] = text
			}
			for name, text := range files {
				path := filepath.Join(dir, filepath.FromSlash(name))
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			loader := module.NewLoader(module.Options{Base: dir})
			tree, diags := loader.LoadStrict(dir)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			_, diags = loader.Query(tree)
			var got []string
			for _, diag := range diags {
				at := ":0"
				if diag.Subject != nil {
					at = strings.Split(diag.Subject.String(), ",")[0]
				}
				got = append(got, at+" "+diag.Summary)
			}
			slices.Sort(got)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if again, _ := loader.Load(dir); again.Root.Lists != nil || again.Root.Locals["here"] != nil {
				t.Error("the module has the contents of query files")
			}
		})
	}
}
