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
	"github.com/cairnstacks/cairn/internal/providers/schema"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Client is the provider in a process. Made by [New]. Safe for concurrent use.
type Client struct {
	address stackaddrs.Provider
	process *plugin.Process
	schema  *schema.Provider
}

var _ provider.Provider = (*Client)(nil)

// New returns a client for a process and the schema that it has. Ending the process is the caller's
// matter.
func New(address stackaddrs.Provider, process *plugin.Process, schema *schema.Provider) *Client {
	return &Client{address: address, process: process, schema: schema}
}

// Schema implements [provider.Provider].
func (c *Client) Schema() *schema.Provider { return c.schema }

// invoke calls a method that takes as long as it takes.
func (c *Client) invoke(ctx context.Context, method plugin.Method, request, response proto.Message) provider.Diagnostics {
	if err := c.process.Invoke(ctx, 0, method, request, response); err != nil {
		return c.failed(ctx, method, err)
	}
	return nil
}

// The summaries of diagnostics.
const (
	summaryFailed      = "Provider failed"
	summaryUnsupported = "Unsupported by the provider"
	summaryCancelled   = "Request to a provider cancelled"
	summaryRequest     = "Invalid request to a provider"
	summaryAnswer      = "Invalid answer of a provider"
)

// failed returns the diagnostic for an error of [plugin.Process].
func (c *Client) failed(ctx context.Context, method plugin.Method, err error) provider.Diagnostics {
	switch {
	case errors.Is(err, plugin.ErrUnimplemented):
		return provider.Errorf(summaryUnsupported,
			"Provider %s does not have the method %s of the provider protocol. Another version of it may have it.", c.address, method.Name)
	case ctx.Err() != nil:
		return provider.Errorf(summaryCancelled, "Provider %s was asked for %s, which was given up: %s.", c.address, method.Name, err)
	default:
		return provider.Errorf(summaryFailed, "Provider %s was asked for %s. %s", c.address, method.Name, err)
	}
}

// ValidateConfig implements [provider.Provider].
func (c *Client) ValidateConfig(ctx context.Context, config cty.Value) provider.Diagnostics {
	var e encoder
	request := &pluginv1.ValidateProviderRequest{Config: e.value(config, configType(c.schema.Config))}
	if e.err != nil {
		return c.unsendable(plugin.ValidateProvider, e.err)
	}
	var response pluginv1.ValidateProviderResponse
	if diags := c.invoke(ctx, plugin.ValidateProvider, request, &response); diags != nil {
		return diags
	}
	return decodeDiagnostics(response.GetDiagnostics())
}

// Configure implements [provider.Provider].
func (c *Client) Configure(ctx context.Context, req provider.ConfigureRequest) provider.Diagnostics {
	var e encoder
	request := &pluginv1.ConfigureRequest{
		TerraformVersion:   req.TerraformVersion,
		Config:             e.value(req.Config, configType(c.schema.Config)),
		ClientCapabilities: capabilities(req.DeferralAllowed),
	}
	if e.err != nil {
		return c.unsendable(plugin.Configure, e.err)
	}
	var response pluginv1.DiagnosticsResponse
	if diags := c.invoke(ctx, plugin.Configure, request, &response); diags != nil {
		return diags
	}
	return decodeDiagnostics(response.GetDiagnostics())
}

// capabilities returns the capabilities of an engine.
func capabilities(deferralAllowed bool) *pluginv1.ClientCapabilities {
	return &pluginv1.ClientCapabilities{
		DeferralAllowed:            deferralAllowed,
		WriteOnlyAttributesAllowed: true,
		StorePlannedPrivate:        true,
	}
}

// Stop implements [provider.Provider].
func (c *Client) Stop(ctx context.Context) error {
	var response pluginv1.StopResponse
	if err := c.process.Invoke(ctx, 0, plugin.Stop, &pluginv1.Empty{}, &response); err != nil {
		return err
	}
	if said := response.GetError(); said != "" {
		return &plugin.Error{Problem: "The provider's program " + c.process.Name() + " cannot stop its work.", Said: said}
	}
	return nil
}

// Exited reports whether the process has ended, so that calls can only fail.
func (c *Client) Exited() bool { return c.process.Exited() }

// validate checks a configuration of a type with a schema.
func (c *Client) validate(
	ctx context.Context, method plugin.Method, kind string, schemas map[string]*schema.Schema, typeName string, config cty.Value,
) provider.Diagnostics {
	ty, diags := c.typeOf(kind, schemas, typeName)
	if diags != nil {
		return diags
	}
	var e encoder
	request := &pluginv1.ValidateRequest{TypeName: typeName, Config: e.value(config, ty)}
	if method == plugin.ValidateResource {
		request.ClientCapabilities = capabilities(false)
	}
	if e.err != nil {
		return c.unsendable(method, e.err)
	}
	var response pluginv1.DiagnosticsResponse
	if diags := c.invoke(ctx, method, request, &response); diags != nil {
		return diags
	}
	return decodeDiagnostics(response.GetDiagnostics())
}

// ValidateResource implements [provider.Provider].
func (c *Client) ValidateResource(
	ctx context.Context, mode stackaddrs.ResourceMode, typeName string, config cty.Value,
) provider.Diagnostics {
	switch mode {
	case stackaddrs.DataResource:
		return c.validate(ctx, plugin.ValidateData, kindData, c.schema.Data, typeName, config)
	case stackaddrs.EphemeralResource:
		return c.validate(ctx, plugin.ValidateEphemeral, kindEphemeral, c.schema.Ephemeral, typeName, config)
	default:
		return c.validate(ctx, plugin.ValidateResource, kindManaged, c.schema.Managed, typeName, config)
	}
}

// The kinds of types that have schemas.
const (
	kindManaged   = "resource type"
	kindData      = "data source"
	kindEphemeral = "ephemeral resource type"
	kindAction    = "action"
)

// typeOf returns the type of the values of a type with a schema.
func (c *Client) typeOf(kind string, schemas map[string]*schema.Schema, name string) (cty.Type, provider.Diagnostics) {
	found := schemas[name]
	if found == nil {
		return cty.NilType, provider.Errorf(summaryUnsupported, "Provider %s has no %s %q.", c.address, kind, name)
	}
	return configType(found), nil
}

// configType returns the type of the object that a configuration block becomes, which is that of
// the objects of a resource, too.
func configType(s *schema.Schema) cty.Type {
	if s == nil {
		return cty.EmptyObject
	}
	return s.Block.Type()
}
