// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	tfaddr "github.com/hashicorp/terraform-registry-address"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// requirementsAddr is the name of the required_providers block, of which a stack has one.
type requirementsAddr struct{}

func (requirementsAddr) String() string { return "required_providers" }

func (d *decoder) requiredProviders(block *hcl.Block) {
	if !d.claim(requirementsAddr{}, d.header(block), "Provider requirements declared twice") {
		return
	}
	reqs := &ProviderRequirements{Providers: map[string]*ProviderRequirement{}, Range: d.header(block)}
	d.stack.RequiredProviders = reqs

	names := map[stackaddrs.Provider]string{}
	for _, attr := range d.attributes(block.Body) {
		if !d.checkName(attr.Name, attr.NameRange, "Provider local") {
			continue
		}
		req := d.providerRequirement(attr)
		if req == nil {
			d.badLocalNames[attr.Name] = true
			continue
		}
		if other, taken := names[req.Provider]; taken {
			d.badLocalNames[attr.Name] = true
			d.errorf(attr.NameRange, "Provider has two names", "%s is already called %s in this stack.", req.Provider, other)
			continue
		}
		names[req.Provider] = attr.Name
		reqs.Providers[attr.Name] = req
	}
	reqs.Rejected = d.badLocalNames
	d.addBuiltin(reqs, names)
}

// addBuiltin gives the built-in provider its name in stacks that do not say it.
func (d *decoder) addBuiltin(reqs *ProviderRequirements, names map[stackaddrs.Provider]string) {
	const name = "terraform"
	_, declared := names[stackaddrs.BuiltinProvider]
	if declared || d.badLocalNames[name] || reqs.Providers[name] != nil {
		return
	}
	reqs.Providers[name] = &ProviderRequirement{
		LocalName: name,
		Provider:  stackaddrs.BuiltinProvider,
		Range:     reqs.Range,
	}
}

// attributes returns all arguments of a body in the order they are written.
func (d *decoder) attributes(body hcl.Body) []*hcl.Attribute {
	attrs, diags := body.JustAttributes()
	d.diags = append(d.diags, diags...)
	ordered := make([]*hcl.Attribute, 0, len(attrs))
	for _, attr := range attrs {
		ordered = append(ordered, attr)
	}
	slices.SortFunc(ordered, func(a, b *hcl.Attribute) int {
		return cmp.Compare(a.NameRange.Start.Byte, b.NameRange.Start.Byte)
	})
	return ordered
}

// providerRequirement decodes one entry. It returns nil if there was a mistake.
func (d *decoder) providerRequirement(attr *hcl.Attribute) *ProviderRequirement {
	pairs, diags := hcl.ExprMap(attr.Expr)
	if diags.HasErrors() {
		d.errorf(attr.Expr.Range(), "Unusable provider requirement",
			"A provider requirement is written as an object, like { source = \"hashicorp/aws\", version = \"~> 5.7\" }.")
		return nil
	}
	before := len(d.diags)
	args := d.requirementArguments(pairs)
	req := &ProviderRequirement{LocalName: attr.Name, Range: attr.NameRange}
	if source, ok := args["source"]; ok {
		req.Provider = d.providerSource(source)
	} else {
		d.errorf(attr.NameRange, "Provider source missing", "Add the source address of provider %q, like source = \"hashicorp/aws\".", attr.Name)
	}
	versionAttr, hasVersion := args["version"]
	switch builtin := req.Provider.IsBuiltin(); {
	case builtin && hasVersion:
		d.errorf(versionAttr.Range, "Built-in providers have no version",
			"%s is part of the engine. Remove the version argument.", req.Provider)
	case hasVersion:
		req.Version = d.versionConstraint(versionAttr)
	case !builtin && req.Provider != stackaddrs.Provider{}:
		d.errorf(attr.NameRange, "Provider version missing", "Add the acceptable versions of provider %q, like version = \"~> 5.7\".", attr.Name)
	}
	if len(d.diags) > before {
		return nil
	}
	return req
}

// requirementArguments returns the arguments in a provider requirement.
func (d *decoder) requirementArguments(pairs []hcl.KeyValuePair) map[string]*hcl.Attribute {
	args := map[string]*hcl.Attribute{}
	for _, pair := range pairs {
		name := hcl.ExprAsKeyword(pair.Key)
		switch name {
		case "source", "version":
		case "":
			d.errorf(pair.Key.Range(), "Unusable provider requirement", "The names of arguments are written without quotes.")
			continue
		default:
			d.errorf(pair.Key.Range(), "Unknown provider requirement argument", "Only source and version can be set.")
			continue
		}
		if _, repeated := args[name]; repeated {
			d.errorf(pair.Key.Range(), "Argument repeated", "The argument %q was already set.", name)
			continue
		}
		args[name] = &hcl.Attribute{
			Name:      name,
			Expr:      pair.Value,
			NameRange: pair.Key.Range(),
			Range:     hcl.RangeBetween(pair.Key.Range(), pair.Value.Range()),
		}
	}
	return args
}

func (d *decoder) providerSource(attr *hcl.Attribute) stackaddrs.Provider {
	text, ok := d.literalString(attr)
	if !ok {
		return stackaddrs.Provider{}
	}
	addr, reason := parseProviderSource(text)
	if reason != "" {
		d.errorf(attr.Expr.Range(), "Unusable provider source", "%q is not the source address of a provider. %s", text, reason)
	}
	return addr
}

// parseProviderSource parses an address like hashicorp/aws. If it cannot be
// used, reason is a sentence.
func parseProviderSource(text string) (addr stackaddrs.Provider, reason string) {
	if strings.HasPrefix(path.Base(text), "terraform-") {
		return addr, "The type of a provider does not begin with \"terraform-\" or \"terraform-provider-\"."
	}
	parsed, err := tfaddr.ParseProviderSource(text)
	switch {
	case err != nil:
		return addr, "It has the form [HOST/]NAMESPACE/TYPE, in which all parts are letters, digits and dashes."
	case !parsed.HasKnownNamespace():
		return addr, "The namespace is missing, as in \"hashicorp/" + parsed.Type + "\"."
	case parsed.IsLegacy():
		return addr, "The namespace \"-\" of old providers is not available."
	}
	return stackaddrs.Provider{Hostname: parsed.Hostname.ForDisplay(), Namespace: parsed.Namespace, Type: parsed.Type}, ""
}

// versionConstraint returns the text of a version argument, or "" if it has a mistake.
func (d *decoder) versionConstraint(attr *hcl.Attribute) string {
	text, ok := d.literalString(attr)
	if !ok {
		return ""
	}
	if _, err := version.NewConstraint(text); err != nil {
		d.errorf(attr.Expr.Range(), "Unreadable version constraint",
			"%q is not a version constraint. Write operators (=, !=, >, >=, <, <=, ~>) and versions, "+
				"separated by commas, like \">= 1.2.0, < 2.0.0\".", text)
		return ""
	}
	return text
}

var providerSchema = &hcl.BodySchema{
	Attributes: []hcl.AttributeSchema{{Name: "for_each"}},
	Blocks:     []hcl.BlockHeaderSchema{{Type: "config"}},
}

// pendingProvider is a provider block whose provider is not known yet.
type pendingProvider struct {
	config         *ProviderConfig
	localNameRange hcl.Range
}

func (d *decoder) provider(block *hcl.Block) {
	ref := stackaddrs.ProviderConfigRef{LocalName: block.Labels[0], Name: block.Labels[1]}
	// Both are checked, so that both mistakes are reported at once.
	localOK := d.checkName(ref.LocalName, block.LabelRanges[0], "Provider local")
	if nameOK := d.checkName(ref.Name, block.LabelRanges[1], "Provider configuration"); !localOK || !nameOK {
		return
	}
	if !d.claim(ref, d.header(block), "Provider configuration declared twice") {
		return
	}
	content, _ := d.content(block, providerSchema)
	config := &ProviderConfig{
		Ref:     ref,
		ForEach: d.expression(content.Attributes["for_each"]),
		Config:  hcl.EmptyBody(),
		Range:   d.header(block),
	}
	if nested := d.onlyBlock(content.Blocks); nested != nil {
		config.Config = nested.Body
	}
	d.providers = append(d.providers, &pendingProvider{config, block.LabelRanges[0]})
}

// Expressions returns those of the config block and of blocks in it, for callers that don't know
// its schema.
func (c *ProviderConfig) Expressions() []hcl.Expression { return bodyExpressions(c.Config) }

func bodyExpressions(body hcl.Body) []hcl.Expression {
	var found []hcl.Expression
	if body, ok := body.(*hclsyntax.Body); ok {
		for _, attr := range body.Attributes {
			found = append(found, attr.Expr)
		}
		for _, block := range body.Blocks {
			found = append(found, bodyExpressions(block.Body)...)
		}
		return found
	}
	attrs, diags := body.JustAttributes()
	if diags.HasErrors() {
		return nil // mistakes are reported when the body is decoded
	}
	for _, attr := range attrs {
		found = append(found, attr.Expr)
	}
	return found
}

// onlyBlock returns the nested block of which there may be one.
func (d *decoder) onlyBlock(blocks hcl.Blocks) *hcl.Block {
	if len(blocks) == 0 {
		return nil
	}
	for _, extra := range blocks[1:] {
		d.errorf(d.header(extra), "Only one "+extra.Type+" block allowed", "The first one is at %s.", place(blocks[0].TypeRange))
	}
	return blocks[0]
}

func (d *decoder) finishProvider(p *pendingProvider) {
	provider, ok, reported := d.requirement(p.config.Ref.LocalName)
	if !ok {
		d.stack.Rejected[p.config.Ref] = true
		if !reported {
			d.errorf(p.localNameRange, "Provider not declared", "required_providers has no entry named %s.", p.config.Ref.LocalName)
		}
		return
	}
	p.config.Provider = provider
	d.stack.Providers[p.config.Ref] = p.config
}

// providerAssignments decodes a providers argument.
func (d *decoder) providerAssignments(attr *hcl.Attribute) []ProviderAssignment {
	if attr == nil {
		return nil
	}
	pairs, diags := hcl.ExprMap(attr.Expr)
	if diags.HasErrors() {
		d.errorf(attr.Expr.Range(), "Unusable providers argument",
			"Provider configurations are assigned in an object, like { aws = provider.aws.main }.")
		return nil
	}
	assignments := make([]ProviderAssignment, 0, len(pairs))
	first := map[engine.ProviderSlot]hcl.Range{}
	for _, pair := range pairs {
		slot, ok := providerSlot(pair.Key)
		if !ok {
			d.errorf(pair.Key.Range(), "Unusable provider slot name",
				"A key is the module's name of a provider, or that name with an alias: aws or aws.main, without quotes.")
			continue
		}
		if rng, taken := first[slot]; taken {
			d.errorf(pair.Key.Range(), "Provider slot assigned twice", "%s was already assigned at %s.", slot, place(rng))
			continue
		}
		first[slot] = pair.Key.Range()
		assignments = append(assignments, ProviderAssignment{slot, pair.Key.Range(), d.checkedExpression(pair.Value)})
	}
	return assignments
}

func providerSlot(key hcl.Expression) (engine.ProviderSlot, bool) {
	traversal := StaticTraversal(key)
	if len(traversal) < 1 || len(traversal) > 2 {
		return engine.ProviderSlot{}, false
	}
	slot := engine.ProviderSlot{LocalName: traversal.RootName()}
	if len(traversal) == 2 {
		alias, ok := traversal[1].(hcl.TraverseAttr)
		if !ok {
			return engine.ProviderSlot{}, false
		}
		slot.Alias = alias.Name
	}
	return slot, true
}
