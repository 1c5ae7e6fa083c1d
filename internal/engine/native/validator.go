// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native

import (
	"context"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/slots"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/engine/withheld"
	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// validator asks the providers of a session about the configurations of one tree of modules.
type validator struct {
	session   *Session
	directory *directory // of the root module, in which relative names are looked up

	mu struct {
		sync.Mutex
		unstartable map[stackaddrs.Provider]bool // that was reported
	}
}

var (
	_ validate.Validator     = (*validator)(nil)
	_ engine.ConfigValidator = (*Session)(nil)
)

// ask calls a provider, whatever it is configured with. One that is not installed is not asked:
// preparing the session reports that. One that cannot be started is an error about the first block
// that it is asked about.
func (v *validator) ask(
	ctx context.Context, of stackaddrs.Provider, config cty.Value, question func(provider.Provider) provider.Diagnostics,
) provider.Diagnostics {
	pkg, err := v.session.program(ctx, of)
	if err != nil {
		return nil
	}
	lease, said := v.lease(ctx, pkg, config)
	if lease == nil {
		v.mu.Lock()
		defer v.mu.Unlock()
		if v.mu.unstartable[of] {
			return nil
		}
		if v.mu.unstartable == nil {
			v.mu.unstartable = map[stackaddrs.Provider]bool{}
		}
		v.mu.unstartable[of] = true
		return said
	}
	defer lease.Release()
	return question(lease.Provider)
}

// lease returns a provider that can look at the files which a configuration names.
func (v *validator) lease(ctx context.Context, pkg instances.Package, config cty.Value) (*instances.Lease, provider.Diagnostics) {
	if slots.NamesFiles([]cty.Value{config}, v.directory.Has) {
		return v.session.pool.UnconfiguredIn(ctx, pkg, v.directory.Root())
	}
	return v.session.pool.Any(ctx, pkg)
}

// ValidateResource implements [validate.Validator].
func (v *validator) ValidateResource(
	ctx context.Context, of stackaddrs.Provider, mode stackaddrs.ResourceMode, typeName string, config cty.Value,
) provider.Diagnostics {
	return v.ask(ctx, of, config, func(p provider.Provider) provider.Diagnostics { return p.ValidateResource(ctx, mode, typeName, config) })
}

// ValidateAction implements [validate.Validator].
func (v *validator) ValidateAction(ctx context.Context, of stackaddrs.Provider, typeName string, config cty.Value) provider.Diagnostics {
	return v.ask(ctx, of, config, func(p provider.Provider) provider.Diagnostics { return p.ValidateAction(ctx, typeName, config) })
}

// ValidateProviderConfig implements [engine.ConfigValidator]. A configuration with relative names
// of files is left to plans: it depends on the component where these lead to.
func (s *Session) ValidateProviderConfig(ctx context.Context, of stackaddrs.Provider, config cty.Value) hcl.Diagnostics {
	pkg, err := s.program(ctx, of)
	if err != nil || slots.NamesFiles([]cty.Value{config}, func(string) bool { return false }) {
		return nil
	}
	lease, said := s.pool.Any(ctx, pkg)
	if lease != nil {
		defer lease.Release()
		bare, _ := config.UnmarkDeep()
		said = lease.Provider.ValidateConfig(ctx, bare)
	}
	var secrets redact.Set
	if len(said) > 0 {
		secrets.AddMarked(config)
	}
	return withheld.Diagnostics(slots.Diagnostics(said, engine.ProviderSlot{}), &secrets,
		func(data *engine.DiagnosticData) *engine.DiagnosticData { return data })
}
