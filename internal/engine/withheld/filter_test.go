// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package withheld

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// testSecrets are those of a module with the sensitive variable "declared" and the ephemeral
// variable "token".
func testSecrets(prior engine.State) *Filter {
	variables := map[string]*module.Variable{}
	for name, variable := range map[string]engine.Variable{
		"declared": {Name: "declared", Sensitive: true}, "token": {Name: "token", Ephemeral: true}, "plain": {Name: "plain"},
		"parts": {Name: "parts"},
	} {
		variables[name] = &module.Variable{Variable: &variable}
	}
	inputs := map[string]cty.Value{
		"declared": cty.StringVal("declared-secret"),
		"token":    cty.StringVal("token-secret"),
		"plain":    cty.StringVal("no-secret"),
		"parts": cty.ObjectVal(map[string]cty.Value{
			"open": cty.StringVal("open-part"), "closed": cty.NumberIntVal(7).Mark(marks.Sensitive),
			"later": cty.UnknownVal(cty.String).Mark(marks.Sensitive), "eph": cty.StringVal("e").Mark(marks.Ephemeral),
		}),
	}
	providers := map[engine.ProviderSlot]engine.ProviderConfig{
		{LocalName: "fake"}: {Provider: stackaddrs.Provider{Type: "fake"}, Config: cty.ObjectVal(map[string]cty.Value{
			"region": cty.StringVal("region-1"), "token": cty.StringVal("provider-secret").Mark(marks.Sensitive),
		})},
		{LocalName: "none"}: {},
	}
	return NewFilter(&module.Node{Directory: &module.Directory{Variables: variables}}, inputs, providers, prior)
}

const stateWithSecrets = `{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"x","outputs":{},"resources":[
  {"mode":"managed","type":"t","name":"a","provider":"provider[\"registry.terraform.io/x/y\"]","instances":[
    {"schema_version":0,
     "attributes":{"id":"id-of-a","password":"stored-secret","pin":471100,"open":"stored-open","list":[{"x":"listed-open"},{"x":"listed-secret"}],"any":{"value":{"k":"any-secret","o":"any-open"},"type":["object",{"k":"string","o":"string"}]},"set":["set-secret"]},
     "sensitive_attributes":[
       [{"type":"get_attr","value":"password"}],
       [{"type":"get_attr","value":"pin"}],
       [{"type":"get_attr","value":"list"},{"type":"index","value":{"value":1,"type":"number"}},{"type":"get_attr","value":"x"}],
       [{"type":"get_attr","value":"any"},{"type":"get_attr","value":"k"}],
       [{"type":"get_attr","value":"set"},{"type":"index","value":{"value":"set-secret","type":"string"}}]
     ]}]}],"check_results":null}`

func TestSecretsInDiagnostics(t *testing.T) {
	secret := func(text string) cty.Value { return cty.StringVal(text).Mark(marks.Sensitive) }
	changes := []*engine.Change{
		{After: cty.ObjectVal(map[string]cty.Value{
			"a": secret("planned-secret"), "b": cty.TupleVal([]cty.Value{cty.StringVal("planned-open"), secret("planned-item")}),
		})},
		{},
	}
	for name, test := range map[string]struct{ text, want string }{
		"inputs":    {"declared-secret token-secret no-secret open-part", "(sensitive value) (sensitive value) no-secret open-part"},
		"providers": {"provider-secret in region-1", "(sensitive value) in region-1"},
		"state before": {"stored-secret stored-open id-of-a listed-secret listed-open", "(sensitive value) stored-open id-of-a " +
			"(sensitive value) listed-open"},
		"numbers of the state": {"471100", "(sensitive value)"},
		"values of any type":   {"any-secret any-open set-secret", "(sensitive value) any-open (sensitive value)"},
		"planned changes":      {"planned-secret planned-open planned-item", "(sensitive value) planned-open (sensitive value)"},
		"address in the text":  {`t.x["token-secret"]: token-secret`, `t.x["token-secret"]: (sensitive value)`},
	} {
		t.Run(name, func(t *testing.T) {
			given := &hcl.Diagnostic{
				Summary: "S: " + test.text, Detail: "D: " + test.text,
				Extra: &engine.DiagnosticData{Resource: `t.x["token-secret"]`},
			}
			got := testSecrets(engine.State(stateWithSecrets)).Diagnostics(hcl.Diagnostics{given}, nil, changes)[0]
			if got.Detail != "D: "+test.want || got.Summary != "S: "+test.want {
				t.Errorf("got %q, %q; want %q", got.Summary, got.Detail, test.want)
			}
			if given.Detail != "D: "+test.text {
				t.Error("the given diagnostic has changed")
			}
		})
	}
	if got := testSecrets(nil).Diagnostics(hcl.Diagnostics{{Detail: "stored-secret"}}, nil); got[0].Detail != "stored-secret" {
		t.Errorf("without a state: %q", got[0].Detail)
	}
	after := NewStateFilter(nil).Diagnostics(hcl.Diagnostics{{Detail: "stored-secret"}}, []engine.State{
		engine.State(stateWithSecrets), nil,
		engine.State("no state"),
	})
	if after[0].Detail != "(sensitive value)" {
		t.Errorf("with the state after: %q", after[0].Detail)
	}
}

func TestSecretsInValues(t *testing.T) {
	reported := &engine.DiagnosticData{References: []engine.ReferenceValue{
		{Reference: "var.declared", Statement: `is "x"`},
		{Reference: "var.declared.x", Statement: `is 7`},
		{Reference: "var.token", Statement: `is "x"`},
		{Reference: "var.plain", Statement: `is "no-secret"`},
		{Reference: "var.parts", Statement: "is object with 4 attributes"},
		{Reference: "var.parts.open", Statement: `is "open-part"`},
		{Reference: "var.parts.closed", Statement: "is 7"},
		{Reference: "var.parts.later", Statement: `is "x"`},
		{Reference: "var.parts.eph", Statement: `is "e"`},
		{Reference: "var.parts.nothing", Statement: "is 7"},
		{Reference: "var.called", Statement: `is "token-secret!"`},
		{Reference: "local.x", Statement: "is 7"},
		{Reference: `local.x["token-secret"]`, Statement: "is 7"},
		{Reference: "(odd", Statement: "is 7"},
		{Reference: "var[0]", Statement: "is 7"},
	}}
	want := []engine.ReferenceValue{
		{Reference: "var.declared", Statement: "has a sensitive value"},
		{Reference: "var.declared.x", Statement: "has a sensitive value"},
		{Reference: "var.token", Statement: "has an ephemeral value"},
		{Reference: "var.plain", Statement: `is "no-secret"`},
		{Reference: "var.parts", Statement: "is object with 4 attributes"},
		{Reference: "var.parts.open", Statement: `is "open-part"`},
		{Reference: "var.parts.closed", Statement: "has a sensitive value"},
		{Reference: "var.parts.later", Statement: "has a sensitive value"},
		{Reference: "var.parts.eph", Statement: "has an ephemeral value"},
		{Reference: "var.parts.nothing", Statement: "is 7"},
		{Reference: "var.called", Statement: "has a sensitive value"},
		{Reference: "local.x", Statement: "is 7"},
		{Reference: `local.x["(sensitive value)"]`, Statement: "is 7"},
		{Reference: "(odd", Statement: "is 7"},
		{Reference: "var[0]", Statement: "is 7"},
	}
	got := testSecrets(nil).Diagnostics(hcl.Diagnostics{{Extra: reported}}, nil)[0].Extra.(*engine.DiagnosticData)
	if diff := cmp.Diff(want, got.References); diff != "" {
		t.Errorf("values (-want +got):\n%s", diff)
	}
	if recovered := NewStateFilter(nil).Diagnostics(hcl.Diagnostics{{Extra: reported}},
		nil)[0].Extra.(*engine.DiagnosticData); len(recovered.References) > 0 {
		t.Errorf("values of a run whose inputs are not known: %v", recovered.References)
	}
}

func TestSecretsInEvents(t *testing.T) {
	raw := `{"@level":"info","@message":"t.token-secret: said token-secret \"7\"","@timestamp":"2026-01-02T03:04:05Z","type":"provision_progress",` +
		`"hook":{"resource":{"addr":"t.token-secret","key":12345678901234567890},"output":"token-secret stored-secret","list":["token-secret"]}}`
	s := testSecrets(engine.State(stateWithSecrets))
	got := s.Event(engine.Event{
		Type: engine.ProvisionProgress, Resource: "t.token-secret", Message: "t.token-secret: said token-secret", IDValue: "x/token-secret",
		Raw: json.RawMessage(raw),
	})
	if got.Message != "t.token-secret: said (sensitive value)" || got.IDValue != "x/(sensitive value)" {
		t.Errorf("message %q, id %q", got.Message, got.IDValue)
	}
	want := `{"@level":"info","@message":"t.token-secret: said (sensitive value) \"7\"","@timestamp":"2026-01-02T03:04:05Z",` +
		`"hook":{"list":["(sensitive value)"],"output":"(sensitive value) (sensitive value)","resource":{"addr":"t.token-secret","key":12345678901234567890}},"type":"provision_progress"}`
	if string(got.Raw) != want {
		t.Errorf("raw event is\n%s\nwant\n%s", got.Raw, want)
	}
	same := engine.Event{
		Type: engine.ApplyComplete, Resource: "t.x", Message: "t.x: done stored-secret",
		Raw: json.RawMessage(`{ "@message":"nothing"}`),
	}
	if diff := cmp.Diff(same, s.Event(same)); diff != "" {
		t.Errorf("an event without secrets (-want +got):\n%s", diff)
	}
	if broken := s.Event(engine.Event{Raw: json.RawMessage(`token-secret`)}); broken.Raw != nil {
		t.Errorf("what cannot be decoded is passed on: %s", broken.Raw)
	}
}

func TestSecretsInChecks(t *testing.T) {
	checks := []engine.CheckResult{{Objects: []engine.CheckedObject{{Messages: []string{"not token-secret"}}}}}
	got := testSecrets(nil).Checks(checks)
	if message := got[0].Objects[0].Messages[0]; message != "not (sensitive value)" {
		t.Errorf("message is %q", message)
	}
	if checks[0].Objects[0].Messages[0] != "not token-secret" {
		t.Error("the given checks have changed")
	}
}

func TestObserver(t *testing.T) {
	s := testSecrets(nil)
	if s.Observer(nil) != nil {
		t.Error("without an observer there is one")
	}
	var got engine.Event
	s.Observer(func(ev engine.Event) { got = ev })(engine.Event{
		Message: "declared-secret, no-secret and provider-secret",
		IDValue: "declared-secret",
	})
	if want := "(sensitive value), no-secret and (sensitive value)"; got.Message != want || got.IDValue != "(sensitive value)" {
		t.Errorf("event: got %q and %q, want %q", got.Message, got.IDValue, want)
	}
}
