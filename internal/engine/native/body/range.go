// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import (
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Range returns where in a body the part of an object is that a path leads to, such as one that an
// error of a provider is about. If there is none, it is where the part around it is; for a part
// that is missing as a whole, it is where it could be inserted.
func (d *Decoder) Range(body hcl.Body, path cty.Path) *hcl.Range {
	content, _ := d.read(body) //nolint:errcheck // reported when it is decoded
	step, ok := firstAttribute(path)
	if !ok {
		return content.MissingItemRange.Ptr()
	}
	if attr := content.Attributes[step]; attr != nil {
		return RangeWithin(attr.Expr, path[1:]).Ptr()
	}
	ty := d.blockType(content, step)
	if ty == nil {
		return content.MissingItemRange.Ptr()
	}
	inner, rest, dynamic := ty.find(content.Blocks, path[1:])
	switch {
	case inner == nil:
		return content.MissingItemRange.Ptr()
	case dynamic:
		return ty.dynamicRange(inner, rest)
	case rest == nil:
		return inner.DefRange.Ptr()
	default:
		return ty.content.rangeWithin(inner.Body, rest, inner.DefRange)
	}
}

// rangeWithin returns the range for a path in a block, which is the header of the block if the path
// leads to the block itself.
func (d *Decoder) rangeWithin(body hcl.Body, path cty.Path, header hcl.Range) *hcl.Range {
	if _, ok := firstAttribute(path); !ok {
		return header.Ptr()
	}
	return d.Range(body, path)
}

func firstAttribute(path cty.Path) (string, bool) {
	if len(path) == 0 {
		return "", false
	}
	step, ok := path[0].(cty.GetAttrStep)
	return step.Name, ok
}

// find returns the block that the rest of a path leads into, and the rest after that, which is nil
// if it is one of several and not known which.
func (t *blockType) find(all hcl.Blocks, path cty.Path) (found *hcl.Block, rest cty.Path, dynamic bool) {
	key := cty.NilVal
	rest = path
	if !t.single() {
		rest = nil
		if len(path) > 0 {
			rest = path[1:]
			key = stepKey(path[0])
		}
	}
	var position int64
	for _, block := range all {
		generated := block.Type == dynamicBlock.Type && block.Labels[0] == t.Name
		switch {
		case !generated && block.Type != t.Name:
			continue
		case generated || t.single() || t.isAt(block, position, key):
			return block, rest, generated
		case found == nil:
			found = block // the first one, if none fits
		}
		position++
	}
	return found, nil, false
}

// stepKey returns the key of a step to an element.
func stepKey(step cty.PathStep) cty.Value {
	switch step := step.(type) {
	case cty.GetAttrStep:
		return cty.StringVal(step.Name)
	case cty.IndexStep:
		if !step.Key.IsMarked() && step.Key.IsKnown() && !step.Key.IsNull() {
			return step.Key
		}
	}
	return cty.NilVal
}

// isAt reports whether a block has a key.
func (t *blockType) isAt(block *hcl.Block, position int64, key cty.Value) bool {
	switch {
	case key == cty.NilVal:
		return false
	case t.labelled():
		return key.Type() == cty.String && key.AsString() == block.Labels[0]
	case t.Nesting == schema.List:
		return key.Type() == cty.Number && key.RawEquals(cty.NumberIntVal(position))
	default:
		return false
	}
}

// dynamicRange returns the range for a path in one of the blocks that a dynamic block makes: that
// in the content of all of them.
func (t *blockType) dynamicRange(block *hcl.Block, path cty.Path) *hcl.Range {
	content, _ := block.Body.Content(&generatorSchema) //nolint:errcheck // reported when it is decoded
	if len(content.Blocks) != 1 {
		return block.DefRange.Ptr()
	}
	return t.content.rangeWithin(content.Blocks[0].Body, path, block.DefRange)
}

// RangeWithin returns the range of a part of an expression's value, which is found if it is written
// as a part of the expression.
func RangeWithin(expr hcl.Expression, path cty.Path) hcl.Range {
	for _, step := range path {
		inner := part(expr, stepKey(step))
		if inner == nil {
			break
		}
		expr = inner
	}
	return expr.Range()
}

// part returns the expression of an element, or nil.
func part(expr hcl.Expression, key cty.Value) hcl.Expression {
	switch {
	case key == cty.NilVal:
		return nil
	case key.Type() == cty.Number:
		elements, diags := hcl.ExprList(expr)
		index, _ := key.AsBigFloat().Int64()
		if !diags.HasErrors() && index >= 0 && index < int64(len(elements)) {
			return elements[index]
		}
	case key.Type() == cty.String:
		pairs, diags := hcl.ExprMap(expr)
		if diags.HasErrors() {
			return nil
		}
		for _, pair := range pairs {
			if name, diags := pair.Key.Value(nil); !diags.HasErrors() && name.RawEquals(key) {
				return pair.Value
			}
		}
	}
	return nil
}
