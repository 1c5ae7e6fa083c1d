// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackaddrs

import (
	"slices"
	"strings"
	"testing"
)

func TestParseMoveable(t *testing.T) {
	for _, text := range []string{
		`component.a`, `component.a["k"]`, `component.a[0]`, `stack.x`, `stack.x["k"]`, `stack.x["k"].component.a["l"]`,
		`stack.x.stack.y[1]`, `stack.x["a.b"].stack.y`,
	} {
		got, err := ParseMoveable(text)
		if err != nil || got.String() != text {
			t.Errorf("ParseMoveable(%q) = %q, %v; want the same text (rule A3)", text, got, err)
		}
	}
	for _, text := range []string{
		``, `component`, `component.a.b`, `component.a[*]`, `stack.x.var.y`, `module.a`,
		`component.a["k"]["l"]`, `stack`,
	} {
		if got, err := ParseMoveable(text); err == nil {
			t.Errorf("ParseMoveable(%q) = %q; want an error", text, got)
		}
	}
}

func mustMove(t *testing.T, from, to string) Move {
	t.Helper()
	parse := func(text string) Moveable {
		m, err := ParseMoveable(text)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	return Move{parse(from), parse(to)}
}

func TestMoveRename(t *testing.T) {
	tests := map[string]struct {
		from, to string
		renames  map[string]string // "" for an address that no move concerns
	}{
		"whole component": {`component.a`, `component.b`, map[string]string{
			`component.a`: `component.b`, `component.a["k"]`: `component.b["k"]`, `component.b`: ``, `stack.x.component.a`: ``,
		}},
		"gains for_each": {`component.a`, `component.b["k"]`, map[string]string{
			`component.a`: `component.b["k"]`, `component.a["k"]`: ``, `component.b["k"]`: ``,
		}},
		"loses for_each": {`component.a["k"]`, `component.a`, map[string]string{
			`component.a["k"]`: `component.a`, `component.a["l"]`: ``, `component.a`: ``,
		}},
		"into a stack": {`component.a`, `stack.x["1"].component.b`, map[string]string{
			`component.a["k"]`: `stack.x["1"].component.b["k"]`, `component.a`: `stack.x["1"].component.b`,
		}},
		"whole stack": {`stack.x`, `stack.y`, map[string]string{
			`stack.x.component.a`: `stack.y.component.a`, `stack.x["1"].stack.z["2"].component.a["k"]`: `stack.y["1"].stack.z["2"].component.a["k"]`,
			`stack.z.stack.x.component.a`: ``, `component.x`: ``,
		}},
		"one stack instance": {`stack.x["1"]`, `stack.x["2"]`, map[string]string{
			`stack.x["1"].component.a["k"]`: `stack.x["2"].component.a["k"]`, `stack.x["3"].component.a`: ``, `stack.x.component.a`: ``,
		}},
		"stack into a stack": {`stack.x`, `stack.y["1"].stack.z`, map[string]string{
			`stack.x["k"].component.a`: `stack.y["1"].stack.z["k"].component.a`,
		}},
		"stack inside of a stack": {`stack.x["1"].stack.y`, `stack.y["1"]`, map[string]string{
			`stack.x["1"].stack.y.component.a`: `stack.y["1"].component.a`, `stack.x["2"].stack.y.component.a`: ``,
		}},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			move := mustMove(t, test.from, test.to)
			if err := move.Check(); err != nil {
				t.Errorf("Check() = %v", err)
			}
			for text, want := range test.renames {
				addr, err := ParseAbsComponentInstance(text)
				if err != nil {
					t.Fatal(err)
				}
				got, ok := move.Rename(addr)
				if ok != (want != "") || ok && got.String() != want {
					t.Errorf("Rename(%s) = %s, %t; want %q", text, got, ok, want)
				}
				back := Move{move.To, move.From}
				if ok {
					if again, ok := back.Rename(got); !ok || again != addr {
						t.Errorf("the reverse of the move takes %s to %s, %t; want %s", got, again, ok, addr)
					}
				}
			}
		})
	}
}

func TestMoveCheck(t *testing.T) {
	tests := map[string]struct{ from, to, want string }{
		"same":                 {`component.a["k"]`, `component.a["k"]`, `component.a["k"] would stay where it is`},
		"kinds":                {`component.a`, `stack.a`, `component.a is a component and stack.a a stack, and neither can become the other`},
		"into itself":          {`stack.x`, `stack.x.stack.y`, `stack.x would be inside of itself`},
		"into one of its own":  {`stack.x`, `stack.x["k"].stack.y.stack.z`, `stack.x would be inside of itself`},
		"instance into itself": {`stack.x["k"]`, `stack.x["k"].stack.y`, `stack.x["k"] would be inside of itself`},
		"into a sibling":       {`stack.x["k"]`, `stack.x["l"].stack.y`, ``},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got := ""
			if err := mustMove(t, test.from, test.to).Check(); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("Check() = %q, want %q", got, test.want)
			}
		})
	}
}

func TestMoveWithin(t *testing.T) {
	stack, err := ParseStackInstance(`stack.outer["k"].stack.inner`)
	if err != nil {
		t.Fatal(err)
	}
	got := mustMove(t, `stack.x.component.a`, `component.b`).Within(stack)
	want := mustMove(t, `stack.outer["k"].stack.inner.stack.x.component.a`, `stack.outer["k"].stack.inner.component.b`)
	if got != want {
		t.Errorf("Within(%s) = %v, want %v", stack, got, want)
	}
	if !strings.HasPrefix(got.From.String(), stack.String()+".") {
		t.Errorf("%s does not begin with %s", got.From, stack)
	}
}

func TestMovesFollow(t *testing.T) {
	// Each move begins with the stack that declares it, if that is not the root.
	tests := map[string]struct {
		moves   []string
		follows map[string]string // to the address in the end; "cycle" for moves that lead back
	}{
		"chain": {
			[]string{`component.b to component.c`, `component.a to component.b`},
			map[string]string{`component.a`: `component.c`, `component.b["k"]`: `component.c["k"]`, `component.c`: `component.c`},
		},
		"for_each gained, then renamed": {
			[]string{`component.a to component.a["x"]`, `component.a to component.b`},
			map[string]string{`component.a`: `component.b["x"]`, `component.a["y"]`: `component.b["y"]`},
		},
		"renamed, then for_each gained": {
			[]string{`component.a to component.b`, `component.b to component.b["x"]`},
			map[string]string{`component.a`: `component.b["x"]`, `component.b`: `component.b["x"]`},
		},
		"component of a stack that moves": {
			[]string{`stack.x to stack.y`, `stack.x.component.a to component.a`},
			map[string]string{`stack.x.component.a`: `component.a`, `stack.x.component.b`: `stack.y.component.b`},
		},
		"declared in the stack that moves": {
			[]string{`stack.x to stack.y`, `stack.y: component.a to component.b`},
			map[string]string{`stack.x["k"].component.a`: `stack.y["k"].component.b`, `stack.y["l"].component.a`: `stack.y["l"].component.b`},
		},
		"declared in a stack of which one instance moves": {
			[]string{`stack.x["1"] to stack.x["2"]`, `stack.x: component.a to component.b`},
			map[string]string{`stack.x["1"].component.a`: `stack.x["2"].component.b`, `stack.x["3"].component.a`: `stack.x["3"].component.b`},
		},
		"only in the stack that declares it": {
			[]string{`stack.x: component.a to component.b`},
			map[string]string{
				`component.a`: `component.a`, `stack.x.stack.x.component.a`: `stack.x.stack.x.component.a`,
				`stack.x[0].component.a`: `stack.x[0].component.b`,
			},
		},
		"into a stack that moves": {
			[]string{`component.a to stack.x.component.a`, `stack.x to stack.y`},
			map[string]string{`component.a`: `stack.y.component.a`},
		},
		"cycle": {
			[]string{`component.a to component.b`, `component.b to component.a`},
			map[string]string{`component.a`: `cycle`, `component.b["k"]`: `cycle`, `component.c`: `component.c`},
		},
		"cycle through a stack": {
			[]string{`stack.x to stack.y`, `stack.y.component.a to stack.x.component.a`},
			map[string]string{`stack.x.component.a`: `cycle`, `stack.x.component.b`: `stack.y.component.b`},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var moves Moves
			for _, text := range test.moves {
				declared := DeclaredMove{}
				if in, rest, ok := strings.Cut(text, ": "); ok {
					stack, err := ParseStackInstance(in)
					if err != nil {
						t.Fatal(err)
					}
					declared.Stack, text = stack.Config(), rest
				}
				from, to, _ := strings.Cut(text, " to ")
				declared.Move = mustMove(t, from, to)
				moves = append(moves, declared)
			}
			for range 2 { // the order of the blocks does not matter
				for text, want := range test.follows {
					addr, err := ParseAbsComponentInstance(text)
					if err != nil {
						t.Fatal(err)
					}
					end, by, ok := moves.Follow(addr)
					got := end.String()
					if !ok {
						got = "cycle"
					}
					if got != want || (end == addr && ok) != (len(by) == 0) {
						t.Errorf("Follow(%s) = %s, by %v; want %s", text, got, by, want)
					}
				}
				slices.Reverse(moves)
			}
		})
	}
}
