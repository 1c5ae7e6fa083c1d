// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package steps_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/foreach"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/steps"
)

func TestCheck(t *testing.T) {
	module := &engine.Module{Outputs: map[string]*engine.Output{"id": {}, "name": {}}}
	keyed := func() foreach.Set {
		return foreach.Set{Kind: foreach.Keyed, Elements: map[string]cty.Value{"eu": cty.True, "us": cty.True}}
	}
	unknown := func() foreach.Set { return foreach.Set{Kind: foreach.Unknown} }
	single := steps.Component{Addr: "component.c", Module: module}
	for name, test := range map[string]struct {
		component steps.Component
		steps     string // after the reference
		want      string // summary and a part of the detail; W for a warning
	}{
		"output":           {single, `.id`, ""},
		"output by index":  {single, `["id"]`, ""},
		"the component":    {single, ``, ""},
		"inside an output": {single, `.id.anything`, ""},
		"unknown output": {
			single,
			`.nam`,
			`Unknown module output: The module of component.c has no output "nam". Did you mean "name"?`,
		},
		"unknown output, nothing near": {
			single,
			`.zone_of_it`,
			`Unknown module output: The module of component.c has no output "zone_of_it". It has id, name.`,
		},
		"key without for_each": {single, `["eu"].id`, "Component without instance keys: component.c has no for_each"},
		"output of a module with none": {
			steps.Component{Addr: "component.c", Module: &engine.Module{}},
			`.x`,
			`Unknown module output: The module of component.c has no output "x". It has none.`,
		},
		"instance":              {steps.Component{Addr: "component.c", Module: module, Instances: keyed}, `["eu"].id`, ""},
		"instance as attribute": {steps.Component{Addr: "component.c", Module: module, Instances: keyed}, `.eu`, ""},
		"unknown instance": {
			steps.Component{Addr: "component.c", Module: module, Instances: keyed},
			`["eq"].id`,
			`Unknown component instance: The for_each of component.c has no key "eq". Did you mean "eu"?`,
		},
		"output of all instances": {
			steps.Component{Addr: "component.c", Module: module, Instances: keyed},
			`.id`,
			"Missing instance key: component.c has for_each",
		},
		"unknown output of an instance": {
			steps.Component{Addr: "component.c", Module: module, Instances: keyed},
			`["eu"].x`,
			`Unknown module output: The module of component.c["eu"] has no output "x".`,
		},
		"instance of an unknown set": {steps.Component{Addr: "component.c", Module: module, Instances: unknown}, `["any"].id`, ""},
		"perhaps an instance": {
			steps.Component{Addr: "component.c", Module: module, Instances: unknown},
			`.id`,
			"W Missing instance key: component.c has for_each",
		},
		"output of an unknown set": {
			steps.Component{Addr: "component.c", Module: module, Instances: unknown},
			`["any"].x`,
			`Unknown module output: The module of component.c["any"] has no output "x".`,
		},
	} {
		traversal, diags := hclsyntax.ParseTraversalAbs([]byte("c"+test.steps), "main.tfcomponent.hcl", hcl.InitialPos)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got := ""
		for _, diag := range test.component.Check(traversal[1:]) {
			if diag.Severity == hcl.DiagWarning {
				got += "W "
			}
			got += diag.Summary + ": " + diag.Detail
			if diag.Subject == nil {
				t.Errorf("%s: at no place", name)
			}
		}
		if !strings.HasPrefix(got, test.want) || (got == "") != (test.want == "") {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
