// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/nativetest"
)

const deprecatedOutputs = `
module "a" { source = "./child" }
module "many" {
  source = "./child"
  count  = 3
}
-- child/main.tf --
output "o" {
  value      = "o"
  deprecated = "O is old."
}
output "n" {
  value      = 1
  deprecated = "N is old."
}
`

// Warnings about deprecated values are at the part of an expression that such a value is, once for
// all instances.
func TestDeprecatedValues(t *testing.T) {
	for config, want := range map[string][]string{
		`locals { l = "${module.a.o}!" }`:                {`"${module.a.o}!": O is old.`},
		`locals { l = { k = module.a.o } }`:              nil,
		`output "x" { value = module.a }`:                {`module.a: N is old.`, `module.a: O is old.`},
		`output "x" { value = [1, { k = module.a.o }] }`: {`module.a.o: O is old.`},
		`output "x" { value = module.many[*].o }`:        {`module.many[*].o: O is old.`},
		`output "x" { value = "${module.a.o}${module.a.n}" }`: {
			`"${module.a.o}${module.a.n}": N is old.`, `"${module.a.o}${module.a.n}": O is old.`,
		},
		`resource "terraform_data" "x" {
			count = 3
			input = { k = { l = module.a.o }, m = upper(module.a.o), n = [module.a.n] }
		}`: {`module.a.n: N is old.`, `module.a.o: O is old.`, `upper(module.a.o): O is old.`},
		`resource "terraform_data" "x" {
			for_each = module.many[*].o == [] ? {} : { a = module.a.o }
			input    = each.value
		}`: {`module.many[*].o == [] ? {} : { a = module.a.o }: O is old.`},
		`resource "terraform_data" "x" {
			input = 1
			provisioner "local-exec" { command = module.a.o }
		}`: nil, // which validating finds
	} {
		c := nativetest.New(t, "-- main.tf --\n"+config+deprecatedOutputs)
		var got []string
		for _, diag := range c.Plan(t, nil).Diags {
			if diag.Severity != hcl.DiagWarning || diag.Summary != "Deprecated value used" {
				t.Errorf("%s: %s", config, diag)
				continue
			}
			source, err := os.ReadFile(filepath.Join(c.Dir, diag.Subject.Filename))
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, string(diag.Subject.SliceBytes(source))+": "+diag.Detail)
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", config, diff)
		}
	}
}
