// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package diagnostics

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"
)

// PlaceInBody returns the place in a body of the part from which a part of its value comes, or the
// closest around it. There is none for a value that is not in an argument or a block of the body.
func PlaceInBody(body hcl.Body, spec hcldec.Spec, path cty.Path) (hcl.Range, bool) {
	if len(path) == 0 {
		return hcl.Range{}, false
	}
	step, isAttr := path[0].(cty.GetAttrStep)
	object, isObject := spec.(hcldec.ObjectSpec)
	if !isAttr || !isObject {
		return hcl.Range{}, false
	}
	content, _, _ := body.PartialContent(hcldec.ImpliedSchema(spec)) //nolint:errcheck // reported when it was evaluated
	if attr := content.Attributes[step.Name]; attr != nil {
		return attr.Expr.Range(), true
	}
	return placeInBlocks(content.Blocks.OfType(step.Name), object[step.Name], path[1:])
}

// placeInBlocks goes on in the nested blocks of one type. Which of several is meant cannot be said
// about a set of blocks: its elements have another order.
func placeInBlocks(blocks hcl.Blocks, spec hcldec.Spec, path cty.Path) (hcl.Range, bool) {
	var nested hcldec.Spec
	is := func(at int, _ *hcl.Block) bool { return at == elementIndex(path) }
	switch spec := spec.(type) {
	case *hcldec.DefaultSpec:
		return placeInBlocks(blocks, spec.Primary, path)
	case *hcldec.BlockSpec:
		nested, is = spec.Nested, func(int, *hcl.Block) bool { return true }
	case *hcldec.BlockListSpec:
		nested = spec.Nested
	case *hcldec.BlockTupleSpec:
		nested = spec.Nested
	case *hcldec.BlockSetSpec:
		nested, is = spec.Nested, func(int, *hcl.Block) bool { return len(blocks) == 1 }
	case *hcldec.BlockMapSpec:
		nested, is = spec.Nested, func(_ int, block *hcl.Block) bool { return isLabelled(block, path) }
	case *hcldec.BlockObjectSpec:
		nested, is = spec.Nested, func(_ int, block *hcl.Block) bool { return isLabelled(block, path) }
	}
	for at, block := range blocks {
		if nested == nil || !is(at, block) {
			continue
		}
		if len(path) > 0 {
			if _, isElement := path[0].(cty.IndexStep); isElement {
				path = path[1:]
			}
		}
		if place, ok := PlaceInBody(block.Body, nested, path); ok {
			return place, true
		}
		return block.DefRange, true
	}
	return hcl.Range{}, false
}

// elementIndex returns the index with which a path begins, -1 if it does not.
func elementIndex(path cty.Path) int {
	if len(path) == 0 {
		return -1
	}
	step, ok := path[0].(cty.IndexStep)
	if !ok || step.Key.Type() != cty.Number {
		return -1
	}
	index, _ := step.Key.AsBigFloat().Int64()
	return int(index)
}

func isLabelled(block *hcl.Block, path cty.Path) bool {
	if len(path) == 0 {
		return false
	}
	step, ok := path[0].(cty.IndexStep)
	return ok && step.Key.Type() == cty.String && slices.Equal(block.Labels, []string{step.Key.AsString()})
}
