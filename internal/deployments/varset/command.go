// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"context"
	"errors"
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/deployments/secretoutput"
)

// invocation is a program to be run.
type invocation struct {
	command []string
	env     []string // besides the environment
	failed  string   // summary of the error if it fails
	does    string   // a relative clause
}

// fromCommand runs a program that prints an object in JSON.
func (r *reader) fromCommand(ctx context.Context) (map[string]cty.Value, error) {
	program := r.block.Command[0]
	content, err := r.output(ctx, invocation{
		command: r.block.Command,
		env:     []string{"CAIRN_VARSET_NAME=" + r.block.Name, "CAIRN_VARSET_CATEGORY=" + r.category},
		failed:  "Variable set command failed", does: "which is to print the values of the set " + r.block.Name,
	})
	if err != nil {
		return nil, err
	}
	values, err := parse(content, formatJSON)
	if err != nil {
		return nil, r.fail("Unusable variable set",
			"The command %s is to print the values of the set %q as one JSON object, and its output is wrong: %s.",
			program, r.block.Name, err)
	}
	return values, nil
}

// output returns the output of a program.
func (r *reader) output(ctx context.Context, i invocation) ([]byte, error) {
	program := i.command[0]
	content, err := secretoutput.Run(ctx, secretoutput.Command{
		Command: i.command, Dir: r.dir, Env: append(slices.Clone(r.environ), i.env...), Timeout: r.block.Timeout, Limit: maxSize,
	})
	failed, isFailure := errors.AsType[*secretoutput.FailedError](err)
	switch {
	case errors.Is(err, secretoutput.ErrTooLong):
		return nil, r.fail("Variable set too large", "The command %s, %s, prints more than %d bytes.", program, i.does, maxSize)
	case isFailure:
		return nil, r.fail(i.failed, "The command %s, %s, failed: %s", program, i.does, failed)
	case err != nil:
		return nil, r.fail("Operation interrupted", "The command %s, %s, was ended.", program, i.does)
	}
	return content, nil
}
