// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/safehcl"
)

// visit calls a function for every node of a file's syntax, if the text occurs in it. For files in
// JSON these are the nodes of the templates in strings, whose places are not known; place then
// gives the file's beginning.
func (f *File) visit(text string, each func(node hclsyntax.Node, place func(hcl.Range) hcl.Range)) {
	if !bytes.Contains(f.Source, []byte(text)) {
		return
	}
	if body, native := f.Native(); native {
		visitAll(body, func(node hclsyntax.Node) { each(node, func(at hcl.Range) hcl.Range { return at }) })
		return
	}
	beginning := func(hcl.Range) hcl.Range {
		return hcl.Range{Filename: f.Display, Start: hcl.InitialPos, End: hcl.InitialPos}
	}
	decoder := json.NewDecoder(bytes.NewReader(f.Source))
	for {
		token, err := decoder.Token()
		if err != nil {
			return // the end, or an error that the parser has reported
		}
		template, ok := token.(string)
		if !ok || !strings.Contains(template, text) {
			continue
		}
		if expr, diags := safehcl.ParseTemplate([]byte(template), f.Display, hcl.InitialPos); !diags.HasErrors() {
			visitAll(expr, func(node hclsyntax.Node) { each(node, beginning) })
		}
	}
}

func visitAll(tree hclsyntax.Node, each func(hclsyntax.Node)) {
	//nolint:errcheck // the callback returns no diagnostics
	_ = hclsyntax.VisitAll(tree, func(node hclsyntax.Node) hcl.Diagnostics {
		each(node)
		return nil
	})
}

// addWorkspaceUses notes where the name of the workspace is asked for.
func (d *Directory) addWorkspaceUses(file *File) {
	file.visit("workspace", func(node hclsyntax.Node, place func(hcl.Range) hcl.Range) {
		expr, ok := node.(*hclsyntax.ScopeTraversalExpr)
		if !ok || len(expr.Traversal) < 2 {
			return
		}
		root := expr.Traversal.RootName()
		attr, ok := expr.Traversal[1].(hcl.TraverseAttr)
		if ok && attr.Name == "workspace" && (root == "terraform" || root == "tofu") {
			d.WorkspaceUses = append(d.WorkspaceUses, place(expr.Range()))
		}
	})
}

// withoutWorkspace reports uses of the name of the workspace, which components don't have.
func (d *Directory) withoutWorkspace() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, at := range d.WorkspaceUses {
		diags = diags.Append(failure.At(at, "Workspace name not available",
			"A component has no workspace. Give the module a variable for the distinction that the name made, and let the component set it."))
	}
	return diags
}
