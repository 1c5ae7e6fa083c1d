// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"errors"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/engine/native/journal"
	"github.com/cairnstacks/cairn/internal/engine/native/slots"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Abilities implements [engine.Session].
func (s *Session) Abilities() engine.Abilities {
	return engine.Abilities{
		Functions: s, Preparer: s.prepare, Recoverer: s.journal, Delegator: s.journal, Keeper: s.journal, Types: s, Configs: s,
		Assessor: s, Chooser: s, Querier: s,
	}
}

// Kept returns the components of applies of which something is kept in a directory of runs, as
// [engine.Keeper] does.
func Kept(ctx context.Context, runsDir string, secret []byte, keys *encryption.Keyring) ([]string, error) {
	return journal.New(filepath.Join(runsDir, Name), keys).Kept(ctx, secret)
}

// Close implements [engine.Session].
func (s *Session) Close() error { return errors.Join(s.journal.Close(), s.pool.Close(), s.log.Close()) }

// providerPackage returns the package of an installed provider.
func (s *Session) providerPackage(ctx context.Context, addr stackaddrs.Provider) (instances.Package, error) {
	found, err := s.prepare.Program(ctx, addr)
	if err != nil {
		return instances.Package{}, err
	}
	return instances.Package{Address: addr, Program: found.Path, Hash: found.Hash}, nil
}

// program returns the package of a provider that has to be installed, and of others the address
// alone.
func (s *Session) program(ctx context.Context, addr stackaddrs.Provider) (instances.Package, error) {
	if addr.IsBuiltin() || s.pool.Unmanaged(addr) {
		return instances.Package{Address: addr}, nil
	}
	return s.providerPackage(ctx, addr)
}

// schema returns the schemas of a provider.
func (s *Session) schema(ctx context.Context, addr stackaddrs.Provider) (*schema.Provider, error) {
	pkg, err := s.program(ctx, addr)
	if err != nil {
		return nil, err
	}
	found, said := s.pool.Schema(ctx, pkg)
	if said.HasErrors() {
		return nil, said.Err()
	}
	return found, nil
}

// ProviderSchema implements [engine.Session].
func (s *Session) ProviderSchema(ctx context.Context, addr stackaddrs.Provider) (*engine.ProviderSchema, hcl.Diagnostics) {
	found, err := s.schema(ctx, addr)
	if err != nil {
		return nil, hcl.Diagnostics{stopped("Provider schema not available", err)}
	}
	return Described(found), nil
}

// Described returns the configuration schema of a provider, from its schemas.
func Described(found *schema.Provider) *engine.ProviderSchema {
	if found.Config == nil || found.Config.Block == nil {
		return &engine.ProviderSchema{}
	}
	return &engine.ProviderSchema{Config: found.Config.Block.Describe()}
}

// ResourceType implements [engine.TypeDescriber].
func (s *Session) ResourceType(ctx context.Context, addr stackaddrs.Provider, mode stackaddrs.ResourceMode, name string) (cty.Type, error) {
	found, err := s.schema(ctx, addr)
	if err != nil {
		return cty.NilType, err
	}
	ty := s.opts.Shared.Types.Of(addr, found, stackaddrs.Resource{Mode: mode, Type: name})
	if ty == nil {
		return cty.NilType, nil
	}
	return ty.Object, nil
}

// Functions implements [engine.FunctionCaller].
func (s *Session) Functions(ctx context.Context, addr stackaddrs.Provider) (map[string]*engine.Function, error) {
	pkg, err := s.program(ctx, addr)
	if err != nil {
		return nil, err
	}
	return s.pool.Functions(ctx, pkg)
}

// CallFunction implements [engine.FunctionCaller].
func (s *Session) CallFunction(ctx context.Context, addr stackaddrs.Provider, name string, args []cty.Value) (cty.Value, error) {
	return s.callFunction(ctx, nil, functionCall{addr, name, args})
}

// functionCall is a call of a function of a provider.
type functionCall struct {
	addr stackaddrs.Provider
	name string
	args []cty.Value
}

// callFunction calls a function in a component, or in none.
func (s *Session) callFunction(ctx context.Context, in *directory, call functionCall) (cty.Value, error) {
	pkg, err := s.program(ctx, call.addr)
	if err != nil {
		return cty.NilVal, err
	}
	var workDir string
	if in != nil && slots.NamesFiles(call.args, in.Has) {
		if workDir, err = in.Make(); err != nil {
			return cty.NilVal, err
		}
	}
	return s.pool.CallFunction(ctx, pkg, workDir, call.name, call.args)
}

// ValidateModule implements [engine.Session].
func (s *Session) ValidateModule(ctx context.Context, dir string) hcl.Diagnostics {
	return s.validate(ctx, s.load(dir))
}
