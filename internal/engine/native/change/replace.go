// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package change

import (
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// ReplacePaths returns which of the paths that a provider wants an object to be replaced for are
// reasons to do so: their values differ or may differ, or are write-only, which cannot be compared.
// Nothing is replaced if there is no prior object.
//
// Errors: for paths that lead nowhere, neither in the prior object nor in the planned one.
func ReplacePaths(block *schema.Block, prior, planned cty.Value, paths []cty.Path) ([]cty.Path, []error) {
	if prior.IsNull() {
		return nil, nil
	}
	var f faults
	var reasons []cty.Path
	for _, path := range paths {
		before, beforeErr := path.Apply(prior)
		after, afterErr := path.Apply(planned)
		switch {
		case beforeErr != nil && afterErr != nil:
			f.add(path, "must be replaced if this part of the object changes, but there is none")
			continue
		case beforeErr != nil:
			before = cty.NullVal(after.Type())
		case afterErr != nil:
			after = cty.NullVal(before.Type())
		}
		if same := before.Equals(after); !same.IsKnown() || same.False() || writeOnly(block, path) {
			reasons = append(reasons, path)
		}
	}
	return reasons, f.errs
}

// writeOnly reports whether a path leads to a write-only attribute.
func writeOnly(block *schema.Block, path cty.Path) bool {
	attr := attributeAt(block, path)
	return attr != nil && attr.WriteOnly
}

// attributeAt returns the attribute that a path leads to, or into. It returns nil for paths that
// lead to blocks or nowhere.
func attributeAt(block *schema.Block, path cty.Path) *schema.Attribute {
	for len(path) > 0 {
		step, ok := path[0].(cty.GetAttrStep)
		if !ok {
			return nil
		}
		path = path[1:]
		if attr := block.Attribute(step.Name); attr != nil {
			return nestedAttributeAt(attr, path)
		}
		nested := block.Nested(step.Name)
		if nested == nil {
			return nil
		}
		block = nested.Block
		if nested.Nesting != schema.Single && nested.Nesting != schema.Group && len(path) > 0 {
			path = path[1:]
		}
	}
	return nil
}

func nestedAttributeAt(attr *schema.Attribute, path cty.Path) *schema.Attribute {
	for attr.Nested != nil {
		if attr.Nested.Nesting != schema.Single && len(path) > 0 {
			path = path[1:]
		}
		if len(path) == 0 {
			return attr
		}
		step, ok := path[0].(cty.GetAttrStep)
		if !ok {
			return nil
		}
		inner := attr.Nested.Attribute(step.Name)
		if inner == nil {
			return nil
		}
		attr, path = inner, path[1:]
	}
	return attr
}
