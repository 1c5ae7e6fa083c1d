// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// SourceSession knows the source of modules and the remains of applies, and no more: it starts no
// process. With it, a configuration can be validated before providers are installed, or where
// neither they nor a binary can be had.
type SourceSession struct {
	info    engine.Info
	modules *module.Loader
	runsDir string
}

// SourceOptions are the parameters of [NewSourceSession].
type SourceOptions struct {
	Info       engine.Info          // of the engine as which modules are read; may be the zero value
	AnyVersion bool                 // modules for other versions of the engine are read like those for its own
	StackDir   string               // to which names of files are relative
	Resolver   stackconfig.Resolver // as in [Options]
	RunsDir    string               // as in [Options]
	Parsed     *module.Files        // that were parsed already; nil for none

	Constants func(dir string) map[string]stackconfig.Constant // of the stack, for an engine that has them; nil for none
}

var (
	_ engine.Session        = (*SourceSession)(nil)
	_ engine.FunctionCaller = (*SourceSession)(nil)
	_ engine.Keeper         = (*SourceSession)(nil)
)

// NewSourceSession returns a session that reads modules as the named engine would.
func NewSourceSession(opts SourceOptions) *SourceSession {
	read := module.OptionsOf(opts.Info, opts.StackDir, opts.Resolver)
	if read.Files = opts.Parsed; opts.AnyVersion {
		read.Terraform = ""
	}
	if read.Constants != nil && opts.Constants != nil {
		read.Constants = opts.Constants
	}
	return &SourceSession{info: opts.Info, modules: module.NewLoader(read), runsDir: opts.RunsDir}
}

func newLoader(info engine.Info, stackDir string, resolver stackconfig.Resolver, parsed *module.Files) *module.Loader {
	opts := module.OptionsOf(info, stackDir, resolver)
	opts.Files = parsed
	return module.NewLoader(opts)
}

// Info implements [engine.Session].
func (e *SourceSession) Info() engine.Info { return e.info }

// CanApply implements [engine.Session]. It applies no plans.
func (e *SourceSession) CanApply(engine.Info) bool { return false }

// Abilities implements [engine.Session].
func (e *SourceSession) Abilities() engine.Abilities {
	return engine.Abilities{Functions: e, Keeper: e}
}

// Kept implements [engine.Keeper].
func (e *SourceSession) Kept(_ context.Context, secret []byte) ([]string, error) {
	return rundir.Unrecovered(e.runsDir, secret), nil
}

// Module implements [engine.Session].
func (e *SourceSession) Module(_ context.Context, dir string) (*engine.Module, hcl.Diagnostics) {
	tree, diags := e.modules.Load(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Module, diags
}

// ValidateModule implements [engine.Session]. It finds nothing.
func (e *SourceSession) ValidateModule(context.Context, string) hcl.Diagnostics { return nil }

// ProviderSchema implements [engine.Session]. No schema is known.
func (e *SourceSession) ProviderSchema(context.Context, stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	return nil, nil
}

// Functions implements [engine.FunctionCaller].
func (e *SourceSession) Functions(context.Context, stackaddrs.Provider) (map[string]*engine.Function, error) {
	return nil, engine.ErrNoProviders
}

var errSourceOnly = errors.New("only the source of modules is known here")

// CallFunction implements [engine.FunctionCaller].
func (e *SourceSession) CallFunction(context.Context, stackaddrs.Provider, string, []cty.Value) (cty.Value, error) {
	return cty.NilVal, errSourceOnly
}

// Plan implements [engine.Session]. It fails.
func (e *SourceSession) Plan(context.Context, *engine.PlanRequest, engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	return nil, hcl.Diagnostics{failure.Of("Component cannot be planned", errSourceOnly)}
}

// Apply implements [engine.Session]. It fails.
func (e *SourceSession) Apply(context.Context, *engine.ApplyRequest, engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	return nil, hcl.Diagnostics{failure.Of("Unsupported component source", errSourceOnly)}
}

// Stop implements [engine.Session]. There is nothing to stop.
func (e *SourceSession) Stop(context.Context, engine.WorkID, engine.Urgency) error {
	return engine.ErrUnknownWork
}

// Acknowledge implements [engine.Session].
func (e *SourceSession) Acknowledge(context.Context, engine.WorkID) error { return nil }

// Close implements [engine.Session].
func (e *SourceSession) Close() error { return nil }
