// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package telemetry

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/hashicorp/hcl/v2"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
)

// Span is a piece of work with a beginning and an end. Nil is one that nobody receives. It is used
// by one goroutine at a time.
type Span struct {
	span   trace.Span
	began  time.Time
	ended  func(ctx context.Context, took time.Duration, failed bool) // records the duration; nil for none
	failed bool
	within *moduleSpan // nil for none
}

// begin begins a span below that of ctx, if somebody receives it.
func begin(ctx context.Context, t *Telemetry, name string, options ...trace.SpanStartOption) (context.Context, *Span) {
	s := &Span{began: time.Now()}
	//nolint:spancheck // the caller ends it
	ctx, s.span = t.tracer.Start(ctx, name, append(options, trace.WithTimestamp(s.began))...)
	return ctx, s
}

// Begun notes that the work begins, after having waited for other work to end. That counts as its
// beginning where its duration is measured.
func (s *Span) Begun() {
	if s == nil {
		return
	}
	s.began = time.Now()
	s.span.AddEvent("begun", trace.WithTimestamp(s.began))
}

// Fail marks the work as failed. The reason is the summary of a diagnostic, or the name of an
// error; see rule T2.
func (s *Span) Fail(reason string) {
	if s == nil {
		return
	}
	s.failed = true
	s.span.SetStatus(codes.Error, reason)
}

// End ends the span.
func (s *Span) End() {
	if s == nil {
		return
	}
	now := time.Now()
	s.within.reached(now)
	s.span.End(trace.WithTimestamp(now))
	if s.ended != nil {
		s.ended(context.Background(), now.Sub(s.began), s.failed)
	}
}

// EndWith ends the span of work that has such diagnostics. Of an error it has the summary only, as
// details quote values.
func (s *Span) EndWith(diags hcl.Diagnostics) {
	for _, diag := range diags {
		if diag.Severity == hcl.DiagError {
			s.Fail(diag.Summary)
			break
		}
	}
	s.End()
}

// Link names a span that this one has results of. See [Unit.Link].
type Link struct{ context trace.SpanContext }

// Link returns the link to a span. Not of a nil span.
func (s *Span) Link() Link {
	if s == nil {
		return Link{}
	}
	return Link{s.span.SpanContext()}
}

// The names of attributes. Names of OpenTelemetry are used where it has one.
const (
	attrCommand    = "cairn.command"
	attrPool       = "cairn.pool"
	attrUnit       = "cairn.unit"
	attrStack      = "cairn.stack" // path from the top of the repository
	attrDeployment = "cairn.deployment"
	attrOperation  = "cairn.operation" // plan, apply, destroy …
	attrComponent  = "cairn.component"
	attrWork       = "cairn.work"   // plan, refresh, apply …
	attrModule     = "cairn.module" // address of the instance
	attrProvider   = "cairn.provider"
	attrType       = "cairn.resource.type"
	attrResource   = "cairn.resource.address"
	attrAction     = "cairn.action"
	attrOutcome    = "cairn.outcome" // ok or failed
	attrExitCode   = "process.exit.code"
	attrRPCSystem  = "rpc.system"
	attrRPCMethod  = "rpc.method"
)

func outcome(failed bool) attribute.KeyValue {
	if failed {
		return attribute.String(attrOutcome, "failed")
	}
	return attribute.String(attrOutcome, "ok")
}

// Command begins the span of a command of the command line.
func Command(ctx context.Context, name string) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	return begin(ctx, t, name, trace.WithAttributes(attribute.String(attrCommand, name)))
}

// Exit notes the exit code of a command.
func (s *Span) Exit(code int) {
	if s != nil {
		s.span.SetAttributes(attribute.Int(attrExitCode, code))
	}
}

// Unit begins the span of a unit of a run over many stacks, in one of its phases. After are the
// spans of the units whose end it has waited for.
func Unit(ctx context.Context, name, phase string, after []Link) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	options := []trace.SpanStartOption{
		trace.WithAttributes(attribute.String(attrUnit, name), attribute.String(attrOperation, phase)),
	}
	for _, link := range after {
		if link.context.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: link.context}))
		}
	}
	return begin(ctx, t, phase+" "+name, options...)
}

// Received begins the span of a call that a worker of a pool carries out, below the span of the
// caller on another machine, which was carried to it.
func Received(ctx context.Context, carried map[string]string, pool string) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	ctx = propagator.Extract(ctx, propagation.MapCarrier(carried))
	return begin(ctx, t, "worker "+pool, trace.WithAttributes(attribute.String(attrPool, pool)))
}

// Operation begins the span of an operation on a deployment of a stack.
func Operation(ctx context.Context, name, stack, deployment string) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	ctx, s := begin(ctx, t, name+" of "+stack, trace.WithAttributes(
		attribute.String(attrOperation, name), attribute.String(attrStack, stack), attribute.String(attrDeployment, deployment)))
	s.ended = func(ctx context.Context, took time.Duration, failed bool) {
		t.meters.operations.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String(attrOperation, name), outcome(failed)))
	}
	return ctx, s
}

// Lock begins the span of waiting for the lock of a state.
func Lock(ctx context.Context, deployment string) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	ctx, s := begin(ctx, t, "lock", trace.WithAttributes(attribute.String(attrDeployment, deployment)))
	s.ended = func(ctx context.Context, took time.Duration, failed bool) {
		t.meters.locks.Record(ctx, took.Seconds(), metric.WithAttributes(outcome(failed)))
	}
	return ctx, s
}

// Work makes the span of a piece of work of an engine on a component instance, as a function of
// [hooks.Hooks].
func Work(ctx context.Context, component stackaddrs.AbsComponentInstance, kind hooks.WorkKind) (context.Context, hooks.Work) {
	if From(ctx) == nil {
		return ctx, hooks.Work{}
	}
	ctx, span := Component(ctx, component.String(), string(kind))
	return ctx, hooks.Work{Began: span.Begun, Ended: span.EndWith}
}

// Component begins the span of a piece of work of an engine on a component instance.
func Component(ctx context.Context, address, work string) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	ctx, s := begin(ctx, t, work+" "+address, trace.WithAttributes(attribute.String(attrComponent, address), attribute.String(attrWork, work)))
	s.ended = func(ctx context.Context, took time.Duration, failed bool) {
		t.meters.components.Record(ctx, took.Seconds(), metric.WithAttributes(attribute.String(attrWork, work), outcome(failed)))
	}
	return ctx, s
}

// Call is a call of a provider.
type Call struct {
	Provider string // the name of its program
	Method   string // of the protocol
	Type     string // of the resource that it is about; "" for none
}

// Begin begins the span of the call, and returns the context that carries it to the provider.
func (c Call) Begin(ctx context.Context) (context.Context, *Span) {
	t := From(ctx)
	if t == nil {
		return ctx, nil
	}
	name := c.Method
	attributes := make([]attribute.KeyValue, 0, 5)
	attributes = append(attributes,
		attribute.String(attrRPCSystem, "grpc"), attribute.String(attrRPCMethod, c.Method), attribute.String(attrProvider, c.Provider))
	measured := attributes[1:]
	if c.Type != "" {
		name += " " + c.Type
		attributes = append(attributes, attribute.String(attrType, c.Type))
	}
	place, _ := ctx.Value(placeKey{}).(place) // none outside of a resource
	if place.resource != "" {
		attributes = append(attributes, attribute.String(attrResource, place.resource))
	}
	ctx, s := begin(ctx, t, name, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
	s.within = place.within
	s.ended = func(ctx context.Context, took time.Duration, failed bool) {
		t.meters.calls.Record(ctx, took.Seconds(), metric.WithAttributes(measured[0], measured[1], outcome(failed)))
	}
	return ctx, s
}

// moduleSpan is the span of a module instance, which ends with its last call.
type moduleSpan struct {
	span  trace.Span
	above *moduleSpan  // of the module instance that calls it; nil for the root module
	last  atomic.Int64 // nanoseconds of the end of the last call so far
}

// reached notes the end of a call.
func (m *moduleSpan) reached(now time.Time) {
	nanos := now.UnixNano()
	for ; m != nil; m = m.above {
		for last := m.last.Load(); last < nanos && !m.last.CompareAndSwap(last, nanos); last = m.last.Load() {
		}
	}
}
