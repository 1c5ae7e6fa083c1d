// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Rpcclient applies a stack by the RPC API of a server that it starts, keeps the state in a file,
// and prints the outputs.
//
//	rpcclient CAIRN STACK STATE
package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/cairnstacks/cairn/proto/terraform1/client"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func main() {
	if len(os.Args) != 4 {
		fmt.Fprintln(os.Stderr, "usage: rpcclient CAIRN STACK-DIRECTORY STATE-FILE")
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := run(ctx, os.Args[1], os.Args[2], os.Args[3])
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(ctx context.Context, program, dir, file string) error {
	program, err := filepath.Abs(program)
	if err != nil {
		return err
	}
	// The source ./ is the working directory of the server.
	server, err := client.Start(ctx, client.Options{Program: program, Dir: dir, Log: os.Stderr})
	if err != nil {
		return err
	}
	defer server.Close()
	stack, err := server.OpenStack(ctx, client.StackOptions{Source: "./"})
	if err != nil {
		return err
	}
	return errors.Join(converge(ctx, stack, file), stack.Close())
}

// converge applies the configuration of the stack, and keeps its state in a file.
func converge(ctx context.Context, stack *client.Stack, file string) error {
	diags, err := stack.Validate(ctx)
	if err != nil {
		return err
	}
	for _, diagnostic := range diags {
		fmt.Fprintln(os.Stderr, diagnostic)
	}
	if diags.HasErrors() {
		return errors.New("the stack is not valid")
	}
	state, err := client.ReadState(file)
	if errors.Is(err, fs.ErrNotExist) {
		state, err = &client.State{}, nil
	}
	if err != nil {
		return err
	}
	plan, err := stack.Plan(ctx, client.PlanOptions{Prior: state, Diagnostic: report, Progress: show})
	if err != nil {
		return err
	}
	if !plan.Applyable() {
		return errors.New("the plan cannot be applied")
	}
	_, err = stack.Apply(ctx, plan, state, client.ApplyOptions{
		Change:     func(*stackspb.AppliedChange) error { return state.WriteFile(file) },
		Diagnostic: report, Progress: show,
	})
	if err != nil {
		return err
	}
	return printOutputs(state)
}

func report(diagnostic client.Diagnostic) { fmt.Fprintln(os.Stderr, diagnostic) }

// show prints the progress of components.
func show(progress *stackspb.StackChangeProgress) {
	if status := progress.GetComponentInstanceStatus(); status != nil {
		fmt.Fprintf(os.Stderr, "%s: %s\n", status.GetAddr().GetComponentInstanceAddr(), status.GetStatus())
	}
	if n := progress.GetComponentInstanceChanges(); n != nil {
		fmt.Fprintf(os.Stderr, "%s: add %d, change %d, remove %d\n", n.GetAddr().GetComponentInstanceAddr(), n.GetAdd(), n.GetChange(),
			n.GetRemove())
	}
}

func printOutputs(state *client.State) error {
	outputs, err := state.Outputs()
	if err != nil {
		return err
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if output := outputs[name]; len(output.Sensitive) == 0 {
			fmt.Printf("%s = %s\n", name, hclwrite.TokensForValue(output.Value).Bytes())
		}
	}
	return nil
}
