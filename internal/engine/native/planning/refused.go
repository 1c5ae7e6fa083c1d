// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/configs"
)

// Unsupported returns the errors about what a module tree needs and the engine cannot do, by feature and place.
func Unsupported(tree *configs.Tree) hcl.Diagnostics {
	diags := append(hcl.Diagnostics(nil), tree.Unsupported...)
	for _, child := range tree.Children {
		diags = append(diags, Unsupported(child)...)
	}
	return diags
}
