// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// UpgradeState implements [provider.Provider].
func (c *Client) UpgradeState(ctx context.Context, req provider.UpgradeStateRequest) (cty.Value, provider.Diagnostics) {
	x := c.exchange(plugin.UpgradeState)
	ty := x.typeOf(kindManaged, req.Type)
	request := &pluginv1.UpgradeStateRequest{TypeName: req.Type, Version: req.Version, RawState: rawState(req.JSON, req.Flatmap)}
	var response pluginv1.UpgradeStateResponse
	x.invoke(ctx, request, &response)
	v := x.object(response.GetUpgradedState(), ty)
	return v, x.end()
}

// rawState is an object as it was stored: the old form only where there is no other.
func rawState(json []byte, flatmap map[string]string) *pluginv1.RawState {
	if len(json) > 0 {
		return &pluginv1.RawState{Json: json}
	}
	return &pluginv1.RawState{Flatmap: flatmap}
}

// UpgradeIdentity implements [provider.Provider].
func (c *Client) UpgradeIdentity(ctx context.Context, req provider.UpgradeIdentityRequest) (cty.Value, provider.Diagnostics) {
	x := c.exchange(plugin.UpgradeIdentity)
	request := &pluginv1.UpgradeIdentityRequest{TypeName: req.Type, Version: req.Version, RawIdentity: rawState(req.JSON, nil)}
	var response pluginv1.UpgradeIdentityResponse
	x.invoke(ctx, request, &response)
	v := x.identity(response.GetUpgradedIdentity(), req.Type)
	return v, x.end()
}

// Read implements [provider.Provider].
func (c *Client) Read(ctx context.Context, req provider.ReadRequest) provider.ReadResponse {
	x := c.exchange(plugin.Read)
	ty := x.typeOf(kindManaged, req.Type)
	request := &pluginv1.ReadRequest{
		TypeName:           req.Type,
		CurrentState:       x.encode(req.Current, ty),
		Private:            req.Private,
		ProviderMeta:       x.encodeMeta(req.Meta),
		ClientCapabilities: capabilities(req.DeferralAllowed),
		CurrentIdentity:    x.encodeIdentity(req.Identity, req.Type),
	}
	var response pluginv1.ReadResponse
	x.invoke(ctx, request, &response)
	return provider.ReadResponse{
		New:         x.object(response.GetNewState(), ty),
		Private:     response.GetPrivate(),
		Identity:    x.identity(response.GetNewIdentity(), req.Type),
		Deferred:    x.deferred(response.GetDeferred(), req.DeferralAllowed),
		Diagnostics: x.end(),
	}
}

// Plan implements [provider.Provider].
func (c *Client) Plan(ctx context.Context, req provider.PlanRequest) provider.PlanResponse {
	x := c.exchange(plugin.Plan)
	ty := x.typeOf(kindManaged, req.Type)
	request := &pluginv1.PlanRequest{
		TypeName:           req.Type,
		PriorState:         x.encode(req.Prior, ty),
		ProposedNewState:   x.encode(req.Proposed, ty),
		Config:             x.encode(req.Config, ty),
		PriorPrivate:       req.PriorPrivate,
		PlannedPrivate:     req.PlannedPrivate,
		ProviderMeta:       x.encodeMeta(req.Meta),
		ClientCapabilities: capabilities(req.DeferralAllowed),
		PriorIdentity:      x.encodeIdentity(req.PriorIdentity, req.Type),
	}
	var response pluginv1.PlanResponse
	x.invoke(ctx, request, &response)
	return provider.PlanResponse{
		Planned:          x.object(response.GetPlannedState(), ty),
		RequiresReplace:  x.paths(response.GetRequiresReplace()),
		Private:          response.GetPlannedPrivate(),
		LegacyTypeSystem: response.GetLegacyTypeSystem(),
		Identity:         x.identity(response.GetPlannedIdentity(), req.Type),
		Deferred:         x.deferred(response.GetDeferred(), req.DeferralAllowed),
		Diagnostics:      x.end(),
	}
}

// Apply implements [provider.Provider].
func (c *Client) Apply(ctx context.Context, req provider.ApplyRequest) provider.ApplyResponse {
	x := c.exchange(plugin.Apply)
	ty := x.typeOf(kindManaged, req.Type)
	request := &pluginv1.ApplyRequest{
		TypeName:        req.Type,
		PriorState:      x.encode(req.Prior, ty),
		PlannedState:    x.encode(req.Planned, ty),
		Config:          x.encode(req.Config, ty),
		PlannedPrivate:  req.Private,
		ProviderMeta:    x.encodeMeta(req.Meta),
		PlannedIdentity: x.encodeIdentity(req.PlannedIdentity, req.Type),
	}
	var response pluginv1.ApplyResponse
	x.invoke(ctx, request, &response)
	return provider.ApplyResponse{
		New:              x.object(response.GetNewState(), ty),
		Private:          response.GetPrivate(),
		LegacyTypeSystem: response.GetLegacyTypeSystem(),
		Identity:         x.identity(response.GetNewIdentity(), req.Type),
		Diagnostics:      x.end(),
	}
}

// Import implements [provider.Provider].
func (c *Client) Import(ctx context.Context, req provider.ImportRequest) provider.ImportResponse {
	x := c.exchange(plugin.Import)
	request := &pluginv1.ImportRequest{
		TypeName:           req.Type,
		Id:                 req.ID,
		ClientCapabilities: capabilities(req.DeferralAllowed),
		Identity:           x.encodeIdentity(req.Identity, req.Type),
	}
	var response pluginv1.ImportResponse
	x.invoke(ctx, request, &response)
	decoded := provider.ImportResponse{Deferred: x.deferred(response.GetDeferred(), req.DeferralAllowed)}
	for _, one := range response.GetImportedResources() {
		found := c.schema.Managed[one.GetTypeName()]
		if found == nil {
			x.diags = append(x.diags, c.unsupported(kindManaged, one.GetTypeName())...)
			continue
		}
		decoded.Objects = append(decoded.Objects, provider.ImportedObject{
			Type:     one.GetTypeName(),
			Object:   x.object(one.GetState(), configType(found)),
			Private:  one.GetPrivate(),
			Identity: x.identity(one.GetIdentity(), one.GetTypeName()),
		})
	}
	decoded.Diagnostics = x.end()
	return decoded
}

// Move implements [provider.Provider].
func (c *Client) Move(ctx context.Context, req provider.MoveRequest) provider.MoveResponse {
	x := c.exchange(plugin.Move)
	ty := x.typeOf(kindManaged, req.TargetType)
	request := &pluginv1.MoveRequest{
		SourceProviderAddress: req.SourceProvider.String(),
		SourceTypeName:        req.SourceType,
		SourceSchemaVersion:   req.SourceVersion,
		SourceState:           rawState(req.SourceJSON, req.SourceFlatmap),
		SourcePrivate:         req.SourcePrivate,
		TargetTypeName:        req.TargetType,

		SourceIdentitySchemaVersion: req.SourceIdentityVersion,
	}
	if len(req.SourceIdentity) > 0 {
		request.SourceIdentity = rawState(req.SourceIdentity, nil)
	}
	var response pluginv1.MoveResponse
	x.invoke(ctx, request, &response)
	return provider.MoveResponse{
		Object:      x.object(response.GetTargetState(), ty),
		Private:     response.GetTargetPrivate(),
		Identity:    x.identity(response.GetTargetIdentity(), req.TargetType),
		Diagnostics: x.end(),
	}
}

// GenerateConfig implements [provider.Provider].
func (c *Client) GenerateConfig(ctx context.Context, typeName string, object cty.Value) (cty.Value, provider.Diagnostics) {
	x := c.exchange(plugin.GenerateConfig)
	ty := x.typeOf(kindManaged, typeName)
	request := &pluginv1.GenerateConfigRequest{TypeName: typeName, State: x.encode(object, ty)}
	var response pluginv1.GenerateConfigResponse
	x.invoke(ctx, request, &response)
	v := x.decode("a configuration", response.GetConfig(), ty)
	return v, x.end()
}
