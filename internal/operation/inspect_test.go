// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
)

var inspected = map[string]string{
	"main.tfcomponent.hcl": `
variable "size" { type = number }
component "a" {
  source = "./m"
  inputs = { text = "size ${var.size}" }
}
stack "inner" {
  source = "./inner"
  inputs = { text = component.a.text }
}
`,
	"inner/main.tfcomponent.hcl": `
variable "text" { type = string }
component "b" {
  source = "../m"
  inputs = { text = var.text }
}
`,
	"m/main.tf": `
variable "text" { type = string }
resource "terraform_data" "x" { input = var.text }
output "text" { value = terraform_data.x.output }
`,
}

func openDir(t *testing.T, opts operation.Options) *operation.Stack {
	t.Helper()
	stack := operation.Open(opts)
	t.Cleanup(func() {
		if err := stack.Close(); err != nil {
			t.Error(err)
		}
	})
	return stack
}

func sized(size int64) []variables.Argument {
	return []variables.Argument{{Name: "size", Value: cty.NumberIntVal(size)}}
}

func mustDiags(t *testing.T, diags hcl.Diagnostics) {
	t.Helper()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
}

// Expressions see the stored state, a saved plan, and values that are given for the moment.
func TestInspect(t *testing.T) {
	ctx := t.Context()
	testenv.CLIConfig(t, "")
	dir := newStack(t, inspected)
	stack := openDir(t, operation.Options{Env: env.Options{Dir: dir}, Engine: engines.Request{Named: testenv.Engine(t), NamedBy: "this test"}})
	mustDiags(t, stack.Apply(ctx, operation.Request{Variables: sized(1)}, operation.Caller{Approve: operation.ApproveAll}))
	file := filepath.Join(dir, "saved.plan")
	_, diags := stack.Plan(ctx, operation.Request{Variables: sized(2)}, operation.Caller{}, file)
	mustDiags(t, diags)
	plan, made, err := stack.ReadPlan(ctx, file)
	if err != nil {
		t.Fatal(err)
	}
	inner, err := stackaddrs.ParseStackInstance("stack.inner")
	if err != nil {
		t.Fatal(err)
	}
	for name, tc := range map[string]struct {
		req    operation.InspectRequest
		source string
		want   cty.Value // cty.NilVal for an error
	}{
		"state":           {operation.InspectRequest{}, "component.a.text", cty.StringVal("size 1")},
		"stored variable": {operation.InspectRequest{}, "var.size + 1", cty.NumberIntVal(2)},
		"given variable":  {operation.InspectRequest{Variables: sized(7)}, "var.size + 1", cty.NumberIntVal(8)},
		"embedded stack":  {operation.InspectRequest{Stack: inner}, "upper(component.b.text)", cty.StringVal("SIZE 1")},
		"plan":            {operation.InspectRequest{Plan: plan}, "var.size", cty.NumberIntVal(2)},
		"after apply":     {operation.InspectRequest{Plan: plan}, "component.a.text", cty.UnknownVal(cty.String)},
		"syntax":          {operation.InspectRequest{}, "1 +", cty.NilVal},
		"mistake":         {operation.InspectRequest{}, "component.c", cty.NilVal},
	} {
		t.Run(name, func(t *testing.T) {
			inspection, diags := stack.Inspect(ctx, tc.req)
			mustDiags(t, diags)
			got, diags := inspection.Eval(ctx, tc.source)
			switch {
			case tc.want == cty.NilVal && (!diags.HasErrors() || diags[0].Subject.Filename != operation.ExpressionFile):
				t.Errorf("no error at the expression: %v", diags)
			case tc.want != cty.NilVal && (diags.HasErrors() || got.IsKnown() != tc.want.IsKnown() || got.IsKnown() && !got.RawEquals(tc.want)):
				t.Errorf("got %#v, %v, want %#v", got, diags, tc.want)
			}
		})
	}
	if _, diags := stack.Inspect(ctx,
		operation.InspectRequest{Stack: stackaddrs.StackInstance{}.Child("outer", stackaddrs.NoKey)}); len(diags) != 1 ||
		diags[0].Summary != "No such stack" {
		t.Errorf("of a stack that is not there: %v", diags)
	}

	// The plan is of the state as it is, until that goes on.
	if prior := stack.States().Prior(ctx, made); prior == nil || len(prior.Components) != 2 {
		t.Errorf("the state of the plan: %v", prior)
	}
	mustDiags(t, stack.ApplySaved(ctx, plan, made, operation.Request{}, operation.Caller{}))
	if prior := stack.States().Prior(ctx, made); prior != nil {
		t.Errorf("the state of a plan that was applied: %v", prior)
	}
}

func TestGraphOfConfiguration(t *testing.T) {
	testenv.CLIConfig(t, "")
	stack := openDir(t, operation.Options{Env: env.Options{Dir: newStack(t, inspected)}, Engine: engines.Request{
		Named:   testenv.Engine(t),
		NamedBy: "this test",
	}})
	g, diags := stack.Graph(t.Context())
	mustDiags(t, diags)
	var got []string
	for _, component := range g.Components {
		text := component.Addr.String()
		for _, required := range component.Requires {
			text += " requires " + required.String()
		}
		got = append(got, text)
		if component.Planned != nil {
			t.Errorf("%s is planned", text)
		}
	}
	if diff := cmp.Diff([]string{"component.a", "stack.inner.component.b requires component.a"}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The steps of a validation find the same mistakes as a whole one, each once.
func TestValidateInSteps(t *testing.T) {
	testenv.CLIConfig(t, "")
	files := map[string]string{
		"main.tfcomponent.hcl": "component \"a\" {\n  source = \"./m\"\n  inputs = { text = component.b.text }\n}\n",
		"m/main.tf":            "variable \"text\" { type = string }\nresource \"terraform_data\" \"x\" { inputt = var.text }\n",
	}
	opts := operation.Options{Env: env.Options{Dir: newStack(t, files)}, Engine: engines.Request{
		Named:   testenv.Engine(t),
		NamedBy: "this test",
	}}
	summaries := func(diags hcl.Diagnostics) (all []string) {
		for _, diag := range diags {
			all = append(all, diag.Summary)
		}
		return all
	}
	var steps [][]string
	worked := 0
	diags := openDir(t, opts).ValidateInSteps(t.Context(), operation.ValidateSteps{
		Found:  func(found hcl.Diagnostics) { steps = append(steps, summaries(found)) },
		During: func(work func()) { worked++; work() },
	})
	want := [][]string{{"Unknown component"}, {"Unsupported argument"}}
	if diff := cmp.Diff(want, steps); diff != "" || worked != 1 {
		t.Errorf("worked %d times; steps (-want +got):\n%s", worked, diff)
	}
	all := []string{"Unknown component", "Unsupported argument"} // sorted
	if diff := cmp.Diff(all, summaries(diags)); diff != "" {
		t.Errorf("all steps (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(all, slices.Sorted(slices.Values(summaries(openDir(t, opts).Validate(t.Context()))))); diff != "" {
		t.Errorf("at once (-want +got):\n%s", diff)
	}
}

// Asking for versions leaves nothing behind; installing does, and reports the source packages
// first.
func TestVersionsAndInstall(t *testing.T) {
	ctx := t.Context()
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	dir := newStack(t, map[string]string{
		"main.tfcomponent.hcl": `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "main" {}
component "a" {
  source    = "./m"
  providers = { fake = provider.fake.main }
}
`,
		"m/main.tf": "terraform {\n  required_providers {\n    fake = { source = \"cairnstacks/fake\" }\n  }\n}\n",
	})
	opts := operation.Options{Env: env.Options{Dir: dir}, Engine: engines.Request{Named: testenv.Engine(t), NamedBy: "this test"}}
	versions, diags, err := openDir(t, opts).Versions(ctx, false)
	if err != nil || len(diags) > 0 || versions.Engine.Version == "" || len(versions.Providers) > 0 {
		t.Errorf("at first: %+v, %v, %v", versions, diags, err)
	}
	if _, err := os.Stat(filepath.Join(dir, env.WorkDir)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a working directory was left behind: %v", err)
	}

	fetched := 0
	installed, diags := openDir(t, opts).Install(ctx, operation.InstallRequest{Fetched: func(packages []bundle.Package) { fetched++ }})
	mustDiags(t, diags)
	if locked := slices.Collect(maps.Values(installed.Providers)); fetched != 1 || !slices.Equal(locked, []string{"1.0.0"}) {
		t.Errorf("installed: %+v, called %d times", installed, fetched)
	}
	versions, _, err = openDir(t, opts).Versions(ctx, false)
	if diff := cmp.Diff(installed, versions); diff != "" || err != nil {
		t.Errorf("versions after that: %v (-installed +got):\n%s", err, diff)
	}

	opts.Engine.Named = filepath.Join(dir, "nothing")
	if _, _, err := openDir(t, opts).Versions(ctx, false); !errors.As(err, new(*operation.NoEngineError)) {
		t.Errorf("without an engine: %v", err)
	}
}
