// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"time"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// ReadData implements [provider.Provider].
func (c *Client) ReadData(ctx context.Context, req provider.ReadDataRequest) provider.ReadDataResponse {
	ty, diags := c.typeOf(kindData, c.schema.Data, req.Type)
	if diags != nil {
		return provider.ReadDataResponse{Diagnostics: diags}
	}
	var e encoder
	request := &pluginv1.ReadDataRequest{
		TypeName:           req.Type,
		Config:             e.value(req.Config, ty),
		ProviderMeta:       e.meta(req.Meta, c.schema.Meta),
		ClientCapabilities: capabilities(req.DeferralAllowed),
	}
	if e.err != nil {
		return provider.ReadDataResponse{Diagnostics: c.unsendable(plugin.ReadData, e.err)}
	}
	var response pluginv1.ReadDataResponse
	if diags := c.invoke(ctx, plugin.ReadData, request, &response); diags != nil {
		return provider.ReadDataResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.ReadData, response.GetDiagnostics())
	return finish(d, provider.ReadDataResponse{
		State:    d.value(anObject, response.GetState(), ty),
		Deferred: d.deferred(response.GetDeferred(), req.DeferralAllowed),
	}, func(r *provider.ReadDataResponse) *provider.Diagnostics { return &r.Diagnostics })
}

// OpenEphemeral implements [provider.Provider].
func (c *Client) OpenEphemeral(ctx context.Context, req provider.OpenEphemeralRequest) provider.OpenEphemeralResponse {
	ty, diags := c.typeOf(kindEphemeral, c.schema.Ephemeral, req.Type)
	if diags != nil {
		return provider.OpenEphemeralResponse{Diagnostics: diags}
	}
	var e encoder
	request := &pluginv1.OpenEphemeralRequest{
		TypeName:           req.Type,
		Config:             e.value(req.Config, ty),
		ClientCapabilities: &pluginv1.ClientCapabilities{DeferralAllowed: req.DeferralAllowed},
	}
	if e.err != nil {
		return provider.OpenEphemeralResponse{Diagnostics: c.unsendable(plugin.OpenEphemeral, e.err)}
	}
	var response pluginv1.OpenEphemeralResponse
	if diags := c.invoke(ctx, plugin.OpenEphemeral, request, &response); diags != nil {
		return provider.OpenEphemeralResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.OpenEphemeral, response.GetDiagnostics())
	return finish(d, provider.OpenEphemeralResponse{
		Result:   d.value(anObject, response.GetResult(), ty),
		RenewAt:  d.time(response.GetRenewAt()),
		Private:  response.GetPrivate(),
		Deferred: d.deferred(response.GetDeferred(), req.DeferralAllowed),
	}, func(r *provider.OpenEphemeralResponse) *provider.Diagnostics { return &r.Diagnostics })
}

// time decodes a time, zero if it is absent.
func (d *decoder) time(encoded *timestamppb.Timestamp) time.Time {
	if encoded == nil {
		return time.Time{}
	}
	if err := encoded.CheckValid(); err != nil {
		d.invalid("a time", err)
		return time.Time{}
	}
	return encoded.AsTime()
}

// RenewEphemeral implements [provider.Provider].
func (c *Client) RenewEphemeral(ctx context.Context, req provider.EphemeralRequest) provider.RenewEphemeralResponse {
	var response pluginv1.RenewEphemeralResponse
	if diags := c.invoke(ctx, plugin.RenewEphemeral,
		&pluginv1.EphemeralRequest{TypeName: req.Type, Private: req.Private}, &response); diags != nil {
		return provider.RenewEphemeralResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.RenewEphemeral, response.GetDiagnostics())
	return finish(d, provider.RenewEphemeralResponse{
		RenewAt: d.time(response.GetRenewAt()),
		Private: response.GetPrivate(),
	}, func(r *provider.RenewEphemeralResponse) *provider.Diagnostics { return &r.Diagnostics })
}

// CloseEphemeral implements [provider.Provider].
func (c *Client) CloseEphemeral(ctx context.Context, req provider.EphemeralRequest) provider.Diagnostics {
	var response pluginv1.DiagnosticsResponse
	if diags := c.invoke(ctx, plugin.CloseEphemeral,
		&pluginv1.EphemeralRequest{TypeName: req.Type, Private: req.Private}, &response); diags != nil {
		return diags
	}
	return decodeDiagnostics(response.GetDiagnostics())
}

// ValidateAction implements [provider.Provider].
func (c *Client) ValidateAction(ctx context.Context, typeName string, config cty.Value) provider.Diagnostics {
	return c.validate(ctx, plugin.ValidateAction, kindAction, c.schema.Actions, typeName, config)
}

// PlanAction implements [provider.Provider].
func (c *Client) PlanAction(ctx context.Context, req provider.PlanActionRequest) provider.PlanActionResponse {
	request, diags := c.actionRequest(plugin.PlanAction, req.Type, req.Config)
	if diags != nil {
		return provider.PlanActionResponse{Diagnostics: diags}
	}
	request.ClientCapabilities = capabilities(req.DeferralAllowed)
	var response pluginv1.PlanActionResponse
	if diags := c.invoke(ctx, plugin.PlanAction, request, &response); diags != nil {
		return provider.PlanActionResponse{Diagnostics: diags}
	}
	d := c.decoder(plugin.PlanAction, response.GetDiagnostics())
	return finish(d, provider.PlanActionResponse{
		Deferred: d.deferred(response.GetDeferred(), req.DeferralAllowed),
	}, func(r *provider.PlanActionResponse) *provider.Diagnostics { return &r.Diagnostics })
}

func (c *Client) actionRequest(method plugin.Method, typeName string, config cty.Value) (*pluginv1.ActionRequest, provider.Diagnostics) {
	ty, diags := c.typeOf(kindAction, c.schema.Actions, typeName)
	if diags != nil {
		return nil, diags
	}
	var e encoder
	request := &pluginv1.ActionRequest{ActionType: typeName, Config: e.value(config, ty), ClientCapabilities: capabilities(false)}
	if e.err != nil {
		return nil, c.unsendable(method, e.err)
	}
	return request, nil
}

// InvokeAction implements [provider.Provider].
func (c *Client) InvokeAction(ctx context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
	request, diags := c.actionRequest(plugin.InvokeAction, req.Type, req.Config)
	if diags != nil {
		return diags
	}
	var completed *pluginv1.InvokeActionEvent_Completed
	newEvent := func() proto.Message { return &pluginv1.InvokeActionEvent{} }
	err := c.process.InvokeStream(ctx, plugin.InvokeAction, request, newEvent, func(m proto.Message) bool {
		event := m.(*pluginv1.InvokeActionEvent)
		if progress := event.GetProgress(); progress != nil && req.Progress != nil {
			req.Progress(progress.GetMessage())
		}
		completed = event.GetCompleted()
		return completed != nil
	})
	if err != nil {
		return c.failed(ctx, plugin.InvokeAction, err)
	}
	d := c.decoder(plugin.InvokeAction, completed.GetDiagnostics())
	if completed == nil {
		d.invalid("events", errors.New("none of them says that the action has ended"))
	}
	return d.diags
}
