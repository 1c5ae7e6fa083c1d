// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

func loadGraph(t testing.TB, lines ...string) (*Tree, *order.Graph) {
	t.Helper()
	tree, g, diags := load(t, writeTree(t, lines...))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return tree, g
}

// Line A-19: a stack after a failure is skipped on account of it, unless the options say otherwise.
func TestOrderA19(t *testing.T) {
	_, g := loadGraph(t, `a`, `b after = ["../a"]`, `c`, `d after = ["../b"]`)
	for name, test := range map[string]struct {
		opts order.RunOptions
		want string
	}{
		"by default":          {order.RunOptions{}, "/a failed, /b skipped by /a, /c ok, /d skipped by /a"},
		"--continue-on-error": {order.RunOptions{KeepGoing: true}, "/a failed, /b ok, /c ok, /d ok"},
		"--fail-fast":         {order.RunOptions{FailFast: true}, "/a failed, /b skipped by /a, /c not started, /d skipped by /a"},
	} {
		t.Run(name, func(t *testing.T) {
			results := g.Run(t.Context(), test.opts, func(_ context.Context, n int) error {
				if g.Node(n).Name == "/a" {
					return errors.New("broken")
				}
				return nil
			})
			var got []string
			for n, result := range results {
				words := map[order.State]string{order.Succeeded: "ok", order.Failed: "failed", order.NotStarted: "not started"}
				text := words[result.State]
				if result.State == order.Skipped {
					text = "skipped by " + g.Node(result.Because).Name
				}
				got = append(got, g.Node(n).Name+" "+text)
			}
			if got := strings.Join(got, ", "); got != test.want {
				t.Errorf("results: %s, want %s", got, test.want)
			}
		})
	}
}

// Line A-59, for the sequences of other lines.
func TestOrderA59(t *testing.T) {
	for _, test := range []struct {
		tree []string
		want string
	}{
		{strings.Fields("batatinha frita 1 2 3 boom"), "frita, boom, batatinha, 3, 2, 1"},
		{[]string{`c after = ["../b"]`, `b after = ["../a"]`, `d after = ["../z"]`, `a`, `z`}, "c, d, b, z, a"},
		{strings.Fields("s s/A s/B s/A/AA"), "s/A/AA, s/B, s/A, s"},
	} {
		_, g := loadGraph(t, test.tree...)
		if got := sequence(g.Reverse(), nil); got != test.want {
			t.Errorf("reverse of %s: %s, want %s", sequence(g, nil), got, test.want)
		}
		var ran []string
		g.Reverse().Run(t.Context(), order.RunOptions{}, func(_ context.Context, n int) error {
			ran = append(ran, strings.TrimPrefix(g.Node(n).Name, "/"))
			return nil
		})
		if got := strings.Join(ran, ", "); got != test.want {
			t.Errorf("run in reverse: %s, want %s", got, test.want)
		}
	}
}

// Line A-60: a stack starts as soon as, and not before, all its predecessors are done and there is
// room.
func TestOrderA60(t *testing.T) {
	_, g := loadGraph(t, `a`, `b`, `c after = ["../b"]`, `d after = ["../m"]`, `m after = ["../a"]`, `e after = ["../b", "../c"]`)
	selected := make(order.Selection, g.Len())
	for n := range selected {
		selected[n] = g.Node(n).Name != "/m" // d waits for a through a stack that does not run
	}
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		takes := map[string]time.Duration{"/a": 3 * time.Hour}
		var log []string
		running := 0
		changes := make(chan string, 1) // guards the variables above
		changes <- ""
		note := func(what string, change int) {
			<-changes
			running += change
			if running > 2 {
				t.Errorf("%d run at the same time, want at most 2", running)
			}
			log = append(log, fmt.Sprintf("%dh %s", int(time.Since(begin).Hours()), what))
			changes <- ""
		}
		g.Run(t.Context(), order.RunOptions{Selected: selected, Parallel: 2}, func(_ context.Context, n int) error {
			name := g.Node(n).Name
			note(name+" starts", 1)
			<-time.After(cmp.Or(takes[name], time.Hour))
			note(name+" ends", -1)
			return nil
		})
		slices.Sort(log)
		want := []string{
			"0h /a starts", "0h /b starts", "1h /b ends", "1h /c starts", "2h /c ends", "2h /e starts",
			"3h /a ends", "3h /d starts", "3h /e ends", "4h /d ends",
		}
		if diff := gocmp.Diff(want, log); diff != "" {
			t.Errorf("run (-want +got):\n%s", diff)
		}
	})
}

func TestOrderA60Limit(t *testing.T) {
	_, g := loadGraph(t, strings.Fields("a b c d e f g")...)
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var running, most atomic.Int32
		results := g.Run(t.Context(), order.RunOptions{Parallel: 3}, func(context.Context, int) error {
			most.Store(max(most.Load(), running.Add(1)))
			<-time.After(time.Hour)
			running.Add(-1)
			return nil
		})
		if most.Load() > 3 || time.Since(begin) != 3*time.Hour {
			t.Errorf("at most %d at the same time, in %v; want 3, in 3h", most.Load(), time.Since(begin))
		}
		for n, result := range results {
			if result.State != order.Succeeded {
				t.Errorf("%s: %v", g.Node(n).Name, result)
			}
		}
	})
}

// Lines O-01 and O-08 for trees: many stacks are quick, and always in the same order.
func TestManyStacks(t *testing.T) {
	tree := &Tree{}
	for i := range 10_000 {
		tree.Stacks = append(tree.Stacks, &Stack{Path: fmt.Sprintf("/s%05d", i)})
	}
	for i := range tree.Stacks {
		for back := 1; back <= 5 && i >= back*7; back++ {
			tree.edges = append(tree.edges, reference{from: i, attribute: "after", to: []int{i - back*7}})
		}
	}
	var first string
	for range 2 {
		g, diags := tree.Graph()
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		got := sequence(g, nil)
		if first == "" {
			first = got
		}
		if got != first {
			t.Error("the same tree gives two sequences")
		}
	}
}

// Children that all come after the directory above do not wait for each other, however many they
// are.
func TestManyChildrenAfterTheirParent(t *testing.T) {
	lines := []string{"p"}
	for i := range 300 {
		lines = append(lines, fmt.Sprintf(`p/c%03d after = [".."]`, i))
	}
	_, g := loadGraph(t, lines...)
	if got, want := len(g.Edges()), 300; got != want {
		t.Errorf("%d edges, want %d", got, want)
	}
}

// FuzzStackFile checks for files with any contents that ranges lie in them, and that there is a
// graph exactly if there are no errors.
func FuzzStackFile(f *testing.F) {
	for _, seed := range []string{
		"stack {}\n", "stack {\n  after = [\"../a\", \"tag:x:y,z\"]\n  before = [\".\"]\n}\n",
		"terrastack {\n  required_version = \"~> 1.0\"\n}\n", "stack {\n  id = \"x\"\n  tags = [\"a\", 5]\n}\nstack {}\n",
		"terramate {\n  required_version = \">\"\n}\nstack {\n  watch = null\n", "stack \"x\" {}\n",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, src string) {
		root := t.TempDir()
		writeFile(t, root, "a/stack.tm", "stack {\n  tags = [\"x\"]\n}\n")
		writeFile(t, root, "b/stack.tsk.hcl", src)
		tree, diags := Load(root)
		if !diags.HasErrors() {
			g, moreDiags := tree.Graph()
			if (g == nil) != moreDiags.HasErrors() {
				t.Errorf("graph %v with diagnostics %v", g, moreDiags)
			}
			diags = diags.Extend(moreDiags)
		}
		for _, diag := range diags {
			if problem.CodeOf(diag) == "" {
				t.Errorf("no code: %v", diag)
			}
			if diag.Subject != nil && diag.Subject.End.Byte > len(src)+32 {
				t.Errorf("%v is not in the file", diag.Subject)
			}
		}
	})
}
