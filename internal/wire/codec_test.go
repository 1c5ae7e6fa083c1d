// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package wire_test

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func compare(t *testing.T, want, got any) {
	t.Helper()
	if diff := cmp.Diff(want, got,
		cmp.Comparer(func(a, b cty.Value) bool {
			if a == cty.NilVal || b == cty.NilVal {
				return a == cty.NilVal && b == cty.NilVal
			}
			return a.RawEquals(b)
		}),
		cmp.Comparer(func(a, b cty.Path) bool { return a.Equals(b) }),
		cmp.Comparer(func(a, b stackaddrs.AbsComponentInstance) bool { return a == b }),
		cmp.Comparer(func(a, b stackaddrs.AbsProviderConfigInstance) bool { return a == b }),
	); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
}

// planRequest is a request that has some of everything.
func planRequest(t testing.TB) *engine.PlanRequest {
	t.Helper()
	component, err := stackaddrs.ParseAbsComponentInstance(`stack.a["x"].component.b[1]`)
	if err != nil {
		t.Fatal(err)
	}
	provider := stackaddrs.AbsProviderConfigInstance{
		Stack: component.Stack,
		Item: stackaddrs.ProviderConfigInstance{
			Config: stackaddrs.ProviderConfig{
				Provider: stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}, Name: "main",
			},
			Key: stackaddrs.StringKey("eu"),
		},
	}
	return &engine.PlanRequest{
		Work: "op/plan/a", Component: component, Mode: engine.Destroy, Timestamp: time.Date(2031, 1, 2, 3, 4, 5, 0, time.UTC),
		Inputs: map[string]cty.Value{
			"unknown":   cty.UnknownVal(cty.List(cty.String)).RefineNotNull(),
			"dynamic":   cty.DynamicVal.Mark(marks.Sensitive),
			"null":      cty.NullVal(cty.Map(cty.Bool)),
			"ephemeral": cty.ObjectVal(map[string]cty.Value{"token": cty.StringVal("t").Mark(marks.Ephemeral), "n": cty.NumberIntVal(7)}),
			"none":      cty.NilVal,
		},
		Providers: map[engine.ProviderSlot]engine.ProviderConfig{
			{LocalName: "fake", Alias: "west"}: {Provider: stackaddrs.BuiltinProvider, Instance: provider, Config: cty.EmptyObjectVal},
			{LocalName: "open"}:                {Config: cty.DynamicVal, Unknown: true},
		},
		PriorState: engine.State(`{"version":  4}`),
		Replace:    []string{"terraform_data.a"},
	}
}

// Unknown values, marks, types and addresses are the same after encoding and decoding.
func TestRoundTrip(t *testing.T) {
	want := planRequest(t)
	text, err := wire.Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	var got *engine.PlanRequest
	if err := wire.Decode(text, &got); err != nil {
		t.Fatal(err)
	}
	compare(t, want, got)
}

// Equal values have equal encodings, whatever the order of maps.
func TestEqualEncodings(t *testing.T) {
	want, err := wire.Encode(planRequest(t))
	if err != nil {
		t.Fatal(err)
	}
	for range 20 {
		if got, err := wire.Encode(planRequest(t)); err != nil || !bytes.Equal(got, want) {
			t.Fatalf("got %x and error %v, want %x", got, err, want)
		}
	}
}

// Content that is cut, longer or damaged is an error or another value, and never a panic or much
// memory.
func TestDamage(t *testing.T) {
	content, err := wire.Encode(planRequest(t))
	if err != nil {
		t.Fatal(err)
	}
	for n := range content {
		if err := wire.Decode(content[:n], new(*engine.PlanRequest)); err == nil {
			t.Errorf("the first %d of %d bytes are taken for a request", n, len(content))
		}
		for bit := range 8 {
			damaged := bytes.Clone(content)
			damaged[n] ^= 1 << bit
			_ = wire.Decode(damaged, new(*engine.PlanRequest))
		}
	}
	if err := wire.Decode(append(content, 0), new(*engine.PlanRequest)); err == nil {
		t.Error("something after the request is not noticed")
	}
	for name, content := range map[string]string{"list": "\xdd\xff\xff\xff\xff", "map": "\xdf\xff\xff\xff\xff"} {
		into := any(new([]string))
		if name == "map" {
			into = new(map[string]string)
		}
		err := wire.Decode([]byte(content), into)
		if err == nil || !strings.Contains(err.Error(), "4294967295 elements cannot be in 0 bytes") {
			t.Errorf("a %s that is too long: got error %v", name, err)
		}
	}
}

func BenchmarkCodec(b *testing.B) {
	want := planRequest(b)
	want.PriorState = engine.State(`{"resources":[` + strings.Repeat(`{"type":"fake_resource"},`, 500) + `{}]}`)
	content, err := wire.Encode(want)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("Encode", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			if _, err := wire.Encode(want); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("Decode", func(b *testing.B) {
		b.SetBytes(int64(len(content)))
		for b.Loop() {
			if err := wire.Decode(content, new(*engine.PlanRequest)); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// wrapped is an extra that wraps another one.
type wrapped struct{ inner any }

func (w wrapped) UnwrapDiagnosticExtra() any { return w.inner }

// Diagnostics keep their places, and the engine's [engine.DiagnosticData]. An Extra that is no data
// of the contract is lost.
func TestDiagnostics(t *testing.T) {
	data := &engine.DiagnosticData{
		Resource: `fake_resource.a["x"]`, Block: `resource "fake_resource" "a"`,
		Provider: &engine.ProviderArgument{
			Slot: engine.ProviderSlot{LocalName: "fake"},
			Path: cty.GetAttrPath("blocks").IndexInt(1).GetAttr("name"),
		},
		References: []engine.ReferenceValue{{Reference: "var.size", Statement: "is 3"}},
		InDoubt:    []string{"fake_resource.b"},
	}
	for name, test := range map[string]struct {
		extra any
		want  *engine.DiagnosticData
	}{
		"data":    {data, data},
		"wrapped": {wrapped{data}, data},
		"none":    {nil, nil},
		"other":   {"text", nil},
		"fault":   {fault.StalePlan, &engine.DiagnosticData{Fault: fault.StalePlan}},
	} {
		want := hcl.Diagnostics{{
			Severity: hcl.DiagWarning, Summary: "S", Detail: "D", Extra: test.extra,
			Subject: &hcl.Range{Filename: "m/main.tf", Start: hcl.Pos{Line: 3, Column: 1, Byte: 20}, End: hcl.Pos{Line: 3, Column: 4, Byte: 23}},
		}}
		text, err := wire.Encode(want)
		if err != nil {
			t.Fatal(err)
		}
		var got hcl.Diagnostics
		if err := wire.Decode(text, &got); err != nil {
			t.Fatal(err)
		}
		extra, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](got[0])
		if ok != (test.want != nil) || !ok && got[0].Extra != nil {
			t.Errorf("%s: got the extra %#v", name, got[0].Extra)
		}
		if ok {
			compare(t, test.want, extra)
		}
		got[0].Extra, want[0].Extra = nil, nil
		compare(t, want, got)
	}
}

// A type that is not data is refused.
func TestOnlyData(t *testing.T) {
	for name, v := range map[string]any{
		"function":  struct{ F func() }{},
		"channel":   struct{ C chan int }{},
		"interface": struct{ I any }{},
	} {
		if _, err := wire.Encode(v); err == nil || !strings.Contains(err.Error(), "is not data") {
			t.Errorf("%s: got %v, want that it is not data", name, err)
		}
	}
}
