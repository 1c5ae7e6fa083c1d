// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package tracing makes spans of the calls that a server answers, and sends them to where the
// environment says, by the variables that OpenTelemetry has for that.
package tracing

import (
	"context"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/contrib/instrumentation/google.golang.org/grpc/otelgrpc"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	"go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc"
	"google.golang.org/grpc/stats"

	"github.com/cairnstacks/cairn/internal/environ"
)

// endTimeout is how long the last calls may take to end, and their spans to be sent.
const endTimeout = 5 * time.Second

// Tracing sends spans. Nil sends none.
type Tracing struct {
	provider *trace.TracerProvider
	parent   propagation.MapCarrier // of calls that have none themselves
	calls    calls
}

// Start returns nil unless the environment asks for traces: OTEL_TRACES_EXPORTER is "otlp". Their
// destination, and the way to it, are in the environment of this program. TRACEPARENT, TRACESTATE
// and BAGGAGE are the context of calls that bring none.
func Start(ctx context.Context, env []string) (*Tracing, error) {
	if environ.Get(env, "OTEL_TRACES_EXPORTER") != "otlp" {
		return nil, nil
	}
	exporter, err := newExporter(ctx, env)
	if err != nil {
		return nil, fmt.Errorf("sending traces: %w", err)
	}
	about, err := resource.New(ctx, resource.WithFromEnv(), resource.WithTelemetrySDK())
	if err != nil {
		return nil, fmt.Errorf("sending traces: %w", err)
	}
	parent := propagation.MapCarrier{}
	for name, variable := range map[string]string{"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE", "baggage": "BAGGAGE"} {
		if value := environ.Get(env, variable); value != "" {
			parent[name] = value
		}
	}
	return &Tracing{provider: trace.NewTracerProvider(trace.WithBatcher(exporter), trace.WithResource(about)), parent: parent}, nil
}

func newExporter(ctx context.Context, env []string) (trace.SpanExporter, error) {
	if environ.Get(env, "OTEL_EXPORTER_OTLP_PROTOCOL") == "grpc" || environ.Get(env, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL") == "grpc" {
		return otlptracegrpc.New(ctx)
	}
	return otlptracehttp.New(ctx)
}

// ServerOptions are those of a server whose calls are traced.
func (t *Tracing) ServerOptions() []grpc.ServerOption {
	if t == nil {
		return nil
	}
	handler := otelgrpc.NewServerHandler(
		otelgrpc.WithTracerProvider(t.provider),
		otelgrpc.WithPropagators(t.propagator()),
		otelgrpc.WithSpanAttributes(attribute.String("rpc.system", "grpc")), // as the conventions called it before
	)
	return []grpc.ServerOption{grpc.StatsHandler(counted{handler, &t.calls})}
}

// Close sends the spans that were not sent yet. The servers must have been stopped; calls whose
// client has its answer may still be about to end.
func (t *Tracing) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	select {
	case <-t.calls.ended():
	case <-ctx.Done():
	}
	return t.provider.Shutdown(ctx)
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

// counted counts calls until another handler has seen their end. grpc.WaitForHandlers would not do:
// the library for plugins stops a server within one of its calls.
type counted struct {
	stats.Handler
	calls *calls
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

// propagator reads the context of a call from its metadata.
func (t *Tracing) propagator() propagation.TextMapPropagator {
	return withParent{propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{}), t.parent}
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
