// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terragrunt

import (
	"path"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
)

// readFunctions are the functions whose first argument names a file that they read.
var readFunctions = map[string]bool{
	"read_terragrunt_config": true, "read_tfvars_file": true, "sops_decrypt_file": true, "mark_as_read": true,
	"file": true, "templatefile": true, "filebase64": true, "filemd5": true, "filesha1": true, "filesha256": true, "filesha512": true,
	"filebase64sha256": true, "filebase64sha512": true,
}

// readsOf adds the files that a body reads besides those that it includes.
func (r *reader) readsOf(body *hclsyntax.Body, ctx *hcl.EvalContext) {
	_ = hclsyntax.VisitAll(body, func(node hclsyntax.Node) hcl.Diagnostics { //nolint:errcheck // the function returns no diagnostics
		switch node := node.(type) {
		case *hclsyntax.FunctionCallExpr:
			if readFunctions[node.Name] && len(node.Args) > 0 {
				r.readsFile(node.Args[0], ctx, node.Name == "read_terragrunt_config")
			}
		case *hclsyntax.Block:
			if node.Type == "extra_arguments" {
				r.varFiles(node.Body.Attributes["required_var_files"], ctx)
				r.varFiles(node.Body.Attributes["optional_var_files"], ctx)
			}
		}
		return nil
	})
}

func (r *reader) varFiles(attribute *hclsyntax.Attribute, ctx *hcl.EvalContext) {
	if attribute == nil {
		return
	}
	items := []hclsyntax.Expression{attribute.Expr}
	if list, ok := attribute.Expr.(*hclsyntax.TupleConsExpr); ok {
		items = list.Exprs
	}
	for _, item := range items {
		r.readsFile(item, ctx, false)
	}
}

// readsFile adds the files that an expression names: one, or several where it is a list. A file
// that it names as a configuration may read others.
func (r *reader) readsFile(expr hclsyntax.Expression, ctx *hcl.EvalContext, configuration bool) {
	value, ok := r.evaluate(expr, ctx)
	if !ok || value.IsNull() {
		r.unit.Unread = append(r.unit.Unread, expr.Range())
		return
	}
	values := []cty.Value{value}
	if value.CanIterateElements() {
		values = value.AsValueSlice()
	}
	for _, value := range values {
		if value.IsNull() || value.Type() != cty.String {
			r.unit.Unread = append(r.unit.Unread, expr.Range())
			return
		}
		name := value.AsString()
		if !strings.HasPrefix(name, "/") {
			name = path.Join("/", r.unit.Dir, name)
		}
		if name = relative(name); r.filed[name] {
			continue
		}
		r.filed[name] = true
		r.unit.Files = append(r.unit.Files, name)
		if configuration && r.spend(expr.Range(), perInclude) {
			r.readsOfConfiguration(name)
		}
	}
}

// readsOfConfiguration adds the files that a configuration reads which the unit reads. Relative
// names in it are taken from the directory of the unit, as those of files that are included are.
func (r *reader) readsOfConfiguration(name string) {
	body, diags := r.included(name)
	if diags.HasErrors() {
		return // it counts itself
	}
	ctx := &hcl.EvalContext{Functions: r.functions(), Variables: map[string]cty.Value{}}
	r.locals(body, ctx)
	r.readsOf(body, ctx)
}
