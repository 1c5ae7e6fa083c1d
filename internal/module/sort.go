// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"cmp"
	"slices"

	"github.com/hashicorp/hcl/v2"
)

// inOrder returns arguments in the order of the text.
func inOrder(attrs hcl.Attributes) []*hcl.Attribute {
	ordered := make([]*hcl.Attribute, 0, len(attrs))
	for _, attr := range attrs {
		ordered = append(ordered, attr)
	}
	slices.SortFunc(ordered, func(a, b *hcl.Attribute) int {
		return cmp.Or(cmp.Compare(a.Range.Start.Byte, b.Range.Start.Byte), cmp.Compare(a.Name, b.Name))
	})
	return ordered
}
