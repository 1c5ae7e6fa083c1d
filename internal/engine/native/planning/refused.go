// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/configs"
)

// Unsupported returns the errors about what a module tree needs and this package cannot do, by feature and place.
func Unsupported(tree *configs.Tree) hcl.Diagnostics {
	diags := append(hcl.Diagnostics(nil), tree.Unsupported...)
	refuse := func(what string, at hcl.Range) {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Unsupported module feature", Detail: "The native engine does not have " + what + ".", Subject: at.Ptr(),
		})
	}
	for _, r := range tree.Removed {
		if len(r.Provisioners) > 0 {
			refuse("provisioners of what is removed", r.Provisioners[0].Range)
		}
	}
	for _, child := range tree.Children {
		diags = append(diags, Unsupported(child)...)
	}
	return diags
}
