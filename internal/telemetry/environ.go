// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package telemetry

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetricgrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlpmetric/otlpmetrichttp"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/propagation"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"google.golang.org/grpc/metadata"

	"github.com/cairnstacks/cairn/internal/environ"
)

// request is the telemetry that an environment asks for.
type request struct{ traces, metrics signal }

// signal is one kind of telemetry.
type signal struct{ on, grpc bool }

// readRequest reads the variables of OpenTelemetry. By its specification, an exporter that is not
// named is "otlp"; but a program that nobody has told where to send would send to an address on
// this machine where nobody listens, so that an endpoint has to be named then.
func readRequest(env []string) (request, error) {
	if strings.EqualFold(environ.Get(env, "OTEL_SDK_DISABLED"), "true") {
		return request{}, nil
	}
	traces, err := readSignal(env, "TRACES")
	if err != nil {
		return request{}, err
	}
	metrics, err := readSignal(env, "METRICS")
	return request{traces, metrics}, err
}

func readSignal(env []string, name string) (signal, error) {
	exporter := environ.Get(env, "OTEL_"+name+"_EXPORTER")
	variable := "OTEL_EXPORTER_OTLP_" + name + "_"
	endpoint := environ.Get(env, variable+"ENDPOINT") + environ.Get(env, "OTEL_EXPORTER_OTLP_ENDPOINT")
	protocol := cmp.Or(environ.Get(env, variable+"PROTOCOL"), environ.Get(env, "OTEL_EXPORTER_OTLP_PROTOCOL"))
	switch {
	case exporter == "none", exporter == "" && endpoint == "":
		return signal{}, nil
	case exporter != "otlp" && exporter != "":
		return signal{}, fmt.Errorf("the variable OTEL_%s_EXPORTER is %q; only otlp and none are possible", name, exporter)
	case protocol != "" && protocol != "grpc" && protocol != "http/protobuf":
		return signal{}, fmt.Errorf("the protocol for OTLP is %q in the environment; only grpc and http/protobuf are possible", protocol)
	}
	return signal{on: true, grpc: protocol == "grpc"}, nil
}

func (s signal) newSpanExporter(ctx context.Context) (sdktrace.SpanExporter, error) {
	if s.grpc {
		return otlptracegrpc.New(ctx)
	}
	return otlptracehttp.New(ctx)
}

func (s signal) newMetricExporter(ctx context.Context) (sdkmetric.Exporter, error) {
	if s.grpc {
		return otlpmetricgrpc.New(ctx)
	}
	return otlpmetrichttp.New(ctx)
}

// variables carry the context of a trace from program to program, by the fields that a propagator
// knows.
var variables = map[string]string{"traceparent": "TRACEPARENT", "tracestate": "TRACESTATE", "baggage": "BAGGAGE"}

// parentOf returns the context that an environment carries.
func parentOf(env []string) propagation.MapCarrier {
	parent := propagation.MapCarrier{}
	for field, variable := range variables {
		if value := environ.Get(env, variable); value != "" {
			parent[field] = value
		}
	}
	return parent
}

// Propagator reads and writes the context of a trace, in calls of servers and by them.
func Propagator() propagation.TextMapPropagator { return propagator }

// Carried returns the context of a trace in the fields that carry it; none if there is none.
func Carried(ctx context.Context) propagation.MapCarrier {
	carried := propagation.MapCarrier{}
	propagator.Inject(ctx, carried)
	return carried
}

// Outgoing returns the context of a call by gRPC that carries the span of ctx to the other side.
func Outgoing(ctx context.Context) context.Context {
	carried := Carried(ctx)
	pairs := make([]string, 0, 2*len(carried))
	for field, value := range carried {
		pairs = append(pairs, field, value)
	}
	return metadata.AppendToOutgoingContext(ctx, pairs...)
}

// Environ returns the environment of a program that is started for the work of ctx: its spans
// belong to that. Without a span it is env itself.
func Environ(ctx context.Context, env []string) []string {
	if From(ctx) == nil {
		return env
	}
	carried := Carried(ctx)
	if len(carried) == 0 {
		return env
	}
	env = slices.Clone(env)
	for _, field := range slices.Sorted(maps.Keys(carried)) {
		env = append(env, variables[field]+"="+carried[field])
	}
	return env
}
