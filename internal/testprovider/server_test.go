// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testprovider

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// configured returns a provider with the given arguments, and with objects in a directory of the
// test.
func configured(t *testing.T, args map[string]cty.Value) *server {
	t.Helper()
	t.Setenv(StoreVariable, t.TempDir())
	s := New().(*server)
	ty := valueType(s.providerSchema.ValueType())
	all := make(map[string]cty.Value)
	for name, ty := range ty.AttributeTypes() {
		switch name {
		case "list_block":
			all[name] = cty.ListValEmpty(ty.ElementType())
		case "set_block":
			all[name] = cty.SetValEmpty(ty.ElementType())
		default:
			all[name] = cty.NullVal(ty)
		}
	}
	resp, err := s.ConfigureProvider(t.Context(), &tfprotov6.ConfigureProviderRequest{
		Config: encoded(t, withAttributes(cty.ObjectVal(all), args), ty),
	})
	if err != nil || len(resp.Diagnostics) > 0 {
		t.Fatalf("ConfigureProvider: error %v, diagnostics %v", err, resp.Diagnostics)
	}
	return s
}

func encoded(t *testing.T, v cty.Value, ty cty.Type) *tfprotov6.DynamicValue {
	t.Helper()
	raw, err := encode(v, ty)
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func decoded(t *testing.T, raw *tfprotov6.DynamicValue, ty cty.Type) cty.Value {
	t.Helper()
	v, err := decode(raw, ty)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// planCreate plans to create an object with the given arguments.
func planCreate(
	t *testing.T, s *server, typ string, args map[string]cty.Value, deferralAllowed bool,
) *tfprotov6.PlanResourceChangeResponse {
	t.Helper()
	ty := s.types[typ]
	obj := encoded(t, withAttributes(ty.emptyObject(), args), ty.ty)
	resp, err := s.PlanResourceChange(t.Context(), &tfprotov6.PlanResourceChangeRequest{
		TypeName:           typ,
		PriorState:         encoded(t, cty.NullVal(ty.ty), ty.ty),
		ProposedNewState:   obj,
		Config:             obj,
		ClientCapabilities: &tfprotov6.PlanResourceChangeClientCapabilities{DeferralAllowed: deferralAllowed},
	})
	if err != nil {
		t.Fatal(err)
	}
	return resp
}

func TestDeferral(t *testing.T) {
	deferred := map[string]cty.Value{"id": cty.StringVal("a"), "deferred": cty.True}
	tests := map[string]struct {
		config   map[string]cty.Value
		args     map[string]cty.Value
		allowed  bool
		variable string
		want     *tfprotov6.Deferred
	}{
		"allowed":          {nil, deferred, true, "1", &tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonResourceConfigUnknown}},
		"not allowed":      {nil, deferred, false, "1", nil},
		"variable not set": {nil, deferred, true, "", nil},
		"not wanted":       {nil, map[string]cty.Value{"deferred": cty.False}, true, "1", nil},
		"unknown argument": {
			nil,
			map[string]cty.Value{"deferred": cty.UnknownVal(cty.Bool)},
			true, "1",
			&tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonResourceConfigUnknown},
		},
		"unknown provider": {
			map[string]cty.Value{"region": cty.UnknownVal(cty.String)},
			deferred, true, "",
			&tfprotov6.Deferred{Reason: tfprotov6.DeferredReasonProviderConfigUnknown},
		},
		"unknown, forbidden": {map[string]cty.Value{"region": cty.UnknownVal(cty.String)}, deferred, false, "1", nil},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			t.Setenv(DeferralVariable, test.variable)
			s := configured(t, test.config)
			resp := planCreate(t, s, "fake_deferred", test.args, test.allowed)
			if diff := cmp.Diff(test.want, resp.Deferred); diff != "" {
				t.Errorf("deferred (-want +got):\n%s", diff)
			}
			if len(resp.Diagnostics) > 0 {
				t.Errorf("diagnostics: %v", resp.Diagnostics)
			}
		})
	}
}

func TestUnknownProviderConfigurationReadsNothing(t *testing.T) {
	s := configured(t, map[string]cty.Value{"region": cty.UnknownVal(cty.String)})
	ty := valueType(dataSourceSchema().ValueType())
	args := cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("a"), "value": cty.NullVal(cty.String), "region": cty.NullVal(cty.String),
	})
	for _, allowed := range []bool{false, true} {
		resp, err := s.ReadDataSource(t.Context(), &tfprotov6.ReadDataSourceRequest{
			TypeName:           dataSourceName,
			Config:             encoded(t, args, ty),
			ClientCapabilities: &tfprotov6.ReadDataSourceClientCapabilities{DeferralAllowed: allowed},
		})
		if err != nil {
			t.Fatal(err)
		}
		if got := resp.Deferred != nil; got != allowed {
			t.Errorf("deferral allowed %t: got deferred %t", allowed, got)
		}
		if got := len(resp.Diagnostics) > 0; got == allowed {
			t.Errorf("deferral allowed %t: got diagnostics %v", allowed, resp.Diagnostics)
		}
	}
}

func TestIdentityAndImport(t *testing.T) {
	s := configured(t, nil)
	ty := s.types["fake_identity"]
	identityType := cty.Object(map[string]cty.Type{"id": cty.String})

	if resp := planCreate(t, s, "fake_identity", nil, false); resp.PlannedIdentity != nil {
		t.Errorf("identity planned for an id that is not known: %v", resp.PlannedIdentity)
	}
	planned := planCreate(t, s, "fake_identity", map[string]cty.Value{"id": cty.StringVal("a"), "value": cty.StringVal("v")}, false)
	applied, err := s.ApplyResourceChange(t.Context(), &tfprotov6.ApplyResourceChangeRequest{
		TypeName:     "fake_identity",
		PriorState:   encoded(t, cty.NullVal(ty.ty), ty.ty),
		PlannedState: planned.PlannedState,
		Config:       planned.PlannedState,
	})
	if err != nil || len(applied.Diagnostics) > 0 {
		t.Fatalf("ApplyResourceChange: error %v, diagnostics %v", err, applied.Diagnostics)
	}
	for name, identity := range map[string]*tfprotov6.ResourceIdentityData{
		"planned": planned.PlannedIdentity,
		"applied": applied.NewIdentity,
	} {
		got := decoded(t, identity.IdentityData, identityType)
		if want := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("a")}); !got.RawEquals(want) {
			t.Errorf("%s identity: got %#v, want %#v", name, got, want)
		}
	}

	imported, err := s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{
		TypeName: "fake_identity",
		Identity: applied.NewIdentity,
	})
	if err != nil || len(imported.ImportedResources) != 1 {
		t.Fatalf("ImportResourceState: error %v, response %+v; want one object", err, imported)
	}
	got, want := decoded(t, imported.ImportedResources[0].State, ty.ty), decoded(t, applied.NewState, ty.ty)
	if !got.RawEquals(want) {
		t.Errorf("imported: got %#v, want %#v", got, want)
	}

	wrong, err := s.ImportResourceState(t.Context(), &tfprotov6.ImportResourceStateRequest{TypeName: "fake_resource", ID: "a"})
	if err != nil || len(wrong.Diagnostics) != 1 {
		t.Errorf("importing as another type: error %v, diagnostics %v; want one diagnostic", err, wrong.Diagnostics)
	}
}

func TestEverythingIsEmptyWithoutArguments(t *testing.T) {
	s := configured(t, nil)
	ty := s.types["fake_everything"]
	resp := planCreate(t, s, "fake_everything", nil, false)
	got := decoded(t, resp.PlannedState, ty.ty)
	want := withAttributes(ty.emptyObject(), map[string]cty.Value{"id": cty.UnknownVal(cty.String).RefineNotNull()})
	if !got.RawEquals(want) {
		t.Errorf("planned: got %#v, want %#v", got, want)
	}
}

func TestInterruptedGate(t *testing.T) {
	s := configured(t, nil)
	gate := filepath.Join(t.TempDir(), "gate")
	args := cty.ObjectVal(map[string]cty.Value{"create_gate": cty.StringVal(gate)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.disturb(ctx, phaseCreate, args); !errors.Is(err, context.Canceled) {
		t.Errorf("disturb: got error %v, want context.Canceled", err)
	}
}

func TestStore(t *testing.T) {
	store := Store{Dir: filepath.Join(t.TempDir(), "objects")}
	if ids, err := store.List(); err != nil || len(ids) > 0 {
		t.Errorf("List of a missing directory: got %q, error %v; want nothing", ids, err)
	}
	if _, err := store.Get("a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Get: got error %v, want fs.ErrNotExist", err)
	}
	obj := &Object{Type: "fake_resource", ID: "a/b", Values: map[string]json.RawMessage{"value": json.RawMessage(`"v"`)}}
	if err := store.Create(obj); err != nil {
		t.Fatal(err)
	}
	if err := store.Create(obj); !errors.Is(err, fs.ErrExist) {
		t.Errorf("Create of a taken id: got error %v, want fs.ErrExist", err)
	}
	obj.Region = "eu"
	if err := store.Put(obj); err != nil {
		t.Fatal(err)
	}
	got, err := store.Get("a/b")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(obj, got); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
	if ids, err := store.List(); err != nil || !slices.Equal(ids, []string{"a/b"}) {
		t.Errorf("List: got %q, error %v; want a/b", ids, err)
	}
	if err := store.Delete("a/b"); err != nil {
		t.Fatal(err)
	}
	if err := store.Delete("a/b"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Delete of a missing object: got error %v, want fs.ErrNotExist", err)
	}
}

func TestCalls(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls")
	if calls, err := ReadCalls(path); err != nil || len(calls) > 0 {
		t.Errorf("ReadCalls of a missing file: got %v, error %v; want nothing", calls, err)
	}
	t.Setenv(CallsVariable, path)
	var wg sync.WaitGroup
	for range 50 {
		wg.Go(func() {
			record(Call{RPC: "ReadResource", Type: "fake_resource"})
			record(Call{RPC: "ApplyResourceChange"})
			record(Call{RPC: "ApplyResourceChange", Finished: true})
		})
	}
	testenv.Within(t, "all calls are recorded", wg.Wait)
	calls, err := ReadCalls(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(calls); got != 150 {
		t.Errorf("calls: got %d, want 150", got)
	}
	if got := CountCalls(calls, "ApplyResourceChange"); got != 50 {
		t.Errorf("calls of ApplyResourceChange: got %d, want 50", got)
	}
}

func TestKnownJSON(t *testing.T) {
	v := cty.ObjectVal(map[string]cty.Value{
		"known":   cty.StringVal("v"),
		"unknown": cty.UnknownVal(cty.String),
		"list":    cty.ListVal([]cty.Value{cty.StringVal("v"), cty.UnknownVal(cty.String)}),
		"map":     cty.MapVal(map[string]cty.Value{"k": cty.UnknownVal(cty.Number)}),
	})
	raw, unknown, err := knownJSON(v)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(raw), `{"known":"v","list":["v",null],"map":{"k":null},"unknown":null}`; got != want {
		t.Errorf("JSON: got %s, want %s", got, want)
	}
	if want := []string{`.list[1]`, `.map["k"]`, `.unknown`}; !slices.Equal(unknown, want) {
		t.Errorf("unknown paths: got %q, want %q", unknown, want)
	}
}
