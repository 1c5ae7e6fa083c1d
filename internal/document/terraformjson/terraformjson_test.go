// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terraformjson

import (
	"encoding/json"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func addr(t *testing.T, text string) stackaddrs.ResourceInstance {
	t.Helper()
	parsed, err := stackaddrs.ParsePartialResourceInstance(text)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func wantJSON(t *testing.T, got any, want string) {
	t.Helper()
	encoded, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(encoded) != want {
		t.Errorf("got  %s\nwant %s", encoded, want)
	}
}

func TestResourceChange(t *testing.T) {
	text := cty.StringVal
	object := func(attrs map[string]cty.Value) cty.Value { return cty.ObjectVal(attrs) }
	noObject := cty.NullVal(cty.DynamicPseudoType)
	tests := map[string]struct {
		change engine.Change
		want   string
	}{
		"created": {
			engine.Change{
				Addr: addr(t, `module.m["k"].t.r[0]`), Provider: stackaddrs.BuiltinProvider, Action: engine.ActionCreate, Before: noObject,
				After: object(map[string]cty.Value{
					"id": cty.UnknownVal(cty.String), "size": cty.MustParseNumberVal("12345678901234567890.5"), "none": cty.NullVal(cty.String),
					"list": cty.ListVal([]cty.Value{text("a"), cty.UnknownVal(cty.String)}),
					"late": cty.UnknownVal(cty.Map(cty.String)), "any": cty.DynamicVal,
					"pw": object(map[string]cty.Value{"a": text("x").Mark(marks.Sensitive), "b": text("y")}),
				}),
			},
			`{"address":"module.m[\"k\"].t.r[0]","module_address":"module.m[\"k\"]","mode":"managed","type":"t","name":"r","index":0,` +
				`"provider_name":"terraform.io/builtin/terraform","change":{"actions":["create"],"before":null,` +
				`"after":{"list":["a",null],"none":null,"pw":{"a":"x","b":"y"},"size":12345678901234567890.5},` +
				`"after_unknown":{"any":true,"id":true,"late":true,"list":[false,true],"pw":{}},` +
				`"before_sensitive":false,"after_sensitive":{"late":{},"list":[false,false],"pw":{"a":true}}}}`,
		},
		"replaced": {
			engine.Change{
				Addr: addr(t, "data.t.r"), Deposed: "00000001", Action: engine.ActionCreateThenDelete, Reason: engine.ReplaceBecauseCannotUpdate,
				PreviousAddr: addr(t, "data.t.old"), Replace: []cty.Path{cty.GetAttrPath("a").IndexInt(1).IndexString("k")},
				Before: object(map[string]cty.Value{"a": text("x")}), After: object(map[string]cty.Value{"a": text("y")}),
			},
			`{"address":"data.t.r","previous_address":"data.t.old","mode":"data","type":"t","name":"r","deposed":"00000001",` +
				`"change":{"actions":["create","delete"],"before":{"a":"x"},"after":{"a":"y"},"after_unknown":{},` +
				`"before_sensitive":{},"after_sensitive":{},"replace_paths":[["a",1,"k"]]},"action_reason":"replace_because_cannot_update"}`,
		},
		"destroyed": {
			engine.Change{Addr: addr(t, "t.r"), Action: engine.ActionDelete, Before: object(map[string]cty.Value{"a": cty.True}), After: noObject},
			`{"address":"t.r","mode":"managed","type":"t","name":"r","change":{"actions":["delete"],"before":{"a":true},` +
				`"after_unknown":{},"before_sensitive":{},"after_sensitive":false}}`,
		},
		"imported": {
			engine.Change{
				Addr: addr(t, "t.r"), Action: engine.ActionNoOp, Before: cty.EmptyObjectVal, After: cty.EmptyObjectVal, GeneratedConfig: "resource",
				Importing:      &engine.Importing{Identity: object(map[string]cty.Value{"id": text("i")})},
				BeforeIdentity: object(map[string]cty.Value{"id": text("i")}),
				AfterIdentity:  object(map[string]cty.Value{"id": cty.UnknownVal(cty.String), "region": text("r")}), // not yet one
			},
			`{"address":"t.r","mode":"managed","type":"t","name":"r","change":{"actions":["no-op"],"before":{},"after":{},"after_unknown":{},` +
				`"before_sensitive":{},"after_sensitive":{},"importing":{"identity":{"id":"i"}},"generated_config":"resource","before_identity":{"id":"i"}}}`,
		},
		"nobody has looked": {
			engine.Change{Addr: addr(t, "t.r"), Action: engine.ActionForget},
			`{"address":"t.r","mode":"managed","type":"t","name":"r","change":{"actions":["forget"],"before":null}}`,
		},
		"not planned yet": {
			engine.Change{
				Addr: addr(t, "t.r[*]"), Action: engine.ActionCreate, Before: noObject, Importing: &engine.Importing{Unknown: true},
			},
			`{"address":"t.r[*]","mode":"managed","type":"t","name":"r","change":{"actions":["create"],"before":null,` +
				`"after_unknown":{},"before_sensitive":false,"after_sensitive":{},"importing":{"unknown":true}}}`,
		},
		"a module": {
			engine.Change{Addr: stackaddrs.ResourceInstance{Module: stackaddrs.RootModuleInstance.Child("m", stackaddrs.WildcardKey)}},
			`{"address":"module.m[*]","module_address":"module.m[*]"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { wantJSON(t, ResourceChange(&test.change), test.want) })
	}
}

func TestInvocation(t *testing.T) {
	invocation := engine.Invocation{
		Addr:     stackaddrs.ActionInstance{Type: "fake_action", Name: "a", Key: stackaddrs.IntKey(1)},
		Provider: stackaddrs.BuiltinProvider,
		Trigger: engine.Trigger{
			Resource: addr(t, "fake_resource.r"), Event: engine.BeforeDestroy, Position: 2, OnFailure: engine.TaintOnFailure,
		},
		Config: cty.ObjectVal(map[string]cty.Value{
			"id": cty.UnknownVal(cty.String), "none": cty.NullVal(cty.String), "secret": cty.StringVal("s").Mark(marks.Sensitive),
		}),
	}
	wantJSON(t, Invocation(&invocation), `{"address":"action.fake_action.a[1]","type":"fake_action","name":"a",`+
		`"config_values":{"none":null,"secret":"s"},"config_sensitive":{"secret":true},"config_unknown":{"id":true},`+
		`"provider_name":"terraform.io/builtin/terraform","lifecycle_action_trigger":{"triggering_resource_address":"fake_resource.r",`+
		`"action_trigger_event":"BeforeDestroy","action_trigger_block_index":0,"actions_list_index":2,"on_failure":"ActionOnFailureTaint"}}`)

	invocation.Trigger, invocation.Config = engine.Trigger{Resource: addr(t, "fake_resource.r")}, cty.NilVal
	wantJSON(t, Invocation(&invocation), `{"address":"action.fake_action.a[1]","type":"fake_action","name":"a",`+
		`"provider_name":"terraform.io/builtin/terraform","invoke_action_trigger":{"calling_resource_address":"fake_resource.r"}}`)
}

func TestChecks(t *testing.T) {
	wantJSON(t, Checks(nil), `[]`)
	wantJSON(t, Checks([]engine.CheckResult{
		{
			Kind: engine.CheckResource, Address: "module.m.data.t.x", Status: engine.CheckFail,
			Objects: []engine.CheckedObject{{Address: `module.m["a.b"].data.t.x[1]`, Status: engine.CheckFail, Messages: []string{"One.", "Two."}}},
		},
		{
			Kind: engine.CheckOutput, Address: "output.o", Status: engine.CheckUnknown,
			Objects: []engine.CheckedObject{{Address: "output.o", Status: engine.CheckUnknown}},
		},
		{Kind: "other", Address: "what?", Status: engine.CheckPass},
	}), `[{"address":{"to_display":"module.m.data.t.x","kind":"resource","module":"module.m","mode":"data","type":"t","name":"x"},"status":"fail",`+
		`"instances":[{"address":{"to_display":"module.m[\"a.b\"].data.t.x[1]","module":"module.m[\"a.b\"]","instance_key":1},"status":"fail",`+
		`"problems":[{"message":"One."},{"message":"Two."}]}]},`+
		`{"address":{"to_display":"output.o","kind":"output_value","name":"o"},"status":"unknown",`+
		`"instances":[{"address":{"to_display":"output.o"},"status":"unknown"}]},`+
		`{"address":{"to_display":"what?","kind":"other","name":"what?"},"status":"pass"}]`)
}
