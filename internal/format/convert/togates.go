// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/problem"
)

// ToGates makes a .terrateam/config.yml of a workspace file: groups become nested stacks.
func ToGates(m *cairnfile.Model) (Result, hcl.Diagnostics) {
	graph, diags := m.Graph(true)
	if diags.HasErrors() {
		return Result{}, diags
	}
	c := &toGates{
		writer: newWriter(), model: m, graph: graph, byDir: map[string][]*cairnfile.Leaf{}, kept: map[*cairnfile.Block]bool{},
		added: map[*cairnfile.Block]map[string][]string{},
	}
	c.choose()
	c.through()
	var b strings.Builder
	b.WriteString("stacks:\n  names:")
	if len(c.kept) == 0 {
		b.WriteString(" {}")
	}
	b.WriteString("\n")
	for _, block := range m.Blocks {
		if c.kept[block] {
			c.stack(&b, block)
		}
	}
	c.dirs(&b)
	c.loseSettings(m)
	c.Files = []File{{terrateam.ConfigFile, []byte(b.String())}}
	if diags := c.between(); diags.HasErrors() {
		return Result{}, diags
	}
	return *c.Result, nil
}

type toGates struct {
	*writer
	model *cairnfile.Model
	graph *cairnfile.Graph
	byDir map[string][]*cairnfile.Leaf
	kept  map[*cairnfile.Block]bool
	added map[*cairnfile.Block]map[string][]string // rules in the place of those by way of dropped blocks
}

// choose selects the blocks that can be written: no tasks, and no second stack in the same
// workspace of a directory.
func (c *toGates) choose() {
	for _, block := range c.model.Blocks {
		at := problem.PlaceOf(block.Range)
		switch block.Type {
		case cairnfile.TaskType:
			c.lose(at, "The task %s", block.Name)
			continue
		case cairnfile.StackType:
			leaf, dir := c.model.LeavesOf(block)[0], path.Clean(block.Stack.Dir)
			same := slices.IndexFunc(c.byDir[dir], func(other *cairnfile.Leaf) bool { return other.Stack.Workspace == block.Stack.Workspace })
			if same >= 0 {
				c.lose(at, "The stack %s, which has the directory of %s", block.Name, c.byDir[dir][same].Name)
				continue
			}
			c.byDir[dir] = append(c.byDir[dir], leaf)
		}
		c.kept[block] = true
	}
}

// through finds the stacks that wait for others by way of a dropped block.
func (c *toGates) through() {
	for n, step := range c.graph.Steps {
		if step.Leaf == nil || !c.kept[step.Leaf.Block] {
			continue
		}
		key := "plan_after"
		if step.Phase == cairnfile.Apply {
			key = "apply_after"
		}
		for _, from := range c.beyond(n) {
			other := c.graph.Steps[from]
			switch {
			case other.Leaf == step.Leaf:
			case other.Phase == cairnfile.Plan:
				c.loseOrder(problem.PlaceOf(step.Leaf.Range), "That the %s of %s waits for the plan of %s alone",
					step.Phase, step.Leaf.Name, other.Leaf.Name)
			default:
				if c.added[step.Leaf.Block] == nil {
					c.added[step.Leaf.Block] = map[string][]string{}
				}
				c.added[step.Leaf.Block][key] = append(c.added[step.Leaf.Block][key], other.Leaf.Name)
			}
		}
	}
}

// beyond returns the nodes of stacks that are kept from which ways lead to a node by way of
// something that is not, sorted.
func (c *toGates) beyond(n int) []int {
	type visit struct {
		node int
		lost bool // something that was dropped is on the way
	}
	var found []int
	seen := map[visit]bool{}
	for queue := []visit{{n, false}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		for edge := range c.graph.Predecessors(at.node) {
			leaf := c.graph.Steps[edge.From].Leaf
			next := visit{edge.From, at.lost || leaf != nil && !c.kept[leaf.Block]}
			switch {
			case seen[next]:
			case leaf != nil && c.kept[leaf.Block]:
				if next.lost {
					found = append(found, edge.From)
				}
			default:
				queue = append(queue, next)
			}
			seen[next] = true
		}
	}
	slices.SortFunc(found, c.graph.Compare)
	return slices.Compact(found)
}

func (c *toGates) stack(b *strings.Builder, block *cairnfile.Block) {
	at := problem.PlaceOf(block.Range)
	comment(b, "    ", block.Description)
	fmt.Fprintf(b, "    %s:\n", quote(block.Name))
	var variables, environment map[string]string
	if block.Stack != nil {
		variables, environment = block.Stack.Variables, block.Stack.Environment
		fmt.Fprintf(b, "      tag_query: %s\n", quote(c.query(block)))
		if block.Stack.Deployment != "" {
			c.lose(at, "The deployment of the stack %s", block.Name)
		}
	} else {
		variables, environment = block.Group.Variables, block.Group.Environment
		var members []string
		for _, member := range c.model.Members(block) {
			if c.kept[member] {
				members = append(members, member.Name)
			}
		}
		c.today(block, "members", block.Group.Members)
		fmt.Fprintf(b, "      stacks: %s\n", list(members))
	}
	all := map[string]string{}
	maps.Copy(all, environment)
	for name, value := range variables {
		all[variablePrefix+name] = value
	}
	if len(all) > 0 {
		b.WriteString("      variables:\n")
		for _, name := range slices.Sorted(maps.Keys(all)) {
			fmt.Fprintf(b, "        %s: %s\n", quote(name), quote(all[name]))
		}
	}
	b.WriteString(c.rules(block))
	there := theseOf([]part{
		{block.Weight != nil, "order"}, {len(block.Keys) > 0, "keys"}, {len(block.Wants) > 0, "wants"}, {len(block.WantedBy) > 0, "wanted_by"},
	})
	if there != "" {
		c.lose(at, "Of %s: %s", block.Name, there)
	}
}

// today reports references that mean more when there is more.
func (w *writer) today(block *cairnfile.Block, what string, refs []cairnfile.Reference) {
	for _, ref := range refs {
		if !validName.MatchString(ref.Text) {
			w.lose(problem.PlaceOf(ref.Range), "Later matches of %q in %s of %s: those of today are written", ref.Text, what, block.Name)
		}
	}
}

// query names the directory of a stack, with its workspace if it is not the only one, or a tag that
// only the directory has.
func (c *toGates) query(block *cairnfile.Block) string {
	dir := path.Clean(block.Stack.Dir)
	query := queryWord("dir:" + dir)
	if tag := c.marker(dir); tag != "" {
		query = queryWord(tag)
	}
	if len(c.byDir[dir]) == 1 {
		return query
	}
	return query + " and " + queryWord("workspace:"+orDefault(block.Stack.Workspace))
}

func orDefault(name string) string {
	if name == "" {
		return rollout.DefaultWorkspace
	}
	return name
}

// marker is a tag for a directory that a query cannot name, "" for others.
func (c *toGates) marker(dir string) string {
	if !strings.Contains(dir, `"`) || !strings.Contains(dir, "'") {
		return ""
	}
	wish := "stack/" + c.byDir[dir][0].Name
	tag := wish
	for n := 2; slices.ContainsFunc(c.model.Leaves, func(leaf *cairnfile.Leaf) bool { return leaf.AllTags[tag] }); n++ {
		tag = wish + "/" + strconv.Itoa(n)
	}
	return tag
}

// rules writes the rules of a block, gates as they are and others as gates where that is the same.
func (c *toGates) rules(block *cairnfile.Block) string {
	rules := map[string][]string{}
	add := func(key, name string) {
		if !slices.Contains(rules[key], name) {
			rules[key] = append(rules[key], name)
		}
	}
	// In a configuration of gates modified_by stands for plan_after, too, unless that key is there,
	// even with an empty list (B-10). So a block with a rule for plans gets the key in any case, and
	// in one that gets it for another reason it repeats the targets of modified_by.
	planned := slices.ContainsFunc(block.Rules, func(rule cairnfile.Rule) bool { return rule.Rel == cairnfile.PlanAfter })
	if planned {
		rules["plan_after"] = []string{}
	}
	var modifiedBy []string
	for _, rule := range c.model.Rules(block) {
		key := map[cairnfile.Relation]string{
			cairnfile.After:             "plan_after",
			cairnfile.PlanAfter:         "plan_after",
			cairnfile.ApplyAfter:        "apply_after",
			cairnfile.ModifiedBy:        "modified_by",
			cairnfile.ModifiedByOutputs: "modified_by",
			cairnfile.Input:             "modified_by",
		}[rule.Rel]
		if rule.Policy == cairnfile.Any {
			c.lose(rule.Place, "That one success is enough for %s: all are waited for", block.Name)
		}
		if rule.Rel == cairnfile.ModifiedByOutputs {
			c.lose(rule.Place, "That only other outputs modify %s: all changes do", block.Name)
		}
		if rule.Rel == cairnfile.Input {
			c.lose(rule.Place, "The inputs that %s has from others: it only comes after them", block.Name)
		}
		for _, target := range rule.Targets {
			switch {
			case !c.kept[target] && key == "modified_by":
				c.lose(rule.Place, "That %s is modified with %s", block.Name, target.Name)
				continue
			case !c.kept[target]:
				c.lose(rule.Place, "That %s waits for %s", block.Name, target.Name)
				continue
			case key == "modified_by":
				modifiedBy = append(modifiedBy, target.Name)
			}
			if planned && (rule.Rel == cairnfile.ModifiedByOutputs || rule.Rel == cairnfile.Input) { // which cannot be known earlier
				add("plan_after", target.Name)
			}
			add(key, target.Name)
		}
	}
	for _, rule := range block.Rules {
		c.today(block, rule.Name, rule.Refs)
	}
	for _, key := range slices.Sorted(maps.Keys(c.added[block])) {
		for _, name := range c.added[block][key] {
			add(key, name)
		}
	}
	if _, written := rules["plan_after"]; written && !planned { // without it, it would be modified_by (B-10)
		for _, name := range modifiedBy {
			add("plan_after", name)
		}
	}
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(rules)) {
		fmt.Fprintf(&b, "        %s: %s\n", key, list(rules[key]))
	}
	if block.AutoApply != nil {
		fmt.Fprintf(&b, "        auto_apply: %t\n", *block.AutoApply)
	}
	if b.Len() == 0 {
		return ""
	}
	return "      rules:\n" + b.String()
}

// dirs writes the directories, and that there are no others.
func (c *toGates) dirs(b *strings.Builder) {
	b.WriteString("when_modified:\n  file_patterns: [] # only the directories below are stacks\n")
	if len(c.byDir) > 0 {
		b.WriteString("dirs:\n")
	}
	for _, dir := range slices.Sorted(maps.Keys(c.byDir)) {
		leaves := c.byDir[dir]
		fmt.Fprintf(b, "  %s:\n", quote(glob.Quote(dir)))
		if tag := c.marker(dir); tag != "" && len(leaves) > 1 {
			fmt.Fprintf(b, "    tags: %s\n", list([]string{tag}))
		}
		if len(leaves) == 1 && leaves[0].Stack.Workspace == "" {
			c.dir(b, "    ", leaves[0])
			continue
		}
		b.WriteString("    workspaces:\n")
		for _, leaf := range leaves {
			fmt.Fprintf(b, "      %s:\n", quote(orDefault(leaf.Stack.Workspace)))
			c.dir(b, "        ", leaf)
		}
	}
}

// dir writes the tags and the files of a stack.
func (c *toGates) dir(b *strings.Builder, indent string, leaf *cairnfile.Leaf) {
	tags := tagsOn(leaf)
	if tag := c.marker(leaf.Stack.Dir); tag != "" && len(c.byDir[leaf.Stack.Dir]) == 1 {
		tags = append(tags, tag)
	}
	if tags = unique(tags); len(tags) > 0 {
		fmt.Fprintf(b, "%stags: %s\n", indent, list(tags))
	}
	fmt.Fprintf(b, "%swhen_modified:\n%s  file_patterns: %s\n", indent, indent, list(c.files(leaf)))
}

const dirVariable = "${DIR}"

// files are patterns of the files whose change is one of a stack.
func (c *toGates) files(leaf *cairnfile.Leaf) []string {
	s := leaf.Stack
	var files []string
	inside := false
	for _, p := range s.Files {
		pattern := p.Pattern.String()
		if own, ok := strings.CutPrefix(pattern, glob.Quote(s.Dir)+"/"); ok {
			pattern = dirVariable + "/" + own
			inside = inside || !p.Without
		} else if inside = inside || s.Dir == "." && !p.Without; s.Dir == "." {
			pattern = dirVariable + "/" + pattern
		}
		pattern = literal(pattern)
		if p.Without {
			pattern = "!" + pattern
		}
		files = append(files, pattern)
	}
	switch {
	case s.Files == nil:
		files = append([]string{dirVariable + "/**"}, c.nested(leaf)...)
	case !inside:
		files = append(files, dirVariable+"/*.tf")
		c.lose(problem.PlaceOf(leaf.Range),
			"That files in the directory of %s do not count: its *.tf do, without which there is no stack", leaf.Name)
	}
	for _, file := range s.VarFiles {
		files = append(files, literal(glob.Quote(file)))
	}
	for _, file := range s.Watch {
		files = append(files, literal(file))
		if !strings.ContainsAny(file, "*?[{") {
			files = append(files, literal(file+"/**"))
		}
	}
	return unique(files)
}

// literal keeps a pattern of a name that begins with "!" from taking away.
func literal(pattern string) string {
	if strings.HasPrefix(pattern, "!") {
		return "./" + pattern
	}
	return pattern
}

// nested takes away the directories of other stacks.
func (c *toGates) nested(leaf *cairnfile.Leaf) []string {
	var files []string
	named := false
	own := leaf.Stack.Dir + "/"
	for _, other := range c.model.Leaves {
		if other.Stack == nil || other.Stack.Dir == leaf.Stack.Dir || leaf.Stack.Dir != "." && !strings.HasPrefix(other.Stack.Dir, own) {
			continue
		}
		files = append(files, "!"+glob.Quote(other.Stack.Dir)+"/**")
		for _, file := range slices.Concat(leaf.Stack.Watch, leaf.Stack.VarFiles) {
			named = named || strings.ContainsAny(file, "*?[{") || isBelow("/"+other.Stack.Dir, path.Join("/", file)) ||
				isBelow(path.Join("/", file), "/"+other.Stack.Dir)
		}
	}
	if named {
		c.lose(problem.PlaceOf(leaf.Range), "That of directories of other stacks below that of %s only some files count: all do", leaf.Name)
		return nil
	}
	slices.Sort(files)
	return unique(files)
}

// between reports the stacks that wait for something only in the workspace file, or only in the
// gates, where something that lies between is no part of a run.
func (c *toGates) between() hcl.Diagnostics {
	config, diags := terrateam.Read(terrateam.ConfigFile, c.Files[0].Text)
	if diags.HasErrors() {
		return diags
	}
	var files []string
	for _, dir := range slices.Sorted(maps.Keys(c.byDir)) {
		files = append(files, path.Join(dir, "main.tf"))
	}
	dirspaces, diags := config.Dirspaces(files, func(string) bool { return false })
	layout, moreDiags := terrateam.New(config, dirspaces)
	if diags = diags.Extend(moreDiags); diags.HasErrors() {
		return diags
	}
	number := map[*cairnfile.Leaf]int{}
	for dir, leaves := range c.byDir {
		for _, leaf := range leaves {
			number[leaf] = slices.IndexFunc(layout.Dirspaces, func(d *terrateam.Dirspace) bool {
				return d.Dir == dir && (len(leaves) == 1 || d.Workspace == orDefault(leaf.Stack.Workspace))
			})
		}
	}
	byNumber := map[int]*cairnfile.Leaf{}
	for leaf, n := range number {
		byNumber[n] = leaf
	}
	d := difference(layout, c.graph, func(leaf *cairnfile.Leaf) int {
		if n, there := number[leaf]; there {
			return n
		}
		return -1
	})
	name := func(n int) string { return byNumber[n].Name }
	for _, w := range d.onlyInWorkspace {
		c.loseOrder(problem.PlaceOf(byNumber[w.dirspace].Range),
			"That the %s of %s waits, also if the steps in between are not part of a run, for %s",
			w.action, name(w.dirspace), w.names(name))
	}
	for _, w := range d.onlyInGates {
		c.loseOrder(problem.PlaceOf(byNumber[w.dirspace].Range),
			"That the %s of %s does not wait for %s", w.action, name(w.dirspace), w.names(name))
	}
	return nil
}
