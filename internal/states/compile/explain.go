// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
)

// Find returns the numbers of the calls that a text names as a requisite would: "MODULE: X" or only
// X, an id or a name.
func (l *Low) Find(text string) []int {
	x := newIndex(l.Calls)
	if found := x.match(Requisite{Identifier: text}, -1); len(found) > 0 {
		return found
	}
	module, identifier, _ := strings.Cut(text, ":")
	return x.match(Requisite{Module: module, Identifier: strings.TrimSpace(identifier)}, -1)
}

// Names returns the ids and names of all calls, for suggestions.
func (l *Low) Names() []string { return slices.Collect(newIndex(l.Calls).names("")) }

// Explain reports which of two different calls is made first if nothing fails, and why. The nodes
// are those of [Low.Graph].
func (l *Low) Explain(a, b int) order.Explanation {
	made := make([]int, len(l.Calls)) // the nodes for making the calls
	for n, at := range l.nodes {
		if !at.Trial {
			made[at.Call] = n
		}
	}
	e := l.graph.Explain(Rule, made[a], made[b])
	if len(e.Chain) == 0 {
		e.Rule = l.numberRule(l.nodes[e.First].Call, l.nodes[e.Second].Call)
	}
	return e
}

// numberRule says why a call is made before another that nothing orders.
func (l *Low) numberRule(first, second int) string {
	a, b := l.Calls[first], l.Calls[second]
	switch {
	case first > second:
		return fmt.Sprintf("nothing orders them; something that comes before %s requires %s", b, a)
	case a.Order != b.Order:
		return fmt.Sprintf("nothing orders them but their numbers: %s is less than %s", formatOrder(a.Order), formatOrder(b.Order))
	}
	return fmt.Sprintf("their numbers are equal, and %s %s %s is before %s %s %s", a.Module, a.Function, a.ID, b.Module, b.Function, b.ID)
}

func formatOrder(number float64) string { return strconv.FormatFloat(number, 'f', -1, 64) }
