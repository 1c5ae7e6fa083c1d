// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/grpc/codes"
	"google.golang.org/protobuf/types/known/anypb"
	"google.golang.org/protobuf/types/known/emptypb"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	"github.com/cairnstacks/cairn/internal/testenv"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

var inspectedStack = map[string]string{
	"main.tfcomponent.hcl": `
required_providers {
  fake = {
    source  = "cairnstacks/fake"
    version = "1.0.0"
  }
}
provider "fake" "main" {}
variable "text" { type = string }
variable "size" {
  type    = number
  default = 5
}
variable "secret" {
  type      = string
  sensitive = true
}
variable "passing" {
  type      = string
  ephemeral = true
}
locals {
  doubled = "${var.text}-${var.text}"
}
component "a" {
  source = "./m"
  inputs = { text = var.text }
}
stack "inner" {
  source = "./inner"
  inputs = { text = component.a.text }
}
`,
	"inner/main.tfcomponent.hcl": `
variable "text" { type = string }
component "b" {
  source = "../m"
  inputs = { text = var.text }
}
output "text" {
  type  = string
  value = component.b.text
}
`,
	"m/main.tf": oneComponent["m/main.tf"],
}

func (c *client) inspect(inspector int64, expression string) *stackspb.InspectExpressionResult_Response {
	c.t.Helper()
	response, err := c.stacks.InspectExpressionResult(c.t.Context(), &stackspb.InspectExpressionResult_Request{
		StackInspectorHandle: inspector, ExpressionSrc: []byte(expression),
	})
	if err != nil {
		c.t.Fatal(err)
	}
	return response
}

// TestInspect evaluates expressions by the state after an apply, and after all that the inspector
// was opened with was closed.
func TestInspect(t *testing.T) {
	testenv.Engine(t)
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	c := serve(t)
	locks, cache := c.fakeProvider()
	config := c.open(inspectedStack)
	given := inputValues(t, map[string]cty.Value{
		"text":       cty.StringVal("hello"),
		"secret":     cty.StringVal("s3cret"),
		"passing":    cty.StringVal("gone"),
		"undeclared": cty.True,
		"size":       cty.NullVal(cty.Number),
	})
	plan, err := c.plan(&stackspb.PlanStackChanges_Request{
		PlanMode:              stackspb.PlanMode_NORMAL,
		StackConfigHandle:     config,
		DependencyLocksHandle: locks,
		ProviderCacheHandle:   cache,
		InputValues:           given,
	})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, plan.diags)
	planHandle, err := c.openPlan(plan.elements)
	if err != nil {
		t.Fatal(err)
	}
	state := map[string]*anypb.Any{}
	done, err := c.apply(&stackspb.ApplyStackChanges_Request{
		StackConfigHandle: config, PlanHandle: planHandle, DependencyLocksHandle: locks, ProviderCacheHandle: cache, InputValues: given,
	}, state)
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, done.diags)
	opened, err := c.stacks.OpenStackInspector(t.Context(), &stackspb.OpenStackInspector_Request{
		StackConfigHandle: config, State: state, DependencyLocksHandle: locks, ProviderCacheHandle: cache, InputValues: given,
	})
	if err != nil || opened.GetStackInspectorHandle() == 0 {
		t.Fatalf("got %v, %v", opened, err)
	}
	noDiagnostics(t, opened.GetDiagnostics())
	if _, err := c.closeConfiguration(config); err != nil {
		t.Fatal(err)
	}
	inspector := opened.GetStackInspectorHandle()

	two := c.inspect(inspector, "1 + 1").GetResult()
	if want := []byte("\x92\xc4\x08\x22number\x22\x02"); !bytes.Equal(two.GetMsgpack(), want) {
		t.Errorf("2 is % x, want % x", two.GetMsgpack(), want)
	}
	for expression, want := range map[string]cty.Value{
		"var.text":                   cty.StringVal("hello"),
		"var.size":                   cty.NumberIntVal(5),
		"local.doubled":              cty.StringVal("hello-hello"),
		"component.a.text":           cty.StringVal("hello"),
		"component.a":                cty.ObjectVal(map[string]cty.Value{"text": cty.StringVal("hello")}),
		"stack.inner.text":           cty.StringVal("hello"),
		"[for x in [1, 2] : x][1]":   cty.NumberIntVal(2),
		"timestamp() == timestamp()": cty.UnknownVal(cty.Bool).RefineNotNull(),
	} {
		got := c.inspect(inspector, expression)
		noDiagnostics(t, got.GetDiagnostics())
		value, err := wire.ParseValue(got.GetResult())
		if err != nil || !value.RawEquals(want) {
			t.Errorf("%s is %#v, %v; want %#v", expression, value, err, want)
		}
	}
	secret := c.inspect(inspector, `{ a = var.secret, b = 1 }`).GetResult()
	if paths := secret.GetSensitive(); len(paths) != 1 || len(paths[0].GetSteps()) != 1 || paths[0].GetSteps()[0].GetAttributeName() != "a" {
		t.Errorf("sensitive are %v", paths)
	}
	for expression, want := range map[string]*terraform1pb.Diagnostic{
		"var.":               {Summary: "Invalid attribute name", Subject: at("<expression>", 1, 5, 4, 0)},
		"var.missing":        {Summary: "Unknown variable", Subject: at("<expression>", 1, 1, 0, 11)},
		"provider.fake.main": {Summary: "Unsendable result", Subject: at("<expression>", 1, 1, 0, 18)},
		"var.passing":        {Summary: "Unsendable result", Subject: at("<expression>", 1, 1, 0, 11)},
	} {
		want.Severity = terraform1pb.Diagnostic_ERROR
		got := c.inspect(inspector, expression)
		wantDiagnostics(t, got.GetDiagnostics(), want)
		if got.GetResult() != nil {
			t.Errorf("%s has a result", expression)
		}
		if strings.Contains(got.String(), "gone") {
			t.Errorf("an ephemeral value is in %s", got)
		}
	}
}

// TestInspectWithoutState checks that values that nobody has given are unknown.
func TestInspectWithoutState(t *testing.T) {
	testenv.Engine(t)
	c := serve(t)
	opened, err := c.stacks.OpenStackInspector(t.Context(), &stackspb.OpenStackInspector_Request{StackConfigHandle: c.open(oneComponent)})
	if err != nil {
		t.Fatal(err)
	}
	noDiagnostics(t, opened.GetDiagnostics())
	for _, expression := range []string{"var.text", "component.a.text"} {
		got := c.inspect(opened.GetStackInspectorHandle(), expression)
		noDiagnostics(t, got.GetDiagnostics())
		if value, err := wire.ParseValue(got.GetResult()); err != nil || value.IsKnown() {
			t.Errorf("%s is %#v, %v", expression, value, err)
		}
	}
}

// TestMistakenInspectors checks that a fault of a stack or of a value is a diagnostic, without a
// handle.
func TestMistakenInspectors(t *testing.T) {
	testenv.Engine(t)
	c := serve(t)
	for name, req := range map[string]*stackspb.OpenStackInspector_Request{
		"module": {StackConfigHandle: c.open(map[string]string{
			"main.tfcomponent.hcl": "component \"a\" {\n  source = \"./m\"\n}\n", "m/main.tf": "resource {\n",
		})},
		"value": {StackConfigHandle: c.open(oneComponent), InputValues: inputValues(t, map[string]cty.Value{"text": cty.EmptyObjectVal})},
	} {
		got, err := c.stacks.OpenStackInspector(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		if got.GetStackInspectorHandle() != 0 || len(got.GetDiagnostics()) == 0 {
			t.Errorf("%s: got %v", name, got)
		}
	}
}

func TestRefusedInspectors(t *testing.T) {
	testenv.Engine(t)
	c := serve(t)
	config := c.open(oneComponent)
	empty, err := anypb.New(&emptypb.Empty{})
	if err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]*stackspb.OpenStackInspector_Request{
		"no configuration": {},
		"unknown locks":    {StackConfigHandle: config, DependencyLocksHandle: 99},
		"unknown cache":    {StackConfigHandle: config, ProviderCacheHandle: 99},
		"bad key":          {StackConfigHandle: config, State: map[string]*anypb.Any{"CMPT": empty}},
		"unknown key":      {StackConfigHandle: config, State: map[string]*anypb.Any{"WHATcomponent.a": empty}},
		"bad record":       {StackConfigHandle: config, State: map[string]*anypb.Any{"CMPTcomponent.a": empty}},
		"value without a place": {
			StackConfigHandle: config, InputValues: map[string]*stackspb.DynamicValueWithSource{"text": {Value: &stackspb.DynamicValue{}}},
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.stacks.OpenStackInspector(t.Context(), req)
			wantStatus(t, err, codes.InvalidArgument, "")
		})
	}
	opened, err := c.stacks.OpenStackInspector(t.Context(), &stackspb.OpenStackInspector_Request{StackConfigHandle: config})
	if err != nil {
		t.Fatal(err)
	}
	for name, req := range map[string]*stackspb.InspectExpressionResult_Request{
		"no inspector":         {ExpressionSrc: []byte("1")},
		"of another kind":      {StackInspectorHandle: config, ExpressionSrc: []byte("1")},
		"in an embedded stack": {StackInspectorHandle: opened.GetStackInspectorHandle(), ExpressionSrc: []byte("1"), StackAddr: "stack.a"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := c.stacks.InspectExpressionResult(t.Context(), req)
			wantStatus(t, err, codes.InvalidArgument, "")
		})
	}
}
