// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"context"
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Function is a function of a provider, made of a Go function.
type Function struct {
	engine.Function

	// Call computes the result. See [engine.FunctionCaller] for its arguments and results. Must be
	// safe for concurrent use.
	Call func(ctx context.Context, args []cty.Value) (cty.Value, error)
}

var _ engine.FunctionCaller = (*session)(nil)

// Functions implements [engine.FunctionCaller].
func (s *session) Functions(_ context.Context, provider stackaddrs.Provider) (map[string]*engine.Function, error) {
	functions, ok := s.opts.Functions[provider]
	if _, configurable := s.opts.Providers[provider]; !ok && !configurable && !provider.IsBuiltin() {
		return nil, fmt.Errorf("the in-memory engine has no provider %s", provider)
	}
	signatures := make(map[string]*engine.Function, len(functions))
	for name, f := range functions {
		signatures[name] = &f.Function
	}
	return signatures, nil
}

// CallFunction implements [engine.FunctionCaller].
func (s *session) CallFunction(ctx context.Context, provider stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error) {
	done, diags := s.begin(ctx, Call{Operation: CallFunction, Function: name})
	defer done()
	if diags.HasErrors() {
		return cty.NilVal, diags
	}
	f, ok := s.opts.Functions[provider][name]
	if !ok {
		return cty.NilVal, fmt.Errorf("provider %s has no function %q", provider, name)
	}
	return f.Call(ctx, args)
}
