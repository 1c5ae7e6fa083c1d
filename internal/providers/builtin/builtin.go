// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package builtin is the provider that is part of the engine: terraform.io/builtin/terraform. It
// works in this process.
package builtin

import (
	"slices"
	"strings"
	"sync"

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
		Managed:      map[string]*schema.Schema{dataType: dataSchema()},
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

// shared returns schemas that nobody changes, for facts about them.
var shared = sync.OnceValue(Schema)

// TypeOf returns the type of the objects of a resource type or data source; [cty.NilType] if there
// is none.
func TypeOf(mode stackaddrs.ResourceMode, name string) cty.Type {
	schemas := shared()
	described := map[stackaddrs.ResourceMode]*schema.Schema{
		stackaddrs.ManagedResource: schemas.Managed[name], stackaddrs.DataResource: schemas.Data[name],
	}[mode]
	if described == nil {
		return cty.NilType
	}
	return described.Block.Type()
}

// dataSchema returns the schema of dataType. Older states lack the block, which has not changed the
// version.
func dataSchema() *schema.Schema {
	data := newSchema(
		schema.Attribute{Name: "id", Type: cty.String, Computed: true},
		schema.Attribute{Name: "input", Type: cty.DynamicPseudoType, Optional: true},
		schema.Attribute{Name: "output", Type: cty.DynamicPseudoType, Computed: true},
		schema.Attribute{Name: "triggers_replace", Type: cty.DynamicPseudoType, Optional: true},
	)
	store := newSchema(
		schema.Attribute{
			Name: "input", Type: cty.DynamicPseudoType, Optional: true, WriteOnly: true,
			Description: markdown("The value to store, which may be ephemeral."),
		},
		schema.Attribute{
			Name: "output", Type: cty.DynamicPseudoType, Computed: true,
			Description: markdown("The stored value, unless it is sensitive."),
		},
		schema.Attribute{
			Name: "replace", Type: cty.Bool, Optional: true,
			Description: markdown("Whether another stored value takes another object."),
		},
		schema.Attribute{
			Name: "sensitive", Type: cty.Bool, Optional: true,
			Description: markdown("Whether the stored value is in `sensitive_output`, in place of `output`."),
		},
		schema.Attribute{
			Name: "sensitive_output", Type: cty.DynamicPseudoType, Computed: true, Sensitive: true,
			Description: markdown("The stored value, if it is sensitive."),
		},
		schema.Attribute{
			Name: "version", Type: cty.DynamicPseudoType, Optional: true,
			Description: markdown("Where it is set, `input` is stored when it changes, and at no other time."),
		},
	)
	data.Block.Blocks = []*schema.NestedBlock{{Name: "store", Block: store.Block, Nesting: schema.Single}}
	return data
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
