// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"slices"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tftypes"
	"github.com/zclconf/go-cty/cty"
)

// resourceType is a type of managed resource. The effects of its attributes follow from their names
// (see behaviour.go) and from the fields here.
type resourceType struct {
	name     string
	schema   *tfprotov6.Schema
	identity *tfprotov6.ResourceIdentitySchema // nil without

	replaceOn []string          // attributes whose change replaces the object
	echoes    map[string]string // computed attribute → the one it repeats once applied
	moveFrom  string            // the type whose objects may be moved to this one, "" for none

	ty cty.Type // of the schema, filled by resourceTypes
}

// has reports whether the type has an attribute or block of that name.
func (t *resourceType) has(name string) bool {
	return t.ty.HasAttribute(name)
}

// attributeNames returns the names of the top-level attributes that match, in the order of the
// schema.
func (t *resourceType) attributeNames(match func(*tfprotov6.SchemaAttribute) bool) []string {
	var names []string
	for _, attr := range t.schema.Block.Attributes {
		if match(attr) {
			names = append(names, attr.Name)
		}
	}
	return names
}

// resourceTypes returns all types of managed resources by name.
func resourceTypes() map[string]*resourceType {
	types := make(map[string]*resourceType)
	for _, t := range append(fileTypes(), []*resourceType{
		{name: "fake_resource", schema: objectSchema()},
		computedType(),
		everythingType(),
		slowType(),
		failingType(),
		scriptedType(),
		nestedType(),
		agingType(),
		{name: "fake_blocked", schema: objectSchema(attribute("required_resources", stringSet, optional))},
		{
			name: "fake_deferred",
			schema: objectSchema(
				attribute("deferred", tftypes.Bool, required),
				attribute("result", tftypes.String, computed),
			),
			echoes:   map[string]string{"result": "value"},
			moveFrom: "fake_resource",
		},
		{
			name:   "fake_identity",
			schema: objectSchema(),
			identity: &tfprotov6.ResourceIdentitySchema{
				IdentityAttributes: []*tfprotov6.ResourceIdentitySchemaAttribute{
					{Name: "id", Type: tftypes.String, RequiredForImport: true},
				},
			},
		},
		{
			name: "fake_writeonly",
			schema: objectSchema(
				attribute("secret", tftypes.String, optional|writeOnly),
				attribute("secret_version", tftypes.Number, optional),
			),
		},
	}...) {
		t.ty = valueType(t.schema.ValueType())
		t.replaceOn = append(t.replaceOn, "id")
		types[t.name] = t
	}
	return types
}

// objectSchema is the schema of a type with id, value and more attributes.
func objectSchema(more ...*tfprotov6.SchemaAttribute) *tfprotov6.Schema {
	return schemaOf(nil, slices.Concat([]*tfprotov6.SchemaAttribute{
		attribute("id", tftypes.String, optional|computed),
		attribute("value", tftypes.String, optional),
	}, more)...)
}

func computedType() *resourceType {
	return &resourceType{
		name: "fake_computed",
		schema: objectSchema(
			attribute("replace_on", tftypes.String, optional),
			attribute("result", tftypes.String, computed),
			attribute("revision", tftypes.Number, computed),
			attribute("region", tftypes.String, computed),
		),
		replaceOn: []string{"replace_on", "region"},
		echoes:    map[string]string{"result": "value"},
	}
}

func everythingType() *resourceType {
	t := &resourceType{
		name: "fake_everything",
		schema: objectSchema(
			attribute("tuple", stringTuple, optional),
			attribute("dynamic", tftypes.DynamicPseudoType, optional),
			attribute("secret", tftypes.String, optional|sensitive),
			nestedAttribute("nested_single", tfprotov6.SchemaObjectNestingModeSingle),
			nestedAttribute("nested_list", tfprotov6.SchemaObjectNestingModeList),
			nestedAttribute("nested_set", tfprotov6.SchemaObjectNestingModeSet),
			nestedAttribute("nested_map", tfprotov6.SchemaObjectNestingModeMap),
		),
		echoes: make(map[string]string),
	}
	for _, attr := range plainAttributes() {
		echo := attribute("computed_"+attr.Name, attr.Type, computed)
		t.schema.Block.Attributes = append(t.schema.Block.Attributes, attr, echo)
		t.echoes[echo.Name] = attr.Name
	}
	t.schema.Block.BlockTypes = nestedBlocks()
	return t
}

func agingType() *resourceType {
	deprecated := func(name, message string) *tfprotov6.SchemaAttribute {
		attr := attribute(name, tftypes.String, optional)
		attr.Deprecated, attr.DeprecationMessage = true, message
		return attr
	}
	list := func(name string, block *tfprotov6.SchemaBlock) *tfprotov6.SchemaNestedBlock {
		return &tfprotov6.SchemaNestedBlock{TypeName: name, Nesting: tfprotov6.SchemaNestedBlockNestingModeList, Block: block}
	}
	port := attribute("port", tftypes.String, optional)
	schema := objectSchema(deprecated("nick", "Use value."), deprecated("note", ""))
	schema.Block.BlockTypes = []*tfprotov6.SchemaNestedBlock{
		list("part", &tfprotov6.SchemaBlock{Attributes: []*tfprotov6.SchemaAttribute{port, deprecated("number", "Use port.")}}),
		list("scrap", &tfprotov6.SchemaBlock{
			Attributes: []*tfprotov6.SchemaAttribute{port}, Deprecated: true, DeprecationMessage: "Use part.",
		}),
	}
	return &resourceType{name: "fake_aging", schema: schema}
}

// plainAttributes is one optional attribute of each type that has a fixed shape.
func plainAttributes() []*tfprotov6.SchemaAttribute {
	return []*tfprotov6.SchemaAttribute{
		attribute("string", tftypes.String, optional),
		attribute("number", tftypes.Number, optional),
		attribute("bool", tftypes.Bool, optional),
		attribute("list", stringList, optional),
		attribute("set", stringSet, optional),
		attribute("map", stringMap, optional),
		attribute("object", namedSize, optional),
	}
}

func slowType() *resourceType {
	attrs := []*tfprotov6.SchemaAttribute{attribute("ignore_stop", tftypes.Bool, optional)}
	for _, p := range []phase{phasePlan, phaseRead, phaseCreate, phaseUpdate, phaseDelete} {
		attrs = append(attrs,
			attribute(string(p)+"_delay", tftypes.String, optional),
			attribute(string(p)+"_gate", tftypes.String, optional))
	}
	return &resourceType{name: "fake_slow", schema: objectSchema(attrs...)}
}

func failingType() *resourceType {
	return &resourceType{
		name: "fake_failing",
		schema: objectSchema(
			attribute("fail_plan", tftypes.Bool, optional),
			attribute("fail_read", tftypes.Bool, optional),
			attribute("fail_apply", tftypes.Bool, optional),
			attribute("fail_after_create", tftypes.Bool, optional),
			attribute("fail_delete", tftypes.Bool, optional),
			attribute("panic_on", tftypes.String, optional),
			attribute("warn", tftypes.String, optional),
		),
	}
}
