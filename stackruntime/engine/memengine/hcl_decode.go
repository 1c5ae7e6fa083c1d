// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package memengine

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/hashicorp/hcl/v2/gohcl"
	tfaddr "github.com/hashicorp/terraform-registry-address"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// decoder decodes the files of a module. Unknown blocks and arguments are errors (rule M3), which
// the schemas see to.
type decoder struct {
	program  *hclProgram
	stackDir string
	path     []string // directories of the modules from the root to this one
	diags    hcl.Diagnostics
}

var rootSchema = &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{
	{Type: "terraform"},
	{Type: "variable", LabelNames: []string{"name"}},
	{Type: "locals"},
	{Type: "output", LabelNames: []string{"name"}},
	{Type: "resource", LabelNames: []string{"type", "name"}},
	{Type: "check", LabelNames: []string{"name"}},
	{Type: "module", LabelNames: []string{"name"}},
	{Type: "provider", LabelNames: []string{"name"}},
}}

func (d *decoder) decodeFile(body hcl.Body) {
	for _, block := range d.content(body, rootSchema).Blocks {
		switch block.Type {
		case "terraform":
			d.decodeTerraform(block)
		case "variable":
			d.decodeVariable(block)
		case "locals":
			d.decodeLocals(block)
		case "output":
			d.decodeOutput(block)
		case "resource":
			d.decodeResource(block)
		case "check":
			d.decodeCheck(block)
		case "module":
			d.decodeCall(block)
		case "provider":
			d.fail("Modules used by components cannot configure providers",
				"Modules used by components cannot configure providers. Configure the provider in the stack and assign it in the component's providers argument.",
				block.DefRange)
		}
	}
}

// content decodes a body. The result is never nil.
func (d *decoder) content(body hcl.Body, schema *hcl.BodySchema) *hcl.BodyContent {
	content, diags := body.Content(schema)
	d.diags = d.diags.Extend(diags)
	if content == nil {
		return &hcl.BodyContent{}
	}
	return content
}

func (d *decoder) fail(summary, detail string, rng hcl.Range) {
	d.diags = d.diags.Append(&hcl.Diagnostic{
		Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: rng.Ptr(),
	})
}

// declare reports a second declaration of one thing.
func declare[T any](d *decoder, declared map[string]T, name, kind string, item T, rng hcl.Range) {
	if _, ok := declared[name]; ok {
		d.fail("Duplicate declaration", fmt.Sprintf("There is more than one %s %q in the module.", kind, name), rng)
		return
	}
	declared[name] = item
}

func attribute[T any](d *decoder, content *hcl.BodyContent, name string, target *T) {
	if attr, ok := content.Attributes[name]; ok {
		d.diags = d.diags.Extend(gohcl.DecodeExpression(attr.Expr, nil, target))
	}
}

func attributes(names ...string) []hcl.AttributeSchema {
	schema := make([]hcl.AttributeSchema, len(names))
	for i, name := range names {
		schema[i].Name = name
	}
	return schema
}

func (d *decoder) decodeTerraform(block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: attributes("required_version"),
		Blocks:     []hcl.BlockHeaderSchema{{Type: "required_providers"}},
	})
	for _, inner := range content.Blocks {
		attrs, diags := inner.Body.JustAttributes()
		d.diags = d.diags.Extend(diags)
		for _, attr := range attrs {
			d.decodeRequirement(attr)
		}
	}
}

func (d *decoder) decodeRequirement(attr *hcl.Attribute) {
	source, version := attr.Name, ""
	aliases := []hcl.Expression{}
	if pairs, diags := hcl.ExprMap(attr.Expr); diags.HasErrors() {
		d.diags = d.diags.Extend(gohcl.DecodeExpression(attr.Expr, nil, &version))
	} else {
		for _, pair := range pairs {
			switch hcl.ExprAsKeyword(pair.Key) {
			case "source":
				d.diags = d.diags.Extend(gohcl.DecodeExpression(pair.Value, nil, &source))
			case "version":
				d.diags = d.diags.Extend(gohcl.DecodeExpression(pair.Value, nil, &version))
			case "configuration_aliases":
				list, diags := hcl.ExprList(pair.Value)
				d.diags = d.diags.Extend(diags)
				aliases = append(aliases, list...)
			default:
				d.fail("Invalid provider requirement", "Only source, version and configuration_aliases can be set here.", pair.Key.Range())
			}
		}
	}
	parsed, err := tfaddr.ParseProviderSource(source)
	if err != nil {
		d.fail("Invalid provider source", sentence(err), attr.Expr.Range())
		return
	}
	provider := stackaddrs.Provider{Hostname: parsed.Hostname.String(), Namespace: parsed.Namespace, Type: parsed.Type}
	if parsed.Hostname == tfaddr.DefaultProviderRegistryHost && !parsed.HasKnownNamespace() {
		provider.Namespace = "hashicorp"
	}
	if !provider.IsBuiltin() { // that one is part of the engine
		d.addRequirement(provider, version)
	}
	slot := &engine.Slot{Provider: provider, Declared: true, Range: attr.NameRange}
	if len(aliases) == 0 {
		d.program.module.Slots[engine.ProviderSlot{LocalName: attr.Name}] = slot
	}
	for _, expr := range aliases {
		traversal, diags := hcl.AbsTraversalForExpr(expr)
		d.diags = d.diags.Extend(diags)
		if len(traversal) != 2 || diags.HasErrors() {
			continue
		}
		alias, ok := traversal[1].(hcl.TraverseAttr)
		if !ok || traversal.RootName() != attr.Name {
			d.fail("Invalid configuration alias", "An alias is written as the local name of the provider, a dot and a name.", expr.Range())
			continue
		}
		d.program.module.Slots[engine.ProviderSlot{LocalName: attr.Name, Alias: alias.Name}] = slot
	}
}

func (d *decoder) addRequirement(provider stackaddrs.Provider, version string) {
	versions := d.program.module.Requirements[provider]
	if version != "" && !slices.Contains(versions, version) {
		versions = append(versions, version)
		slices.Sort(versions)
	}
	d.program.module.Requirements[provider] = versions
}

func (d *decoder) decodeVariable(block *hcl.Block) {
	name := block.Labels[0]
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: attributes("type", "default", "description", "nullable", "sensitive", "ephemeral"),
		Blocks:     []hcl.BlockHeaderSchema{{Type: "validation"}},
	})
	v := &engine.Variable{Name: name, Type: cty.DynamicPseudoType, Nullable: true, Range: block.DefRange}
	if attr, ok := content.Attributes["type"]; ok {
		ty, defaults, diags := typeexpr.TypeConstraintWithDefaults(attr.Expr)
		d.diags = d.diags.Extend(diags)
		v.Type = ty
		if defaults != nil {
			v.Defaults = defaults
		}
	}
	attribute(d, content, "nullable", &v.Nullable)
	attribute(d, content, "sensitive", &v.Sensitive)
	attribute(d, content, "ephemeral", &v.Ephemeral)
	if attr, ok := content.Attributes["default"]; ok {
		v.Default = d.decodeDefault(attr, v)
	}
	config := &variableConfig{rng: block.DefRange}
	for _, inner := range content.Blocks {
		config.rules = append(config.rules, d.decodeRule(inner))
	}
	declare(d, d.program.variables, name, "variable", config, block.DefRange)
	d.program.module.Variables[name] = v
}

func (d *decoder) decodeDefault(attr *hcl.Attribute, v *engine.Variable) cty.Value {
	value, diags := attr.Expr.Value(nil)
	d.diags = d.diags.Extend(diags)
	if !value.IsNull() {
		value = v.ApplyDefaults(value)
	}
	converted, err := convert.Convert(value, v.Type)
	if err != nil {
		d.fail("Invalid default value for variable", sentence(fmt.Errorf("this default value is not compatible with the variable's type constraint: %w", err)), attr.Expr.Range())
		return cty.UnknownVal(v.Type.WithoutOptionalAttributesDeep())
	}
	return converted
}

func (d *decoder) decodeRule(block *hcl.Block) *ruleConfig {
	content := d.content(block.Body, &hcl.BodySchema{Attributes: []hcl.AttributeSchema{
		{Name: "condition", Required: true}, {Name: "error_message", Required: true},
	}})
	rule := &ruleConfig{
		condition:    hcl.StaticExpr(cty.DynamicVal, block.DefRange),
		errorMessage: hcl.StaticExpr(cty.DynamicVal, block.DefRange),
		rng:          block.DefRange,
	}
	if attr, ok := content.Attributes["condition"]; ok {
		rule.condition = attr.Expr
	}
	if attr, ok := content.Attributes["error_message"]; ok {
		rule.errorMessage = attr.Expr
	}
	return rule
}

func (d *decoder) decodeLocals(block *hcl.Block) {
	attrs, diags := block.Body.JustAttributes()
	d.diags = d.diags.Extend(diags)
	for name, attr := range attrs {
		declare(d, d.program.locals, name, "local value", &localConfig{attr.Expr, attr.Range}, attr.Range)
	}
}

func (d *decoder) decodeOutput(block *hcl.Block) {
	name := block.Labels[0]
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: append(attributes("description", "sensitive", "ephemeral", "depends_on"), hcl.AttributeSchema{Name: "value", Required: true}),
		Blocks:     []hcl.BlockHeaderSchema{{Type: "precondition"}},
	})
	o := &engine.Output{Name: name, Range: block.DefRange}
	attribute(d, content, "sensitive", &o.Sensitive)
	attribute(d, content, "ephemeral", &o.Ephemeral)
	config := &outputConfig{rng: block.DefRange, value: hcl.StaticExpr(cty.DynamicVal, block.DefRange), dependsOn: d.dependsOn(content)}
	if attr, ok := content.Attributes["value"]; ok {
		config.value = attr.Expr
	}
	for _, inner := range content.Blocks {
		config.preconditions = append(config.preconditions, d.decodeRule(inner))
	}
	declare(d, d.program.outputs, name, "output", config, block.DefRange)
	d.program.module.Outputs[name] = o
}

func (d *decoder) dependsOn(content *hcl.BodyContent) []hcl.Traversal {
	attr, ok := content.Attributes["depends_on"]
	if !ok {
		return nil
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	d.diags = d.diags.Extend(diags)
	var traversals []hcl.Traversal
	for _, expr := range exprs {
		traversal, diags := hcl.AbsTraversalForExpr(expr)
		d.diags = d.diags.Extend(diags)
		if !diags.HasErrors() {
			traversals = append(traversals, traversal)
		}
	}
	return traversals
}

func (d *decoder) decodeResource(block *hcl.Block) {
	if block.Labels[0] != dataResourceType {
		d.fail("Unsupported resource type", fmt.Sprintf("The in-memory engine has only the resource type %s.", dataResourceType), block.LabelRanges[0])
		return
	}
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: attributes("count", "for_each", "depends_on", "input", "triggers_replace"),
		Blocks:     []hcl.BlockHeaderSchema{{Type: "lifecycle"}},
	})
	r := &resourceConfig{name: block.Labels[1], rng: block.DefRange, dependsOn: d.dependsOn(content)}
	for name, target := range map[string]*hcl.Expression{
		"count": &r.count, "for_each": &r.forEach, "input": &r.input, "triggers_replace": &r.triggersReplace,
	} {
		if attr, ok := content.Attributes[name]; ok {
			*target = attr.Expr
		}
	}
	if r.count != nil && r.forEach != nil {
		d.fail("Invalid combination of arguments", "A resource has count or for_each, not both.", r.forEach.Range())
	}
	for _, inner := range content.Blocks {
		d.decodeLifecycle(inner, &r.lifecycle)
	}
	declare(d, d.program.resources, r.name, "resource", r, block.DefRange)
}

func (d *decoder) decodeLifecycle(block *hcl.Block, target *lifecycleConfig) {
	content := d.content(block.Body, &hcl.BodySchema{
		Attributes: attributes("create_before_destroy", "prevent_destroy", "ignore_changes"),
		Blocks:     []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}},
	})
	attribute(d, content, "create_before_destroy", &target.createBeforeDestroy)
	attribute(d, content, "prevent_destroy", &target.preventDestroy)
	if attr, ok := content.Attributes["ignore_changes"]; ok {
		d.decodeIgnoreChanges(attr.Expr, target)
	}
	for _, inner := range content.Blocks {
		rule := d.decodeRule(inner)
		if inner.Type == "precondition" {
			target.preconditions = append(target.preconditions, rule)
		} else {
			target.postconditions = append(target.postconditions, rule)
		}
	}
}

func (d *decoder) decodeIgnoreChanges(expr hcl.Expression, target *lifecycleConfig) {
	if hcl.ExprAsKeyword(expr) == "all" {
		target.ignoreInput, target.ignoreTriggers = true, true
		return
	}
	list, diags := hcl.ExprList(expr)
	d.diags = d.diags.Extend(diags)
	for _, item := range list {
		switch hcl.ExprAsKeyword(item) {
		case "input":
			target.ignoreInput = true
		case "triggers_replace":
			target.ignoreTriggers = true
		default:
			d.fail("Unsupported ignore_changes", "The in-memory engine can ignore changes of input and of triggers_replace as a whole.", item.Range())
		}
	}
}

func (d *decoder) decodeCheck(block *hcl.Block) {
	content := d.content(block.Body, &hcl.BodySchema{Blocks: []hcl.BlockHeaderSchema{{Type: "assert"}}})
	config := &checkConfig{rng: block.DefRange}
	for _, inner := range content.Blocks {
		config.rules = append(config.rules, d.decodeRule(inner))
	}
	declare(d, d.program.checks, block.Labels[0], "check", config, block.DefRange)
}

// decodeCall decodes a module block and loads the module.
func (d *decoder) decodeCall(block *hcl.Block) {
	attrs, diags := block.Body.JustAttributes()
	d.diags = d.diags.Extend(diags)
	content := &hcl.BodyContent{Attributes: attrs}
	call := &callConfig{arguments: map[string]hcl.Expression{}, dependsOn: d.dependsOn(content), rng: block.DefRange}
	for _, name := range slices.Sorted(maps.Keys(attrs)) {
		switch name {
		case "source", "depends_on":
		case "version", "providers", "count", "for_each":
			d.fail("Unsupported argument", fmt.Sprintf("The in-memory engine calls modules without %s.", name), attrs[name].NameRange)
		default:
			call.arguments[name] = attrs[name].Expr
		}
	}
	source := ""
	attribute(d, content, "source", &source)
	if !strings.HasPrefix(source, "./") && !strings.HasPrefix(source, "../") {
		d.fail("Unsupported module source", "The in-memory engine calls modules from local directories only, whose names start with ./ or ../ here.", block.DefRange)
		return
	}
	dir := filepath.Join(d.program.module.Dir, filepath.FromSlash(source))
	if slices.Contains(d.path, dir) {
		d.fail("Recursive module call", "A module cannot call itself, directly or through others.", block.DefRange)
		return
	}
	call.program, diags = loadModule(dir, d.stackDir, d.path)
	d.diags = d.diags.Extend(diags)
	if call.program == nil || diags.HasErrors() {
		return
	}
	d.checkArguments(call)
	d.adopt(call.program.module)
	declare(d, d.program.calls, block.Labels[0], "module", call, block.DefRange)
}

func (d *decoder) checkArguments(call *callConfig) {
	variables := call.program.module.Variables
	for _, name := range slices.Sorted(maps.Keys(call.arguments)) {
		if _, ok := variables[name]; !ok {
			d.fail("Unsupported argument", fmt.Sprintf("The module has no variable %q.", name), call.arguments[name].Range())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		if _, ok := call.arguments[name]; !ok && variables[name].Required() {
			d.fail("Missing required argument", fmt.Sprintf("The module's variable %q needs a value.", name), call.rng)
		}
	}
}

// adopt makes the requirements of a called module requirements of this one.
func (d *decoder) adopt(child *engine.Module) {
	for provider, versions := range child.Requirements {
		d.addRequirement(provider, "")
		for _, version := range versions {
			d.addRequirement(provider, version)
		}
	}
	for name, slot := range child.Slots {
		if _, ok := d.program.module.Slots[name]; !ok && name.Alias == "" {
			d.program.module.Slots[name] = slot
		}
	}
}

// reference is the target that the first steps of a traversal name.
type reference struct {
	kind string // var, local, module, terraform_data, each, count, self, path or terraform
	name string
}

// parseReference interprets a traversal.
func parseReference(traversal hcl.Traversal) (reference, *hcl.Diagnostic) {
	kind := traversal.RootName()
	invalid := func(detail string) (reference, *hcl.Diagnostic) {
		return reference{}, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Invalid reference", Detail: detail, Subject: traversal.SourceRange().Ptr(),
		}
	}
	if kind == "self" {
		return reference{kind: kind}, nil
	}
	kinds := []string{"var", "local", "module", dataResourceType, "each", "count", "path", "terraform"}
	if !slices.Contains(kinds, kind) {
		return invalid(fmt.Sprintf("%q is nothing that the in-memory engine knows. References start with %s.", kind, strings.Join(kinds, ", ")))
	}
	if len(traversal) < 2 {
		return invalid(fmt.Sprintf("A name must follow %q.", kind))
	}
	attr, ok := traversal[1].(hcl.TraverseAttr)
	if !ok {
		return invalid(fmt.Sprintf("A name must follow %q.", kind))
	}
	return reference{kind, attr.Name}, nil
}
