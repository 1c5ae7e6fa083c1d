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

	"github.com/cairnstacks/cairn/internal/failure"
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

func (d *decoder) requirements(block *hcl.Block) {
	const id = "required_providers"
	if first, found := d.declared[id]; found && !d.override {
		d.problem(block.DefRange, "Duplicate provider requirements", "There can be one required_providers block in a module, and there is one "+
			"at "+first.String()+".")
	}
	d.declared[id] = block.DefRange
	d.dir.HasRequiredProviders = true
	attrs, diags := block.Body.JustAttributes()
	d.report(diags)
	for _, attr := range inOrder(attrs) {
		if invalid := checkLocalName(attr.Name, attr.NameRange); invalid != nil {
			d.report(hcl.Diagnostics{invalid})
			continue
		}
		d.dir.Required[attr.Name] = d.requirement(attr)
	}
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
	return failure.At(at, "Invalid provider local name",
		"%q cannot be the local name of a provider: %s. Give it another name, and refer to the provider by that.", name, why)
}

func (d *decoder) requirement(attr *hcl.Attribute) *Requirement {
	requirement := &Requirement{Provider: DefaultProvider(attr.Name), Range: attr.Range}
	if pairs, diags := hcl.ExprMap(attr.Expr); !diags.HasErrors() {
		for _, pair := range pairs {
			d.requirementArgument(requirement, attr.Name, pair)
		}
		return requirement
	}
	value, diags := attr.Expr.Value(nil) // a version alone, as old modules have it
	d.report(diags)
	switch {
	case diags.HasErrors():
	case value.Type() != cty.String || value.IsNull():
		d.invalidRequirement(attr.Expr.Range(), "A provider requirement is an object with the attributes source and version.")
	default:
		d.requiredProviderVersion(requirement, attr.Expr, value.AsString())
	}
	return requirement
}

func (d *decoder) requirementArgument(r *Requirement, localName string, pair hcl.KeyValuePair) {
	key, diags := pair.Key.Value(nil)
	d.report(diags)
	switch {
	case diags.HasErrors():
		return
	case key.Type() != cty.String || key.IsNull():
		d.invalidRequirement(pair.Key.Range(), "The attributes of a provider requirement are source, version and "+
			"configuration_aliases.")
		return
	case key.AsString() == "configuration_aliases":
		d.aliases(r, localName, pair.Value)
		return
	}
	value, diags := pair.Value.Value(nil)
	d.report(diags)
	switch {
	case diags.HasErrors():
	case value.Type() != cty.String || value.IsNull():
		d.invalidRequirement(pair.Value.Range(), fmt.Sprintf("The argument %q must be a string.", key.AsString()))
	case key.AsString() == "version":
		d.requiredProviderVersion(r, pair.Value, value.AsString())
	case key.AsString() == "source":
		provider, err := tfaddr.ParseProviderSource(value.AsString())
		if err != nil {
			d.invalidRequirement(pair.Value.Range(), fmt.Sprintf("Invalid source address of provider %q: %s.", localName, err))
			return
		}
		if !provider.HasKnownNamespace() {
			provider.Namespace = "hashicorp"
		}
		r.Provider = stackaddrs.Provider{Hostname: string(provider.Hostname), Namespace: provider.Namespace, Type: provider.Type}
	default:
		d.problem(pair.Value.Range(), "Invalid provider requirement", fmt.Sprintf("A provider requirement has no argument %q, but source, "+
			"version and configuration_aliases.", key.AsString()))
	}
}

// requiredProviderVersion sets a constraint as it is written. Its syntax is for the strict check.
func (d *decoder) requiredProviderVersion(r *Requirement, expr hcl.Expression, text string) {
	r.Version = text
	_, diags := decodeConstraint(expr)
	d.add(diags)
}

func (d *decoder) aliases(r *Requirement, localName string, expr hcl.Expression) {
	exprs, diags := hcl.ExprList(expr)
	d.report(diags)
	for _, expr := range exprs {
		slot, diags := decodeSlot(expr)
		d.report(diags)
		switch {
		case diags.HasErrors():
		case slot.LocalName != localName:
			d.invalidRequirement(expr.Range(), fmt.Sprintf("A configuration alias of provider %q is written %s.ALIAS.", localName, localName))
		default:
			r.Aliases = append(r.Aliases, slot.Alias) // the local name alone stands for the default configuration
		}
	}
}

func (d *decoder) invalidRequirement(at hcl.Range, detail string) {
	d.report(hcl.Diagnostics{failure.At(at, "Invalid provider requirement", "%s", detail)})
}

var (
	providerSchema     = schemaOf("alias", "version")
	isProviderArgument = namesOf(providerSchema)
)

// provider decodes a provider block. In modules of components they are errors, or declare slots.
func (d *decoder) provider(block *hcl.Block) {
	content, rest, diags := block.Body.PartialContent(providerSchema)
	provider := ProviderBlock{
		Slot:   engine.ProviderSlot{LocalName: block.Labels[0]},
		Proxy:  isEmpty(rest),
		Config: rest,
		Refs:   d.bodyRefs(rest, isProviderArgument),
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
	i := slices.IndexFunc(d.dir.Providers, func(earlier ProviderBlock) bool { return earlier.Slot == provider.Slot })
	switch {
	case i < 0:
		d.dir.Providers = append(d.dir.Providers, provider)
	case d.override:
		d.dir.Providers[i].Proxy = d.dir.Providers[i].Proxy && provider.Proxy
		d.dir.Providers[i].Refs = append(d.dir.Providers[i].Refs, provider.Refs...)
		d.dir.Providers[i].Version = cmp.Or(provider.Version, d.dir.Providers[i].Version)
	case !diags.HasErrors():
		diags = diags.Append(failure.At(block.DefRange, "Duplicate provider configuration",
			"There is a provider block for %s at %s. Configurations of one provider differ by alias.", provider.Slot, d.dir.Providers[i].Range))
	}
	d.report(diags)
}

func invalidAlias(at hcl.Range, alias string) hcl.Diagnostics {
	return hcl.Diagnostics{failure.At(at, "Invalid provider alias",
		"%q cannot be an alias: names begin with a letter or an underscore, and go on with letters, digits, underscores and dashes.", alias)}
}

func isEmpty(body hcl.Body) bool {
	content, diags := body.Content(&hcl.BodySchema{})
	return content != nil && !diags.HasErrors()
}

// slot decodes a reference to a provider configuration.
func (d *decoder) slot(expr hcl.Expression) (slot engine.ProviderSlot, ok bool) {
	slot, diags := decodeSlot(expr)
	d.report(diags)
	d.warnQuoted(expr)
	return slot, !diags.HasErrors()
}

// usedSlot returns the provider configuration that the block of a resource or an action uses, and
// where it is named: at the head of the block if only the type says it.
func (d *decoder) usedSlot(attr *hcl.Attribute, block *hcl.Block) (slot engine.ProviderSlot, at hcl.Range, ok bool) {
	if attr != nil {
		slot, ok = d.slot(attr.Expr)
		return slot, attr.Expr.Range(), ok
	}
	name, _, _ := strings.Cut(block.Labels[0], "_")
	invalid := checkLocalName(name, block.LabelRanges[0])
	if invalid != nil && hclsyntax.ValidIdentifier(block.Labels[0]) {
		d.report(hcl.Diagnostics{invalid})
		return slot, at, false
	}
	return engine.ProviderSlot{LocalName: name}, block.DefRange, true
}

// decodeSlot decodes NAME or NAME.ALIAS, in native syntax also in quotes, as old modules have it.
func decodeSlot(expr hcl.Expression) (engine.ProviderSlot, hcl.Diagnostics) {
	slot, ok := slotOf(expr)
	if !ok {
		return engine.ProviderSlot{}, hcl.Diagnostics{failure.At(expr.Range(), "Invalid provider reference",
			"A provider configuration is named by the local name of its provider, followed by a dot and an alias if it has one.")}
	}
	if invalid := checkLocalName(slot.LocalName, expr.Range()); invalid != nil {
		return engine.ProviderSlot{}, hcl.Diagnostics{invalid}
	}
	return slot, nil
}

func slotOf(expr hcl.Expression) (slot engine.ProviderSlot, ok bool) {
	if traversal, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		slot.LocalName = traversal.RootName()
		if len(traversal) == 1 {
			return slot, true
		}
		step, ok := traversal[1].(hcl.TraverseAttr)
		slot.Alias = step.Name
		return slot, ok && len(traversal) == 2
	}
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.Type() != cty.String || !value.IsKnown() || value.IsNull() {
		return slot, false
	}
	var aliased bool
	slot.LocalName, slot.Alias, aliased = strings.Cut(value.AsString(), ".")
	return slot, !aliased || hclsyntax.ValidIdentifier(slot.Alias)
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
