// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Provisioners are the schemas of provisioner blocks, by type.
var Provisioners = map[string]*schema.Block{
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

func block(attributes ...*schema.Attribute) *schema.Block {
	return &schema.Block{Attributes: attributes}
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

func (m *moduleChecker) provisioners(r *module.Resource) {
	m.provisionersOf(r.Provisioners, r.Connection, place{repeat: r.Repeat, own: r, self: m.self(r)})
}

// removed checks the provisioners of removed resources, of whose objects nothing is known here.
func (m *moduleChecker) removed(r *module.Removed) {
	m.provisionersOf(r.Provisioners, r.Connection, place{repeat: module.Repeat{Count: &module.Expr{}, ForEach: &module.Expr{}}, self: cty.DynamicVal})
}

// provisionersOf checks provisioners, and the connection that they share.
func (m *moduleChecker) provisionersOf(all []*module.Provisioner, shared *module.Connection, at place) {
	destroyed := false
	for _, p := range all {
		m.provisioner(p, at)
		m.reachable(p, shared)
		destroyed = destroyed || p.Destroy
	}
	if destroyed {
		at = atDestroy(at)
	}
	m.connection(shared, at)
}

// atDestroy returns a place where only the object that is destroyed is known.
func atDestroy(at place) place {
	at.only = func(kind refs.Kind) bool {
		switch kind {
		case refs.Self, refs.CountIndex, refs.EachKey, refs.PathAttr, refs.TerraformOf:
			return true
		default:
			return false
		}
	}
	at.why = "When an object is destroyed, all else may be gone. What is done then can refer to self, count.index, each.key, path and terraform only."
	return at
}

func (m *moduleChecker) provisioner(p *module.Provisioner, at place) {
	if p.Destroy {
		at = atDestroy(at)
	}
	if schema := Provisioners[p.Type]; schema != nil && m.references(p.Refs, at) {
		args, diags := m.decoder(schema).Decode(m.ctx, p.Body, m.scope(p.Refs, at))
		if m.add(diags) {
			m.alternatives(p, args)
		}
	}
	m.connection(p.Connection, at)
}

// oneOf are arguments of provisioners of which there must be one, by type.
var oneOf = map[string][]string{"remote-exec": {"inline", "script", "scripts"}, "file": {"source", "content"}}

// alternatives checks that there is one of several arguments.
func (m *moduleChecker) alternatives(p *module.Provisioner, args cty.Value) {
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
		m.problem(p.Range, "Invalid provisioner arguments", fmt.Sprintf("The provisioner %s has exactly one of the arguments %s.", p.Type, strings.Join(names, ", ")))
	}
}

var hostSchema = &hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "host"}}}

// reachable checks that a provisioner which needs a connection has one, with a host.
func (m *moduleChecker) reachable(p *module.Provisioner, shared *module.Connection) {
	own := p.Connection
	switch {
	case oneOf[p.Type] == nil:
	case own == nil && shared == nil:
		m.problem(p.Range, "Missing connection", fmt.Sprintf("The provisioner %s works on another machine. Say which one by a connection block, in it or in the resource.", p.Type))
	case !hasHost(own) && !hasHost(shared):
		at := p.Range
		if own != nil {
			at = own.Range
		}
		m.problem(at, "Missing required argument", "The connection has no argument \"host\", here or in the block of the resource.")
	}
}

func hasHost(c *module.Connection) bool {
	if c == nil {
		return false
	}
	content, _, _ := c.Body.PartialContent(hostSchema) //nolint:errcheck // decoding the body reports its errors
	return content.Attributes["host"] != nil
}

func (m *moduleChecker) connection(c *module.Connection, at place) {
	if c == nil || !m.references(c.Refs, at) {
		return
	}
	_, diags := m.decoder(Connection).Decode(m.ctx, c.Body, m.scope(c.Refs, at))
	m.add(diags)
}
