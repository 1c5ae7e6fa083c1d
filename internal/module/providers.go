// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/gohcl"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfaddr "github.com/hashicorp/terraform-registry-address"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// DefaultProvider returns the provider that a local name stands for in a module that doesn't
// declare it.
func DefaultProvider(localName string) stackaddrs.Provider {
	if localName == stackaddrs.BuiltinProvider.Type {
		return stackaddrs.BuiltinProvider
	}
	return stackaddrs.Provider{
		Hostname:  string(tfaddr.DefaultProviderRegistryHost),
		Namespace: "hashicorp",
		Type:      localName,
	}
}

// Provider returns the provider that a local name stands for, and whether it is declared.
func (d *Directory) Provider(localName string) (provider stackaddrs.Provider, declared bool) {
	if requirement := d.Required[localName]; requirement != nil {
		return requirement.Provider, true
	}
	return DefaultProvider(localName), false
}

// Requirements returns the providers that the module itself needs, each with the constraints on its
// version as written, of which there may be none.
func (d *Directory) Requirements() map[stackaddrs.Provider][]string {
	required := map[stackaddrs.Provider][]string{}
	add := func(provider stackaddrs.Provider, version string) {
		constraints := required[provider]
		if version != "" {
			constraints = append(constraints, version)
		}
		required[provider] = constraints
	}
	for _, requirement := range d.Required {
		add(requirement.Provider, requirement.Version)
	}
	for _, block := range d.Providers {
		provider, _ := d.Provider(block.Slot.LocalName)
		add(provider, block.Version)
	}
	for slot := range d.ProviderUses {
		provider, _ := d.Provider(slot.LocalName)
		add(provider, "")
	}
	for provider, constraints := range required {
		slices.Sort(constraints)
		required[provider] = slices.Compact(constraints)
	}
	return required
}

func (d *Directory) addTerraform(block *hcl.Block, override bool) hcl.Diagnostics {
	content, _, diags := block.Body.PartialContent(readTerraform)
	if attr := content.Attributes["required_version"]; attr != nil {
		diags = diags.Extend(d.addVersionConstraint(attr, override))
	}
	for _, nested := range content.Blocks {
		if nested.Type != "required_providers" {
			d.Backends = append(d.Backends, nested)
			continue
		}
		d.HasRequiredProviders = true
		attrs, moreDiags := nested.Body.JustAttributes()
		diags = diags.Extend(moreDiags)
		for name, attr := range attrs {
			if invalid := checkLocalName(name, attr.NameRange); invalid != nil {
				diags = diags.Append(invalid)
				continue
			}
			requirement, moreDiags := decodeRequirement(name, attr)
			diags = diags.Extend(moreDiags)
			d.Required[name] = requirement
		}
	}
	return diags
}

// checkLocalName checks the local name of a provider. It is nil if that is valid.
func checkLocalName(name string, at hcl.Range) *hcl.Diagnostic {
	normal, err := tfaddr.ParseProviderPart(name)
	var why string
	switch {
	case err != nil:
		why = "it " + err.Error()
	case normal != name:
		why = fmt.Sprintf("it is written %q", normal)
	default:
		return nil
	}
	return &hcl.Diagnostic{
		Severity: hcl.DiagError,
		Summary:  "Invalid provider local name",
		Detail: fmt.Sprintf("%q cannot be the local name of a provider: %s. Give it another name, and refer to the "+
			"provider by that.", name, why),
		Subject: &at,
	}
}

func decodeRequirement(name string, attr *hcl.Attribute) (*Requirement, hcl.Diagnostics) {
	requirement := &Requirement{Provider: DefaultProvider(name), Range: attr.Range}

	if pairs, pairDiags := hcl.ExprMap(attr.Expr); !pairDiags.HasErrors() {
		var diags hcl.Diagnostics
		for _, pair := range pairs {
			diags = diags.Extend(requirement.decodeArgument(name, pair))
		}
		return requirement, diags
	}
	value, diags := attr.Expr.Value(nil) // a version alone, as old modules have it
	if diags.HasErrors() {
		return requirement, diags
	}
	if value.Type() != cty.String || value.IsNull() {
		return requirement, invalidRequirement(attr.Expr.Range(),
			"A provider requirement is an object with the attributes source and version.")
	}
	requirement.Version = value.AsString()
	return requirement, nil
}

func (r *Requirement) decodeArgument(localName string, pair hcl.KeyValuePair) hcl.Diagnostics {
	key, diags := pair.Key.Value(nil)
	if diags.HasErrors() {
		return diags
	}
	if key.Type() != cty.String || key.IsNull() {
		return invalidRequirement(pair.Key.Range(), "The attributes of a provider requirement are source, version and "+
			"configuration_aliases.")
	}
	if key.AsString() == "configuration_aliases" {
		return r.decodeAliases(localName, pair.Value)
	}
	value, diags := pair.Value.Value(nil)
	if diags.HasErrors() {
		return diags
	}
	if value.Type() != cty.String || value.IsNull() {
		return invalidRequirement(pair.Value.Range(), fmt.Sprintf("The argument %q must be a string.", key.AsString()))
	}
	switch key.AsString() {
	case "version":
		r.Version = value.AsString()
	case "source":
		provider, err := tfaddr.ParseProviderSource(value.AsString())
		if err != nil {
			return invalidRequirement(pair.Value.Range(), fmt.Sprintf("Invalid source address of provider %q: %s.", localName, err))
		}
		if !provider.HasKnownNamespace() {
			provider.Namespace = "hashicorp"
		}
		r.Provider = stackaddrs.Provider{
			Hostname:  string(provider.Hostname),
			Namespace: provider.Namespace,
			Type:      provider.Type,
		}
	}
	return nil
}

func (r *Requirement) decodeAliases(localName string, expr hcl.Expression) hcl.Diagnostics {
	exprs, diags := hcl.ExprList(expr)
	for _, expr := range exprs {
		slot, moreDiags := decodeSlot(expr)
		diags = diags.Extend(moreDiags)
		if moreDiags.HasErrors() {
			continue
		}
		if slot.LocalName != localName {
			diags = diags.Extend(invalidRequirement(expr.Range(),
				fmt.Sprintf("A configuration alias of provider %q is written %s.ALIAS.", localName, localName)))
			continue
		}
		r.Aliases = append(r.Aliases, slot.Alias) // the local name alone stands for the default configuration
	}
	return diags
}

func invalidRequirement(subject hcl.Range, detail string) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Invalid provider requirement",
		Detail:   detail,
		Subject:  subject.Ptr(),
	}}
}

func (d *Directory) addProvider(block *hcl.Block, override bool) hcl.Diagnostics {
	content, rest, diags := block.Body.PartialContent(schemaOf("alias", "version"))
	provider := ProviderBlock{
		Slot:   engine.ProviderSlot{LocalName: block.Labels[0]},
		Proxy:  isEmpty(rest),
		Config: rest,
		Range:  block.DefRange,
	}
	if invalid := checkLocalName(block.Labels[0], block.LabelRanges[0]); invalid != nil {
		diags = diags.Append(invalid)
	}
	if attr := content.Attributes["alias"]; attr != nil {
		moreDiags := gohcl.DecodeExpression(attr.Expr, nil, &provider.Slot.Alias)
		if !moreDiags.HasErrors() && !hclsyntax.ValidIdentifier(provider.Slot.Alias) {
			moreDiags = invalidAlias(attr.Expr.Range(), provider.Slot.Alias)
		}
		diags = diags.Extend(moreDiags)
	}
	if attr := content.Attributes["version"]; attr != nil {
		constraint, moreDiags := decodeConstraint(attr.Expr)
		diags = diags.Extend(moreDiags)
		provider.Version = constraint
	}
	i := slices.IndexFunc(d.Providers, func(earlier ProviderBlock) bool { return earlier.Slot == provider.Slot })
	switch {
	case i < 0:
		d.Providers = append(d.Providers, provider)
	case override:
		d.Providers[i].Proxy = d.Providers[i].Proxy && provider.Proxy
		d.Providers[i].Version = cmp.Or(provider.Version, d.Providers[i].Version)
	case !diags.HasErrors():
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Duplicate provider configuration",
			Detail: fmt.Sprintf("There is a provider block for %s at %s. Configurations of one provider "+
				"differ by alias.", provider.Slot, d.Providers[i].Range),
			Subject: block.DefRange.Ptr(),
		})
	}
	return diags
}

func invalidAlias(at hcl.Range, alias string) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError,
		Summary:  "Invalid provider alias",
		Detail: fmt.Sprintf("%q cannot be an alias: names begin with a letter or an underscore, and go on with letters, digits, "+
			"underscores and dashes.", alias),
		Subject: &at,
	}}
}

func isEmpty(body hcl.Body) bool {
	content, diags := body.Content(&hcl.BodySchema{})
	return content != nil && !diags.HasErrors()
}

// addUsage notes which provider configuration a resource, data source or ephemeral resource uses.
func (d *Directory) addUsage(block *hcl.Block) hcl.Diagnostics {
	slot, at, diags := usedSlot(block)
	if diags.HasErrors() {
		return diags
	}
	d.addUse(slot, at)
	switch block.Type {
	case "data":
		d.DataProviders[slot] = true
	case "action":
		d.HasActions = true
	}
	return diags
}

// usedSlot returns the provider configuration that the block of a resource uses, and where it is
// named: at the head of the block if only the type of the resource says it.
func usedSlot(block *hcl.Block) (slot engine.ProviderSlot, at hcl.Range, diags hcl.Diagnostics) {
	name, _, _ := strings.Cut(block.Labels[0], "_")
	slot, at = engine.ProviderSlot{LocalName: name}, block.DefRange

	content, _, diags := block.Body.PartialContent(usageSchema)
	if attr := content.Attributes["provider"]; attr != nil {
		written, moreDiags := decodeSlot(attr.Expr)
		diags = diags.Extend(moreDiags)
		if !moreDiags.HasErrors() {
			slot, at = written, attr.Expr.Range()
		}
		return slot, at, diags
	}
	if invalid := checkLocalName(name, block.LabelRanges[0]); invalid != nil && hclsyntax.ValidIdentifier(block.Labels[0]) {
		diags = diags.Append(invalid)
	}
	return slot, at, diags
}

func (d *Directory) addUse(slot engine.ProviderSlot, at hcl.Range) {
	if _, known := d.ProviderUses[slot]; !known {
		d.ProviderUses[slot] = at
	}
}

// addFunctionProviders notes the providers whose functions are called.
func (d *Directory) addFunctionProviders(file *File) {
	file.visit("provider::", func(node hclsyntax.Node, place func(hcl.Range) hcl.Range) {
		call, ok := node.(*hclsyntax.FunctionCallExpr)
		if !ok {
			return
		}
		if parts := strings.Split(call.Name, "::"); len(parts) == 3 && parts[0] == "provider" {
			d.addUse(engine.ProviderSlot{LocalName: parts[1]}, place(call.NameRange))
		}
	})
}
