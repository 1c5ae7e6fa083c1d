// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const elsewhereStack = `
variable "name" { type = string }
variable "size" { type = number }
component "one" {
  source = "./module"
  inputs = { name = "${var.name}-${var.size}-${file("./greeting")}" }
}
output "name" {
  type  = string
  value = component.one.name
}
output "cwd" {
  type  = string
  value = component.one.cwd
}
output "absolute" {
  type  = string
  value = abspath("greeting")
}
`

const elsewhereModule = `
variable "name" { type = string }
resource "terraform_data" "x" { input = var.name }
output "name" { value = terraform_data.x.output }
output "cwd" { value = path.cwd }
`

// newStack makes a stack in a directory, whose settings name places relative to it.
func newStack(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Stacks in other directories than the current one are operated on at the same time, each in an
// environment of its own.
func TestOperateElsewhere(t *testing.T) {
	binary := testenv.Engine(t)
	stack := map[string]string{
		"main.tfcomponent.hcl": elsewhereStack,
		"module/main.tf":       elsewhereModule,
		"greeting":             "hello",
		"values/size.tfvars":   "size = 4\n",
		"cairn.hcl":            "state \"sqlite\" {\n  path = \"state/own.db\"\n}\n",
		"state/keep":           "",
	}
	var wg sync.WaitGroup
	for name, test := range map[string]struct {
		environ []string
		state   string
	}{
		"settings":    {nil, "state/own.db"},
		"environment": {[]string{env.StateVariable + "=other.db", env.DataVariable + "=data"}, "other.db"},
		"url":         {[]string{env.StateVariable + "=sqlite://url.db"}, "url.db"},
	} {
		dir := newStack(t, stack)
		options := operation.Options{
			Env: env.Options{
				Dir: dir, Environ: append(append(os.Environ(), "CAIRN_VAR_name="+name, "CAIRN_VAR_FILES=values/size.tfvars"), test.environ...),
			},
			Engine: engines.Request{Named: binary, NamedBy: "this test"},
		}
		wg.Go(func() {
			plan := filepath.Join(dir, "saved.plan")
			planned := operation.Open(options)
			_, diags := planned.Plan(t.Context(), operation.Request{}, operation.Caller{}, plan)
			if err := planned.Close(); err != nil || diags.HasErrors() {
				t.Errorf("%s: planning: %v, %v", name, diags, err)
				return
			}
			applied := operation.Open(options)
			defer applied.Close() //nolint:errcheck // nothing is left to be written
			if diags := applied.Apply(t.Context(), operation.Request{}, operation.Caller{Approve: operation.ApproveAll}); diags.HasErrors() {
				t.Errorf("%s: applying: %v", name, diags)
				return
			}
			outputs, err := applied.States().Outputs(t.Context())
			if err != nil {
				t.Errorf("%s: outputs: %v", name, err)
				return
			}
			real, err := filepath.EvalSymlinks(dir)
			if err != nil {
				t.Error(err)
			}
			for output, want := range map[string]string{"name": name + "-4-hello", "cwd": real, "absolute": filepath.Join(real, "greeting")} {
				if got := outputs[output].AsString(); got != want && got != strings.Replace(want, real, dir, 1) {
					t.Errorf("%s: output %s is %q, want %q", name, output, got, want)
				}
			}
			if _, err := os.Stat(filepath.Join(dir, test.state)); err != nil {
				t.Errorf("%s: the state is elsewhere: %v", name, err)
			}
		})
	}
	wg.Wait()
}

// Mistakes are reported with the places of their files as a user in the directory of the stack sees
// them.
func TestMistakesElsewhere(t *testing.T) {
	dir := newStack(t, map[string]string{
		"main.tfcomponent.hcl": "component \"one\" {\n  source = \"./module\"\n}\n",
		"module/main.tf":       "output \"x\" { value = local.nowhere }\n",
	})
	stack := operation.Open(operation.Options{Env: env.Options{Dir: dir}, Engine: engines.Request{
		Named:   testenv.Engine(t),
		NamedBy: "this test",
	}})
	defer stack.Close() //nolint:errcheck // nothing was to be written
	_, diags := stack.Plan(t.Context(), operation.Request{}, operation.Caller{}, "")
	var places []hcl.Range
	for _, diag := range diags {
		if diag.Subject != nil {
			places = append(places, *diag.Subject)
		}
	}
	if len(places) != 1 || places[0].Filename != "module/main.tf" || stack.Sources().Path(places[0].Filename) != filepath.Join(dir,
		"module", "main.tf") {
		t.Errorf("the mistake is at %v: %v", places, diags)
	}
}
