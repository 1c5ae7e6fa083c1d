// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
)

// block is a stack of a random configuration.
type block struct {
	name       string
	members    []string // of a nested stack
	nested     bool
	empty      bool // a leaf without directories
	plan       []string
	planGiven  bool
	apply      []string
	modifiedBy []string
}

// randomBlocks makes stacks of which each names only others that come before it, so that most are
// not a cycle. A member of a nested stack may also have rules about stacks that come later.
func randomBlocks(random *rand.Rand) []*block {
	var blocks []*block
	some := func(odds int) []string {
		var names []string
		for _, b := range blocks {
			if random.IntN(odds) == 0 {
				names = append(names, b.name)
			}
		}
		return names
	}
	for i := range 3 + random.IntN(9) {
		b := &block{name: fmt.Sprintf("s%d", random.IntN(90)*100+i)}
		if i > 1 && random.IntN(4) == 0 {
			b.nested, b.members = true, some(4)
		} else {
			b.empty = random.IntN(4) == 0
		}
		b.modifiedBy, b.apply = some(6), some(7)
		if b.planGiven = random.IntN(2) == 0; b.planGiven {
			b.plan = some(6)
		}
		blocks = append(blocks, b)
	}
	random.Shuffle(len(blocks), func(i, j int) { blocks[i], blocks[j] = blocks[j], blocks[i] })
	return blocks
}

// configOf writes blocks as a configuration. Each leaf has a directory of two workspaces, unless it
// is empty.
func configOf(blocks []*block) (config string, files []string) {
	var b, dirs strings.Builder
	b.WriteString("stacks:\n  names:\n")
	list := func(names []string) string { return "[" + strings.Join(names, ", ") + "]" }
	for _, s := range blocks {
		fmt.Fprintf(&b, "    %s:\n", s.name)
		if s.nested {
			fmt.Fprintf(&b, "      stacks: %s\n", list(s.members))
		} else {
			fmt.Fprintf(&b, "      tag_query: dir:%s\n", s.name)
		}
		b.WriteString("      rules:\n")
		if s.planGiven {
			fmt.Fprintf(&b, "        plan_after: %s\n", list(s.plan))
		}
		fmt.Fprintf(&b, "        apply_after: %s\n        modified_by: %s\n", list(s.apply), list(s.modifiedBy))
		if !s.nested && !s.empty {
			files = append(files, s.name+"/main.tf")
			fmt.Fprintf(&dirs, "  %s: {workspaces: {x: {}, y: {}}}\n", s.name)
		}
	}
	return b.String() + "dirs:\n" + dirs.String(), files
}

// model is section 4.2 of the list of behaviours, step by step, without a graph.
type model struct {
	blocks map[string]*block
}

// leaves are step 1.
func (m model) leaves(name string) []string {
	b := m.blocks[name]
	if !b.nested {
		return []string{name}
	}
	var all []string
	for _, member := range b.members {
		all = append(all, m.leaves(member)...)
	}
	return all
}

// effective is step 2 for one kind of rule: for each leaf, the stacks that it names by itself or by
// nested stacks, closed transitively.
func (m model) effective(rule func(*block) []string) map[string]map[string]bool {
	direct := map[string]map[string]bool{}
	for name, b := range m.blocks {
		for _, leaf := range m.leaves(name) {
			if direct[leaf] == nil {
				direct[leaf] = map[string]bool{}
			}
			for _, target := range rule(b) {
				for _, other := range m.leaves(target) {
					direct[leaf][other] = true
				}
			}
		}
	}
	return closed(direct)
}

func closed[K comparable](relation map[K]map[K]bool) map[K]map[K]bool {
	for grown := true; grown; {
		grown = false
		for _, targets := range relation {
			for target := range targets {
				for further := range relation[target] {
					if !targets[further] {
						targets[further], grown = true, true
					}
				}
			}
		}
	}
	return relation
}

// planAfter is step 3.
func planAfter(b *block) []string {
	if b.planGiven {
		return b.plan
	}
	return b.modifiedBy
}

// Section 4.2 for random configurations, nested and not, with leaves that have no directory: the
// modified stacks, and their waits for each other.
func TestOrderB15B21RandomStacks(t *testing.T) {
	const seeds = 1000
	checked := 0
	for seed := range uint64(seeds) {
		random := rand.New(rand.NewPCG(seed, 42))
		blocks := randomBlocks(random)
		config, files := configOf(blocks)
		l, diags := tryLayout(config, files...)
		if l == nil {
			if !strings.Contains(diags.Error(), "wait for") {
				t.Fatalf("seed %d: %v\n%s", seed, diags, config)
			}
			continue
		}
		var changed []string
		for _, file := range files {
			if random.IntN(3) == 0 {
				changed = append(changed, file)
			}
		}
		if len(changed) > 0 {
			checked++
			checkModel(t, seed, blocks, l, changed, config)
		}
		if t.Failed() {
			return
		}
	}
	if checked < seeds/4 {
		t.Errorf("only %d of %d were checked", checked, seeds)
	}
}

func checkModel(t *testing.T, seed uint64, blocks []*block, l *Layout, changed []string, config string) {
	t.Helper()
	m := model{map[string]*block{}}
	for _, b := range blocks {
		m.blocks[b.name] = b
	}
	modifiers := m.effective(func(b *block) []string { return b.modifiedBy })
	isModified := map[string]bool{}
	for name, b := range m.blocks {
		by := slices.Contains(changed, name+"/main.tf")
		for other := range modifiers[name] {
			by = by || slices.Contains(changed, other+"/main.tf")
		}
		isModified[name] = by && !b.nested
	}
	c := l.Change(l.ByFiles(changed), ChangeOptions{})
	var got, want []string
	for _, s := range c.Stacks {
		got = append(got, l.Stacks[s.Stack].Name)
	}
	for name, is := range isModified {
		if is && !m.blocks[name].empty {
			want = append(want, name)
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("seed %d, changed %v: modified are %v, want %v\n%s", seed, changed, got, want, config)
		return
	}

	// Steps 5 to 7, as the predecessors of each step.
	plans, applies := m.effective(planAfter), m.effective(func(b *block) []string { return b.apply })
	type step struct {
		phase rollout.Phase
		stack string
	}
	before := map[step]map[step]bool{}
	for _, name := range want {
		plan, apply := step{rollout.Plan, name}, step{rollout.Apply, name}
		before[plan], before[apply] = map[step]bool{}, map[step]bool{plan: true}
		for _, other := range want {
			if plans[name][other] {
				before[plan][step{rollout.Apply, other}] = true
			}
			if applies[name][other] {
				before[apply][step{rollout.Apply, other}] = true
			}
		}
	}
	closed(before)
	w := work(c)
	for n, s := range w.Steps {
		if w.Graph.Node(n).Anchor {
			continue
		}
		mine := step{s.Phase, w.Units[s.Unit].Stack}
		reached := map[int]bool{}
		var found []step
		for queue := []int{n}; len(queue) > 0; queue = queue[1:] {
			for edge := range w.Graph.Predecessors(queue[0]) {
				if reached[edge.From] {
					continue
				}
				reached[edge.From] = true
				queue = append(queue, edge.From)
				if from := w.Steps[edge.From]; !w.Graph.Node(edge.From).Anchor {
					if other := (step{from.Phase, w.Units[from.Unit].Stack}); other != mine {
						found = append(found, other)
					}
				}
			}
		}
		for _, other := range found {
			if !before[mine][other] {
				t.Errorf("seed %d, changed %v: %v waits for %v, and need not\n%s", seed, changed, mine, other, config)
			}
		}
		for other := range before[mine] {
			count := 0 // both directories of a stack, or for its own plan the one
			for _, f := range found {
				if f == other {
					count++
				}
			}
			if count != 2 && (other.stack != mine.stack || count != 1) {
				t.Errorf("seed %d, changed %v: %v waits for %d of %v\n%s", seed, changed, mine, count, other, config)
			}
		}
	}
}
