// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"
	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

const twoComponents = `
-- cairn.hcl --
state "sqlite" {
  path = "kept/state.db"
}
-- main.tfcomponent.hcl --
variable "name" {
  type = string
}
variable "parts" {
  type    = set(string)
  default = []
}
component "first" {
  source = "./m"
  inputs = { text = var.name }
}
component "second" {
  source = "./m"
  inputs = { text = "${component.first.text}!" }
}
component "part" {
  for_each = var.parts
  source   = "./m"
  inputs   = { text = each.key }
}
output "text" {
  type  = string
  value = component.second.text
}
output "secret" {
  type      = string
  value     = component.first.text
  sensitive = true
}
-- values.tfvars --
name = "from a file"
-- m/main.tf --
variable "text" {
  type = string
}
resource "terraform_data" "a" {
  input = var.text
}
output "text" {
  value = terraform_data.a.output
}
-- kept/README --
The state is kept here.
`

// writeStack writes the files of an archive into a new directory, which does not become the current
// one.
func writeStack(t *testing.T, archive string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, file.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// useEngine lets stacks find an engine that takes no provider from anywhere.
func useEngine(t *testing.T) {
	t.Helper()
	t.Setenv("CAIRN_ENGINE", testenv.Engine(t))
	t.Setenv("CAIRN_STATE", "")
	t.Setenv("CAIRN_DEPLOYMENT", "")
	testenv.CLIConfig(t, "")
	t.Cleanup(func() { goleak.VerifyNone(t) })
}

// open opens a stack until the test ends.
func open(t *testing.T, dir string) *cairn.Stack {
	t.Helper()
	stack := cairn.Open(cairn.Options{Dir: dir})
	t.Cleanup(func() {
		if err := stack.Close(); err != nil {
			t.Error(err)
		}
	})
	return stack
}

func named(name string) cairn.Request {
	return cairn.Request{Variables: []cairn.Argument{{Name: "name", Value: cty.StringVal(name)}}}
}

// mustSucceed ends the test with the diagnostics as a user would see them.
func mustSucceed(t *testing.T, stack *cairn.Stack, diags hcl.Diagnostics) {
	t.Helper()
	if !diags.HasErrors() {
		return
	}
	var text strings.Builder
	if err := hcl.NewDiagnosticTextWriter(&text, stack.Files(), 100, false).WriteDiagnostics(diags); err != nil {
		t.Fatal(err)
	}
	t.Fatal(text.String())
}

func outputText(t *testing.T, stack *cairn.Stack) string {
	t.Helper()
	outputs, err := stack.Outputs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(outputs) == 0 {
		return ""
	}
	return outputs["text"].AsString()
}

// Two stacks in other directories are planned and applied at the same time. Nothing is written
// outside of them.
func TestStacksInOtherDirectories(t *testing.T) {
	useEngine(t)
	current := t.TempDir()
	t.Chdir(current) // so that files written there are noticed
	var running sync.WaitGroup
	for _, name := range []string{"north", "south"} {
		dir := writeStack(t, twoComponents)
		relative, err := filepath.Rel(current, dir)
		if err != nil {
			t.Fatal(err)
		}
		stack := open(t, relative)
		running.Go(func() {
			file := filepath.Join(dir, "stack.plan")
			plan, diags := stack.Plan(t.Context(), named(name), cairn.Caller{}, file)
			if diags.HasErrors() || len(plan.Components) != 2 {
				t.Errorf("%s: plan %v: %v", name, plan, diags)
				return
			}
			if diags := stack.ApplyFile(t.Context(), file, cairn.Request{}, cairn.Caller{}); diags.HasErrors() {
				t.Errorf("%s: %v", name, diags)
			}
			repeated := false
			again := cairn.Caller{Unchanged: func(_ *stackstate.State, before bool) error { repeated = before; return nil }}
			if diags := stack.ApplyFile(t.Context(), file, cairn.Request{}, again); diags.HasErrors() || !repeated {
				t.Errorf("%s, applied again: repeated %t: %v", name, repeated, diags)
			}
		})
	}
	running.Wait()
	if t.Failed() {
		t.FailNow()
	}
	if entries, err := os.ReadDir(current); err != nil || len(entries) > 0 {
		t.Errorf("in the current directory: %v, %v", entries, err)
	}
}

// The result of an apply by one stack is the state that another one, opened later, finds.
func TestApplyAndOutputs(t *testing.T) {
	useEngine(t)
	dir := writeStack(t, twoComponents)
	stack := open(t, dir)
	mustSucceed(t, stack, stack.Validate(t.Context()))
	if text := outputText(t, stack); text != "" {
		t.Errorf("before the first apply: output %q", text)
	}

	var seen []string
	caller := cairn.Caller{
		During: func(phase string, work func(hooks.Hooks)) { seen = append(seen, phase); work(hooks.Hooks{}) },
		Approve: func(_ context.Context, plan *stackplan.Plan, _ hcl.Diagnostics) error {
			for _, component := range plan.Components {
				seen = append(seen, component.Addr.String()+" "+string(component.Action))
			}
			return nil
		},
		Applied: func(applied cairn.Applied) error {
			if applied.Failed || len(applied.Result.State.Components) != 2 {
				t.Errorf("applied: %+v", applied)
			}
			return nil
		},
	}
	fromFile := cairn.Request{Variables: []cairn.Argument{{File: filepath.Join(dir, "values.tfvars")}}}
	mustSucceed(t, stack, stack.Apply(t.Context(), fromFile, caller))
	want := []string{"plan", "component.first create", "component.second create", "apply"}
	if diff := cmp.Diff(want, seen); diff != "" {
		t.Errorf("the caller has seen (-want +got):\n%s", diff)
	}
	if _, err := os.Stat(filepath.Join(dir, "kept", "state.db")); err != nil {
		t.Errorf("the state is not where the settings of the stack say: %v", err)
	}

	again := open(t, dir)
	if text := outputText(t, again); text != "from a file!" {
		t.Errorf("output %q", text)
	}
	outputs, err := again.Outputs(t.Context())
	if err != nil || !marks.Has(outputs["secret"], marks.Sensitive) {
		t.Errorf("the output is not marked: %#v, %v", outputs["secret"], err)
	}
	unchanged := cairn.Caller{Approve: func(context.Context, *stackplan.Plan, hcl.Diagnostics) error {
		return errors.New("nothing is to be approved")
	}}
	mustSucceed(t, again, again.Apply(t.Context(), fromFile, unchanged))
}

// Without an approver, or when it refuses, nothing is applied, and the reason is in the
// diagnostics.
func TestApproval(t *testing.T) {
	useEngine(t)
	dir := writeStack(t, twoComponents)
	for name, tc := range map[string]struct {
		approve func(context.Context, *stackplan.Plan, hcl.Diagnostics) error
		want    string
	}{
		"nobody": {nil, "Approval needed: There is nobody to approve the plan. Nothing was changed."},
		"an error": {
			func(context.Context, *stackplan.Plan, hcl.Diagnostics) error { return errors.New("it is Friday") },
			"Approval refused: It is Friday. Nothing was changed.",
		},
		"no reason": {func(context.Context, *stackplan.Plan, hcl.Diagnostics) error { return hcl.Diagnostics(nil) }, "Approval refused: No " +
			"diagnostics. Nothing was changed."},
		"diagnostics": {refuse, "Frozen: Wait until Monday. Nothing was changed."},
	} {
		t.Run(name, func(t *testing.T) {
			stack := open(t, dir)
			diags := stack.Apply(t.Context(), named("x"), cairn.Caller{Approve: tc.approve})
			if len(diags) != 1 || diags[0].Summary+": "+diags[0].Detail != tc.want {
				t.Errorf("got %v, want %q", diags, tc.want)
			}
			if text := outputText(t, stack); text != "" {
				t.Errorf("it was applied: output %q", text)
			}
		})
	}
}

func refuse(context.Context, *stackplan.Plan, hcl.Diagnostics) error {
	return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "Frozen", Detail: "Wait until Monday."}}
}

// Values come from the caller, the environment counts less, and mistakes in both are diagnostics.
func TestValues(t *testing.T) {
	useEngine(t)
	t.Setenv("TF_VAR_name", "environment")
	dir := writeStack(t, twoComponents)
	for name, tc := range map[string]struct {
		arguments  []cairn.Argument
		components int
		wantErrors []string
	}{
		"of the environment": {nil, 2, nil},
		"of the caller": {[]cairn.Argument{
			{Name: "parts", Value: cty.SetVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})}, {Text: "name=x"},
		}, 4, nil},
		"misspelt":   {[]cairn.Argument{{Name: "names", Value: cty.StringVal("x")}}, 0, []string{"Value for undeclared variable"}},
		"wrong type": {[]cairn.Argument{{Name: "parts", Value: cty.True}}, 0, []string{"Value does not fit the variable"}},
	} {
		t.Run(name, func(t *testing.T) {
			stack := open(t, dir)
			plan, diags := stack.Plan(t.Context(), cairn.Request{Variables: tc.arguments}, cairn.Caller{}, "")
			var summaries []string
			for _, diag := range diags {
				summaries = append(summaries, diag.Summary)
			}
			if !slices.Equal(summaries, tc.wantErrors) {
				t.Fatalf("diagnostics: %v", diags)
			}
			if plan != nil && len(plan.Components) != tc.components {
				t.Errorf("%d components are planned, want %d", len(plan.Components), tc.components)
			}
		})
	}
}

// An apply that is interrupted saves the finished changes, and the same file applied again makes
// the rest.
func TestInterrupt(t *testing.T) {
	useEngine(t)
	dir := writeStack(t, twoComponents)
	ctx, interrupt := context.WithCancelCause(t.Context())
	var applied []string
	options := cairn.Options{Dir: dir, ModulesEngine: stacktest.NewMemory(t, filepath.Join(dir, ".cairn"), memengine.Options{
		Before: func(_ context.Context, call memengine.Call) error {
			if call.Operation != memengine.Apply || call.Resource != "" {
				return nil
			}
			if call.Component.String() == "component.second" && ctx.Err() == nil {
				interrupt(cairn.ErrInterrupted)
				return errors.New("stopped on request")
			}
			applied = append(applied, call.Component.String())
			return nil
		},
	})}
	stack := cairn.Open(options)
	file := filepath.Join(dir, "stack.plan")
	_, diags := stack.Plan(ctx, named("x"), cairn.Caller{}, file)
	mustSucceed(t, stack, diags)
	interrupted := false
	diags = stack.ApplyFile(ctx, file, cairn.Request{}, cairn.Caller{Applied: func(applied cairn.Applied) error {
		interrupted = applied.Interrupted
		return nil
	}})
	if !interrupted || !diags.HasErrors() {
		t.Errorf("interrupted: %t, %v", interrupted, diags)
	}
	if err := stack.Close(); err != nil {
		t.Error(err)
	}

	again := cairn.Open(options)
	mustSucceed(t, again, again.ApplyFile(t.Context(), file, cairn.Request{}, cairn.Caller{}))
	if text := outputText(t, again); text != "x!" {
		t.Errorf("output %q", text)
	}
	if err := again.Close(); err != nil {
		t.Error(err)
	}
	if want := []string{"component.first", "component.second"}; !slices.Equal(applied, want) {
		t.Errorf("applied %q, want %q", applied, want)
	}
}
