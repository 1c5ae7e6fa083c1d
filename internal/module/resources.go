// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var resourceArguments = schemaOf("count", "for_each", "provider", "depends_on").Attributes

// resourceSchemas have the arguments and blocks that the language itself defines for resources, by
// the keywords of their blocks.
var resourceSchemas = map[string]*hcl.BodySchema{
	"resource": {Attributes: resourceArguments, Blocks: []hcl.BlockHeaderSchema{
		{Type: "_"}, {Type: "locals"}, {Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}},
	}},
	"data": {Attributes: resourceArguments, Blocks: []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "locals"}, {Type: "lifecycle"}}},
	"ephemeral": {Attributes: resourceArguments, Blocks: []hcl.BlockHeaderSchema{
		{Type: "_"}, {Type: "locals"}, {Type: "lifecycle"}, {Type: "connection"}, {Type: "provisioner", LabelNames: []string{"type"}},
	}},
}

var modes = map[string]stackaddrs.ResourceMode{
	"resource": stackaddrs.ManagedResource, "data": stackaddrs.DataResource, "ephemeral": stackaddrs.EphemeralResource,
}

// resourceBlock decodes a block at the top of a file.
func (d *decoder) resourceBlock(block *hcl.Block) { d.resource(block, nil) }

// resource decodes a block of a resource, which may be nested in a check.
func (d *decoder) resource(block *hcl.Block, check *Check) *Resource {
	addr := stackaddrs.Resource{Mode: modes[block.Type], Type: block.Labels[0], Name: block.Labels[1]}
	d.identifier(addr.Type, block.LabelRanges[0])
	d.identifier(addr.Name, block.LabelRanges[1])
	if !d.declare("resource", addr.String(), block.DefRange) {
		return nil
	}
	r := d.dir.Resources[addr]
	if r == nil {
		name, _, _ := strings.Cut(addr.Type, "_")
		r = &Resource{
			Addr: addr, Provider: engine.ProviderSlot{LocalName: name}, ProviderRange: block.DefRange, Check: check,
			Range: block.DefRange,
		}
		d.dir.Resources[addr] = r
	}
	content, rest, diags := block.Body.PartialContent(resourceSchemas[block.Type])
	d.add(diags)
	if check == nil {
		d.repeat(content, &r.Repeat)
	} else {
		d.onceOnly(content)
	}
	d.resourceProvider(content, block, r)
	if attr := d.notInOverride(content.Attributes["depends_on"]); attr != nil {
		r.DependsOn = d.dependsOn(attr)
	}
	d.resourceBlocks(content, block, r)
	d.newerBlocks(r, rest)
	d.resourceBody(rest, d.nested(content, block, &r.Repeat), block, r)
	return r
}

// onceOnly reports arguments for several instances in the block of a check.
func (d *decoder) onceOnly(content *hcl.BodyContent) {
	for _, name := range []string{"count", "for_each"} {
		if attr := content.Attributes[name]; attr != nil {
			d.problem(attr.NameRange, "Repetition in a check", "A data block in a check has one instance.")
		}
	}
}

func (d *decoder) resourceProvider(content *hcl.BodyContent, block *hcl.Block, r *Resource) {
	attr := content.Attributes["provider"]
	if attr != nil || !d.override {
		if used, at, ok := d.usedSlot(attr, block); ok {
			r.Provider, r.ProviderRange = used, at
			d.dir.addUse(used, at)
			if r.Addr.Mode == stackaddrs.DataResource {
				d.dir.DataProviders[used] = true
			}
		}
	}
}

// storeSchema has the blocks of terraform_data that are new in terraform 1.16.
var storeSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "store"}, {Type: "dynamic", LabelNames: []string{"type"}}}}

// newerBlocks notes the blocks of terraform_data that older versions of terraform do not have.
func (d *decoder) newerBlocks(r *Resource, body hcl.Body) {
	if r.Addr.Mode != stackaddrs.ManagedResource || r.Addr.Type != "terraform_data" {
		return
	}
	content, _, _ := body.PartialContent(storeSchema) //nolint:errcheck // decoding it by the schema of the provider reports them
	for _, block := range content.Blocks {
		if block.Type == "store" || block.Labels[0] == "store" {
			d.since("1.16", "the block store of terraform_data", block.DefRange)
		}
	}
}

// resourceBody sets the part that the schema of the provider describes.
func (d *decoder) resourceBody(rest, escaped hcl.Body, block *hcl.Block, r *Resource) {
	added := []writtenBody{{rest, metaArguments[block.Type]}}
	if escaped != nil {
		added = append(added, writtenBody{escaped, nil})
		rest = hcl.MergeBodies([]hcl.Body{rest, escaped})
	}
	for _, part := range added {
		r.Refs = append(r.Refs, d.bodyRefs(part.body, part.except)...)
	}
	if !d.override {
		r.Body, r.written = rest, added
		return
	}
	r.Body = &overriddenBody{base: r.Body, over: rest}
	r.written = append(without(r.written, added), added...)
	var f refs.Finder
	for _, part := range r.written { // some of the earlier references are replaced
		part.find(&f)
	}
	r.Refs = f.Found
}

// metaArguments report whether a name is that of an argument or a block of the language, by the
// keywords of blocks.
var metaArguments = map[string]func(string) bool{
	"resource":    namesOf(resourceSchemas["resource"]),
	"data":        namesOf(resourceSchemas["data"]),
	"ephemeral":   namesOf(resourceSchemas["ephemeral"]),
	"provisioner": namesOf(provisionerSchema),
}

func namesOf(schema *hcl.BodySchema) func(string) bool {
	arguments, blocks := argumentNames(schema), blockNames(schema)
	return func(name string) bool { return arguments[name] || blocks[name] }
}

func argumentNames(schema *hcl.BodySchema) map[string]bool {
	names := map[string]bool{}
	for _, attr := range schema.Attributes {
		names[attr.Name] = true
	}
	return names
}

func blockNames(schema *hcl.BodySchema) map[string]bool {
	names := map[string]bool{}
	for _, block := range schema.Blocks {
		names[block.Type] = true
	}
	return names
}

// resourceBlocks decodes the nested blocks of the language.
func (d *decoder) resourceBlocks(content *hcl.BodyContent, block *hcl.Block, r *Resource) {
	first := map[string]*hcl.Block{}
	var provisioners []*Provisioner
	for _, nested := range content.Blocks {
		if nested.Type == "lifecycle" || nested.Type == "connection" {
			if first[nested.Type] != nil {
				d.twice(nested, first[nested.Type])
				continue
			}
			first[nested.Type] = nested
		}
		switch {
		case block.Type == "ephemeral" && (nested.Type == "connection" || nested.Type == "provisioner"):
			d.problem(nested.TypeRange, "Provisioner of an ephemeral resource",
				fmt.Sprintf("Blocks of type %q belong to managed resources.", nested.Type))
		case nested.Type == "lifecycle" && r.Check != nil:
			d.problem(nested.DefRange, "Lifecycle in a check", "A data block in a check has no lifecycle block. Its conditions belong in the check.")
		case nested.Type == "lifecycle":
			d.lifecycle(nested, r)
		case nested.Type == "connection":
			r.Connection = d.connection(nested)
		case nested.Type == "provisioner":
			provisioners = append(provisioners, d.provisioner(nested))
		}
	}
	if provisioners != nil {
		r.Provisioners = provisioners
	}
}
