// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/proto/terraform1/client"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

const stackFile = `variable "name" {
  type = string
}

component "first" {
  source = "./module"
  inputs = { in = var.name }
}

component "second" {
  source = "./module"
  inputs = { in = component.first.out }
}

output "out" {
  type  = string
  value = component.second.out
}
`

const moduleFile = `variable "in" {
  type = string
}

resource "terraform_data" "main" {
  input = var.in
}

output "out" {
  value = terraform_data.main.output
}
`

// newServer starts a server in a directory with a stack.
func newServer(t *testing.T) *client.Client {
	t.Helper()
	testenv.CLIConfig(t, "")
	t.Setenv("CAIRN_ENGINE", testenv.Engine(t))
	program, dir := filepath.Join(t.TempDir(), "cairn"), t.TempDir()
	if out, err := testenv.Command(t, "go", "build", "-o", program, "../../../cmd/cairn").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, content := range map[string]string{
		"stack/main.tfcomponent.hcl": stackFile, "stack/module/main.tf": moduleFile, "bad/main.tfcomponent.hcl": "component {}\n",
	} {
		path := filepath.Join(dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			t.Fatal(err)
		}
	}
	server, err := client.Start(t.Context(), client.Options{Program: program, Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(server.Close)
	return server
}

func TestProcess(t *testing.T) {
	server := newServer(t)
	ctx := t.Context()
	stack, err := server.OpenStack(ctx, client.StackOptions{Source: "./stack"})
	if err != nil {
		t.Fatal(err)
	}
	if diags, err := stack.Validate(ctx); err != nil || len(diags) > 0 {
		t.Errorf("validate: %v, error %v", diags, err)
	}
	inputs := map[string]client.Input{"name": {Value: client.Value{Value: cty.StringVal("n")}}}
	t.Run("a plan without its input cannot be applied", func(t *testing.T) {
		plan, err := stack.Plan(ctx, client.PlanOptions{})
		if err != nil || plan.Applyable() || !plan.Diagnostics.HasErrors() {
			t.Fatalf("plan %v, error %v", plan, err)
		}
		if _, err := stack.Apply(ctx, plan, &client.State{}, client.ApplyOptions{}); err == nil {
			t.Error("it was applied")
		}
	})
	state := &client.State{}
	t.Run("a callback that fails stops the apply", func(t *testing.T) {
		plan, err := stack.Plan(ctx, client.PlanOptions{Inputs: inputs})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("no space left")
		_, err = stack.Apply(ctx, plan, state, client.ApplyOptions{Change: func(*stackspb.AppliedChange) error { return full }})
		if !errors.Is(err, full) || len(state.Raw) == 0 {
			t.Errorf("error %v, state %v", err, state.Raw)
		}
	})
	t.Run("the rest is made later", func(t *testing.T) {
		plan, err := stack.Plan(ctx, client.PlanOptions{Inputs: inputs, Prior: state})
		if err != nil {
			t.Fatal(err)
		}
		if diags, err := stack.Apply(ctx, plan, state, client.ApplyOptions{}); err != nil {
			t.Fatalf("%v, error %v", diags, err)
		}
		outputs, err := state.Outputs()
		if err != nil || !outputs["out"].Value.RawEquals(cty.StringVal("n")) {
			t.Errorf("outputs %v, error %v", outputs, err)
		}
	})
	t.Run("a context that has ended begins nothing", func(t *testing.T) {
		ended, end := context.WithCancel(ctx)
		end()
		if _, err := stack.Plan(ended, client.PlanOptions{Inputs: inputs}); status.Code(err) != codes.Canceled {
			t.Errorf("plan: %v", err)
		}
	})
	if err := errors.Join(stack.Close(), stack.Close()); err != nil {
		t.Errorf("closing twice: %v", err)
	}
	if _, err := stack.Validate(ctx); status.Code(err) != codes.InvalidArgument {
		t.Errorf("validating a closed stack: %v", err)
	}
	var failed *client.DiagnosticsError
	if _, err := server.OpenStack(ctx, client.StackOptions{Source: "./bad"}); !errors.As(err, &failed) ||
		!strings.Contains(err.Error(), "./bad/main.tfcomponent.hcl:1") {
		t.Errorf("a stack with errors: %v", err)
	}
}

func TestStartErrors(t *testing.T) {
	for _, program := range []string{"none-such-program", "true"} {
		if server, err := client.Start(t.Context(), client.Options{Program: program}); err == nil {
			server.Close()
			t.Errorf("%s was started as a server", program)
		}
	}
}
