// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
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
	for name, test := range map[string]struct {
		plan, want []string
		prior      []string // like the plans, of the records in the state
	}{
		"creates wait for what they require": {
			plan: []string{"a create", "b create requires a", "c update requires a b"},
			want: []string{"", "a", "a b"},
		},
		"deletes wait for what requires them": {
			plan: []string{"a delete", "b delete requires a", "c forget requires b"},
			want: []string{"b", "c", ""},
		},
		"all instances": {
			plan: []string{"a[x] create", "a[y] no-op", "b[x] create requires a", "b[y] create requires a"},
			want: []string{"", "", `a["x"] a["y"]`, `a["x"] a["y"]`},
		},
		"what stays does not wait for what is removed": {
			plan: []string{"a delete", "b create requires a"},
			want: []string{"b", ""},
		},
		"what is removed does not wait for what it requires": {
			plan: []string{"a update", "b delete requires a"},
			want: []string{"", ""},
		},
		"only one of two that require each other waits": {
			plan: []string{"a delete requires b", "b delete requires a"},
			want: []string{"", "a"},
		},
		"what the plan does not have": {
			plan: []string{"a create requires z", "b delete requires z"},
			want: []string{"", ""},
		},
		"what is removed waits for what has required it": {
			plan:  []string{"a delete", "b update", "c delete requires d", "d update"},
			prior: []string{"b update requires a", "c update requires d", "d update requires c"},
			want:  []string{"b", "", "d", ""},
		},
		"the state decides which of two waits": {
			plan:  []string{"a delete requires b", "b delete"},
			prior: []string{"b update requires a"},
			want:  []string{"b", ""},
		},
		"three that have required each other": {
			plan:  []string{"a delete", "b delete", "c delete"},
			prior: []string{"a update requires b", "b update requires c", "c update requires a"},
			want:  []string{"", "a", "b"},
		},
		"what is only looked at": {
			plan: []string{"a[x] no-op requires b", "a[y] no-op", "b no-op requires a"},
			want: []string{"", "", `a["x"] a["y"]`},
		},
		"instances of a component that requires itself": {
			plan:  []string{"a[x] delete requires a", "a[y] update"},
			prior: []string{"a[x] update requires a"},
			want:  []string{"", ""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			plan := &stackplan.Plan{}
			for _, line := range test.plan {
				plan.Components = append(plan.Components, planned(t, line))
			}
			prior := stackstate.New()
			for _, line := range test.prior {
				record := planned(t, line)
				prior.Components[record.Addr] = &stackstate.Component{Addr: record.Addr, Dependencies: record.Requires}
			}
			order := newOrder(plan, prior)
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

// Whatever the plan and the state say, nothing waits for itself in the end, and removed components
// wait for those that stay.
func TestNoCycles(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2)) //nolint:gosec // not for secrets
	for range 500 {
		plan, prior := &stackplan.Plan{}, stackstate.New()
		requires := func() []stackaddrs.AbsComponent {
			var some []stackaddrs.AbsComponent
			for _, name := range strings.Fields("a b c d e f") {
				if random.IntN(3) == 0 {
					some = append(some, component(name))
				}
			}
			return some
		}
		for _, instance := range strings.Fields("a[x] a[y] b c[x] c[y] d e[x] e[y] f") {
			action := []string{"update", "delete", "forget"}[random.IntN(3)]
			c := planned(t, instance+" "+action)
			c.Requires = requires()
			plan.Components = append(plan.Components, c)
			prior.Components[c.Addr] = &stackstate.Component{Addr: c.Addr, Dependencies: requires()}
		}
		order := newOrder(plan, prior)
		before := make(map[stackaddrs.AbsComponentInstance][]stackaddrs.AbsComponentInstance)
		for _, c := range plan.Components {
			before[c.Addr] = order.predecessors(c)
			for _, user := range plan.Components {
				uses := slices.Contains(prior.Components[user.Addr].Dependencies, stackaddrs.ComponentOf(c.Addr))
				if ends(c) && !ends(user) && uses && !slices.Contains(before[c.Addr], user.Addr) {
					t.Fatalf("%s does not wait for %s, which uses it and stays", c.Addr, user.Addr)
				}
			}
		}
		groups := reference.Groups(maps.Keys(before), func(addr stackaddrs.AbsComponentInstance) []stackaddrs.AbsComponentInstance {
			return before[addr]
		})
		if len(groups) != len(plan.Components) {
			t.Fatalf("there is a cycle in %v", before)
		}
		for addr, others := range before {
			if slices.Contains(others, addr) {
				t.Fatalf("%s waits for itself", addr)
			}
		}
	}
}

func TestDependents(t *testing.T) {
	plan := &stackplan.Plan{}
	for _, line := range []string{"a create", "b[x] create requires a", "b[y] create requires a", "c delete requires a b"} {
		plan.Components = append(plan.Components, planned(t, line))
	}
	got := newOrder(plan, stackstate.New()).dependents[component("a")]
	if want := []stackaddrs.AbsComponent{component("b"), component("c")}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// Changes with events are counted by these, and those without by the plan.
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
	done.count(engine.Event{Type: engine.ActionStart, Resource: "x.made"})
	done.count(engine.Event{Type: engine.ActionComplete, Resource: "x.made"})
	done.count(engine.Event{Type: engine.ActionErrored, Resource: "x.made"})
	if got, want := done.of(plan), (stackplan.Counts{Add: 1, Remove: 1, Move: 1, Forget: 1, Invoke: 1, InvokeFailed: 1}); got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
}
