// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package moves

import (
	"fmt"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

// sortStatements returns statements in the order of rule V1, and otherwise in the order in which
// they are.
func sortStatements(statements []*Statement) ([]*Statement, hcl.Diagnostics) {
	after := make([][]int, len(statements)) // by statement, those that come before it
	for i, s := range statements {
		for j, other := range statements {
			if i != j && s.isAfter(other) {
				after[i] = append(after[i], j)
			}
		}
	}
	sorter := sorter{after: after, mark: make([]int, len(statements))}
	for i := range statements {
		if cycle := sorter.visit(i); cycle != nil {
			return nil, hcl.Diagnostics{cyclic(statements, cycle)}
		}
	}
	order := make([]*Statement, len(statements))
	for i, index := range sorter.order {
		order[i] = statements[index]
	}
	return order, nil
}

// isAfter reports whether a statement has to come after another one.
func (s *Statement) isAfter(other *Statement) bool {
	switch {
	case other.isIn(s): // it may be about the result of s, and about its start if only the key is another one
		return false
	case s.from.overlaps(other.to):
		return true
	case other.from.isNarrower(s.from):
		return true
	}
	return s.from.contains(other.from) && !other.from.contains(s.from)
}

// isIn reports whether other moves something to where the module is, or one around it, that
// declares a statement.
func (s *Statement) isIn(other *Statement) bool {
	return other.to.resource == nil && len(other.to.steps) <= len(s.path) &&
		slices.EqualFunc(other.to.steps, s.path[:len(other.to.steps)], func(to step, name string) bool { return to.name == name })
}

// sorter is a depth-first search.
type sorter struct {
	after [][]int
	mark  []int // by statement: not visited, being visited, done
	path  []int
	order []int
}

const (
	unvisited = iota
	visiting
	visited
)

// visit adds a statement after those that come before it. It returns the statements of a cycle if
// there is one.
func (s *sorter) visit(i int) (cycle []int) {
	switch s.mark[i] {
	case visited:
		return nil
	case visiting:
		return slices.Clone(s.path[slices.Index(s.path, i):])
	}
	s.mark[i] = visiting
	s.path = append(s.path, i)
	for _, before := range s.after[i] {
		if cycle := s.visit(before); cycle != nil {
			return cycle
		}
	}
	s.path = s.path[:len(s.path)-1]
	s.mark[i] = visited
	s.order = append(s.order, i)
	return nil
}

func cyclic(statements []*Statement, cycle []int) *hcl.Diagnostic {
	slices.Sort(cycle)
	names := make([]string, len(cycle))
	for i, index := range cycle {
		names[i] = fmt.Sprintf("  - %s (%s:%d)", statements[index], statements[index].Range.Filename, statements[index].Range.Start.Line)
	}
	return failure.At(statements[cycle[0]].Range, "Cycle of moves",
		"These moves go on from each other in a cycle, so that nothing would arrive anywhere:\n%s\n\nA moved block says where something was "+
			"before, and is not for exchanging objects. Remove one of the blocks.", strings.Join(names, "\n"))
}
