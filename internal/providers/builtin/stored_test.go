// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package builtin

import (
	"testing"

	ctyjson "github.com/zclconf/go-cty/cty/json"
)

// Objects that are read the short way are equal to those that the library reads, and most objects
// are read that way.
func TestUsualData(t *testing.T) {
	for text, usual := range map[string]bool{
		`{"id":"a","input":null,"output":null,"triggers_replace":null}`:                                                                                                             true,
		`{"id":"a","input":{"value":"x\u00e9\n","type":"string"},"output":{"type":"string","value":"é"},"triggers_replace":null}`:                                                   true,
		`{"id":"a","input":null,"output":null,"triggers_replace":null,"store":null}`:                                                                                                true,
		`{"id":"a","input":null,"output":null,"triggers_replace":null,"store":{"input":null,"output":null,"replace":null,"sensitive":null,"sensitive_output":null,"version":null}}`: false,
		`{"id":null,"input":{"value":null,"type":"string"},"output":null,"triggers_replace":null}`:                                                                                  false,
		`{"id":"a","input":{"value":1,"type":"number"},"output":null,"triggers_replace":null}`:                                                                                      false,
		`{"id":"a","input":{"value":1,"type":"string"},"output":null,"triggers_replace":null}`:                                                                                      false,
		`{"id":"a","input":{"value":["x"],"type":["list","string"]},"output":null,"triggers_replace":null}`:                                                                         false,
		`{"id":1,"input":null,"output":null,"triggers_replace":null}`:                                                                                                               false,
		`{"id":"a","input":"x","output":null,"triggers_replace":null}`:                                                                                                              false,
		`{"id":"a","input":null,"output":null}`:                                                                                                                                     false,
		`{"id":"a","input":null,"output":null,"other":null}`:                                                                                                                        false,
		`null`: false,
		`[]`:   false,
	} {
		got, ok := usualData([]byte(text))
		if ok != usual {
			t.Errorf("%s: read %t, want %t", text, ok, usual)
		}
		want, err := ctyjson.Unmarshal([]byte(text), dataObject)
		if ok && (err != nil || !got.RawEquals(want) || !got.Type().Equals(want.Type())) {
			t.Errorf("%s: got %#v, want %#v (%v)", text, got, want, err)
		}
	}
}
