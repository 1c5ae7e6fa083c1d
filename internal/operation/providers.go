// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ProviderSchemas returns the schemas of the providers of the stack, as "terraform providers schema
// -json" writes them for a module. It installs missing ones. Schemas come from the providers
// themselves: neither terraform nor tofu is needed, and only for a stack that uses tofu is that one
// asked to install.
func (s *Stack) ProviderSchemas(ctx context.Context) ([]byte, hcl.Diagnostics) {
	diags := installProviders(ctx, s)
	if diags.HasErrors() {
		return nil, diags
	}
	encoded, moreDiags := s.Providers().Schemas(ctx)
	return encoded, diags.Extend(moreDiags)
}

// installProviders installs the providers of a stack that are missing.
func installProviders(ctx context.Context, s *Stack) hcl.Diagnostics {
	config, diags := s.sources.Config()
	if diags.HasErrors() {
		return diags
	}
	opened, closing, err := s.openInstaller(ctx)
	if err != nil {
		return diags.Extend(Diagnostics(err))
	}
	defer closing()
	_, moreDiags := s.prepareWith(ctx, opened, config, installing{})
	return diags.Extend(moreDiags)
}

// openInstaller returns a session that installs providers: that of the engine, unless another one
// does the same without its program. The caller calls closing.
func (s *Stack) openInstaller(ctx context.Context) (_ engine.Session, closing func(), err error) {
	closing = func() {}
	var installer engine.Engine
	if s.opened.session == nil {
		if installer, err = s.engines.OpenInstaller(ctx); err != nil {
			return nil, nil, err
		}
	}
	if installer == nil {
		opened, err := s.session(ctx)
		return opened, closing, err
	}
	opened, err := installer.Open(ctx, engine.SessionOptions{StackDir: s.env.Dir})
	if err != nil {
		return nil, nil, engines.Unusable(err)
	}
	return opened, func() { _ = opened.Close() }, nil //nolint:errcheck // it has started nothing
}
