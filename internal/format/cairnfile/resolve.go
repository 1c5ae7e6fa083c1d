// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"cmp"
	"iter"
	"maps"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// Model is a workspace with all references resolved. It does not change.
type Model struct {
	*Workspace
	Leaves []*Leaf // stacks and tasks, as written

	blocks  map[string]*Block
	leaves  map[*Block]*Leaf
	members map[*Block][]*Block // of groups
	parents map[*Block][]*Block // the groups that hold a block directly
	under   map[*Block][]*Leaf  // of groups, at any depth
	rules   []rule
	ruled   map[*Block][]int // the rules of a block, as positions in rules
	wants   map[*Leaf][]*effect
	lookup  *lookup
	auto    map[*Block]*bool                    // results of autoApply
	origins map[*Block]map[wiring.Origin]*Block // references in the inputs of stacks

	publishers map[*Block][]*Block // stacks whose published outputs others have
}

// Leaf is a stack or a task with the settings from the groups that hold it.
type Leaf struct {
	*Block
	Groups []*Block // that hold it, at any depth; the nearest first

	AllTags     map[string]bool
	AllKeys     []string // sorted
	Variables   map[string]string
	Environment map[string]string // of a task with the Variables
	AutoApply   bool
	Weight      float64
}

// rule is one of a block, in the direction in which it works: its targets come before the block.
type rule struct {
	of     *Block
	rel    Relation
	policy Policy

	targets []target
	origin  *Rule
	writer  *Block // that the rule is written in
}

type target struct {
	block *Block
	ref   Reference
}

// Resolve resolves references. Without a model there are errors.
func Resolve(w *Workspace) (*Model, hcl.Diagnostics) {
	m := &Model{
		Workspace: w,
		blocks:    map[string]*Block{}, leaves: map[*Block]*Leaf{},
		members: map[*Block][]*Block{}, parents: map[*Block][]*Block{}, under: map[*Block][]*Leaf{},
		auto: map[*Block]*bool{}, origins: map[*Block]map[wiring.Origin]*Block{},
		publishers: map[*Block][]*Block{},
	}
	r := &resolver{model: m, budget: order.ReferenceBudget}
	for _, block := range w.Blocks {
		m.blocks[block.Name] = block
		if block.Type != GroupType {
			leaf := &Leaf{Block: block, AllTags: map[string]bool{}, Variables: map[string]string{}, Environment: map[string]string{}}
			m.Leaves = append(m.Leaves, leaf)
			m.leaves[block] = leaf
			r.ownTags(leaf)
		}
	}
	r.lookup = newLookup(m.Leaves) // by their own tags
	r.membership()
	if r.diags.HasErrors() {
		return nil, r.diags
	}
	for _, leaf := range m.Leaves {
		m.inherit(leaf)
		r.memberships += len(leaf.Groups)
		if !r.spend(leaf.Range, len(leaf.Groups)*order.StepsPerReferenced) {
			return nil, r.diags
		}
		for _, group := range leaf.Groups {
			m.under[group] = append(m.under[group], leaf)
		}
	}
	r.lookup = newLookup(m.Leaves)
	m.lookup = r.lookup
	for _, block := range w.Blocks {
		r.rulesOf(block)
		r.inputsOf(block)
		r.linksOf(block)
	}
	m.ruled = map[*Block][]int{}
	for i, rule := range m.rules {
		m.ruled[rule.of] = append(m.ruled[rule.of], i)
	}
	r.wants()
	r.conflicts()
	r.unusedLimits()
	if r.diags.HasErrors() {
		return nil, r.diags
	}
	return m, r.diags
}

type resolver struct {
	model  *Model
	lookup *lookup
	hints  nearest.Hints
	inDir  map[string][]*Block // stacks, by directory; nil until they are asked for
	diags  hcl.Diagnostics

	budget      order.Budget
	memberships int // of leaves in groups, at any depth
}

// Costs of references besides each block that one means, and each group that a stack or task is in.
const (
	perLeaf     = 5 // for each stack or task that a reference is compared with
	averageName = 20
)

// spend reports whether the cost of a reference, or of the part of the file at a place, is within
// the rest of the budget. The first that is not is reported as an error.
func (r *resolver) spend(at hcl.Range, cost int) bool {
	return r.budget.Spend(cost, func() {
		r.problem(problem.Syntax, at, "Too many blocks referenced",
			"The references up to here stand for more than %d blocks, or take more comparisons than would be done in seconds. "+
				"Put the blocks into a group, and refer to that.", order.MaxReferenced)
	})
}

func (r *resolver) ownTags(leaf *Leaf) {
	for _, tag := range leaf.Tags {
		leaf.AllTags[tag] = true
	}
	leaf.AllTags["stack_name:"+leaf.Name] = true
	leaf.AllTags["dir:"+leaf.Dir()] = true
	if leaf.Stack == nil {
		leaf.AllTags["kind:"+string(TaskType)] = true
		return
	}
	leaf.AllTags["kind:"+string(leaf.Stack.Kind)] = true
	if name := cmp.Or(leaf.Stack.Deployment, leaf.Stack.only); name != "" {
		leaf.AllTags["deployment:"+name] = true
	}
	leaf.AllTags["workspace:"+cmp.Or(leaf.Stack.Workspace, rollout.DefaultWorkspace)] = true
}

// Dir is the directory of a leaf, with slashes, from the root of the repository.
func (l *Leaf) Dir() string {
	if l.Stack != nil {
		return l.Stack.Dir
	}
	return l.Task.Dir
}

// Subject is a leaf as queries see it.
func (l *Leaf) Subject() tagquery.Subject { return tagquery.Subject{Dir: l.Dir(), Tags: l.AllTags} }

// tags returns all tags, sorted.
func (l *Leaf) tags() []string { return slices.Sorted(maps.Keys(l.AllTags)) }

// membership finds the members of groups, by their own tags, and checks that no group holds itself.
func (r *resolver) membership() {
	var b order.Builder
	numbers := map[*Block]int{}
	for _, block := range r.model.Blocks {
		numbers[block] = b.Add(order.Node{Name: block.Name})
	}
	for _, group := range r.model.Blocks {
		if group.Type != GroupType {
			continue
		}
		known := map[*Block]bool{}
		for _, ref := range group.Group.Members {
			found := r.find(ref, group)
			if !r.spend(ref.Range, len(found)*order.StepsPerReferenced) {
				break
			}
			for _, member := range found {
				b.Edge(order.Edge{
					From:   numbers[group],
					To:     numbers[member],
					Place:  problem.PlaceOf(ref.Range),
					Reason: "it is to be a member of " + group.Name,
				})
				if !known[member] {
					known[member] = true
					r.model.members[group] = append(r.model.members[group], member)
					r.model.parents[member] = append(r.model.parents[member], group)
				}
			}
		}
	}
	_, err := b.Build()
	for _, diag := range problem.OfCycles(err) {
		diag.Summary = "Group containing itself"
		r.diags = r.diags.Append(diag)
	}
}

// inherit collects the settings of a leaf from groups, nearer ones first.
func (m *Model) inherit(leaf *Leaf) {
	leaf.Groups = m.enclosing(leaf.Block)
	keys, weighted := map[string]bool{}, false
	take := func(block *Block, variables, environment map[string]string) {
		for _, tag := range block.Tags {
			leaf.AllTags[tag] = true
		}
		for _, key := range block.Keys {
			keys[key] = true
		}
		if !weighted && block.Weight != nil {
			leaf.Weight, weighted = *block.Weight, true
		}
		fill(leaf.Variables, variables)
		fill(leaf.Environment, environment)
		if leaf.Task != nil {
			fill(leaf.Environment, variables)
		}
	}
	if leaf.Stack != nil {
		take(leaf.Block, leaf.Stack.Variables, leaf.Stack.Environment)
	} else {
		take(leaf.Block, nil, leaf.Task.Environment)
	}
	for _, group := range leaf.Groups {
		take(group, group.Group.Variables, group.Group.Environment)
		leaf.AllTags["stack_name:"+group.Name] = true
	}
	leaf.AllKeys = slices.Sorted(maps.Keys(keys))
	auto := m.autoApply(leaf.Block)
	leaf.AutoApply = auto != nil && *auto
}

// fill adds to variables those of others that are not set.
func fill(variables, others map[string]string) {
	for name, value := range others {
		if _, own := variables[name]; !own {
			variables[name] = value
		}
	}
}

// enclosing returns the groups that hold a block, at any depth.
func (m *Model) enclosing(block *Block) []*Block {
	groups := slices.Clone(m.parents[block])
	known := map[*Block]bool{}
	for _, group := range groups {
		known[group] = true
	}
	for i := 0; i < len(groups); i++ {
		for _, outer := range m.parents[groups[i]] {
			if !known[outer] {
				known[outer] = true
				groups = append(groups, outer)
			}
		}
	}
	return groups
}

// autoApply is the auto_apply of the outermost group that has one. Of several at one level that do
// not agree, the one that asks counts.
func (m *Model) autoApply(block *Block) *bool {
	if says, known := m.auto[block]; known {
		return says
	}
	var outer *bool
	for _, parent := range m.parents[block] {
		if says := m.autoApply(parent); says != nil && (outer == nil || !*says) {
			outer = says
		}
	}
	if outer == nil {
		outer = block.AutoApply
	}
	m.auto[block] = outer
	return outer
}

// LeavesOf returns the stacks and tasks that a block stands for, as written.
func (m *Model) LeavesOf(block *Block) []*Leaf {
	if leaf := m.leaves[block]; leaf != nil {
		return []*Leaf{leaf}
	}
	return m.under[block]
}

// Block returns a block by its name, nil if there is none.
func (m *Model) Block(name string) *Block { return m.blocks[name] }

// rulesOf resolves the rules of a block, turning those around whose targets come after it.
func (r *resolver) rulesOf(block *Block) {
	for i := range block.Rules {
		origin := &block.Rules[i]
		targets := r.targets(block, origin)
		if !origin.Inverse {
			r.model.rules = append(r.model.rules, rule{block, origin.Rel, origin.Policy, targets, origin, block})
			continue
		}
		for _, t := range targets {
			if origin.Rel != After && t.block.Type != TaskType {
				r.problem(problem.BadValue, t.ref.Range, "Reaction of a non-task",
					"Only tasks react to others; %s is a %s.", t.block.Name, t.block.Type)
				continue
			}
			r.model.rules = append(r.model.rules, rule{t.block, origin.Rel, origin.Policy, []target{{block, t.ref}}, origin, block})
		}
	}
}

// targets returns the targets of a rule's references, each block once.
func (r *resolver) targets(block *Block, rule *Rule) []target {
	var targets []target
	known := map[*Block]bool{}
	for _, ref := range rule.Refs {
		found := r.find(ref, block)
		if !r.spend(ref.Range, len(found)*order.StepsPerReferenced) {
			break
		}
		for _, other := range found {
			if !known[other] {
				known[other] = true
				targets = append(targets, target{other, ref})
			}
		}
	}
	return targets
}

// conflicts finds blocks that are to be both before and after another by rules of their own.
func (r *resolver) conflicts() {
	type pair struct{ writer, other *Block }
	before := map[pair]target{}
	for _, rule := range r.model.rules {
		if rule.rel == After && rule.origin.Inverse {
			p := pair{rule.writer, rule.of}
			if _, known := before[p]; !known {
				before[p] = rule.targets[0]
			}
		}
	}
	for _, rule := range r.model.rules {
		if rule.rel != After || rule.origin.Inverse {
			continue
		}
		for _, t := range rule.targets {
			p := pair{rule.writer, t.block}
			if other, conflict := before[p]; conflict {
				delete(before, p)
				r.problem(problem.Conflict, t.ref.Range, "Contradictory order",
					"%s is to be before %s, by %q at %s, and after it, by %q here. Remove one of the two.",
					rule.writer.Name, t.block.Name, other.ref.Text, problem.PlaceOf(other.ref.Range), t.ref.Text)
			}
		}
	}
}

// unusedLimits warns of limits of keys that nothing has.
func (r *resolver) unusedLimits() {
	var used []string
	for _, block := range r.model.Blocks {
		used = append(used, block.Keys...)
	}
	for _, key := range slices.Sorted(maps.Keys(r.model.Limits)) {
		if !slices.Contains(used, key) {
			r.diags = r.diags.Append(problem.Warning(problem.UnknownRef, &hcl.Range{Filename: r.model.Filename}, "Limit for an unknown key",
				"Nothing has the key %q, which the block \"workspace\" limits.%s", key, r.hints.DidYouMean(key, slices.Values(used))))
		}
	}
}

func (r *resolver) problem(code problem.Code, at hcl.Range, summary, detail string, args ...any) {
	r.diags = r.diags.Append(problem.New(code, &at, summary, detail, args...))
}

// Members returns the direct members of a group, in the order of its references.
func (m *Model) Members(group *Block) []*Block { return m.members[group] }

// ResolvedRule is a rule with its targets.
type ResolvedRule struct {
	Rel     Relation
	Policy  Policy
	Targets []*Block // that come first, or that it is modified by
	Place   order.Place
}

// Rules returns the rules of a block with targets that come before it, wherever they are written.
func (m *Model) Rules(block *Block) []ResolvedRule {
	var rules []ResolvedRule
	for r := range m.rulesFor(block) {
		resolved := ResolvedRule{Rel: r.rel, Policy: r.policy, Place: problem.PlaceOf(r.origin.Range)}
		for _, t := range r.targets {
			resolved.Targets = append(resolved.Targets, t.block)
		}
		rules = append(rules, resolved)
	}
	return rules
}

// rulesFor yields the rules of some blocks, each in the order of all.
func (m *Model) rulesFor(blocks ...*Block) iter.Seq[*rule] {
	var positions []int
	for _, block := range blocks {
		positions = append(positions, m.ruled[block]...)
	}
	slices.Sort(positions)
	return func(yield func(*rule) bool) {
		for _, i := range positions {
			if !yield(&m.rules[i]) {
				return
			}
		}
	}
}

// rulesOn yields the rules that hold for a leaf, its own and those of its groups.
func (m *Model) rulesOn(leaf *Leaf) iter.Seq[*rule] {
	return m.rulesFor(append(slices.Clone(leaf.Groups), leaf.Block)...)
}
