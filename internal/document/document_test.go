// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package document

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/document/terraformjson"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

func document(t *testing.T, doc any) string {
	t.Helper()
	var b strings.Builder
	if err := WriteDocument(&b, doc, true); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPlan(t *testing.T) {
	doc := NewPlan(viewtest.Plan(t), PlanOptions{
		CairnVersion: "1.2.3", Prior: viewtest.State(t),
		Diagnostics: hcl.Diagnostics{{Severity: hcl.DiagWarning, Summary: "Careful", Detail: "Do."}},
	})
	viewtest.Golden(t, "plan.json", document(t, doc))
}

func TestPlanComponent(t *testing.T) {
	prior := viewtest.State(t)
	db := viewtest.Instance(t, `stack.inner["x"].component.db["a"]`)
	plan := &stackplan.Plan{Components: []*stackplan.Component{
		{
			Addr: db, Action: stackplan.Update, Complete: true,
			Outputs: map[string]cty.Value{
				"url":      cty.StringVal("db://"),
				"password": cty.UnknownVal(cty.String).Mark(marks.Sensitive),
				"new":      cty.TupleVal([]cty.Value{cty.StringVal("x"), cty.UnknownVal(cty.String)}),
			},
		},
		{Addr: viewtest.Instance(t, "component.net[0]"), Action: stackplan.Create},
		{Addr: viewtest.Instance(t, "component.out"), Action: stackplan.Create, DeferredReason: "deferred_prereq"},
	}}
	doc := NewPlan(plan, PlanOptions{Prior: prior})
	byAddress := map[string]PlanComponent{}
	for _, c := range doc.Components {
		byAddress[c.Address] = c
	}

	got := byAddress[db.String()]
	if got.Component != "component.db" || got.Stack != `stack.inner["x"]` || got.Key != "a" {
		t.Errorf("%s is split into %q, %q and %v", db, got.Stack, got.Component, got.Key)
	}
	want := map[string]OutputChange{
		"url": {Actions: []string{"no-op"}, Before: "db://", After: "db://", AfterUnknown: false, BeforeSensitive: false, AfterSensitive: false},
		"password": {
			Actions: []string{"update"}, Before: "state-output-secret", AfterUnknown: true, BeforeSensitive: true, AfterSensitive: true,
		},
		"new": {
			Actions: []string{"create"}, After: []any{"x", nil}, AfterUnknown: []any{false, true},
			BeforeSensitive: false, AfterSensitive: false,
		},
	}
	if diff := cmp.Diff(want, got.OutputChanges); diff != "" {
		t.Errorf("output changes (-want +got):\n%s", diff)
	}
	if action := byAddress["component.net[0]"].Action; action != "error" {
		t.Errorf("action of a component that is neither complete nor deferred: %q, want error", action)
	}
	if key := byAddress["component.net[0]"].Key; key != json.Number("0") {
		t.Errorf("key %v, want 0", key)
	}
	if action := byAddress["component.out"].Action; action != "create" {
		t.Errorf("action of a deferred component: %q, want create", action)
	}
}

// As in terraform's plans, an output that a failed apply could not make is created, and one that is
// deleted stays sensitive.
func TestPlanOfOutputs(t *testing.T) {
	db := viewtest.Instance(t, `stack.inner["x"].component.db["a"]`)
	for name, test := range map[string]struct {
		component stackplan.Component
		want      map[string]OutputChange
	}{
		"made after a failure": {
			stackplan.Component{Action: stackplan.Update, Outputs: map[string]cty.Value{"late": cty.UnknownVal(cty.String)}},
			map[string]OutputChange{
				"late": {Actions: []string{"create"}, AfterUnknown: true, BeforeSensitive: false, AfterSensitive: false},
				"url":  {Actions: []string{"delete"}, Before: "db://", AfterUnknown: false, BeforeSensitive: false, AfterSensitive: false},
				"password": {
					Actions: []string{"delete"}, Before: "state-output-secret", AfterUnknown: false, BeforeSensitive: true,
					AfterSensitive: true,
				},
			},
		},
		"destroyed": {
			stackplan.Component{Action: stackplan.Delete, Outputs: map[string]cty.Value{"url": cty.NullVal(cty.String)}},
			map[string]OutputChange{
				"url": {Actions: []string{"delete"}, Before: "db://", AfterUnknown: false, BeforeSensitive: false, AfterSensitive: false},
				"password": {
					Actions: []string{"delete"}, Before: "state-output-secret", AfterUnknown: false, BeforeSensitive: true,
					AfterSensitive: true,
				},
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			test.component.Addr, test.component.Complete = db, true
			doc := NewPlan(&stackplan.Plan{Components: []*stackplan.Component{&test.component}}, PlanOptions{Prior: viewtest.State(t)})
			if diff := cmp.Diff(test.want, doc.Components[0].OutputChanges); diff != "" {
				t.Errorf("output changes (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPlanWithUnknownInputs(t *testing.T) {
	unknown := cty.UnknownVal(cty.String)
	doc := NewPlan(&stackplan.Plan{Inputs: map[string]*stackplan.InputChange{
		"all":   {After: unknown.Mark(marks.Sensitive)},
		"part":  {After: cty.ObjectVal(map[string]cty.Value{"known": cty.True, "open": unknown})},
		"known": {After: cty.True},
	}}, PlanOptions{})
	want := map[string]Variable{
		"all":   {AfterUnknown: true, Sensitive: true},
		"part":  {Value: map[string]any{"known": true}, AfterUnknown: map[string]any{"open": true}},
		"known": {Value: true},
	}
	if diff := cmp.Diff(want, doc.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
}

// The values of a moved component are compared with those in the state at its former address.
func TestPlanWithMoves(t *testing.T) {
	prior := viewtest.State(t)
	former, now := viewtest.Instance(t, `stack.inner["x"].component.db["a"]`), viewtest.Instance(t, `component.database`)
	plan := &stackplan.Plan{
		Moved: []stackaddrs.Rename{{From: former, To: now}},
		Components: []*stackplan.Component{
			{Addr: now, Action: stackplan.NoOp, Complete: true, Outputs: prior.Components[former].Outputs},
			{Addr: viewtest.Instance(t, "component.other"), Action: stackplan.NoOp, Complete: true},
		},
	}
	doc := NewPlan(plan, PlanOptions{Prior: prior})
	if got := doc.Components[0].PreviousAddr; got != former.String() {
		t.Errorf("previous_address is %q, want %q", got, former)
	}
	if got := doc.Components[1].PreviousAddr; got != "" {
		t.Errorf("what has not moved has the previous_address %q", got)
	}
	if diff := cmp.Diff([]Moved{{now.String(), former.String()}}, doc.Moved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	if got := doc.Components[0].OutputChanges["url"].Actions; !slices.Equal(got, []string{"no-op"}) {
		t.Errorf("an output that stays the same has the actions %v", got)
	}
}

func TestPlanWithDeferredComponentWithoutReason(t *testing.T) {
	doc := NewPlan(&stackplan.Plan{Applyable: true, Components: []*stackplan.Component{
		{Addr: viewtest.PartialInstance(t, "component.each[*]"), Action: stackplan.Create},
	}}, PlanOptions{})
	got := doc.Components[0]
	if got.Action != "create" || got.DeferredReason != "instance_count_unknown" || got.Key != "*" {
		t.Errorf("action %q, reason %q, key %v, want create, instance_count_unknown and *", got.Action, got.DeferredReason, got.Key)
	}
}

func TestState(t *testing.T) {
	doc, err := NewState(viewtest.State(t), Version{Serial: 7, Lineage: "abc"})
	if err != nil {
		t.Fatal(err)
	}
	viewtest.Golden(t, "state.json", document(t, doc))
}

// Only an object that has an identity shows one, with its version.
func TestStateOfIdentity(t *testing.T) {
	state := viewtest.State(t)
	net := viewtest.Instance(t, "component.net")
	state.Components = map[stackaddrs.AbsComponentInstance]*stackstate.Component{net: {
		Addr: net,
		Module: engine.State(`{"version":4,"resources":[{"mode":"managed","type":"thing","name":"r",` +
			`"provider":"provider[\"registry.terraform.io/example/thing\"]","instances":[` +
			`{"index_key":0,"attributes":{},"identity_schema_version":0,"identity":{"id":"x"}},` +
			`{"index_key":1,"attributes":{},"identity_schema_version":0}]}]}`),
	}}
	doc, err := NewState(state, Version{})
	if err != nil {
		t.Fatal(err)
	}
	resources := doc.Components[0].Resources
	if got := resources[0]; string(got.Identity) != `{"id":"x"}` || got.IdentitySchemaVersion == nil || *got.IdentitySchemaVersion != 0 {
		t.Errorf("%s: identity %s of version %v", got.Address, got.Identity, got.IdentitySchemaVersion)
	}
	if got := resources[1]; got.Identity != nil || got.IdentitySchemaVersion != nil {
		t.Errorf("%s: identity %s of version %v, want none", got.Address, got.Identity, got.IdentitySchemaVersion)
	}
}

func TestStateThatCannotBeRead(t *testing.T) {
	state := viewtest.State(t)
	state.Components[viewtest.Instance(t, "component.net")].Module = engine.State(`{"version": 3}`)
	if _, err := NewState(state, Version{}); err == nil || !strings.Contains(err.Error(), "component.net") {
		t.Errorf("NewState: error %v, want one that names component.net", err)
	}
}

func TestOutputs(t *testing.T) {
	viewtest.Golden(t, "outputs.json", document(t, NewOutputs(viewtest.State(t).Outputs)))
}

func TestValidation(t *testing.T) {
	diags := hcl.Diagnostics{
		{Severity: hcl.DiagWarning, Summary: "w"},
		{Severity: hcl.DiagError, Summary: "e", Detail: "<d>", Subject: &hcl.Range{
			Filename: "f", Start: hcl.Pos{Line: 1, Column: 1},
			End: hcl.Pos{Line: 1, Column: 2, Byte: 1},
		}},
	}
	sources := diagnostic.Sources{Lookup: func(string) []byte { return []byte("x = 1") }}
	viewtest.Golden(t, "validation.json", document(t, NewValidation(diags, sources)))
	viewtest.Golden(t, "valid.json", document(t, NewValidation(nil, sources)))
}

func TestTrees(t *testing.T) {
	secret := cty.StringVal("s").Mark(marks.Sensitive)
	tests := map[string]struct {
		value                   cty.Value
		tree, unknown, sensible any
	}{
		"no value":         {cty.NilVal, nil, false, false},
		"null":             {cty.NullVal(cty.String), nil, false, false},
		"unknown":          {cty.UnknownVal(cty.String), nil, true, false},
		"secret":           {secret, "s", false, true},
		"secret unknown":   {cty.UnknownVal(cty.String).Mark(marks.Sensitive), nil, true, true},
		"ephemeral":        {cty.StringVal("e").Mark(marks.Ephemeral), nil, false, false},
		"another mark":     {cty.StringVal("e").Mark("other"), "e", false, true},
		"secret ephemeral": {secret.Mark(marks.Ephemeral), nil, false, true},
		"large number": {
			cty.MustParseNumberVal("123456789012345678901234567890.5"), json.Number("123456789012345678901234567890.5"),
			false, false,
		},
		"set": {
			cty.SetVal([]cty.Value{cty.StringVal("b"), cty.StringVal("a")}), []any{"a", "b"}, false, false,
		},
		"empty": {cty.EmptyObjectVal, map[string]any{}, false, false},
		"object": {
			cty.ObjectVal(map[string]cty.Value{
				"a": cty.True, "u": cty.UnknownVal(cty.Bool), "s": secret, "n": cty.NullVal(cty.Bool),
				"l": cty.ListVal([]cty.Value{secret, cty.UnknownVal(cty.String)}),
			}),
			map[string]any{"a": true, "s": "s", "n": nil, "l": []any{"s", nil}},
			map[string]any{"u": true, "l": []any{false, true}},
			map[string]any{"s": true, "l": []any{true, false}},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.tree, terraformjson.Value(test.value)); diff != "" {
				t.Errorf("Value (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.unknown, unknownTree(test.value)); diff != "" {
				t.Errorf("unknownTree (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.sensible, sensitiveTree(test.value)); diff != "" {
				t.Errorf("sensitiveTree (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEngineOfComponent checks that a component names its engine and the reason for it, which may
// be that of the whole plan.
func TestEngineOfComponent(t *testing.T) {
	usual := engine.Reason{Code: engine.ReasonUsual, Text: "Nobody has named one."}
	lacks := engine.Reason{
		Code: engine.ReasonFeature, Text: "It has no such thing.",
		Subject: &hcl.Range{Filename: "m/main.tf", Start: hcl.Pos{Line: 3, Column: 1, Byte: 20}, End: hcl.Pos{Line: 3, Column: 5, Byte: 24}},
	}
	plan := &stackplan.Plan{Engine: engine.Info{Name: "native", Version: "1"}, Reason: usual}
	for want, made := range map[string]stackplan.Component{
		`{"name":"terraform","version":"1.11.4","reason":{"code":"unsupported_feature","text":"It has no such thing.",` +
			`"range":{"filename":"m/main.tf","start":{"line":3,"column":1,"byte":20},"end":{"line":3,"column":5,"byte":24}}}}`: {Engine: engine.Info{Name: "terraform", Version: "1.11.4"}, Reason: lacks},
		`{"name":"native","version":"1","reason":{"code":"usual","text":"Nobody has named one."}}`: {Engine: plan.Engine},
		`null`: {},
	} {
		made.Addr, made.Action = viewtest.Instance(t, "component.a"), stackplan.Create
		plan.Components = []*stackplan.Component{&made}
		got, err := json.Marshal(NewPlan(plan, PlanOptions{}).Components[0].Engine)
		if err != nil || string(got) != want {
			t.Errorf("a component planned by %v shows %s, %v, want %s", made.Engine, got, err, want)
		}
	}
}

// Sensitive values of found objects are not shown.
func TestQuery(t *testing.T) {
	object := cty.ObjectVal(map[string]cty.Value{
		"id": cty.StringVal("one"), "secret": cty.StringVal("s3cret").Mark(marks.Sensitive),
		"list": cty.ListVal([]cty.Value{cty.StringVal("a"), cty.StringVal("s3cret").Mark(marks.Sensitive)}),
	})
	result := &engine.QueryResult{Objects: []*engine.FoundObject{{
		List: "list.t.x", Type: "t", Provider: stackaddrs.BuiltinProvider, DisplayName: "One", Object: object,
		Identity: cty.ObjectVal(map[string]cty.Value{"id": cty.StringVal("one")}),
	}}}
	got, err := json.Marshal(NewQuery(viewtest.Instance(t, "component.a"), result))
	const want = `{"format_version":"1.0","component":"component.a","objects":[{"list":"list.t.x","type":"t",` +
		`"provider_name":"terraform.io/builtin/terraform","identity":{"id":"one"},"display_name":"One",` +
		`"values":{"id":"one","list":["a",null],"secret":null},"sensitive_values":{"list":[false,true],"secret":true}}]}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, %v, want %s", got, err, want)
	}
}
