// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identity

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/deployments/secretoutput"
)

// fromCommand runs a program that prints a token. It gets the claims in its environment, and
// nothing in its arguments.
func (r *request) fromCommand(ctx context.Context) (string, error) {
	program := r.block.Command[0]
	token, err := secretoutput.Run(ctx, secretoutput.Command{
		Command: r.block.Command, Dir: r.dir, Env: append(slices.Clone(r.environ), r.variables()...), Timeout: r.block.Timeout, Limit: maxToken,
	})
	failed, isFailure := errors.AsType[*secretoutput.FailedError](err)
	switch {
	case errors.Is(err, secretoutput.ErrTooLong):
		return "", r.fail("Unusable identity token",
			"The command %s prints more than %d bytes, which no token has. It is to print the token and nothing else.",
			program, maxToken)
	case isFailure:
		return "", r.fail("Identity command failed", "The command %s, which is to print the token %q, failed: %s", program, r.label, failed)
	case err != nil:
		return "", r.fail("Operation interrupted", "The command %s, which gets the token %q, was ended.", program, r.label)
	}
	return r.checked(string(token), "the command "+program, "It has printed one that is old: make it get a fresh one.")
}

// variables are the claims for a command.
func (r *request) variables() []string {
	c := r.claims
	organization, project := r.names()
	return []string{
		"CAIRN_TOKEN_NAME=" + r.label,
		"CAIRN_TOKEN_AUDIENCE=" + strings.Join(c.Audience, "\n"),
		"CAIRN_TOKEN_ORGANIZATION=" + organization,
		"CAIRN_TOKEN_PROJECT=" + project,
		"CAIRN_TOKEN_STACK=" + c.Stack,
		"CAIRN_TOKEN_DEPLOYMENT=" + c.Deployment,
		"CAIRN_TOKEN_OPERATION=" + c.Operation,
		"CAIRN_TOKEN_PLAN_ID=" + c.PlanID,
		fmt.Sprintf("CAIRN_TOKEN_LIFETIME=%d", int(r.lifetime()/time.Second)),
	}
}
