// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Visitor is a phase's work on the objects that a walk finds. Its methods are called in tasks of
// their own.
type Visitor interface {
	// Resource is called for each resource of each module instance.
	Resource(ctx context.Context, r *Resource)
}

// Walk evaluates everything that the configuration declares, and waits for it: also objects without
// references to them.
func (e *Evaluation) Walk(ctx context.Context, visitor Visitor) {
	e.Checks.declareAll(e.opts.Tree, "")
	w := &walk{visitor: visitor}
	w.module(ctx, e.root)
	w.tasks.Wait()
}

type walk struct {
	visitor Visitor
	tasks   promising.Group
}

func (w *walk) module(ctx context.Context, m *Module) {
	for _, r := range m.resources {
		w.tasks.Go(ctx, func(ctx context.Context) { w.visitor.Resource(ctx, r) })
	}
	for _, c := range m.calls {
		w.tasks.Go(ctx, func(ctx context.Context) { w.call(ctx, c) })
	}
	for _, c := range m.checks {
		w.tasks.Go(ctx, c.Run)
	}
	if len(m.variables)+len(m.locals)+len(m.outputs) > 0 {
		w.tasks.Go(ctx, m.values)
	}
}

// values evaluates the objects that only have a value, one after the other: most of them have been
// asked for by then.
func (m *Module) values(ctx context.Context) {
	for _, v := range m.variables {
		v.Value(ctx)
	}
	for _, l := range m.locals {
		l.Value(ctx)
	}
	for _, o := range m.outputs {
		o.Value(ctx)
	}
}

// Checker is the work on the parts of a configuration that only validation deals with.
type Checker interface {
	Visitor

	// Action is called for each action of each module.
	Action(ctx context.Context, a *Action)

	// Module is called for each module, before those that it calls.
	Module(ctx context.Context, m *Module)
}

// Validate evaluates everything that the configuration declares, in the validating phase, one after
// the other: resources and actions in the order of their addresses.
func (e *Evaluation) Validate(ctx context.Context, checker Checker) { e.root.validate(ctx, checker) }

func (m *Module) validate(ctx context.Context, checker Checker) {
	for _, v := range m.variables {
		v.Check(ctx)
	}
	m.values(ctx)
	for _, addr := range slices.SortedFunc(maps.Keys(m.resources), stackaddrs.Resource.Compare) {
		checker.Resource(ctx, m.resources[addr])
	}
	for _, id := range slices.Sorted(maps.Keys(m.actions)) {
		checker.Action(ctx, m.actions[id])
	}
	for _, c := range m.checks {
		c.Run(ctx)
	}
	checker.Module(ctx, m)
	for _, name := range slices.Sorted(maps.Keys(m.calls)) {
		if called := m.calls[name].check(ctx); called != nil {
			called.validate(ctx, checker)
		}
	}
}

func (w *walk) call(ctx context.Context, c *Call) {
	x, ok := c.Expand(ctx)
	if !ok {
		return
	}
	for _, key := range x.Instances() {
		if m := c.instance(key, x); m != nil {
			w.module(ctx, m)
		}
	}
}

// declareAll notes which blocks of a tree have conditions, whether there are objects of them or
// not, and instances of their modules.
func (c *Checks) declareAll(tree *module.Node, prefix string) {
	for name, v := range tree.Variables {
		if len(v.Validations) > 0 {
			c.Declare(engine.CheckVariable, prefix+"var."+name)
		}
	}
	for name, o := range tree.Outputs {
		if len(o.Preconditions) > 0 {
			c.Declare(engine.CheckOutput, prefix+"output."+name)
		}
	}
	for addr, r := range tree.Resources {
		if len(r.Preconditions)+len(r.Postconditions) > 0 && addr.Mode != stackaddrs.EphemeralResource {
			c.Declare(engine.CheckResource, prefix+addr.String())
		}
	}
	for name := range tree.Checks {
		c.Declare(engine.CheckBlock, prefix+"check."+name)
	}
	for name, child := range tree.Children {
		c.declareAll(child, prefix+"module."+name+".")
	}
}
