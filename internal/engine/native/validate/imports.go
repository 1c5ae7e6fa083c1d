// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/eval"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// imports checks the import blocks of a module. Two with the same text of the address are for the
// same object.
func (c *checker) imports(ctx context.Context, m *eval.Module) {
	seen := map[string]bool{}
	for _, i := range m.Config.Imports {
		c.importTarget(m.Config, i)
		c.imported(ctx, m, i)
		traversal, diags := hcl.AbsTraversalForExpr(i.To)
		if diags.HasErrors() {
			continue // each instance has an address of its own
		}
		if text := module.AddressText(traversal); seen[text] {
			c.problem(i.To.Range(), "Duplicate import", "Another import block is for the same object.")
		} else {
			seen[text] = true
		}
	}
}

// importTarget checks that there is a block for the imported object, and that it has keys where the
// address has some.
func (c *checker) importTarget(in *module.Node, i *module.Import) {
	missing := func(what string) { c.Eval.Diagnostics.Add(undeclaredTarget(i, what)) }
	root := in
	path := ""
	for _, step := range i.Steps[:len(i.Steps)-1] {
		path += "module." + step.Name
		call := in.Calls[step.Name]
		if call == nil {
			missing(path)
			return
		}
		c.importKey(i, path, call.Repeat, step)
		if in = in.Children[step.Name]; in == nil {
			return // why it is not there was reported
		}
		path += "."
	}
	r := in.Resources[i.Block.Resource]
	switch {
	case r == nil && root.Parent == nil && len(i.Steps) == 1:
		c.importUndeclared(i)
		return
	case r == nil:
		missing(i.Block.String())
		return
	}
	c.importKey(i, i.Block.String(), r.Repeat, i.Steps[len(i.Steps)-1])
	if i.Provider != nil && (r.ProviderRange == r.Range || i.Provider.Slot != r.Provider) {
		c.problem(i.Provider.Range, "Invalid import argument", "The argument provider is for an import that a configuration is "+
			"generated for. "+
			"The resource block of this one says which provider configuration is used.")
	}
}

func undeclaredTarget(i *module.Import, what string) *hcl.Diagnostic {
	return failure.At(i.To.Range(), "Undeclared import target",
		"The configuration does not declare %s. Write a block for the object to import.", what)
}

// importUndeclared checks an import block of the root module for an object that the module has no
// block for, which can be generated.
func (c *checker) importUndeclared(i *module.Import) {
	several := i.ForEach != nil || i.Steps[0].Key != nil
	switch {
	case !c.Generates:
		diag := undeclaredTarget(i, i.Block.String())
		if !several {
			diag.Detail += " It can also be generated."
			diag.Extra = &engine.DiagnosticData{Fault: fault.ImportUndeclared}
		}
		c.Eval.Diagnostics.Add(diag)
	case several:
		c.problem(i.To.Range(), "Configuration not generated", fmt.Sprintf(
			"The configuration does not declare %s. Blocks are generated for single objects, without count and for_each: write the block, or "+
				"an import block for each of the objects.", i.Block))
	}
}

// importKey checks the key after a name in an address.
func (c *checker) importKey(i *module.Import, named string, repeat module.Repeat, step module.AddressStep) {
	if mistake := eval.KeyMistake(named, repeat, step.Key != nil); mistake != "" {
		c.problem(i.To.Range(), "Invalid import target", mistake)
	}
}

// imported checks the arguments, for each object where it is known which these are.
func (c *checker) imported(ctx context.Context, m *eval.Module, i *module.Import) {
	places, _ := m.ImportPlaces(ctx, i)
	for _, at := range places {
		for _, step := range i.Steps {
			if step.Key != nil {
				m.InstanceKey(ctx, step.Key, at)
			}
		}
		c.importName(ctx, m, i, at)
	}
}

// importName checks the id or identity of the object.
func (c *checker) importName(ctx context.Context, m *eval.Module, i *module.Import, at eval.Place) {
	expr := i.ID
	if i.Identity != nil {
		expr = i.Identity
	}
	for _, ref := range expr.Refs {
		if len(i.Steps) == 1 && ref.Subject.Kind == refs.Resource && ref.Subject.Resource() == i.Block.Resource {
			c.problem(expr.Range(), "Invalid import argument", fmt.Sprintf("The ID or identity of the object cannot refer "+
				"to %s, which exists only after the import.", i.Block))
			return
		}
	}
	m.ImportName(ctx, i, c.importIdentity(m, i), at)
}

// importIdentity returns the type of the identity of an imported object, dynamic where that is not
// known, or where only planning finds that there is none.
func (c *checker) importIdentity(m *eval.Module, i *module.Import) cty.Type {
	in := m.Config
	for _, step := range i.Block.Module.Path() {
		if in = in.Children[step.Name]; in == nil {
			return cty.DynamicPseudoType
		}
	}
	if r := in.Resources[i.Block.Resource]; r != nil {
		if p := c.Schemas.Schema(r.ProviderAddr); p != nil {
			if ty := c.Options.Types.Of(r.ProviderAddr, p, r.Addr); ty != nil && ty.Identity != nil {
				return ty.ImportIdentity()
			}
		}
	}
	return cty.DynamicPseudoType
}
