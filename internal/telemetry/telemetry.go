// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package telemetry

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/cairnstacks/cairn/internal/environ"
)

// scope names this instrumentation.
const scope = "github.com/cairnstacks/cairn"

// endTimeout is how long the last spans and measurements may take to be sent.
const endTimeout = 5 * time.Second

// queueSize is the number of spans that wait to be sent before others are dropped, unless the
// environment has another one. A plan of thousands of components makes them faster than a collector
// takes them.
const queueSize = 1 << 16

// Telemetry sends traces and metrics. Nil sends none. Safe for concurrent use.
type Telemetry struct {
	traces  trace.TracerProvider
	tracer  trace.Tracer
	meters  instruments
	parent  propagation.MapCarrier // of work that has no other
	closing []func(context.Context) error

	mu struct {
		sync.Mutex
		failed error // the first of sending
	}
}

// propagator reads and writes the context of a trace in the forms of the W3C.
var propagator = propagation.NewCompositeTextMapPropagator(propagation.TraceContext{}, propagation.Baggage{})

// Start returns the telemetry that an environment asks for; nil if it asks for none. Destinations,
// and the way to them, are in the environment of this program. TRACEPARENT, TRACESTATE and BAGGAGE
// are the context of work that has no other. The caller closes it.
func Start(ctx context.Context, env []string, version string) (*Telemetry, error) {
	asked, err := readRequest(env)
	if err != nil {
		return nil, fmt.Errorf("sending telemetry: %w", err)
	}
	if !asked.traces.on && !asked.metrics.on {
		return nil, nil
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(semconv.ServiceName("cairn"), semconv.ServiceVersion(version)),
		resource.WithTelemetrySDK(), resource.WithFromEnv()) // last, so that it wins
	if err != nil {
		return nil, fmt.Errorf("sending telemetry: %w", err)
	}
	t := &Telemetry{traces: tracenoop.NewTracerProvider(), parent: parentOf(env)}
	var meters metric.MeterProvider = metricnoop.NewMeterProvider()
	if asked.traces.on {
		exporter, err := asked.traces.newSpanExporter(ctx)
		if err != nil {
			return nil, fmt.Errorf("sending traces: %w", err)
		}
		var options []sdktrace.BatchSpanProcessorOption
		if environ.Get(env, "OTEL_BSP_MAX_QUEUE_SIZE") == "" {
			options = append(options, sdktrace.WithMaxQueueSize(queueSize))
		}
		provider := sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter, options...), sdktrace.WithResource(about))
		t.traces, t.closing = provider, append(t.closing, provider.Shutdown)
	}
	if asked.metrics.on {
		exporter, err := asked.metrics.newMetricExporter(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("sending metrics: %w", err), t.Close())
		}
		provider := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewPeriodicReader(exporter)), sdkmetric.WithResource(about))
		meters, t.closing = provider, append(t.closing, provider.Shutdown)
	}
	t.tracer = t.traces.Tracer(scope, trace.WithInstrumentationVersion(version))
	t.meters = newInstruments(meters.Meter(scope, metric.WithInstrumentationVersion(version)))
	// The libraries report failures of sending here alone, and would write them to standard error.
	otel.SetErrorHandler(otel.ErrorHandlerFunc(t.fail))
	return t, nil
}

func (t *Telemetry) fail(err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.failed == nil {
		t.mu.failed = err
	}
}

// Close sends everything that was not sent yet. Its error is the first failure of sending.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), endTimeout)
	defer cancel()
	var all sync.WaitGroup
	for _, shutdown := range t.closing {
		all.Go(func() {
			if err := shutdown(ctx); err != nil {
				t.fail(err)
			}
		})
	}
	all.Wait()
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.mu.failed
}

type telemetryKey struct{}

// Into returns a context for work whose spans and measurements t sends. For nil it is ctx itself.
func (t *Telemetry) Into(ctx context.Context) context.Context {
	if t == nil {
		return ctx
	}
	if !trace.SpanContextFromContext(ctx).IsValid() {
		ctx = propagator.Extract(ctx, t.parent)
	}
	return context.WithValue(ctx, telemetryKey{}, t)
}

// From returns the telemetry of work; nil if there is none.
func From(ctx context.Context) *Telemetry {
	t, _ := ctx.Value(telemetryKey{}).(*Telemetry)
	return t
}

// Traces is for the instrumentation of libraries. Nil for none.
func (t *Telemetry) Traces() trace.TracerProvider {
	if t == nil {
		return nil
	}
	return t.traces
}
