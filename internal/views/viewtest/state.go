// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package viewtest

import (
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

const module = `{
  "version": 4, "terraform_version": "1.11.4", "serial": 3, "lineage": "l", "outputs": {},
  "resources": [
    {"mode": "managed", "type": "terraform_data", "name": "a", "provider": "provider[\"terraform.io/builtin/terraform\"]",
     "instances": [{"index_key": "k", "schema_version": 0, "status": "tainted",
       "attributes": {
         "id": "id-a", "unset": null,
         "input": {"value": {"e": [], "json": "{\"a\":[1]}", "n": null, "text": "x\ny\n", "sec": "attribute-secret", "list": ["p", "element-secret"]},
                   "type": ["object", {"e": ["tuple", []], "json": "string", "n": "dynamic", "text": "string", "sec": "string", "list": ["tuple", ["string", "string"]]}]}},
       "sensitive_attributes": [
         [{"type": "get_attr", "value": "input"}, {"type": "get_attr", "value": "sec"}],
         [{"type": "get_attr", "value": "input"}, {"type": "get_attr", "value": "list"}, {"type": "index", "value": {"value": 1, "type": "number"}}]],
       "dependencies": ["data.thing.d"]},
       {"index_key": "k", "deposed": "deadbeef", "schema_version": 0, "attributes": {"id": "old"}}]},
    {"mode": "data", "type": "thing", "name": "d", "provider": "provider[\"registry.terraform.io/example/thing\"].west",
     "instances": [{"schema_version": 2, "attributes": {"id": "d", "number": 12345678901234567890, "nested": [{"type": "string", "value": "v"}]}}]}
  ]
}`

// State returns a state in which everything that can be shown occurs.
func State(t *testing.T) *stackstate.State {
	t.Helper()
	state := stackstate.New()
	db, net := Instance(t, `stack.inner["x"].component.db["a"]`), Instance(t, "component.net")
	state.Components[db] = &stackstate.Component{
		Addr: db, Dependencies: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(net)}, Module: engine.State(module),
		Outputs: map[string]cty.Value{
			"url": cty.StringVal("db://"), "password": sensitive("state-output-secret"),
			"late": cty.UnknownVal(cty.String),
		},
	}
	state.Components[net] = &stackstate.Component{
		Addr: net, Dependents: []stackaddrs.AbsComponent{stackaddrs.ComponentOf(db)},
	}
	state.Inputs = map[string]cty.Value{"region": cty.StringVal("eu"), "token": sensitive("tok-1"), "brief": cty.NullVal(cty.String)}
	state.Outputs = map[string]cty.Value{
		"all":    cty.MapVal(map[string]cty.Value{"a b": cty.SetVal([]cty.Value{cty.NumberIntVal(2), cty.NumberIntVal(1)})}),
		"secret": cty.ObjectVal(map[string]cty.Value{"k": cty.StringVal("v"), "pw": sensitive("root-secret")}),
		"single": cty.True,
	}
	return state
}
