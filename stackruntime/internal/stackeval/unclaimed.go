// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/claims"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// leftOver is an object that nothing claims for one reason: a component instance, or several that a
// lost stack or a move has in common.
type leftOver struct {
	instances []stackaddrs.AbsComponentInstance
	missing   []stackaddrs.StackInstance // the lost stacks that they are in; none if those exist
	by        *RemovedInstance           // the removed block that was to remove the only instance; nil if there is none
}

// explainLeftOver explains why nothing claims component instances, which are sorted, and suggests a
// block that does: in one diagnostic for all that are in one lost stack, or that one block has
// moved.
func (m *Main) explainLeftOver(ctx context.Context, addrs []stackaddrs.AbsComponentInstance) hcl.Diagnostics {
	var groups []*leftOver
	byReason := make(map[any]*leftOver)
	for _, addr := range addrs {
		found := &leftOver{instances: []stackaddrs.AbsComponentInstance{addr}}
		var reason any = addr
		if moved, ok := m.movedBy[addr]; ok {
			reason = moved.block
		} else {
			var missing stackaddrs.StackInstance
			if missing, found.by = m.misplacedRemoval(ctx, addr); !missing.IsRoot() {
				found.missing = []stackaddrs.StackInstance{missing}
			}
			if found.by == nil && !missing.IsRoot() {
				reason = m.lostBlock(ctx, missing)
			}
		}
		group := byReason[reason]
		if group == nil {
			byReason[reason] = found
			groups = append(groups, found)
			continue
		}
		group.instances = append(group.instances, addr)
		for _, missing := range found.missing {
			if group.missing[len(group.missing)-1] != missing {
				group.missing = append(group.missing, missing)
			}
		}
	}
	var diags hcl.Diagnostics
	for _, group := range groups {
		diags = diags.Append(m.leftOverDiagnostic(ctx, group))
	}
	return diags
}

// lostBlock is the common reason for the loss of a stack instance and others: the block if none
// calls the stack any more, otherwise the instance.
func (m *Main) lostBlock(ctx context.Context, missing stackaddrs.StackInstance) any {
	caller, step, _ := missing.Parent()
	if stack := m.stackInstance(ctx, caller); stack != nil && stack.calls[step.Call.Name] == nil {
		return claims.StackCall{Caller: caller, Name: step.Call.Name}
	}
	return missing
}

func (m *Main) leftOverDiagnostic(ctx context.Context, left *leftOver) *hcl.Diagnostic {
	addr := left.instances[0]
	if _, moved := m.movedBy[addr]; moved {
		return m.movedToNothing(left.instances)
	}
	diag := &hcl.Diagnostic{Severity: hcl.DiagError, Summary: "Component instance left over", Extra: fault.Address{Component: addr}}
	switch {
	case left.by != nil && left.missing == nil:
		diag.Subject = left.by.subject()
		diag.Detail = fmt.Sprintf("%s exists in the state, but the stack that this block removes does not have it with these inputs. "+
			"Change them or the source so that it has, or remove this instance before the stack.", addr)
	case left.by != nil:
		diag.Subject = left.by.subject()
		diag.Summary = "Removal target lies in a missing stack"
		diag.Detail = fmt.Sprintf("%s exists in the state, but nothing in the configuration produces %s any more. "+
			"Remove that instead, as a whole.", addr, left.missing[0])
	case left.missing == nil:
		diag.Extra = fault.Address{Component: addr, Inner: fault.LeftOver}
		diag.Detail = fmt.Sprintf("%[1]s exists in the state, but no component block creates it and no removed block removes it. Add one "+
			"of them. %[2]s%[3]s"+
			"Provider configurations that it needs have to stay until it is destroyed.",
			addr, m.suggestComponentRemoval(ctx, addr), m.suggestComponentMove(ctx, addr))
	default:
		diag.Summary, diag.Extra = "Embedded stack left over", fault.LeftOver
		first, verb, pronoun := left.missing[0], "exists", "it"
		if len(left.missing) > 1 {
			verb, pronoun = "exist", "them"
		}
		diag.Detail = fmt.Sprintf("%s %s in the state with %s, but nothing in the configuration produces %s any more. %s%s"+
			"With a removed block, the stack is evaluated with the inputs of the block.",
			diagnostics.Enumerate(left.missing), verb, diagnostics.Enumerate(left.instances), pronoun,
			m.suggestStackRemoval(ctx, left.missing), m.suggestStackMove(ctx, first))
	}
	return diag
}

// misplacedRemoval finds a removed block for a component instance, or for a stack that it is in,
// which has no effect because the stack instance that its target is in is missing. by is nil if
// there is none.
func (m *Main) misplacedRemoval(
	ctx context.Context, addr stackaddrs.AbsComponentInstance,
) (missing stackaddrs.StackInstance, by *RemovedInstance) {
	stack := m.stack
	for _, step := range addr.Stack.Path() {
		child, found := stack.child(ctx, step)
		if found != certaintyYes {
			missing = stack.addr.Child(step.Call.Name, step.Key)
			break
		}
		stack = child
	}
	for around := stack; around != nil; around = around.parent {
		for _, block := range around.removed {
			for _, inst := range block.Instances(ctx).WithStandIns() {
				if target := inst.Target(ctx); target != nil && target.Covers(addr) {
					return missing, inst
				}
			}
		}
	}
	return missing, nil
}

// suggestComponentMove is the advice for a left-over component instance that has another address
// now.
func (m *Main) suggestComponentMove(ctx context.Context, addr stackaddrs.AbsComponentInstance) string {
	stack := m.stackInstance(ctx, addr.Stack)
	if stack == nil {
		return ""
	}
	move := claims.Move{Stack: addr.Stack, Kind: stackaddrs.MoveableComponent, Name: addr.Item.Component.Name, Key: addr.Item.Key}
	blocks := make(map[string]claims.Block, len(stack.components))
	for name, component := range stack.components {
		blocks[name] = claims.BlockOf(component.Instances(ctx), component.existingKeys())
	}
	return move.Suggest(blocks)
}

// suggestStackMove is the advice for a left-over stack instance that has another address now.
func (m *Main) suggestStackMove(ctx context.Context, addr stackaddrs.StackInstance) string {
	caller, step, _ := addr.Parent()
	stack := m.stackInstance(ctx, caller)
	if stack == nil {
		return ""
	}
	move := claims.Move{Stack: caller, Kind: stackaddrs.MoveableStack, Name: step.Call.Name, Key: step.Key}
	blocks := make(map[string]claims.Block, len(stack.calls))
	for name, call := range stack.calls {
		blocks[name] = claims.BlockOf(call.Instances(ctx), call.existingKeys())
	}
	return move.Suggest(blocks)
}

// suggestComponentRemoval suggests the block that destroys a component instance that is left over.
func (m *Main) suggestComponentRemoval(ctx context.Context, addr stackaddrs.AbsComponentInstance) string {
	name := addr.Item.Component.Name
	removal := claims.LeftOver{Stack: addr.Stack, Kind: stackaddrs.MoveableComponent, Name: name, Key: addr.Item.Key, Files: m.files}
	if stack := m.stackInstance(ctx, addr.Stack); stack != nil && stack.components[name] != nil {
		decl := stack.components[name].config.decl
		removal.Source, removal.Providers = &decl.Source, decl.Providers
		removal.ForEach, removal.OfSet = decl.ForEach, isOfSet(stack.decl(), decl.ForEach)
	}
	return removal.Suggest()
}

// suggestStackRemoval suggests the block that destroys instances of one stack that are left over.
func (m *Main) suggestStackRemoval(ctx context.Context, addrs []stackaddrs.StackInstance) string {
	caller, step, _ := addrs[0].Parent()
	removal := claims.LeftOver{Stack: caller, Kind: stackaddrs.MoveableStack, Name: step.Call.Name, Key: step.Key, Files: m.files}
	stack := m.stackInstance(ctx, caller)
	if stack != nil && stack.calls[step.Call.Name] != nil {
		decl := stack.calls[step.Call.Name].config.decl
		removal.Source, removal.Inputs = &decl.Source, decl.Inputs
		removal.ForEach, removal.OfSet = decl.ForEach, isOfSet(stack.decl(), decl.ForEach)
	}
	for _, addr := range addrs[1:] {
		_, step, _ := addr.Parent()
		removal.More = append(removal.More, step.Key)
	}
	return removal.Suggest()
}

// isOfSet reports whether for_each is seen to be a set, whose values are its keys.
func isOfSet(stack *stackconfig.Stack, forEach hcl.Expression) bool {
	if forEach == nil {
		return false
	}
	if call, diags := hcl.ExprCall(forEach); !diags.HasErrors() {
		return slices.Contains([]string{"toset", "setunion", "setsubtract", "setintersection"}, call.Name)
	}
	traversal, diags := hcl.AbsTraversalForExpr(forEach)
	if diags.HasErrors() || len(traversal) != 2 || traversal.RootName() != "var" {
		return false
	}
	attr, _ := traversal[1].(hcl.TraverseAttr)
	variable := stack.Variables[attr.Name]
	return variable != nil && variable.Type.Constraint.IsSetType()
}
