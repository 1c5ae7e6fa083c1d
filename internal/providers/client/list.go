// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
)

// ValidateList implements [provider.Provider].
func (c *Client) ValidateList(ctx context.Context, req provider.ValidateListRequest) provider.Diagnostics {
	x := c.exchange(plugin.ValidateList)
	request := &pluginv1.ValidateListRequest{
		TypeName:              req.Type,
		Config:                x.encode(req.Config, x.typeOf(kindList, req.Type)),
		IncludeResourceObject: x.encode(req.IncludeObject, cty.Bool),
		Limit:                 x.encode(req.Limit, cty.Number),
	}
	x.invoke(ctx, request, &pluginv1.DiagnosticsResponse{})
	return x.end()
}

// List implements [provider.Provider]. It reads no further than to the limit, or to an error.
func (c *Client) List(ctx context.Context, req provider.ListRequest) provider.ListResponse {
	x := c.exchange(plugin.List)
	request := &pluginv1.ListRequest{
		TypeName:              req.Type,
		Config:                x.encode(req.Config, x.typeOf(kindList, req.Type)),
		IncludeResourceObject: req.IncludeObject,
		Limit:                 req.Limit,
	}
	ty := x.typeOf(kindManaged, req.Type)
	if x.failed {
		return provider.ListResponse{Diagnostics: x.end()}
	}
	var response provider.ListResponse
	newEvent := func() proto.Message { return &pluginv1.ListEvent{} }
	err := c.process.InvokeStream(ctx, x.method, request, newEvent, func(m proto.Message) bool {
		if object := x.listed(m.(*pluginv1.ListEvent), req.Type, ty); object != nil {
			response.Objects = append(response.Objects, *object)
		}
		return int64(len(response.Objects)) >= req.Limit || x.diags.HasErrors()
	})
	if err != nil {
		x.diags = append(x.diags, c.failed(ctx, x.method, err)...)
	}
	response.Diagnostics = x.end()
	return response
}

// listed decodes one object that was found; nil if there is none.
func (x *exchange) listed(event *pluginv1.ListEvent, typeName string, ty cty.Type) *provider.ListedObject {
	said := decodeDiagnostics(event.GetDiagnostics())
	x.diags = append(x.diags, said...)
	if said.HasErrors() {
		return nil
	}
	object := provider.ListedObject{
		Identity:    x.identity(event.GetIdentity(), typeName),
		DisplayName: event.GetDisplayName(),
		Object:      x.object(event.GetResourceObject(), ty),
	}
	switch {
	case x.diags.HasErrors():
		return nil
	case object.Identity == cty.NilVal && len(said) > 0:
		return nil // it only says something
	case object.Identity == cty.NilVal || object.Identity.IsNull() || !object.Identity.IsWhollyKnown():
		x.invalid("an object", errors.New("it has no identity"))
		return nil
	}
	return &object
}
