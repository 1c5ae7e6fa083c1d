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

// The kinds of values in answers, for messages about them.
const (
	anObject = "an object"
	aPath    = "a path"
)

// UpgradeState implements [provider.Provider].
func (c *Client) UpgradeState(ctx context.Context, req provider.UpgradeStateRequest) (cty.Value, provider.Diagnostics) {
	ty, diags := c.typeOf(kindManaged, c.schema.Managed, req.Type)
	if diags != nil {
		return cty.NilVal, diags
	}
	request := &pluginv1.UpgradeStateRequest{TypeName: req.Type, Version: req.Version, RawState: rawState(req.JSON, req.Flatmap)}
	var response pluginv1.UpgradeStateResponse
	if diags := c.invoke(ctx, plugin.UpgradeState, request, &response); diags != nil {
		return cty.NilVal, diags
	}
	d := c.decoder(plugin.UpgradeState, response.GetDiagnostics())
	v := d.value(anObject, response.GetUpgradedState(), ty)
	return v, d.diags
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
	request := &pluginv1.UpgradeIdentityRequest{TypeName: req.Type, Version: req.Version, RawIdentity: rawState(req.JSON, nil)}
	var response pluginv1.UpgradeIdentityResponse
	if diags := c.invoke(ctx, plugin.UpgradeIdentity, request, &response); diags != nil {
		return cty.NilVal, diags
	}
	d := c.decoder(plugin.UpgradeIdentity, response.GetDiagnostics())
	v := d.identity(response.GetUpgradedIdentity(), c.schema.Identities[req.Type])
	return v, d.diags
}

// Read implements [provider.Provider].
func (c *Client) Read(ctx context.Context, req provider.ReadRequest) provider.ReadResponse {
	ty, diags := c.typeOf(kindManaged, c.schema.Managed, req.Type)
	if diags != nil {
		return provider.ReadResponse{Diagnostics: diags}
	}
	var e encoder
	identity := c.schema.Identities[req.Type]
	request := &pluginv1.ReadRequest{
		TypeName:           req.Type,
		CurrentState:       e.value(req.Current, ty),
		Private:            req.Private,
		ProviderMeta:       e.meta(req.Meta, c.schema.Meta),
		ClientCapabilities: capabilities(req.DeferralAllowed),
		CurrentIdentity:    e.identity(req.Identity, identity),
	}
	if e.err != nil {
		return provider.ReadResponse{Diagnostics: c.unsendable(plugin.Read, e.err)}
	}
	var response pluginv1.ReadResponse
	if diags := c.invoke(ctx, plugin.Read, request, &response); diags != nil {
		return provider.ReadResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.Read, response.GetDiagnostics())
	return finish(d, provider.ReadResponse{
		New:      d.value(anObject, response.GetNewState(), ty),
		Private:  response.GetPrivate(),
		Identity: d.identity(response.GetNewIdentity(), identity),
		Deferred: d.deferred(response.GetDeferred(), req.DeferralAllowed),
	}, func(r *provider.ReadResponse) *provider.Diagnostics { return &r.Diagnostics })
}

// finish puts the diagnostics of a decoder into a response, all of which must have been decoded.
func finish[R any](d *decoder, response R, diags func(*R) *provider.Diagnostics) R {
	*diags(&response) = d.diags
	return response
}

// Plan implements [provider.Provider].
func (c *Client) Plan(ctx context.Context, req provider.PlanRequest) provider.PlanResponse {
	ty, diags := c.typeOf(kindManaged, c.schema.Managed, req.Type)
	if diags != nil {
		return provider.PlanResponse{Diagnostics: diags}
	}
	var e encoder
	identity := c.schema.Identities[req.Type]
	request := &pluginv1.PlanRequest{
		TypeName:           req.Type,
		PriorState:         e.value(req.Prior, ty),
		ProposedNewState:   e.value(req.Proposed, ty),
		Config:             e.value(req.Config, ty),
		PriorPrivate:       req.PriorPrivate,
		PlannedPrivate:     req.PlannedPrivate,
		ProviderMeta:       e.meta(req.Meta, c.schema.Meta),
		ClientCapabilities: capabilities(req.DeferralAllowed),
		PriorIdentity:      e.identity(req.PriorIdentity, identity),
	}
	if e.err != nil {
		return provider.PlanResponse{Diagnostics: c.unsendable(plugin.Plan, e.err)}
	}
	var response pluginv1.PlanResponse
	if diags := c.invoke(ctx, plugin.Plan, request, &response); diags != nil {
		return provider.PlanResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.Plan, response.GetDiagnostics())
	return finish(d, provider.PlanResponse{
		Planned:          d.value(anObject, response.GetPlannedState(), ty),
		RequiresReplace:  d.paths(aPath, response.GetRequiresReplace()),
		Private:          response.GetPlannedPrivate(),
		LegacyTypeSystem: response.GetLegacyTypeSystem(),
		Identity:         d.identity(response.GetPlannedIdentity(), identity),
		Deferred:         d.deferred(response.GetDeferred(), req.DeferralAllowed),
	}, func(r *provider.PlanResponse) *provider.Diagnostics { return &r.Diagnostics })
}

// Apply implements [provider.Provider].
func (c *Client) Apply(ctx context.Context, req provider.ApplyRequest) provider.ApplyResponse {
	ty, diags := c.typeOf(kindManaged, c.schema.Managed, req.Type)
	if diags != nil {
		return provider.ApplyResponse{Diagnostics: diags}
	}
	var e encoder
	identity := c.schema.Identities[req.Type]
	request := &pluginv1.ApplyRequest{
		TypeName:        req.Type,
		PriorState:      e.value(req.Prior, ty),
		PlannedState:    e.value(req.Planned, ty),
		Config:          e.value(req.Config, ty),
		PlannedPrivate:  req.Private,
		ProviderMeta:    e.meta(req.Meta, c.schema.Meta),
		PlannedIdentity: e.identity(req.PlannedIdentity, identity),
	}
	if e.err != nil {
		return provider.ApplyResponse{Diagnostics: c.unsendable(plugin.Apply, e.err)}
	}
	var response pluginv1.ApplyResponse
	if diags := c.invoke(ctx, plugin.Apply, request, &response); diags != nil {
		return provider.ApplyResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.Apply, response.GetDiagnostics())
	return finish(d, provider.ApplyResponse{
		New:              d.value(anObject, response.GetNewState(), ty),
		Private:          response.GetPrivate(),
		LegacyTypeSystem: response.GetLegacyTypeSystem(),
		Identity:         d.identity(response.GetNewIdentity(), identity),
	}, func(r *provider.ApplyResponse) *provider.Diagnostics { return &r.Diagnostics })
}

// Import implements [provider.Provider].
func (c *Client) Import(ctx context.Context, req provider.ImportRequest) provider.ImportResponse {
	var e encoder
	request := &pluginv1.ImportRequest{
		TypeName:           req.Type,
		Id:                 req.ID,
		ClientCapabilities: capabilities(req.DeferralAllowed),
		Identity:           e.identity(req.Identity, c.schema.Identities[req.Type]),
	}
	if e.err != nil {
		return provider.ImportResponse{Diagnostics: c.unsendable(plugin.Import, e.err)}
	}
	var response pluginv1.ImportResponse
	if diags := c.invoke(ctx, plugin.Import, request, &response); diags != nil {
		return provider.ImportResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.Import, response.GetDiagnostics())
	decoded := provider.ImportResponse{Deferred: d.deferred(response.GetDeferred(), req.DeferralAllowed)}
	for _, one := range response.GetImportedResources() {
		ty, diags := c.typeOf(kindManaged, c.schema.Managed, one.GetTypeName())
		if diags != nil {
			d.diags = append(d.diags, diags...)
			continue
		}
		decoded.Objects = append(decoded.Objects, provider.ImportedObject{
			Type:     one.GetTypeName(),
			Object:   d.value(anObject, one.GetState(), ty),
			Private:  one.GetPrivate(),
			Identity: d.identity(one.GetIdentity(), c.schema.Identities[one.GetTypeName()]),
		})
	}
	decoded.Diagnostics = d.diags
	return decoded
}

// Move implements [provider.Provider].
func (c *Client) Move(ctx context.Context, req provider.MoveRequest) provider.MoveResponse {
	ty, diags := c.typeOf(kindManaged, c.schema.Managed, req.TargetType)
	if diags != nil {
		return provider.MoveResponse{Diagnostics: diags}
	}
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
	if diags := c.invoke(ctx, plugin.Move, request, &response); diags != nil {
		return provider.MoveResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.Move, response.GetDiagnostics())
	return finish(d, provider.MoveResponse{
		Object:   d.value(anObject, response.GetTargetState(), ty),
		Private:  response.GetTargetPrivate(),
		Identity: d.identity(response.GetTargetIdentity(), c.schema.Identities[req.TargetType]),
	}, func(r *provider.MoveResponse) *provider.Diagnostics { return &r.Diagnostics })
}
