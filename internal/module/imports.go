// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/safehcl"
)

// importBlock is an import block of the root module.
type importBlock struct {
	to        hcl.Traversal // the resource, perhaps with keys; nil if it is not known
	arguments []hcl.Range   // those that select the object to import
}

func newImportBlock(block *hcl.Block) importBlock {
	var found importBlock
	for _, argument := range bodyArguments(block.Body) {
		switch argument.name {
		case "to":
			found.to = importTarget(argument.expr)
		case "provider":
		default:
			found.arguments = append(found.arguments, argument.at)
		}
	}
	return found
}

// importTarget returns the target of an import, which may have a key that is an expression. In JSON
// it is in quotes.
func importTarget(expr hcl.Expression) hcl.Traversal {
	if expr == nil {
		return nil
	}
	if traversal, diags := hcl.AbsTraversalForExpr(expr); !diags.HasErrors() {
		return traversal
	}
	if _, native := expr.(hclsyntax.Expression); !native {
		text, diags := expr.Value(nil)
		if diags.HasErrors() || text.Type() != cty.String || text.IsNull() {
			return nil
		}
		parsed, diags := safehcl.ParseExpression([]byte(text.AsString()), "", hcl.InitialPos)
		if diags.HasErrors() {
			return nil
		}
		expr = parsed
	}
	for _, traversal := range expr.Variables() {
		switch traversal.RootName() {
		case "each", "var", "local":
		default:
			return traversal
		}
	}
	return nil
}

// ImportedAt returns the resources that an import block is for, if the argument at a position
// selects the object of that import.
func (l *Links) ImportedAt(pos hcl.Range) []Place {
	var places []Place
	for _, imported := range l.contents[l.tree.Root.Directory].imports {
		for _, at := range imported.arguments {
			if at.Filename != pos.Filename || pos.Start.Byte < at.Start.Byte || at.End.Byte <= pos.Start.Byte {
				continue
			}
			if place, ok := l.resourceAt(imported.to); ok {
				places = append(places, place)
			}
		}
	}
	return places
}

// resourceAt finds a resource by its address in the tree, whatever the keys in it.
func (l *Links) resourceAt(address hcl.Traversal) (Place, bool) {
	var names []string
	for _, step := range address {
		switch step := step.(type) {
		case hcl.TraverseRoot:
			names = append(names, step.Name)
		case hcl.TraverseAttr:
			names = append(names, step.Name)
		}
	}
	node := l.tree.Root
	for len(names) > 2 && names[0] == "module" {
		if node = node.Children[names[1]]; node == nil {
			return Place{}, false
		}
		names = names[2:]
	}
	block := l.contents[node.Directory].blocks[strings.Join(names, ".")]
	return Place{node, block}, block != nil
}
