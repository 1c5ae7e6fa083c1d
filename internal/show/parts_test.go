// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Reports have planned changes by component, and none where nothing is known.
func TestReportsOfParts(t *testing.T) {
	summary := Summary{
		View:     View{Name: func(n int) string { return []string{"app", "dns", "old"}[n] }},
		Command:  []string{"plan"},
		Results:  []order.Result{{State: order.Succeeded}, {State: order.Succeeded}, {State: order.Succeeded}},
		Times:    make([]Times, 3),
		Sequence: []int{0, 1, 2},
		Details: []Detail{
			{Parts: []Part{{
				Component: `component.a["<x>"]`, Changes: stackplan.Counts{Add: 2, Remove: 1, Defer: 1}, Replace: 1, Deferred: []string{"fake_a.b"},
			}}},
			{Parts: []Part{{Changes: stackplan.Counts{Change: 3}}}},
			{},
		},
	}
	json, err := summary.JSON()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"component": "component.a[\"<x>\"]"`, `"replace": 1`, `"deferred": [`, `"fake_a.b"`} {
		if !strings.Contains(string(json), want) {
			t.Errorf("the JSON report lacks %s:\n%s", want, json)
		}
	}
	if n := strings.Count(string(json), `"components"`); n != 2 {
		t.Errorf("%d results have components, want 2:\n%s", n, json)
	}
	junit, err := summary.JUnit()
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`<property name="component.a[&#34;&lt;x&gt;&#34;]" value="2 to add, 0 to change, 1 to destroy, 1 of them to replace, ` +
			`1 deferred: fake_a.b"></property>`,
		`<property name="plan" value="0 to add, 3 to change, 0 to destroy"></property>`,
	} {
		if !strings.Contains(string(junit), want) {
			t.Errorf("the JUnit report lacks %s:\n%s", want, junit)
		}
	}
	if names, err := Unfinished(junit); err != nil || len(names) > 0 {
		t.Errorf("Unfinished says %v, %v of the JUnit report", names, err)
	}
}
