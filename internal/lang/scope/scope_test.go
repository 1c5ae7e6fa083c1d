// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package scope

import (
	"testing"

	"github.com/zclconf/go-cty/cty"
)

func TestTable(t *testing.T) {
	one, two := cty.StringVal("one"), cty.StringVal("two")
	table := Table{}
	table.Set(one, "var", "a")
	table.Set(two, "var", "b")
	table.Set(two, "store", "varset", "s", "stable", "k")
	whole := cty.ObjectVal(map[string]cty.Value{"in": one})
	table.Set(whole, "self")
	table.Set(two, "self", "in") // leads into the whole
	want := map[string]cty.Value{
		"var": cty.ObjectVal(map[string]cty.Value{"a": one, "b": two}),
		"store": cty.ObjectVal(map[string]cty.Value{"varset": cty.ObjectVal(map[string]cty.Value{
			"s": cty.ObjectVal(map[string]cty.Value{"stable": cty.ObjectVal(map[string]cty.Value{"k": two})}),
		})}),
		"self": whole,
	}
	got := table.Variables()
	if len(got) != len(want) {
		t.Errorf("there are %d variables, want %d", len(got), len(want))
	}
	for name, value := range want {
		if got[name] == cty.NilVal || !got[name].RawEquals(value) {
			t.Errorf("%s is %#v, want %#v", name, got[name], value)
		}
	}
}
