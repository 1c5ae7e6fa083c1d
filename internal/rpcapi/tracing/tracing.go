// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package tracing makes spans of the calls that a server answers, and makes them the parents of the
// spans of the work for them.
package tracing

import (
	"context"
	"sync"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/propagation"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/cairnstacks/cairn/internal/telemetry"
)

// Tracing follows the calls of a server. Nil follows none.
type Tracing struct {
	telemetry *telemetry.Telemetry
	server    context.Context //nolint:containedctx // has the parent of calls that bring none
	calls     calls
}

// Of returns the tracing of a server that works with a context: nil if nobody receives spans. The
// span of the context is the parent of calls that bring none.
func Of(ctx context.Context) *Tracing {
	sending := telemetry.From(ctx)
	if sending == nil {
		return nil
	}
	return &Tracing{telemetry: sending, server: ctx}
}

// ServerOptions are those of a server whose calls are traced.
func (t *Tracing) ServerOptions() []grpc.ServerOption {
	if t == nil {
		return nil
	}
	handler := otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(t.telemetry.Traces()),
		otelgrpc.WithPropagators(withParent{telemetry.Propagator(), telemetry.Carried(t.server)}),
		otelgrpc.WithSpanAttributes(attribute.String("rpc.system", "grpc")), // as the conventions called it before
	)
	return []grpc.ServerOption{grpc.StatsHandler(counted{handler, t.telemetry, &t.calls})}
}

// Wait waits for the ends of the last calls, for as long as ctx allows. The server must have been
// stopped; calls whose client has its answer may still be about to end.
func (t *Tracing) Wait(ctx context.Context) {
	if t == nil {
		return
	}
	select {
	case <-t.calls.ended():
	case <-ctx.Done():
	}
}

// calls counts those that have begun and whose span has not ended.
type calls struct {
	mu    sync.Mutex
	open  int
	waits []chan struct{} // closed when no call is open
}

func (c *calls) add(number int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.open += number
	if c.open > 0 {
		return
	}
	for _, wait := range c.waits {
		close(wait)
	}
	c.waits = nil
}

// ended returns a channel that is closed as soon as no call is open.
func (c *calls) ended() <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	wait := make(chan struct{})
	if c.open == 0 {
		close(wait)
	} else {
		c.waits = append(c.waits, wait)
	}
	return wait
}

// counted counts calls until another handler has seen their end, and has the work for them send its
// spans. grpc.WaitForHandlers would not do:
// the library for plugins stops a server within one of its calls.
type counted struct {
	stats.Handler
	telemetry *telemetry.Telemetry
	calls     *calls
}

// TagRPC implements [stats.Handler].
func (c counted) TagRPC(ctx context.Context, info *stats.RPCTagInfo) context.Context {
	return c.telemetry.Into(c.Handler.TagRPC(ctx, info))
}

// HandleRPC implements [stats.Handler].
func (c counted) HandleRPC(ctx context.Context, event stats.RPCStats) {
	if _, ok := event.(*stats.Begin); ok {
		c.calls.add(1)
	}
	c.Handler.HandleRPC(ctx, event)
	if _, ok := event.(*stats.End); ok {
		c.calls.add(-1)
	}
}

// withParent gives calls without a context of their own another one.
type withParent struct {
	propagation.TextMapPropagator
	parent propagation.MapCarrier
}

// Extract implements [propagation.TextMapPropagator].
func (p withParent) Extract(ctx context.Context, carrier propagation.TextMapCarrier) context.Context {
	if carrier.Get("traceparent") == "" {
		carrier = p.parent
	}
	return p.TextMapPropagator.Extract(ctx, carrier)
}
