// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package settings

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"
)

// Upstream is where a stack is kept from which this one takes values: one of both is set.
type Upstream struct {
	Stack string // its directory, relative to that of this stack
	State string // the location of its state, as in [Settings.State]
}

// decodeUpstream decodes a block whose label is the address of a stack, as upstream_input blocks have it.
func decodeUpstream(block *hcl.Block, result *Settings) hcl.Diagnostics {
	source := block.Labels[0]
	if _, twice := result.Upstreams[source]; twice {
		return hcl.Diagnostics{{
			Severity: hcl.DiagError,
			Summary:  "Setting given twice",
			Detail:   fmt.Sprintf("There is another block that says where %s is kept.", source),
			Subject:  block.LabelRanges[0].Ptr(),
		}}
	}
	content, diags := block.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "stack"}, {Name: "state"}}})
	var upstream Upstream
	for name, target := range map[string]*string{"stack": &upstream.Stack, "state": &upstream.State} {
		value, moreDiags := stringSetting(content.Attributes[name])
		*target, diags = value, diags.Extend(moreDiags)
	}
	if (content.Attributes["stack"] == nil) == (content.Attributes["state"] == nil) {
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError,
			Summary:  "Unusable upstream",
			Detail:   "Give either stack, the directory of the stack, or state, the location of its state.",
			Subject:  block.DefRange.Ptr(),
		})
	}
	if result.Upstreams == nil {
		result.Upstreams = map[string]Upstream{}
	}
	result.Upstreams[source] = upstream
	return diags
}
