// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package body

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// labelled reports whether blocks have a label, which is their key.
func (t *blockType) labelled() bool { return t.Nesting == schema.Map }

// decode returns the value of the blocks of one name, nil for none.
func (t *blockType) decode(found *blocks, missing hcl.Range) (cty.Value, hcl.Diagnostics) {
	if found == nil {
		return t.Absent(), t.checkCount(nil, missing)
	}
	var diags hcl.Diagnostics
	values := make([]cty.Value, len(found.written))
	for i, block := range found.written {
		value, moreDiags := t.content.decode(block.Body, block.in)
		if !t.single() {
			value = value.WithMarks(block.in.marks)
		}
		values[i] = value
		diags = append(diags, moreDiags...)
	}
	if found.unknown && !t.single() || found.broken {
		return cty.UnknownVal(t.ty), diags
	}
	moreDiags := t.checkCount(found.written, missing)
	diags = append(diags, moreDiags...)
	if moreDiags.HasErrors() {
		return cty.UnknownVal(t.ty), diags
	}
	value, moreDiags := t.combine(values, found.written)
	return value, append(diags, moreDiags...)
}

// single reports whether there is one block at most.
func (t *blockType) single() bool { return t.Nesting == schema.Single || t.Nesting == schema.Group }

// checkCount checks how many blocks there are.
func (t *blockType) checkCount(written []writtenBlock, missing hcl.Range) hcl.Diagnostics {
	least, most := int(t.MinItems), int(t.MaxItems)
	if t.labelled() {
		least, most = 0, 0
	}
	if t.single() {
		most = 1
	}
	switch {
	case len(written) < least:
		return hcl.Diagnostics{wrong("Too few blocks", fmt.Sprintf("At least %s of type %q must be here.", counted(least), t.Name), missing)}
	case most > 0 && len(written) > most:
		return hcl.Diagnostics{wrong("Too many blocks", fmt.Sprintf("At most %s of type %q can be here.", counted(most), t.Name),
			written[most].DefRange)}
	default:
		return nil
	}
}

func counted(n int) string {
	if n == 1 {
		return "one block"
	}
	return fmt.Sprintf("%d blocks", n)
}

// combine makes one value of those of all blocks.
func (t *blockType) combine(values []cty.Value, written []writtenBlock) (cty.Value, hcl.Diagnostics) {
	switch {
	case t.labelled():
		return t.byLabel(values, written)
	case len(values) == 0:
		return t.Absent(), nil
	case t.single():
		return values[0], nil
	case t.Varies():
		return cty.TupleVal(values), nil
	case t.Nesting == schema.Set:
		return t.set(values, written)
	default:
		return cty.ListVal(values), nil
	}
}

func (t *blockType) set(values []cty.Value, written []writtenBlock) (cty.Value, hcl.Diagnostics) {
	for i, value := range values {
		if !value.Type().Equals(values[0].Type()) {
			return cty.UnknownVal(t.ty), hcl.Diagnostics{wrong("Different types in blocks",
				fmt.Sprintf("Blocks of type %q are a set, and the arguments in all blocks of a set have the same types.", t.Name), written[i].DefRange)}
		}
	}
	return cty.SetVal(values), nil
}

func (t *blockType) byLabel(values []cty.Value, written []writtenBlock) (cty.Value, hcl.Diagnostics) {
	var diags hcl.Diagnostics
	elements := make(map[string]cty.Value, len(values))
	for i, value := range values {
		label := written[i].Labels[0]
		if _, ok := elements[label]; ok {
			diags = append(diags, wrong("Repeated label", fmt.Sprintf("Another block of type %q has the label %q.", t.Name, label),
				written[i].DefRange))
			continue
		}
		elements[label] = value
	}
	switch {
	case len(elements) == 0:
		return t.Absent(), diags
	case t.Varies():
		return cty.ObjectVal(elements), diags
	default:
		return cty.MapVal(elements), diags
	}
}
