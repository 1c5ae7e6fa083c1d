// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/testing/protocmp"

	"github.com/cairnstacks/cairn/internal/testenv"
	rpcclient "github.com/cairnstacks/cairn/proto/terraform1/client"
)

// exchange is a stack that the command line and a client of the API work on, each with a state of
// its own.
type exchange struct {
	t     *testing.T
	dir   string
	env   []string
	stack *rpcclient.Stack
}

// chain is a stack of two components, one with a value of the other.
var chain = map[string]string{
	"main.tfcomponent.hcl": `
component "a" {
  source = "./module"
  inputs = { input = "1" }
}
component "b" {
  source = "./module"
  inputs = { input = component.a.id }
}
output "id" {
  type  = string
  value = component.b.id
}
`,
	"module/main.tf": `
variable "input" { type = string }
resource "terraform_data" "x" { input = var.input }
output "id" { value = terraform_data.x.id }
`,
}

func newExchange(t *testing.T, files map[string]string) *exchange {
	t.Helper()
	testenv.Engine(t)
	x := &exchange{t: t, dir: t.TempDir()}
	for name, content := range files {
		path := filepath.Join(x.dir, "stack", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	x.env = append(os.Environ(), "CHECKPOINT_DISABLE=1", "TF_CLI_CONFIG_FILE="+testenv.CLIConfigFile(t, ""))
	server, err := rpcclient.Start(t.Context(), rpcclient.Options{Program: program, Dir: x.dir, Environ: x.env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	if x.stack, err = server.OpenStack(t.Context(), rpcclient.StackOptions{Source: "./stack"}); err != nil {
		t.Fatal(err)
	}
	return x
}

// cairn runs a command on the stack and returns its output.
func (x *exchange) cairn(args ...string) []byte {
	x.t.Helper()
	out, stderr, err := x.tryCairn(args...)
	if err != nil {
		x.t.Fatalf("cairn %s: %v\n%s%s", strings.Join(args, " "), err, out, stderr)
	}
	return out
}

func (x *exchange) tryCairn(args ...string) (out []byte, stderr string, err error) {
	cmd := exec.Command(program, args...)
	cmd.Dir, cmd.Env = filepath.Join(x.dir, "stack"), x.env
	var errors bytes.Buffer
	cmd.Stderr = &errors
	out, err = cmd.Output()
	return out, errors.String(), err
}

func (x *exchange) plan(opts rpcclient.PlanOptions) *rpcclient.Plan {
	x.t.Helper()
	plan, err := x.stack.Plan(x.t.Context(), opts)
	if err != nil || !plan.Applyable() {
		x.t.Fatalf("plan: %v, %v", plan, err)
	}
	return plan
}

func (x *exchange) path(name string) string { return filepath.Join(x.dir, name) }

// The plan of a client is shown and applied by the command line, as long as the state is the same.
func TestCommandLineAppliesPlansOfClients(t *testing.T) {
	x := newExchange(t, chain)
	if err := x.plan(rpcclient.PlanOptions{}).WriteFile(x.path("p.tfstackplan")); err != nil {
		t.Fatal(err)
	}
	if shown := string(x.cairn("show", x.path("p.tfstackplan"))); !strings.Contains(shown, "component.b") ||
		!strings.Contains(shown, "2 to add") {
		t.Errorf("cairn show:\n%s", shown)
	}
	x.cairn("apply", x.path("p.tfstackplan"))
	if again := string(x.cairn("apply", x.path("p.tfstackplan"))); !strings.Contains(again, "applied before") {
		t.Errorf("applied twice:\n%s", again)
	}

	if err := os.WriteFile(x.path("s.tfstackstate"), x.cairn("state", "pull", "-format=tfstackstate"), 0o600); err != nil {
		t.Fatal(err)
	}
	state, err := rpcclient.ReadState(x.path("s.tfstackstate"))
	if err != nil {
		t.Fatal(err)
	}
	var actions []string
	for _, change := range x.plan(rpcclient.PlanOptions{Prior: state}).Changes {
		for _, described := range change.GetDescriptions() {
			if resource := described.GetResourceInstancePlanned(); resource != nil {
				actions = append(actions, resource.GetActions()[0].String())
			}
		}
	}
	if diff := cmp.Diff([]string{"NOOP", "NOOP"}, actions); diff != "" {
		t.Errorf("planned with the state of the command line (-want +got):\n%s", diff)
	}
}

// A plan of the command line is applied by a client, and the state that it has then is pushed.
func TestClientsApplyPlansOfCommandLine(t *testing.T) {
	x := newExchange(t, chain)
	x.cairn("plan", "-out="+x.path("first.plan"))
	plan, err := rpcclient.FromPlanFile(x.path("first.plan"), nil)
	if err != nil {
		t.Fatal(err)
	}
	state := &rpcclient.State{}
	if diags, err := x.stack.Apply(t.Context(), plan, state, rpcclient.ApplyOptions{}); err != nil {
		t.Fatal(diags, err)
	}
	if err := state.WriteFile(x.path("s.tfstackstate")); err != nil {
		t.Fatal(err)
	}
	x.cairn("state", "push", x.path("s.tfstackstate"))
	if out := string(x.cairn("plan")); !strings.Contains(out, "No changes") {
		t.Errorf("cairn plan:\n%s", out)
	}
	if _, stderr, err := x.tryCairn("state", "push", x.path("s.tfstackstate")); err == nil ||
		!strings.Contains(stderr, "State without lineage") || !strings.Contains(stderr, "-force") {
		t.Errorf("pushed twice: %v\n%s", err, stderr)
	}
	if err := os.WriteFile(x.path("again.tfstackstate"), x.cairn("state", "pull", "-format=tfstackstate"), 0o600); err != nil {
		t.Fatal(err)
	}
	again, err := rpcclient.ReadState(x.path("again.tfstackstate"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(state.Raw, again.Raw, protocmp.Transform()); diff != "" {
		t.Errorf("state after it was pushed and pulled (-want +got):\n%s", diff)
	}

	x.cairn("plan", "-destroy", "-out="+x.path("destroy.plan"))
	destroy, err := rpcclient.FromPlanFile(x.path("destroy.plan"), again)
	if err != nil {
		t.Fatal(err)
	}
	if diags, err := x.stack.Apply(t.Context(), destroy, again, rpcclient.ApplyOptions{}); err != nil {
		t.Fatal(diags, err)
	}
	if len(again.Raw) > 0 {
		t.Errorf("after everything was destroyed: %v", again.Raw)
	}
}

// Expressions have the values of a plan, and after it those of the state.
func TestExpressionsOfPlansAndStates(t *testing.T) {
	x := newExchange(t, chain)
	eval := func(opts rpcclient.InspectOptions, expression string) cty.Value {
		t.Helper()
		inspector, err := x.stack.Inspect(t.Context(), opts)
		if err != nil {
			t.Fatal(err)
		}
		value, diags, err := inspector.Eval(t.Context(), expression)
		if err != nil || len(diags) > 0 {
			t.Fatal(diags, err)
		}
		return value.Value
	}
	plan := x.plan(rpcclient.PlanOptions{})
	if got := eval(rpcclient.InspectOptions{Plan: plan}, `component.a.id == null`); !got.RawEquals(cty.False) {
		t.Errorf("an id that is planned: got %#v, want one that is not null", got)
	}
	if got := eval(rpcclient.InspectOptions{Plan: plan}, `component.a.id`); got.IsKnown() {
		t.Errorf("an id that is planned: got %#v, want an unknown one", got)
	}
	state := &rpcclient.State{}
	if diags, err := x.stack.Apply(t.Context(), plan, state, rpcclient.ApplyOptions{}); err != nil {
		t.Fatal(diags, err)
	}
	outputs, err := state.Outputs()
	if err != nil {
		t.Fatal(err)
	}
	if got := eval(rpcclient.InspectOptions{State: state}, `component.b.id`); !got.RawEquals(outputs["id"].Value) {
		t.Errorf("the id of the state: got %#v, want %#v", got, outputs["id"].Value)
	}
}
