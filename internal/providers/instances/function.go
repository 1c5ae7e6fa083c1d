// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package instances

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Functions returns the functions of a provider, by name. They stay the same when a process is
// replaced.
//
// Errors: an [*engine.FunctionError] if the program is to blame.
func (p *Pool) Functions(ctx context.Context, pkg Package) (map[string]*engine.Function, error) {
	found, said := p.Schema(ctx, pkg)
	if said.HasErrors() {
		return nil, client.FunctionError(said.Err())
	}
	return found.Functions, nil
}

// CallFunction calls a function in a process without a configuration; see [Pool.UnconfiguredIn] for
// its directory, and [engine.FunctionCaller] for the arguments, the result and the errors.
func (p *Pool) CallFunction(ctx context.Context, pkg Package, workDir, name string, args []cty.Value) (cty.Value, error) {
	lease, said := p.UnconfiguredIn(ctx, pkg, workDir)
	if said.HasErrors() {
		return cty.NilVal, client.FunctionError(said.Err())
	}
	defer lease.Release()
	return lease.Provider.CallFunction(ctx, name, args)
}
