// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
)

var (
	terraformSchema = &hcl.BodySchema{
		Attributes: schemaOf("required_version", "experiments", "language").Attributes,
		Blocks: []hcl.BlockHeaderSchema{
			{Type: "backend", LabelNames: []string{"type"}},
			{Type: "cloud"},
			{Type: "required_providers"},
			{Type: "provider_meta", LabelNames: []string{"provider"}},
		},
	}
	checkSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
		{Type: "data", LabelNames: []string{"type", "name"}},
		{Type: "assert"},
	}}
)

// terraform decodes the block but for required_version, which the reader of the directory decodes.
func (d *decoder) terraform(block *hcl.Block) {
	content, diags := block.Body.Content(terraformSchema)
	d.add(diags)
	if attr := content.Attributes["experiments"]; attr != nil {
		d.unsupported(attr.Range, "Experiments of the language are not supported.") // also an empty list of them, as in released versions of terraform
	}
	if attr := content.Attributes["language"]; attr != nil && hcl.ExprAsKeyword(attr.Expr) != "TF2021" {
		d.unsupported(attr.Range, "The only edition of the language is TF2021.")
	}
	for _, nested := range content.Blocks {
		switch nested.Type {
		case "backend", "cloud":
			d.backend(nested)
		case "required_providers":
			d.requirements(nested)
		case "provider_meta":
			d.providerMeta(nested)
		}
	}
}

func (d *decoder) requirements(block *hcl.Block) {
	const id = "required_providers"
	if first, found := d.declared[id]; found && !d.override {
		d.problem(block.DefRange, "Duplicate provider requirements", "There can be one required_providers block in a module, and there is one at "+first.String()+".")
		return
	}
	d.declared[id] = block.DefRange
	attrs, _ := block.Body.JustAttributes() //nolint:errcheck // the reader of the directory has reported it
	for _, attr := range inOrder(attrs) {
		pairs, diags := hcl.ExprMap(attr.Expr)
		if diags.HasErrors() {
			if constantText(attr.Expr) != "" { // an old way to write one; errors of other contents are reported, too
				d.versionConstraint(attr.Expr)
			}
			continue
		}
		for _, pair := range pairs {
			if key, _ := pair.Key.Value(nil); key.Type() == cty.String && key.IsKnown() && !key.IsNull() { //nolint:errcheck // likewise
				d.requirementArgument(key.AsString(), pair)
			}
		}
	}
}

func (d *decoder) requirementArgument(name string, pair hcl.KeyValuePair) {
	switch name {
	case "version":
		d.versionConstraint(pair.Value)
	case "source", "configuration_aliases":
	default:
		if value, diags := pair.Value.Value(nil); diags.HasErrors() || value.Type() != cty.String {
			return // reported by the reader of the directory
		}
		d.problem(pair.Value.Range(), "Invalid provider requirement", fmt.Sprintf("A provider requirement has no argument %q, but source, version and configuration_aliases.", name))
	}
}

// versionConstraint checks an expression that is a constant.
func (d *decoder) versionConstraint(expr hcl.Expression) {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.IsNull() || !value.IsKnown() {
		return
	}
	text, err := convert.Convert(value, cty.String)
	if err == nil {
		_, err = version.NewConstraint(text.AsString())
	}
	if err != nil {
		d.add(hcl.Diagnostics{InvalidConstraint(expr.Range())})
	}
}

// backend does nothing with the settings of a backend, which components have no use for, but there
// can be one block.
func (d *decoder) backend(block *hcl.Block) {
	const id = "backend"
	if first, found := d.declared[id]; found && !d.override {
		d.problem(block.DefRange, "Duplicate backend", "There can be one backend or cloud block in a module, and there is one at "+first.String()+".")
		return
	}
	d.declared[id] = block.DefRange
}

func (d *decoder) strayRequirements(block *hcl.Block) {
	d.problem(block.DefRange, "Misplaced provider requirements", "A required_providers block is nested in a terraform block.")
}

func (d *decoder) providerMeta(block *hcl.Block) {
	name := block.Labels[0]
	if first := d.m.ProviderMeta[name]; first != nil && !d.override {
		d.problem(block.DefRange, "Duplicate provider metadata", "There can be one provider_meta block for a provider, and there is one at "+first.Range.String()+".")
		return
	}
	attributes, diags := block.Body.JustAttributes()
	d.add(diags)
	for _, attr := range inOrder(attributes) {
		_, diags := attr.Expr.Value(nil) // which is all that can be written here
		d.add(diags)
	}
	addr, _ := d.m.Provider(name)
	meta := &ProviderMeta{Provider: addr, Body: block.Body, Range: block.DefRange}
	if first := d.m.ProviderMeta[name]; first != nil {
		meta.Body = &overriddenBody{base: first.Body, over: block.Body}
	}
	d.m.ProviderMeta[name] = meta
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
	d.m.Checks[name] = check
	content, diags := block.Body.Content(checkSchema)
	d.add(diags)
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
