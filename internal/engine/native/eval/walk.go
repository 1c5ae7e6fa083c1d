// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package eval

import (
	"context"

	"github.com/cairnstacks/cairn/promising"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Visitor is what a phase does with the objects that a walk finds. Its methods are called in tasks of their own.
type Visitor interface {
	// Resource is called for each resource of each module instance.
	Resource(ctx context.Context, r *Resource)
}

// Walk evaluates everything that the configuration declares, and waits for it: also what nothing refers to.
func (e *Evaluation) Walk(ctx context.Context, visitor Visitor) {
	w := &walk{visitor: visitor}
	w.module(ctx, e.root)
	w.tasks.Wait()
}

type walk struct {
	visitor Visitor
	tasks   promising.Group
}

func (w *walk) module(ctx context.Context, m *Module) {
	m.declareChecks()
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

// values evaluates what only has a value, one after the other: most of it has been asked for by then.
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

// declareChecks notes which blocks have conditions, whether there are objects of them or not.
func (m *Module) declareChecks() {
	checks := &m.eval.Checks
	for name, v := range m.variables {
		if len(v.config.Validations) > 0 {
			checks.Declare(engine.CheckVariable, m.staticPrefixed("var."+name))
		}
	}
	for name, o := range m.outputs {
		if len(o.config.Preconditions) > 0 {
			checks.Declare(engine.CheckOutput, m.staticPrefixed("output."+name))
		}
	}
	for addr, r := range m.resources {
		if len(r.Config.Preconditions)+len(r.Config.Postconditions) > 0 && addr.Mode != stackaddrs.EphemeralResource {
			checks.Declare(engine.CheckResource, m.staticPrefixed(addr.String()))
		}
	}
	for name := range m.checks {
		checks.Declare(engine.CheckBlock, m.staticPrefixed("check."+name))
	}
}
