// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// removedScope has the values for the indexes of the test below.
var removedScope = &hcl.EvalContext{Variables: map[string]cty.Value{
	"each": cty.ObjectVal(map[string]cty.Value{
		"key": cty.StringVal("K"),
		"value": cty.ObjectVal(map[string]cty.Value{
			"attribute": cty.StringVal("A"),
			"k":         cty.ObjectVal(map[string]cty.Value{"attribute": cty.StringVal("KA")}),
			"name":      cty.StringVal("N"),
		}),
	}),
	"local": cty.ObjectVal(map[string]cty.Value{"key": cty.StringVal("name"), "object": cty.StringVal("k")}),
}}

// Both syntaxes mean the same.
func TestRowsRemovedFrom(t *testing.T) {
	for _, test := range []struct {
		row, from, want string
	}{
		{"007", `stack.a`, `stack.a`},
		{"007", `stack.a["k"]`, `stack.a["k"]`},
		{"008", `stack.a.stack.b`, `stack.a.stack.b`},
		{"009", `stack.a[each.key].stack.b`, `stack.a["K"].stack.b`},
		{"009", `stack.a.stack.b[each.key]`, `stack.a.stack.b["K"]`},
		{"010", `component.c`, `component.c`},
		{"011", `component.c[0]`, `component.c[0]`},
		{"011", `component.c["k"]`, `component.c["k"]`},
		{"011", `component.c["${each.key}-x"]`, `component.c["K-x"]`},
		{"012", `component.c[each.key]`, `component.c["K"]`},
		{"012", `component.c[each.value.attribute]`, `component.c["A"]`},
		{"012", `component.c[each.value["name"]]`, `component.c["N"]`},
		{"012", `component.c[each.value["k"].attribute]`, `component.c["KA"]`},
		{"013", `component.c[each.value[local.key]]`, `component.c["N"]`},
		{"013", `component.c[each.value[local.object].attribute]`, `component.c["KA"]`},
		{"014", `stack.s.component.c`, `stack.s.component.c`},
		{"014", `stack.p.stack.c.component.x`, `stack.p.stack.c.component.x`},
		{"014", `stack.stack.component.component`, `stack.stack.component.component`},
		{"015", `stack.s[0].component.c`, `stack.s[0].component.c`},
		{"015", `stack.s.component.c["k"]`, `stack.s.component.c["k"]`},
		{"015", `stack.s[each.key].component.c[each.value.name]`, `stack.s["K"].component.c["N"]`},
	} {
		quoted, err := json.Marshal(test.from)
		if err != nil {
			t.Fatal(err)
		}
		for name, src := range map[string]string{
			"main.tfcomponent.hcl":  fmt.Sprintf("removed {\n  from = %s\n  source = \"../m\"\n}\n", test.from),
			"main.tfcomponent.json": fmt.Sprintf(`{"removed": {"from": %s, "source": "../m"}}`, quoted),
		} {
			t.Run(test.row+"_"+test.from+"_in_"+name, func(t *testing.T) {
				cfg, diags := load(inMemory(map[string]string{"/s/" + name: src, "/m/main.tf": ""}), "/s")
				for _, diag := range diags {
					if diag.Summary != "Removal target lies in a missing stack" {
						t.Errorf("%s: %s", diag.Summary, diag.Detail)
					}
				}
				if len(cfg.Root.Removed) != 1 {
					t.Fatal("the block was left out")
				}
				if got := evaluateFrom(t, cfg.Root.Removed[0].From); got != test.want {
					t.Errorf("got %s, want %s", got, test.want)
				}
			})
		}
	}
}

func evaluateFrom(t *testing.T, from *RemovedFrom) string {
	t.Helper()
	key := func(step RemovedStep) stackaddrs.InstanceKey {
		if step.Index == nil {
			return stackaddrs.NoKey
		}
		v, diags := step.Index.Value(removedScope)
		key, ok := stackaddrs.KeyFromValue(v)
		if diags.HasErrors() || !ok {
			t.Errorf("the index of %s is %#v: %s", step.Name, v, diags)
		}
		return key
	}
	stack := stackaddrs.RootStackInstance
	for _, step := range from.Stacks {
		stack = stack.Child(step.Name, key(step))
	}
	if from.Component == nil {
		return stack.String()
	}
	component := stackaddrs.ComponentInstance{Component: stackaddrs.Component{Name: from.Component.Name}, Key: key(*from.Component)}
	return stackaddrs.AbsComponentInstance{Stack: stack, Item: component}.String()
}
