// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package nativetest

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Address is the address of the fake provider.
var Address = stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}

// Schema returns the schema of the fake provider:
//
//   - resources fake_thing and fake_other, with the arguments name, size (chosen by the provider
//     unless given), force (whose change replaces the object), secret (sensitive), token
//     (write-only), tags, and the attribute id. A fake_thing has an identity.
//   - data source fake_thing, with the argument name and the attribute result.
//   - ephemeral resource fake_secret, with the argument name and the attribute value.
//   - action fake_do, with the arguments name, secret (sensitive) and token (write-only).
//   - provider_meta blocks with the argument note.
func Schema() *schema.Provider {
	optional := func(name string) *schema.Attribute {
		return &schema.Attribute{Name: name, Type: cty.String, Optional: true}
	}
	computed := func(name string) *schema.Attribute {
		return &schema.Attribute{Name: name, Type: cty.String, Computed: true}
	}
	block := func(attributes ...*schema.Attribute) *schema.Schema {
		return &schema.Schema{Block: &schema.Block{Attributes: attributes}}
	}
	thing := func() *schema.Schema {
		return block(
			optional("force"), computed("id"), optional("name"),
			&schema.Attribute{Name: "secret", Type: cty.String, Optional: true, Sensitive: true},
			&schema.Attribute{Name: "size", Type: cty.Number, Optional: true, Computed: true},
			&schema.Attribute{Name: "tags", Type: cty.Map(cty.String), Optional: true},
			&schema.Attribute{Name: "token", Type: cty.String, Optional: true, WriteOnly: true},
		)
	}
	return &schema.Provider{
		Config:    block(optional("region")),
		Meta:      block(optional("note")),
		Managed:   map[string]*schema.Schema{"fake_thing": thing(), "fake_other": thing()},
		Data:      map[string]*schema.Schema{"fake_thing": block(optional("name"), computed("result"))},
		Ephemeral: map[string]*schema.Schema{"fake_secret": block(optional("name"), computed("value"))},
		Actions: map[string]*schema.Schema{"fake_do": block(
			optional("name"), &schema.Attribute{Name: "secret", Type: cty.String, Optional: true, Sensitive: true},
			&schema.Attribute{Name: "token", Type: cty.String, Optional: true, WriteOnly: true},
		)},
		Identities: map[string]*schema.Identity{
			"fake_thing": {Attributes: []*schema.IdentityAttribute{{Name: "id", Type: cty.String, RequiredForImport: true}}},
		},
		Capabilities: schema.Capabilities{MoveState: true, PlanDestroy: true},
	}
}
