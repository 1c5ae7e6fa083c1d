// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// A stack is applied by an approver of the program's, here with an engine in memory in place of
// terraform.
func Example() {
	dir, err := writeExample()
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir) //nolint:errcheck // the system removes it, too
	ctx := context.Background()
	modules := map[string]*memengine.Module{filepath.Join(dir, "box"): box}
	stack := cairn.Open(cairn.Options{
		Dir:           dir,
		ModulesEngine: memengine.New(memengine.Options{Modules: modules}), // nil is the engine that commands use
		Environ:       []string{"TF_VAR_name=blue"},
	})
	diags := stack.Apply(ctx, cairn.Request{}, cairn.Caller{
		Approve: func(_ context.Context, plan *stackplan.Plan, _ hcl.Diagnostics) error {
			for _, component := range plan.Components {
				fmt.Println(component.Addr, "adds", component.Counts().Add)
			}
			return nil // an error would say why not
		},
	})
	outputs, err := stack.Outputs(ctx)
	if err := errors.Join(errors.Join(diags.Errs()...), err, stack.Close()); err != nil {
		panic(err)
	}
	fmt.Println("server is", outputs["server"].AsString())

	// Output:
	// component.network adds 1
	// component.server adds 1
	// server is in net-blue
}

// box is the module in the directory box, made of Go functions.
var box = &memengine.Module{
	Variables: memengine.Variables("content"),
	Resources: []memengine.Resource{{
		Name:  "box",
		Input: func(s memengine.Scope) (cty.Value, error) { return s.Inputs["content"], nil },
	}},
	Outputs: memengine.Outputs("content"),
	Values: func(s memengine.Scope) (map[string]cty.Value, error) {
		return map[string]cty.Value{"content": s.Resources["box"].GetAttr("output")}, nil
	},
}

// writeExample writes a stack of two components, one of which needs a value of the other.
func writeExample() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "cairn-example-"); err != nil {
		return "", err
	}
	for name, content := range map[string]string{
		"main.tfcomponent.hcl": `
variable "name" {
  type = string
}
component "network" {
  source = "./box"
  inputs = { content = "net-${var.name}" }
}
component "server" {
  source = "./box"
  inputs = { content = "in ${component.network.content}" }
}
output "server" {
  type  = string
  value = component.server.content
}
`,
		"box/README": "Module box of example_test.go.\n",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o600)); err != nil {
			return "", err
		}
	}
	return dir, nil
}

// A plan is saved, and applied as it is after somebody has looked at it.
func ExampleStack_Plan() { //nolint:testableexamples // is about a stack of the reader's
	ctx := context.Background()
	stack := cairn.Open(cairn.Options{Dir: "stacks/network", Deployment: "production"})
	req := cairn.Request{Variables: []cairn.Argument{
		{File: "production.tfvars"},
		{Name: "region", Value: cty.StringVal("eu-west-1")}, // wins over the file
	}}
	plan, diags := stack.Plan(ctx, req, cairn.Caller{}, "network.plan")
	if !diags.HasErrors() && !plan.IsEmpty() && lookedAt(plan) {
		diags = diags.Extend(stack.ApplyFile(ctx, "network.plan", cairn.Request{}, cairn.Caller{}))
	}
	err := hcl.NewDiagnosticTextWriter(os.Stderr, stack.Files(), 100, false).WriteDiagnostics(diags)
	if err := errors.Join(err, stack.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
	}
}

func lookedAt(plan *stackplan.Plan) bool { return plan.Complete }

// Ctrl-C ends an apply gently: running work is waited for, and saved.
func ExampleStack_Apply() { //nolint:testableexamples // is about a stack of the reader's
	ctx, interrupt := context.WithCancelCause(context.Background())
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	go func() {
		<-signals
		interrupt(cairn.ErrInterrupted)
	}()
	stack := cairn.Open(cairn.Options{Dir: "stacks/network"})
	diags := stack.Apply(ctx, cairn.Request{}, cairn.Caller{
		Approve: cairn.ApproveAll,
		Applied: func(applied cairn.Applied) error {
			fmt.Println(len(applied.Result.State.Components), "components, interrupted:", applied.Interrupted)
			return nil
		},
	})
	fmt.Println(errors.Join(diags.Errs()...), stack.Close())
}
