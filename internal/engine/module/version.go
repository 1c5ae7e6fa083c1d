// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"slices"

	"github.com/hashicorp/go-version"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
)

// VersionConstraint is a required_version argument.
type VersionConstraint struct {
	Text  string
	Range hcl.Range
}

func (d *Directory) addVersionConstraint(attr *hcl.Attribute) {
	value, diags := attr.Expr.Value(nil)
	if !diags.HasErrors() && value.Type() == cty.String && !value.IsNull() { // else the engine says so
		d.Versions = append(d.Versions, VersionConstraint{value.AsString(), attr.Expr.Range()})
	}
}

// unsupported reports the modules that are for other versions of terraform. What else is wrong in them may be right there.
func (l *Loader) unsupported(tree *Tree) hcl.Diagnostics {
	current, err := version.NewVersion(l.terraform)
	if err != nil {
		return nil //nolint:nilerr // it is not terraform
	}
	accepted := []*version.Version{current, current.Core()}
	if actions, err := version.NewVersion(l.actions); err == nil && slices.ContainsFunc(tree.Directories(), func(d *Directory) bool { return d.HasActions }) {
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
				Detail: fmt.Sprintf("This module is for Terraform %s, and the engine is Terraform %s. Use another engine, "+
					"another version of the module, or change the constraint.", wanted.Text, l.terraform),
				Subject: wanted.Range.Ptr(),
			})
		}
	}
	return diags
}
