// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client_test

import (
	"context"
	"errors"
	"net"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/cairnstacks/cairn/internal/providers/client"
	"github.com/cairnstacks/cairn/internal/providers/plugin"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	pluginv1 "github.com/cairnstacks/cairn/proto/cairn/plugin/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// raw is a message that is sent as these bytes, valid or not.
type raw []byte

// hostile is a provider that answers each method with the response that a test has for it.
type hostile map[string]any

// codec sends bytes as they are, and does not look at those that it receives.
type codec struct{}

func (codec) Name() string { return "proto" }

func (codec) Marshal(v any) ([]byte, error) {
	if data, ok := v.(raw); ok {
		return data, nil
	}
	return proto.Marshal(v.(proto.Message))
}

func (codec) Unmarshal([]byte, any) error { return nil }

// serve starts the provider in this process, and attaches to it.
func (h hostile) serve(t testing.TB, version int) *plugin.Process {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "unix", path)
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodec(codec{}), grpc.UnknownServiceHandler(h.handle))
	done := make(chan error)
	go func() { done <- server.Serve(listener) }()
	to := plugin.Reattach{Protocol: "grpc", ProtocolVersion: version}
	to.Addr.Network, to.Addr.String = "unix", path
	process, err := plugin.Attach(to, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		process.End()
		server.Stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return process
}

func (h hostile) handle(_ any, stream grpc.ServerStream) error {
	var request raw
	if err := stream.RecvMsg(&request); err != nil {
		return err
	}
	full, _ := grpc.MethodFromServerStream(stream)
	_, method, _ := strings.Cut(full[1:], "/")
	switch answer := h[method].(type) {
	case nil:
		return status.Error(codes.Unimplemented, method)
	case error:
		return answer
	case func(grpc.ServerStream) error:
		return answer(stream)
	case []any:
		for _, one := range answer {
			if err := stream.SendMsg(one); err != nil {
				return err
			}
		}
		return nil
	default:
		return stream.SendMsg(answer)
	}
}

func attribute(name, ty string) *pluginv1.Attribute {
	return &pluginv1.Attribute{Name: name, Type: []byte(ty), Optional: true}
}

// oddSchema is that of a provider with one type of each kind.
func oddSchema() *pluginv1.SchemaResponse {
	s := &pluginv1.Schema{Block: &pluginv1.Block{Attributes: []*pluginv1.Attribute{
		attribute("a", `"string"`),
		attribute("d", `"dynamic"`),
		attribute("l", `["list","number"]`),
	}}}
	all := map[string]*pluginv1.Schema{"odd": s}
	return &pluginv1.SchemaResponse{
		Provider: &pluginv1.Schema{Block: &pluginv1.Block{}}, ResourceSchemas: all, DataSourceSchemas: all, EphemeralResourceSchemas: all,
		ActionSchemas: map[string]*pluginv1.ActionSchema{"odd": {Schema: s}}, ListResourceSchemas: all,
	}
}

// attach returns a client for the provider.
func (h hostile) attach(t testing.TB, version int) *client.Client {
	t.Helper()
	h["GetProviderSchema"], h["GetSchema"] = oddSchema(), oddSchema()
	process := h.serve(t, version)
	answer, err := client.AskSchema(t.Context(), process)
	if err != nil {
		t.Fatal(err)
	}
	found, err := client.DecodeSchema(answer)
	if err != nil {
		t.Fatal(err)
	}
	return client.New(address, process, found)
}

func msgpack(data string) *pluginv1.DynamicValue {
	return &pluginv1.DynamicValue{Msgpack: []byte(data)}
}

// encodedObject is an object of the type odd, with each attribute in MessagePack.
func encodedObject(a, d, l string) *pluginv1.DynamicValue {
	return msgpack("\x83\xa1a" + a + "\xa1d" + d + "\xa1l" + l)
}

// Answers that break the protocol are errors, which say so.
func TestHostileAnswers(t *testing.T) {
	good := encodedObject("\xa1x", "\xc0", "\xc0")
	step := &pluginv1.AttributePath{Steps: []*pluginv1.AttributePath_Step{{}}}
	tests := map[string]struct {
		answer any // of ReadResource or PlanResourceChange
		want   string
	}{
		"wrong type":        {&pluginv1.ReadResponse{NewState: msgpack("\xa1x")}, "breaks the provider protocol"},
		"attribute missing": {&pluginv1.ReadResponse{NewState: msgpack("\x81\xa1a\xa1x")}, "breaks the provider protocol"},
		"attribute too many": {
			&pluginv1.ReadResponse{NewState: msgpack("\x84\xa1a\xc0\xa1d\xc0\xa1l\xc0\xa1z\xc0")},
			"breaks the provider protocol",
		},
		"long list": {
			&pluginv1.ReadResponse{NewState: encodedObject("\xc0", "\xc0", "\xdd\xff\xff\xff\xff")},
			"breaks the provider protocol",
		},
		"deep value": {
			&pluginv1.ReadResponse{NewState: encodedObject("\xc0", strings.Repeat("\x91", 5000)+"\xc0", "\xc0")},
			"breaks the provider protocol",
		},
		"no number": {
			&pluginv1.ReadResponse{NewState: encodedObject("\xc0", "\xc0", "\x91\xcb\x7f\xf8\x00\x00\x00\x00\x00\x00")},
			"breaks the provider protocol",
		},
		"odd dynamic type": {
			&pluginv1.ReadResponse{NewState: encodedObject("\xc0", "\x92\xc4\x03\"x\"\xc0", "\xc0")},
			"breaks the provider protocol",
		},
		"extension": {
			&pluginv1.ReadResponse{NewState: encodedObject("\xc7\x03\x4d\x81\x01\xc2", "\xc0", "\xc0")},
			"breaks the provider protocol",
		},
		"broken refinement": {
			&pluginv1.ReadResponse{NewState: encodedObject("\xc7\x02\x0c\x81\x01", "\xc0", "\xc0")},
			"breaks the provider protocol",
		},
		"broken JSON": {&pluginv1.ReadResponse{NewState: &pluginv1.DynamicValue{Json: []byte(`{"a":`)}}, "breaks the provider protocol"},
		"JSON of a type": {
			&pluginv1.ReadResponse{NewState: &pluginv1.DynamicValue{Json: []byte(`{"a":null,"d":{"type":["list"],"value":1},"l":null}`)}},
			"breaks the provider protocol",
		},
		"identity":   {&pluginv1.ReadResponse{NewState: good, NewIdentity: &pluginv1.IdentityData{IdentityData: good}}, "an identity"},
		"deferral":   {&pluginv1.ReadResponse{NewState: good, Deferred: &pluginv1.Deferred{}}, "did not allow"},
		"path":       {&pluginv1.PlanResponse{PlannedState: good, RequiresReplace: []*pluginv1.AttributePath{step}}, "a path"},
		"no UTF-8":   {raw(protowire.AppendBytes(protowire.AppendTag(nil, 2, protowire.BytesType), []byte("\x12\x01\xff"))), "failed"},
		"no message": {raw("\xff\xff\xff"), "failed"},
		"no method":  {nil, "does not have the method"},
		"no severity": {
			&pluginv1.ReadResponse{NewState: good, Diagnostics: []*pluginv1.Diagnostic{{Summary: "s", Detail: "what it is about"}}},
			"what it is about",
		},
		"an error of gRPC": {status.Error(codes.Internal, "out of order"), "out of order"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			p := hostile{"ReadResource": test.answer, "PlanResourceChange": test.answer}.attach(t, 6)
			var diags provider.Diagnostics
			if _, plan := test.answer.(*pluginv1.PlanResponse); plan {
				diags = p.Plan(t.Context(), provider.PlanRequest{Type: "odd"}).Diagnostics
			} else {
				diags = p.Read(t.Context(), provider.ReadRequest{Type: "odd"}).Diagnostics
			}
			if len(diags) != 1 || diags[0].Severity != provider.Error || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("got %+v, want one error with %q", diags, test.want)
			}
		})
	}
}

// Absent values are null (rule C1), and JSON is as good as MessagePack.
func TestAbsentAndJSON(t *testing.T) {
	json := &pluginv1.DynamicValue{Json: []byte(`{"a":"e\u0301","d":{"type":"bool","value":true},"l":[1e3]}`)}
	p := hostile{
		"ReadResource":       &pluginv1.ReadResponse{},
		"PlanResourceChange": &pluginv1.PlanResponse{PlannedState: json},
		"ImportResourceState": &pluginv1.ImportResponse{ImportedResources: []*pluginv1.ImportResponse_Imported{
			{TypeName: "odd"}, {TypeName: "none"},
		}},
	}.attach(t, 5)
	if read := p.Read(t.Context(), provider.ReadRequest{Type: "odd"}); !read.New.RawEquals(none(p.Schema().Managed["odd"])) ||
		read.Identity != cty.NilVal || len(read.Diagnostics) > 0 {
		t.Errorf("Read: got %#v, want null", read)
	}
	want := cty.ObjectVal(map[string]cty.Value{"a": cty.StringVal("é"), "d": cty.True, "l": cty.ListVal([]cty.Value{cty.NumberIntVal(1000)})})
	if planned := p.Plan(t.Context(), provider.PlanRequest{Type: "odd"}); !planned.Planned.RawEquals(want) || len(planned.Diagnostics) > 0 {
		t.Errorf("Plan: got %#v, want %#v", planned, want)
	}
	imported := p.Import(t.Context(), provider.ImportRequest{Type: "odd"})
	if len(imported.Objects) != 1 || !imported.Objects[0].Object.IsNull() || !imported.Diagnostics.HasErrors() {
		t.Errorf("Import: got %#v, want one object and an error about the other", imported)
	}
}

func TestTimes(t *testing.T) {
	p := hostile{"OpenEphemeralResource": &pluginv1.OpenEphemeralResponse{RenewAt: &timestamppb.Timestamp{Nanos: -1}}}.attach(t, 6)
	opened := p.OpenEphemeral(t.Context(), provider.OpenEphemeralRequest{Type: "odd"})
	if !opened.Diagnostics.HasErrors() || !opened.RenewAt.IsZero() {
		t.Errorf("OpenEphemeral: got %+v, want an error about the time", opened)
	}
}

func TestActions(t *testing.T) {
	progress := func(message string) any {
		return &pluginv1.InvokeActionEvent{
			Type: &pluginv1.InvokeActionEvent_Progress_{Progress: &pluginv1.InvokeActionEvent_Progress{Message: message}},
		}
	}
	completed := &pluginv1.InvokeActionEvent{Type: &pluginv1.InvokeActionEvent_Completed_{Completed: &pluginv1.InvokeActionEvent_Completed{
		Diagnostics: []*pluginv1.Diagnostic{{Severity: pluginv1.Diagnostic_WARNING, Summary: "rain"}},
	}}}
	var messages []string
	invoke := func(events ...any) provider.Diagnostics {
		messages = nil
		p := hostile{"InvokeAction": events}.attach(t, 6)
		return p.InvokeAction(t.Context(), provider.InvokeActionRequest{
			Type:     "odd",
			Progress: func(message string) { messages = append(messages, message) },
		})
	}
	if diags := invoke(progress("one"), progress("two"), completed, progress("three")); len(diags) != 1 ||
		diags[0].Severity != provider.Warning || strings.Join(messages, " ") != "one two" {
		t.Errorf("InvokeAction: got %+v and messages %q", diags, messages)
	}
	if diags := invoke(progress("one")); !diags.HasErrors() {
		t.Errorf("InvokeAction without an end: got %+v", diags)
	}
	if diags := invoke(); !diags.HasErrors() {
		t.Errorf("InvokeAction without events: got %+v", diags)
	}
	p := hostile{
		"ValidateActionConfig": &pluginv1.DiagnosticsResponse{},
		"PlanAction":           &pluginv1.PlanActionResponse{Deferred: &pluginv1.Deferred{Reason: pluginv1.Deferred_PROVIDER_CONFIG_UNKNOWN}},
	}.attach(t, 6)
	ok(t, "ValidateAction", p.ValidateAction(t.Context(), "odd", cty.NilVal))
	if planned := p.PlanAction(t.Context(), provider.PlanActionRequest{
		Type:            "odd",
		DeferralAllowed: true,
	}); planned.Deferred != provider.DeferredProviderConfigUnknown {
		t.Errorf("PlanAction: got %+v", planned)
	}
}

// Listed objects must have identities, and are not read beyond the limit or an error.
func TestListEvents(t *testing.T) {
	identity := &pluginv1.IdentityData{IdentityData: msgpack("\x81\xa2id\xa1x")}
	good := &pluginv1.ListEvent{Identity: identity, DisplayName: "one"}
	warning := []*pluginv1.Diagnostic{{Severity: pluginv1.Diagnostic_WARNING, Summary: "rain"}}
	failed := &pluginv1.ListEvent{Diagnostics: []*pluginv1.Diagnostic{{Severity: pluginv1.Diagnostic_ERROR, Summary: "storm"}}}
	nullObject := &pluginv1.ListEvent{Identity: identity, ResourceObject: msgpack("\xc0")}
	for name, test := range map[string]struct {
		events  []any
		objects int
		errors  bool
	}{
		"nothing":          {nil, 0, false},
		"limit":            {[]any{good, good, good, good}, 3, false},
		"warning":          {[]any{&pluginv1.ListEvent{Diagnostics: warning}, good}, 1, false},
		"null":             {[]any{nullObject}, 1, false},
		"error":            {[]any{good, failed, good}, 1, true},
		"no identity":      {[]any{&pluginv1.ListEvent{DisplayName: "one"}}, 0, true},
		"null identity":    {[]any{&pluginv1.ListEvent{Identity: &pluginv1.IdentityData{IdentityData: msgpack("\xc0")}}}, 0, true},
		"unknown identity": {[]any{&pluginv1.ListEvent{Identity: &pluginv1.IdentityData{IdentityData: msgpack("\xd4\x00\x00")}}}, 0, true},
		"odd identity":     {[]any{&pluginv1.ListEvent{Identity: &pluginv1.IdentityData{IdentityData: msgpack("\x80")}}}, 0, true},
		"odd object":       {[]any{&pluginv1.ListEvent{Identity: identity, ResourceObject: msgpack("\xa1x")}}, 0, true},
	} {
		h := hostile{
			"ListResource": test.events,
			"GetResourceIdentitySchemas": &pluginv1.IdentitySchemasResponse{IdentitySchemas: map[string]*pluginv1.IdentitySchema{
				"odd": {IdentityAttributes: []*pluginv1.IdentitySchema_Attribute{{Name: "id", Type: []byte(`"string"`)}}},
			}},
		}
		response := h.attach(t, 6).List(t.Context(), provider.ListRequest{Type: "odd", Limit: 3})
		if len(response.Objects) != test.objects || response.Diagnostics.HasErrors() != test.errors {
			t.Errorf("%s: got %+v", name, response)
		}
	}
}

// A stream without an end ends with the caller's patience, and none of its messages are kept.
func TestEndlessStream(t *testing.T) {
	event := &pluginv1.InvokeActionEvent{
		Type: &pluginv1.InvokeActionEvent_Progress_{Progress: &pluginv1.InvokeActionEvent_Progress{Message: "more"}},
	}
	p := hostile{"InvokeAction": func(stream grpc.ServerStream) error {
		for {
			if err := stream.SendMsg(event); err != nil {
				return err
			}
		}
	}}.attach(t, 6)
	ctx, cancel := context.WithCancelCause(t.Context())
	var messages int
	diags := p.InvokeAction(ctx, provider.InvokeActionRequest{Type: "odd", Progress: func(string) {
		if messages++; messages == 1000 {
			cancel(errors.New("enough of it"))
		}
	}})
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, "enough of it") {
		t.Errorf("got %+v, want the reason of the end", diags)
	}
}

// For any bytes with which a provider answers a call, there is an object of the type, or an error,
// and the provider can be called again.
func FuzzAnswers(f *testing.F) {
	good := encodedObject("\xa1x", "\xc0", "\xc0")
	for _, answer := range []proto.Message{
		&pluginv1.ReadResponse{NewState: good},
		&pluginv1.PlanResponse{PlannedState: good, RequiresReplace: []*pluginv1.AttributePath{{}}},
		&pluginv1.ImportResponse{ImportedResources: []*pluginv1.ImportResponse_Imported{{TypeName: "odd", State: good}}},
		&pluginv1.OpenEphemeralResponse{RenewAt: &timestamppb.Timestamp{Seconds: 1 << 60}},
		&pluginv1.ListEvent{ResourceObject: good},
		&pluginv1.CallResponse{Error: &pluginv1.FunctionError{Text: "no"}},
		&pluginv1.DiagnosticsResponse{
			Diagnostics: []*pluginv1.Diagnostic{{Severity: 7, Attribute: &pluginv1.AttributePath{Steps: []*pluginv1.AttributePath_Step{{}}}}},
		},
	} {
		encoded, err := proto.Marshal(answer)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(encoded)
	}
	answer := raw(nil)
	send := func(stream grpc.ServerStream) error { return stream.SendMsg(answer) }
	h := hostile{}
	for _, method := range []string{
		"UpgradeResourceState", "ReadResource", "PlanResourceChange", "ApplyResourceChange", "ImportResourceState",
		"MoveResourceState", "GenerateResourceConfig", "ReadDataSource", "OpenEphemeralResource", "RenewEphemeralResource",
		"CloseEphemeralResource", "ValidateResourceConfig", "ValidateActionConfig", "PlanAction", "InvokeAction",
		"ListResource",
	} {
		h[method] = send
	}
	p := h.attach(f, 6)
	f.Fuzz(func(t *testing.T, data []byte) {
		answer = data
		ctx := t.Context()
		want := p.Schema().Managed["odd"].Block.Type()
		check := func(method string, v cty.Value, diags provider.Diagnostics) {
			t.Helper()
			if v == cty.NilVal && !diags.HasErrors() || v != cty.NilVal && v.Type().TestConformance(want) != nil {
				t.Errorf("%s: got %#v with %+v", method, v, diags)
			}
		}
		v, diags := p.UpgradeState(ctx, provider.UpgradeStateRequest{Type: "odd", JSON: []byte("{}")})
		check("UpgradeState", v, diags)
		read := p.Read(ctx, provider.ReadRequest{Type: "odd", DeferralAllowed: true})
		check("Read", read.New, read.Diagnostics)
		planned := p.Plan(ctx, provider.PlanRequest{Type: "odd", DeferralAllowed: true})
		check("Plan", planned.Planned, planned.Diagnostics)
		applied := p.Apply(ctx, provider.ApplyRequest{Type: "odd"})
		check("Apply", applied.New, applied.Diagnostics)
		imported := p.Import(ctx, provider.ImportRequest{Type: "odd", DeferralAllowed: true})
		for _, one := range imported.Objects {
			check("Import", one.Object, imported.Diagnostics)
		}
		moved := p.Move(ctx, provider.MoveRequest{TargetType: "odd"})
		check("Move", moved.Object, moved.Diagnostics)
		generated, diags := p.GenerateConfig(ctx, "odd", cty.NilVal)
		check("GenerateConfig", generated, diags)
		source := p.ReadData(ctx, provider.ReadDataRequest{Type: "odd", DeferralAllowed: true})
		check("ReadData", source.State, source.Diagnostics)
		opened := p.OpenEphemeral(ctx, provider.OpenEphemeralRequest{Type: "odd", DeferralAllowed: true})
		check("OpenEphemeral", opened.Result, opened.Diagnostics)
		p.RenewEphemeral(ctx, provider.EphemeralRequest{Type: "odd"})
		p.CloseEphemeral(ctx, provider.EphemeralRequest{Type: "odd"})
		p.ValidateResource(ctx, stackaddrs.ManagedResource, "odd", cty.NilVal)
		p.ValidateAction(ctx, "odd", cty.NilVal)
		p.PlanAction(ctx, provider.PlanActionRequest{Type: "odd", DeferralAllowed: true})
		p.InvokeAction(ctx, provider.InvokeActionRequest{Type: "odd", Progress: func(string) {}})
		for _, one := range p.List(ctx, provider.ListRequest{Type: "odd", Limit: 1}).Objects {
			check("List", one.Object, nil)
		}
		if p.Exited() {
			t.Fatal("the provider cannot be called any more")
		}
	})
}

// For any bytes that a provider sends as an object, there is an object of the type, or an error.
func FuzzValue(f *testing.F) {
	f.Add([]byte("\x83\xa1a\xa1x\xa1d\xc0\xa1l\xc0"), false)
	f.Add([]byte("\x83\xa1a\xd4\x00\x00\xa1d\x92\xc4\x06\"bool\"\xc3\xa1l\x91\x01"), false)
	f.Add([]byte("\x83\xa1a\xc7\x03\x0c\x81\x01\xc2\xa1d\x92\xc4\x09\"dynamic\"\xc0\xa1l\xdd\xff\xff\xff\xff"), false)
	f.Add([]byte(`{"a":"x","d":{"type":["set","string"],"value":["x","x"]},"l":[1]}`), true)
	f.Add([]byte(`{"a":"x","d":{"type":["object",{"a":"string"},["a"]],"value":{}},"l":null}`), true)
	found, err := client.DecodeSchema(&pluginv1.SchemaAnswer{Schema: oddSchema()})
	if err != nil {
		f.Fatal(err)
	}
	ty := found.Managed["odd"].Block.Type()
	f.Fuzz(func(t *testing.T, data []byte, json bool) {
		encoded := &pluginv1.DynamicValue{Msgpack: data}
		if json {
			encoded = &pluginv1.DynamicValue{Json: data}
		}
		v, err := client.DecodeValue(encoded, ty)
		if (v == cty.NilVal) != (err != nil) {
			t.Fatalf("value %#v and error %v", v, err)
		}
		if err == nil && v.Type().TestConformance(ty) != nil {
			t.Errorf("value %#v is not a %#v", v, ty)
		}
	})
}

// For any bytes that a provider sends as its schema, there is a schema with types, or an error.
func FuzzSchema(f *testing.F) {
	valid, err := proto.Marshal(oddSchema())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(valid)
	f.Fuzz(func(t *testing.T, data []byte) {
		answer := &pluginv1.SchemaAnswer{Schema: &pluginv1.SchemaResponse{}}
		if err := proto.Unmarshal(data, answer.Schema); err != nil {
			return
		}
		found, err := client.DecodeSchema(answer)
		if err != nil {
			return
		}
		for name, s := range found.Managed {
			if _, err := client.DecodeValue(nil, s.Block.Type()); err != nil {
				t.Errorf("%s: null of the type: %v", name, err)
			}
		}
	})
}
