// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
)

var movedSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{
		{Name: "from", Required: true},
		{Name: "to", Required: true},
	},
}

func (d *decoder) moved(block *hcl.Block) {
	content, ok := d.content(block, movedSchema)
	moved := &Moved{Range: d.header(block)}
	from, fromOK := d.moveable(content.Attributes["from"])
	to, toOK := d.moveable(content.Attributes["to"])
	if !ok || !fromOK || !toOK {
		return
	}
	moved.Move = stackaddrs.Move{From: from, To: to}
	moved.FromRange = content.Attributes["from"].Expr.Range()
	moved.ToRange = content.Attributes["to"].Expr.Range()
	if err := moved.Move.Check(); err != nil {
		d.errorf(moved.ToRange, "Invalid move",
			"With this block, %s. Both addresses must be those of components, or both those of embedded stacks, "+
				"and neither may be inside of the other.", err)
		return
	}
	d.stack.Moved = append(d.stack.Moved, moved)
}

// moveable decodes one end of a move. ok is false if it has a mistake, or is not written.
func (d *decoder) moveable(attr *hcl.Attribute) (m stackaddrs.Moveable, ok bool) {
	if attr == nil {
		return m, false
	}
	path := d.objectPath(attr, "component.name, component.name[\"key\"] or stack.name")
	if path == nil {
		return m, false
	}
	stacks := path.Stacks
	kind, last := stackaddrs.MoveableComponent, path.Component
	if last == nil {
		kind, last, stacks = stackaddrs.MoveableStack, &stacks[len(stacks)-1], stacks[:len(stacks)-1]
	}
	m = stackaddrs.Moveable{Kind: kind, Name: last.Name}
	m.Key, ok = d.literalKey(attr, last.Index)
	for _, step := range stacks {
		key, usable := d.literalKey(attr, step.Index)
		m.Stack, ok = m.Stack.Child(step.Name, key), ok && usable
	}
	return m, ok
}

// literalKey returns the key in an index that is nil or a literal.
func (d *decoder) literalKey(attr *hcl.Attribute, index hcl.Expression) (key stackaddrs.InstanceKey, ok bool) {
	if index == nil {
		return stackaddrs.NoKey, true
	}
	value, diags := index.Value(nil)
	if !diags.HasErrors() && value.IsKnown() {
		if key, ok := stackaddrs.KeyFromValue(value); ok {
			return key, true
		}
	}
	d.diags = append(d.diags, d.keepInside(hcl.Diagnostics{failure.At(index.Range(), "Non-literal instance key in move",
		"A move is about objects in the state, whatever the values are, so the key of an instance is written as it is there: a string like "+
			"\"key\", without references, or a whole number. Write one block for each instance.")}, attr.Expr.Range())...)
	return stackaddrs.NoKey, false
}
