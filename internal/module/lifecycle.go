// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/stackaddrs"
)

var (
	lifecycleSchema = &hcl.BodySchema{
		Attributes: schemaOf("create_before_destroy", "prevent_destroy", "destroy", "ignore_changes", "replace_triggered_by",
			"enabled").Attributes,
		Blocks: []hcl.BlockHeaderSchema{{Type: "precondition"}, {Type: "postcondition"}, {Type: "action_trigger"}},
	}
	callLifecycleSchema = schemaOf("enabled")
)

func (d *decoder) lifecycle(block *hcl.Block, r *Resource) {
	content, diags := block.Body.Content(lifecycleSchema)
	d.add(diags)
	d.enabled(content, &r.Repeat)
	if r.Addr.Mode != stackaddrs.ManagedResource {
		d.managedOnly(content)
	} else {
		d.fixed(content, "create_before_destroy", &r.CreateBeforeDestroy)
		if d.tofu {
			if condition := d.argument(content, "prevent_destroy"); condition != nil {
				r.PreventDestroyIf = condition
			}
		} else {
			d.fixed(content, "prevent_destroy", &r.PreventDestroy)
		}
		if attr := content.Attributes["destroy"]; attr != nil {
			d.since("1.16", "the lifecycle argument destroy", attr.NameRange)
			destroy := true
			d.add(decodeBool(content, "destroy", &destroy))
			if !d.override { // terraform ignores it in override files
				r.Forgets = !destroy
			}
		}
		if attr := content.Attributes["ignore_changes"]; attr != nil {
			d.ignoreChanges(attr, r)
		}
		if attr := content.Attributes["replace_triggered_by"]; attr != nil && d.override { // terraform ignores it as well
			d.warn(attr.NameRange, "Override ignored", "The argument replace_triggered_by has no effect in an override file. Write it "+
				"where the resource is declared.")
		} else if attr != nil {
			r.ReplaceTriggeredBy = d.triggers(attr)
		}
	}
	for _, nested := range content.Blocks {
		d.lifecycleBlock(nested, r)
	}
}

// managedOnly reports the arguments that only managed resources can have.
func (d *decoder) managedOnly(content *hcl.BodyContent) {
	for _, attr := range inOrder(content.Attributes) {
		d.problem(attr.NameRange, "Argument for managed resources", fmt.Sprintf("Only managed resources have the lifecycle argument %q, for "+
			"only they are changed.", attr.Name))
	}
}

func (d *decoder) lifecycleBlock(block *hcl.Block, r *Resource) {
	switch {
	case block.Type == "action_trigger" && r.Addr.Mode == stackaddrs.ManagedResource:
		r.ActionTriggers = append(r.ActionTriggers, d.actionTrigger(block))
	case block.Type == "action_trigger":
		d.problem(block.TypeRange, "Trigger without changes", "Actions are triggered by changes, which only managed resources have.")
	case d.override:
		d.notOverridable(block)
	case block.Type == "precondition":
		r.Preconditions = append(r.Preconditions, d.condition(block))
	default:
		r.Postconditions = append(r.Postconditions, d.condition(block))
	}
}

// ignoreChanges decodes the keyword all, or a list of paths. An override replaces those of the
// base.
func (d *decoder) ignoreChanges(attr *hcl.Attribute, r *Resource) {
	if hcl.ExprAsKeyword(attr.Expr) == "all" {
		r.IgnoreAll = true
		return
	}
	exprs, diags := hcl.ExprList(attr.Expr)
	d.add(diags)
	r.IgnoreChanges = nil
	for _, expr := range exprs {
		if path, ok := d.ignoredPath(expr); ok {
			r.IgnoreChanges = append(r.IgnoreChanges, path)
		}
	}
}

func (d *decoder) ignoredPath(expr hcl.Expression) (hcl.Traversal, bool) {
	text, isText := quoted(expr)
	if !isText {
		path, diags := hcl.RelTraversalForExpr(expr)
		d.add(diags)
		return path, !diags.HasErrors()
	}
	if text == "*" {
		d.problem(expr.Range(), "Invalid ignore_changes wildcard", `To ignore all changes, write ignore_changes = all.`)
		return nil, false
	}
	path, diags := hclsyntax.ParseTraversalAbs([]byte(text), expr.Range().Filename, inside(expr.Range()))
	d.add(diags)
	if diags.HasErrors() {
		return nil, false
	}
	d.warnQuoted(expr)
	root := hcl.TraverseAttr{Name: path.RootName(), SrcRange: path[0].SourceRange()}
	return append(hcl.Traversal{root}, path[1:]...), true
}

// triggers decodes a list of references to resources.
func (d *decoder) triggers(attr *hcl.Attribute) []*Expr {
	exprs, diags := hcl.ExprList(attr.Expr)
	d.add(diags)
	var triggers []*Expr
	for _, expr := range exprs {
		reference, diags := unquoted(expr)
		d.add(diags)
		triggers = append(triggers, d.expr(reference))
	}
	return triggers
}
