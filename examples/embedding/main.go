// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Embedding applies the stack in the directory that it is given, unless that would delete
// something, and prints the outputs.
package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/cairnstacks/cairn"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func main() {
	stack := cairn.Open(cairn.Options{Dir: os.Args[1]})
	diags := stack.Apply(context.Background(), cairn.Request{}, cairn.Caller{Approve: refuseDeletions})
	outputs, err := stack.Outputs(context.Background())
	reported := hcl.NewDiagnosticTextWriter(os.Stderr, stack.Files(), 100, false).WriteDiagnostics(diags)
	if err := errors.Join(err, reported, stack.Close()); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	if diags.HasErrors() {
		os.Exit(1)
	}
	for _, name := range slices.Sorted(maps.Keys(outputs)) {
		if value := outputs[name]; value.IsWhollyKnown() && !marks.Contains(value, marks.Sensitive) {
			fmt.Printf("%s = %s\n", name, hclwrite.TokensForValue(value).Bytes())
		}
	}
}

// refuseDeletions approves plans that delete nothing.
func refuseDeletions(_ context.Context, plan *stackplan.Plan, _ hcl.Diagnostics) error {
	for _, component := range plan.Components {
		if n := component.Counts().Remove; n > 0 {
			return fmt.Errorf("%s would lose %d of its objects", component.Addr, n)
		}
	}
	return nil
}
