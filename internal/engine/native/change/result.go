// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"slices"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// CheckResult returns why an object is not the planned one: known parts stay as they are, and
// unknown parts become values that agree with their types and refinements. The object may be the
// one of a second plan, with unknown parts where the first has them, or the one that has been made.
func CheckResult(block *schema.Block, planned, actual cty.Value) []error {
	var c resultCheck
	c.object(block, planned, actual, nil)
	return c.errs
}

type resultCheck struct{ faults }

func (c *resultCheck) object(block *schema.Block, planned, actual cty.Value, path cty.Path) {
	switch {
	case planned.IsNull() && !actual.IsNull():
		c.add(path, "was planned to be absent, but exists")
		return
	case actual.IsNull() && !planned.IsNull():
		c.add(path, "was planned to exist, but is absent")
		return
	case planned.IsNull(), !planned.IsKnown():
		return
	case !actual.IsKnown():
		c.add(path, "was known, but is unknown")
		return
	}
	for _, attr := range block.Attributes {
		// Paths are made for differences only: they are most of the memory that would be allocated.
		if before, after := planned.GetAttr(attr.Name), actual.GetAttr(attr.Name); !before.RawEquals(after) {
			c.value(before, after, path.GetAttr(attr.Name))
		}
	}
	for _, nested := range block.Blocks {
		if before, after := planned.GetAttr(nested.Name), actual.GetAttr(nested.Name); !before.RawEquals(after) {
			c.blocks(nested, before, after, path.GetAttr(nested.Name))
		}
	}
}

func (c *resultCheck) blocks(nested *schema.NestedBlock, planned, actual cty.Value, path cty.Path) {
	object := func(c *resultCheck, planned, actual cty.Value, path cty.Path) {
		c.object(nested.Block, planned, actual, path)
	}
	switch {
	case nested.Block.Computed && nested.Nesting != schema.Single && actual.IsNull():
		c.add(path, "is null, but blocks of this kind are never null")
	case !planned.IsKnown():
	case nested.Nesting == schema.Single || nested.Nesting == schema.Group:
		object(c, planned, actual, path)
	case !descends(planned) || !descends(actual): // terraform accepts null for blocks here, which some providers return
	case nested.Nesting == schema.Set:
		c.set("blocks", planned, actual, path, object)
	default:
		c.elements("blocks", planned, actual, path, object)
	}
}

// same makes the checks that all values have in common, and reports whether there is nothing more
// to check.
func (c *resultCheck) same(planned, actual cty.Value, path cty.Path) bool {
	switch {
	case !planned.IsKnown():
		if possible := planned.Range().Includes(actual); possible.IsKnown() && possible.False() {
			c.add(path, "contradicts the facts that were known when it was planned")
		}
	case planned.RawEquals(actual):
	case planned.IsNull():
		c.add(path, "was null, but has a value")
	case actual.IsNull():
		c.add(path, "had a value, but is null")
	case !actual.IsKnown():
		c.add(path, "was known, but is unknown")
	default:
		return false
	}
	return true
}

func (c *resultCheck) value(planned, actual cty.Value, path cty.Path) {
	ty := planned.Type()
	if ty == cty.DynamicPseudoType {
		return // null and unknown values of no type say nothing, not even that the value is null
	}
	if len(actual.Type().TestConformance(ty)) > 0 && !similar(ty, actual.Type()) {
		c.add(path, "has another type than planned")
		return
	}
	if c.same(planned, actual, path) {
		return
	}
	switch {
	case ty.IsSetType():
		c.set("elements", planned, actual, path, (*resultCheck).value)
	case ty.IsListType() || ty.IsMapType() || ty.IsTupleType() || ty.IsObjectType():
		c.elements("elements", planned, actual, path, (*resultCheck).value)
	default:
		if same := planned.Equals(actual); !same.IsKnown() || same.False() {
			c.add(path, "has another value than planned")
		}
	}
}

// similar reports whether values of two types are compared part by part, which finds the part of
// the wrong type.
func similar(a, b cty.Type) bool {
	return a.IsObjectType() && b.IsObjectType() || a.IsTupleType() && b.IsTupleType()
}

// elements compares lists, maps and the like by position or key.
func (c *resultCheck) elements(
	noun string, planned, actual cty.Value, path cty.Path, check func(c *resultCheck, planned, actual cty.Value, path cty.Path),
) {
	if before, after := planned.LengthInt(), actual.LengthInt(); before != after && !keyed(planned) {
		c.add(path, "had %d %s, but has %d", before, noun, after)
		return
	}
	for key, element := range planned.Elements() {
		at := schema.Step(path, planned.Type(), key)
		if found, ok := lookup(actual, key); ok {
			check(c, element, found, at)
		} else {
			c.add(at, "was planned, but is missing")
		}
	}
	if keyed(planned) {
		for key := range actual.Elements() {
			if _, ok := lookup(planned, key); !ok {
				c.add(schema.Step(path, actual.Type(), key), "was not planned, but is there")
			}
		}
	}
}

func keyed(value cty.Value) bool { return value.Type().IsMapType() || value.Type().IsObjectType() }

// set compares elements with all others, as they have no keys: several with unknown parts may have
// become the same.
func (c *resultCheck) set(
	noun string, planned, actual cty.Value, path cty.Path, check func(c *resultCheck, planned, actual cty.Value, path cty.Path),
) {
	if before, after := planned.LengthInt(), actual.LengthInt(); after > before {
		c.add(path, "had %d %s, but has %d", before, noun, after)
		return
	}
	fits := func(planned, actual cty.Value) bool {
		var c resultCheck
		check(&c, planned, actual, path)
		return len(c.errs) == 0
	}
	plans, results := planned.AsValueSlice(), actual.AsValueSlice()
	for _, plan := range plans {
		if !slices.ContainsFunc(results, func(result cty.Value) bool { return fits(plan, result) }) {
			c.add(path, "has none of its %s for one that was planned", noun)
		}
	}
	for _, result := range results {
		if !slices.ContainsFunc(plans, func(plan cty.Value) bool { return fits(plan, result) }) {
			c.add(path, "has one of its %s that was not planned", noun)
		}
	}
}
