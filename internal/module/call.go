// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

var callSchema = &hcl.BodySchema{
	Attributes: schemaOf("source", "version", "count", "for_each", "depends_on", "providers", "ignore_nested_deprecations").Attributes,
	Blocks:     []hcl.BlockHeaderSchema{{Type: "_"}, {Type: "lifecycle"}, {Type: "locals"}, {Type: "provider", LabelNames: []string{"type"}}},
}

var callArguments, callBlocks = argumentNames(callSchema), blockNames(callSchema)

func (d *decoder) call(block *hcl.Block) {
	name := block.Labels[0]
	d.identifier(name, block.LabelRanges[0])
	if !d.declare("module call", name, block.DefRange) {
		return
	}
	call := d.dir.Calls[name]
	if call == nil {
		call = &Call{Name: name, SourceRange: block.DefRange, Range: block.DefRange, Inputs: map[string]*Expr{}, Names: map[string]hcl.Range{}}
		d.dir.Calls[name] = call
	}
	content, rest, diags := block.Body.PartialContent(callSchema)
	d.report(diags)
	d.source(call, content)
	d.repeat(content, &call.Repeat)
	if attr := content.Attributes["ignore_nested_deprecations"]; attr != nil {
		d.since("1.15", "the argument "+attr.Name, attr.NameRange)
		call.IgnoreDeprecations = d.literalBool(attr)
	}
	if attr := content.Attributes["providers"]; attr != nil {
		d.passed(call, attr.Expr)
	}
	if attr := d.notInOverride(content.Attributes["depends_on"]); attr != nil {
		call.DependsOn = d.dependsOn(attr)
	}
	d.inputs(call, rest)
	if escaped := d.nested(content, block, &call.Repeat); escaped != nil {
		d.inputs(call, escaped)
	}
}

// literalBool decodes an argument that is true or false, and nothing that converts to these.
func (d *decoder) literalBool(attr *hcl.Attribute) bool {
	value, diags := attr.Expr.Value(nil)
	d.add(diags)
	switch {
	case diags.HasErrors():
		return false
	case value.Type() != cty.Bool || value.IsNull():
		d.problem(attr.Expr.Range(), "Invalid argument value", fmt.Sprintf("The argument %q must be true or false.", attr.Name))
		return false
	}
	return value.True()
}

// source decodes the address of a module, and the constraint on its version. Both are evaluated
// where the call is followed.
func (d *decoder) source(call *Call, content *hcl.BodyContent) {
	if attr := content.Attributes["source"]; attr != nil {
		call.Source, call.SourceRange = d.early(attr), attr.Expr.Range()
	} else if !d.override {
		d.missing(content, "source")
	}
	if attr := content.Attributes["version"]; attr != nil {
		call.Version = d.early(attr)
	}
}

// early decodes an argument that is evaluated when modules are loaded. In nearly all modules it is
// a literal.
func (d *decoder) early(attr *hcl.Attribute) *Expr {
	value, diags := (&Expr{Expression: attr.Expr}).literal()
	if diags.HasErrors() {
		d.since("1.15", "references and functions in the "+attr.Name+" of a module", attr.Expr.Range())
		return d.expr(attr.Expr)
	}
	if value.IsNull() {
		d.since("1.15", "a "+attr.Name+" that is null", attr.Expr.Range())
	}
	return &Expr{Expression: attr.Expr}
}

// passed decodes the provider configurations that a call passes.
func (d *decoder) passed(call *Call, expr hcl.Expression) {
	pairs, diags := hcl.ExprMap(expr)
	d.report(diags)
	call.Providers = make(map[engine.ProviderSlot]engine.ProviderSlot, len(pairs))
	call.ProviderRanges = make(map[engine.ProviderSlot]hcl.Range, len(pairs))
	for _, pair := range pairs {
		child, _ := d.slot(pair.Key)
		parent, _ := d.slot(pair.Value)
		call.Providers[child], call.ProviderRanges[child] = parent, pair.Key.Range()
	}
}

// inputs decodes the values of variables. Not all blocks are errors: those of the language have
// been decoded.
func (d *decoder) inputs(call *Call, body hcl.Body) {
	if native, ok := body.(*hclsyntax.Body); ok {
		for _, nested := range native.Blocks {
			if !callBlocks[nested.Type] {
				d.problem(nested.TypeRange, "Unsupported block type", fmt.Sprintf("Module calls have no blocks of type %q.", nested.Type))
			}
		}
		for name, attr := range native.Attributes {
			if !callArguments[name] {
				call.Inputs[name], call.Names[name] = d.expr(attr.Expr), attr.NameRange
			}
		}
		return
	}
	attrs, diags := body.JustAttributes()
	d.add(diags)
	for _, attr := range inOrder(attrs) {
		call.Inputs[attr.Name], call.Names[attr.Name] = d.expr(attr.Expr), attr.NameRange
	}
}

// nested returns the body of the block _, whose content counts as that of the block around it, and
// reports reserved blocks.
func (d *decoder) nested(content *hcl.BodyContent, block *hcl.Block, repeat *Repeat) hcl.Body {
	var escaped, lifecycle *hcl.Block
	for _, nested := range content.Blocks {
		switch nested.Type {
		case "_":
			if escaped != nil {
				d.twice(nested, escaped)
				continue
			}
			escaped = nested
		case "locals", "lifecycle", "provider":
			if nested.Type == "lifecycle" && (block.Type != "module" || d.callLifecycle(nested, lifecycle, repeat)) {
				lifecycle = nested
				continue
			}
			d.problem(nested.TypeRange, "Reserved block type",
				fmt.Sprintf("Blocks of type %q in %s blocks are reserved for later versions of the language.", nested.Type, block.Type))
		}
	}
	if escaped == nil {
		return nil
	}
	return escaped.Body
}

// callLifecycle decodes a block that only OpenTofu has in a module call. It reports false if there
// is no sign that OpenTofu is meant. The earlier one is nil if it is the first in its call.
func (d *decoder) callLifecycle(block, earlier *hcl.Block, repeat *Repeat) bool {
	content, _, diags := block.Body.PartialContent(callLifecycleSchema)
	if d.tofu {
		content, diags = block.Body.Content(callLifecycleSchema)
	}
	meant := d.tofu || len(content.Attributes) > 0
	if meant {
		d.add(diags)
	}
	if meant && earlier != nil {
		d.twice(block, earlier)
	}
	d.enabled(content, repeat)
	return meant
}

// twice reports a block that can be there only once.
func (d *decoder) twice(block, first *hcl.Block) {
	d.problem(block.DefRange, "Duplicate nested block", fmt.Sprintf("There can be one block of type %q here, and there is one at %s.",
		block.Type, first.DefRange))
}

// repeat decodes count and for_each.
func (d *decoder) repeat(content *hcl.BodyContent, target *Repeat) {
	count, forEach := d.argument(content, "count"), d.argument(content, "for_each")
	if count != nil && forEach != nil {
		at := content.Attributes["for_each"].NameRange
		d.problem(at, "Both count and for_each", "The two arguments exclude each other: one says how many instances there are, the other one "+
			"which.")
	}
	if count != nil {
		target.Count = count
	}
	if forEach != nil {
		target.ForEach = forEach
	}
}

// dependsOn decodes a list of references to whole objects.
func (d *decoder) dependsOn(attr *hcl.Attribute) []refs.Reference {
	exprs, diags := hcl.ExprList(attr.Expr)
	d.add(diags)
	var found []refs.Reference
	for _, expr := range exprs {
		traversal, ok := d.traversal(expr)
		if !ok {
			continue
		}
		ref, diags := refs.Parse(traversal)
		d.add(diags)
		if diags.HasErrors() {
			continue
		}
		if len(ref.Rest) > 0 {
			d.problem(ref.Rest.SourceRange(), "Invalid dependency reference", "Only whole objects can be depended on: resources, module calls "+
				"and their outputs, local values, variables. Leave out the rest.")
			continue
		}
		found = append(found, ref)
	}
	return found
}

// traversal returns the reference that an expression consists of. In native syntax it may be in
// quotes, as old modules have it.
func (d *decoder) traversal(expr hcl.Expression) (hcl.Traversal, bool) {
	if text, ok := quoted(expr); ok {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte(text), expr.Range().Filename, inside(expr.Range()))
		d.add(diags)
		if diags.HasErrors() {
			return nil, false
		}
		d.warnQuoted(expr)
		return traversal, true
	}
	traversal, diags := hcl.AbsTraversalForExpr(expr)
	d.add(diags)
	return traversal, !diags.HasErrors()
}

// warnQuoted warns of a reference if it is in quotes.
func (d *decoder) warnQuoted(expr hcl.Expression) {
	if _, ok := quoted(expr); ok {
		d.warn(expr.Range(), "Quoted reference", "References are not written in quotes. The quotes can be left out.")
	}
}
