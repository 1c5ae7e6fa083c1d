// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package builtin is the provider that is part of the engine: terraform.io/builtin/terraform. It
// works in this process.
package builtin

import (
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Address is the address of the provider.
var Address = stackaddrs.BuiltinProvider

// Schema returns the schemas of the provider. The caller may change them.
func Schema() *schema.Provider {
	return &schema.Provider{
		Functions:    signatures(),
		Capabilities: schema.Capabilities{MoveState: true},
		Config:       newSchema(),
		Managed: map[string]*schema.Schema{"terraform_data": newSchema(
			schema.Attribute{Name: "id", Type: cty.String, Computed: true},
			schema.Attribute{Name: "input", Type: cty.DynamicPseudoType, Optional: true},
			schema.Attribute{Name: "output", Type: cty.DynamicPseudoType, Computed: true},
			schema.Attribute{Name: "triggers_replace", Type: cty.DynamicPseudoType, Optional: true},
		)},
		Data: map[string]*schema.Schema{"terraform_remote_state": newSchema(
			schema.Attribute{
				Name:        "backend",
				Type:        cty.String,
				Required:    true,
				Description: markdown("Which backend has the state, such as `s3` or `local`."),
			},
			schema.Attribute{
				Name: "config", Type: cty.DynamicPseudoType, Optional: true,
				Description: markdown("The arguments of the backend, as they are in a `backend` block."),
			},
			schema.Attribute{
				Name: "defaults", Type: cty.DynamicPseudoType, Optional: true,
				Description: markdown("Values for outputs that the state does not have."),
			},
			schema.Attribute{
				Name: "outputs", Type: cty.DynamicPseudoType, Computed: true,
				Description: markdown("The output values of the root module in the state, as an object."),
			},
			schema.Attribute{
				Name: "workspace", Type: cty.String, Optional: true,
				Description: markdown("The workspace whose state is read, for backends with several."),
			},
		)},
	}
}

func markdown(text string) schema.Text { return schema.Text{Text: text, Markdown: true} }

func newSchema(attributes ...schema.Attribute) *schema.Schema {
	block := &schema.Block{}
	for _, attr := range attributes {
		block.Attributes = append(block.Attributes, &attr)
	}
	slices.SortFunc(block.Attributes, func(a, b *schema.Attribute) int { return strings.Compare(a.Name, b.Name) })
	return &schema.Schema{Block: block}
}
