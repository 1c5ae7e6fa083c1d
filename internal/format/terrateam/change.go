// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// Cause is the reason why a dirspace is part of a change by itself: a file that changed, or a
// request of the user.
type Cause struct {
	Dirspace int
	Reason   string
}

// ByFiles returns a cause for each dirspace that a changed file belongs to, the first file in the
// list.
func (l *Layout) ByFiles(files []string) []Cause {
	byName := make([]int, len(files))
	for i := range files {
		byName[i] = i
	}
	slices.SortFunc(byName, func(i, j int) int { return cmp.Or(cmp.Compare(files[i], files[j]), cmp.Compare(i, j)) })
	var causes []Cause
	for i, d := range l.Dirspaces {
		if at := d.patterns.first(files, byName); at >= 0 {
			causes = append(causes, Cause{Dirspace: i, Reason: files[at] + " changed"})
		}
	}
	return causes
}

// first returns the first file that the patterns match; -1 if there is none. ByName are the
// positions of files in the order of their names, so that only those are looked at that begin as a
// pattern does.
func (p patterns) first(files []string, byName []int) int {
	first := -1
	for _, pattern := range p.with {
		from, _ := slices.BinarySearchFunc(byName, pattern.Prefix(), func(i int, prefix string) int { return cmp.Compare(files[i], prefix) })
		for _, i := range byName[from:] {
			if !strings.HasPrefix(files[i], pattern.Prefix()) {
				break
			}
			if (first < 0 || i < first) && p.match(files[i]) {
				first = i
			}
		}
	}
	return first
}

// All returns a cause for each dirspace.
func (l *Layout) All(reason string) []Cause {
	causes := make([]Cause, len(l.Dirspaces))
	for i := range causes {
		causes[i] = Cause{Dirspace: i, Reason: reason}
	}
	return causes
}

// Change holds the stacks and dirspaces of one change, in order.
type Change struct {
	*Layout
	Stacks []ModifiedStack // sorted by name

	inChange []bool
	graph    *workGraph
}

// ModifiedStack is a leaf with something to do.
type ModifiedStack struct {
	Stack     int
	Dirspaces []ModifiedDirspace // in the order of the layout
}

// ModifiedDirspace is a dirspace with something to do.
type ModifiedDirspace struct {
	Dirspace int
	Reason   string
	Place    order.Place // of the rule behind the reason, if it is configured
}

// ChangeOptions are the direction of a change, and its limits.
type ChangeOptions struct {
	Destroy bool                    // in reverse order
	Only    func(dirspace int) bool // leaves out the others, as if they were not modified; nil for none
}

// Change finds the dirspaces of a change and orders them.
func (l *Layout) Change(causes []Cause, opts ChangeOptions) *Change {
	reasons := l.spread(causes)
	c := &Change{Layout: l, inChange: make([]bool, len(l.Dirspaces))}
	byStack := map[int]int{}
	for i, reason := range reasons {
		if reason == nil || opts.Only != nil && !opts.Only(i) {
			continue
		}
		c.inChange[i] = true
		at, known := byStack[l.owner[i]]
		if !known {
			at = len(c.Stacks)
			byStack[l.owner[i]] = at
			c.Stacks = append(c.Stacks, ModifiedStack{Stack: l.owner[i]})
		}
		reason.Dirspace = i
		c.Stacks[at].Dirspaces = append(c.Stacks[at].Dirspaces, *reason)
	}
	slices.SortFunc(c.Stacks, func(a, b ModifiedStack) int { return cmp.Compare(l.Stacks[a.Stack].Name, l.Stacks[b.Stack].Name) })
	graph, err := l.graph(c.inChange, opts.Destroy)
	if err != nil {
		panic("terrateam: " + err.Error()) // New checked a graph that has all edges of this one, or their reverse
	}
	c.graph = graph
	return c
}

// spreading finds the dirspaces that a change reaches. Its nodes are dirspaces, and for each stack:
// that some of it is modified; that it is modified by another; and for each shared query: that
// something it matches is modified.
type spreading struct {
	*Layout
	reasons []*ModifiedDirspace
	some    []bool
	by      []bool
	matched []bool
	queue   []func()

	modifies [][]modification // by the stack that is named
	matching [][]int          // the queries that match a dirspace
	waiting  [][]int          // the dirspaces with a query
}

type modification struct {
	stack int
	ref   Ref
}

// spread returns why each dirspace is part of a change; nil for those that are not (section 4.2,
// steps 3 and 4, and lines B-70 to B-74).
func (l *Layout) spread(causes []Cause) []*ModifiedDirspace {
	s := &spreading{
		Layout: l, reasons: make([]*ModifiedDirspace, len(l.Dirspaces)),
		some: make([]bool, len(l.Stacks)), by: make([]bool, len(l.Stacks)), matched: make([]bool, len(l.depends)),
		modifies: make([][]modification, len(l.Stacks)), matching: make([][]int, len(l.Dirspaces)), waiting: make([][]int, len(l.depends)),
	}
	for i, stack := range l.Stacks {
		for _, ref := range stack.Rules.ModifiedBy {
			n := l.byName[ref.Name]
			s.modifies[n] = append(s.modifies[n], modification{i, ref})
		}
	}
	for q, depends := range l.depends {
		for _, on := range depends.on {
			s.matching[on] = append(s.matching[on], q)
		}
	}
	for i, all := range l.dependsOn {
		for _, q := range all {
			if !l.Dirspaces[i].DependsOn.PruneOnNoChange {
				s.waiting[q] = append(s.waiting[q], i)
			}
		}
	}
	for _, cause := range causes {
		s.dirspace(cause.Dirspace, cause.Reason, order.Place{})
	}
	for len(s.queue) > 0 {
		next := s.queue[0]
		s.queue = s.queue[1:]
		next()
	}
	return s.reasons
}

func (s *spreading) later(step func()) { s.queue = append(s.queue, step) }

// dirspace says that a dirspace is modified.
func (s *spreading) dirspace(d int, reason string, place order.Place) {
	if s.reasons[d] != nil {
		return
	}
	s.reasons[d] = &ModifiedDirspace{Reason: reason, Place: place}
	s.later(func() { s.someOf(s.owner[d]) })
	for _, q := range s.matching[d] {
		if s.matched[q] {
			continue
		}
		s.matched[q] = true
		for _, w := range s.waiting[q] {
			s.later(func() {
				s.dirspace(w, fmt.Sprintf("depends on %s, which is modified", s.Dirspaces[d].Name()), problem.PlaceAt(s.Dirspaces[w].DependsOn.Range))
			})
		}
	}
}

// someOf says that some of a stack is modified.
func (s *spreading) someOf(stack int) {
	if s.some[stack] {
		return
	}
	s.some[stack] = true
	for _, m := range s.modifies[stack] {
		s.later(func() {
			s.byOther(m.stack, fmt.Sprintf("%s is modified by %s", s.Layout.Stacks[m.stack].Name, m.ref.Name), problem.PlaceAt(m.ref.Range))
		})
	}
	for _, n := range s.enclosing[stack] {
		s.later(func() { s.someOf(n) })
	}
}

// byOther says that another stack modifies all of a stack.
func (s *spreading) byOther(stack int, reason string, place order.Place) {
	if s.by[stack] {
		return
	}
	s.by[stack] = true
	if !s.Layout.Stacks[stack].Nested {
		s.later(func() { s.someOf(stack) }) // also if it has no dirspace: rules reach through it
	}
	for _, d := range s.owned[stack] {
		s.dirspace(d, reason, place)
	}
	for _, member := range s.Layout.Stacks[stack].Members {
		s.later(func() { s.byOther(s.byName[member.Name], reason, place) })
	}
}
