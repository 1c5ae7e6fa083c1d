// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// CheckPlanned returns why a provider cannot plan an object for a configuration and a prior object.
// It may choose computed attributes only where the configuration leaves them to it, and must keep
// the values of the configuration, or their normalized forms in the prior object.
func CheckPlanned(block *schema.Block, prior, config, planned cty.Value) []error {
	var c planCheck
	c.object(block, prior, config, planned, nil)
	return c.errs
}

// faults collects errors at paths.
type faults struct{ errs []error }

func (f *faults) add(path cty.Path, format string, args ...any) {
	f.errs = append(f.errs, path.Copy().NewErrorf(format, args...))
}

type planCheck struct{ faults }

func (c *planCheck) object(block *schema.Block, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case planned.IsNull() && !config.IsNull():
		c.add(path, "planned to be absent, but it is in the configuration")
		return
	case config.IsNull() && !planned.IsNull():
		c.add(path, "planned to exist, but it is not in the configuration")
		return
	case planned.IsNull():
		return
	case !planned.IsKnown():
		c.add(path, "planned to be unknown as a whole")
		return
	}
	c.attributes(block.Attributes, prior, config, planned, path)
	for _, nested := range block.Blocks {
		c.blocks(nested, member(prior, nested.Name, nested.ValueType()), config.GetAttr(nested.Name), planned.GetAttr(nested.Name),
			path.GetAttr(nested.Name))
	}
}

func (c *planCheck) blocks(nested *schema.NestedBlock, prior, config, planned cty.Value, path cty.Path) {
	object := func(prior, config, planned cty.Value, path cty.Path) {
		c.object(nested.Block, prior, config, planned, path)
	}
	switch {
	case nested.Block.Computed && config.IsNull():
		if planned.IsNull() && nested.Nesting != schema.Single {
			c.add(path, "planned to be null, but blocks of this kind are never null")
		}
	case !config.IsKnown():
		if !equal(planned, config) {
			c.add(path, "planned to be known, but in the configuration the blocks are unknown")
		}
	case !planned.IsKnown():
		c.add(path, "planned to be unknown, but in the configuration the blocks are known")
	case nested.Nesting == schema.Single:
		object(prior, config, planned, path)
	case planned.IsNull():
		c.add(path, "planned to be null, but blocks of this kind are never null")
	case nested.Nesting == schema.Group:
		object(prior, config, planned, path)
	case nested.Nesting == schema.Set:
		for _, element := range planned.Elements() {
			if !element.IsKnown() {
				c.add(path, "a block is planned to be unknown as a whole")
			}
		}
	default:
		c.elements("block", nested.Block.Type(), prior, config, planned, path, object)
	}
}

// elements checks the elements of lists and maps by position or key.
func (c *planCheck) elements(
	noun string, ty cty.Type, prior, config, planned cty.Value, path cty.Path, check func(prior, config, planned cty.Value, path cty.Path),
) {
	if count := length(config); planned.LengthInt() != count {
		c.add(path, "planned to have %d %ss, but there are %d in the configuration", planned.LengthInt(), noun, count)
		return
	}
	for key, element := range planned.Elements() {
		at := schema.Step(path, planned.Type(), key)
		configured, ok := lookup(config, key)
		if !ok {
			c.add(at, "planned, but there is no such %s in the configuration", noun)
			continue
		}
		before, ok := lookup(prior, key)
		if !ok {
			before = cty.NullVal(ty)
		}
		check(before, configured, element, at)
	}
}

// length returns the number of elements of a known value; null has none.
func length(value cty.Value) int {
	if value.IsNull() {
		return 0
	}
	return value.LengthInt()
}

// lookup returns an element of a list or a map, or of a tuple or an object in their place, if there
// is one.
func lookup(value, key cty.Value) (cty.Value, bool) {
	if value.IsNull() || !value.IsKnown() {
		return cty.NilVal, false
	}
	element, err := step(value.Type(), key).Apply(value)
	return element, err == nil
}

func (c *planCheck) attributes(attributes []*schema.Attribute, prior, config, planned cty.Value, path cty.Path) {
	for _, attr := range attributes {
		ty := attr.ValueType()
		c.attribute(attr, member(prior, attr.Name, ty), member(config, attr.Name, ty), member(planned, attr.Name, ty), path)
	}
}

// attribute checks an attribute of the object at a path.
func (c *planCheck) attribute(attr *schema.Attribute, prior, config, planned cty.Value, path cty.Path) {
	switch {
	case attr.WriteOnly:
		if !planned.IsNull() {
			c.add(path.GetAttr(attr.Name), "planned to have a value, but the attribute is write-only")
		}
	case equal(planned, config):
	case !prior.IsNull() && !config.IsNull() && equal(planned, prior):
	case attr.Computed && (!attr.Optional || config.IsNull()):
	case config.IsNull():
		c.add(path.GetAttr(attr.Name), "planned to have a value, but it is not in the configuration, and the provider does not choose it")
	case attr.Nested != nil:
		c.nested(attr.Nested, prior, config, planned, path.GetAttr(attr.Name))
	case prior.IsNull():
		c.add(path.GetAttr(attr.Name), "planned to have another value than in the configuration")
	default:
		c.add(path.GetAttr(attr.Name), "planned to have another value than in the configuration and than before")
	}
}

// nested checks a value that is in the configuration and another one there.
func (c *planCheck) nested(object *schema.Object, prior, config, planned cty.Value, path cty.Path) {
	attributes := func(prior, config, planned cty.Value, path cty.Path) {
		c.nestedObject(object, prior, config, planned, path)
	}
	switch {
	case planned.IsNull():
		c.add(path, "planned to be null, but it has a value in the configuration")
	case !planned.IsKnown():
		c.add(path, "planned to be unknown, but it has a value in the configuration")
	case object.Nesting == schema.Single:
		attributes(prior, config, planned, path)
	case object.Nesting == schema.Set:
		if possible := planned.Length().Range().Includes(config.Length()); possible.IsKnown() && possible.False() {
			c.add(path, "planned to have another number of elements than in the configuration")
		}
	case !config.IsKnown():
		c.add(path, "planned to be known, but it is unknown in the configuration")
	default:
		c.elements("element", object.ElementType(), prior, config, planned, path, attributes)
	}
}

// nestedObject checks an element of a nested type. One that is null is like one whose attributes
// are.
func (c *planCheck) nestedObject(object *schema.Object, prior, config, planned cty.Value, path cty.Path) {
	if !equal(planned, config) {
		c.attributes(object.Attributes, prior, config, planned, path)
	}
}
