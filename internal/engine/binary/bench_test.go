// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

const benchModule = `
variable "v" { type = string }
resource "terraform_data" "a" { input = var.v }
resource "terraform_data" "b" { input = terraform_data.a.output }
resource "terraform_data" "c" { input = terraform_data.b.output }
output "o" { value = terraform_data.c.output }
`

// BenchmarkPlanAndApply compares the engine with the two processes that it can't do without.
func BenchmarkPlanAndApply(b *testing.B) {
	testenv.CLIConfig(b, "")
	stack, binary := b.TempDir(), testenv.Engine(b)
	writeFiles(b, stack, map[string]string{"mod/main.tf": benchModule})

	b.Run("bare", func(b *testing.B) {
		env := runner.Environ(append(exec.Command(binary).Environ(), "GOGC=400"), nil)
		for b.Loop() {
			dir := b.TempDir()
			writeFiles(b, dir, map[string]string{"main.tf": benchModule, "v.tfvars": `v = "x"`})
			for _, args := range [][]string{
				{"plan", "-json", "-input=false", "-out=p", "-var-file=v.tfvars"}, {"apply", "-json", "-input=false", "p"},
			} {
				cmd := testenv.Command(b, binary, args...)
				cmd.Dir, cmd.Env = dir, env
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
		}
	})
	for _, test := range []struct {
		name    string
		planned cty.Value
	}{{"engine", cty.StringVal("x")}, {"engine with unknown input", cty.UnknownVal(cty.String)}} {
		b.Run(test.name, func(b *testing.B) {
			eng := open(b, stack, Options{Binary: binary, WorkDir: filepath.Join(stack, ".cairn")})
			for b.Loop() {
				req := &engine.PlanRequest{
					Component: component, ModuleDir: filepath.Join(stack, "mod"), Inputs: map[string]cty.Value{"v": test.planned},
				}
				plan, diags := eng.Plan(context.Background(), req, nil)
				if diags.HasErrors() {
					b.Fatal(diags)
				}
				final := map[string]cty.Value{"v": cty.StringVal("x")}
				if _, diags := eng.Apply(context.Background(), applyRequest(req, plan.Plan, final), nil); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}
