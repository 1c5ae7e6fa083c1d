// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// stateOf makes a state of lines like `component.a["k"] -> component.b`: the instance requires the
// component behind the arrow.
func stateOf(t *testing.T, lines ...string) *State {
	t.Helper()
	s := New()
	for _, line := range lines {
		text, requires, _ := strings.Cut(line, " -> ")
		addr := componentAddr(t, text)
		c := &Component{
			Addr:    addr,
			Inputs:  map[string]cty.Value{"in": cty.StringVal(text)},
			Outputs: map[string]cty.Value{"out": cty.StringVal(text)},
			Module: engine.State(`{"version":4,"serial":1,"lineage":"l-` + strings.ReplaceAll(text, `"`, ``) + `","outputs":{},"resources":[` +
				`{"mode":"managed","type":"t","name":"n","provider":"provider[\"registry.terraform.io/acme/fake\"].alias","instances":[{"schema_version":0,"attributes":{}}]}]}`),
		}
		for _, name := range strings.Fields(requires) {
			c.Dependencies = append(c.Dependencies, stackaddrs.ComponentOf(componentAddr(t, name)))
		}
		s.Components[addr] = c
	}
	for _, c := range s.SortedComponents() {
		for _, required := range c.Dependencies {
			for _, other := range s.Components {
				if dependent := stackaddrs.ComponentOf(c.Addr); stackaddrs.ComponentOf(other.Addr) == required &&
					!slices.Contains(other.Dependents, dependent) {
					other.Dependents = append(other.Dependents, dependent)
				}
			}
		}
	}
	return s
}

// describe writes a state as stateOf reads it, with the former address of each instance and its
// dependents.
func describe(s *State) []string {
	names := func(addrs []stackaddrs.AbsComponent) string {
		var texts []string
		for _, addr := range addrs {
			texts = append(texts, addr.String())
		}
		return strings.Join(texts, " ")
	}
	var lines []string
	for _, c := range s.SortedComponents() {
		lines = append(lines, c.Addr.String()+" (was "+c.Outputs["out"].AsString()+") -> "+names(c.Dependencies)+" <- "+names(c.Dependents))
	}
	return lines
}

func move(t *testing.T, text string) stackaddrs.Move {
	t.Helper()
	from, to, _ := strings.Cut(text, " to ")
	var m stackaddrs.Move
	var err, toErr error
	m.From, err = stackaddrs.ParseMoveable(from)
	m.To, toErr = stackaddrs.ParseMoveable(to)
	if err := errors.Join(err, toErr); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRename(t *testing.T) {
	tests := map[string]struct {
		state []string
		move  string
		want  []string
	}{
		"component with dependents": {
			[]string{`component.a`, `component.b -> component.a`, `component.c -> component.a component.b`},
			`component.a to component.z`,
			[]string{
				`component.b (was component.b) -> component.z <- component.c`,
				`component.c (was component.c) -> component.b component.z <- `,
				`component.z (was component.a) ->  <- component.b component.c`,
			},
		},
		"one instance of two": {
			[]string{`component.a["1"]`, `component.a["2"]`, `component.b -> component.a`},
			`component.a["1"] to component.z`,
			[]string{
				`component.a["2"] (was component.a["2"]) ->  <- component.b`,
				`component.b (was component.b) -> component.a component.z <- `,
				`component.z (was component.a["1"]) ->  <- component.b`,
			},
		},
		"the last instance": {
			[]string{`component.a["1"]`, `component.b -> component.a`},
			`component.a["1"] to component.z`,
			[]string{`component.b (was component.b) -> component.z <- `, `component.z (was component.a["1"]) ->  <- component.b`},
		},
		"for_each gained": {
			[]string{`component.a`, `component.b -> component.a`},
			`component.a to component.a["k"]`,
			[]string{`component.a["k"] (was component.a) ->  <- component.b`, `component.b (was component.b) -> component.a <- `},
		},
		"joined with another component": {
			[]string{`component.a["1"]`, `component.z["2"]`, `component.b -> component.a component.z`},
			`component.a["1"] to component.z["1"]`,
			[]string{
				`component.b (was component.b) -> component.z <- `,
				`component.z["1"] (was component.a["1"]) ->  <- component.b`,
				`component.z["2"] (was component.z["2"]) ->  <- component.b`,
			},
		},
		"joined with what requires it": {
			[]string{`component.a["1"]`, `component.b["2"] -> component.a`},
			`component.a["1"] to component.b["1"]`,
			[]string{`component.b["1"] (was component.a["1"]) ->  <- `, `component.b["2"] (was component.b["2"]) ->  <- `},
		},
		"stack with what is in it": {
			[]string{
				`stack.x["1"].component.a`, `stack.x["1"].component.b -> stack.x["1"].component.a`, `stack.x["2"].component.a`,
				`component.c -> stack.x["1"].component.b stack.x["2"].component.a`,
			},
			`stack.x to stack.y`,
			[]string{
				`component.c (was component.c) -> stack.y["1"].component.b stack.y["2"].component.a <- `,
				`stack.y["1"].component.a (was stack.x["1"].component.a) ->  <- stack.y["1"].component.b`,
				`stack.y["1"].component.b (was stack.x["1"].component.b) -> stack.y["1"].component.a <- component.c`,
				`stack.y["2"].component.a (was stack.x["2"].component.a) ->  <- component.c`,
			},
		},
		"out of a stack": {
			[]string{`stack.x.component.a`, `stack.x.component.b -> stack.x.component.a`},
			`stack.x.component.a to component.a`,
			[]string{
				`component.a (was stack.x.component.a) ->  <- stack.x.component.b`,
				`stack.x.component.b (was stack.x.component.b) -> component.a <- `,
			},
		},
		"nothing there": {
			[]string{`component.a`}, `component.b to component.c`, []string{`component.a (was component.a) ->  <- `},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			before := stateOf(t, test.state...)
			described := describe(before)
			renames, err := before.Renames(move(t, test.move))
			if err != nil {
				t.Fatal(err)
			}
			after := before.Renamed(renames)
			if diff := cmp.Diff(test.want, describe(after)); diff != "" {
				t.Errorf("state after %s (-want +got):\n%s", test.move, diff)
			}
			if diff := cmp.Diff(described, describe(before)); diff != "" {
				t.Errorf("the state before has changed (-want +got):\n%s", diff)
			}
			for _, rename := range renames {
				old, now := before.Components[rename.From], after.Components[rename.To]
				if string(old.Module) != string(now.Module) || !maps.Equal(old.Inputs, now.Inputs) {
					t.Errorf("%s: its module or its inputs have changed with the address", rename.To)
				}
			}
			checkRoundTrip(t, before, after)
		})
	}
}

// checkRoundTrip applies the records of a change to those of the state before, and reads the
// result.
func checkRoundTrip(t *testing.T, before, after *State) {
	t.Helper()
	records, err := before.Records()
	if err != nil {
		t.Fatal(err)
	}
	changes, err := Diff(before, after)
	if err != nil {
		t.Fatal(err)
	}
	maps.Copy(records, changes)
	read, err := FromRecords(records)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(describe(after), describe(read)); diff != "" {
		t.Errorf("read from the records (-want +got):\n%s", diff)
	}
	for addr, c := range after.Components {
		if string(read.Components[addr].Module) != string(c.Module) {
			t.Errorf("%s: the state of the module was\n%s\nand is read as\n%s", addr, c.Module, read.Components[addr].Module)
		}
	}
}

func TestRenameToOccupiedAddress(t *testing.T) {
	for _, text := range []string{
		`component.a to component.b`, `component.a to component.c["k"]`, `stack.x to stack.y`, `stack.x.component.a to component.b`,
	} {
		s := stateOf(t, `component.a`, `component.b`, `component.c["k"]`, `stack.x.component.a`, `stack.y.component.a`)
		_, err := s.Renames(move(t, text))
		occupied, ok := errors.AsType[*OccupiedError](err)
		if !ok || s.Components[occupied.From] == nil || s.Components[occupied.To] == nil {
			t.Errorf("Renames(%s) = %v, want an *OccupiedError with two addresses of the state", text, err)
		}
	}
}
