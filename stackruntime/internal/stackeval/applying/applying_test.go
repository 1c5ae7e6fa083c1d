// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planned makes the plan of an instance from a line such as "a[k] delete requires b c".
func planned(t *testing.T, line string) *stackplan.Component {
	t.Helper()
	words := strings.Fields(line)
	name, key, keyed := strings.Cut(words[0], "[")
	instanceKey := stackaddrs.NoKey
	if keyed {
		instanceKey = stackaddrs.StringKey(strings.TrimSuffix(key, "]"))
	}
	actions := map[string]stackplan.Action{
		"create": stackplan.Create, "update": stackplan.Update, "no-op": stackplan.NoOp, "delete": stackplan.Delete, "forget": stackplan.Forget,
	}
	action, ok := actions[words[1]]
	if !ok {
		t.Fatalf("no action in %q", line)
	}
	plan := &stackplan.Component{Addr: stackaddrs.InstanceOf(component(name), instanceKey), Action: action}
	if len(words) > 2 {
		for _, required := range words[3:] {
			plan.Requires = append(plan.Requires, component(required))
		}
	}
	return plan
}

func component(name string) stackaddrs.AbsComponent {
	return stackaddrs.AbsComponent{Stack: stackaddrs.RootStackInstance, Item: stackaddrs.Component{Name: name}}
}

func TestPredecessors(t *testing.T) {
	for name, test := range map[string]struct{ plan, want []string }{
		"creates wait for what they require": {
			[]string{"a create", "b create requires a", "c update requires a b"},
			[]string{"", "a", "a b"},
		},
		"deletes wait for what requires them": {
			[]string{"a delete", "b delete requires a", "c forget requires b"},
			[]string{"b", "c", ""},
		},
		"all instances": {
			[]string{"a[x] create", "a[y] no-op", "b[x] create requires a", "b[y] create requires a"},
			[]string{"", "", `a["x"] a["y"]`, `a["x"] a["y"]`},
		},
		"what stays does not wait for what is removed": {
			[]string{"a delete", "b create requires a"},
			[]string{"b", ""},
		},
		"what is removed does not wait for what it requires": {
			[]string{"a update", "b delete requires a"},
			[]string{"", ""},
		},
		"only one of two that require each other waits": {
			[]string{"a delete requires b", "b delete requires a"},
			[]string{"", "a"},
		},
		"what the plan does not have": {
			[]string{"a create requires z", "b delete requires z"},
			[]string{"", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &stackplan.Plan{}
			for _, line := range test.plan {
				plan.Components = append(plan.Components, planned(t, line))
			}
			order := newOrder(plan)
			for i, c := range plan.Components {
				var got []string
				for _, addr := range order.predecessors(c) {
					got = append(got, strings.TrimPrefix(addr.String(), "component."))
				}
				if text := strings.Join(got, " "); text != test.want[i] {
					t.Errorf("%s waits for %q, want %q", test.plan[i], text, test.want[i])
				}
			}
		})
	}
}

func TestDependents(t *testing.T) {
	plan := &stackplan.Plan{}
	for _, line := range []string{"a create", "b[x] create requires a", "b[y] create requires a", "c delete requires a b"} {
		plan.Components = append(plan.Components, planned(t, line))
	}
	got := newOrder(plan).dependents[component("a")]
	if want := []stackaddrs.AbsComponent{component("b"), component("c")}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// What was done is counted by events, and by the plan what has none.
func TestTally(t *testing.T) {
	change := func(address string, previous string, action engine.Action) *engine.Change {
		c := &engine.Change{Addr: resource(t, address), Action: action}
		if previous != "" {
			c.PreviousAddr = resource(t, previous)
		}
		return c
	}
	plan := &stackplan.Component{Changes: []*engine.Change{
		change("x.made", "", engine.ActionCreate),
		change("x.not_made", "", engine.ActionCreate),
		change("x.moved", "x.before", engine.ActionNoOp),
		change("x.moved_and_not_updated", "x.earlier", engine.ActionUpdate),
		change("x.forgotten", "", engine.ActionForget),
	}}
	var done tally
	done.count(engine.Event{Type: engine.ApplyComplete, Resource: "x.made", Action: "create"})
	done.count(engine.Event{Type: engine.ApplyComplete, Resource: "x.gone", Action: "delete"})
	if got, want := done.of(plan), (stackplan.Counts{Add: 1, Remove: 1, Move: 1, Forget: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
