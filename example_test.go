// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// A plan is saved, and applied as it is after somebody has looked at it.
func ExampleStack_Plan() {
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

// Ctrl-C ends an apply gently: what runs is waited for, and saved.
func ExampleStack_Apply() {
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
