// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	collector "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"
	"google.golang.org/protobuf/proto"

	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
)

// spans receives spans as collectors of OpenTelemetry do.
type spans struct {
	mu  sync.Mutex
	all []*trace.Span
}

func (s *spans) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	var request collector.ExportTraceServiceRequest
	if err != nil || proto.Unmarshal(body, &request) != nil {
		http.Error(w, "no spans", http.StatusBadRequest)
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, resource := range request.GetResourceSpans() {
		for _, scope := range resource.GetScopeSpans() {
			s.all = append(s.all, scope.GetSpans()...)
		}
	}
}

// named returns the span of a call.
func (s *spans) named(name string) *trace.Span {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, span := range s.all {
		if span.GetName() == name {
			return span
		}
	}
	return nil
}

// Calls have spans in the trace of their client, or else in that of the environment.
func testTraces(t *testing.T) {
	received := &spans{}
	server := httptest.NewServer(received)
	defer server.Close()
	const ofProcess, ofCall = "0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"
	c := start(t, options{env: []string{
		"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT=" + server.URL, "TRACEPARENT=00-" + ofProcess + "-b7ad6b7169203331-01",
	}}).connect()
	must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{}))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+ofCall+"-00f067aa0ba902b7-01")
	must[*setuppb.Stop_Response](t)(c.setup.Stop(ctx, &setuppb.Stop_Request{}))
	shutdown(t, c.conn)
	if status := c.exitStatus(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for name, want := range map[string]string{"terraform1.setup.Setup/Handshake": ofProcess, "terraform1.setup.Setup/Stop": ofCall} {
		span := received.named(name)
		if span == nil {
			t.Errorf("there is no span of %s", name)
			continue
		}
		if got := hex.EncodeToString(span.GetTraceId()); got != want {
			t.Errorf("%s is in the trace %s, want %s", name, got, want)
		}
		system := ""
		for _, attribute := range span.GetAttributes() {
			if attribute.GetKey() == "rpc.system" {
				system = attribute.GetValue().GetStringValue()
			}
		}
		if system != "grpc" {
			t.Errorf("%s: the attributes are %v", name, span.GetAttributes())
		}
	}
}
