// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// ProposedNew returns the object that a provider is asked to plan: the configuration, with the
// provider's earlier choices for computed attributes that the configuration leaves to it. On
// creation, these are null.
//
// Shape: object of the block's type; null if both objects are. Unknown: the unknown parts of the
// configuration; prior has none.
func ProposedNew(block *schema.Block, prior, config cty.Value) cty.Value {
	if prior.IsNull() {
		if config.IsNull() {
			return prior
		}
		prior = block.Empty()
	}
	return proposedObject(block, prior, config)
}

// PlannedUnknown returns the planned object where the provider makes it later and without a plan,
// such as that of a data source: the configuration, in which the attributes that the provider
// chooses are unknown.
func PlannedUnknown(block *schema.Block, config cty.Value) cty.Value {
	return proposedObject(block, cty.UnknownVal(block.Type()), config)
}

// proposedObject proposes the object of a block. Prior is not null, but may be unknown as a whole.
func proposedObject(block *schema.Block, prior, config cty.Value) cty.Value {
	if config.IsNull() || !config.IsKnown() {
		return prior
	}
	values := make(map[string]cty.Value, len(block.Attributes)+len(block.Blocks))
	proposeAttributes(values, block.Attributes, prior, config)
	for _, nested := range block.Blocks {
		values[nested.Name] = proposedBlocks(nested, prior.GetAttr(nested.Name), config.GetAttr(nested.Name))
	}
	return cty.ObjectVal(values)
}

// proposeAttributes adds the proposed values of attributes. Prior may be null.
func proposeAttributes(values map[string]cty.Value, attributes []*schema.Attribute, prior, config cty.Value) {
	for _, attr := range attributes {
		values[attr.Name] = proposedAttribute(attr, member(prior, attr.Name, attr.ValueType()), config.GetAttr(attr.Name))
	}
}

// member returns an attribute of an object; of null, it is null.
func member(object cty.Value, name string, ty cty.Type) cty.Value {
	if object.IsNull() {
		return cty.NullVal(ty)
	}
	return object.GetAttr(name)
}

func proposedAttribute(attr *schema.Attribute, prior, config cty.Value) cty.Value {
	switch {
	case attr.Computed && config.IsNull():
		if attr.Optional && attr.Nested != nil && configured(attr.Nested, prior) {
			return config // which has been removed from the configuration
		}
		return prior
	case attr.Nested != nil:
		return proposedNested(attr.Nested, prior, config)
	default:
		return config
	}
}

// configured reports whether a part of a value must come from a configuration: an attribute that is
// not computed has a value.
func configured(object *schema.Object, value cty.Value) bool {
	if value.IsNull() || !value.IsKnown() {
		return false
	}
	if object.Nesting == schema.Single {
		return attributesConfigured(object.Attributes, value)
	}
	for _, element := range value.Elements() {
		if attributesConfigured(object.Attributes, element) {
			return true
		}
	}
	return false
}

func attributesConfigured(attributes []*schema.Attribute, value cty.Value) bool {
	if value.IsNull() || !value.IsKnown() {
		return false
	}
	for _, attr := range attributes {
		part := value.GetAttr(attr.Name)
		if !attr.Computed && !part.IsNull() || attr.Nested != nil && configured(attr.Nested, part) {
			return true
		}
	}
	return false
}

// proposedNested proposes the value of an attribute with a nested type.
func proposedNested(object *schema.Object, prior, config cty.Value) cty.Value {
	p := proposer{
		pair: func(prior, config cty.Value) cty.Value {
			if config.IsNull() {
				return config
			}
			values := make(map[string]cty.Value, len(object.Attributes))
			proposeAttributes(values, object.Attributes, prior, config)
			return cty.ObjectVal(values)
		},
		match: func(prior, config cty.Value) bool { return matchAttributes(object.Attributes, prior, config) },
		null:  cty.NullVal(object.ElementType()),
	}
	return p.propose(object.Nesting, prior, config)
}

// proposedBlocks proposes the value of all blocks of one name.
func proposedBlocks(nested *schema.NestedBlock, prior, config cty.Value) cty.Value {
	if nested.Block.Computed && config.IsNull() {
		return prior
	}
	p := proposer{
		pair:  func(prior, config cty.Value) cty.Value { return ProposedNew(nested.Block, prior, config) },
		match: func(prior, config cty.Value) bool { return matchBlock(nested.Block, prior, config) },
		null:  cty.NullVal(nested.Block.Type()),
	}
	return p.propose(nested.Nesting, prior, config)
}

// proposer proposes several objects of one schema.
type proposer struct {
	pair  func(prior, config cty.Value) cty.Value // proposes one object
	match func(prior, config cty.Value) bool      // reports whether an element of a set may have come of another
	null  cty.Value
}

func (p *proposer) propose(nesting schema.Nesting, prior, config cty.Value) cty.Value {
	switch {
	case !config.IsKnown():
		return config
	case nesting == schema.Group:
		return p.pair(prior, config)
	case config.IsNull():
		return config
	case nesting == schema.Single:
		return p.pair(prior, config)
	case config.LengthInt() == 0:
		return config
	case nesting == schema.List:
		return p.list(prior, config)
	case nesting == schema.Map:
		return p.keyed(prior, config)
	default:
		return p.set(prior, config)
	}
}

// list proposes objects by their position. Those that are new are proposed as they are configured.
func (p *proposer) list(prior, config cty.Value) cty.Value {
	values := config.AsValueSlice()
	switch {
	case !prior.IsKnown():
		for i, element := range values {
			values[i] = p.pair(cty.UnknownVal(p.null.Type()), element)
		}
	case !prior.IsNull():
		var i int
		for _, before := range prior.Elements() {
			if i == len(values) {
				break
			}
			values[i] = p.pair(before, values[i])
			i++
		}
	}
	if config.Type().IsTupleType() {
		return cty.TupleVal(values)
	}
	return cty.ListVal(values)
}

// keyed proposes objects by their keys.
func (p *proposer) keyed(prior, config cty.Value) cty.Value {
	values := config.AsValueMap()
	if !prior.IsNull() && prior.IsKnown() {
		for key, before := range prior.Elements() {
			if element, ok := values[key.AsString()]; ok {
				values[key.AsString()] = p.pair(before, element)
			}
		}
	}
	if config.Type().IsObjectType() {
		return cty.ObjectVal(values)
	}
	return cty.MapVal(values)
}

// set proposes objects with the first of the prior ones that each may come from.
func (p *proposer) set(prior, config cty.Value) cty.Value {
	var candidates []cty.Value
	if !prior.IsNull() && prior.IsKnown() {
		candidates = prior.AsValueSlice()
	}
	values := config.AsValueSlice()
	for i, element := range values {
		values[i] = p.pair(p.take(candidates, element), element)
	}
	return cty.SetVal(values)
}

// take returns the prior object of an element, and takes it from the candidates.
func (p *proposer) take(candidates []cty.Value, element cty.Value) cty.Value {
	for i, candidate := range candidates {
		if candidate != cty.NilVal && p.match(candidate, element) {
			candidates[i] = cty.NilVal
			return candidate
		}
	}
	return p.null
}
