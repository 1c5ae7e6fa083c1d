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
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// removals are the removed blocks that name one component, or one embedded
// stack, of a stack instance. For embedding.
//
// Which block gets an existing instance, package claims decides.
type removals[I any] struct {
	stack  *Stack
	kind   func() *removalKind[I]
	blocks []*Removed // those of the outermost stack first

	won memo.Memo[removedInstances[I]]
}

// removedInstances are the existing instances that removed blocks get.
type removedInstances[I any] struct {
	instances map[stackaddrs.InstanceKey]I
	failed    bool // there may be more, but for errors reported elsewhere
}

// removalKind is how removals of components and of stacks differ.
type removalKind[I any] struct {
	addr     string // in the names of promises
	address  func(stackaddrs.InstanceKey) fmt.Stringer
	existing []stackaddrs.InstanceKey
	declared func(context.Context) (foreach.Kind, func(stackaddrs.InstanceKey) bool)
	place    *hcl.Range                       // of the block that declares instances; nil for none
	extra    func(stackaddrs.InstanceKey) any // of diagnostics

	newInstance func(by *RemovedInstance, key stackaddrs.InstanceKey, standIn bool) I
}

func (r *removals[I]) aspect() memo.Aspect[removedInstances[I]] {
	kind := r.kind()
	return memo.Aspect[removedInstances[I]]{
		Name:        kind.addr + " removals",
		Placeholder: removedInstances[I]{failed: true},
		Compute: func(ctx context.Context) (removedInstances[I], hcl.Diagnostics) {
			declaration, isDeclared := kind.declared(ctx)
			if declaration == foreach.Failed {
				return removedInstances[I]{failed: true}, nil
			}
			named, unknown, failed := r.claimants(ctx, kind.existing)
			contest := claims.Contest[*RemovedInstance]{
				Existing: kind.existing, Declares: isDeclared, MayDeclare: declaration == foreach.Unknown, Named: named, Unknown: unknown,
			}
			assigned, conflicts := claims.Assign(contest)
			won := removedInstances[I]{instances: make(map[stackaddrs.InstanceKey]I, len(assigned)), failed: failed}
			for key, claim := range assigned {
				won.instances[key] = kind.newInstance(claim.By, key, claim.StandIn)
			}
			return won, kind.mistakes(conflicts)
		},
	}
}

// mistakes explains conflicts.
func (k *removalKind[I]) mistakes(conflicts []claims.Conflict[*RemovedInstance]) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, conflict := range conflicts {
		summary := "Instance removed twice"
		detail := "%s is already claimed by the block at %s."
		place := k.place
		if conflict.Declared {
			summary, detail = "Instance both declared and removed", "%s is still produced by the block at %s."
		} else {
			place = &conflict.With.removed.config.decl.Range
		}
		diags = diags.Append(&hcl.Diagnostic{
			Severity: hcl.DiagError, Summary: summary, Detail: fmt.Sprintf(detail, k.address(conflict.Key), place),
			Subject: conflict.By.subject(), Extra: k.extra(conflict.Key),
		})
	}
	return diags
}

// claimants are the instances of the blocks that name something here, and those
// that may do so. failed is set if there may be more, but for errors.
func (r *removals[I]) claimants(
	ctx context.Context, existing []stackaddrs.InstanceKey,
) (named, unknown []claims.Removal[*RemovedInstance], failed bool) {
	for _, block := range r.blocks {
		targets := block.Targets(ctx)
		failed = failed || targets.failed
		for _, inst := range targets.named[r.stack.addr] {
			named = append(named, claims.Removals(inst.Target(ctx), inst, existing)...)
		}
		for _, inst := range targets.unknown {
			if target := inst.Target(ctx); target.IsIn(r.stack.addr) {
				unknown = append(unknown, claims.Removal[*RemovedInstance]{Key: target.Key, By: inst})
			}
		}
	}
	return named, unknown, failed
}

// Claims are the instances that the blocks get.
func (r *removals[I]) Claims(ctx context.Context) removedInstances[I] {
	return r.won.Value(ctx, r.aspect)
}

// Check implements [Checkable].
func (r *removals[I]) Check(ctx context.Context) hcl.Diagnostics {
	_, diags := r.won.Check(ctx, r.aspect)
	return diags
}

// ComponentRemovals are the removed blocks that name one component of a stack instance.
type ComponentRemovals struct {
	removals[*RemovedComponentInstance]
}

func newComponentRemovals(stack *Stack, name string) *ComponentRemovals {
	r := &ComponentRemovals{removals[*RemovedComponentInstance]{stack: stack}}
	r.kind = func() *removalKind[*RemovedComponentInstance] { return r.kindOf(name) }
	return r
}

func (r *ComponentRemovals) kindOf(name string) *removalKind[*RemovedComponentInstance] {
	addr := stackaddrs.AbsComponent{Stack: r.stack.addr, Item: stackaddrs.Component{Name: name}}
	kind := &removalKind[*RemovedComponentInstance]{
		addr:    addr.String(),
		address: func(key stackaddrs.InstanceKey) fmt.Stringer { return stackaddrs.InstanceOf(addr, key) },
		extra: func(key stackaddrs.InstanceKey) any {
			return fault.Address{Component: stackaddrs.InstanceOf(addr, key)}
		},
		existing: r.stack.main.existing().ComponentKeys(addr),
		newInstance: func(by *RemovedInstance, key stackaddrs.InstanceKey, standIn bool) *RemovedComponentInstance {
			inst := newRemovedComponentInstance(by, stackaddrs.InstanceOf(addr, key))
			inst.standIn = standIn || r.stack.standIn
			return inst
		},
		declared: declaredNowhere,
	}
	if component := r.stack.components[name]; component != nil {
		kind.declared, kind.place = declaredBy(&component.instances), component.config.decl.Range.Ptr()
	}
	return kind
}

// StackRemovals are the removed blocks that name one embedded stack of a stack instance.
type StackRemovals struct {
	removals[*leavingStack]
}

// leavingStack is a stack instance that a removed block gets.
type leavingStack struct {
	by    *RemovedInstance
	stack *Stack
}

func newStackRemovals(stack *Stack, name string) *StackRemovals {
	r := &StackRemovals{removals[*leavingStack]{stack: stack}}
	r.kind = func() *removalKind[*leavingStack] { return r.kindOf(name) }
	return r
}

// Check implements [Checkable].
func (r *StackRemovals) Check(ctx context.Context) hcl.Diagnostics {
	won, diags := r.won.Check(ctx, r.aspect)
	for _, leaving := range won.instances {
		// Repetitions, for a block that gets several instances, are dropped from the results of the walk.
		_, moreDiags := leaving.by.inputs.Check(ctx, leaving.by.inputsAspect)
		diags = diags.Extend(moreDiags)
	}
	return diags
}

func (r *StackRemovals) kindOf(name string) *removalKind[*leavingStack] {
	kind := &removalKind[*leavingStack]{
		addr:     r.stack.addr.String() + " stack." + name,
		address:  func(key stackaddrs.InstanceKey) fmt.Stringer { return r.stack.addr.Child(name, key) },
		extra:    func(stackaddrs.InstanceKey) any { return nil },
		existing: r.stack.main.existing().StackKeys(claims.StackCall{Caller: r.stack.addr, Name: name}),
		newInstance: func(by *RemovedInstance, key stackaddrs.InstanceKey, standIn bool) *leavingStack {
			return &leavingStack{by, newStack(Stack{
				parent: r.stack, addr: r.stack.addr.Child(name, key), config: by.removed.config.child(), call: by,
				disposition: by.disposition(), standIn: standIn,
			})}
		},
		declared: declaredNowhere,
	}
	if call := r.stack.calls[name]; call != nil {
		kind.declared, kind.place = declaredBy(&call.instances), call.config.decl.Range.Ptr()
	}
	return kind
}

func declaredNowhere(context.Context) (foreach.Kind, func(stackaddrs.InstanceKey) bool) {
	return foreach.Keyed, func(stackaddrs.InstanceKey) bool { return false }
}

func declaredBy[I any](block *instances[I]) func(context.Context) (foreach.Kind, func(stackaddrs.InstanceKey) bool) {
	return func(ctx context.Context) (foreach.Kind, func(stackaddrs.InstanceKey) bool) {
		expansion := block.Instances(ctx)
		return expansion.Kind, func(key stackaddrs.InstanceKey) bool {
			_, ok := expansion.Instances[key]
			return ok
		}
	}
}

// collectRemovals finds the removed blocks that name something in this stack: its own, and those of
// the stacks around it.
func (s *Stack) collectRemovals() {
	var around []*Stack
	for stack := s; stack != nil; stack = stack.parent {
		around = append(around, stack)
	}
	s.componentRemovals = make(map[string]*ComponentRemovals)
	s.stackRemovals = make(map[string]*StackRemovals)
	for _, stack := range slices.Backward(around) {
		for _, block := range stack.removed {
			if block.config.targetStack != s.config.addr {
				continue
			}
			_, last := splitFrom(block.config.decl.From)
			if block.config.decl.From.Component != nil {
				found := removalsOf(s, s.componentRemovals, last.Name, newComponentRemovals)
				found.blocks = append(found.blocks, block)
			} else {
				found := removalsOf(s, s.stackRemovals, last.Name, newStackRemovals)
				found.blocks = append(found.blocks, block)
			}
		}
	}
}

// removalsOf returns the removals of a name, which are made for the first block.
func removalsOf[R any](s *Stack, all map[string]*R, name string, newRemovals func(*Stack, string) *R) *R {
	found := all[name]
	if found == nil {
		found = newRemovals(s, name)
		all[name] = found
	}
	return found
}
