// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// object returns the object that a block with some arguments becomes.
func object(t *testing.T, s *schema.Schema, args map[string]cty.Value) cty.Value {
	t.Helper()
	if s == nil {
		t.Fatal("there is no such schema")
	}
	attrs := s.Block.Empty().AsValueMap()
	for name, v := range args {
		attrs[name] = v
	}
	return cty.ObjectVal(attrs)
}

func none(s *schema.Schema) cty.Value { return cty.NullVal(s.Block.Type()) }

// ok fails the test if a call reported something.
func ok(t *testing.T, call string, diags provider.Diagnostics) {
	t.Helper()
	if len(diags) > 0 {
		t.Fatalf("%s: %+v", call, diags)
	}
}

// configure configures the provider with a store of its own.
func configure(t *testing.T, p *client.Client, args map[string]cty.Value) {
	t.Helper()
	all := map[string]cty.Value{"store": cty.StringVal(t.TempDir())}
	for name, v := range args {
		all[name] = v
	}
	config := object(t, p.Schema().Config, all)
	ok(t, "ValidateConfig", p.ValidateConfig(t.Context(), config))
	ok(t, "Configure", p.Configure(t.Context(), provider.ConfigureRequest{Config: config, TerraformVersion: "1.11.4", DeferralAllowed: true}))
}

// versions runs a test over both versions of the protocol.
func versions(t *testing.T, test func(t *testing.T, environ string)) {
	for _, version := range []string{"5", "6"} {
		t.Run("protocol "+version, func(t *testing.T) { test(t, testprovider.ProtocolVariable+"="+version) })
	}
}

// create plans and creates an object.
func create(t *testing.T, p *client.Client, typeName string, args map[string]cty.Value) provider.ApplyResponse {
	t.Helper()
	s := p.Schema().Managed[typeName]
	config := object(t, s, args)
	planned := p.Plan(t.Context(), provider.PlanRequest{Type: typeName, Prior: none(s), Proposed: config, Config: config})
	ok(t, "Plan", planned.Diagnostics)
	applied := p.Apply(t.Context(), provider.ApplyRequest{
		Type: typeName, Prior: none(s), Planned: planned.Planned, Config: config, Private: planned.Private, PlannedIdentity: planned.Identity,
	})
	ok(t, "Apply", applied.Diagnostics)
	return applied
}

func TestLifecycle(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		const typeName = "fake_computed"
		s := p.Schema().Managed[typeName]
		config := object(t, s, map[string]cty.Value{"value": cty.StringVal("a")})
		ok(t, "ValidateResource", p.ValidateResource(t.Context(), stackaddrs.ManagedResource, typeName, config))

		planned := p.Plan(t.Context(), provider.PlanRequest{
			Type:         typeName,
			Prior:        none(s),
			Proposed:     config,
			Config:       config,
			PriorPrivate: []byte("private"),
		})
		ok(t, "Plan", planned.Diagnostics)
		if id := planned.Planned.GetAttr("id"); !id.RawEquals(cty.UnknownVal(cty.String).RefineNotNull()) {
			t.Errorf("Plan: got the id %#v, want an unknown one that is not null", id)
		}
		applied := p.Apply(t.Context(), provider.ApplyRequest{
			Type:    typeName,
			Prior:   none(s),
			Planned: planned.Planned,
			Config:  config,
			Private: planned.Private,
		})
		ok(t, "Apply", applied.Diagnostics)
		if result := applied.New.GetAttr("result"); !result.RawEquals(cty.StringVal("a")) || string(applied.Private) != "private" {
			t.Fatalf("Apply: got the result %#v and private %q", result, applied.Private)
		}

		read := p.Read(t.Context(), provider.ReadRequest{Type: typeName, Current: applied.New, Private: applied.Private})
		ok(t, "Read", read.Diagnostics)
		if !read.New.RawEquals(applied.New) || string(read.Private) != "private" {
			t.Errorf("Read: got %#v with private %q, want %#v", read.New, read.Private, applied.New)
		}

		attrs := applied.New.AsValueMap()
		attrs["replace_on"] = cty.StringVal("b")
		changed := cty.ObjectVal(attrs)
		planned = p.Plan(t.Context(), provider.PlanRequest{Type: typeName, Prior: applied.New, Proposed: changed, Config: changed})
		ok(t, "Plan", planned.Diagnostics)
		if len(planned.RequiresReplace) != 1 || !planned.RequiresReplace[0].Equals(cty.GetAttrPath("replace_on")) {
			t.Errorf("Plan: replaces for %#v, want replace_on", planned.RequiresReplace)
		}

		stored, err := ctyjson.Marshal(applied.New, s.Block.Type())
		if err != nil {
			t.Fatal(err)
		}
		upgraded, diags := p.UpgradeState(t.Context(), provider.UpgradeStateRequest{Type: typeName, JSON: stored})
		ok(t, "UpgradeState", diags)
		if !upgraded.RawEquals(applied.New) {
			t.Errorf("UpgradeState: got %#v, want %#v", upgraded, applied.New)
		}

		removed := p.Apply(t.Context(), provider.ApplyRequest{Type: typeName, Prior: applied.New, Planned: none(s), Config: none(s)})
		ok(t, "Apply", removed.Diagnostics)
		gone := p.Read(t.Context(), provider.ReadRequest{Type: typeName, Current: applied.New})
		ok(t, "Read", gone.Diagnostics)
		if !removed.New.RawEquals(none(s)) || !gone.New.RawEquals(none(s)) {
			t.Errorf("after destroying: got %#v and read %#v, want null", removed.New, gone.New)
		}
	})
}

func TestIdentity(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		const typeName = "fake_identity"
		want := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("one")})
		applied := create(t, p, typeName, map[string]cty.Value{"id": cty.StringVal("one")})
		if !applied.Identity.RawEquals(want) {
			t.Errorf("Apply: got identity %#v, want %#v", applied.Identity, want)
		}
		imported := p.Import(t.Context(), provider.ImportRequest{Type: typeName, Identity: want})
		ok(t, "Import", imported.Diagnostics)
		if len(imported.Objects) != 1 || !imported.Objects[0].Identity.RawEquals(want) || !imported.Objects[0].Object.RawEquals(applied.New) {
			t.Errorf("Import: got %#v", imported.Objects)
		}
		read := p.Read(t.Context(), provider.ReadRequest{Type: typeName, Current: applied.New, Identity: applied.Identity})
		ok(t, "Read", read.Diagnostics)
		if !read.Identity.RawEquals(want) {
			t.Errorf("Read: got identity %#v, want %#v", read.Identity, want)
		}
		upgraded, diags := p.UpgradeIdentity(t.Context(), provider.UpgradeIdentityRequest{Type: typeName, JSON: []byte(`{"id":"one"}`)})
		ok(t, "UpgradeIdentity", diags)
		if !upgraded.RawEquals(want) {
			t.Errorf("UpgradeIdentity: got %#v, want %#v", upgraded, want)
		}
		if other := create(t, p, "fake_resource", nil); other.Identity != cty.NilVal {
			t.Errorf("Apply of a type without identities: got %#v", other.Identity)
		}
	})
}

func TestImportAndMove(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		applied := create(t, p, "fake_resource", map[string]cty.Value{"id": cty.StringVal("one"), "value": cty.StringVal("v")})
		imported := p.Import(t.Context(), provider.ImportRequest{Type: "fake_resource", ID: "one"})
		ok(t, "Import", imported.Diagnostics)
		if len(imported.Objects) != 1 || imported.Objects[0].Type != "fake_resource" || !imported.Objects[0].Object.RawEquals(applied.New) {
			t.Errorf("Import: got %#v", imported.Objects)
		}
		if missing := p.Import(t.Context(), provider.ImportRequest{Type: "fake_resource", ID: "two"}); !missing.Diagnostics.HasErrors() {
			t.Error("Import of what there is not: no error")
		}
		if !p.Schema().Capabilities.MoveState {
			t.Error("the schema does not say that objects can be moved")
		}
		moved := p.Move(t.Context(), provider.MoveRequest{
			SourceProvider: address,
			SourceType:     "fake_resource",
			SourceJSON:     []byte(`{"id":"one","value":"v"}`),
			SourcePrivate:  []byte("p"),
			TargetType:     "fake_deferred",
		})
		ok(t, "Move", moved.Diagnostics)
		if value := moved.Object.GetAttr("value"); !value.RawEquals(cty.StringVal("v")) || string(moved.Private) != "p" {
			t.Errorf("Move: got %#v with private %q", moved.Object, moved.Private)
		}
	})
}

func TestGenerateConfig(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		if !p.Schema().Capabilities.GenerateConfig {
			t.Error("the schema does not say that configurations can be generated")
		}
		applied := create(t, p, "fake_computed", map[string]cty.Value{"id": cty.StringVal("one"), "value": cty.StringVal("v")})
		config, diags := p.GenerateConfig(t.Context(), "fake_computed", applied.New)
		ok(t, "GenerateConfig", diags)
		want := object(t, p.Schema().Managed["fake_computed"], map[string]cty.Value{"id": cty.StringVal("one"), "value": cty.StringVal("v")})
		if !config.RawEquals(want) {
			t.Errorf("GenerateConfig: got %#v, want %#v", config, want)
		}
		if _, diags := p.GenerateConfig(t.Context(), "fake_missing", applied.New); !diags.HasErrors() {
			t.Error("GenerateConfig of an unknown type: no error")
		}
	})
}

func TestDeferral(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ, testprovider.DeferralVariable+"=1")
		configure(t, p, nil)
		s := p.Schema().Managed["fake_deferred"]
		config := object(t, s, map[string]cty.Value{"deferred": cty.True})
		for allowed, want := range map[bool]provider.DeferredReason{true: provider.DeferredResourceConfigUnknown, false: provider.NotDeferred} {
			planned := p.Plan(t.Context(), provider.PlanRequest{
				Type:            "fake_deferred",
				Prior:           none(s),
				Proposed:        config,
				Config:          config,
				DeferralAllowed: allowed,
			})
			ok(t, "Plan", planned.Diagnostics)
			if planned.Deferred != want {
				t.Errorf("Plan with deferral allowed %t: got %q, want %q", allowed, planned.Deferred, want)
			}
		}
	})
}

func TestDataAndEphemeral(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		create(t, p, "fake_resource", map[string]cty.Value{"id": cty.StringVal("one"), "value": cty.StringVal("v")})
		config := object(t, p.Schema().Data["fake_data"], map[string]cty.Value{"id": cty.StringVal("one")})
		ok(t, "ValidateResource", p.ValidateResource(t.Context(), stackaddrs.DataResource, "fake_data", config))
		read := p.ReadData(t.Context(), provider.ReadDataRequest{Type: "fake_data", Config: config})
		ok(t, "ReadData", read.Diagnostics)
		if value := read.State.GetAttr("value"); !value.RawEquals(cty.StringVal("v")) {
			t.Errorf("ReadData: got %#v", read.State)
		}

		config = object(t, p.Schema().Ephemeral["fake_ephemeral"], map[string]cty.Value{
			"name":        cty.StringVal("n"),
			"renew_after": cty.StringVal("1h"),
		})
		ok(t, "ValidateResource", p.ValidateResource(t.Context(), stackaddrs.EphemeralResource, "fake_ephemeral", config))
		opened := p.OpenEphemeral(t.Context(), provider.OpenEphemeralRequest{Type: "fake_ephemeral", Config: config})
		ok(t, "OpenEphemeral", opened.Diagnostics)
		if value := opened.Result.GetAttr("value"); !value.RawEquals(cty.StringVal("ephemeral-n")) ||
			!opened.RenewAt.After(time.Now()) || string(opened.Private) != "1h" {
			t.Errorf("OpenEphemeral: got %#v", opened)
		}
		renewed := p.RenewEphemeral(t.Context(), provider.EphemeralRequest{Type: "fake_ephemeral", Private: opened.Private})
		ok(t, "RenewEphemeral", renewed.Diagnostics)
		if !renewed.RenewAt.After(opened.RenewAt) || string(renewed.Private) != "1h" {
			t.Errorf("RenewEphemeral: got %#v", renewed)
		}
		ok(t, "CloseEphemeral", p.CloseEphemeral(t.Context(), provider.EphemeralRequest{Type: "fake_ephemeral", Private: renewed.Private}))
	})
}

func TestAction(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		config := func(args map[string]cty.Value) cty.Value { return object(t, p.Schema().Actions["fake_action"], args) }
		said := p.ValidateAction(t.Context(), "fake_action", config(map[string]cty.Value{"value": cty.StringVal(testprovider.Refused)}))
		if len(said) != 1 || !said[0].Path.Equals(cty.GetAttrPath("value")) {
			t.Errorf("ValidateAction: got %+v, want an error about the value", said)
		}
		planned := p.PlanAction(t.Context(), provider.PlanActionRequest{
			Type:            "fake_action",
			Config:          config(map[string]cty.Value{"defer": cty.True}),
			DeferralAllowed: true,
		})
		ok(t, "PlanAction", planned.Diagnostics)
		if planned.Deferred != provider.DeferredProviderConfigUnknown {
			t.Errorf("PlanAction: got %q", planned.Deferred)
		}
		var messages []string
		request := provider.InvokeActionRequest{
			Type: "fake_action", Config: config(map[string]cty.Value{"progress": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("b")})}),
			Progress: func(message string) { messages = append(messages, message) },
		}
		ok(t, "InvokeAction", p.InvokeAction(t.Context(), request))
		if strings.Join(messages, " ") != "a b" {
			t.Errorf("InvokeAction: got messages %q", messages)
		}
		request.Config = config(map[string]cty.Value{"fail_invoke": cty.True})
		if said := p.InvokeAction(t.Context(), request); !said.HasErrors() {
			t.Error("InvokeAction that fails: no error")
		}

		// An action that goes on is ended with the context: there is no other way.
		gate := filepath.Join(t.TempDir(), "gate")
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		request.Config = config(map[string]cty.Value{
			"progress":    cty.ListVal([]cty.Value{cty.StringVal("begun")}),
			"invoke_gate": cty.StringVal(gate),
		})
		request.Progress = func(string) { cancel() }
		if said := p.InvokeAction(ctx, request); !said.HasErrors() {
			t.Error("InvokeAction that is cancelled: no error")
		}
	})
}

func TestList(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		const typeName = "fake_identity"
		objects := map[string]cty.Value{}
		for _, id := range []string{"a1", "a2", "a3", "b1"} {
			objects[id] = create(t, p, typeName, map[string]cty.Value{"id": cty.StringVal(id)}).New
		}
		config := func(args map[string]cty.Value) cty.Value { return object(t, p.Schema().List[typeName], args) }
		refused := config(map[string]cty.Value{"prefix": cty.StringVal(testprovider.Refused)})
		said := p.ValidateList(t.Context(), provider.ValidateListRequest{
			Type: typeName, Config: refused, IncludeObject: cty.True, Limit: cty.UnknownVal(cty.Number),
		})
		if len(said) != 1 || !said[0].Path.Equals(cty.GetAttrPath("prefix")) {
			t.Errorf("ValidateList: got %+v, want an error about the prefix", said)
		}
		list := func(args map[string]cty.Value, limit int64, whole bool) (string, provider.Diagnostics) {
			response := p.List(t.Context(), provider.ListRequest{Type: typeName, Config: config(args), Limit: limit, IncludeObject: whole})
			var ids []string
			for _, one := range response.Objects {
				id := one.Identity.GetAttr("id").AsString()
				want := none(p.Schema().Managed[typeName])
				if whole {
					want = objects[id]
				}
				if one.DisplayName != "Object "+id || !one.Object.RawEquals(want) {
					t.Errorf("List: got %+v, want the object %#v", one, want)
				}
				ids = append(ids, id)
			}
			return strings.Join(ids, " "), response.Diagnostics
		}
		for _, test := range []struct {
			args  map[string]cty.Value
			limit int64
			whole bool
			want  string
		}{
			{nil, 100, false, "a1 a2 a3 b1"},
			{map[string]cty.Value{"prefix": cty.StringVal("a")}, 100, true, "a1 a2 a3"},
			{nil, 2, false, "a1 a2"},
			{map[string]cty.Value{"fail_list": cty.True}, 4, false, "a1 a2 a3 b1"}, // it is not read so far
		} {
			got, diags := list(test.args, test.limit, test.whole)
			ok(t, "List", diags)
			if got != test.want {
				t.Errorf("List(%v) up to %d: got %s, want %s", test.args, test.limit, got, test.want)
			}
		}
		if got, diags := list(map[string]cty.Value{"fail_list": cty.True}, 5, false); !diags.HasErrors() || got != "a1 a2 a3 b1" {
			t.Errorf("List that fails: got %s with %+v", got, diags)
		}
		got, diags := list(map[string]cty.Value{"warn": cty.StringVal("slow")}, 1, false)
		if len(diags) != 1 || diags.HasErrors() || got != "a1" {
			t.Errorf("List that warns: got %s with %+v", got, diags)
		}
	})
}

func TestFunction(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		want := cty.TupleVal([]cty.Value{cty.True, cty.UnknownVal(cty.String)})
		if got, err := p.CallFunction(t.Context(), "echo", []cty.Value{want}); err != nil || !got.RawEquals(want) {
			t.Errorf("CallFunction: got %#v, error %v, want %#v", got, err, want)
		}
		if _, err := p.CallFunction(t.Context(), "shout", nil); err == nil {
			t.Error("CallFunction of what there is not: no error")
		}
	})
}

// Diagnostics keep their order, their severity and their place.
func TestDiagnostics(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		block := p.Schema().Config.Block.Type().AttributeType("list_block").ElementType()
		refused := cty.ObjectVal(map[string]cty.Value{
			"name":  cty.StringVal(testprovider.Refused),
			"value": cty.NullVal(cty.String),
			"inner": cty.ListValEmpty(block.AttributeType("inner").ElementType()),
		})
		config := object(t, p.Schema().Config, map[string]cty.Value{"list_block": cty.ListVal([]cty.Value{refused})})
		diags := p.ValidateConfig(t.Context(), config)
		want := cty.GetAttrPath("list_block").IndexInt(0).GetAttr("name")
		if len(diags) != 1 || diags[0].Severity != provider.Error ||
			!diags[0].Path.Equals(want) || diags[0].Summary != "Provider configuration refused" {
			t.Errorf("ValidateConfig: got %+v, want an error at %#v", diags, want)
		}

		configure(t, p, nil)
		s := p.Schema().Managed["fake_failing"]
		warned := object(t, s, map[string]cty.Value{"warn": cty.StringVal("rain")})
		planned := p.Plan(t.Context(), provider.PlanRequest{Type: "fake_failing", Prior: none(s), Proposed: warned, Config: warned})
		if diff := cmp.Diff(provider.Diagnostics{{Severity: provider.Warning, Summary: "Asked to warn", Detail: "rain"}},
			planned.Diagnostics); diff != "" {
			t.Errorf("Plan (-want +got):\n%s", diff)
		}
	})
}

// An object that exists after a failed apply is in the answer (rule V3 of package provider).
func TestFailedApply(t *testing.T) {
	p := start(t)
	configure(t, p, nil)
	s := p.Schema().Managed["fake_failing"]
	config := object(t, s, map[string]cty.Value{"fail_after_create": cty.True, "id": cty.StringVal("one")})
	applied := p.Apply(t.Context(), provider.ApplyRequest{Type: "fake_failing", Prior: none(s), Planned: config, Config: config})
	if !applied.Diagnostics.HasErrors() || applied.New == cty.NilVal || !applied.New.RawEquals(config) {
		t.Errorf("Apply: got %#v, diagnostics %+v, want the object and an error", applied.New, applied.Diagnostics)
	}
}

// A caller of a provider that has crashed reads its last words, and so do later callers.
func TestCrash(t *testing.T) {
	p := start(t)
	configure(t, p, nil)
	s := p.Schema().Managed["fake_failing"]
	config := object(t, s, map[string]cty.Value{"panic_on": cty.StringVal("plan")})
	planned := p.Plan(t.Context(), provider.PlanRequest{Type: "fake_failing", Prior: none(s), Proposed: config, Config: config})
	later := p.Read(t.Context(), provider.ReadRequest{Type: "fake_failing", Current: config})
	for call, diags := range map[string]provider.Diagnostics{"PlanResourceChange": planned.Diagnostics, "ReadResource": later.Diagnostics} {
		if len(diags) != 1 || diags[0].Severity != provider.Error {
			t.Errorf("%s: got %+v, want one error", call, diags)
			continue
		}
		for _, want := range []string{
			"registry.terraform.io/cairnstacks/fake",
			call,
			"has crashed",
			"the fake provider was asked to crash here",
		} {
			if !strings.Contains(diags[0].Detail, want) {
				t.Errorf("%s: got %q, want %q in it", call, diags[0].Detail, want)
			}
		}
	}
	if planned.Planned != cty.NilVal || !p.Exited() {
		t.Errorf("after a crash: planned %#v, exited %t", planned.Planned, p.Exited())
	}
}

// Stop ends the call that is under way, which the provider then reports.
func TestStop(t *testing.T) {
	versions(t, func(t *testing.T, environ string) {
		p := start(t, environ)
		configure(t, p, nil)
		s := p.Schema().Managed["fake_slow"]
		gate := t.TempDir() + "/gate"
		config := object(t, s, map[string]cty.Value{"create_gate": cty.StringVal(gate), "id": cty.StringVal("one")})
		applied := make(chan provider.ApplyResponse)
		go func() {
			applied <- p.Apply(context.WithoutCancel(t.Context()), provider.ApplyRequest{
				Type:    "fake_slow",
				Prior:   none(s),
				Planned: config,
				Config:  config,
			})
		}()
		reached(t, gate)
		if err := p.Stop(t.Context()); err != nil {
			t.Errorf("Stop: %v", err)
		}
		if got := <-applied; !got.Diagnostics.HasErrors() || !strings.Contains(got.Diagnostics[0].Detail, "interrupted") {
			t.Errorf("Apply: got %+v, want that it was interrupted", got.Diagnostics)
		}
	})
}

// reached waits until the provider waits at a gate.
func reached(t *testing.T, gate string) {
	t.Helper()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for {
		if _, err := os.Stat(gate + ".reached"); err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-t.Context().Done():
			t.Fatal("the provider never reached the gate")
		}
	}
}

// A caller that gives up does not wait, and the process goes on (rule C4).
func TestCancel(t *testing.T) {
	p := start(t)
	configure(t, p, nil)
	s := p.Schema().Managed["fake_slow"]
	gate := t.TempDir() + "/gate"
	current := object(t, s, map[string]cty.Value{"read_gate": cty.StringVal(gate), "id": cty.StringVal("one")})
	ctx, cancel := context.WithCancelCause(t.Context())
	go func() {
		reached(t, gate)
		cancel(errors.New("no time left"))
	}()
	read := p.Read(ctx, provider.ReadRequest{Type: "fake_slow", Current: current})
	if !read.Diagnostics.HasErrors() || !strings.Contains(read.Diagnostics[0].Detail, "no time left") {
		t.Errorf("Read: got %+v, want the cause", read.Diagnostics)
	}
	if p.Exited() {
		t.Error("the process has ended")
	}
}

// A request that the engine must not make is an error and no panic.
func TestInvalidRequests(t *testing.T) {
	p := start(t)
	text := cty.StringVal("x")
	for call, diags := range map[string]provider.Diagnostics{
		"Plan of no type":       p.Plan(t.Context(), provider.PlanRequest{Type: "fake_none"}).Diagnostics,
		"Read of a wrong value": p.Read(t.Context(), provider.ReadRequest{Type: "fake_resource", Current: text}).Diagnostics,
		"Apply of a marked value": p.Apply(t.Context(), provider.ApplyRequest{
			Type:    "fake_resource",
			Planned: none(p.Schema().Managed["fake_resource"]).Mark("m"),
		}).Diagnostics,
		"ValidateConfig": p.ValidateConfig(t.Context(), text),
		"PlanAction":     p.PlanAction(t.Context(), provider.PlanActionRequest{Type: "fake_none"}).Diagnostics,
		"InvokeAction":   p.InvokeAction(t.Context(), provider.InvokeActionRequest{Type: "fake_none"}),
		"OpenEphemeral":  p.OpenEphemeral(t.Context(), provider.OpenEphemeralRequest{Type: "fake_none"}).Diagnostics,
	} {
		if !diags.HasErrors() {
			t.Errorf("%s: no error", call)
		}
	}
}
