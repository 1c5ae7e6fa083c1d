// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
)

// Rule is the order of calls: by their numbers, each after its demands.
const Rule = order.ByDemand

// Tie is the rule that orders calls of equal order numbers.
type Tie int

// The rules for equal order numbers.
const (
	// TieByParts compares module, then function, then id (line C-20).
	TieByParts Tie = iota

	// TieByText compares the module, the name and the function written together, as the program does
	// that these files were made for.
	TieByText
)

// ParseTie reads the name of a rule: "document" or "salt".
func ParseTie(name string) (Tie, error) {
	switch name {
	case "", "document":
		return TieByParts, nil
	case "salt":
		return TieByText, nil
	}
	return 0, fmt.Errorf("there is no rule %q for equal order numbers; use document or salt", name)
}

// Low are single calls in the order of their numbers.
type Low struct {
	Calls []*Call

	graph  *order.Graph
	nodes  []Node  // by number in the graph
	before [][]int // by call: those that are made before it if it would change something
}

// Node is the meaning of a node of the graph: a call, or trying out its changes.
type Node struct {
	Call  int // by its number in Low.Calls
	Trial bool
}

// Call is one call of a function.
type Call struct {
	ID, SLS, Env           string
	Module, Function, Name string

	// Args has all arguments but "order", requisites among them, and first of all "name".
	Args *Map

	Order    float64
	HasOrder bool  // false only without automatic numbers
	Failhard *bool // nil: as the run has it (line C-38)
	Parallel bool  // need not have ended when the next one is made, if that does not require it
	Retry    Retry

	Range *hcl.Range

	requisites map[string][]Requisite // by kind
	targets    map[string][]int       // by kind: the calls that the requisites name, by their numbers in Low.Calls
	named      map[string][]int       // by kind: for each target, the number of the first requisite that names it
	position   int                    // among all calls as they are declared
	file       int                    // number of its file, as that of its id
	number     any                    // the order as written or counted; nil if there is none
	nth        int                    // among the names of one module, from 1; 0 without "names"
	ranges     map[string]*hcl.Range  // of arguments
}

// FullFunction is "module.function".
func (c *Call) FullFunction() string { return c.Module + "." + c.Function }

// String names the call for people.
func (c *Call) String() string {
	if c.nth > 0 {
		return fmt.Sprintf("%s: %s (%s)", c.ID, c.Name, c.FullFunction())
	}
	return fmt.Sprintf("%s (%s)", c.ID, c.FullFunction())
}

// Value returns the call as a mapping (line C-02).
func (c *Call) Value() *Map {
	all := &Map{}
	for _, entry := range c.Args.Entries {
		all.Set(entry.Key, entry.Value)
	}
	all.Set("state", c.Module)
	all.Set("__id__", c.ID)
	all.Set("fun", c.Function)
	all.Set("__env__", c.Env)
	all.Set("__sls__", c.SLS)
	if c.HasOrder {
		all.Set("order", numberValue(c.Order))
	}
	return all
}

// numberValue writes whole numbers without a fraction.
func numberValue(number float64) any {
	if whole := int64(number); float64(whole) == number {
		return whole
	}
	return number
}

// Value returns the calls as a list.
func (l *Low) Value() []any {
	list := []any{}
	for _, call := range l.Calls {
		list = append(list, call.Value())
	}
	return list
}

// Requisites returns the numbers of the calls that requisites of a kind name, in the order in which
// they are checked. The caller must not change the slice.
func (l *Low) Requisites(call int, kind string) []int { return l.Calls[call].targets[kind] }

// Graph returns the order of the calls: the edges that requisites make, and the order numbers as
// weights. A call that others are made before only if it would change something is there twice, the
// first time for trying that.
func (l *Low) Graph() *order.Graph { return l.graph }

// Node returns the meaning of a node of [Low.Graph].
func (l *Low) Node(n int) Node { return l.nodes[n] }

// Prerequired returns the numbers of the calls that are made before another if that would change
// something: those with a "prereq" that names it. The caller must not change the slice.
func (l *Low) Prerequired(call int) []int { return l.before[call] }

// Sequence returns the numbers of the calls in the order in which they are made, if nothing fails
// (lines C-30 to C-33).
func (l *Low) Sequence() []int {
	var calls []int
	for _, n := range l.graph.Sequence(Rule, nil) {
		if !l.nodes[n].Trial {
			calls = append(calls, l.nodes[n].Call)
		}
	}
	return calls
}
