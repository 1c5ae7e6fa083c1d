// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package order

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// shuffled makes the graph of the given edges ("a b" for a before b) and nodes, added in an order
// of its own.
func shuffled(t *testing.T, random *rand.Rand, lines []string) (*Graph, error) {
	t.Helper()
	lines = slices.Clone(lines)
	random.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
	var all []string
	for _, line := range lines {
		all = append(all, strings.Fields(line)...)
	}
	slices.Sort(all)
	all = slices.Compact(all)
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	var b Builder
	for _, name := range all {
		b.Add(Node{Name: name, Anchor: strings.HasPrefix(name, "["), Weight: float64(len(name) % 3)})
	}
	for _, line := range lines {
		if ends := strings.Fields(line); len(ends) == 2 {
			b.Edge(Edge{From: slices.Index(all, ends[0]), To: slices.Index(all, ends[1]), Reason: line})
		}
	}
	return b.Build()
}

// selectNames selects nodes by their names.
func selectNames(g *Graph, names string) Selection {
	selected := make(Selection, g.Len())
	for n := range selected {
		selected[n] = slices.Contains(strings.Fields(names), g.Node(n).Name)
	}
	return selected
}

func edgeNames(g *Graph, edges []Edge) string {
	var list []string
	for _, e := range edges {
		list = append(list, g.Node(e.From).Name+">"+g.Node(e.To).Name)
	}
	return strings.Join(list, " ")
}

func waveNames(g *Graph, selected Selection) string {
	var list []string
	for _, wave := range g.Waves(selected) {
		list = append(list, names(g, wave))
	}
	return strings.Join(list, " | ")
}

// everything renders all views of a graph.
func everything(g *Graph, selected Selection) string {
	var b strings.Builder
	for _, graph := range []*Graph{g, g.Reverse()} {
		for _, rule := range []Rule{ByQueue, ByWeight} {
			fmt.Fprintln(&b, names(graph, graph.Sequence(rule, selected)))
		}
		fmt.Fprintln(&b, waveNames(graph, selected))
		fmt.Fprintln(&b, edgeNames(graph, graph.Reduced(selected, false)))
		fmt.Fprintln(&b, edgeNames(graph, graph.Reduced(selected, true)))
	}
	return b.String()
}

// Line O-01: neither the order in which nodes and edges are found nor the run changes anything.
func TestOrderO01(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 1))
	var lines []string
	for i := range 40 {
		lines = append(lines, fmt.Sprintf("n%02d", i))
		for range random.IntN(4) {
			if j := random.IntN(40); i < j {
				lines = append(lines, fmt.Sprintf("n%02[1]d n%02[2]d", i, j))
			}
		}
	}
	lines = append(lines, "n03 [end]", "n04 [end]", "[end] n30", "[end] n31")
	const selection = "n00 n03 n04 n07 n11 n12 n20 n25 n30 n31 n33 n39"
	var first string
	for range 50 {
		g, err := shuffled(t, random, lines)
		if err != nil {
			t.Fatal(err)
		}
		got := everything(g, nil) + everything(g, selectNames(g, selection))
		if first == "" {
			first = got
		}
		if diff := cmp.Diff(first, got); diff != "" {
			t.Fatalf("two of the same graph (-first +other):\n%s", diff)
		}
	}
}

// Line O-02: edges from and to nodes that are not selected bring nothing into a run.
func TestOrderO02(t *testing.T) {
	g, _ := build(t, "before chosen", "chosen after", "before [gate]", "[gate] other", "chosen other")
	selected := selectNames(g, "chosen other")
	if got, want := names(g, g.Sequence(ByQueue, selected)), "chosen other"; got != want {
		t.Errorf("sequence: %s, want %s", got, want)
	}
	if got, want := waveNames(g, selected), "chosen | other"; got != want {
		t.Errorf("waves: %s, want %s", got, want)
	}
	if got, want := edgeNames(g, g.Reduced(selected, false)), "chosen>other"; got != want {
		t.Errorf("edges: %s, want %s", got, want)
	}
	var ran []string
	results := g.Run(t.Context(), RunOptions{Selected: selected}, func(_ context.Context, n int) error {
		ran = append(ran, g.Node(n).Name)
		return nil
	})
	if got, want := strings.Join(ran, " "), "chosen other"; got != want {
		t.Errorf("run: %s, want %s", got, want)
	}
	for n, result := range results {
		if want := selected[n]; (result.State == Succeeded) != want || !want && result.State != NotStarted {
			t.Errorf("%s: state %d", g.Node(n).Name, result.State)
		}
	}
}

// Line O-03: x before m and m before y puts x before y, whether m is selected, is a stack or only a
// meeting point.
func TestOrderO03(t *testing.T) {
	g, _ := build(t, "z m1", "m1 m2", "m2 [meet]", "[meet] m3", "m3 a", "b")
	for _, test := range []struct{ selected, sequence, waves, edges string }{
		{"z a", "z a", "z | a", "z>a"},
		{"z a b", "b z a", "b z | a", "z>a"},
		{"z m2 a", "z m2 a", "z | m2 | a", "m2>a z>m2"},
	} {
		selected := selectNames(g, test.selected)
		if got := names(g, g.Sequence(ByQueue, selected)); got != test.sequence {
			t.Errorf("sequence of %s: %s, want %s", test.selected, got, test.sequence)
		}
		if got := waveNames(g, selected); got != test.waves {
			t.Errorf("waves of %s: %s, want %s", test.selected, got, test.waves)
		}
		if got := edgeNames(g, g.Reduced(selected, true)); got != test.edges {
			t.Errorf("edges of %s: %s, want %s", test.selected, got, test.edges)
		}
		var mu sync.Mutex
		var ended []string
		g.Run(t.Context(), RunOptions{Selected: selected, Parallel: 8}, func(_ context.Context, n int) error {
			mu.Lock()
			defer mu.Unlock()
			if name := g.Node(n).Name; name == "a" && !slices.Contains(ended, "z") {
				t.Errorf("%s: a is run after %v, want z before it", test.selected, ended)
			}
			ended = append(ended, g.Node(n).Name)
			return nil
		})
	}
}

// Line O-04: the whole path, from the smallest name back to it, wherever it is found first. There
// is no graph to run.
func TestOrderO04(t *testing.T) {
	random := rand.New(rand.NewPCG(4, 4))
	for range 30 {
		g, err := shuffled(t, random, []string{"web db", "db app", "app web", "free", "start web", "app end"})
		if g != nil || err == nil {
			t.Fatal("there is a graph of a cycle")
		}
		cycles, ok := errors.AsType[CycleErrors](err)
		if !ok || len(cycles) != 1 || !strings.Contains(cycles[0].Error(), ": app → web → db → app\n") {
			t.Fatalf("got %v, want one cycle with the path app → web → db → app", err)
		}
	}
	// Two cycles that have nothing to do with each other are two problems, in the order of their
	// names.
	_, err := shuffled(t, random, []string{"d c", "c d", "b a", "a b"})
	var paths []string
	cycles, _ := errors.AsType[CycleErrors](err)
	for _, cycle := range cycles {
		first, _, _ := strings.Cut(cycle.Error(), "\n")
		paths = append(paths, first[strings.LastIndex(first, ": ")+2:])
	}
	if diff := cmp.Diff([]string{"a → b → a", "c → d → c"}, paths); diff != "" {
		t.Errorf("cycles (-want +got):\n%s", diff)
	}
}

// Line O-05: the reverse of each sequence, not another order of the turned edges.
func TestOrderO05(t *testing.T) {
	for seed := range uint64(30) {
		random := rand.New(rand.NewPCG(seed, 5))
		g := randomGraph(t, random, 1+random.IntN(40), random.IntN(100))
		selected := make(Selection, g.Len())
		for n := range selected {
			selected[n] = random.IntN(3) > 0
		}
		for _, rule := range []Rule{ByQueue, ByDemand, ByWeight} {
			want := g.Sequence(rule, selected)
			slices.Reverse(want)
			if got := g.Reverse().Sequence(rule, selected); !slices.Equal(got, want) {
				t.Errorf("seed %d, rule %d: %v, want %v", seed, rule, got, want)
			}
			var ran []int
			g.Reverse().Run(t.Context(), RunOptions{Selected: selected, Rule: rule}, func(_ context.Context, n int) error {
				ran = append(ran, n)
				return nil
			})
			if !slices.Equal(ran, want) {
				t.Errorf("seed %d, rule %d: run %v, want %v", seed, rule, ran, want)
			}
		}
	}
	// The gates of phases: the last node applied is the first destroyed.
	g, _ := build(t, "plan-a apply-a", "apply-a plan-b", "plan-b apply-b", "apply-b apply-c", "plan-c apply-c")
	if got, want := waveNames(g.Reverse(), nil), "apply-c | apply-b plan-c | plan-b | apply-a | plan-a"; got != want {
		t.Errorf("waves of the reverse: %s, want %s", got, want)
	}
}

// Line O-06: a node that a hard edge places after a failure, at any distance, is skipped because of
// it; everything else goes on.
func TestOrderO06(t *testing.T) {
	broken := errors.New("broken")
	lines := []string{"a b", "b m", "m c", "c [end]", "[end] d", "x y", "y d", "z"}
	for _, test := range []struct {
		name     string
		opts     RunOptions
		failing  string
		selected string
		want     string
	}{
		{
			"dependents are skipped",
			RunOptions{},
			"a", "a b c d x y z",
			"a failed, b skipped by a, c skipped by a, d skipped by a, m not started, x ok, y ok, z ok",
		},
		{
			"several at the same time",
			RunOptions{Parallel: 5},
			"a", "a b c d x y z",
			"a failed, b skipped by a, c skipped by a, d skipped by a, m not started, x ok, y ok, z ok",
		},
		{
			"in the middle",
			RunOptions{},
			"c", "a b c d x y z",
			"a ok, b ok, c failed, d skipped by c, m not started, x ok, y ok, z ok",
		},
		{
			"two failures, the smaller name counts",
			RunOptions{Parallel: 5},
			"b y", "b d x y",
			"a not started, b failed, c not started, d skipped by b, m not started, x ok, y failed, z not started",
		},
		{
			"fail fast",
			RunOptions{FailFast: true},
			"a", "a b c d x y z",
			"a failed, b skipped by a, c skipped by a, d skipped by a, m not started, x not started, y not started, z not started",
		},
		{
			"in spite of failures",
			RunOptions{KeepGoing: true},
			"a", "a b c d x y z",
			"a failed, b ok, c ok, d ok, m not started, x ok, y ok, z ok",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			g, _ := build(t, lines...)
			opts := test.opts
			opts.Selected = selectNames(g, test.selected)
			results := g.Run(t.Context(), opts, func(_ context.Context, n int) error {
				if slices.Contains(strings.Fields(test.failing), g.Node(n).Name) {
					return broken
				}
				return nil
			})
			var got []string
			for n, result := range results {
				if g.Node(n).Anchor {
					continue
				}
				text := map[State]string{NotStarted: "not started", Succeeded: "ok", Failed: "failed"}[result.State]
				if result.State == Skipped {
					text = "skipped by " + g.Node(result.Because).Name
				}
				got = append(got, g.Node(n).Name+" "+text)
			}
			slices.Sort(got)
			if diff := cmp.Diff(strings.Split(test.want, ", "), got); diff != "" {
				t.Errorf("results (-want +got):\n%s", diff)
			}
		})
	}
}
