// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"slices"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"
	"google.golang.org/grpc/codes"

	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

func TestRPCInspection(t *testing.T) {
	t.Run("I-01 expressions", testInspect)
	t.Run("I-02 expressions that are wrong", testInspectErrors)
	t.Run("I-03 requests", testInspectRequests)
	t.Run("I-04 inspectors hold nothing", testInspectClosed)
	t.Run("I-05 identities", testIdentities)
	t.Run("I-06 stored identities", testStoredIdentities)
}

func (s *stack) inspector(request *stackspb.OpenStackInspector_Request) (*stackspb.OpenStackInspector_Response, error) {
	if request.GetStackConfigHandle() == 0 {
		request.StackConfigHandle = s.config
	}
	request.DependencyLocksHandle, request.ProviderCacheHandle = s.locks, s.cache
	return s.stacks.OpenStackInspector(s.t.Context(), request)
}

func (s *stack) inspect(inspector int64, expression string) (*stackspb.InspectExpressionResult_Response, error) {
	return s.stacks.InspectExpressionResult(s.t.Context(),
		&stackspb.InspectExpressionResult_Request{StackInspectorHandle: inspector, ExpressionSrc: []byte(expression)})
}

func testInspect(t *testing.T) {
	s := openStack(t, dataStack+"-- stack/more.tfcomponent.hcl --\nlocals {\n  twice = \"${var.name}${var.name}\"\n}\n")
	state := s.made()
	opened := must[*stackspb.OpenStackInspector_Response](t)(s.inspector(&stackspb.OpenStackInspector_Request{
		State: state, InputValues: inputs{"name": input(t, cty.StringVal("given"))},
	}))
	without := must[*stackspb.OpenStackInspector_Response](t)(s.inspector(&stackspb.OpenStackInspector_Request{}))
	if opened.GetStackInspectorHandle() == 0 || without.GetStackInspectorHandle() == 0 {
		t.Fatalf("got %v and %v", opened, without)
	}
	for expression, want := range map[string]cty.Value{
		"1 + 1":            cty.NumberIntVal(2),
		"var.name":         cty.StringVal("given"),
		"local.twice":      cty.StringVal("givengiven"),
		"component.a.name": cty.StringVal("n"),
	} {
		response := must[*stackspb.InspectExpressionResult_Response](t)(s.inspect(opened.GetStackInspectorHandle(), expression))
		if len(response.GetDiagnostics()) > 0 {
			t.Errorf("%s: %v", expression, response.GetDiagnostics())
		} else if got := decodeInBand(t, response.GetResult()); !got.RawEquals(want) {
			t.Errorf("%s is %#v, want %#v", expression, got, want)
		}
	}
	two := must[*stackspb.InspectExpressionResult_Response](t)(s.inspect(opened.GetStackInspectorHandle(), "2"))
	if got, want := string(two.GetResult().GetMsgpack()), "\x92\xc4\x08\"number\"\x02"; got != want {
		t.Errorf("2 is encoded as %x, want %x", got, want)
	}
	unknown := must[*stackspb.InspectExpressionResult_Response](t)(s.inspect(without.GetStackInspectorHandle(), "component.a.id"))
	if got := decodeInBand(t, unknown.GetResult()); got.IsKnown() {
		t.Errorf("without a state, component.a.id is %#v, want unknown", got)
	}
}

func testInspectErrors(t *testing.T) {
	s := openStack(t, dataStack)
	inspector := must[*stackspb.OpenStackInspector_Response](t)(s.inspector(&stackspb.OpenStackInspector_Request{})).GetStackInspectorHandle()
	for _, expression := range []string{"", "1 +", "var.none", "nothing()", "component.none.x"} {
		response := must[*stackspb.InspectExpressionResult_Response](t)(s.inspect(inspector, expression))
		if !hasError(response.GetDiagnostics()) {
			t.Errorf("%q: %v, want an error", expression, response)
			continue
		}
		if subject := response.GetDiagnostics()[0].GetSubject(); subject != nil && !strings.HasPrefix(subject.GetSourceAddr(), "<") {
			t.Errorf("%q: the error is about %s", expression, subject.GetSourceAddr())
		}
	}
}

func testInspectRequests(t *testing.T) {
	s := openStack(t, dataStack)
	_, err := s.inspector(&stackspb.OpenStackInspector_Request{StackConfigHandle: s.bundle})
	wantCode(t, err, codes.InvalidArgument)
	_, err = s.inspect(s.config, "1")
	wantCode(t, err, codes.InvalidArgument)
	inspector := must[*stackspb.OpenStackInspector_Response](t)(s.inspector(&stackspb.OpenStackInspector_Request{})).GetStackInspectorHandle()
	_, err = s.stacks.InspectExpressionResult(t.Context(), &stackspb.InspectExpressionResult_Request{
		StackInspectorHandle: inspector, ExpressionSrc: []byte("1"), StackAddr: "stack.inner",
	})
	wantCode(t, err, codes.InvalidArgument)
}

// An inspector works on after the objects that it was opened with are closed.
func testInspectClosed(t *testing.T) {
	s := openStack(t, dataStack)
	inspector := must[*stackspb.OpenStackInspector_Response](t)(
		s.inspector(&stackspb.OpenStackInspector_Request{State: s.made()})).GetStackInspectorHandle()
	wantCode(t, s.closeConfiguration(s.config), codes.OK)
	wantCode(t, s.closeBundle(s.bundle), codes.OK)
	response := must[*stackspb.InspectExpressionResult_Response](t)(s.inspect(inspector, "component.a.name"))
	if len(response.GetDiagnostics()) > 0 || decodeInBand(t, response.GetResult()).AsString() != "n" {
		t.Errorf("got %v", response)
	}
}

// identities lists the resources with an identity in a state.
func (s *stack) identities(state rawState) ([]*stackspb.ListResourceIdentities_Resource, error) {
	s.t.Helper()
	response, err := s.stacks.ListResourceIdentities(s.t.Context(), &stackspb.ListResourceIdentities_Request{
		StateHandle: must[int64](s.t)(s.openState(state)), DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
	})
	return response.GetResource(), err
}

// An empty state has none, and objects without one are skipped. Terraform 1.11 stores none.
func testIdentities(t *testing.T) {
	s := openFakeStack(t, fakeStack)
	if got, err := s.identities(nil); err != nil || len(got) > 0 {
		t.Errorf("empty state: %v, error %v", got, err)
	}
	if got, err := s.identities(s.made()); err != nil || len(got) > 0 {
		t.Errorf("object without identity: %v, error %v", got, err)
	}
	state := must[int64](t)(s.openState(nil))
	for name, request := range map[string]*stackspb.ListResourceIdentities_Request{
		"state": {StateHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache},
		"locks": {StateHandle: state, ProviderCacheHandle: s.cache},
		"cache": {StateHandle: state, DependencyLocksHandle: s.locks},
	} {
		response, err := s.stacks.ListResourceIdentities(t.Context(), request)
		if err == nil {
			t.Errorf("%s: no error, but %v", name, response)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
}

const identityStack = `-- stack/main.tfcomponent.hcl --
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}

provider "fake" "main" {}

component "a" {
  source    = "./module"
  for_each  = toset(["k"])
  providers = { fake = provider.fake.main }
}
-- stack/module/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_identity" "without" {}

module "inner" {
  source = "./inner"
  count  = 1
}
-- stack/module/inner/main.tf --
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}

resource "fake_identity" "with" {}
`

// identified returns a state of the stack in which one object has an identity, of some version, and
// another has none. Engines before terraform 1.12 store none, so that the state is migrated.
func (s *stack) identified(identity, version string) rawState {
	s.t.Helper()
	object := func(name, more string) string {
		return `{"mode": "managed", "type": "fake_identity", "name": "` + name +
			`", "provider": "provider[\"registry.terraform.io/cairnstacks/fake\"]",
			"instances": [{"schema_version": 0, "attributes": {"id": "` + name + `", "value": null}` + more + `}]}`
	}
	events := s.migrateRaw(`{"version": 4, "terraform_version": "1.12.0", "serial": 1, "lineage": "x", "outputs": {}, "resources": [`+
		object("with", `, "identity": `+identity+`, "identity_schema_version": `+version)+`, `+object("without", "")+`]}`,
		&mapping{ResourceAddressMap: map[string]string{
			"fake_identity.with": `component.a["k"].module.inner[0].fake_identity.with`, "fake_identity.without": `component.a["k"]`,
		}})
	if diags := diagnostics(events); len(diags) > 0 {
		s.t.Fatal(diags)
	}
	state := rawState{}
	for _, event := range events {
		state.merge(event.GetAppliedChange())
	}
	return state
}

// The identity has the type that the provider gives it. One of another version, or of another type,
// is refused, and so is one whose provider is not locked.
func testStoredIdentities(t *testing.T) {
	s := openFakeStack(t, identityStack)
	got, err := s.identities(s.identified(`{"id": "one"}`, "0"))
	if err != nil || len(got) != 1 {
		t.Fatalf("got %v, error %v, want one", got, err)
	}
	addr := []string{got[0].GetComponentAddr(), got[0].GetComponentInstanceAddr(), got[0].GetResourceInstanceAddr()}
	if want := []string{"component.a", `component.a["k"]`, "module.inner[0].fake_identity.with"}; !slices.Equal(addr, want) {
		t.Errorf("addresses %q, want %q", addr, want)
	}
	value, err := ctymsgpack.Unmarshal(got[0].GetResourceIdentity().GetMsgpack(), cty.Object(map[string]cty.Type{"id": cty.String}))
	if want := cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("one")}); err != nil || !value.RawEquals(want) {
		t.Errorf("identity %#v, error %v, want %#v", value, err, want)
	}
	for name, state := range map[string]rawState{
		"version": s.identified(`{"id": "one"}`, "7"), "type": s.identified(`{"other": "one"}`, "0"),
	} {
		got, err := s.identities(state)
		if err == nil {
			t.Errorf("another %s: no error, but %v", name, got)
		}
		wantCode(t, err, codes.InvalidArgument)
	}
	good := s.identified(`{"id": "one"}`, "0")
	s.locks = must[*dependenciespb.CreateDependencyLocks_Response](t)(
		s.dependencies.CreateDependencyLocks(t.Context(), &dependenciespb.CreateDependencyLocks_Request{})).GetDependencyLocksHandle()
	_, err = s.identities(good)
	wantCode(t, err, codes.InvalidArgument)
}
