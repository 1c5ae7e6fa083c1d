// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleet

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
)

// Along says which units the graph adds to a selection, at any distance. The zero value adds none.
type Along struct {
	Dependents   bool // units that come after selected ones
	Dependencies bool // units that selected ones come after
}

// Any reports whether something may be added.
func (a Along) Any() bool { return a.Dependents || a.Dependencies }

// Walk is the graph in which additions are looked for. Units are numbers, of which a format may
// have several nodes each.
type Walk struct {
	Graph   *order.Graph // forward: an edge leads from the predecessor
	Unit    func(node int) int
	Through func(node int) bool // reports whether a dependence can lead through a node without a unit; nil for all
	Name    func(unit int) string
}

// NoUnit is the unit of a node that stands for none.
const NoUnit = -1

// Added is why a unit is added to a selection.
type Added struct {
	By    int // the unit next to it on the way from the selection, which is selected or added
	Text  string
	Place order.Place // of the rule by which one depends on the other, if it is known
}

// Add returns the dependents of selected units, or their dependencies, without the selected units.
// Each has the nearest cause, for both directions counted from the selection alone. Units that are
// reached both ways have the cause of a dependent.
func (a Along) Add(w Walk, selected map[int]bool) map[int]Added {
	added := map[int]Added{}
	if a.Dependencies {
		w.reach(selected, true, added)
	}
	if a.Dependents {
		after := map[int]Added{}
		w.reach(selected, false, after)
		maps.Copy(added, after)
	}
	return added
}

// reach walks along edges, or backwards against them, the nearest nodes first.
func (w Walk) reach(selected map[int]bool, backwards bool, added map[int]Added) {
	cameBy := map[int]order.Edge{} // by node
	seen := make([]bool, w.Graph.Len())
	var queue []int
	for n := range w.Graph.Len() {
		if unit := w.Unit(n); unit != NoUnit && selected[unit] {
			seen[n] = true
			queue = append(queue, n)
		}
	}
	edges, end := w.Graph.Successors, func(e order.Edge) int { return e.To }
	if backwards {
		edges, end = w.Graph.Predecessors, func(e order.Edge) int { return e.From }
	}
	for len(queue) > 0 {
		n := queue[0]
		queue = queue[1:]
		for edge := range edges(n) {
			to := end(edge)
			unit := w.Unit(to)
			if seen[to] || unit == NoUnit && w.Through != nil && !w.Through(to) {
				continue
			}
			seen[to] = true
			cameBy[to] = edge
			queue = append(queue, to)
			if _, known := added[unit]; unit != NoUnit && !known && !selected[unit] {
				added[unit] = w.cause(to, backwards, cameBy)
			}
		}
	}
}

// cause returns the reason why a node was reached: by which unit, and by which rules between the
// two.
func (w Walk) cause(node int, backwards bool, cameBy map[int]order.Edge) Added {
	unit := w.Unit(node)
	var chain []order.Edge // in the direction of the order
	at := node
	for at == node || w.Unit(at) == NoUnit || w.Unit(at) == unit {
		edge := cameBy[at]
		chain = append(chain, edge)
		at = edge.From
		if backwards {
			at = edge.To
		}
	}
	if !backwards {
		slices.Reverse(chain)
	}
	added := Added{By: w.Unit(at), Text: "it depends on " + w.Name(w.Unit(at))}
	if backwards {
		added.Text = w.Name(added.By) + " depends on it"
	}
	var reasons []string
	for _, step := range order.JoinSteps(chain) {
		if step.Reason == "" {
			continue
		}
		if added.Place.File == "" {
			added.Place = step.Place
		}
		if !slices.Contains(reasons, step.Reason) {
			reasons = append(reasons, step.Reason)
		}
	}
	if len(reasons) > 0 {
		added.Text += ": " + strings.Join(reasons, ", ")
	}
	return added
}

// Named returns the units of a request that asks for some by their names. It is nil if the request
// does not.
//
// Errors: names that no unit has.
func (r *Request) Named(all []string) (map[string]bool, error) {
	if r.Names == nil {
		return nil, nil
	}
	named := map[string]bool{}
	var missing []string
	hint := ""
	for _, name := range r.Names {
		named[name] = true
		if !slices.Contains(all, name) {
			missing = append(missing, fmt.Sprintf("%q", name))
			hint = nearest.DidYouMean(name, all)
		}
	}
	if len(missing) == 0 {
		return named, nil
	}
	if len(missing) > 1 {
		hint = ""
	}
	return nil, hcl.Diagnostics{failure.New("Unknown names in report",
		"%s has names that do not exist, or not any more: %s.%s Nothing was done. "+
			"Names of directories are as they are seen from the directory in which the earlier run was made: "+
			"go there, or select the rest in another way.",
		r.NamesFrom, strings.Join(missing, ", "), hint)}
}

// Within is the directory that selected units are in, as [Place] has it. Units asked for by name
// may be anywhere.
func (r *Request) Within() string {
	if r.Names != nil {
		return ""
	}
	return r.Below
}
