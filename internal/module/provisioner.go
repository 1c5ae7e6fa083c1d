// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

var provisionerSchema = &hcl.BodySchema{
	Attributes: schemaOf("when", "on_failure").Attributes,
	Blocks:     []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "connection"}, {Type: "lifecycle"}},
}

// removedProvisioners were part of the language.
var removedProvisioners = map[string]bool{"chef": true, "habitat": true, "puppet": true, "salt-masterless": true}

var knownProvisioners = map[string]bool{"local-exec": true, "remote-exec": true, "file": true}

func (d *decoder) provisioner(block *hcl.Block) *Provisioner {
	p := &Provisioner{Type: block.Labels[0], Range: block.DefRange}
	switch {
	case removedProvisioners[p.Type]:
		d.problem(block.LabelRanges[0], "Removed provisioner type",
			fmt.Sprintf("The provisioner %q is not part of the language any more.", p.Type))
	case !knownProvisioners[p.Type]:
		d.unsupported(block.LabelRanges[0], fmt.Sprintf("The provisioner %q is a plugin of its own. Only local-exec, remote-exec and file are "+
			"here.", p.Type))
	}
	content, rest, diags := block.Body.PartialContent(provisionerSchema)
	d.add(diags)
	p.Destroy = d.keyword(content, "when", "create", "destroy")
	p.Continue = d.keyword(content, "on_failure", "fail", "continue")
	p.Body, p.Refs = rest, d.bodyRefs(rest, metaArguments["provisioner"])
	var escaped *hcl.Block
	for _, nested := range content.Blocks {
		switch {
		case nested.Type == "connection" && p.Connection == nil:
			p.Connection = d.connection(nested)
		case nested.Type == "_" && escaped == nil:
			escaped = nested
			p.Body = hcl.MergeBodies([]hcl.Body{rest, nested.Body})
			p.Refs = append(p.Refs, d.bodyRefs(nested.Body, nil)...)
		case nested.Type == "lifecycle":
			d.problem(nested.TypeRange, "Reserved block type", "Blocks of type \"lifecycle\" in provisioner blocks are reserved for later "+
				"versions of the language.")
		case nested.Type == "connection":
			d.problem(nested.DefRange, "Duplicate nested block", "There can be one block of type \"connection\" here.")
		default:
			d.twice(nested, escaped)
		}
	}
	return p
}

// keyword reports whether an argument is the second of two keywords. The first is the default.
func (d *decoder) keyword(content *hcl.BodyContent, name, usual, other string) bool {
	attr := content.Attributes[name]
	if attr == nil {
		return false
	}
	word := hcl.ExprAsKeyword(attr.Expr)
	if text, ok := quoted(attr.Expr); ok {
		word = text
		d.warn(attr.Expr.Range(), "Quoted keyword", "Keywords are not written in quotes. The quotes can be left out.")
	}
	switch word {
	case other:
		return true
	case usual:
	default:
		d.problem(attr.Expr.Range(), "Invalid keyword", fmt.Sprintf("The argument %q is %s or %s, without quotes.", name, usual, other))
	}
	return false
}

var connectionTypeSchema = schemaOf("type")

func (d *decoder) connection(block *hcl.Block) *Connection {
	content, _, _ := block.Body.PartialContent(connectionTypeSchema) //nolint:errcheck // the schema of connections decides on the errors
	if attr := content.Attributes["type"]; attr != nil && constantText(attr.Expr) == "winrm" {
		d.unsupported(attr.Expr.Range(), "The native engine has no connections of type winrm, only those of type ssh. An engine with a binary "+
			"has them: choose terraform or tofu.")
	}
	return &Connection{Body: block.Body, Refs: d.bodyRefs(block.Body, nil), Range: block.DefRange}
}
