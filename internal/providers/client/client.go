// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"

	"github.com/zclconf/go-cty/cty"

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
	x := c.exchange(plugin.ValidateProvider)
	request := &pluginv1.ValidateProviderRequest{Config: x.encode(config, configType(c.schema.Config))}
	x.invoke(ctx, request, &pluginv1.ValidateProviderResponse{})
	return x.end()
}

// Configure implements [provider.Provider].
func (c *Client) Configure(ctx context.Context, req provider.ConfigureRequest) provider.Diagnostics {
	x := c.exchange(plugin.Configure)
	request := &pluginv1.ConfigureRequest{
		TerraformVersion:   req.TerraformVersion,
		Config:             x.encode(req.Config, configType(c.schema.Config)),
		ClientCapabilities: capabilities(req.DeferralAllowed),
	}
	x.invoke(ctx, request, &pluginv1.DiagnosticsResponse{})
	return x.end()
}

// capabilities returns the capabilities of an engine.
func capabilities(deferralAllowed bool) *pluginv1.ClientCapabilities {
	return &pluginv1.ClientCapabilities{
		DeferralAllowed:            deferralAllowed,
		WriteOnlyAttributesAllowed: true,
		StorePlannedPrivate:        true,
		ComputedBlocksAllowed:      true,
	}
}

// Stop implements [provider.Provider].
func (c *Client) Stop(ctx context.Context) error {
	var response pluginv1.StopResponse
	if err := c.process.Invoke(ctx, plugin.Stop, &pluginv1.Empty{}, &response); err != nil {
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
func (c *Client) validate(ctx context.Context, method plugin.Method, of kind, typeName string, config cty.Value) provider.Diagnostics {
	x := c.exchange(method)
	request := &pluginv1.ValidateRequest{TypeName: typeName, Config: x.encode(config, x.typeOf(of, typeName))}
	if method == plugin.ValidateResource {
		request.ClientCapabilities = capabilities(false)
	}
	x.invoke(ctx, request, &pluginv1.DiagnosticsResponse{})
	return x.end()
}

// ValidateResource implements [provider.Provider].
func (c *Client) ValidateResource(
	ctx context.Context, mode stackaddrs.ResourceMode, typeName string, config cty.Value,
) provider.Diagnostics {
	switch mode {
	case stackaddrs.DataResource:
		return c.validate(ctx, plugin.ValidateData, kindData, typeName, config)
	case stackaddrs.EphemeralResource:
		return c.validate(ctx, plugin.ValidateEphemeral, kindEphemeral, typeName, config)
	default:
		return c.validate(ctx, plugin.ValidateResource, kindManaged, typeName, config)
	}
}

// kind is a kind of types that have schemas.
type kind struct {
	name    string // for messages
	schemas func(*schema.Provider) map[string]*schema.Schema
}

var (
	kindManaged   = kind{"resource type", func(p *schema.Provider) map[string]*schema.Schema { return p.Managed }}
	kindData      = kind{"data source", func(p *schema.Provider) map[string]*schema.Schema { return p.Data }}
	kindEphemeral = kind{"ephemeral resource type", func(p *schema.Provider) map[string]*schema.Schema { return p.Ephemeral }}
	kindAction    = kind{"action", func(p *schema.Provider) map[string]*schema.Schema { return p.Actions }}
	kindList      = kind{"list resource type", func(p *schema.Provider) map[string]*schema.Schema { return p.List }}
)

// configType returns the type of the object that a configuration block becomes, which is that of
// the objects of a resource, too.
func configType(s *schema.Schema) cty.Type {
	if s == nil {
		return cty.EmptyObject
	}
	return s.Block.Type()
}
