// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// imports checks the import blocks of the root module. Two with the same text of the address are
// for the same object.
func (c *checker) imports(tree *module.Node) {
	seen := map[string]bool{}
	m := &moduleChecker{checker: c, tree: tree, functions: c.opts.Functions(tree), locals: map[string]cty.Value{}}
	for _, i := range tree.Imports {
		m.importTarget(i)
		m.imported(i)
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
func (m *moduleChecker) importTarget(i *module.Import) {
	missing := func(what string) {
		m.problem(i.To.Range(), "Undeclared import target", fmt.Sprintf(
			"The configuration does not declare %s. Write a block for the object to import: the native engine does not "+
				"generate any.", what))
	}
	in, path := m.tree, ""
	for _, step := range i.Steps[:len(i.Steps)-1] {
		path += "module." + step.Name
		call := in.Calls[step.Name]
		if call == nil {
			missing(path)
			return
		}
		m.importKey(i, path, call.Repeat, step)
		if in = in.Children[step.Name]; in == nil {
			return // why it is not there was reported
		}
		path += "."
	}
	r := in.Resources[i.Block.Resource]
	if r == nil {
		missing(i.Block.String())
		return
	}
	m.importKey(i, i.Block.String(), r.Repeat, i.Steps[len(i.Steps)-1])
	if i.Provider != nil && (r.ProviderRange == r.Range || i.Provider.Slot != r.Provider) {
		m.problem(i.Provider.Range, "Invalid import argument", "The argument provider is for an import that a configuration is "+
			"generated for. "+
			"The resource block of this one says which provider configuration is used.")
	}
}

// importKey checks the key after a name in an address.
func (m *moduleChecker) importKey(i *module.Import, named string, repeat module.Repeat, step module.AddressStep) {
	repeated := repeat != (module.Repeat{})
	switch {
	case repeated && step.Key == nil:
		m.problem(i.To.Range(), "Invalid import target", fmt.Sprintf(
			"%s has several instances, or none: it has a %s argument. Write the key of the instance that is meant in brackets "+
				"after the name.", named, argumentOf(repeat)))
	case !repeated && step.Key != nil:
		m.problem(i.To.Range(), "Invalid import target", fmt.Sprintf("%s has one instance, without a key: there is no count or for_each "+
			"argument. Leave out the brackets.", named))
	}
}

// imported checks the arguments, for each object where it is known which these are.
func (m *moduleChecker) imported(i *module.Import) {
	at := place{repeat: module.Repeat{ForEach: i.ForEach}}
	places := []place{at}
	if i.ForEach != nil {
		value, ok := m.eval(i.ForEach, place{})
		if !ok {
			return
		}
		if value, _ = value.Unmark(); !module.CanImportEach(value) {
			m.problem(i.ForEach.Range(), "Invalid for_each argument", fmt.Sprintf("The objects to import come from a map, a set or a "+
				"list. A %s is none of these.", value.Type().FriendlyName()))
			return
		}
		places = eachImport(at, value)
	}
	for _, at := range places {
		for _, step := range i.Steps {
			if step.Key != nil {
				found, diags := refs.InExpr(step.Key)
				if m.add(diags) {
					m.eval(&module.Expr{Expression: step.Key, Refs: found}, at)
				}
			}
		}
		m.importID(i, at)
	}
}

// eachImport returns a place for each element, or one for all if these are not known.
func eachImport(at place, value cty.Value) []place {
	switch {
	case value.IsNull():
		return nil
	case !value.IsKnown():
		return []place{at}
	}
	var places []place
	for it := value.ElementIterator(); it.Next(); {
		key, element := it.Element()
		if value.Type().IsSetType() {
			key = element
		}
		at.each = &each{key, element}
		places = append(places, at)
	}
	return places
}

// importID checks the id or identity of the object.
func (m *moduleChecker) importID(i *module.Import, at place) {
	expr := i.ID
	if i.Identity != nil {
		expr = i.Identity
	}
	for _, ref := range expr.Refs {
		if len(i.Steps) == 1 && ref.Subject.Kind == refs.Resource && ref.Subject.Resource() == i.Block.Resource {
			m.problem(expr.Range(), "Invalid import argument", fmt.Sprintf("The ID or identity of the object cannot refer "+
				"to %s, which exists only after the import.", i.Block))
			return
		}
	}
	value, ok := m.eval(expr, at)
	if !ok {
		return
	}
	if marks.Contains(value, marks.Ephemeral) {
		m.problem(expr.Range(), "Invalid import argument", "The ID or identity of an object cannot be ephemeral.")
		return
	}
	value, _ = value.UnmarkDeep()
	switch text, err := convert.Convert(value, cty.String); {
	case value.IsNull():
		m.problem(expr.Range(), "Invalid import argument", "The ID or identity of an object cannot be null.")
	case i.Identity != nil:
	case err != nil:
		m.problem(expr.Range(), "Invalid import argument", fmt.Sprintf("The ID of an object is a string. "+
			"This is a %s.", value.Type().FriendlyName()))
	case text.IsKnown() && text.AsString() == "":
		m.problem(expr.Range(), "Invalid import argument", "The ID cannot be empty.")
	}
}
