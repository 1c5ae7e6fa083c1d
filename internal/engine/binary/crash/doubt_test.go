// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package crash

import (
	"fmt"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// stateWith returns a state with these objects of type t: "name" stands for id "name" and value
// "old", "name=value" for another value.
func stateWith(objects ...string) engine.State {
	var resources []string
	for _, object := range objects {
		name, value, ok := strings.Cut(object, "=")
		if !ok {
			value = "old"
		}
		resources = append(resources, fmt.Sprintf(`{"mode":"managed","type":"t","name":%q,"provider":"provider[\"r/n/t\"]",
			"instances":[{"schema_version":0,"attributes":{"id":%q,"value":%q}}]}`, name, name, value))
	}
	return engine.State(`{"version":4,"serial":1,"lineage":"l","resources":[` + strings.Join(resources, ",") + `]}`)
}

func TestDoubts(t *testing.T) {
	hook := func(action, name, id string) *runner.Hook {
		return &runner.Hook{Resource: runner.Resource{Addr: "t." + name}, Action: action, IDKey: "id", IDValue: id}
	}
	begin := func(action, name, id string) runner.Event {
		return runner.Event{Type: runner.EventApplyStart, Hook: hook(action, name, id)}
	}
	complete := func(action, name, id string) runner.Event {
		return runner.Event{Type: runner.EventApplyComplete, Hook: hook(action, name, id)}
	}
	for name, test := range map[string]struct {
		before, now engine.State
		events      []runner.Event
		want        string
	}{
		"nothing": {stateWith("a"), stateWith("a"), nil, ""},
		"finished and recorded": {
			stateWith("u", "d"), stateWith("c", "u=new"),
			[]runner.Event{complete("create", "c", "c"), complete("update", "u", "u"), complete("delete", "d", "")},
			"",
		},
		"finished and not recorded": {
			stateWith("u", "d"), stateWith("u", "d"),
			[]runner.Event{complete("create", "c", "c"), complete("update", "u", "u"), complete("delete", "d", "")},
			"create t.c (id c) done; update t.u (id u) done; delete t.d done",
		},
		"recorded by another state than that of the last event": {
			nil, stateWith("c"), []runner.Event{complete("create", "c", "c"), complete("create", "later", "x")}, "create t.later (id x) done",
		},
		"begun": {
			stateWith("u", "d"), stateWith("u", "d"),
			[]runner.Event{begin("create", "c", ""), begin("update", "u", "u"), begin("delete", "d", "d")},
			"create t.c; update t.u (id u); delete t.d (id d)",
		},
		"begun and recorded before its end was said": {
			stateWith("u", "d"), stateWith("c", "u=new"),
			[]runner.Event{begin("create", "c", ""), begin("update", "u", "u"), begin("delete", "d", "d")},
			"",
		},
		"provisioner going on": {
			nil, stateWith("c"),
			[]runner.Event{begin("create", "c", ""), {Type: runner.EventProvisionStart, Hook: hook("", "c", "")}},
			"create t.c",
		},
		"ended with an error": {
			nil, nil, []runner.Event{begin("create", "c", ""), {Type: runner.EventApplyErrored, Hook: hook("create", "c", "")}}, "",
		},
		"replaced": {
			stateWith("r"), stateWith("r"),
			[]runner.Event{begin("delete", "r", "r"), complete("delete", "r", ""), begin("create", "r", "")},
			"delete t.r done; create t.r",
		},
		"read": {nil, nil, []runner.Event{begin("read", "c", "")}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			var log Log
			for _, ev := range test.events {
				log.Event(ev)
			}
			var got []string
			for _, d := range log.Doubts(test.before, test.now) {
				text := d.String()
				if d.finished {
					text += " done"
				}
				got = append(got, text)
			}
			if text := strings.Join(got, "; "); text != test.want {
				t.Errorf("in doubt: got %q, want %q", text, test.want)
			}
		})
	}
}

// Only the errors of a provider that is gone leave doubt; with others, the provider itself returns
// the present object.
func TestCrashedProviderLeavesDoubts(t *testing.T) {
	var log Log
	for _, name := range []string{"t.crashed", "t.refused"} {
		log.Event(runner.Event{Type: runner.EventApplyErrored, Hook: &runner.Hook{Resource: runner.Resource{Addr: name}, Action: "create"}})
	}
	outcome := &runner.Result{Outcome: runner.OutcomeFailed, Diagnostics: []diagnostic.Diagnostic{
		{Severity: "error", Summary: "Plugin did not respond", Address: "t.crashed"},
		{Severity: "error", Summary: "No such region", Address: "t.refused"},
	}}
	for _, named := range []string{"t.crashed", ""} { // not all errors of that kind name the object
		outcome.Diagnostics[0].Address = named
		if got := Addresses(log.Crashed(outcome)); len(got) != 1 || got[0] != "t.crashed" {
			t.Errorf("in doubt, of an error about %q: got %q, want the object of the provider that has crashed", named, got)
		}
	}
}
