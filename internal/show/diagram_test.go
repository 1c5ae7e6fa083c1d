// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package show

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
)

// shown is a graph with everything that pictures can show.
func shown(t *testing.T) View {
	t.Helper()
	var b order.Builder
	numbers := map[string]int{}
	place := func(line int) order.Place { return order.Place{File: "cairn.workspace.hcl", Line: line, Column: 3} }
	for i, name := range []string{"network", "plan db", "apply db", "plan app", "apply app", "<&\"'\x1b]\n名前", "smoke", "alone"} {
		numbers[name] = b.Add(order.Node{Name: name, Place: place(10 * i)})
	}
	names := slices.Collect(func(yield func(string) bool) {
		for n := range len(numbers) {
			for name, number := range numbers {
				if number == n && !yield(name) {
					return
				}
			}
		}
	})
	gate := b.Add(order.Node{Name: "begin of app", Anchor: true})
	edge := func(from, to, reason string, line int) {
		b.Edge(order.Edge{From: numbers[from], To: numbers[to], Reason: reason, Place: place(line)})
	}
	edge("network", "plan db", `db has after = ["network"]`, 1)
	edge("plan db", "apply db", "a stack is planned before it is applied", 2)
	edge("plan app", "apply app", "a stack is planned before it is applied", 3)
	edge("network", "apply app", `app has apply_after = ["network"]`, 4)
	edge("apply app", "<&\"'\x1b]\n名前", `it has after = ["<app>"]`, 5)
	b.Edge(order.Edge{From: numbers["apply db"], To: gate, Reason: `app has after = ["db"]`, Place: place(6)})
	b.Edge(order.Edge{From: gate, To: numbers["plan app"], Reason: "app is a member of app", Place: place(7)})
	b.Edge(order.Edge{From: numbers["apply app"], To: numbers["smoke"], Soft: true, Reason: `smoke has onfail = ["app"]`})
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	return View{
		Graph: graph, Rule: order.ByWeight, Transitive: true, Name: func(n int) string { return names[n] },
		Groups: []Group{
			{"app", []int{numbers["plan app"], numbers["apply app"]}},
			{"prod & more", []int{numbers["plan db"], numbers["apply db"], numbers["plan app"], numbers["apply app"]}},
			{"overlapping", []int{numbers["network"], numbers["plan db"]}},
			{"empty", nil},
		},
		Kind: func(n int) Kind {
			switch name := names[n]; {
			case strings.HasPrefix(name, "plan"):
				return PlanKind
			case strings.HasPrefix(name, "apply"):
				return ApplyKind
			case name == "smoke":
				return TaskKind
			}
			return StackKind
		},
	}
}

func TestPictures(t *testing.T) {
	v := shown(t)
	for name, show := range map[string]func(View) string{
		"why.txt": View.TextWhy, "order.dot": View.DOT, "order.mmd": View.Mermaid, "order.svg": View.SVG,
	} {
		t.Run(name, func(t *testing.T) {
			got := show(v)
			if again := show(v); got != again {
				t.Errorf("the second time it differs:\n%s", cmp.Diff(got, again))
			}
			viewtest.Golden(t, name, got)
		})
	}
}

// checkXML returns the texts of an XML document, which must be well-formed, with one root.
func checkXML(t *testing.T, document string) (texts []string) {
	t.Helper()
	decoder := xml.NewDecoder(strings.NewReader(document))
	for {
		token, err := decoder.Token()
		if errors.Is(err, io.EOF) {
			return texts
		} else if err != nil {
			t.Fatalf("%v in\n%s", err, document)
		}
		if text, ok := token.(xml.CharData); ok {
			texts = append(texts, string(text))
		}
	}
}

func TestSVGIsXML(t *testing.T) {
	v := shown(t)
	texts := checkXML(t, v.SVG())
	for _, want := range []string{
		"plan db\nin prod & more, overlapping\ncairn.workspace.hcl:10:3",
		"network before plan db: db has after = [\"network\"] (cairn.workspace.hcl:1:3)",
		"apply db before plan app: app has after = [\"db\"] (cairn.workspace.hcl:6:3); app is a member of app (cairn.workspace.hcl:7:3)",
		"prod & more",
	} {
		if !slices.Contains(texts, want) {
			t.Errorf("there is no text %q", want)
		}
	}
	if slices.Contains(texts, "overlapping") {
		t.Error("a group that overlaps others has a frame")
	}
	v.Selected = make(order.Selection, v.Graph.Len())
	if texts := checkXML(t, v.SVG()); !slices.Contains(texts, "Order of 0 in 0 steps") {
		t.Errorf("a picture of nothing has the texts %q", texts)
	}
}

// Nodes that are not selected are not shown, and pass on their dependencies.
func TestSVGOfSelection(t *testing.T) {
	v := shown(t)
	v.Selected = make(order.Selection, v.Graph.Len())
	v.Selected[0], v.Selected[4] = true, true
	v.Transitive = false
	texts := checkXML(t, v.SVG())
	for text, want := range map[string]bool{
		"network": true, "apply app": true, "plan app": false, "alone": false, "app": true,
		"network before apply app: app has apply_after = [\"network\"] (cairn.workspace.hcl:4:3)": true,
	} {
		if got := slices.Contains(texts, text); got != want {
			t.Errorf("%q is shown: %t, want %t", text, got, want)
		}
	}
}

func TestLargeSVG(t *testing.T) {
	var b order.Builder
	const nodes = 5000
	for n := range nodes {
		b.Add(order.Node{Name: fmt.Sprintf("stack-%d", n)})
		for _, back := range []int{50, 77, 900} {
			if n >= back {
				b.Edge(order.Edge{From: n - back, To: n, Reason: "because"})
			}
		}
	}
	graph, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	v := View{Graph: graph, Rule: order.ByQueue, Transitive: true, Name: func(n int) string { return graph.Node(n).Name }}
	if count := strings.Count(v.SVG(), `<g class="node">`); count != nodes {
		t.Errorf("%d nodes are shown, want %d", count, nodes)
	}
}
