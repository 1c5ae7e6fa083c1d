// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Leaf is a part of an input that is unknown while planning. The latch has an output for it.
type Leaf struct {
	Output string   // name of the output
	Input  string   // name of the variable
	Path   cty.Path // in the input's value

	// Prefix is the known beginning of the value; the latch has only the rest.
	Prefix string

	// NotNull is set if it is known that the value won't be null.
	NotNull bool
}

// constructor writes the expression that builds an input.
type constructor struct {
	input string

	// exact is set when the variable's type leaves it to the value which kind of collection it
	// is, so that the expression has to say so.
	exact  bool
	byFile bool // see [Spec]
	leaves *[]Leaf
}

// expression returns an expression for v, in native syntax. Each unknown part becomes a leaf.
func (c constructor) expression(v cty.Value, path cty.Path) string {
	if marks.Has(v, marks.Sensitive) {
		v, _ = v.Unmark()
		return "sensitive(" + c.expression(v, path) + ")"
	}
	v, _ = v.Unmark()
	ty := v.Type()
	switch {
	case !v.IsKnown():
		return c.unknown(v, path)
	case v.IsNull():
		return "null"
	case ty.IsPrimitiveType():
		return string(hclwrite.TokensForValue(v).Bytes())
	case ty.IsSetType() && !v.IsWhollyKnown():
		return c.leaf(v, path, false)
	case ty.IsObjectType():
		return c.attributes(v, path, cty.Path.GetAttr)
	case ty.IsMapType():
		return c.collection("tomap", c.attributes(v, path, cty.Path.IndexString))
	case ty.IsTupleType():
		return c.elements(v, path)
	case ty.IsListType():
		return c.collection("tolist", c.elements(v, path))
	default: // a set: nothing inside is unknown or marked
		return c.collection("toset", c.elements(v, path))
	}
}

func (c constructor) collection(conversion, text string) string {
	if !c.exact {
		return text
	}
	return conversion + "(" + text + ")"
}

func (c constructor) attributes(v cty.Value, path cty.Path, step func(cty.Path, string) cty.Path) string {
	parts := v.AsValueMap()
	var b strings.Builder
	b.WriteByte('{')
	for i, name := range slices.Sorted(maps.Keys(parts)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(hclwrite.TokensForValue(cty.StringVal(name)).Bytes())
		b.WriteString(" = ")
		b.WriteString(c.expression(parts[name], step(path.Copy(), name)))
	}
	b.WriteByte('}')
	return b.String()
}

func (c constructor) elements(v cty.Value, path cty.Path) string {
	var texts []string
	for i, part := range v.AsValueSlice() {
		texts = append(texts, c.expression(part, path.Copy().IndexInt(i)))
	}
	return "[" + strings.Join(texts, ", ") + "]"
}

// unknown writes a reference to the latch that has the type and the refinements of v.
func (c constructor) unknown(v cty.Value, path cty.Path) string {
	ty, refinements := v.Type(), v.Range()
	notNull := ty != cty.DynamicPseudoType && refinements.DefinitelyNotNull()
	switch {
	case ty.IsObjectType() && notNull:
		parts := map[string]cty.Value{}
		for name, attrType := range ty.AttributeTypes() {
			parts[name] = cty.UnknownVal(attrType)
		}
		return c.attributes(cty.ObjectVal(parts), path, cty.Path.GetAttr)
	case ty.IsTupleType() && notNull:
		var parts []cty.Value
		for _, elemType := range ty.TupleElementTypes() {
			parts = append(parts, cty.UnknownVal(elemType))
		}
		return c.elements(cty.TupleVal(parts), path)
	}
	return c.leaf(v, path, notNull)
}

func (c constructor) leaf(v cty.Value, path cty.Path, notNull bool) string {
	leaf := Leaf{
		Output:  fmt.Sprintf("%s_%d", c.input, len(*c.leaves)),
		Input:   c.input,
		Path:    path.Copy(),
		NotNull: notNull,
	}
	if notNull && v.Type() == cty.String {
		// A $ or % at the end would escape the sequence that follows.
		leaf.Prefix = strings.TrimRight(v.Range().StringPrefix(), "$%")
	}
	*c.leaves = append(*c.leaves, leaf)

	reference := "data.terraform_remote_state." + latchName + ".outputs." + leaf.Output
	if c.byFile {
		reference = "local." + latchName + "." + leaf.Output
	}
	switch ty := v.Type(); {
	case ty == cty.String && leaf.Prefix != "":
		literal := hclwrite.TokensForValue(cty.StringVal(leaf.Prefix)).Bytes()
		return string(literal[:len(literal)-1]) + "${" + reference + "}\""
	case ty == cty.String && notNull:
		return "join(\"\", [" + reference + "])"
	case ty == cty.Number && notNull:
		return "max(" + reference + ")"
	case ty == cty.Bool && notNull:
		return "(" + reference + " == true)"
	case ty == cty.String:
		return "tostring(" + reference + ")"
	case ty == cty.Number:
		return "tonumber(" + reference + ")"
	case ty == cty.Bool:
		return "tobool(" + reference + ")"
	default:
		return reference
	}
}
