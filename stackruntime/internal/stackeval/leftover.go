// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// leftOver explains why nothing claims a component instance, and what to write so that something does.
func (m *Main) leftOver(ctx context.Context, addr stackaddrs.AbsComponentInstance) *hcl.Diagnostic {
	if diag := m.movedTo(addr); diag != nil {
		return diag
	}
	missing, by := m.misplacedRemoval(ctx, addr)
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Component instance left over", Extra: DiagnosticAddress{Component: addr}}
	if by != nil {
		diag.Subject = by.subject()
	}
	switch {
	case by != nil && missing.IsRoot():
		diag.Detail = fmt.Sprintf("%s exists in the state, but the stack that this block removes does not have it with these inputs. "+
			"Change them or the source so that it has, or remove this instance before the stack.", addr)
	case by != nil:
		diag.Summary = "Removal target lies in a missing stack"
		diag.Detail = fmt.Sprintf("%s exists in the state, but nothing in the configuration produces %s any more. Remove that instead, as a whole.", addr, missing)
	case missing.IsRoot():
		diag.Detail = fmt.Sprintf("%[1]s exists in the state, but no component block creates it and no removed block removes it. "+
			"Add one of them. A removed block with from = %[1]s and the source of its module destroys it, or forgets it with lifecycle { destroy = false }.", addr)
	default:
		diag.Detail = fmt.Sprintf("%[1]s exists in the state, but no component block creates it and no removed block removes it. "+
			"Add one of them. Nothing in the configuration produces %[2]s any more: a removed block with from = %[2]s and the source and inputs that it had "+
			"destroys all of it, or forgets it with lifecycle { destroy = false }.", addr, missing)
	}
	return diag
}

// misplacedRemoval finds a removed block for a component instance, or for a stack that it is in, which has no
// effect because the stack instance that its target is in is missing. by is nil if there is none.
func (m *Main) misplacedRemoval(ctx context.Context, addr stackaddrs.AbsComponentInstance) (missing stackaddrs.StackInstance, by *RemovedInstance) {
	stack := m.stack
	for _, step := range addr.Stack.Path() {
		child, found := stack.child(ctx, step)
		if found != yes {
			missing = stack.addr.Child(step.Call.Name, step.Key)
			break
		}
		stack = child
	}
	for around := stack; around != nil; around = around.parent {
		for _, block := range around.removed {
			for _, inst := range block.Instances(ctx).WithStandIns() {
				if target := inst.Target(ctx); target != nil && target.covers(addr) {
					return missing, inst
				}
			}
		}
	}
	return missing, nil
}
