// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"maps"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// DefaultStack is the stack of dirspaces that no other claims, unless a stack of this name is
// configured.
const DefaultStack = "default"

// Layout is a checked configuration together with the dirspaces of a repository. It does not
// change.
//
// Stacks and dirspaces are named by their positions in these slices.
type Layout struct {
	Stacks    []*Stack
	Dirspaces []*Dirspace // sorted by directory and workspace

	byName    map[string]int
	enclosing [][]int // the nested stacks that name a stack as a member
	owner     []int   // of each dirspace, a leaf
	owned     [][]int // the dirspaces of each stack
	depends   []dependency
	dependsOn [][]int // of each dirspace, positions in depends

	requirements []Requirements
}

// dependency holds the common dependencies of all dirspaces that have the same query, or an
// alternative of one.
type dependency struct {
	query tagquery.Query
	on    []int // dirspaces
}

// New checks that the dirspaces can be put in order whatever the change. With error diagnostics
// there is no layout.
func New(config *Config, dirspaces []*Dirspace) (*Layout, hcl.Diagnostics) {
	l := &Layout{
		Stacks: slices.Clone(config.Stacks), Dirspaces: slices.SortedFunc(slices.Values(dirspaces), compareDirspaces),
		byName: map[string]int{}, requirements: config.Requirements,
	}
	for i, s := range l.Stacks {
		l.byName[s.Name] = i
	}
	diags := l.checkRefs()
	if !diags.HasErrors() {
		diags = diags.Extend(l.checkCycles())
	}
	if diags.HasErrors() {
		return nil, diags
	}
	diags = diags.Extend(l.assignOwners())
	if diags.HasErrors() {
		return nil, diags
	}
	diags = diags.Extend(l.checkVariables())
	diags = diags.Extend(l.resolveDependencies())
	if diags.HasErrors() {
		return nil, diags
	}
	everything := make([]bool, len(l.Dirspaces))
	for i := range everything {
		everything[i] = true
	}
	if _, err := l.graph(everything, false); err != nil {
		return nil, diags.Extend(problem.OfCycles(err))
	}
	return l, diags
}

// refs calls yield with the rules of a stack that name others.
func (s *Stack) refs(yield func(rule string, refs []Ref) bool) {
	_ = yield("stacks", s.Members) &&
		yield("plan_after", s.Rules.PlanAfter) &&
		yield("apply_after", s.Rules.ApplyAfter) &&
		yield("modified_by", s.Rules.ModifiedBy)
}

// checkRefs checks that every stack that is named exists (B-19), and records the members of nested
// stacks.
func (l *Layout) checkRefs() hcl.Diagnostics {
	var diags hcl.Diagnostics
	var hints nearest.Hints
	l.enclosing = make([][]int, len(l.Stacks), len(l.Stacks)+1)
	for i, s := range l.Stacks {
		for rule, refs := range s.refs {
			if rule == "plan_after" && s.Rules.ImpliedPlanAfter {
				continue
			}
			for _, ref := range refs {
				n, known := l.byName[ref.Name]
				if !known {
					diags = diags.Append(problem.New(problem.UnknownRef, ref.Range, "Unknown stack",
						"The stack %q names %q in %s, but there is no such stack.%s",
						s.Name, ref.Name, rule, hints.DidYouMean(ref.Name, maps.Keys(l.byName))))
				} else if rule == "stacks" && !slices.Contains(l.enclosing[n], i) {
					l.enclosing[n] = append(l.enclosing[n], i)
				}
			}
		}
	}
	return diags
}

// checkCycles checks membership, plan_after and apply_after together (B-20): each stack has a
// beginning and an end, its members are between them, and a stack that it is to be after ends
// before it begins.
func (l *Layout) checkCycles() hcl.Diagnostics {
	var b order.Builder
	for _, s := range l.Stacks {
		begin := b.Add(order.Node{Name: s.Name})
		b.Edge(order.Edge{From: begin, To: b.Add(order.Node{Name: s.Name})})
	}
	begin := func(s int) int { return 2 * s }
	end := func(s int) int { return 2*s + 1 }
	for i, s := range l.Stacks {
		for rule, refs := range s.refs {
			for _, ref := range refs {
				n := l.byName[ref.Name]
				switch rule {
				case "stacks":
					reason := ref.Name + " is one of the stacks of " + s.Name
					b.Edge(order.Edge{From: begin(i), To: begin(n), Reason: reason, Place: problem.PlaceAt(ref.Range)})
					b.Edge(order.Edge{From: end(n), To: end(i), Reason: reason, Place: problem.PlaceAt(ref.Range)})
				case "plan_after", "apply_after":
					b.Edge(order.Edge{From: end(n), To: begin(i), Reason: s.because(rule, ref.Name), Place: problem.PlaceAt(ref.Range)})
				}
			}
		}
	}
	_, err := b.Build()
	return problem.OfCycles(onlyNames(err, nil))
}

// because says why a stack is after another.
func (s *Stack) because(rule, name string) string {
	if rule == "plan_after" && s.Rules.ImpliedPlanAfter {
		return s.Name + " has modified_by " + name + " and no plan_after"
	}
	return s.Name + " has " + rule + " " + name
}

// assignOwners finds the leaf of each dirspace (B-17, B-18).
func (l *Layout) assignOwners() hcl.Diagnostics {
	var diags hcl.Diagnostics
	index := l.index(func(dirspace int) []string { return l.Dirspaces[dirspace].ownTags() })
	l.owner = slices.Repeat([]int{-1}, len(l.Dirspaces))
	for i, s := range l.Stacks {
		if s.Nested {
			continue
		}
		for _, d := range index.Matches(s.Query) {
			if other := l.owner[d]; other >= 0 {
				diags = diags.Append(problem.New(problem.MultipleOwners, s.Range, "Directory in two stacks",
					"The directory %q with workspace %q is in the stacks %q and %q. Change their tag queries, so that only one of them matches it.",
					l.Dirspaces[d].Dir, l.Dirspaces[d].Workspace, l.Stacks[other].Name, s.Name))
				continue
			}
			l.owner[d] = i
		}
	}
	diags = diags.Extend(l.assignDefault())
	l.owned = make([][]int, len(l.Stacks))
	for d, s := range l.owner {
		if s >= 0 {
			l.owned[s] = append(l.owned[s], d)
		}
	}
	return diags
}

func (l *Layout) assignDefault() hcl.Diagnostics {
	if !slices.Contains(l.owner, -1) {
		return nil
	}
	var diags hcl.Diagnostics
	if n, defined := l.byName[DefaultStack]; defined {
		for d, owner := range l.owner {
			if owner < 0 {
				diags = diags.Append(problem.New(problem.NoOwner, l.Stacks[n].Range, "Directory without a stack",
					"The directory %q with workspace %q is in no stack. As a stack named %q is configured, "+
						"there is no other one for directories that no tag query matches: "+
						"change its tag query, or the name of the stack.", l.Dirspaces[d].Dir, l.Dirspaces[d].Workspace, DefaultStack))
			}
		}
		return diags
	}
	l.byName[DefaultStack] = len(l.Stacks)
	for d, owner := range l.owner {
		if owner < 0 {
			l.owner[d] = len(l.Stacks)
		}
	}
	l.Stacks = append(l.Stacks, &Stack{Name: DefaultStack})
	l.enclosing = append(l.enclosing, nil)
	return nil
}

// Owner returns the leaf of a dirspace.
func (l *Layout) Owner(dirspace int) int { return l.owner[dirspace] }

// Owned returns the dirspaces of a leaf. Not to be changed.
func (l *Layout) Owned(stack int) []int { return l.owned[stack] }

// Around returns the nested stacks that hold a stack at any depth, the nearest first.
func (l *Layout) Around(stack int) []int {
	seen := map[int]bool{}
	var all []int
	for next := l.enclosing[stack]; len(next) > 0; {
		var outer []int
		for _, n := range next {
			if !seen[n] {
				seen[n] = true
				all = append(all, n)
				outer = append(outer, l.enclosing[n]...)
			}
		}
		next = outer
	}
	return all
}

// Tags returns all tags of a dirspace, with those that every dirspace has (B-24).
func (l *Layout) Tags(dirspace int) []string {
	tags := append(l.Dirspaces[dirspace].ownTags(), "stack_name:"+l.Stacks[l.owner[dirspace]].Name)
	for _, n := range l.Around(l.owner[dirspace]) {
		tags = append(tags, "stack_name:"+l.Stacks[n].Name)
	}
	return tags
}

// Matches reports whether a query matches a dirspace with all its tags.
func (l *Layout) Matches(q tagquery.Query, dirspace int) bool {
	return q.Match(l.subject(dirspace, l.Tags(dirspace)))
}

func (l *Layout) subject(dirspace int, tags []string) tagquery.Subject {
	subject := tagquery.Subject{Dir: l.Dirspaces[dirspace].Dir, Tags: map[string]bool{}}
	for _, tag := range tags {
		subject.Tags[tag] = true
	}
	return subject
}

// index finds dirspaces by their tags.
func (l *Layout) index(tags func(dirspace int) []string) *tagquery.Index {
	subjects := make([]tagquery.Subject, len(l.Dirspaces))
	for i := range l.Dirspaces {
		subjects[i] = l.subject(i, tags(i))
	}
	return tagquery.NewIndex(subjects)
}

// Variables returns the environment variables for the work on a stack, its own and those of all
// that hold it. Of those with the same name the innermost counts (B-13, B-22).
func (l *Layout) Variables(stack int) map[string]string {
	variables := maps.Clone(l.Stacks[stack].Variables)
	if variables == nil {
		variables = map[string]string{}
	}
	for _, n := range l.Around(stack) {
		for name, value := range l.Stacks[n].Variables {
			if _, set := variables[name]; !set {
				variables[name] = value
			}
		}
	}
	return variables
}

// checkVariables warns where two stacks of which none holds the other give a member different
// values.
func (l *Layout) checkVariables() hcl.Diagnostics {
	var diags hcl.Diagnostics
	for i, s := range l.Stacks {
		if len(l.enclosing[i]) < 2 {
			continue
		}
		first := map[string]int{}
		for _, n := range l.enclosing[i] {
			for _, name := range slices.Sorted(maps.Keys(l.Stacks[n].Variables)) {
				other, twice := first[name]
				if !twice {
					first[name] = n
					continue
				}
				if _, own := s.Variables[name]; !own && l.Stacks[other].Variables[name] != l.Stacks[n].Variables[name] {
					diags = diags.Append(problem.Warning(problem.Conflict, s.Range, "Conflicting variable values",
						"The stacks %q and %q both hold %q and set the variable %q differently. "+
							"The value of %q counts; set it in %q to say which one you mean.",
						l.Stacks[other].Name, l.Stacks[n].Name, s.Name, name, l.Stacks[other].Name, s.Name))
				}
			}
		}
	}
	return diags
}

// AutoApply reports whether a stack is applied without being asked: as the outermost stack that
// holds it says, if any does (B-23). Of several that are side by side, all must say so.
func (l *Layout) AutoApply(stack int) bool {
	decision := l.autoApply(stack, map[int]*bool{})
	return decision != nil && *decision
}

func (l *Layout) autoApply(stack int, known map[int]*bool) *bool {
	if decision, ok := known[stack]; ok {
		return decision
	}
	decision := l.Stacks[stack].Rules.AutoApply
	var outer *bool
	for _, n := range l.enclosing[stack] {
		if d := l.autoApply(n, known); d != nil && (outer == nil || !*d) {
			outer = d
		}
	}
	if outer != nil {
		decision = outer
	}
	known[stack] = decision
	return decision
}

// Hidden returns warnings about variables that hide some of an environment, given as in
// [os.Environ] (B-13).
func (l *Layout) Hidden(environ []string) hcl.Diagnostics {
	values := map[string]bool{}
	for _, entry := range environ {
		name, _, _ := strings.Cut(entry, "=")
		values[name] = true
	}
	var diags hcl.Diagnostics
	for _, s := range l.Stacks {
		for _, name := range slices.Sorted(maps.Keys(s.Variables)) {
			if values[name] {
				diags = diags.Append(problem.Warning(problem.Conflict, s.Range, "Shadowed environment variable",
					"The variable %q of the stack %q hides an environment variable of that name. Rename it if that is not intended.", name, s.Name))
			}
		}
	}
	return diags
}

// maxDepends is how many directories all that is written in depends_on may match together.
const maxDepends = 2_000_000

// resolveDependencies finds the matches of each depends_on. Queries that several share are resolved
// once.
func (l *Layout) resolveDependencies() hcl.Diagnostics {
	matched := 0
	index := l.index(l.Tags)
	shared := map[string]int{}
	l.dependsOn = make([][]int, len(l.Dirspaces))
	for i, d := range l.Dirspaces {
		if d.DependsOn == nil {
			continue
		}
		for _, query := range d.DependsOn.Query.Alternatives() {
			key := query.Key()
			at, known := shared[key]
			if !known {
				at = len(l.depends)
				shared[key] = at
				l.depends = append(l.depends, dependency{query: query, on: index.Matches(query)})
				matched += len(l.depends[at].on)
			}
			l.dependsOn[i] = append(l.dependsOn[i], at)
			if matched++; matched > maxDepends {
				return hcl.Diagnostics{problem.New(problem.Syntax, d.DependsOn.Range, "Too many dependencies",
					"The queries in depends_on match more than %d directories altogether. "+
						"Use stacks and plan_after, which hold as many as there are.", maxDepends)}
			}
		}
	}
	return nil
}
