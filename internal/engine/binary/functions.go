// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var _ engine.FunctionCaller = (*Session)(nil)

// Functions implements [engine.FunctionCaller].
//
// The functions of the built-in provider are part of the binary and not listed: no plugin has them.
func (e *Session) Functions(ctx context.Context, provider stackaddrs.Provider) (map[string]*engine.Function, error) {
	if provider.IsBuiltin() {
		return nil, nil
	}
	program, err := e.installer.Program(ctx, provider)
	if err != nil {
		return nil, err
	}
	return e.plugins.Functions(ctx, instances.Package{Address: provider, Program: program.Path})
}

// CallFunction implements [engine.FunctionCaller].
func (e *Session) CallFunction(ctx context.Context, provider stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error) {
	program, err := e.installer.Program(ctx, provider)
	if err != nil {
		return cty.NilVal, err
	}
	return e.plugins.CallFunction(ctx, instances.Package{Address: provider, Program: program.Path}, "", name, args)
}
