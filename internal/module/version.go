// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"slices"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// VersionConstraint is a required_version argument.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

// requiredVersion notes a constraint, which may be written as a number. One of an override file
// takes the place of all others.
func (d *decoder) requiredVersion(attr *hcl.Attribute) {
	text, diags := decodeConstraint(attr.Expr)
	d.report(diags)
	if text == "" {
		return
	}
	if d.override {
		d.dir.Versions = nil
	}
	d.dir.Versions = append(d.dir.Versions, VersionConstraint{text, attr.Expr.Range()})
}

// decodeConstraint decodes a constraint on a version. It is empty if the argument is null, which is
// as none.
func decodeConstraint(expr hcl.Expression) (string, hcl.Diagnostics) {
	value, diags := expr.Value(nil)
	if diags.HasErrors() || value.IsNull() {
		return "", diags
	}
	text, err := convert.Convert(value, cty.String)
	if err == nil {
		_, err = version.NewConstraint(text.AsString())
	}
	if err != nil {
		return "", hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Invalid version constraint",
			Detail:   "This is not a version constraint. One is written like \"~> 1.2\", or \">= 1.0, < 2.0\".",
			Subject:  expr.Range().Ptr(),
		}}
	}
	return text.AsString(), nil
}

// unsupported reports the modules that are for other versions of terraform. Their other errors may
// be none there.
func (l *Loader) unsupported(tree *Tree) hcl.Diagnostics {
	current, err := version.NewVersion(l.opts.Terraform)
	if err != nil {
		return nil //nolint:nilerr // it is not terraform
	}
	accepted := []*version.Version{current, current.Core()}
	if actions, err := version.NewVersion(l.opts.Actions); err == nil &&
		slices.ContainsFunc(tree.Directories(), func(d *Directory) bool { return len(d.Actions) > 0 }) {
		accepted = append(accepted, actions)
	}
	var diags hcl.Diagnostics
	for _, dir := range tree.Directories() {
		for _, wanted := range dir.Versions {
			constraints, err := version.NewConstraint(wanted.Text)
			if err != nil || slices.ContainsFunc(accepted, constraints.Check) {
				continue
			}
			diags = diags.Append(&hcl.Diagnostic{
				Severity: hcl.DiagError,
				Summary:  "Unsupported Terraform version",
				Detail: fmt.Sprintf("This module is for Terraform %[1]s, and the engine is Terraform %[2]s. "+
					"Install a binary that it is for, use another version of the module, or change the constraint. "+
					"Where PATH has another one, the engine block of cairn.hcl has to require it, too: binary = \"terraform\", "+
					"version = %[1]q.",
					wanted.Text, l.opts.Terraform),
				Subject: wanted.Range.Ptr(),
				Extra:   fault.Named{Code: toolchain.CodeNotInstalled, Names: []string{toolchain.Terraform + " " + wanted.Text}},
			})
		}
	}
	return diags
}
