// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package refs

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/lang"
)

// InExpr returns the references in an expression, in the order of the text.
func InExpr(expr hcl.Expression) ([]Reference, hcl.Diagnostics) {
	var f Finder
	f.AddExpr(expr)
	return f.Found, f.Diags
}

// FunctionCall is the call of a function.
type FunctionCall struct {
	Name     string // with its namespace, such as provider::local::name
	Args     int    // how many arguments are written
	Expanded bool   // the last of them is a list of any number of arguments
	Range    hcl.Range
}

// Finder collects references and calls of functions. The zero value has none.
type Finder struct {
	Found []Reference
	Calls []FunctionCall // none of those in JSON syntax
	Diags hcl.Diagnostics

	local []map[string]struct{} // names that for expressions and dynamic blocks declare
}

// AddExpr adds the references in an expression.
func (f *Finder) AddExpr(expr hcl.Expression) {
	if native, ok := expr.(hclsyntax.Expression); ok {
		f.Diags = append(f.Diags, hclsyntax.Walk(native, f)...)
		return
	}
	for _, traversal := range expr.Variables() {
		f.add(traversal)
	}
}

// AddBody adds the references in a body in native syntax, except for its arguments and blocks of
// some names. Nil excepts none.
//
// Without a schema, all blocks called dynamic are taken for generators of others, and go by the
// names of these.
func (f *Finder) AddBody(body *hclsyntax.Body, except func(name string) bool) {
	for _, attr := range inOrder(body.Attributes) {
		if except == nil || !except(attr.Name) {
			f.AddExpr(attr.Expr)
		}
	}
	for _, block := range body.Blocks {
		switch {
		case block.Type == "dynamic" && len(block.Labels) == 1:
			if except == nil || !except(block.Labels[0]) {
				f.addDynamic(block)
			}
		case except != nil && except(block.Type):
		default:
			f.AddBody(block.Body, nil)
		}
	}
}

// addDynamic adds a dynamic block, in whose labels and content a name stands for the element that a
// block is made for.
func (f *Finder) addDynamic(block *hclsyntax.Block) {
	iterator := block.Labels[0]
	for _, attr := range inOrder(block.Body.Attributes) {
		switch name := hcl.ExprAsKeyword(attr.Expr); {
		case attr.Name == "labels":
		case attr.Name != "iterator":
			f.AddExpr(attr.Expr)
		case name != "":
			iterator = name
		}
	}
	f.local = append(f.local, map[string]struct{}{iterator: {}})
	if labels := block.Body.Attributes["labels"]; labels != nil {
		f.AddExpr(labels.Expr)
	}
	for _, content := range block.Body.Blocks {
		f.AddBody(content.Body, nil)
	}
	f.local = f.local[:len(f.local)-1]
}

func inOrder(attributes hclsyntax.Attributes) []*hclsyntax.Attribute {
	ordered := make([]*hclsyntax.Attribute, 0, len(attributes))
	for _, attr := range attributes {
		ordered = append(ordered, attr)
	}
	slices.SortFunc(ordered, func(a, b *hclsyntax.Attribute) int { return cmp.Compare(a.SrcRange.Start.Byte, b.SrcRange.Start.Byte) })
	return ordered
}

// Enter implements [hclsyntax.Walker].
func (f *Finder) Enter(node hclsyntax.Node) hcl.Diagnostics {
	switch node := node.(type) {
	case *hclsyntax.ScopeTraversalExpr:
		f.add(node.Traversal)
	case *hclsyntax.FunctionCallExpr:
		f.Calls = append(f.Calls, FunctionCall{Name: node.Name, Args: len(node.Args), Expanded: node.ExpandFinal, Range: node.NameRange})
	case hclsyntax.ChildScope:
		f.local = append(f.local, node.LocalNames)
	}
	return nil
}

// Exit implements [hclsyntax.Walker].
func (f *Finder) Exit(node hclsyntax.Node) hcl.Diagnostics {
	if _, ok := node.(hclsyntax.ChildScope); ok {
		f.local = f.local[:len(f.local)-1]
	}
	return nil
}

func (f *Finder) add(traversal hcl.Traversal) {
	if len(traversal) == 0 || traversal.IsRelative() || lang.IsTypeWord(traversal) {
		return
	}
	root := traversal.RootName()
	for _, names := range f.local {
		if _, ok := names[root]; ok {
			return
		}
	}
	ref, diags := Parse(traversal)
	f.Diags = append(f.Diags, diags...)
	if !diags.HasErrors() {
		f.Found = append(f.Found, ref)
	}
}
