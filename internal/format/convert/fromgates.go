// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"cmp"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// FromGates makes a workspace file of gated stacks: each directory with its workspace is a stack,
// and each of the gated stacks a group, unless it is one of the former by itself.
func FromGates(layout *terrateam.Layout) Result {
	c := &fromGates{
		writer:    newWriter(),
		layout:    layout,
		stacks:    make([]string, len(layout.Stacks)),
		dirspaces: make([]string, len(layout.Dirspaces)),
		only:      map[int]int{},
		byName:    map[string]int{},
	}
	for i, s := range layout.Stacks {
		c.byName[s.Name] = i
	}
	c.nameAll()
	c.all = c.index(layout.Tags)
	c.own = c.index(func(d int) []string { return c.tags(d, false) })
	c.inGroups = c.index(func(d int) []string { return c.tags(d, true) })
	lost := c.Lost
	r := c.write()
	g, diags := r.graph(true)
	if diags.HasErrors() {
		c.writer = newWriter()
		c.Lost = slices.Clone(lost)
		c.findApart()
		r = c.write()
		g, diags = r.graph(true)
	}
	if !diags.HasErrors() { // otherwise [Result.Check] reports it
		c.between(&r, g)
	}
	return r
}

// write writes everything.
func (c *fromGates) write() Result {
	if len(c.layout.Dirspaces) > 0 {
		c.settings().list("files", c.usualFiles())
	}
	for i := range c.layout.Stacks {
		c.stack(i)
	}
	for d := range c.layout.Dirspaces {
		if c.dirspaces[d] != "" && !c.alone(d) {
			c.dirspace(d)
		}
	}
	c.requirements()
	return c.result()
}

// requirements reports the requirements before directories are applied, each once. Where there is
// any, auto_apply asks all the same.
func (c *fromGates) requirements() {
	var reported []*terrateam.Requirements
	for d := range c.layout.Dirspaces {
		q := c.layout.Requirements(d)
		if q == nil || slices.Contains(reported, q) {
			continue
		}
		reported = append(reported, q)
		c.lose(problem.PlaceAt(q.Range), "The requirements before an apply, which hold with auto_apply, too: %s",
			strings.Join(q.Names, ", "))
	}
}

type fromGates struct {
	*writer
	layout    *terrateam.Layout
	stacks    []string    // names of blocks; "" for a stack that is implicit
	dirspaces []string    // names of blocks; "" for those that cannot be written
	only      map[int]int // the dirspace that is all of a stack, and has its block
	byName    map[string]int
	usual     []string // files of stacks, unless they say otherwise

	all, own, inGroups *tagquery.Index // of dirspaces as they are, and in the workspace file by tags of their own and those of groups, too

	apart []bool // which stacks are written without their gates; see findApart
}

func (c *fromGates) alone(d int) bool {
	only, alone := c.only[c.layout.Owner(d)]
	return alone && only == d
}

func (c *fromGates) nameAll() {
	taken := names{}
	for i, s := range c.layout.Stacks {
		if s.Range == nil { // the implicit one
			continue
		}
		c.stacks[i] = c.name(taken, "stack", s.Name, problem.PlaceAt(s.Range))
		if d, alone := c.isDirspace(i); alone {
			c.only[i] = d
			c.dirspaces[d] = c.stacks[i]
		}
	}
	for d, dirspace := range c.layout.Dirspaces {
		if c.dirspaces[d] != "" {
			continue
		}
		if !writable(dirspace.Dir) {
			c.loseOrder(c.place(d), "The directory %q, which a workspace file cannot name", dirspace.Dir)
			continue
		}
		wish := cmp.Or(ofDir(dirspace.Dir), "root")
		if dirspace.Workspace != rollout.DefaultWorkspace {
			wish += "-" + dirspace.Workspace
		}
		c.dirspaces[d] = taken.add(wish)
	}
}

// isDirspace reports whether a stack is exactly one dirspace, now and later.
func (c *fromGates) isDirspace(i int) (int, bool) {
	s, owned := c.layout.Stacks[i], c.layout.Owned(i)
	if s.Nested || len(owned) != 1 {
		return 0, false
	}
	d := c.layout.Dirspaces[owned[0]]
	if !writable(d.Dir) {
		return 0, false
	}
	for _, text := range []string{queryWord("dir:" + d.Dir), queryWord("dir:"+d.Dir) + " and " + queryWord("workspace:"+d.Workspace)} {
		if q, err := tagquery.Parse(text); err == nil && q.Key() == s.Query.Key() {
			return owned[0], true
		}
	}
	return 0, false
}

// queryWord writes a tag of a query, with quotes if it needs them.
func queryWord(tag string) string {
	special := strings.ContainsAny(tag, `()"'`) || len(strings.Fields(tag)) != 1 || strings.TrimSpace(tag) != tag
	switch strings.ToLower(tag) {
	case "and", "or", "not", "in":
		special = true
	}
	switch {
	case !special && !strings.HasPrefix(tag, "dir~"):
		return tag
	case strings.Contains(tag, `"`):
		return "'" + tag + "'"
	}
	return `"` + tag + `"`
}

func (c *fromGates) place(d int) order.Place {
	return problem.PlaceAt(c.layout.Stacks[c.layout.Owner(d)].Range)
}

func (c *fromGates) stack(i int) {
	s := c.layout.Stacks[i]
	if c.stacks[i] == "" {
		return
	}
	at := problem.PlaceAt(s.Range)
	d, alone := c.only[i]
	var b block
	var on dependencies
	if alone {
		b = c.block(cairnfile.StackType, c.stacks[i], at)
		c.describe(b, d)
		on = c.dependsOn(d)
	} else {
		b = c.block(cairnfile.GroupType, c.stacks[i], at)
		b.emptyList("members", c.members(i))
		c.implicitEnd(i)
	}
	b.environment(s.Variables)
	behind := c.behindEmpty(s.Rules.ModifiedBy, map[int]bool{})
	modifiedBy, rules := c.modifiedBy(i, behind), c.rules(i)
	b.list("modified_by", unique(slices.Concat(modifiedBy, on.modifiedBy)))
	planAfter := unique(slices.Concat(c.named(rules.PlanAfter), on.modifiedBy, on.planAfter))
	// Without plan_after, modified_by is in its place (B-10), and also an empty list has a meaning
	// (B-11).
	implied := (rules.ImpliedPlanAfter || len(rules.ModifiedBy) == 0 && len(rules.PlanAfter) == 0) && len(on.planAfter)+len(behind) == 0
	if !implied {
		b.emptyList("plan_after", planAfter)
	}
	b.list("apply_after", c.named(rules.ApplyAfter))
	b.boolean("auto_apply", rules.AutoApply)
}

// implicitEnd reports a nested stack without members, which in a workspace file passes its gates
// on.
func (c *fromGates) implicitEnd(i int) {
	s := c.layout.Stacks[i]
	if s.Nested && len(s.Members) == 0 && len(s.Rules.PlanAfter)+len(s.Rules.ApplyAfter) > 0 && !c.isApart(i) {
		c.loseOrder(problem.PlaceAt(s.Range), "That nothing waits for the dependencies of the empty stack %s", s.Name)
	}
}

func (c *fromGates) named(refs []terrateam.Ref) []string {
	var list []string
	for _, ref := range refs {
		list = append(list, c.stacks[c.byName[ref.Name]])
	}
	return unique(list)
}

// behindEmpty returns the stacks that modify those of some stacks that have no directories, at any
// distance: they pass that on, and an empty group of a workspace file does not.
func (c *fromGates) behindEmpty(stacks []terrateam.Ref, seen map[int]bool) []terrateam.Ref {
	var behind []terrateam.Ref
	for _, ref := range stacks {
		n := c.byName[ref.Name]
		s := c.layout.Stacks[n]
		switch {
		case seen[n] || !s.Nested && len(c.layout.Owned(n)) > 0:
		case s.Nested:
			seen[n] = true
			behind = append(behind, c.behindEmpty(s.Members, seen)...)
		default:
			seen[n] = true
			for _, around := range append(c.layout.Around(n), n) {
				by := c.layout.Stacks[around].Rules.ModifiedBy
				behind = slices.Concat(behind, by, c.behindEmpty(by, seen))
			}
		}
	}
	return behind
}

// modifiedBy are the stacks that modify one, also those behind others. It can be one of them
// itself, so that all of it is modified with any part.
func (c *fromGates) modifiedBy(i int, behind []terrateam.Ref) []string {
	list := c.named(slices.Concat(c.layout.Stacks[i].Rules.ModifiedBy, behind))
	self := slices.Index(list, c.stacks[i])
	if self < 0 {
		return list
	}
	parts := c.list(c.layout.Owned(i))
	if _, alone := c.only[i]; alone {
		parts = nil
	} else if c.layout.Stacks[i].Nested {
		parts = c.named(c.layout.Stacks[i].Members)
	}
	return unique(slices.Concat(list[:self], parts, list[self+1:]))
}

// members are other stacks, or the matches of the query.
func (c *fromGates) members(i int) []string {
	s := c.layout.Stacks[i]
	if s.Nested {
		return c.named(slices.DeleteFunc(slices.Clone(s.Members), func(ref terrateam.Ref) bool {
			return c.isApart(c.byName[ref.Name]) && !c.isApart(i)
		}))
	}
	owned := c.layout.Owned(i)
	if text := s.Query.String(); c.same(text, owned, c.own) {
		return []string{"tag:" + text}
	}
	c.lose(problem.PlaceAt(s.Range), "That the stack %s takes in later matches of %q: the group has the members of today", s.Name, s.Query)
	return c.list(owned)
}

func (c *fromGates) list(dirspaces []int) []string {
	var list []string
	for _, d := range dirspaces {
		if c.dirspaces[d] != "" {
			list = append(list, c.dirspaces[d])
		}
	}
	return list
}

// same reports whether a query means the same dirspaces in the workspace file.
func (c *fromGates) same(text string, want []int, written *tagquery.Index) bool {
	q, err := tagquery.Parse(cty.NormalizeString(text))
	if err != nil {
		return false
	}
	lost := func(d int) bool { return c.dirspaces[d] == "" }
	return slices.Equal(slices.DeleteFunc(written.Matches(q), lost), slices.DeleteFunc(slices.Clone(want), lost))
}

// index finds dirspaces by tags, and by their directories.
func (c *fromGates) index(tags func(d int) []string) *tagquery.Index {
	subjects := make([]tagquery.Subject, len(c.layout.Dirspaces))
	for d, dirspace := range c.layout.Dirspaces {
		subjects[d] = tagquery.Subject{Dir: dirspace.Dir, Tags: map[string]bool{"dir:" + dirspace.Dir: true}}
		for _, tag := range tags(d) {
			subjects[d].Tags[tag] = true
		}
	}
	return tagquery.NewIndex(subjects)
}

// tags are those of a dirspace in the workspace file, with those of groups or without.
func (c *fromGates) tags(d int, groups bool) []string {
	dirspace := c.layout.Dirspaces[d]
	kind := rollout.Root
	if dirspace.IsStack {
		kind = rollout.Components
	}
	tags := []string{"stack_name:" + c.dirspaces[d], "workspace:" + orDefault(workspaceOf(dirspace)), "kind:" + string(kind)}
	for _, tag := range dirspace.Tags {
		tags = append(tags, cty.NormalizeString(tag))
	}
	if !groups {
		return tags
	}
	for _, tag := range c.layout.Tags(d) {
		if name, ok := strings.CutPrefix(tag, "stack_name:"); ok && c.stacks[c.byName[name]] != "" {
			tags = append(tags, "stack_name:"+c.stacks[c.byName[name]])
		}
	}
	return tags
}

// describe writes the attributes of a dirspace.
func (c *fromGates) describe(b block, d int) {
	dirspace := c.layout.Dirspaces[d]
	b.text("path", dirspace.Dir)
	b.text("workspace", workspaceOf(dirspace))
	if !cairnfile.ValidWorkspace(dirspace.Workspace) {
		c.lose(c.place(d), "The workspace %q of %s, which cannot be chosen", dirspace.Workspace, dirspace.Dir)
	}
	b.list("tags", dirspace.Tags)
	if files := c.files(d); !slices.Equal(files, c.usual) {
		b.emptyList("files", files)
	}
}

// workspaceOf is the workspace that is written, "" for the default one.
func workspaceOf(d *terrateam.Dirspace) string {
	if d.Workspace == rollout.DefaultWorkspace || !cairnfile.ValidWorkspace(d.Workspace) {
		return ""
	}
	return d.Workspace
}

// files are the patterns of a dirspace, seen from its directory.
func (c *fromGates) files(d int) []string {
	dirspace := c.layout.Dirspaces[d]
	var files []string
	add := func(sign string, patterns []string) {
		for _, pattern := range patterns {
			inside, ok := strings.CutPrefix(pattern, glob.Quote(dirspace.Dir)+"/")
			switch {
			case strings.HasPrefix(pattern, "/") || strings.HasPrefix(pattern, "../"): // no file is there
			case dirspace.Dir == ".":
				files = append(files, sign+literal(pattern))
			case ok:
				files = append(files, sign+literal(inside))
			default:
				files = append(files, sign+"/"+pattern)
			}
		}
	}
	with, without := dirspace.FilePatterns()
	add("", with)
	add("!", without)
	return unique(files)
}

// usualFiles are the patterns that most dirspaces have.
func (c *fromGates) usualFiles() []string {
	count := map[string]int{}
	most := 0
	for d := range c.layout.Dirspaces {
		files := c.files(d)
		key := strings.Join(files, "\x00")
		if count[key]++; count[key] > most {
			most, c.usual = count[key], files
		}
	}
	return c.usual
}

func (c *fromGates) dirspace(d int) {
	b := c.block(cairnfile.StackType, c.dirspaces[d], c.place(d))
	c.describe(b, d)
	on := c.dependsOn(d)
	b.list("modified_by", on.modifiedBy)
	b.list("plan_after", on.planAfter)
}

// dependencies are the meaning of depends_on.
type dependencies struct {
	modifiedBy []string // which are waited for, too
	planAfter  []string
}

// dependsOn translates depends_on. With prune_on_no_change it is an order only.
func (c *fromGates) dependsOn(d int) dependencies {
	dirspace := c.layout.Dirspaces[d]
	if dirspace.DependsOn == nil {
		return dependencies{}
	}
	query := dirspace.DependsOn.Query
	means := slices.DeleteFunc(c.all.Matches(query), func(other int) bool { return other == d })
	list := []string{"tag:" + query.String()}
	if !c.same(query.String(), means, c.inGroups) {
		list = c.list(means)
		c.lose(problem.PlaceAt(dirspace.DependsOn.Range), "That %s depends on later matches of %q: it has the stacks of today",
			dirspace.Name(), query)
	}
	if dirspace.DependsOn.PruneOnNoChange {
		return dependencies{planAfter: list}
	}
	return dependencies{modifiedBy: list}
}

// between reports the leaves that wait for something in the workspace file only because both have
// to do with a third one, also where that is no part of a run. Gates of one kind go on through
// others of their kind alone.
func (c *fromGates) between(r *Result, g *cairnfile.Graph) {
	byName := map[string]int{}
	for d, name := range c.dirspaces {
		if name != "" {
			byName[name] = d
		}
	}
	d := difference(c.layout, g, func(leaf *cairnfile.Leaf) int { return byName[leaf.Name] })
	for _, w := range d.onlyInWorkspace {
		r.loseOrder(c.place(w.dirspace), "That the %s of %s does not wait, if the steps in between are not part of a run, for %s",
			w.action, c.dirspaces[w.dirspace], w.names(func(d int) string { return c.dirspaces[d] }))
	}
}
