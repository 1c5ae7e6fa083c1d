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
	result, diags := e.installer.Prepare(ctx, req)
	e.mu.Lock()
	defer e.mu.Unlock()
	e.installations.Add(1) // there may be other packages now
	return result, diags
}

// Locks implements [engine.Preparer].
func (e *Session) Locks(ctx context.Context) (map[stackaddrs.Provider]string, error) {
	return e.installer.Locks(ctx)
}

// Unsupported implements [engine.Preparer].
func (e *Session) Unsupported(ctx context.Context, dirs []string) hcl.Diagnostics {
	return e.installer.Unsupported(ctx, dirs)
}
