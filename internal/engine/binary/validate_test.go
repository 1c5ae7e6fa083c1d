// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// All mistakes of a tree are found in one run, wherever the engine would stop at others, each once.
func TestValidateModuleFindsAllMistakes(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	b := newBench(t, map[string]string{
		"mod/main.tf": `
module "torn" { source = "./torn" }
module "twice" {
  source = "./twice"
  in     = local.missing
}
module "gone" { source = "./gone" }
module "shared" { source = "../shared" }
output "uses" { value = [module.torn.id, module.gone.names[0], module.shared.x] }
output "wrong" { value = nowhere.id }
`,
		"mod/torn/main.tf":  "resource {",
		"mod/twice/main.tf": "variable \"in\" {}\nvariable \"in\" {}\nmodule \"deep\" {\n  source = \"./deep\"\n  in     = var.in\n}\n",
		"mod/twice/deep/main.tf": "variable \"in\" {}\nresource \"terraform_data\" \"a\" {\n  inptu = var.in\n}\n" +
			"module \"shared\" { source = \"../../../shared\" }\n",
		"shared/main.tf": "output \"x\" { value = local.missing }\n",
	})
	var got []string
	for _, diag := range b.engine.ValidateModule(context.Background(), filepath.Join(b.stack, "mod")) {
		got = append(got, fmt.Sprintf("%s:%d %s", diag.Subject.Filename, diag.Subject.Start.Line, diag.Summary))
		if strings.HasPrefix(diag.Summary, "Duplicate") && !strings.Contains(diag.Detail, "at mod/twice/main.tf:1,") {
			t.Errorf("the first of two is not named by its file: %s", diag.Detail)
		}
	}
	slices.Sort(got)
	want := []string{
		"mod/main.tf:10 Reference to undeclared resource",
		"mod/main.tf:5 Reference to undeclared local value",
		"mod/twice/deep/main.tf:3 Unsupported argument",
		"mod/twice/main.tf:2 Duplicate variable declaration",
		"shared/main.tf:1 Reference to undeclared local value",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("mistakes (-want +got):\n%s", diff)
	}
}

// Modules that are right where they are called are right also while something else in their tree is
// not.
func TestValidateModuleWithoutFalseErrors(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	caller := `
variable "secret" { ephemeral = true }
variable "plain" {}
module "m" {
  source    = "../called"
  count     = 2
  given     = { a = [var.plain] }
  secret    = var.secret
  providers = { fake = fake, fake.other = fake.other }
}
module "each" {
  source    = "../called"
  for_each  = toset(["a"])
  given     = null
  secret    = var.secret
  providers = { fake = fake, fake.other = fake.other }
}
locals {
  splat  = module.m[*].sensitive
  first  = module.m[0].given.a[0]
  keyed  = module.each["a"].sensitive
  loop   = { for key, one in module.each : key => one["given"] }
  called = lookup(module.m[1], "given")
}
resource "fake_resource" "a" {
  value      = module.m[0].given
  count      = module.m[1].number
  depends_on = [module.each]
}
output "o" {
  value      = local.loop
  depends_on = [module.m]
}
`
	called := `
variable "given" {}
variable "secret" { ephemeral = true }
variable "key" {
  sensitive = true
  default   = "k"
  validation {
    condition     = length(var.key) > 0
    error_message = "It is empty."
  }
}
resource "fake_resource" "a" { provider = fake.other }
resource "fake_resource" "b" { value = var.given }
output "sensitive" { value = var.key }
output "given" { value = var.given }
output "number" { value = 1 }
output "passed" {
  value     = var.secret
  ephemeral = true
}
`
	required := strings.Replace(fakeRequired, `{ source = "cairnstacks/fake" }`, "{\n source = \"cairnstacks/fake\"\n configuration_aliases "+
		"= [fake.other]\n}", 1)
	if required == fakeRequired {
		t.Fatal("the requirement has another form")
	}
	tests := map[string]struct {
		files map[string]string
		want  int // mistakes that there are
	}{
		"a called module cannot be read": {map[string]string{"called/torn.tf": "resource {"}, 0},
		"another one cannot be read": {map[string]string{
			"mod/more.tf": "module \"torn\" { source = \"../torn\" }\n", "torn/main.tf": "resource {",
		}, 0},
		"the caller cannot be read":   {map[string]string{"mod/torn.tf": "resource {"}, 0},
		"the caller has a mistake":    {map[string]string{"mod/more.tf": "locals {\n  wrong = nowhere.id\n}\n"}, 1},
		"the called has a mistake":    {map[string]string{"called/more.tf": "locals {\n  wrong = nowhere.id\n}\n"}, 1},
		"the called has another kind": {map[string]string{"called/more.tf": "output \"given\" { value = 1 }\n"}, 1},
		"a called module has proxies": {map[string]string{
			"mod/more.tf": "locals {\n  wrong = nowhere.id\n}\nmodule \"old\" {\n  source    = \"../old\"\n  providers = { fake.old = fake.other " +
				"}\n}\n",
			"old/main.tf": fakeRequired + "provider \"fake\" {\n  alias = \"old\"\n}\nresource \"fake_resource\" \"a\" { provider = fake.old }\n",
		}, 1},
		"JSON": {map[string]string{
			"mod/more.tf.json": `{"module": {"torn": {"source": "../torn", "in": "${var.plain}"}}, "output": {"j": {"value": "${module.torn.out.x}"}}}`,
			"torn/main.tf":     "resource {",
		}, 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			files := map[string]string{"mod/main.tf": required + caller, "called/main.tf": required + called}
			maps.Copy(files, test.files)
			b := newBenchAt(t, t.TempDir(), files)
			b.prepare()
			diags := b.engine.ValidateModule(context.Background(), filepath.Join(b.stack, "mod"))
			if errs := diags.Errs(); len(errs) != test.want {
				t.Errorf("got %d errors, want %d:\n%v", len(errs), test.want, errors.Join(errs...))
			}
		})
	}
}
