// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providers

import (
	"context"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// ReadSchema starts a provider, asks for its schemas, and ends it. Warnings of the provider are
// dropped.
//
// Errors: that the process could not be started; those that the provider reports;
// context.Cause(ctx).
func ReadSchema(ctx context.Context, binary string, opts Options) (*schema.Provider, error) {
	opts = opts.withDefaults()
	running, err := opts.start(ctx, binary)
	if err != nil {
		return nil, err
	}
	defer running.End()
	answer, err := client.AskSchema(ctx, running, opts.CallTimeout)
	if err != nil {
		return nil, err
	}
	return client.DecodeSchema(answer)
}
