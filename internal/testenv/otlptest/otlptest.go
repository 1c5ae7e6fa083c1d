// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package otlptest receives traces and metrics as collectors of OpenTelemetry do, by OTLP over HTTP
// on loopback, and shows them as text that does not depend on times and on random numbers.
package otlptest

import (
	"encoding/hex"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"

	metricsservice "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	traceservice "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metrics "go.opentelemetry.io/proto/otlp/metrics/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Receiver has all that it was sent. Made by [Start]. Safe for concurrent use.
type Receiver struct {
	server *httptest.Server

	mu struct {
		sync.Mutex
		spans   []*trace.Span
		metrics []*metrics.Metric
	}
}

// Start returns a receiver, which the caller closes.
func Start() *Receiver {
	r := &Receiver{}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/traces", func(w http.ResponseWriter, request *http.Request) {
		var message traceservice.ExportTraceServiceRequest
		if !read(w, request, &message) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range message.GetResourceSpans() {
			for _, scope := range resource.GetScopeSpans() {
				r.mu.spans = append(r.mu.spans, scope.GetSpans()...)
			}
		}
	})
	mux.HandleFunc("POST /v1/metrics", func(w http.ResponseWriter, request *http.Request) {
		var message metricsservice.ExportMetricsServiceRequest
		if !read(w, request, &message) {
			return
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, resource := range message.GetResourceMetrics() {
			for _, scope := range resource.GetScopeMetrics() {
				r.mu.metrics = append(r.mu.metrics, scope.GetMetrics()...)
			}
		}
	})
	r.server = httptest.NewServer(mux)
	return r
}

func read(w http.ResponseWriter, request *http.Request, message proto.Message) bool {
	body, err := io.ReadAll(request.Body)
	if err != nil || proto.Unmarshal(body, message) != nil {
		http.Error(w, "no message of OTLP", http.StatusBadRequest)
		return false
	}
	return true
}

// URL is the endpoint, for OTEL_EXPORTER_OTLP_ENDPOINT.
func (r *Receiver) URL() string { return r.server.URL }

// Close ends the receiver.
func (r *Receiver) Close() { r.server.Close() }

// Spans are all spans so far.
func (r *Receiver) Spans() []*trace.Span {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.mu.spans)
}

// Forget drops all that was received.
func (r *Receiver) Forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.spans, r.mu.metrics = nil, nil
}

// Attributes returns attributes as text.
func Attributes(given []*common.KeyValue) map[string]string {
	texts := map[string]string{}
	for _, one := range given {
		switch value := one.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			texts[one.GetKey()] = value.StringValue
		case *common.AnyValue_IntValue:
			texts[one.GetKey()] = fmt.Sprint(value.IntValue)
		default:
			texts[one.GetKey()] = one.GetValue().String()
		}
	}
	return texts
}

// Tree shows the spans as a tree, children below their parents in the order of their names, with
// failures and the names of links. Of several of the same name with the same children, one is
// shown, with their number. A parent that was not received is shown by its id.
func (r *Receiver) Tree() string {
	t := tree{names: map[string]string{}, children: map[string][]*trace.Span{}}
	spans := r.Spans()
	for _, span := range spans {
		t.names[string(span.GetSpanId())] = span.GetName()
	}
	var roots []string
	for _, span := range spans {
		parent := string(span.GetParentSpanId())
		if _, known := t.names[parent]; !known && !slices.Contains(roots, parent) {
			roots = append(roots, parent)
		}
		t.children[parent] = append(t.children[parent], span)
	}
	slices.Sort(roots)
	var b strings.Builder
	for _, parent := range roots {
		indent := ""
		if parent != "" {
			fmt.Fprintf(&b, "of %s\n", hex.EncodeToString([]byte(parent)))
			indent = "  "
		}
		b.WriteString(t.below(parent, indent))
	}
	return b.String()
}

type tree struct {
	names    map[string]string        // by the ids of spans
	children map[string][]*trace.Span // by the ids of their parents
}

func (t tree) below(parent, indent string) string {
	numbers := map[string]int{}
	for _, span := range t.children[parent] {
		text := indent + span.GetName()
		if span.GetStatus().GetCode() == trace.Status_STATUS_CODE_ERROR {
			text += " FAILED: " + span.GetStatus().GetMessage()
		}
		var links []string
		for _, link := range span.GetLinks() {
			links = append(links, t.names[string(link.GetSpanId())])
		}
		if slices.Sort(links); len(links) > 0 {
			text += " after " + strings.Join(links, ", ")
		}
		numbers[text+"\x00"+t.below(string(span.GetSpanId()), indent+"  ")]++
	}
	var b strings.Builder
	for _, shown := range slices.Sorted(maps.Keys(numbers)) {
		text, below, _ := strings.Cut(shown, "\x00")
		b.WriteString(text)
		if number := numbers[shown]; number > 1 {
			fmt.Fprintf(&b, " (%d)", number)
		}
		b.WriteString("\n" + below)
	}
	return b.String()
}

// Measured shows the metrics, one line for each set of attributes, sorted: sums with their values,
// histograms with the number of measurements.
func (r *Receiver) Measured() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var lines []string
	line := func(metric *metrics.Metric, attributes []*common.KeyValue, value any) {
		var texts []string
		for name, text := range Attributes(attributes) {
			texts = append(texts, name+"="+text)
		}
		slices.Sort(texts)
		lines = append(lines, fmt.Sprintf("%s{%s} %v\n", metric.GetName(), strings.Join(texts, ","), value))
	}
	for _, metric := range r.mu.metrics {
		for _, point := range metric.GetSum().GetDataPoints() {
			line(metric, point.GetAttributes(), point.GetAsInt())
		}
		for _, point := range metric.GetHistogram().GetDataPoints() {
			line(metric, point.GetAttributes(), point.GetCount())
		}
	}
	slices.Sort(lines)
	return strings.Join(lines, "")
}
