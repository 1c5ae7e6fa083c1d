// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Prepare implements [engine.Preparer].
func (e *Session) Prepare(ctx context.Context, req *engine.PrepareRequest) (*engine.PrepareResult, hcl.Diagnostics) {
	if req.InstallNothing {
		if diags := e.preparer.Give(ctx, req.Packages); diags.HasErrors() {
			return nil, diags
		}
		return &engine.PrepareResult{}, nil
	}
	requirements := map[stackaddrs.Provider][]string{}
	merge := func(more map[stackaddrs.Provider][]string) {
		for provider, constraints := range more {
			if !provider.IsBuiltin() {
				requirements[provider] = append(requirements[provider], constraints...)
			}
		}
	}
	merge(req.Requirements)
	for _, dir := range req.Modules {
		tree, _ := e.modules.Load(dir) //nolint:errcheck // Module reports the diagnostics
		if tree != nil {
			merge(tree.Module.Requirements)
		}
	}
	result, installed, diags := e.preparer.Install(ctx, requirements, req)
	if installed {
		e.mu.Lock()
		e.mu.schemas = &onceValue[*providerSchemas]{}
		e.mu.binaries = map[stackaddrs.Provider]string{}
		e.mu.Unlock()
	}
	return result, diags
}

// Locks implements [engine.Preparer].
func (e *Session) Locks(context.Context) (map[stackaddrs.Provider]string, error) {
	return e.preparer.Locks()
}

// Unsupported implements [engine.Preparer].
func (e *Session) Unsupported(_ context.Context, dirs []string) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, dir := range dirs {
		if tree, _ := e.modules.Load(dir); tree != nil { //nolint:errcheck // Module reports the others
			diags = diags.Extend(tree.Unsupported)
		}
	}
	return diags
}
