// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// wants lists for each leaf the leaves that are selected along with it. It gives no order.
func (r *resolver) wants() {
	wants := map[*Leaf][]*effect{}
	add := func(by, wanted *Block, ref Reference, text string) {
		e := &effect{on: r.model.LeavesOf(wanted), cause: func(by *Leaf) Cause {
			return Cause{Text: fmt.Sprintf(text, by.Name), By: by, Place: problem.PlaceOf(ref.Range)}
		}}
		for _, leaf := range r.model.LeavesOf(by) {
			wants[leaf] = append(wants[leaf], e)
		}
	}
	for _, block := range r.model.Blocks {
		for _, ref := range block.Wants {
			for _, other := range r.find(ref, block) {
				add(block, other, ref, "%s wants it")
			}
		}
		for _, ref := range block.WantedBy {
			for _, other := range r.find(ref, block) {
				add(other, block, ref, "it is wanted by %s")
			}
		}
	}
	r.model.wants = wants
}

// Wants returns the blocks that a block wants, and those that it is wanted by.
func (m *Model) Wants(block *Block) (wants, wantedBy []*Block) {
	r := &resolver{model: m, lookup: m.lookup} // its results have been checked
	for _, ref := range block.Wants {
		wants = append(wants, r.find(ref, block)...)
	}
	for _, ref := range block.WantedBy {
		wantedBy = append(wantedBy, r.find(ref, block)...)
	}
	return wants, wantedBy
}

// Filter narrows a selection. The zero value lets everything pass.
type Filter struct {
	Below string // path of a directory, with a slash at its beginning; "" stands for the root
	tagquery.TagFilter
	Only    func(*Leaf) bool // nil: any
	Changes *Changes         // nil: whether something has changed does not matter
	Along   fleet.Along      // additions by the graph
}

func (f Filter) passes(leaf *Leaf) bool {
	below := strings.TrimPrefix(f.Below, "/")
	return (below == "" || contains(below, leaf.Dir())) &&
		f.TagFilter.Passes(leaf.tags()) &&
		(f.Only == nil || f.Only(leaf)) &&
		(f.Changes == nil || len(f.Changes.Reasons[leaf]) > 0)
}

// Selected is a selection with its reasons.
type Selected struct {
	Leaves map[*Leaf]bool
	Wanted map[*Leaf]Cause // why stacks and tasks are selected that the filter left out

	// Reached holds the additions by the graph, even those that are also selected otherwise.
	Reached map[*Leaf]Cause

	// Reasons are the reasons for which leaves have changed, and those for which tasks go along with
	// changed leaves; nil if changes do not matter.
	Reasons map[*Leaf][]gitdiff.Reason
}

// Why says why something is selected, as far as it is not by filters alone.
func (s Selected) Why(leaf *Leaf) []string {
	var texts []string
	for _, reason := range s.Reasons[leaf] {
		texts = append(texts, reason.Text)
	}
	if wanted := s.Wanted[leaf]; wanted.Text != "" {
		texts = append(texts, wanted.Text)
	}
	return texts
}

// Select returns the leaves that pass a filter, those that they want and are wanted by, and the
// tasks that go with them. Of the filter, these tasks only have to pass NoTags, so that nothing is
// applied without the tasks that are to come before it. The same is true of additions by the graph.
func (m *Model) Select(filter Filter) Selected {
	s := Selected{Leaves: map[*Leaf]bool{}}
	for _, leaf := range m.Leaves {
		if filter.passes(leaf) {
			s.Leaves[leaf] = true
		}
	}
	without := tagquery.TagFilter{NoTags: filter.NoTags}
	passes := func(leaf *Leaf) bool { return without.Passes(leaf.tags()) }
	wanted, going := m.along(s.Leaves, passes)
	if s.Reached = m.reach(filter.Along, s.Leaves, going); len(s.Reached) > 0 {
		for leaf, cause := range s.Reached {
			if _, tagsAlong := going[leaf]; passes(leaf) && (!s.Leaves[leaf] || tagsAlong) {
				s.Leaves[leaf], wanted[leaf] = true, cause
				delete(going, leaf)
			}
		}
		more, moreGoing := m.along(s.Leaves, passes)
		maps.Copy(more, wanted)
		maps.Copy(moreGoing, going)
		wanted, going = more, moreGoing
	}
	s.Wanted = wanted
	if filter.Changes == nil {
		maps.Copy(s.Wanted, going)
	} else {
		s.Reasons = maps.Clone(filter.Changes.Reasons)
		for leaf, cause := range going {
			s.Reasons[leaf] = []gitdiff.Reason{{Kind: gitdiff.GoesAlong, Text: cause.Text}}
		}
	}
	return s
}

// along adds to a selection the leaves that are selected along with it, and returns the causes:
// wanted leaves and those that want them, regardless of filters; and the tasks that go with it, as
// far as passes is true for them: those with a stage if there is any stack, and those that a rule
// joins with a selected leaf, at any distance over tasks (see joined).
//
// The selection is to be the result of filters (line A-55).
func (m *Model) along(selected map[*Leaf]bool, passes func(*Leaf) bool) (wanted, going map[*Leaf]Cause) {
	a := &along{selected: selected, reached: map[*Leaf]bool{}, had: map[*effect]bool{}}
	wanted, going = map[*Leaf]Cause{}, map[*Leaf]Cause{}
	joined, staged := m.joined(), m.staged()
	for _, leaf := range m.Leaves {
		if selected[leaf] {
			a.reach(leaf, true)
		}
	}
	for len(a.queue) > 0 {
		leaf := a.queue[0]
		a.queue = a.queue[1:]
		if selected[leaf] {
			a.wants(leaf, m.wants[leaf], wanted)
		}
		others := joined[leaf]
		if leaf.Stack != nil && len(staged) > 0 {
			others, staged = slices.Concat(staged, others), nil
		}
		for _, to := range others {
			if !a.reached[to.task] {
				going[to.task] = to.cause
				a.reach(to.task, passes(to.task))
			}
		}
	}
	return wanted, going
}

type along struct {
	selected, reached map[*Leaf]bool
	had               map[*effect]bool // wanted leaves that were reached from another leaf that wants the same
	queue             []*Leaf
}

// wants reaches the leaves that a selected leaf wants.
func (a *along) wants(leaf *Leaf, wants []*effect, wanted map[*Leaf]Cause) {
	for _, e := range wants {
		if a.had[e] {
			continue
		}
		a.had[e] = true
		for _, to := range e.on {
			if !a.selected[to] {
				wanted[to] = e.cause(leaf)
				delete(a.reached, to) // a task that was only passed through
				a.reach(to, true)
			}
		}
	}
}

func (a *along) reach(leaf *Leaf, selects bool) {
	if a.reached[leaf] {
		return
	}
	a.reached[leaf] = true
	if selects {
		a.selected[leaf] = true
	}
	a.queue = append(a.queue, leaf)
}

// joint joins a leaf with a task.
type joint struct {
	task  *Leaf
	cause Cause
}

// staged returns the tasks that have a stage.
func (m *Model) staged() []joint {
	var staged []joint
	for _, leaf := range m.Leaves {
		if leaf.Task != nil && leaf.Task.Stage != nil {
			stage := leaf.Task.Stage
			staged = append(staged, joint{
				task:  leaf,
				cause: Cause{Text: fmt.Sprintf("it has stage = %q", stage.Text), Place: problem.PlaceOf(stage.Range)},
			})
		}
	}
	return staged
}

// joined lists for each leaf the tasks that rules join it with. A task that itself names stacks is
// joined with these only; another one with all leaves that name it or that it names.
func (m *Model) joined() map[*Leaf][]joint {
	tied := map[*Leaf]bool{}
	own, others := map[*Leaf][]joint{}, map[*Leaf][]joint{}
	join := func(leaves, with []*Leaf, r rule, t target) {
		for _, task := range leaves {
			if task.Task == nil {
				continue
			}
			says := r.writer == task.Block || slices.Contains(task.Groups, r.writer)
			for _, other := range with {
				to := joint{task, selects(other, r, t)}
				if says && other.Stack != nil {
					tied[task] = true
					own[other] = append(own[other], to)
				} else {
					others[other] = append(others[other], to)
				}
			}
		}
	}
	for _, r := range m.rules {
		for _, t := range r.targets {
			before, after := m.LeavesOf(t.block), m.LeavesOf(r.of)
			join(before, after, r, t)
			join(after, before, r, t)
		}
	}
	for leaf, list := range others {
		own[leaf] = append(own[leaf], slices.DeleteFunc(list, func(to joint) bool { return tied[to.task] })...)
	}
	return own
}

func selects(by *Leaf, r rule, t target) Cause {
	return Cause{Text: fmt.Sprintf("%s is selected, and %s", by.Name, reason(r, t)), By: by, Place: problem.PlaceOf(t.ref.Range)}
}

// Rule is how the graph of the model is put into a sequence.
func (m *Model) Rule() order.Rule {
	if m.Ties == TiesByDirectory {
		return order.ByQueue
	}
	return order.ByWeight
}
