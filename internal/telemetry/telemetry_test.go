// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package telemetry_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	trace "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/grpc/metadata"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/internal/testenv/otlptest"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// start returns telemetry that a receiver gets.
func start(t testing.TB, env ...string) (*telemetry.Telemetry, *otlptest.Receiver) {
	t.Helper()
	receiver := otlptest.Start()
	t.Cleanup(receiver.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", receiver.URL()) // which the library reads itself
	sending, err := telemetry.Start(t.Context(), append(env, "OTEL_EXPORTER_OTLP_ENDPOINT="+receiver.URL()), "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	return sending, receiver
}

func TestAsked(t *testing.T) {
	const endpoint = "OTEL_EXPORTER_OTLP_ENDPOINT=http://127.0.0.1:1"
	for name, test := range map[string]struct {
		env  []string
		on   bool
		want string // in the error
	}{
		"nothing":                  {nil, false, ""},
		"endpoint":                 {[]string{endpoint}, true, ""},
		"endpoint of metrics":      {[]string{"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT=http://127.0.0.1:1/m"}, true, ""},
		"exporter alone":           {[]string{"OTEL_TRACES_EXPORTER=otlp"}, true, ""},
		"disabled":                 {[]string{endpoint, "OTEL_SDK_DISABLED=TRUE"}, false, ""},
		"no exporters":             {[]string{endpoint, "OTEL_TRACES_EXPORTER=none", "OTEL_METRICS_EXPORTER=none"}, false, ""},
		"no traces":                {[]string{endpoint, "OTEL_TRACES_EXPORTER=none"}, true, ""},
		"another exporter":         {[]string{"OTEL_METRICS_EXPORTER=prometheus"}, false, `OTEL_METRICS_EXPORTER is "prometheus"`},
		"another protocol":         {[]string{endpoint, "OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}, false, `"http/json"`},
		"protocol of one signal":   {[]string{endpoint, "OTEL_EXPORTER_OTLP_TRACES_PROTOCOL=grpc"}, true, ""},
		"protocol of what is off":  {[]string{"OTEL_EXPORTER_OTLP_PROTOCOL=http/json"}, false, ""},
		"disabled, with a mistake": {[]string{"OTEL_SDK_DISABLED=true", "OTEL_TRACES_EXPORTER=zipkin"}, false, ""},
	} {
		t.Run(name, func(t *testing.T) {
			sending, err := telemetry.Start(t.Context(), test.env, "")
			switch {
			case test.want == "" && err != nil, test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("the error is %v, want %q", err, test.want)
			case (sending != nil) != test.on:
				t.Errorf("on is %t", sending != nil)
			}
		})
	}
}

// Without telemetry, everything can be called, and a context stays as it is.
func TestOff(t *testing.T) {
	ctx := t.Context()
	same := func(got context.Context, span *telemetry.Span) {
		t.Helper()
		if got != ctx || span != nil {
			t.Errorf("there is another context, or a span: %v", span)
		}
		span.Begun()
		span.Fail("no")
		span.Exit(1)
		span.End()
	}
	same(telemetry.Command(ctx, "cairn plan"))
	same(telemetry.Unit(ctx, "a", "plan", []telemetry.Link{(*telemetry.Span)(nil).Link()}))
	same(telemetry.Operation(ctx, "plan", "stack", "default"))
	same(telemetry.Component(ctx, "component.a", "plan"))
	same(telemetry.Lock(ctx, "default"))
	same(telemetry.Call{Method: "ReadResource"}.Begin(ctx))
	modules := telemetry.NewModules(ctx)
	same(modules.In(ctx, stackaddrs.RootModuleInstance, "a.b"), nil)
	modules.End()
	telemetry.CountComponent(ctx, "plan", "create")
	telemetry.CountResources(ctx, "plan", "add", 1)
	var off *telemetry.Telemetry
	if off.Into(ctx) != ctx || off.Close() != nil || off.Traces() != nil {
		t.Error("no telemetry does something")
	}
	env := []string{"TRACEPARENT=from outside"}
	if got := telemetry.Environ(ctx, env); !slices.Equal(got, env) {
		t.Errorf("the environment is %v", got)
	}
}

// The tree of a whole command, with module instances that call each other and that several
// goroutines work in.
func TestTree(t *testing.T) {
	sending, receiver := start(t)
	ctx, command := telemetry.Command(sending.Into(t.Context()), "cairn run apply")
	_, first := telemetry.Unit(ctx, "network", "apply", nil)
	first.End()
	unit, second := telemetry.Unit(ctx, "app", "apply", []telemetry.Link{first.Link(), {}})
	op, operation := telemetry.Operation(unit, "apply", "live/app", "prod")
	work, component := telemetry.Component(op, "component.app", "apply")
	component.Begun()
	modules := telemetry.NewModules(work)
	outer := stackaddrs.RootModuleInstance.Child("outer", stackaddrs.NoKey)
	inner := outer.Child("inner", stackaddrs.NoKey)
	var all sync.WaitGroup
	for _, module := range []stackaddrs.ModuleInstance{stackaddrs.RootModuleInstance, inner, inner, outer, inner} {
		all.Go(func() {
			at := modules.In(work, module, "fake_resource.a")
			_, call := telemetry.Call{Provider: "fake", Method: "ReadResource", Type: "fake_resource"}.Begin(at)
			call.End()
			// A reference leads to a resource of another module from there.
			at = modules.In(at, stackaddrs.RootModuleInstance, "fake_resource.b")
			_, call = telemetry.Call{Provider: "fake", Method: "PlanResourceChange"}.Begin(at)
			call.Fail("provider reported errors")
			call.End()
		})
	}
	all.Wait()
	modules.End()
	component.Fail("Not good")
	for _, span := range []*telemetry.Span{component, operation, second, command} {
		span.End()
	}
	if err := sending.Close(); err != nil {
		t.Fatal(err)
	}
	const want = "cairn run apply\n" + `  apply app after apply network
    apply of live/app
      apply component.app FAILED: Not good
        PlanResourceChange FAILED: provider reported errors (5)
        ReadResource fake_resource
        module.outer
          ReadResource fake_resource
          module.outer.module.inner
            ReadResource fake_resource (3)
  apply network
`
	if diff := cmp.Diff(want, receiver.Tree()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	spans := receiver.Spans()
	named := func(name string) *trace.Span {
		return spans[slices.IndexFunc(spans, func(s *trace.Span) bool { return s.GetName() == name })]
	}
	wantAttributes := map[string]string{
		"rpc.system": "grpc", "rpc.method": "ReadResource", "cairn.provider": "fake", "cairn.resource.type": "fake_resource",
		"cairn.resource.address": "fake_resource.a",
	}
	if got := otlptest.Attributes(named("ReadResource fake_resource").GetAttributes()); !maps.Equal(got, wantAttributes) {
		t.Errorf("attributes of a call are %v", got)
	}
	for _, span := range spans {
		if strings.HasPrefix(span.GetName(), "ReadResource") && span.GetEndTimeUnixNano() > named("module.outer").GetEndTimeUnixNano() &&
			string(span.GetParentSpanId()) != string(named("apply component.app").GetSpanId()) {
			t.Error("a module instance ends before one of its calls")
		}
	}
}

// The context of a trace comes from the environment, unless work has its own, and goes on to
// programs and providers.
func TestContext(t *testing.T) {
	const trace, parent = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	sending, receiver := start(t, "TRACEPARENT=00-"+trace+"-"+parent+"-01", "TRACESTATE=a=b", "BAGGAGE=c=d")
	ctx, span := telemetry.Command(sending.Into(t.Context()), "cairn plan")
	env := telemetry.Environ(ctx, []string{"TRACEPARENT=old", "OTHER=1"})
	span.End()
	if err := sending.Close(); err != nil {
		t.Fatal(err)
	}
	if want := "of " + parent + "\n  cairn plan\n"; receiver.Tree() != want {
		t.Errorf("the tree is\n%s", receiver.Tree())
	}
	want := fmt.Sprintf("00-%s-%x-01", trace, receiver.Spans()[0].GetSpanId())
	if got := environ.Get(env, "TRACEPARENT"); got != want {
		t.Errorf("TRACEPARENT is %s, want %s", got, want)
	}
	if environ.Get(env, "TRACESTATE") != "a=b" || environ.Get(env, "BAGGAGE") != "c=d" || environ.Get(env, "OTHER") != "1" {
		t.Errorf("the environment is %v", env)
	}
	sent, _ := metadata.FromOutgoingContext(telemetry.Outgoing(ctx))
	if got := sent.Get("traceparent"); !slices.Equal(got, []string{want}) {
		t.Errorf("a provider gets %v", got)
	}
}

func TestMetrics(t *testing.T) {
	sending, receiver := start(t, "OTEL_TRACES_EXPORTER=none")
	ctx := sending.Into(t.Context())
	for range 2 {
		_, lock := telemetry.Lock(ctx, "default")
		lock.End()
		_, call := telemetry.Call{Provider: "fake", Method: "ReadResource", Type: "fake_resource"}.Begin(ctx)
		call.Fail("call failed")
		call.End()
	}
	telemetry.CountComponent(ctx, "plan", "create")
	telemetry.CountResources(ctx, "plan", "add", 3)
	telemetry.CountResources(ctx, "plan", "remove", 0)
	if err := sending.Close(); err != nil {
		t.Fatal(err)
	}
	const want = `cairn.components{cairn.action=create,cairn.operation=plan} 1
cairn.lock.wait.duration{cairn.outcome=ok} 2
cairn.provider.call.duration{cairn.outcome=failed,cairn.provider=fake,rpc.method=ReadResource} 2
cairn.resources{cairn.action=add,cairn.operation=plan} 3
`
	if diff := cmp.Diff(want, receiver.Measured()); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
	if len(receiver.Spans()) > 0 {
		t.Error("there are spans")
	}
}

// A receiver that is gone is an error of Close.
func TestUnreachable(t *testing.T) {
	sending, receiver := start(t)
	receiver.Close()
	_, span := telemetry.Command(sending.Into(t.Context()), "cairn plan")
	span.End()
	if err := sending.Close(); err == nil {
		t.Error("there is no error")
	}
}

func BenchmarkComponent(b *testing.B) {
	measure := func(b *testing.B, ctx context.Context) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			_, span := telemetry.Component(ctx, "component.a", "plan")
			span.Begun()
			span.End()
		}
	}
	b.Run("off", func(b *testing.B) { measure(b, b.Context()) })
	b.Run("on", func(b *testing.B) {
		sending, _ := start(b)
		defer sending.Close() //nolint:errcheck // of no interest
		measure(b, sending.Into(b.Context()))
	})
}
