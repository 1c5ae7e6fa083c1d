// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package generate writes configuration for objects that exist already: resource blocks that
// describe them, and import blocks that name them.
//
// Rules:
//
//	G1. An object, and a configuration made of it, is of the type of its schema's block, wholly known,
//	    not marked, and not null.
//	G2. No value that the schema calls sensitive is written: null takes its place, with a comment.
//	G3. The text of a block has one argument a line, sorted by name, and is formatted. It is the same
//	    for the same values.
//
// The text is that of terraform 1.11, as far as users could tell the difference.
package generate

import (
	"bytes"
	"fmt"

	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/schema"
)

// Head is the name of a resource with the provider configuration that manages it.
type Head struct {
	Type, Name string
	Provider   string // as the argument provider has it, like aws.west; without that argument if empty
}

// Resource returns a resource block with a configuration (rule G1), which its provider has made of
// an object.
func Resource(head Head, block *schema.Block, config cty.Value) []byte {
	return resource(&writer{}, head, block, config)
}

// Describe returns a resource block that describes an object (rule G1), for providers that make no
// configurations. It has the values of the object, but for those that nobody may have set.
//
// Planning it may show changes: of sensitive arguments, and of those that the provider has chosen
// although they were not set.
func Describe(head Head, block *schema.Block, object cty.Value) []byte {
	return resource(&writer{describes: true}, head, block, object)
}

func resource(w *writer, head Head, block *schema.Block, config cty.Value) []byte {
	w.line("resource %s %s {", quoted(head.Type), quoted(head.Name))
	if head.Provider != "" {
		w.line("provider = %s", head.Provider)
	}
	if id := block.Attribute("id"); w.describes && id != nil && id.Optional && id.Computed {
		// The plugin SDK gives each type this attribute, and most that let it be set do not mean it.
		w.without = id
	}
	w.body(block, config)
	w.line("}")
	return hclwrite.Format(w.Bytes())
}

// Import returns an import block for the resource. The object is named by its identity or, if that
// is [cty.NilVal], by the ID. Attributes of the identity that are null are left out.
func Import(head Head, id string, identity cty.Value) []byte {
	w := &writer{}
	w.line("import {")
	w.line("to = %s.%s", head.Type, head.Name)
	if head.Provider != "" {
		w.line("provider = %s", head.Provider)
	}
	if identity == cty.NilVal {
		w.line("id = %s", quoted(id))
	} else {
		w.line("identity = {")
		for name, value := range identity.Elements() {
			if !value.IsNull() {
				w.line("%s = %s", name.AsString(), expression(value))
			}
		}
		w.line("}")
	}
	w.line("}")
	return hclwrite.Format(w.Bytes())
}

// writer writes a block, line by line.
type writer struct {
	bytes.Buffer
	describes bool              // an object, in place of a configuration
	without   *schema.Attribute // which is left out
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(w, format, args...)
	w.WriteByte('\n')
}

// body writes the content of a block.
func (w *writer) body(block *schema.Block, config cty.Value) {
	w.attributes(block.Attributes, config)
	for _, nested := range block.Blocks {
		if !nested.Block.Deprecated {
			w.blocks(nested, config.GetAttr(nested.Name))
		}
	}
}

// attributes writes the arguments among the attributes of an object.
func (w *writer) attributes(attributes []*schema.Attribute, object cty.Value) {
	for _, attr := range attributes {
		if attr != w.without && isArgument(attr) {
			w.attribute(attr, object.GetAttr(attr.Name))
		}
	}
}

// isArgument reports whether a configuration can have an attribute, and should.
func isArgument(attr *schema.Attribute) bool {
	return !attr.Deprecated && (attr.Optional || attr.Required)
}

func (w *writer) attribute(attr *schema.Attribute, value cty.Value) {
	switch {
	case attr.Sensitive:
		w.line("%s = null # sensitive", attr.Name)
	case w.describes && attr.Optional && isEmpty(value): // the plugin SDK has no other null
		w.line("%s = null", attr.Name)
	case value.IsNull() || attr.Nested == nil:
		w.line("%s = %s", attr.Name, expression(value))
	default:
		fmt.Fprintf(w, "%s = ", attr.Name)
		w.nested(attr.Nested, value)
	}
}

// isEmpty reports whether a value is a text without content.
func isEmpty(value cty.Value) bool {
	return value.Type() == cty.String && !value.IsNull() && value.AsString() == ""
}

// nested writes the value of an attribute with a schema of its own.
func (w *writer) nested(of *schema.Object, value cty.Value) {
	switch of.Nesting {
	case schema.List, schema.Set:
		w.line("[")
		for _, element := range value.AsValueSlice() {
			w.object(of, element)
			w.line(",")
		}
		w.line("]")
	case schema.Map:
		w.line("{")
		for key, element := range value.Elements() {
			fmt.Fprintf(w, "%s = ", keyOf(key.AsString()))
			w.object(of, element)
			w.line("")
		}
		w.line("}")
	default:
		w.object(of, value)
		w.line("")
	}
}

// object writes an object with a schema, without the end of the line.
func (w *writer) object(of *schema.Object, value cty.Value) {
	if value.IsNull() {
		w.WriteString("null")
		return
	}
	w.line("{")
	w.attributes(of.Attributes, value)
	w.WriteString("}")
}

// blocks writes the nested blocks of one name.
func (w *writer) blocks(of *schema.NestedBlock, value cty.Value) {
	if value.IsNull() {
		return
	}
	write := func(head string, content cty.Value) {
		w.line("%s {", head)
		w.body(of.Block, content)
		w.line("}")
	}
	switch of.Nesting {
	case schema.List, schema.Set:
		for _, element := range value.AsValueSlice() {
			write(of.Name, element)
		}
	case schema.Map:
		for key, element := range value.Elements() {
			write(of.Name+" "+quoted(key.AsString()), element)
		}
	default:
		write(of.Name, value)
	}
}

// expression returns the text of a known value without marks.
func expression(value cty.Value) []byte {
	if content, ok := document(value); ok {
		return hclwrite.TokensForFunctionCall("jsonencode", hclwrite.TokensForValue(content)).Bytes()
	}
	return hclwrite.TokensForValue(value).Bytes()
}

// keyOf returns the text of the key of an element.
func keyOf(key string) string {
	if hclsyntax.ValidIdentifier(key) {
		return key
	}
	return quoted(key)
}

func quoted(text string) string { return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes()) }

// document returns the content of a string that is an object or a list in JSON.
func document(value cty.Value) (cty.Value, bool) {
	if value.IsNull() || value.Type() != cty.String {
		return cty.NilVal, false
	}
	text := []byte(value.AsString())
	ty, err := ctyjson.ImpliedType(text)
	if err != nil || !ty.IsObjectType() && !ty.IsTupleType() {
		return cty.NilVal, false
	}
	content, err := ctyjson.Unmarshal(text, ty)
	return content, err == nil
}
