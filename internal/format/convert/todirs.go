// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"cmp"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclwrite"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// ToDirs makes a file stack.tm.hcl for the directory of each stack of a workspace file.
func ToDirs(m *cairnfile.Model) (Result, hcl.Diagnostics) {
	graph, diags := m.Graph(false)
	if diags.HasErrors() {
		return Result{}, diags
	}
	c := &toDirs{writer: newWriter(), model: m, graph: graph, byDir: map[string]int{}, tags: map[string]bool{}}
	c.choose()
	c.after()
	for i, s := range c.stacks {
		c.wanted(s, i)
	}
	c.refer()
	for _, s := range c.stacks {
		c.file(s)
	}
	c.sequence()
	c.loseSettings(m)
	c.Many = true
	slices.SortFunc(c.Files, func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	return *c.Result, nil
}

type toDirs struct {
	*writer
	model  *cairnfile.Model
	graph  *cairnfile.Graph
	stacks []*dirStack    // that are written
	byDir  map[string]int // positions in stacks
	byLeaf map[*cairnfile.Leaf]int
	tags   map[string]bool // that there are, or that are made

	edges  []order.Edge // between stacks, by their positions
	inTree *order.Graph
}

// dirStack is a stack that is written.
type dirStack struct {
	leaf   *cairnfile.Leaf
	dir    string // with a slash at the beginning
	tags   []string
	marker string // a tag that only this stack has; "" if it needs none

	after, before, wants, wantedBy []int // positions of stacks

	afterTexts, beforeTexts, wantsTexts, wantedByTexts []string
}

var stackTag = regexp.MustCompile(`^[A-Za-z0-9]([A-Za-z0-9_./-]*[A-Za-z0-9])?$`)

// choose finds out which stacks there can be.
func (c *toDirs) choose() {
	c.byLeaf = map[*cairnfile.Leaf]int{}
	for _, leaf := range c.model.Leaves {
		at := problem.PlaceOf(leaf.Range)
		if leaf.Task != nil {
			c.lose(at, "The task %s", leaf.Name)
			continue
		}
		dir := path.Join("/", leaf.Stack.Dir)
		if other, again := c.byDir[dir]; again {
			c.lose(at, "The stack %s, which has the directory of %s", leaf.Name, c.stacks[other].leaf.Name)
			continue
		}
		if slices.ContainsFunc(strings.Split(dir, "/"), func(element string) bool { return strings.HasPrefix(element, ".") }) {
			c.lose(at, "The stack %s, whose directory is hidden", leaf.Name)
			continue
		}
		c.byDir[dir] = len(c.stacks)
		c.byLeaf[leaf] = len(c.stacks)
		s := &dirStack{leaf: leaf, dir: dir, tags: c.tagsOf(leaf, at)}
		for _, tag := range s.tags {
			c.tags[tag] = true
		}
		c.stacks = append(c.stacks, s)
	}
}

func (c *toDirs) tagsOf(leaf *cairnfile.Leaf, at order.Place) []string {
	tags := tagsOn(leaf)
	slices.Sort(tags)
	return slices.DeleteFunc(slices.Compact(tags), func(tag string) bool {
		if stackTag.MatchString(tag) {
			return false
		}
		c.lose(at, "The tag %q of %s, which is none there", tag, leaf.Name)
		return true
	})
}

// after finds the predecessors of each stack. The tree puts stacks after those in the directories
// above them, which may contradict.
func (c *toDirs) after() {
	selected := make(order.Selection, c.graph.Len())
	position := make([]int, c.graph.Len())
	for n, step := range c.graph.Steps {
		position[n], selected[n] = c.byLeaf[step.Leaf]
	}
	var edges []order.Edge
	for _, edge := range c.graph.Reduced(selected, true) {
		edge.From, edge.To = position[edge.From], position[edge.To]
		edges = append(edges, edge)
	}
	nested := c.nesting()
	c.edges = edges
	inTree, err := c.build(slices.Concat(nested, edges))
	if err != nil {
		inTree = c.withoutCycles(nested, edges)
	}
	c.inTree = inTree
	for _, edge := range c.edges {
		before, after := c.stacks[edge.From], c.stacks[edge.To]
		if !isBelow(before.dir, after.dir) {
			after.after = append(after.after, edge.From)
		}
	}
	c.impliedOrder(nested)
}

// nesting returns the edges that the tree implies.
func (c *toDirs) nesting() []order.Edge {
	var nested []order.Edge
	for i, s := range c.stacks {
		for dir := s.dir; dir != "/"; {
			dir = path.Dir(dir)
			if above, ok := c.byDir[dir]; ok {
				nested = append(nested, order.Edge{From: above, To: i})
				break
			}
		}
	}
	return nested
}

func (c *toDirs) build(edges []order.Edge) (*order.Graph, error) {
	var b order.Builder
	for _, s := range c.stacks {
		b.Add(order.Node{Name: s.dir})
	}
	for _, edge := range edges {
		b.Edge(edge)
	}
	return b.Build()
}

// withoutCycles leaves out edges that contradict the tree. A node that comes after the end of such
// an edge still comes after its beginning.
func (c *toDirs) withoutCycles(nested, edges []order.Edge) *order.Graph {
	kept := newReach(len(c.stacks), nested)
	after := newReach(len(c.stacks), edges)
	c.edges = nil
	known := map[[2]int]bool{}
	for queue := slices.Clone(edges); len(queue) > 0; queue = queue[1:] {
		edge := queue[0]
		if key := [2]int{edge.From, edge.To}; edge.From == edge.To || known[key] {
			continue
		} else if known[key] = true; !kept.leads(edge.To, edge.From) {
			kept.add(edge)
			c.edges = append(c.edges, edge)
			continue
		}
		c.loseOrder(edge.Place, "That %s comes after %s, which a tree puts the other way round",
			c.stacks[edge.To].leaf.Name, c.stacks[edge.From].leaf.Name)
		for _, next := range after[edge.To] {
			queue = append(queue, order.Edge{From: edge.From, To: next, Place: edge.Place})
		}
	}
	graph, err := c.build(slices.Concat(nested, c.edges))
	if err != nil {
		panic("convert: " + err.Error()) // each edge was checked
	}
	return graph
}

// reach lists for each node its direct successors.
type reach [][]int

func newReach(nodes int, edges []order.Edge) reach {
	r := make(reach, nodes)
	for _, edge := range edges {
		r.add(edge)
	}
	return r
}

func (r reach) add(edge order.Edge) { r[edge.From] = append(r[edge.From], edge.To) }

// leads reports whether a way leads from one node to another.
func (r reach) leads(from, to int) bool {
	seen := map[int]bool{from: true}
	for queue := []int{from}; len(queue) > 0; queue = queue[1:] {
		if queue[0] == to {
			return true
		}
		for _, next := range r[queue[0]] {
			if !seen[next] {
				seen[next] = true
				queue = append(queue, next)
			}
		}
	}
	return false
}

// impliedOrder reports order that only the tree implies.
func (c *toDirs) impliedOrder(nested []order.Edge) {
	own := newReach(len(c.stacks), c.edges)
	for _, edge := range nested {
		if !own.leads(edge.From, edge.To) {
			s := c.stacks[edge.To]
			c.loseOrder(problem.PlaceOf(s.leaf.Range), "That nothing puts %s after %s: a stack comes after those in the directories above",
				s.leaf.Name, c.stacks[edge.From].leaf.Name)
		}
	}
}

func isBelow(dir, at string) bool {
	return dir == at || strings.HasPrefix(at, strings.TrimSuffix(dir, "/")+"/")
}

// refer writes the references of the stacks. A directory, and in most arguments a tag, too, stands
// also for the stacks below. Where that would be too much, the reference is written at the other
// end: a stack that comes before another comes before those below it anyway, and "wants" takes tags
// as they are.
func (c *toDirs) refer() {
	for i, s := range c.stacks {
		s.after, s.wantedBy = sorted(s.after), sorted(s.wantedBy)
		for _, n := range s.after {
			if c.exact(i, n, s.after) {
				s.afterTexts = append(s.afterTexts, c.text(n))
			} else {
				c.stacks[n].before = append(c.stacks[n].before, i)
			}
		}
		for _, n := range s.wantedBy {
			if c.exact(i, n, s.wantedBy) {
				s.wantedByTexts = append(s.wantedByTexts, c.text(n))
			} else {
				c.stacks[n].wants = append(c.stacks[n].wants, i)
			}
		}
	}
	for i, s := range c.stacks {
		for _, n := range sorted(s.before) {
			s.beforeTexts = append(s.beforeTexts, c.text(n))
		}
		s.wants = sorted(s.wants)
		for _, n := range s.wants {
			if c.exact(i, n, s.wants) {
				s.wantsTexts = append(s.wantsTexts, c.text(n))
			} else {
				s.wantsTexts = append(s.wantsTexts, "tag:"+c.marker(c.stacks[n]))
			}
		}
		for _, texts := range [][]string{s.afterTexts, s.beforeTexts, s.wantsTexts, s.wantedByTexts} {
			slices.Sort(texts)
		}
	}
}

func sorted(positions []int) []int {
	slices.Sort(positions)
	return slices.Compact(positions)
}

// exact reports whether the directory of a stack means no more to another one than the stacks that
// this refers to anyway.
func (c *toDirs) exact(i, n int, to []int) bool {
	dir := c.stacks[n].dir
	if isBelow(dir, c.stacks[i].dir) {
		return false
	}
	for k, s := range c.stacks {
		if k != n && isBelow(dir, s.dir) && !slices.Contains(to, k) {
			return false
		}
	}
	return true
}

// text names a stack with those below it: by its directory, or where that cannot be written by a
// tag that only it has.
func (c *toDirs) text(n int) string {
	if s := c.stacks[n]; !writable(s.dir) {
		return "tag:" + c.marker(s)
	}
	return c.stacks[n].dir
}

// marker returns a tag that only one stack has.
func (c *toDirs) marker(s *dirStack) string {
	if s.marker == "" {
		wish := "stack/" + s.leaf.Name
		if !stackTag.MatchString(wish) {
			wish += "/0" // tags do not end with a sign
		}
		s.marker = wish
		for n := 2; c.tags[s.marker]; n++ {
			s.marker = wish + "/" + strconv.Itoa(n)
		}
		c.tags[s.marker] = true
		s.tags = append(s.tags, s.marker)
	}
	return s.marker
}

// file writes the file of a stack, which has all its tags.
func (c *toDirs) file(s *dirStack) {
	leaf, at := s.leaf, problem.PlaceOf(s.leaf.Range)
	if !writable(s.dir) {
		c.lose(at, "The directory of %s has a name that files there cannot have", leaf.Name)
	}
	file := hclwrite.NewEmptyFile()
	b := block{c.writer, file.Body().AppendNewBlock("stack", nil).Body(), leaf.Name, at}
	b.text("name", leaf.Name)
	b.text("description", leaf.Description)
	b.list("tags", s.tags)
	b.list("after", s.afterTexts)
	b.list("before", s.beforeTexts)
	b.list("wants", s.wantsTexts)
	b.list("wanted_by", s.wantedByTexts)
	var watch []string
	for _, file := range leaf.Stack.Watch {
		if strings.ContainsAny(file, "*?[{") {
			c.lose(at, "That %s watches the pattern %q: only paths can be watched", leaf.Name, file)
			continue
		}
		watch = append(watch, "/"+file)
	}
	for _, file := range leaf.Stack.VarFiles {
		watch = append(watch, "/"+file)
	}
	b.list("watch", watch)
	c.loseRules(leaf)
	c.loseRest(leaf, at)
	c.Files = append(c.Files, File{strings.TrimPrefix(path.Join(s.dir, "stack.tm.hcl"), "/"), hclwrite.Format(file.Bytes())})
}

// wanted finds the stacks that are selected along with a stack by its own block and those of its
// groups.
func (c *toDirs) wanted(s *dirStack, i int) {
	add := func(list *[]int, blocks []*cairnfile.Block, what string) {
		for _, block := range blocks {
			for _, leaf := range c.model.LeavesOf(block) {
				if n, there := c.byLeaf[leaf]; !there {
					c.lose(problem.PlaceOf(s.leaf.Range), "That %s %s %s", s.leaf.Name, what, leaf.Name)
				} else if n != i {
					*list = append(*list, n)
				}
			}
		}
	}
	for _, block := range around(s.leaf) {
		w, by := c.model.Wants(block)
		add(&s.wants, w, "wants")
		add(&s.wantedBy, by, "is wanted by")
	}
}

// around returns the block of a leaf and its groups.
func around(leaf *cairnfile.Leaf) []*cairnfile.Block {
	return append([]*cairnfile.Block{leaf.Block}, leaf.Groups...)
}

// rulesOn returns the rules of a leaf and of its groups.
func rulesOn(m *cairnfile.Model, leaf *cairnfile.Leaf) []cairnfile.ResolvedRule {
	var rules []cairnfile.ResolvedRule
	for _, block := range around(leaf) {
		rules = append(rules, m.Rules(block)...)
	}
	return rules
}

// tagsOn returns the tags that are written for a leaf and for its groups.
func tagsOn(leaf *cairnfile.Leaf) []string {
	tags := slices.Clone(leaf.Tags)
	for _, group := range leaf.Groups {
		tags = append(tags, group.Tags...)
	}
	return tags
}

// loseRules reports rules that say more than an order.
func (c *toDirs) loseRules(leaf *cairnfile.Leaf) {
	for _, rule := range rulesOn(c.model, leaf) {
		switch rule.Rel {
		case cairnfile.ModifiedBy, cairnfile.ModifiedByOutputs:
			c.lose(rule.Place, "That %s is modified with others", leaf.Name)
		case cairnfile.Input:
			c.lose(rule.Place, "The inputs that %s has from others: it only comes after them", leaf.Name)
		case cairnfile.PlanAfter, cairnfile.ApplyAfter:
			c.lose(rule.Place, "That only a phase of %s waits: all of it does", leaf.Name)
		}
		if rule.Policy == cairnfile.Any {
			c.lose(rule.Place, "That one success is enough for %s: all are waited for", leaf.Name)
		}
	}
}

// loseRest reports everything else that a stack has, in a line.
func (c *toDirs) loseRest(leaf *cairnfile.Leaf, at order.Place) {
	there := theseOf([]part{
		{leaf.Stack.Deployment != "", "deployment"},
		{leaf.Stack.Workspace != "", "workspace"},
		{len(leaf.Variables) > 0, "variables"},
		{len(leaf.Environment) > 0, "environment"},
		{leaf.Stack.Files != nil, "files"},
		{len(leaf.Stack.VarFiles) > 0, "var_files, which are only watched"},
		{len(leaf.AllKeys) > 0, "keys"},
		{leaf.AutoApply, "auto_apply"},
	})
	if there != "" {
		c.lose(at, "Of %s: %s", leaf.Name, there)
	}
}

// sequence reports whether stacks that no rule orders run in another order.
func (c *toDirs) sequence() {
	var before []int
	for _, n := range c.graph.Sequence(c.model.Rule(), nil) {
		if i, there := c.byLeaf[c.graph.Steps[n].Leaf]; there {
			before = append(before, i)
		}
	}
	for k, n := range c.inTree.Sequence(order.ByQueue, nil) {
		if before[k] != n {
			c.loseOrder(order.Place{File: c.model.Filename}, "The order of stacks that no rule orders: %s runs where %s did",
				c.stacks[n].leaf.Name, c.stacks[before[k]].leaf.Name)
			return
		}
	}
}

// loseSettings reports the settings of the workspace and of groups.
func (w *writer) loseSettings(m *cairnfile.Model) {
	if m.Parallel > 0 {
		w.lose(order.Place{File: m.Filename}, "How much may run at the same time")
	}
	if len(m.Limits) > 0 {
		w.lose(order.Place{File: m.Filename}, "The limits of keys")
	}
	for _, block := range m.Blocks {
		if block.Type == cairnfile.GroupType && block.Group.Parallel > 0 {
			w.lose(problem.PlaceOf(block.Range), "The strategy of the group %s", block.Name)
		}
	}
}
