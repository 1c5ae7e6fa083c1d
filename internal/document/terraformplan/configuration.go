// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terraformplan

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// configuration is the modules as they are written.
type configuration struct {
	Providers  map[string]providerConfig `json:"provider_config,omitempty"`
	RootModule configModule              `json:"root_module"`
}

// providerConfig is a provider configuration, or the need of a module for one.
type providerConfig struct {
	Name              string         `json:"name"`
	FullName          string         `json:"full_name"`
	Alias             string         `json:"alias,omitempty"`
	VersionConstraint string         `json:"version_constraint,omitempty"`
	ModuleAddress     string         `json:"module_address,omitempty"`
	Expressions       map[string]any `json:"expressions,omitempty"`
}

// configModule is a module without instances.
type configModule struct {
	Outputs   map[string]configOutput   `json:"outputs,omitempty"`
	Resources []configResource          `json:"resources,omitempty"`
	Calls     map[string]configCall     `json:"module_calls,omitempty"`
	Variables map[string]configVariable `json:"variables,omitempty"`
}

type configOutput struct {
	Sensitive   bool       `json:"sensitive,omitempty"`
	Expression  expression `json:"expression"`
	DependsOn   []string   `json:"depends_on,omitempty"`
	Description string     `json:"description,omitempty"`
}

type configResource struct {
	Address      string              `json:"address"`
	Mode         string              `json:"mode"`
	Type         string              `json:"type"`
	Name         string              `json:"name"`
	ProviderKey  string              `json:"provider_config_key"`
	Provisioners []configProvisioner `json:"provisioners,omitempty"`
	Expressions  map[string]any      `json:"expressions,omitempty"`
	Version      uint64              `json:"schema_version"`
	Count        *expression         `json:"count_expression,omitempty"`
	ForEach      *expression         `json:"for_each_expression,omitempty"`
	DependsOn    []string            `json:"depends_on,omitempty"`
}

type configProvisioner struct {
	Type        string         `json:"type"`
	Expressions map[string]any `json:"expressions,omitempty"`
}

type configCall struct {
	Source            string                `json:"source"`
	Expressions       map[string]expression `json:"expressions,omitempty"`
	Count             *expression           `json:"count_expression,omitempty"`
	ForEach           *expression           `json:"for_each_expression,omitempty"`
	Module            configModule          `json:"module"`
	VersionConstraint string                `json:"version_constraint,omitempty"`
	DependsOn         []string              `json:"depends_on,omitempty"`
}

type configVariable struct {
	Default     json.RawMessage `json:"default,omitempty"`
	Description string          `json:"description,omitempty"`
	Sensitive   bool            `json:"sensitive,omitempty"`
}

// expression is an expression: its value if it refers to nothing and calls no function, and its
// references. In JSON syntax it has both: a template there is a constant as far as its text goes.
type expression struct {
	Constant   json.RawMessage `json:"constant_value,omitempty"`
	References []string        `json:"references,omitempty"`
}

func (m *maker) configuration() configuration {
	if m.Tree == nil {
		return configuration{}
	}
	providers := map[string]providerConfig{}
	for _, node := range append([]*module.Node{m.Tree.Root}, m.Tree.Nodes...) {
		m.providersOf(node, providers)
	}
	return configuration{providers, m.module(m.Tree.Root)}
}

func (m *maker) module(node *module.Node) configModule {
	made := configModule{
		Outputs: map[string]configOutput{}, Calls: map[string]configCall{}, Variables: map[string]configVariable{},
	}
	for name, declared := range node.Outputs {
		made.Outputs[name] = configOutput{
			Sensitive: declared.Sensitive, Expression: newExpression(declared.Value),
			DependsOn: dependencies(declared.DependsOn), Description: declared.Description,
		}
	}
	for _, block := range node.Resources {
		if block.Addr.Mode != stackaddrs.EphemeralResource {
			made.Resources = append(made.Resources, m.resource(node, block))
		}
	}
	slices.SortFunc(made.Resources, func(a, b configResource) int {
		return cmp.Or(-strings.Compare(a.Mode, b.Mode), strings.Compare(a.Address, b.Address)) // managed ones come first
	})
	for name, call := range node.Calls {
		if child := node.Children[name]; child != nil {
			made.Calls[name] = m.call(call, child)
		}
	}
	for name, declared := range node.Variables {
		one := configVariable{Description: declared.Description, Sensitive: declared.Sensitive}
		if declared.Default != cty.NilVal {
			one.Default = knownPart(declared.Default)
		}
		made.Variables[name] = one
	}
	return made
}

func (m *maker) resource(node *module.Node, block *module.Resource) configResource {
	made := configResource{
		Address: block.Addr.String(), Mode: block.Addr.Mode.String(), Type: block.Addr.Type, Name: block.Addr.Name,
		ProviderKey: providerKey(node, block.Provider),
		Count:       repetition(block.Repeat.Count), ForEach: repetition(block.Repeat.ForEach), DependsOn: dependencies(block.DependsOn),
	}
	if found := m.schemaOf(block.ProviderAddr, block.Addr); found != nil {
		made.Version = uint64(found.Version) //nolint:gosec // never negative
		made.Expressions = expressions(block.Body, found.Block)
	}
	for _, one := range block.Provisioners {
		made.Provisioners = append(made.Provisioners, configProvisioner{one.Type, arguments(one.Body)})
	}
	return made
}

func (m *maker) call(call *module.Call, child *module.Node) configCall {
	made := configCall{
		Source: child.Source, Expressions: map[string]expression{}, VersionConstraint: child.Constraint,
		Count: repetition(call.Repeat.Count), ForEach: repetition(call.Repeat.ForEach),
		Module: m.module(child), DependsOn: dependencies(call.DependsOn),
	}
	for name, given := range call.Inputs {
		made.Expressions[name] = newExpression(given)
	}
	return made
}

// providersOf adds the configurations that a module has, and those that it needs and that no caller
// passes.
func (m *maker) providersOf(node *module.Node, all map[string]providerConfig) {
	add := func(slot engine.ProviderSlot) {
		owner, own := providerOwner(node, slot)
		key := keyOf(owner, own)
		if _, ok := all[key]; ok {
			return
		}
		provider, _ := owner.Provider(own.LocalName)
		made := providerConfig{Name: own.LocalName, FullName: provider.String(), Alias: own.Alias, ModuleAddress: moduleAddress(owner)}
		if required := owner.Required[own.LocalName]; required != nil {
			made.VersionConstraint = required.Version
			if normal, err := locks.NormalizeConstraints(required.Version); err == nil {
				made.VersionConstraint = normal
			}
		}
		made.Expressions = m.providerExpressions(owner, own, provider)
		all[key] = made
	}
	for name, required := range node.Required {
		add(engine.ProviderSlot{LocalName: name})
		for _, alias := range required.Aliases {
			add(engine.ProviderSlot{LocalName: name, Alias: alias})
		}
	}
	for _, block := range node.Providers {
		add(block.Slot)
	}
	for slot := range node.ProviderUses {
		add(slot)
	}
}

func (m *maker) providerExpressions(node *module.Node, slot engine.ProviderSlot, provider stackaddrs.Provider) map[string]any {
	known := m.Schemas[provider]
	if known == nil || known.Config == nil {
		return nil
	}
	if body, ok := m.Providers[slot]; ok && node.Parent == nil {
		return expressions(body, known.Config.Block)
	}
	for _, block := range node.Providers {
		if block.Slot == slot {
			return expressions(block.Config, known.Config.Block)
		}
	}
	return nil
}

// providerOwner follows a configuration from a module to the one that has it: by what calls pass,
// and else by its local name, as far as callers know that.
func providerOwner(node *module.Node, slot engine.ProviderSlot) (*module.Node, engine.ProviderSlot) {
	for node.Parent != nil {
		if passed, ok := node.Call.Providers[slot]; ok {
			node, slot = node.Parent, passed
			continue
		}
		above := node.Parent
		for above != nil && !knows(above, slot.LocalName) {
			above = above.Parent
		}
		if above == nil || slot.Alias != "" || configures(node, slot) {
			break
		}
		node = above
	}
	return node, slot
}

func configures(node *module.Node, slot engine.ProviderSlot) bool {
	return slices.ContainsFunc(node.Providers, func(block module.ProviderBlock) bool { return block.Slot == slot && !block.Proxy })
}

func knows(node *module.Node, localName string) bool {
	if node.Required[localName] != nil {
		return true
	}
	for slot := range node.ProviderUses {
		if slot.LocalName == localName {
			return true
		}
	}
	return slices.ContainsFunc(node.Providers, func(block module.ProviderBlock) bool { return block.Slot.LocalName == localName })
}

// providerKey returns the member of provider_config that a module means by a local name.
func providerKey(node *module.Node, slot engine.ProviderSlot) string {
	return keyOf(providerOwner(node, slot))
}

func keyOf(node *module.Node, slot engine.ProviderSlot) string {
	if node.Parent == nil {
		return slot.String()
	}
	return moduleAddress(node) + ":" + slot.String()
}

// moduleAddress is the address of a module without instances, empty for the root.
func moduleAddress(node *module.Node) string {
	if node.Parent == nil {
		return ""
	}
	return "module." + strings.ReplaceAll(node.Key, ".", ".module.")
}

// expressions are those of the arguments and blocks that are written in a body. Dynamic blocks are
// not among them, as in terraform.
func expressions(body hcl.Body, block *schema.Block) map[string]any {
	if block == nil {
		return nil
	}
	wanted := &hcl.BodySchema{}
	for _, attr := range block.Attributes {
		wanted.Attributes = append(wanted.Attributes, hcl.AttributeSchema{Name: attr.Name})
	}
	for _, nested := range block.Blocks {
		header := hcl.BlockHeaderSchema{Type: nested.Name}
		if nested.Nesting == schema.Map {
			header.LabelNames = []string{"key"}
		}
		wanted.Blocks = append(wanted.Blocks, header)
	}
	content, _, _ := body.PartialContent(wanted) //nolint:errcheck // mistakes were reported when it was planned
	made := map[string]any{}
	for name, attr := range content.Attributes {
		made[name] = expressionOf(attr.Expr)
	}
	for _, nested := range content.Blocks {
		described := block.Nested(nested.Type)
		inner := expressions(nested.Body, described.Block)
		switch described.Nesting {
		case schema.List, schema.Set:
			list, _ := made[nested.Type].([]any)
			made[nested.Type] = append(list, inner)
		case schema.Map:
			byKey, ok := made[nested.Type].(map[string]any)
			if !ok {
				byKey = map[string]any{}
				made[nested.Type] = byKey
			}
			byKey[nested.Labels[0]] = inner
		default:
			made[nested.Type] = inner
		}
	}
	return made
}

// arguments are the expressions in a body of which no schema is known.
func arguments(body hcl.Body) map[string]any {
	attributes, _ := body.JustAttributes() //nolint:errcheck // blocks of a provisioner have no place in the document
	made := map[string]any{}
	for name, attr := range attributes {
		made[name] = expressionOf(attr.Expr)
	}
	return made
}

// repetition is the expression of count or for_each, of which nothing is written where nothing can
// be said.
func repetition(expr *module.Expr) *expression {
	if expr == nil {
		return nil
	}
	made := newExpression(expr)
	if made.Constant == nil && made.References == nil {
		return nil
	}
	return &made
}

func newExpression(expr *module.Expr) expression {
	if expr == nil {
		return expression{}
	}
	return expressionOf(expr.Expression)
}

func expressionOf(expr hcl.Expression) expression {
	var made expression
	if value, diags := expr.Value(nil); !diags.HasErrors() && value.IsWhollyKnown() {
		made.Constant = written(terraformjson.Value(value))
	}
	for _, traversal := range expr.Variables() {
		if found, diags := refs.Parse(traversal); !diags.HasErrors() {
			made.References = append(made.References, spellings(found)...)
		}
	}
	return made
}

// spellings are a reference as it is written, and without its last steps one by one, down to the
// object that it leads to.
func spellings(ref refs.Reference) []string {
	subject, last := ref.Subject.String(), ""
	switch ref.Subject.Kind {
	case refs.Resource:
		if ref.Key != stackaddrs.NoKey {
			last = subject
			subject += ref.Key.String()
		}
	case refs.Call, refs.CallOutput:
		last = "module." + ref.Subject.Name + ref.Key.String()
		subject = last
		if ref.Subject.Kind == refs.CallOutput {
			subject += "." + ref.Subject.Attr
		} else {
			last = ""
		}
	}
	made := []string{subject}
	for _, step := range ref.Rest {
		text, ok := stepText(step)
		if !ok {
			break
		}
		subject += text
		made = append(made, subject)
	}
	slices.Reverse(made)
	if last != "" {
		made = append(made, last)
	}
	return made
}

func stepText(step hcl.Traverser) (string, bool) {
	switch step := step.(type) {
	case hcl.TraverseAttr:
		return "." + step.Name, true
	case hcl.TraverseIndex:
		key, ok := stackaddrs.KeyFromValue(step.Key)
		return key.String(), ok
	}
	return "", false
}

// dependencies are the references of depends_on as they are written.
func dependencies(references []refs.Reference) []string {
	var made []string
	for _, ref := range references {
		made = append(made, spellings(ref)[0])
	}
	return made
}
