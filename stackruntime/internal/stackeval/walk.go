// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/diagnostics"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
)

// walker visits objects, each in a task of its own. A walk ends when all tasks have.
type walker struct {
	diagnostics.Sink
	tasks promising.Group

	sound struct {
		sync.Mutex
		components SoundComponents // in which a static walk has found nothing; nil if nobody asks for them
	}
}

// SoundComponents are components whose checks find nothing.
type SoundComponents map[stackaddrs.ConfigComponent]bool

// Validatable is implemented by objects that static walks visit.
type Validatable interface {
	// Validate returns the mistakes that any instance would have. To be called by the walk only (rule
	// V1).
	Validate(ctx context.Context) hcl.Diagnostics
}

// ValidateStack checks the configuration without values, state and configured providers.
func (m *Main) ValidateStack(ctx context.Context) hcl.Diagnostics {
	_, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		return struct{}{}, m.walkStatic(ctx, &walker{})
	})
	return diags
}

// RevalidateStack is [Main.ValidateStack], but for components that are known to be sound. It
// returns all that are, nil if that did not turn out.
func (m *Main) RevalidateStack(ctx context.Context, known SoundComponents) (SoundComponents, hcl.Diagnostics) {
	m.sound = known
	var w walker
	w.sound.components = make(SoundComponents, len(known))
	_, diags := maintask.Run(ctx, &m.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		return struct{}{}, m.walkStatic(ctx, &w)
	})
	if ctx.Err() != nil {
		return nil, diags
	}
	return w.sound.components, diags
}

// walkStatic validates all Config objects.
func (m *Main) walkStatic(ctx context.Context, w *walker) hcl.Diagnostics {
	cycles := m.references().CheckCycles()
	if len(cycles) > 0 { // which reports remain of those on a cycle depends on which of them are checked
		m.sound, w.sound.components = nil, nil
	}
	w.visitStackConfig(ctx, m.config)
	w.tasks.Wait()
	diags := w.All()
	if slices.ContainsFunc(diags, diagnostics.IsCycle) {
		w.sound.components = nil
	}
	if len(cycles) > 0 {
		diags = cycles.Extend(slices.DeleteFunc(diags, diagnostics.IsCycle)) // the same cycles, as the promises met them
	}
	return m.explainCycles(diags)
}

// explainCycles merges reports of cycles; see [diagnostics.ExplainCycles].
func (m *Main) explainCycles(diags hcl.Diagnostics) hcl.Diagnostics {
	return diagnostics.ExplainCycles(diags, m.config.places)
}

func (w *walker) visitStackConfig(ctx context.Context, s *StackConfig) {
	validate := func(object Validatable) {
		w.tasks.Go(ctx, func(ctx context.Context) { w.Add(object.Validate(ctx)) })
	}
	validate(s)
	for _, object := range s.variables {
		validate(object)
	}
	for _, object := range s.locals {
		validate(object)
	}
	for _, object := range s.outputs {
		validate(object)
	}
	for _, object := range s.providers {
		validate(object)
	}
	for _, object := range asWritten(s.components, (*ComponentConfig).place) {
		w.visitComponentConfig(ctx, object)
	}
	for _, object := range s.calls {
		validate(object)
		if object.child != nil {
			w.visitStackConfig(ctx, object.child)
		}
	}
	for _, object := range s.removed {
		validate(object)
	}
	for _, child := range s.leaving {
		w.visitStackConfig(ctx, child)
	}
}

func (w *walker) visitComponentConfig(ctx context.Context, c *ComponentConfig) {
	if c.isKnownSound() {
		w.addSound(c.addr)
		return
	}
	w.tasks.Go(ctx, func(ctx context.Context) {
		diags := c.Validate(ctx)
		if len(diags) == 0 {
			w.addSound(c.addr)
		}
		w.Add(diags)
	})
}

func (w *walker) addSound(addr stackaddrs.ConfigComponent) {
	w.sound.Lock()
	defer w.sound.Unlock()
	if w.sound.components != nil {
		w.sound.components[addr] = true
	}
}

// walkDynamic visits all objects below a stack that are not Config objects.
func walkDynamic(ctx context.Context, w *walker, s *Stack, visit func(ctx context.Context, object Checkable)) {
	async := func(object Checkable) {
		w.tasks.Go(ctx, func(ctx context.Context) { visit(ctx, object) })
	}
	for _, object := range s.variables {
		async(object)
	}
	for _, object := range s.locals {
		async(object)
	}
	for _, object := range s.outputs {
		async(object)
	}
	for _, object := range s.providers {
		w.tasks.Go(ctx, func(ctx context.Context) {
			visit(ctx, object)
			for _, inst := range object.Instances(ctx).Instances {
				async(inst)
			}
		})
	}
	for _, object := range asWritten(s.components, (*Component).place) {
		w.tasks.Go(ctx, func(ctx context.Context) {
			visit(ctx, object)
			for _, inst := range object.Present(ctx) {
				async(inst)
			}
		})
	}
	for _, object := range s.calls {
		w.tasks.Go(ctx, func(ctx context.Context) {
			visit(ctx, object)
			for _, inst := range object.Present(ctx) {
				async(inst)
				if inst.stack != nil {
					walkDynamic(ctx, w, inst.stack, visit)
				}
			}
		})
	}
	for _, object := range s.removed {
		w.tasks.Go(ctx, func(ctx context.Context) {
			visit(ctx, object)
			for _, inst := range object.Instances(ctx).WithStandIns() {
				async(inst)
			}
		})
	}
	for _, object := range s.moved {
		async(object)
	}
	walkRemovals(ctx, w, s, visit)
}

// walkRemovals visits the instances that removed blocks claim in a stack, wherever the blocks are.
func walkRemovals(ctx context.Context, w *walker, s *Stack, visit func(ctx context.Context, object Checkable)) {
	for _, object := range s.componentRemovals {
		w.tasks.Go(ctx, func(ctx context.Context) {
			visit(ctx, object)
			for _, inst := range object.Claims(ctx).instances {
				w.tasks.Go(ctx, func(ctx context.Context) { visit(ctx, inst) })
			}
		})
	}
	for _, object := range s.stackRemovals {
		w.tasks.Go(ctx, func(ctx context.Context) {
			visit(ctx, object)
			for _, leaving := range object.Claims(ctx).instances {
				walkDynamic(ctx, w, leaving.stack, visit)
			}
		})
	}
}

// asWritten returns objects in the order of the configuration, of which there may be thousands that
// depend on each other. In an order that has nothing to do with the dependencies, long chains of
// tasks come about in pieces, and a task that joins two pieces follows the chain to its end (see
// package promising): a chain of 10 000 components takes a third more processor time then.
func asWritten[T any](objects map[string]T, place func(T) hcl.Range) []T {
	return slices.SortedFunc(maps.Values(objects), func(a, b T) int {
		x, y := place(a), place(b)
		return cmp.Or(cmp.Compare(x.Filename, y.Filename), cmp.Compare(x.Start.Byte, y.Start.Byte))
	})
}

func (c *ComponentConfig) place() hcl.Range { return c.decl.Range }
func (c *Component) place() hcl.Range       { return c.config.decl.Range }

// walkPlan collects the planned changes of all objects.
func (m *Main) walkPlan(ctx context.Context) ([]PlannedChange, hcl.Diagnostics) {
	var w walker
	var planned struct {
		sync.Mutex
		changes []PlannedChange
	}
	visit := func(ctx context.Context, object Checkable) {
		plannable, ok := object.(Plannable)
		if !ok {
			w.Add(object.Check(ctx))
			return
		}
		changes, diags := plannable.PlanChanges(ctx)
		w.Add(diags)
		planned.Lock()
		defer planned.Unlock()
		planned.changes = append(planned.changes, changes...)
	}
	walkDynamic(ctx, &w, m.stack, visit)
	w.tasks.Wait()
	return planned.changes, w.All()
}

// The interfaces that the walks rely on.
var (
	_ = []Validatable{
		(*StackConfig)(nil), (*InputVariableConfig)(nil), (*LocalValueConfig)(nil), (*OutputValueConfig)(nil), (*ProviderConfig)(nil),
		(*ComponentConfig)(nil), (*StackCallConfig)(nil), (*RemovedConfig)(nil),
	}
	_ = []Checkable{
		(*InputVariable)(nil), (*LocalValue)(nil), (*OutputValue)(nil), (*Provider)(nil), (*ProviderInstance)(nil),
		(*Component)(nil), (*ComponentInstance)(nil), (*StackCall)(nil), (*StackCallInstance)(nil), (*Moved)(nil),
		(*Removed)(nil), (*RemovedInstance)(nil), (*ComponentRemovals)(nil), (*RemovedComponentInstance)(nil),
		(*StackRemovals)(nil),
	}
	_ = []Plannable{
		(*InputVariable)(nil), (*LocalValue)(nil), (*OutputValue)(nil), (*ComponentInstance)(nil), (*Moved)(nil),
		(*RemovedComponentInstance)(nil),
	}
)
