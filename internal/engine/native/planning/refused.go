// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planning

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/configs"
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Unsupported returns the errors about what a module tree needs and this package cannot do, by feature and place.
func Unsupported(tree *configs.Tree) hcl.Diagnostics {
	diags := append(hcl.Diagnostics(nil), tree.Unsupported...)
	refuse := func(what string, at hcl.Range) {
		diags = append(diags, &hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: "Unsupported module feature", Detail: "The native engine does not have " + what + ".", Subject: at.Ptr(),
		})
	}
	for _, r := range tree.Resources {
		if r.Addr.Mode == stackaddrs.EphemeralResource {
			refuse("ephemeral resources", r.Range)
		}
		if len(r.ReplaceTriggeredBy) > 0 {
			refuse("replace_triggered_by", r.Range)
		}
		if len(r.Provisioners) > 0 {
			refuse("provisioners", r.Range)
		}
	}
	for _, m := range tree.Moved {
		refuse("moved blocks", m.Range)
	}
	for _, m := range tree.Removed {
		refuse("removed blocks", m.Range)
	}
	for _, m := range tree.Imports {
		refuse("import blocks", m.Range)
	}
	for _, child := range tree.Children {
		diags = append(diags, Unsupported(child)...)
	}
	return diags
}

// The methods below are about what [Unsupported] refuses.

func (p *planner) imported(context.Context, *resource.Target) (found, bool) { return found{}, true }

func (p *planner) triggered(context.Context, *resource.Target) (bool, bool) { return false, true }

func (p *planner) pending(context.Context, *resource.Target) (bool, bool) { return false, true }

func (p *planner) ephemeral(context.Context, *resource.Target) outcome { return failedOutcome }

func (p *planner) storedAs(stackaddrs.ResourceInstance) stackaddrs.Resource {
	return stackaddrs.Resource{}
}

func (p *planner) previous(stackaddrs.ResourceInstance) stackaddrs.ResourceInstance {
	return stackaddrs.ResourceInstance{}
}

func (p *planner) forgets(stackaddrs.ResourceInstance) bool { return false }
