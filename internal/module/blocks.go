// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// BackendBlocks are the types of blocks in a terraform block that say where the state is kept. No
// released version of terraform has state_store.
var BackendBlocks = []string{"backend", "cloud", "state_store"}

var (
	terraformSchema = &hcl.BodySchema{
		Attributes: schemaOf("required_version", "experiments", "language").Attributes,
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "backend", LabelNames: []string{"type"}},
			{Type: "cloud"},
			{Type: "encryption"},
			{Type: "state_store", LabelNames: []string{"type"}},
			{Type: "required_providers"},
			{Type: "provider_meta", LabelNames: []string{"provider"}},
		},
	}
	checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "data", LabelNames: []string{"type", "name"}},
		{Type: "assert"},
	}}
)

func (d *decoder) terraform(block *hcl.Block) {
	content := d.content(block.Body, terraformSchema)
	if attr := content.Attributes["required_version"]; attr != nil {
		d.versionConstraint(attr, d.ofTofu)
	}
	d.experiments(content.Attributes["experiments"])
	if attr := content.Attributes["language"]; attr != nil && hcl.ExprAsKeyword(attr.Expr) != "TF2021" {
		d.unsupported(attr.Range, "The only edition of the language is TF2021.")
	}
	for _, nested := range content.Blocks {
		switch {
		case slices.Contains(BackendBlocks, nested.Type):
			d.backend(nested)
		case nested.Type == "encryption":
			d.encryption(nested)
		case nested.Type == "required_providers":
			d.requirements(nested)
		case nested.Type == "provider_meta":
			d.providerMeta(nested)
		}
	}
}

// experiments reports an argument. An empty list of them is refused, too, as in released versions
// of terraform.
func (d *decoder) experiments(attr *hcl.Attribute) {
	if attr != nil {
		d.unsupported(attr.Range, "Experiments of the language are not supported.")
	}
}

// backend notes a block whose settings components have no use for.
func (d *decoder) backend(block *hcl.Block) {
	const id = "backend"
	d.dir.Backends = append(d.dir.Backends, block)
	if first, found := d.declared[id]; found && !d.override {
		d.problem(block.DefRange, "Duplicate backend", "There can be one backend, cloud or state_store block in a module, and "+
			"there is one at "+first.String()+".")
		return
	}
	d.declared[id] = block.DefRange
}

func (d *decoder) strayRequirements(block *hcl.Block) {
	d.problem(block.DefRange, "Misplaced provider requirements", "A required_providers block is nested in a terraform block.")
}

func (d *decoder) providerMeta(block *hcl.Block) {
	name := block.Labels[0]
	if first := d.dir.ProviderMeta[name]; first != nil && !d.override {
		d.problem(block.DefRange, "Duplicate provider metadata", "There can be one provider_meta block for a provider, and there is one at "+
			first.Range.String()+".")
		return
	}
	attributes, diags := block.Body.JustAttributes()
	d.add(diags)
	for _, attr := range inOrder(attributes) {
		_, diags := attr.Expr.Value(nil) // which is all that can be written here
		d.add(diags)
	}
	meta := &ProviderMeta{Body: block.Body, Range: block.DefRange}
	if first := d.dir.ProviderMeta[name]; first != nil {
		meta.Body = &overriddenBody{base: first.Body, over: block.Body}
	}
	d.dir.ProviderMeta[name] = meta
}

func (d *decoder) check(block *hcl.Block) {
	name := block.Labels[0]
	d.identifier(name, block.LabelRanges[0])
	if d.override {
		d.notOverridable(block)
		return
	}
	if !d.declare("check", name, block.DefRange) {
		return
	}
	check := &Check{Name: name, Range: block.DefRange}
	d.dir.Checks[name] = check
	content := d.content(block.Body, checkSchema)
	for _, nested := range content.Blocks {
		switch {
		case nested.Type == "assert":
			check.Assertions = append(check.Assertions, d.condition(nested))
		case check.Data != nil:
			d.problem(nested.DefRange, "Several data blocks in check", "There can be one data block in a check.")
		default:
			check.Data = d.resource(nested, check)
		}
	}
	if len(check.Assertions) == 0 {
		d.problem(block.DefRange, "Check without assertions", "There is nothing to check: a check has one assert block at least.")
	}
}
