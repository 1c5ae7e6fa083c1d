// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"fmt"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
)

// removals are the removed blocks that name one component, or one embedded
// stack, of a stack instance. For embedding.
//
// Which block gets an existing instance is decided here, by docs/language.md, section 4.4: blocks
// that declare it come first, then removed blocks that name it, then blocks that may declare it, then
// removed blocks that may name it. Two blocks that name an instance that exists are a mistake of the configuration.
type removals[I any] struct {
	stack  *Stack
	name   string
	blocks []*Removed // those of the outermost stack first

	claims memo.Memo[claims[I]]
}

// claims are the existing instances that removed blocks get.
type claims[I any] struct {
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

func (r *removals[I]) aspect(kind *removalKind[I]) memo.Aspect[claims[I]] {
	return memo.Aspect[claims[I]]{
		Name:        kind.addr + " removals",
		Placeholder: claims[I]{failed: true},
		Compute: func(ctx context.Context) (claims[I], hcl.Diagnostics) {
			declaration, isDeclared := kind.declared(ctx)
			if declaration == foreach.Failed {
				return claims[I]{failed: true}, nil
			}
			named, open, failed := r.claimants(ctx)
			c := claims[I]{instances: make(map[stackaddrs.InstanceKey]I), failed: failed}
			var diags hcl.Diagnostics
			taken := make(map[stackaddrs.InstanceKey]*RemovedInstance)
			for _, inst := range named {
				key := inst.Target(ctx).key
				exists := slices.Contains(kind.existing, key)
				switch other := taken[key]; {
				case other != nil && !exists:
					continue // neither has anything to remove
				case other != nil:
					diags = diags.Append(inst.mistake("Instance removed twice", fmt.Sprintf("%s is already claimed by the block at %s.", kind.address(key), other.removed.config.decl.Range), kind.extra(key)))
					continue
				case isDeclared(key):
					diags = diags.Append(inst.mistake("Instance both declared and removed", fmt.Sprintf("%s is still produced by the block at %s.", kind.address(key), kind.place), kind.extra(key)))
				case exists:
					c.instances[key] = kind.newInstance(inst, key, false)
				}
				taken[key] = inst
			}
			if declaration == foreach.Unknown || len(open) == 0 {
				return c, diags
			}
			for _, key := range kind.existing {
				if taken[key] == nil && !isDeclared(key) {
					if i := slices.IndexFunc(open, func(inst *RemovedInstance) bool { return sameKey(inst.Target(ctx).key, key) }); i >= 0 {
						c.instances[key] = kind.newInstance(open[i], key, true)
					}
				}
			}
			return c, diags
		},
	}
}

// claimants are the instances of the blocks that name something here, and those
// that may do so. failed is set if there may be more, but for errors.
func (r *removals[I]) claimants(ctx context.Context) (named, open []*RemovedInstance, failed bool) {
	for _, block := range r.blocks {
		targets := block.Targets(ctx)
		failed = failed || targets.failed
		named = append(named, targets.named[r.stack.addr]...)
		for _, inst := range targets.open {
			if inst.Target(ctx).isIn(r.stack.addr) {
				open = append(open, inst)
			}
		}
	}
	return named, open, failed
}

func (r *RemovedInstance) mistake(summary, detail string, extra any) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: hcl.DiagError, Summary: summary, Detail: detail, Subject: r.subject(), Extra: extra}
}

// ComponentRemovals are the removed blocks that name one component of a stack instance.
type ComponentRemovals struct {
	removals[*RemovedComponentInstance]
}

// Claims are the instances that the blocks get.
func (r *ComponentRemovals) Claims(ctx context.Context) claims[*RemovedComponentInstance] {
	return r.claims.Value(ctx, r.claimsAspect)
}

// PlanChanges implements [Plannable].
func (r *ComponentRemovals) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	return nil, r.CheckApply(ctx)
}

// CheckApply implements [Applyable].
func (r *ComponentRemovals) CheckApply(ctx context.Context) hcl.Diagnostics {
	_, diags := r.claims.Check(ctx, r.claimsAspect)
	return diags
}

func (r *ComponentRemovals) claimsAspect() memo.Aspect[claims[*RemovedComponentInstance]] {
	addr := stackaddrs.AbsComponent{Stack: r.stack.addr, Item: stackaddrs.Component{Name: r.name}}
	kind := &removalKind[*RemovedComponentInstance]{
		addr:    addr.String(),
		address: func(key stackaddrs.InstanceKey) fmt.Stringer { return stackaddrs.InstanceOf(addr, key) },
		extra: func(key stackaddrs.InstanceKey) any {
			return DiagnosticAddress{Component: stackaddrs.InstanceOf(addr, key)}
		},
		existing: r.stack.main.existing().componentKeys(addr),
		newInstance: func(by *RemovedInstance, key stackaddrs.InstanceKey, standIn bool) *RemovedComponentInstance {
			inst := newRemovedComponentInstance(by, stackaddrs.InstanceOf(addr, key))
			inst.standIn = standIn || r.stack.standIn
			return inst
		},
		declared: declaredNowhere,
	}
	if component := r.stack.components[r.name]; component != nil {
		kind.declared, kind.place = declaredBy(&component.instances), component.config.decl.Range.Ptr()
	}
	return r.aspect(kind)
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

// Claims are the instances that the blocks get.
func (r *StackRemovals) Claims(ctx context.Context) claims[*leavingStack] {
	return r.claims.Value(ctx, r.claimsAspect)
}

// PlanChanges implements [Plannable].
func (r *StackRemovals) PlanChanges(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	return nil, r.CheckApply(ctx)
}

// CheckApply implements [Applyable].
func (r *StackRemovals) CheckApply(ctx context.Context) hcl.Diagnostics {
	claims, diags := r.claims.Check(ctx, r.claimsAspect)
	for _, leaving := range claims.instances {
		// Repetitions, for a block that gets several instances, are dropped from the results of the walk.
		_, moreDiags := leaving.by.inputs.Check(ctx, leaving.by.inputsAspect)
		diags = diags.Extend(moreDiags)
	}
	return diags
}

func (r *StackRemovals) claimsAspect() memo.Aspect[claims[*leavingStack]] {
	kind := &removalKind[*leavingStack]{
		addr:     r.stack.addr.String() + " stack." + r.name,
		address:  func(key stackaddrs.InstanceKey) fmt.Stringer { return r.stack.addr.Child(r.name, key) },
		extra:    func(stackaddrs.InstanceKey) any { return nil },
		existing: r.stack.main.existing().stackKeys(r.stack.addr, r.name),
		newInstance: func(by *RemovedInstance, key stackaddrs.InstanceKey, standIn bool) *leavingStack {
			return &leavingStack{by, newStack(Stack{
				parent: r.stack, addr: r.stack.addr.Child(r.name, key), config: by.removed.config.child(), call: by,
				fate: by.fate(), standIn: standIn,
			})}
		},
		declared: declaredNowhere,
	}
	if call := r.stack.calls[r.name]; call != nil {
		kind.declared, kind.place = declaredBy(&call.instances), call.config.decl.Range.Ptr()
	}
	return r.aspect(kind)
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

// collectRemovals finds the removed blocks that name something in this stack: its own, and those of the stacks around it.
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
			if block.config.decl.From.Component != nil {
				s.addComponentRemoval(block)
			} else {
				s.addStackRemoval(block)
			}
		}
	}
}

func (s *Stack) addComponentRemoval(block *Removed) {
	name := block.config.decl.From.Component.Name
	found := s.componentRemovals[name]
	if found == nil {
		found = &ComponentRemovals{removals[*RemovedComponentInstance]{stack: s, name: name}}
		s.componentRemovals[name] = found
	}
	found.blocks = append(found.blocks, block)
}

func (s *Stack) addStackRemoval(block *Removed) {
	_, last := splitFrom(block.config.decl.From)
	found := s.stackRemovals[last.Name]
	if found == nil {
		found = &StackRemovals{removals[*leavingStack]{stack: s, name: last.Name}}
		s.stackRemovals[last.Name] = found
	}
	found.blocks = append(found.blocks, block)
}
