// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// equal reports whether two values are the same, unknown ones being so whatever is known about
// them.
func equal(a, b cty.Value) bool {
	if a.RawEquals(b) {
		return true
	}
	if a.IsWhollyKnown() || b.IsWhollyKnown() {
		return false
	}
	return unrefined(a).RawEquals(unrefined(b))
}

// unrefined returns a value without the refinements of its unknown parts.
func unrefined(value cty.Value) cty.Value {
	bare, _ := cty.Transform(value, func(_ cty.Path, part cty.Value) (cty.Value, error) { //nolint:errcheck // the function returns none
		if !part.IsKnown() {
			return cty.UnknownVal(part.Type()), nil
		}
		return part, nil
	})
	return bare
}

// matchBlock reports whether an object of a prior state may have come of a configured one: both
// agree on all values that the provider has not chosen. Parts that the prior object does not have
// do not count.
func matchBlock(block *schema.Block, prior, config cty.Value) bool {
	if equal(prior, config) {
		return true
	}
	if !descends(prior) {
		return true
	}
	if config.IsNull() || !matchAttributes(block.Attributes, prior, config) {
		return false
	}
	for _, nested := range block.Blocks {
		if nested.Block.Computed && config.GetAttr(nested.Name).IsNull() {
			continue
		}
		match := func(prior, config cty.Value) bool { return matchBlock(nested.Block, prior, config) }
		if !matchNested(nested.Nesting, prior.GetAttr(nested.Name), config.GetAttr(nested.Name), match) {
			return false
		}
	}
	return true
}

// descends reports whether a value has parts.
func descends(value cty.Value) bool { return !value.IsNull() && value.IsKnown() }

func matchAttributes(attributes []*schema.Attribute, prior, config cty.Value) bool {
	if equal(prior, config) || !descends(prior) {
		return true
	}
	if config.IsNull() {
		return false
	}
	for _, attr := range attributes {
		if !matchAttribute(attr, prior.GetAttr(attr.Name), config.GetAttr(attr.Name)) {
			return false
		}
	}
	return true
}

func matchAttribute(attr *schema.Attribute, prior, config cty.Value) bool {
	if attr.Nested == nil {
		return equal(prior, config) || attr.Computed && config.IsNull() && !config.Type().IsSetType()
	}
	return matchNested(attr.Nested.Nesting, prior, config, func(prior, config cty.Value) bool {
		return matchAttributes(attr.Nested.Attributes, prior, config)
	})
}

// matchNested compares objects by position or key. Sets match only if they are equal, here as in
// other attributes.
func matchNested(nesting schema.Nesting, prior, config cty.Value, match func(prior, config cty.Value) bool) bool {
	switch {
	case equal(prior, config):
		return true
	case nesting == schema.Set:
		return false
	case !descends(prior):
		return true
	case nesting == schema.Single || nesting == schema.Group:
		return match(prior, config)
	}
	for key, element := range prior.Elements() {
		configured, err := step(prior.Type(), key).Apply(config)
		if err != nil || !match(element, configured) {
			return false
		}
	}
	return true
}

// step returns the step to an element of a value of a type.
func step(ty cty.Type, key cty.Value) cty.PathStep {
	if ty.IsObjectType() {
		return cty.GetAttrStep{Name: key.AsString()}
	}
	return cty.IndexStep{Key: key}
}
