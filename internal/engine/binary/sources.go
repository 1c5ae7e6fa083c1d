// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// SourceEngine knows what the source of modules says, and no more: it starts no process. With it, a configuration can be
// validated before providers are installed, or where neither they nor a binary can be had.
type SourceEngine struct {
	info    engine.Info
	modules *module.Loader
}

var (
	_ engine.Engine         = (*SourceEngine)(nil)
	_ engine.FunctionCaller = (*SourceEngine)(nil)
)

// NewSourceEngine returns an engine that reads modules as the named one would, which may be the zero value. Files are named relative
// to the directory of the stack. The resolver may be nil.
func NewSourceEngine(info engine.Info, stackDir string, resolver stackconfig.Resolver) *SourceEngine {
	return &SourceEngine{info, module.NewLoader(LoaderOptions(stackDir, info, resolver))}
}

// Info implements [engine.Engine].
func (e *SourceEngine) Info() engine.Info { return e.info }

// Module implements [engine.Engine].
func (e *SourceEngine) Module(_ context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	tree, diags := e.modules.Load(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Module, diags
}

// ValidateModule implements [engine.Engine]. It finds nothing.
func (e *SourceEngine) ValidateModule(context.Context, string) hcl.Diagnostics { return nil }

// ProviderConfigSpec implements [engine.Engine]. No spec is known.
func (e *SourceEngine) ProviderConfigSpec(context.Context, stackaddrs.Provider) (hcldec.Spec, hcl.Diagnostics) {
	return nil, nil
}

// Functions implements [engine.FunctionCaller].
func (e *SourceEngine) Functions(context.Context, stackaddrs.Provider) (map[string]*engine.Function, error) {
	return nil, engine.ErrNoProviders
}

var errSourceOnly = errors.New("only the source of modules is known here")

// CallFunction implements [engine.FunctionCaller].
func (e *SourceEngine) CallFunction(context.Context, stackaddrs.Provider, string, []cty.Value) (cty.Value, error) {
	return cty.NilVal, errSourceOnly
}

// Plan implements [engine.Engine]. It fails.
func (e *SourceEngine) Plan(context.Context, *engine.PlanRequest) (*engine.PlanResult, hcl.Diagnostics) {
	return nil, hcl.Diagnostics{failed("Component cannot be planned", errSourceOnly)}
}

// Apply implements [engine.Engine]. It fails.
func (e *SourceEngine) Apply(context.Context, *engine.ApplyRequest) (*engine.ApplyResult, hcl.Diagnostics) {
	return nil, hcl.Diagnostics{failed("Component cannot be applied", errSourceOnly)}
}
