// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
)

// instruments measure. All durations are in seconds.
type instruments struct {
	operations, components, locks, calls metric.Float64Histogram
	planned, changed                     metric.Int64Counter
}

// durations are the limits of the buckets of histograms: calls take milliseconds, applies an hour.
var durations = metric.WithExplicitBucketBoundaries(
	0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600, 1800, 3600)

func newInstruments(meter metric.Meter) instruments {
	histogram := func(name, description string) metric.Float64Histogram {
		made, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description), durations)
		if err != nil { // of a name that is not valid, which these are
			return metricnoop.Float64Histogram{}
		}
		return made
	}
	counter := func(name, unit, description string) metric.Int64Counter {
		made, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
		if err != nil {
			return metricnoop.Int64Counter{}
		}
		return made
	}
	return instruments{
		operations: histogram("cairn.operation.duration", "Duration of operations on deployments of stacks."),
		components: histogram("cairn.component.duration", "Duration of work of engines on component instances."),
		locks:      histogram("cairn.lock.wait.duration", "Time until a state was locked."),
		calls:      histogram("cairn.provider.call.duration", "Duration of calls of providers."),
		planned:    counter("cairn.components", "{component}", "Component instances, by their action in plans and their status in applies."),
		changed:    counter("cairn.resources", "{resource}", "Resource instances, by planned and applied actions."),
	}
}

// CountComponent counts a component instance of an operation, by its action or its status.
func CountComponent(ctx context.Context, operation, action string) {
	if t := From(ctx); t != nil {
		t.meters.planned.Add(ctx, 1, metric.WithAttributes(attribute.String(attrOperation, operation), attribute.String(attrAction, action)))
	}
}

// CountResources counts resource instances of an operation with one action.
func CountResources(ctx context.Context, operation, action string, number int) {
	if t := From(ctx); t != nil && number > 0 {
		t.meters.changed.Add(ctx, int64(number),
			metric.WithAttributes(attribute.String(attrOperation, operation), attribute.String(attrAction, action)))
	}
}
