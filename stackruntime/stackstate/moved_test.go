// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"maps"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// A resource that was applied sets its own record; one that has also moved deletes that of its old
// address.
func TestRow247AppliedResources(t *testing.T) {
	addr := componentAddr(t, "component.c")
	with := func(name, value string) *Component {
		return &Component{Addr: addr, Module: engine.State(`{"version":4,"serial":1,"lineage":"l","outputs":{},"resources":[` +
			`{"mode":"managed","type":"t","name":"` + name + `","provider":"provider[\"registry.terraform.io/acme/fake\"]",` +
			`"instances":[{"schema_version":0,"attributes":{"v":"` + value + `"}}]}]}`)}
	}
	for name, test := range map[string]struct {
		after *Component
		want  map[string]bool // whether the key is set or deleted
	}{
		"updated": {with("a", "2"), map[string]bool{"RSRCcomponent.c,t.a,cur": true}},
		"moved":   {with("b", "1"), map[string]bool{"RSRCcomponent.c,t.a,cur": false, "RSRCcomponent.c,t.b,cur": true}},
		"same":    {with("a", "1"), map[string]bool{}},
		"gone":    {nil, map[string]bool{"RSRCcomponent.c,t.a,cur": false, "CMPTcomponent.c": false}},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := ComponentRecords(with("a", "1"), test.after)
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]bool{}
			for key, value := range changes {
				got[key] = value != nil
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("keys %v (-want +got):\n%s", slices.Sorted(maps.Keys(changes)), diff)
			}
		})
	}
}
