// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func (d *decoder) imported(block *hcl.Block) {
	if d.override {
		d.notOverridable(block)
		return
	}
	content, diags := block.Body.Content(importSchema)
	d.add(diags)
	to := content.Attributes["to"]
	if to == nil {
		return
	}
	target, diags := unquoted(to.Expr)
	d.add(diags)
	i := &Import{To: target, Range: block.DefRange}
	if !i.decodeTarget() && !diags.HasErrors() {
		d.problem(i.To.Range(), "Invalid import target", "The argument to is the address of an instance of a managed resource, in which "+
			"only keys can be expressions.")
	}
	if attr := content.Attributes["provider"]; attr != nil {
		d.warnQuoted(attr.Expr)
		slot, diags := decodeSlot(attr.Expr)
		d.add(diags)
		i.Provider = &ImportProvider{Slot: slot, Range: attr.Expr.Range()}
	}
	i.ID, i.Identity, i.ForEach = d.argument(content, "id"), d.argument(content, "identity"), d.argument(content, "for_each")
	if i.Identity != nil {
		d.since("1.12", "identities in import blocks", content.Attributes["identity"].NameRange)
	}
	switch {
	case i.ID == nil && i.Identity == nil:
		d.missing(content, "id")
		i.ID = &Expr{Expression: hcl.StaticExpr(cty.DynamicVal, content.MissingItemRange)}
	case i.ID != nil && i.Identity != nil:
		d.problem(content.Attributes["identity"].NameRange, "Both id and identity", "An object to be imported is named by an ID or by "+
			"its identity, not by both.")
	}
	d.dir.Imports = append(d.dir.Imports, i)
}

// Slot returns the provider configuration of an object for which no block says it.
func (i *Import) Slot() engine.ProviderSlot {
	if i.Provider != nil {
		return i.Provider.Slot
	}
	name, _, _ := strings.Cut(i.Block.Resource.Type, "_")
	return engine.ProviderSlot{LocalName: name}
}

// Undeclared returns the import blocks for objects of the module itself that it has no block for.
func (d *Directory) Undeclared() []*Import {
	var found []*Import
	for _, i := range d.Imports {
		if i.Block.Resource.Type != "" && len(i.Steps) == 1 && d.Resources[i.Block.Resource] == nil {
			found = append(found, i)
		}
	}
	return found
}

// decodeTarget takes the address apart, and reports whether it is one of a managed resource.
func (i *Import) decodeTarget() bool {
	steps, ok := addressSteps(i.To)
	if !ok {
		return false
	}
	at := stackaddrs.RootModuleInstance
	for len(steps) >= 2 && steps[0].Name == "module" && steps[0].Key == nil {
		at = at.Child(steps[1].Name, stackaddrs.NoKey)
		i.Steps = append(i.Steps, steps[1])
		steps = steps[2:]
	}
	if len(steps) == 3 && steps[0].Name == "resource" && steps[0].Key == nil {
		steps = steps[1:]
	}
	if len(steps) != 2 || steps[0].Key != nil || steps[0].Name == "data" {
		return false
	}
	i.Steps = append(i.Steps, steps[1])
	i.Block = stackaddrs.ResourceInstance{Module: at, Resource: stackaddrs.Resource{Type: steps[0].Name, Name: steps[1].Name}}
	return true
}

// addressSteps takes an expression apart that is a reference, with any expressions for keys.
func addressSteps(expr hcl.Expression) ([]AddressStep, bool) {
	switch expr := expr.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		return appendSteps(nil, expr.Traversal)
	case *hclsyntax.RelativeTraversalExpr:
		steps, ok := addressSteps(expr.Source)
		if !ok {
			return nil, false
		}
		return appendSteps(steps, expr.Traversal)
	case *hclsyntax.IndexExpr:
		steps, ok := addressSteps(expr.Collection)
		if !ok || steps[len(steps)-1].Key != nil {
			return nil, false
		}
		steps[len(steps)-1].Key = expr.Key
		return steps, true
	}
	return nil, false
}

func appendSteps(steps []AddressStep, traversal hcl.Traversal) ([]AddressStep, bool) {
	for _, step := range traversal {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			steps = append(steps, AddressStep{Name: step.Name})
		case hcl.TraverseAttr:
			steps = append(steps, AddressStep{Name: step.Name})
		case hcl.TraverseIndex:
			if len(steps) == 0 || steps[len(steps)-1].Key != nil {
				return nil, false
			}
			steps[len(steps)-1].Key = hcl.StaticExpr(step.Key, step.SrcRange)
		default:
			return nil, false
		}
	}
	return steps, len(steps) > 0
}

// CanImportEach reports whether a value, which may be null or unknown, is one that the for_each
// argument of an import block can have.
func CanImportEach(value cty.Value) bool {
	ty := value.Type()
	return ty == cty.DynamicPseudoType || ty.IsMapType() || ty.IsObjectType() || ty.IsSetType() || ty.IsTupleType() || ty.IsListType()
}
