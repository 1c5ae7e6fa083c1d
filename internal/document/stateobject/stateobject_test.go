// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stateobject

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func TestDecode(t *testing.T) {
	tests := map[string]struct {
		attributes, sensitive     string
		wantValues, wantSensitive string
	}{
		"none":           {``, ``, `{}`, `{}`},
		"null":           {`null`, `[]`, `{}`, `{}`},
		"with its type":  {`{"a":{"value":[1],"type":["tuple",["number"]]}}`, ``, `{"a":[1]}`, `{}`},
		"of a primitive": {`{"a":{"value":"v","type":"string"}}`, ``, `{"a":"v"}`, `{}`},
		"not of that type": {
			`{"a":{"value":"v","type":"number"},"b":{"value":1,"type":"gp2"}}`, ``,
			`{"a":{"value":"v","type":"number"},"b":{"value":1,"type":"gp2"}}`, `{}`,
		},
		"more than a type": {`{"a":{"value":"v","type":"string","name":"n"}}`, ``, `{"a":{"value":"v","type":"string","name":"n"}}`, `{}`},
		"deeper": {
			`{"a":[{"value":"v","type":"string"},{"value":{"x":1},"type":["object",{"x":"number"}]}]}`, ``,
			`{"a":[{"value":"v","type":"string"},{"x":1}]}`, `{}`,
		},
		"sensitive": {
			`{"a":{"b":[1,2,{"c":3}]},"d":1}`,
			`[[{"type":"get_attr","value":"a"},{"type":"get_attr","value":"b"},{"type":"index","value":{"value":2,"type":"number"}},{"type":"get_attr","value":"c"}],
			  [{"type":"get_attr","value":"d"}]]`,
			`{"a":{"b":[1,2,{"c":3}]},"d":1}`, `{"a":{"b":[false,false,{"c":true}]},"d":true}`,
		},
		"sensitive key of a map": {
			`{"a":{"k":1}}`, `[[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":"k","type":"string"}}]]`,
			`{"a":{"k":1}}`, `{"a":{"k":true}}`,
		},
		"sensitive element of a set": {
			`{"a":["x"]}`, `[[{"type":"get_attr","value":"a"},{"type":"index","value":{"value":7,"type":"number"}}]]`,
			`{"a":["x"]}`, `{"a":true}`,
		},
		"sensitive below a value": {
			`{"a":"x"}`, `[[{"type":"get_attr","value":"a"},{"type":"get_attr","value":"b"}],[{"type":"get_attr","value":"a"}]]`,
			`{"a":"x"}`, `{"a":true}`,
		},
	}
	data := stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "terraform_data"}}
	got, err := Decode(tfstate.Object{
		Addr: data, Attributes: json.RawMessage(`{"store":{"output":{"value":"v","type":"string"},"version":{"value":{"value":"x","type":"string"},` +
			`"type":["object",{"value":"string","type":"string"}]}}}`),
	})
	want := map[string]any{"store": map[string]any{"output": "v", "version": map[string]any{"value": "x", "type": "string"}}}
	if diff := cmp.Diff(want, got.Values); diff != "" || err != nil {
		t.Errorf("the block store: error %v, (-want +got)\n%s", err, diff)
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := Decode(tfstate.Object{
				Attributes: json.RawMessage(test.attributes), SensitiveAttributes: json.RawMessage(test.sensitive),
			})
			if err != nil {
				t.Fatal(err)
			}
			for what, pair := range map[string][2]any{"values": {test.wantValues, got.Values}, "sensitive": {test.wantSensitive, got.Sensitive}} {
				encoded, err := json.Marshal(pair[1])
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(normal(t, pair[0].(string)), normal(t, string(encoded))); diff != "" {
					t.Errorf("%s (-want +got):\n%s", what, diff)
				}
			}
		})
	}
}

func normal(t *testing.T, text string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func TestDecodeErrors(t *testing.T) {
	for name, object := range map[string]tfstate.Object{
		"attributes":   {Attributes: json.RawMessage(`[]`)},
		"no list":      {SensitiveAttributes: json.RawMessage(`{}`)},
		"key of a set": {SensitiveAttributes: json.RawMessage(`[[{"type":"index","value":{"value":true,"type":"bool"}}]]`)},
		"no key":       {SensitiveAttributes: json.RawMessage(`[[{"type":"index","value":3}]]`)},
	} {
		t.Run(name, func(t *testing.T) {
			if got, err := Decode(object); err == nil {
				t.Errorf("Decode gives %v, want an error", got)
			}
		})
	}
}
