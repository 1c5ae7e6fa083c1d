// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"context"

	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Options are the parameters of [New].
type Options struct {
	// Dir is the directory from which relative paths of stored states go; empty for the working
	// directory.
	Dir string

	// Environ is the environment, which may have arguments of backends.
	Environ []string
}

// Provider is the provider that is built in. Configuring it does nothing, so one is enough for a
// whole program.
type Provider struct {
	opts   Options
	schema *schema.Provider
}

var _ provider.Provider = (*Provider)(nil)

// New returns the provider.
func New(opts Options) *Provider { return &Provider{opts: opts, schema: Schema()} }

// In returns the provider for modules below a directory, from which relative paths of stored states
// go.
func (p *Provider) In(dir string) *Provider {
	in := *p
	in.opts.Dir = dir
	return &in
}

// Schema implements [provider.Provider].
func (p *Provider) Schema() *schema.Provider { return p.schema }

// ValidateConfig implements [provider.Provider]: there are no arguments.
func (p *Provider) ValidateConfig(context.Context, cty.Value) provider.Diagnostics { return nil }

// Configure implements [provider.Provider]: there are no arguments.
func (p *Provider) Configure(context.Context, provider.ConfigureRequest) provider.Diagnostics {
	return nil
}

// ValidateResource implements [provider.Provider].
func (p *Provider) ValidateResource(
	_ context.Context, mode stackaddrs.ResourceMode, typeName string, config cty.Value,
) provider.Diagnostics {
	switch {
	case mode == stackaddrs.ManagedResource && typeName == dataType:
		return nil
	case mode == stackaddrs.DataResource && typeName == remoteType:
		return validateRemote(config)
	default:
		return noType(mode.String(), typeName)
	}
}

// UpgradeState implements [provider.Provider].
func (p *Provider) UpgradeState(_ context.Context, req provider.UpgradeStateRequest) (cty.Value, provider.Diagnostics) {
	if req.Type != dataType {
		return cty.NilVal, noType("managed", req.Type)
	}
	if len(req.JSON) == 0 {
		return cty.NilVal, provider.Errorf(summaryState, "The stored object of %s has a form in which none was ever stored.", req.Type)
	}
	if obj, ok := usualData(req.JSON); ok {
		return obj, nil
	}
	obj, err := ctyjson.Unmarshal(req.JSON, dataObject)
	if err != nil {
		return cty.NilVal, provider.Errorf(summaryState, "The stored object of %s cannot be read: %s.", req.Type, err)
	}
	return obj, nil
}

const (
	summaryState  = "Invalid stored object"
	summaryNoType = "Unsupported resource type"
)

// noType is the answer to a request that only a caller makes that ignores the schema.
func noType(kind, typeName string) provider.Diagnostics {
	return provider.Errorf(summaryNoType, "The provider %s has no %s resource type %q.", Address, kind, typeName)
}

// UpgradeIdentity implements [provider.Provider]: there are no identities.
func (p *Provider) UpgradeIdentity(_ context.Context, req provider.UpgradeIdentityRequest) (cty.Value, provider.Diagnostics) {
	return cty.NilVal, provider.Errorf("Unsupported resource identity", "Resources of type %s have no identities.", req.Type)
}

// Read implements [provider.Provider]: nothing but the state has these objects.
func (p *Provider) Read(_ context.Context, req provider.ReadRequest) provider.ReadResponse {
	if req.Type != dataType {
		return provider.ReadResponse{Diagnostics: noType("managed", req.Type)}
	}
	return provider.ReadResponse{New: req.Current, Private: req.Private}
}

// Plan implements [provider.Provider].
func (p *Provider) Plan(_ context.Context, req provider.PlanRequest) provider.PlanResponse {
	if req.Type != dataType {
		return provider.PlanResponse{Diagnostics: noType("managed", req.Type)}
	}
	response := planData(req)
	response.Private = req.PriorPrivate
	return response
}

// Apply implements [provider.Provider].
func (p *Provider) Apply(_ context.Context, req provider.ApplyRequest) provider.ApplyResponse {
	if req.Type != dataType {
		return provider.ApplyResponse{Diagnostics: noType("managed", req.Type)}
	}
	return provider.ApplyResponse{New: applyData(req.Planned, req.Config), Private: req.Private}
}

// Import implements [provider.Provider]: each id has an object.
func (p *Provider) Import(_ context.Context, req provider.ImportRequest) provider.ImportResponse {
	if req.Type != dataType {
		return provider.ImportResponse{Diagnostics: noType("managed", req.Type)}
	}
	return provider.ImportResponse{Objects: []provider.ImportedObject{{Type: dataType, Object: importData(req.ID)}}}
}

// Move implements [provider.Provider].
func (p *Provider) Move(_ context.Context, req provider.MoveRequest) provider.MoveResponse {
	return moveData(req)
}

// GenerateConfig implements [provider.Provider]: it is not one of the capabilities.
func (p *Provider) GenerateConfig(_ context.Context, typeName string, _ cty.Value) (cty.Value, provider.Diagnostics) {
	return cty.NilVal, provider.Errorf("Unsupported by the provider", "The provider %s generates no configuration of %s.", Address, typeName)
}

// OpenEphemeral implements [provider.Provider]: there are no ephemeral resources.
func (p *Provider) OpenEphemeral(_ context.Context, req provider.OpenEphemeralRequest) provider.OpenEphemeralResponse {
	return provider.OpenEphemeralResponse{Diagnostics: noType("ephemeral", req.Type)}
}

// RenewEphemeral implements [provider.Provider]: there are no ephemeral resources.
func (p *Provider) RenewEphemeral(_ context.Context, req provider.EphemeralRequest) provider.RenewEphemeralResponse {
	return provider.RenewEphemeralResponse{Diagnostics: noType("ephemeral", req.Type)}
}

// CloseEphemeral implements [provider.Provider]: there are no ephemeral resources.
func (p *Provider) CloseEphemeral(_ context.Context, req provider.EphemeralRequest) provider.Diagnostics {
	return noType("ephemeral", req.Type)
}

// ValidateAction implements [provider.Provider]: there are no actions.
func (p *Provider) ValidateAction(_ context.Context, typeName string, _ cty.Value) provider.Diagnostics {
	return noAction(typeName)
}

// PlanAction implements [provider.Provider]: there are no actions.
func (p *Provider) PlanAction(_ context.Context, req provider.PlanActionRequest) provider.PlanActionResponse {
	return provider.PlanActionResponse{Diagnostics: noAction(req.Type)}
}

// InvokeAction implements [provider.Provider]: there are no actions.
func (p *Provider) InvokeAction(_ context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
	return noAction(req.Type)
}

func noAction(typeName string) provider.Diagnostics {
	return provider.Errorf("Unsupported action", "The provider %s has no action %q.", Address, typeName)
}

// ValidateList implements [provider.Provider]: there are no list resources.
func (p *Provider) ValidateList(_ context.Context, req provider.ValidateListRequest) provider.Diagnostics {
	return noType("list", req.Type)
}

// List implements [provider.Provider]: there are no list resources.
func (p *Provider) List(_ context.Context, req provider.ListRequest) provider.ListResponse {
	return provider.ListResponse{Diagnostics: noType("list", req.Type)}
}

// Stop implements [provider.Provider]: no call takes time but those that a context ends.
func (p *Provider) Stop(context.Context) error { return nil }

// ReadData implements [provider.Provider].
func (p *Provider) ReadData(ctx context.Context, req provider.ReadDataRequest) provider.ReadDataResponse {
	if req.Type != remoteType {
		return provider.ReadDataResponse{Diagnostics: noType("data", req.Type)}
	}
	return readRemote(ctx, p.opts, req.Config)
}
