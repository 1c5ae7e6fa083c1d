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
	x := c.exchange(plugin.ReadData)
	ty := x.typeOf(kindData, req.Type)
	request := &pluginv1.ReadDataRequest{
		TypeName:           req.Type,
		Config:             x.encode(req.Config, ty),
		ProviderMeta:       x.encodeMeta(req.Meta),
		ClientCapabilities: capabilities(req.DeferralAllowed),
	}
	var response pluginv1.ReadDataResponse
	x.invoke(ctx, request, &response)
	return provider.ReadDataResponse{
		State:       x.object(response.GetState(), ty),
		Deferred:    x.deferred(response.GetDeferred(), req.DeferralAllowed),
		Diagnostics: x.end(),
	}
}

// OpenEphemeral implements [provider.Provider].
func (c *Client) OpenEphemeral(ctx context.Context, req provider.OpenEphemeralRequest) provider.OpenEphemeralResponse {
	x := c.exchange(plugin.OpenEphemeral)
	ty := x.typeOf(kindEphemeral, req.Type)
	request := &pluginv1.OpenEphemeralRequest{
		TypeName:           req.Type,
		Config:             x.encode(req.Config, ty),
		ClientCapabilities: &pluginv1.ClientCapabilities{DeferralAllowed: req.DeferralAllowed},
	}
	var response pluginv1.OpenEphemeralResponse
	x.invoke(ctx, request, &response)
	return provider.OpenEphemeralResponse{
		Result:      x.object(response.GetResult(), ty),
		RenewAt:     x.time(response.GetRenewAt()),
		Private:     response.GetPrivate(),
		Deferred:    x.deferred(response.GetDeferred(), req.DeferralAllowed),
		Diagnostics: x.end(),
	}
}

// time decodes a time, zero if it is absent.
func (x *exchange) time(encoded *timestamppb.Timestamp) time.Time {
	if encoded == nil {
		return time.Time{}
	}
	if err := encoded.CheckValid(); err != nil {
		x.invalid("a time", err)
		return time.Time{}
	}
	return encoded.AsTime()
}

// RenewEphemeral implements [provider.Provider].
func (c *Client) RenewEphemeral(ctx context.Context, req provider.EphemeralRequest) provider.RenewEphemeralResponse {
	x := c.exchange(plugin.RenewEphemeral)
	var response pluginv1.RenewEphemeralResponse
	x.invoke(ctx, &pluginv1.EphemeralRequest{TypeName: req.Type, Private: req.Private}, &response)
	return provider.RenewEphemeralResponse{
		RenewAt:     x.time(response.GetRenewAt()),
		Private:     response.GetPrivate(),
		Diagnostics: x.end(),
	}
}

// CloseEphemeral implements [provider.Provider].
func (c *Client) CloseEphemeral(ctx context.Context, req provider.EphemeralRequest) provider.Diagnostics {
	x := c.exchange(plugin.CloseEphemeral)
	x.invoke(ctx, &pluginv1.EphemeralRequest{TypeName: req.Type, Private: req.Private}, &pluginv1.DiagnosticsResponse{})
	return x.end()
}

// ValidateAction implements [provider.Provider].
func (c *Client) ValidateAction(ctx context.Context, typeName string, config cty.Value) provider.Diagnostics {
	return c.validate(ctx, plugin.ValidateAction, kindAction, typeName, config)
}

// PlanAction implements [provider.Provider].
func (c *Client) PlanAction(ctx context.Context, req provider.PlanActionRequest) provider.PlanActionResponse {
	x := c.exchange(plugin.PlanAction)
	var response pluginv1.PlanActionResponse
	x.invoke(ctx, x.action(req.Type, req.Config, req.DeferralAllowed), &response)
	return provider.PlanActionResponse{
		Deferred:    x.deferred(response.GetDeferred(), req.DeferralAllowed),
		Diagnostics: x.end(),
	}
}

func (x *exchange) action(typeName string, config cty.Value, deferralAllowed bool) *pluginv1.ActionRequest {
	return &pluginv1.ActionRequest{
		ActionType: typeName, Config: x.encode(config, x.typeOf(kindAction, typeName)), ClientCapabilities: capabilities(deferralAllowed),
	}
}

// InvokeAction implements [provider.Provider].
func (c *Client) InvokeAction(ctx context.Context, req provider.InvokeActionRequest) provider.Diagnostics {
	x := c.exchange(plugin.InvokeAction)
	request := x.action(req.Type, req.Config, false)
	if x.failed {
		return x.end()
	}
	var completed *pluginv1.InvokeActionEvent_Completed
	newEvent := func() proto.Message { return &pluginv1.InvokeActionEvent{} }
	err := c.process.InvokeStream(ctx, x.method, request, newEvent, func(m proto.Message) bool {
		event := m.(*pluginv1.InvokeActionEvent)
		if progress := event.GetProgress(); progress != nil && req.Progress != nil {
			req.Progress(progress.GetMessage())
		}
		completed = event.GetCompleted()
		return completed != nil
	})
	if err != nil {
		return c.failed(ctx, x.method, err)
	}
	x.diags = decodeDiagnostics(completed.GetDiagnostics())
	if completed == nil {
		x.invalid("events", errors.New("none of them says that the action has ended"))
	}
	return x.end()
}
