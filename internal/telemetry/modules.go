// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package telemetry

import (
	"context"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/trace"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// Modules are the spans of the module instances of a component, in one piece of work. Nothing works
// on a module instance as a whole, so that its span is the time from the first to the last call of
// a provider about one of its resources. Nil makes none. Safe for concurrent use.
type Modules struct {
	component context.Context //nolint:containedctx // the parent of all spans
	telemetry *Telemetry

	mu    sync.Mutex
	spans map[stackaddrs.ModuleInstance]*moduleSpan
}

// NewModules returns the spans below that of ctx, of which there is none yet; nil if nobody
// receives them.
func NewModules(ctx context.Context) *Modules {
	t := From(ctx)
	if t == nil {
		return nil
	}
	return &Modules{component: ctx, telemetry: t, spans: map[stackaddrs.ModuleInstance]*moduleSpan{}}
}

// place is the resource that calls of a provider are about.
type place struct {
	within   *moduleSpan // nil in the root module
	resource string
}

type placeKey struct{}

// In returns the context for calls about a resource of a module instance. Those about the root
// module belong to the component.
func (m *Modules) In(ctx context.Context, module stackaddrs.ModuleInstance, resource string) context.Context {
	if m == nil {
		return ctx
	}
	m.mu.Lock()
	within := m.span(module)
	m.mu.Unlock()
	parent := trace.SpanFromContext(m.component)
	if within != nil {
		parent = within.span
	}
	ctx = trace.ContextWithSpan(ctx, parent) // which may be that of another resource, whose expressions need this one
	return context.WithValue(ctx, placeKey{}, place{within, resource})
}

// span returns the span of a module instance, nil for the root module. The caller holds the lock.
func (m *Modules) span(module stackaddrs.ModuleInstance) *moduleSpan {
	caller, _, ok := module.Parent()
	if !ok {
		return nil
	}
	if known := m.spans[module]; known != nil {
		return known
	}
	parent, above := m.component, m.span(caller)
	if above != nil {
		parent = trace.ContextWithSpan(parent, above.span)
	}
	address := module.String()
	//nolint:spancheck // Modules.End ends it
	_, span := m.telemetry.tracer.Start(parent, address, trace.WithAttributes(attribute.String(attrModule, address)))
	made := &moduleSpan{span: span, above: above}
	made.last.Store(time.Now().UnixNano())
	m.spans[module] = made
	return made //nolint:spancheck // as above
}

// End ends the spans. Calls that are still under way are beyond the end of their module instance.
func (m *Modules) End() {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, one := range m.spans {
		one.span.End(trace.WithTimestamp(time.Unix(0, one.last.Load())))
	}
	clear(m.spans)
}
