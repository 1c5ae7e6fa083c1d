// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"fmt"

	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/schema"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// schemaMessage returns the message for the schemas of a provider.
func schemaMessage(provider *schema.Provider) (*dependenciespb.ProviderSchema, error) {
	message := &dependenciespb.ProviderSchema{}
	var err error
	if message.ProviderConfig, err = configMessage(provider.Config); err != nil {
		return nil, err
	}
	if message.ManagedResourceTypes, err = configMessages(provider.Managed); err != nil {
		return nil, err
	}
	if message.DataResourceTypes, err = configMessages(provider.Data); err != nil {
		return nil, err
	}
	actions, err := configMessages(provider.Actions)
	if err != nil {
		return nil, err
	}
	message.ActionTypes = map[string]*dependenciespb.ActionSchema{}
	for name, action := range actions {
		message.ActionTypes[name] = &dependenciespb.ActionSchema{Schema: action}
	}
	return message, nil
}

func configMessages(schemas map[string]*schema.Schema) (map[string]*dependenciespb.Schema, error) {
	messages := map[string]*dependenciespb.Schema{}
	for name, one := range schemas {
		message, err := configMessage(one)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		messages[name] = message
	}
	return messages, nil
}

func configMessage(config *schema.Schema) (*dependenciespb.Schema, error) {
	block, err := blockMessage(config.Block)
	return &dependenciespb.Schema{Block: block}, err
}

func docString(text schema.Text) *dependenciespb.Schema_DocString {
	if text.Text == "" {
		return nil
	}
	message := &dependenciespb.Schema_DocString{Description: text.Text}
	if text.Markdown {
		message.Format = dependenciespb.Schema_DocString_MARKDOWN
	}
	return message
}

func blockMessage(block *schema.Block) (*dependenciespb.Schema_Block, error) {
	attributes, err := attributeMessages(block.Attributes)
	if err != nil {
		return nil, err
	}
	message := &dependenciespb.Schema_Block{Attributes: attributes, Description: docString(block.Description), Deprecated: block.Deprecated}
	for _, nested := range block.Blocks {
		content, err := blockMessage(nested.Block)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", nested.Name, err)
		}
		message.BlockTypes = append(message.BlockTypes, &dependenciespb.Schema_NestedBlock{
			TypeName: nested.Name,
			Block:    content,
			Nesting:  blockNestings[nested.Nesting],
		})
	}
	return message, nil
}

var blockNestings = map[schema.Nesting]dependenciespb.Schema_NestedBlock_NestingMode{
	schema.Single: dependenciespb.Schema_NestedBlock_SINGLE,
	schema.List:   dependenciespb.Schema_NestedBlock_LIST,
	schema.Set:    dependenciespb.Schema_NestedBlock_SET,
	schema.Map:    dependenciespb.Schema_NestedBlock_MAP,
	schema.Group:  dependenciespb.Schema_NestedBlock_GROUP,
}

var objectNestings = map[schema.Nesting]dependenciespb.Schema_Object_NestingMode{
	schema.Single: dependenciespb.Schema_Object_SINGLE,
	schema.List:   dependenciespb.Schema_Object_LIST,
	schema.Set:    dependenciespb.Schema_Object_SET,
	schema.Map:    dependenciespb.Schema_Object_MAP,
}

func attributeMessages(attributes []*schema.Attribute) ([]*dependenciespb.Schema_Attribute, error) {
	var messages []*dependenciespb.Schema_Attribute
	for _, attr := range attributes {
		message, err := attributeMessage(attr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", attr.Name, err)
		}
		messages = append(messages, message)
	}
	return messages, nil
}

func attributeMessage(attr *schema.Attribute) (message *dependenciespb.Schema_Attribute, err error) {
	message = &dependenciespb.Schema_Attribute{
		Name:        attr.Name,
		Description: docString(attr.Description),
		Required:    attr.Required,
		Optional:    attr.Optional,
		Computed:    attr.Computed,
		Sensitive:   attr.Sensitive,
		Deprecated:  attr.Deprecated,
	}
	if attr.Nested == nil {
		message.Type, err = ctyjson.MarshalType(attr.Type)
		return message, err
	}
	message.NestedType = &dependenciespb.Schema_Object{Nesting: objectNestings[attr.Nested.Nesting]}
	message.NestedType.Attributes, err = attributeMessages(attr.Nested.Attributes)
	return message, err
}
