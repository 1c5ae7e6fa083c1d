// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"

	"github.com/cairnstacks/cairn/internal/testenv/otlptest"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// The work for a call is below the call, and that below the call of the client.
func testTracesOfWork(t *testing.T) {
	received := otlptest.Start()
	defer received.Close()
	s := openStack(t, `
-- stack/main.tfcomponent.hcl --
component "network" {
  source = "./m"
}
-- stack/m/main.tf --
resource "terraform_data" "x" {}
`, "OTEL_EXPORTER_OTLP_ENDPOINT="+received.URL(), "OTEL_METRICS_EXPORTER=none")
	s.planned(nil, stackspb.PlanMode_NORMAL)
	shutdown(t, s.conn)
	if status := s.exitStatus(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	tree := received.Tree()
	want := "  terraform1.stacks.Stacks/PlanStackChanges\n    plan component.network\n"
	if !strings.HasPrefix(tree, "cairn rpcapi\n") || !strings.Contains(tree, want) {
		t.Errorf("the tree lacks\n%s\nin\n%s", want, tree)
	}
}

// named returns the span of a call; nil if there is none.
func named(spans []*trace.Span, name string) *trace.Span {
	i := slices.IndexFunc(spans, func(span *trace.Span) bool { return span.GetName() == name })
	if i < 0 {
		return nil
	}
	return spans[i]
}

// Calls have spans in the trace of their client, or else in that of the environment.
func testTraces(t *testing.T) {
	received := otlptest.Start()
	defer received.Close()
	const ofProcess, ofCall = "0af7651916cd43dd8448eb211c80319c", "4bf92f3577b34da6a3ce929d0e0e4736"
	c := start(t, options{env: []string{
		"OTEL_TRACES_EXPORTER=otlp", "OTEL_EXPORTER_OTLP_ENDPOINT=" + received.URL(), "TRACEPARENT=00-" + ofProcess + "-b7ad6b7169203331-01",
	}}).connect()
	must[*setuppb.Handshake_Response](t)(c.setup.Handshake(t.Context(), &setuppb.Handshake_Request{}))
	ctx := metadata.AppendToOutgoingContext(t.Context(), "traceparent", "00-"+ofCall+"-00f067aa0ba902b7-01")
	must[*setuppb.Stop_Response](t)(c.setup.Stop(ctx, &setuppb.Stop_Request{}))
	shutdown(t, c.conn)
	if status := c.exitStatus(); status != 0 {
		t.Errorf("exit status %d", status)
	}
	for name, want := range map[string]string{"terraform1.setup.Setup/Handshake": ofProcess, "terraform1.setup.Setup/Stop": ofCall} {
		span := named(received.Spans(), name)
		if span == nil {
			t.Errorf("there is no span of %s", name)
			continue
		}
		if got := hex.EncodeToString(span.GetTraceId()); got != want {
			t.Errorf("%s is in the trace %s, want %s", name, got, want)
		}
		if otlptest.Attributes(span.GetAttributes())["rpc.system"] != "grpc" {
			t.Errorf("%s: the attributes are %v", name, span.GetAttributes())
		}
	}
}
