// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"context"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Provisioners are the schemas of provisioner blocks, by type.
var Provisioners = map[string]*schema.Schema{
	"local-exec": block(
		required("command", cty.String), optional("interpreter", cty.List(cty.String)), optional("working_dir", cty.String),
		optional("environment", cty.Map(cty.String)), optional("quiet", cty.Bool),
	),
	"remote-exec": block(optional("inline", cty.List(cty.String)), optional("script", cty.String), optional("scripts", cty.List(cty.String))),
	"file":        block(optional("source", cty.String), optional("content", cty.String), required("destination", cty.String)),
}

// Connection is the schema of connection blocks, of whatever type the connection is.
var Connection = block(connectionArguments(`type user password host port timeout script_path private_key certificate host_key agent agent_identity
	target_platform https insecure use_ntlm cacert proxy_scheme proxy_host proxy_port proxy_user_name proxy_user_password
	bastion_user bastion_password bastion_host bastion_host_key bastion_port bastion_private_key bastion_certificate`)...)

func block(attributes ...*schema.Attribute) *schema.Schema {
	return &schema.Schema{Block: &schema.Block{Attributes: attributes}}
}

func required(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Required: true}
}

func optional(name string, ty cty.Type) *schema.Attribute {
	return &schema.Attribute{Name: name, Type: ty, Optional: true}
}

func connectionArguments(names string) []*schema.Attribute {
	var attributes []*schema.Attribute
	for _, name := range strings.Fields(names) {
		ty := cty.String
		switch name {
		case "https", "insecure", "use_ntlm", "agent":
			ty = cty.Bool
		case "port", "proxy_port", "bastion_port":
			ty = cty.Number
		}
		attributes = append(attributes, optional(name, ty))
	}
	return attributes
}

// removed checks the provisioners of removed resources, of whose objects nothing is known here.
func (c *checker) removed(ctx context.Context, m *eval.Module, r *module.Removed) {
	at := eval.Place{Repetition: eval.Repetition{Mode: eval.ByEither, Key: cty.DynamicVal, Value: cty.DynamicVal}, Self: cty.DynamicVal}
	c.provisioners(ctx, m, r.Provisioners, r.Connection, at)
}

// provisioners checks provisioners, and the connection that they share.
func (c *checker) provisioners(ctx context.Context, m *eval.Module, all []*module.Provisioner, shared *module.Connection, at eval.Place) {
	destroyed := false
	for _, p := range all {
		at.AtDestroy = p.Destroy
		c.provisioner(ctx, m, p, at)
		c.reachable(p, shared)
		destroyed = destroyed || p.Destroy
	}
	at.AtDestroy = destroyed
	c.connection(ctx, m, shared, at)
}

func (c *checker) provisioner(ctx context.Context, m *eval.Module, p *module.Provisioner, at eval.Place) {
	if block := Provisioners[p.Type]; block != nil {
		if args, ok := c.decode(ctx, m, c.Options.Types.Decoder(block), p.Body, p.Refs, at); ok {
			c.alternatives(p, args)
		}
	}
	c.connection(ctx, m, p.Connection, at)
}

// oneOf are arguments of provisioners of which there must be one, by type.
var oneOf = map[string][]string{"remote-exec": {"inline", "script", "scripts"}, "file": {"source", "content"}}

// alternatives checks that there is one of several arguments.
func (c *checker) alternatives(p *module.Provisioner, args cty.Value) {
	names := oneOf[p.Type]
	set, unknown := 0, 0
	for _, name := range names {
		value, _ := args.GetAttr(name).Unmark()
		switch {
		case !value.IsKnown():
			unknown++
		case !value.IsNull():
			set++
		}
	}
	if set > 1 || len(names) > 0 && set+unknown == 0 {
		c.problem(p.Range, "Invalid provisioner arguments", fmt.Sprintf("The provisioner %s has exactly one of the arguments %s.", p.Type,
			strings.Join(names, ", ")))
	}
}

var hostSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "host"}}}

// reachable checks that a provisioner which needs a connection has one, with a host.
func (c *checker) reachable(p *module.Provisioner, shared *module.Connection) {
	own := p.Connection
	switch {
	case oneOf[p.Type] == nil:
	case own == nil && shared == nil:
		c.problem(p.Range, "Missing connection", fmt.Sprintf("The provisioner %s works on another machine. Say which one by a connection "+
			"block, in it or in the resource.", p.Type))
	case !hasHost(own) && !hasHost(shared):
		at := p.Range
		if own != nil {
			at = own.Range
		}
		c.problem(at, "Missing required argument", "The connection has no argument \"host\", here or in the block of the resource.")
	}
}

func hasHost(c *module.Connection) bool {
	if c == nil {
		return false
	}
	content, _, _ := c.Body.PartialContent(hostSchema) //nolint:errcheck // decoding the body reports its errors
	return content.Attributes["host"] != nil
}

func (c *checker) connection(ctx context.Context, m *eval.Module, connection *module.Connection, at eval.Place) {
	if connection != nil {
		c.decode(ctx, m, c.Options.Types.Decoder(Connection), connection.Body, connection.Refs, at)
	}
}
