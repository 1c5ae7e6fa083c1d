// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package slots

import (
	"context"
	"sync"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/instances"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// router asks the provider of a slot in a process that all components share, or in one that works
// in the directory of the component: as soon as a value may name a file there, and from then on for
// all of that type, so that an object has one process.
type router struct {
	provider.Provider // in the shared process

	slots *Slots
	open  func(ctx context.Context, workDir string) (*instances.Lease, provider.Diagnostics)

	once  sync.Once // opens own
	own   *instances.Lease
	diags provider.Diagnostics // with errors there is no own

	mu struct {
		sync.Mutex
		types map[string]bool // that are asked in the own process
	}
}

var _ provider.Provider = (*router)(nil)

// pick returns the provider for a call about a type, or why there is none.
func (r *router) pick(ctx context.Context, typeName string, values ...cty.Value) (provider.Provider, provider.Diagnostics) {
	r.mu.Lock()
	own := r.mu.types[typeName]
	r.mu.Unlock()
	for _, value := range values {
		own = own || namesFiles(value, r.slots.opts.Directory.Has)
	}
	if !own {
		return r.Provider, nil
	}
	r.mu.Lock()
	r.mu.types[typeName] = true
	r.mu.Unlock()
	r.once.Do(func() { r.own, r.diags = r.start(ctx) })
	if r.own == nil {
		return nil, r.diags
	}
	return r.own.Provider, nil
}

// start starts the process in the directory of the component.
func (r *router) start(ctx context.Context) (*instances.Lease, provider.Diagnostics) {
	dir, err := r.slots.opts.Directory.Make()
	if err != nil {
		return nil, notMade(err)
	}
	lease, diags := r.open(ctx, dir)
	if diags.HasErrors() {
		return nil, diags
	}
	r.slots.keepOwn(ctx, lease)
	return lease, nil
}

// ValidateResource implements [provider.Provider].
func (r *router) ValidateResource(
	ctx context.Context, mode stackaddrs.ResourceMode, typeName string, config cty.Value,
) provider.Diagnostics {
	p, diags := r.pick(ctx, typeName, config)
	if p == nil {
		return diags
	}
	return p.ValidateResource(ctx, mode, typeName, config)
}

// Read implements [provider.Provider].
func (r *router) Read(ctx context.Context, req provider.ReadRequest) provider.ReadResponse {
	p, diags := r.pick(ctx, req.Type, req.Current)
	if p == nil {
		return provider.ReadResponse{Diagnostics: diags}
	}
	return p.Read(ctx, req)
}

// Plan implements [provider.Provider].
func (r *router) Plan(ctx context.Context, req provider.PlanRequest) provider.PlanResponse {
	p, diags := r.pick(ctx, req.Type, req.Config, req.Prior)
	if p == nil {
		return provider.PlanResponse{Diagnostics: diags}
	}
	return p.Plan(ctx, req)
}

// Apply implements [provider.Provider].
func (r *router) Apply(ctx context.Context, req provider.ApplyRequest) provider.ApplyResponse {
	p, diags := r.pick(ctx, req.Type, req.Config, req.Prior, req.Planned)
	if p == nil {
		return provider.ApplyResponse{New: req.Prior, Private: req.Private, Identity: req.PlannedIdentity, Diagnostics: diags}
	}
	return p.Apply(ctx, req)
}

// Import implements [provider.Provider].
func (r *router) Import(ctx context.Context, req provider.ImportRequest) provider.ImportResponse {
	p, diags := r.pick(ctx, req.Type, cty.StringVal(req.ID), req.Identity)
	if p == nil {
		return provider.ImportResponse{Diagnostics: diags}
	}
	return p.Import(ctx, req)
}

// GenerateConfig implements [provider.Provider].
func (r *router) GenerateConfig(ctx context.Context, typeName string, object cty.Value) (cty.Value, provider.Diagnostics) {
	p, diags := r.pick(ctx, typeName, object)
	if p == nil {
		return cty.NilVal, diags
	}
	return p.GenerateConfig(ctx, typeName, object)
}

// ReadData implements [provider.Provider].
func (r *router) ReadData(ctx context.Context, req provider.ReadDataRequest) provider.ReadDataResponse {
	p, diags := r.pick(ctx, req.Type, req.Config)
	if p == nil {
		return provider.ReadDataResponse{Diagnostics: diags}
	}
	return p.ReadData(ctx, req)
}

// OpenEphemeral implements [provider.Provider].
func (r *router) OpenEphemeral(ctx context.Context, req provider.OpenEphemeralRequest) provider.OpenEphemeralResponse {
	p, diags := r.pick(ctx, req.Type, req.Config)
	if p == nil {
		return provider.OpenEphemeralResponse{Diagnostics: diags}
	}
	return p.OpenEphemeral(ctx, req)
}

// RenewEphemeral implements [provider.Provider].
func (r *router) RenewEphemeral(ctx context.Context, req provider.EphemeralRequest) provider.RenewEphemeralResponse {
	p, diags := r.pick(ctx, req.Type)
	if p == nil {
		return provider.RenewEphemeralResponse{Diagnostics: diags}
	}
	return p.RenewEphemeral(ctx, req)
}

// CloseEphemeral implements [provider.Provider].
func (r *router) CloseEphemeral(ctx context.Context, req provider.EphemeralRequest) provider.Diagnostics {
	p, diags := r.pick(ctx, req.Type)
	if p == nil {
		return diags
	}
	return p.CloseEphemeral(ctx, req)
}

// ValidateAction implements [provider.Provider].
func (r *router) ValidateAction(ctx context.Context, typeName string, config cty.Value) provider.Diagnostics {
	p, diags := r.pick(ctx, typeName, config)
	if p == nil {
		return diags
	}
	return p.ValidateAction(ctx, typeName, config)
}

// PlanAction implements [provider.Provider].
func (r *router) PlanAction(ctx context.Context, req provider.PlanActionRequest) provider.PlanActionResponse {
	p, diags := r.pick(ctx, req.Type, req.Config)
	if p == nil {
		return provider.PlanActionResponse{Diagnostics: diags}
	}
	return p.PlanAction(ctx, req)
}

// InvokeAction implements [provider.Provider].
func (r *router) InvokeAction(ctx context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
	p, diags := r.pick(ctx, req.Type, req.Config)
	if p == nil {
		return diags
	}
	return p.InvokeAction(ctx, req)
}

// ValidateList implements [provider.Provider].
func (r *router) ValidateList(ctx context.Context, req provider.ValidateListRequest) provider.Diagnostics {
	p, diags := r.pick(ctx, req.Type, req.Config)
	if p == nil {
		return diags
	}
	return p.ValidateList(ctx, req)
}

// List implements [provider.Provider].
func (r *router) List(ctx context.Context, req provider.ListRequest) provider.ListResponse {
	p, diags := r.pick(ctx, req.Type, req.Config)
	if p == nil {
		return provider.ListResponse{Diagnostics: diags}
	}
	return p.List(ctx, req)
}

// onlyFiles reports whether a provider has nothing to do for the component but with files: then it
// needs no shared process.
func onlyFiles(of *schema.Provider, used []stackaddrs.Resource) bool {
	for _, one := range used {
		types := of.Managed
		switch one.Mode {
		case stackaddrs.DataResource:
			types = of.Data
		case stackaddrs.EphemeralResource:
			types = of.Ephemeral
		}
		if !alwaysNames(types[one.Type]) {
			return false
		}
	}
	return len(used) > 0
}
