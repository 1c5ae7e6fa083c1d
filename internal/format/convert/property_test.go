// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/plugintasks"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// The output of a conversion can be read, twice gives the same bytes, and the order is the same
// where no loss says otherwise.

// seeds are inputs of the fuzz targets that every test run checks.
func seeds(f *testing.F, n uint64) {
	for seed := range n {
		f.Add(seed)
	}
}

type generator struct{ *rand.Rand }

func newGenerator(seed uint64) generator { return generator{rand.New(rand.NewPCG(seed, 1))} }

func (g generator) one(list []string) string { return list[g.IntN(len(list))] }

func (g generator) chance(percent int) bool { return g.IntN(100) < percent }

// some returns up to most elements of a list.
func (g generator) some(list []string, most int) []string {
	var chosen []string
	for range g.IntN(most + 1) {
		chosen = append(chosen, g.one(list))
	}
	return unique(chosen)
}

// words are names that are hard to quote.
var words = []string{
	"a", "b", "c", "net", "a-b", "x(1)", "it's", `q"q`, "and", "é", "[a]", "a*", "{x}", "s p", "$x", "%{y", "1", "yes", "-z", "日本",
}

func quoted(texts []string) string {
	var list []string
	for _, text := range texts {
		list = append(list, hclQuote(text))
	}
	return "[" + strings.Join(list, ", ") + "]"
}

func hclQuote(text string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "${", "$${", "%{", "%%{", "\n", `\n`).Replace(text) + `"`
}

// tree makes files of stack directories.
func (g generator) tree() map[string]string {
	dirs := []string{"."}
	for range 2 + g.IntN(8) {
		dirs = append(dirs, path.Join(g.one(dirs), g.one(words)))
	}
	dirs = unique(dirs)[1:]
	tags := []string{"prod", "and", "In", "a.b/c", "x"}
	entries := []string{"tag:prod", "tag:and:x,In", "tag:a.b/c", "tag:no", "/", "/nowhere"}
	for _, dir := range dirs {
		entries = append(entries, "/"+dir, "/"+dir, "/"+path.Dir(dir))
	}
	files := map[string]string{}
	for _, dir := range dirs {
		var b strings.Builder
		b.WriteString("stack {\n")
		list := func(name string, percent int, from []string) {
			if g.chance(percent) {
				fmt.Fprintf(&b, "  %s = %s\n", name, quoted(g.some(from, 2)))
			}
		}
		list("tags", 50, tags)
		list("after", 40, append(entries, "..", "../*", "."))
		list("before", 15, entries)
		list("wants", 15, entries)
		list("wanted_by", 15, entries)
		list("watch", 10, entries)
		if g.chance(20) {
			fmt.Fprintf(&b, "  name = %s\n", hclQuote(g.one(words)))
		}
		b.WriteString("}\n")
		files[path.Join(dir, "stack.tm.hcl")] = b.String()
	}
	return files
}

func readTree(t *testing.T, files map[string]string) (*terramate.Tree, hcl.Diagnostics) {
	t.Helper()
	dir := t.TempDir()
	write(t, dir, files)
	tree, diags := terramate.Load(dir)
	if diags.HasErrors() {
		return nil, diags
	}
	_, diags = tree.Graph()
	return tree, diags
}

func FuzzDirs(f *testing.F) {
	seeds(f, 30)
	f.Fuzz(func(t *testing.T, seed uint64) {
		files := newGenerator(seed).tree()
		tree, diags := readTree(t, files)
		if diags.HasErrors() {
			return
		}
		r := FromDirs(tree)
		if again := FromDirs(tree); string(again.Text()) != string(r.Text()) {
			t.Error("converting twice gives different texts")
		}
		if losesOrder(r) {
			t.Errorf("order is lost:\n%s", lost(r))
		}
		m := model(t, string(r.Text()))
		sameOrder(t, tree, m)
		sameSelections(t, tree, m)
		fromWorkspace(t, m)
		if t.Failed() {
			t.Logf("seed %d\n%v\n%s", seed, files, r.Text())
		}
	})
}

// sameSelections compares the stacks that are selected along with each stack.
func sameSelections(t *testing.T, tree *terramate.Tree, m *cairnfile.Model) {
	t.Helper()
	for i, stack := range tree.Stacks {
		filter := terramate.Filter{Changed: make(order.Selection, len(tree.Stacks))}
		filter.Changed[i] = true
		var want, got []string
		for k, selected := range tree.Select(filter).Selection {
			if selected {
				want = append(want, tree.Stacks[k].Path)
			}
		}
		only := func(leaf *cairnfile.Leaf) bool { return path.Join("/", leaf.Stack.Dir) == stack.Path }
		for leaf := range m.Select(cairnfile.Filter{Only: only}).Leaves {
			got = append(got, path.Join("/", leaf.Stack.Dir))
		}
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("selected along with %s (-stack directories +workspace):\n%s", stack.Path, diff)
		}
	}
}

// gates makes a configuration and the directories it is about.
func (g generator) gates() (config string, dirs []string) {
	var b strings.Builder
	b.WriteString("stacks:\n  names:\n")
	names := []string{"s1", "s 2", "and", "é", "it's", "s1-2", "s-2"}
	leaves := names[:2+g.IntN(len(names)-1)]
	rules := func(from []string) string {
		var parts []string
		for _, kind := range []string{"plan_after", "apply_after", "modified_by"} {
			if g.chance(30) {
				parts = append(parts, kind+": "+list(g.some(from, 2)))
			}
		}
		if g.chance(20) {
			parts = append(parts, fmt.Sprintf("auto_apply: %t", g.chance(50)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
	variables := func() string {
		if g.chance(30) {
			return ", variables: {" + quote(g.one([]string{"x", "TF_VAR_y", "z z"})) + ": " + quote(g.one(words)) + "}"
		}
		return ""
	}
	all := slices.Clone(leaves)
	for i := range g.IntN(3) {
		all = append(all, fmt.Sprintf("group%d", i))
	}
	var dirEntries strings.Builder
	for i, leaf := range leaves {
		dir := fmt.Sprintf("d%d/%s", i, g.one(words))
		query := queryWord("dir:" + dir)
		if i == 0 || g.chance(85) { // others have no directory
			dirs = append(dirs, dir)
		}
		var settings []string
		switch g.IntN(4) {
		case 0:
			query = queryWord(fmt.Sprintf("t %d", i))
			settings = append(settings, "tags: "+list([]string{fmt.Sprintf("t %d", i), "common"}))
		case 1:
			query += " and workspace:w"
			settings = append(settings, "workspaces: {w: {}}")
		case 2:
			query = fmt.Sprintf("d%d in dir", i)
			dirs = append(dirs, fmt.Sprintf("d%d/more", i))
		}
		if strings.Contains(dir, `"`) && strings.Contains(dir, "'") {
			query = fmt.Sprintf("d%d in dir", i)
		}
		var modified []string
		if g.chance(20) && i > 0 {
			on := g.one([]string{
				"common",
				"stack_name:" + leaves[i-1],
				queryWord("dir:" + dirs[0]),
				fmt.Sprintf("relative_dir:../../d%d/more", i-1),
			})
			modified = append(modified, fmt.Sprintf("depends_on: {tag_query: %s, prune_on_no_change: %t}",
				quote("("+on+") and not d"+fmt.Sprint(i)+" in dir"), g.chance(50)))
		}
		if g.chance(20) {
			modified = append(modified, "file_patterns: "+list([]string{"${DIR}/*.tf", g.one([]string{"!${DIR}/gen.tf", "shared/**", "a{b,c}/*"})}))
		}
		if len(modified) > 0 {
			settings = append(settings, "when_modified: {"+strings.Join(modified, ", ")+"}")
		}
		if len(settings) > 0 {
			fmt.Fprintf(&dirEntries, "  %s: {%s}\n", quote(glob.Quote(dir)), strings.Join(settings, ", "))
		}
		fmt.Fprintf(&b, "    %s: {tag_query: %s, rules: %s%s}\n", quote(leaf), quote(query), rules(all), variables())
	}
	for i, name := range all[len(leaves):] {
		members := g.some(all[:len(leaves)+i], 3)
		if g.chance(85) { // others may have none
			members = append(members, g.one(leaves))
		}
		fmt.Fprintf(&b, "    %s: {stacks: %s, rules: %s%s}\n", name, list(unique(members)), rules(all), variables())
	}
	if dirEntries.Len() > 0 {
		b.WriteString("dirs:\n" + dirEntries.String())
	}
	if g.chance(30) {
		dirs = append(dirs, "unowned")
	}
	return b.String(), unique(dirs)
}

func FuzzGates(f *testing.F) {
	seeds(f, 100)
	for _, seed := range []uint64{3389, 8936, 13757, 14704, 15902, 17251} { // with empty stacks that would close a cycle
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := newGenerator(seed)
		config, dirs := g.gates()
		layout := readGates(config, dirs)
		if layout == nil {
			return
		}
		r := FromGates(layout)
		if again := FromGates(layout); string(again.Text()) != string(r.Text()) {
			t.Error("converting twice gives different texts")
		}
		m := model(t, string(r.Text()))
		for n := range 6 {
			changed := g.some(dirs, 3)
			if n == 0 {
				changed = dirs
			}
			files := mainFiles(changed)
			want, got := gateSteps(layout, files), workspaceSteps(t, m, files)
			if losesOrder(r) && (n > 0 || hasEmpty(layout)) {
				want, got = single(want), single(got) // the losses are about changes of some, not of all, and not about modification
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("steps for %s (-gates +workspace):\n%s", changed, diff)
			}
		}
		fromWorkspace(t, m)
		if t.Failed() {
			t.Logf("seed %d\n%s\n%s\n%s", seed, config, r.Text(), lost(r))
		}
	})
}

// single are the parts of steps such as "plan a, b", sorted.
func single(steps []string) []string {
	var parts []string
	for _, step := range steps {
		phase, names, _ := strings.Cut(step, " ")
		for name := range strings.SplitSeq(names, ", ") {
			parts = append(parts, phase+" "+name)
		}
	}
	slices.Sort(parts)
	return parts
}

// hasEmpty reports whether there is a leaf without directories, or a stack without members, which
// is never part of a run.
func hasEmpty(layout *terrateam.Layout) bool {
	for i, s := range layout.Stacks {
		if s.Nested && len(s.Members) == 0 || !s.Nested && len(layout.Owned(i)) == 0 {
			return true
		}
	}
	return false
}

// readGates returns nil if there are errors.
func readGates(config string, dirs []string) *terrateam.Layout {
	c, diags := terrateam.Read(terrateam.ConfigFile, []byte(config))
	if diags.HasErrors() {
		return nil
	}
	dirspaces, diags := c.Dirspaces(mainFiles(dirs), func(string) bool { return false })
	if diags.HasErrors() {
		return nil
	}
	l, diags := terrateam.New(c, dirspaces)
	if diags.HasErrors() {
		return nil
	}
	return l
}

func FuzzPlugins(f *testing.F) {
	seeds(f, 60)
	f.Fuzz(func(t *testing.T, seed uint64) {
		g := newGenerator(seed)
		var tasks []*plugintasks.Task
		for _, plugin := range g.some(words, 4) {
			var b strings.Builder
			for i := range 1 + g.IntN(13) {
				fmt.Fprintf(&b, "- {role: %s, stage: %s, type: shell, parameters: {cmd: %s, timeout: %d}}\n", quote(g.one([]string{"*", "a b", "c"})),
					g.one([]string{"pre_deployment", "post_deployment"})+g.one([]string{"", "/1", "/-.5", "/+1.0", "/1e", "/100"}[:4+g.IntN(2)]),
					quote(fmt.Sprintf("%s %d", g.one(words), i)), 1+g.IntN(99))
			}
			more, diags := plugintasks.Parse(plugin, plugin+"/tasks.yaml", []byte(b.String()), plugintasks.Lenient)
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			for _, task := range more {
				task.Dir = "/repo/" + plugin
			}
			tasks = append(tasks, more...)
		}
		plugintasks.Sort(tasks)
		r := FromPlugins("/repo", tasks)
		if again := FromPlugins("/repo", tasks); string(again.Text()) != string(r.Text()) {
			t.Error("converting twice gives different texts")
		}
		m := model(t, string(r.Text()))
		graph := graphOf(t, m, false)
		if diff := cmp.Diff(commandsOf(tasks), commandsIn(graph, m.Rule())); diff != "" || losesOrder(r) {
			t.Errorf("sequence (-plugins +workspace):\n%s\n%s", diff, r.Text())
		}
		if got := len(graph.Waves(nil)); got != len(tasks) {
			t.Errorf("%d waves, want one for each of the %d tasks", got, len(tasks))
		}
		fromWorkspace(t, m)
		if t.Failed() {
			t.Logf("seed %d\n%s", seed, r.Text())
		}
	})
}

// sls makes an SLS file, mostly of commands.
func (g generator) sls() string {
	var b strings.Builder
	ids := g.some(words, 12)
	kinds := []string{
		"require", "require_any", "watch", "watch_any", "prereq", "onfail", "onfail_all", "onchanges",
		"onchanges_any", "listen", "require_in", "watch_in", "onfail_in",
	}
	for _, id := range ids {
		function := g.one([]string{"cmd.run", "cmd.run", "cmd.run", "cmd.wait", "pkg.installed"})
		fmt.Fprintf(&b, "%s:\n  %s:\n    - name: %s\n", quote(id), function, quote("do "+id))
		if g.chance(20) {
			fmt.Fprintf(&b, "    - order: %s\n", g.one([]string{"first", "last", "1", "-1", "1.5", "10001", "5"}))
		}
		if g.chance(10) {
			var own []string
			for _, word := range g.some(words, 3) {
				own = append(own, id+" "+word)
			}
			fmt.Fprintf(&b, "    - names: %s\n", list(own))
		}
		for _, kind := range g.some(kinds, 2) {
			fmt.Fprintf(&b, "    - %s: [{id: %s}]\n", kind, quote(g.one(ids)))
		}
	}
	return b.String()
}

func FuzzStates(f *testing.F) {
	seeds(f, 150)
	f.Fuzz(func(t *testing.T, seed uint64) {
		text := newGenerator(seed).sls()
		low, diags := compileText(text)
		if diags.HasErrors() {
			return
		}
		r := FromStates(low)
		if again := FromStates(low); string(again.Text()) != string(r.Text()) {
			t.Error("converting twice gives different texts")
		}
		m := model(t, string(r.Text()))
		checkCalls(t, low, r, m)
		fromWorkspace(t, m)
		if t.Failed() {
			t.Logf("seed %d\n%s\n%s\n%s", seed, text, r.Text(), lost(r))
		}
	})
}

// checkCalls checks that tasks are in the sequence of the calls, and that each pair that the calls
// are in is one of tasks.
func checkCalls(t *testing.T, low *compile.Low, r Result, m *cairnfile.Model) {
	t.Helper()
	g := graphOf(t, m, false)
	if losesOrder(r) {
		return
	}
	at := map[order.Place]*cairnfile.Leaf{}
	for _, leaf := range m.Leaves {
		at[r.origins[leaf.Name]] = leaf
	}
	var want, last, got []string
	for _, i := range low.Sequence() {
		leaf := at[problem.PlaceAt(low.Calls[i].Range)]
		switch {
		case leaf == nil || low.Calls[i].Args.Get("names") != nil || slices.Contains(append(want, last...), commandOf(leaf)):
		case listening(m, leaf):
			last = append(last, commandOf(leaf))
		default:
			want = append(want, low.Calls[i].Name)
		}
	}
	for _, n := range g.Sequence(m.Rule(), nil) {
		if command := commandOf(g.Steps[n].Leaf); slices.Contains(append(want, last...), command) {
			got = append(got, command)
		}
	}
	if diff := cmp.Diff(append(want, last...), got); diff != "" {
		t.Errorf("sequence (-states +workspace):\n%s", diff)
	}
}

func commandOf(leaf *cairnfile.Leaf) string { return shellLine(leaf.Task.Command) }

func listening(m *cairnfile.Model, leaf *cairnfile.Leaf) bool {
	return slices.ContainsFunc(m.Rules(leaf.Block), func(r cairnfile.ResolvedRule) bool { return r.Rel == cairnfile.Listen })
}

// workspace makes a workspace file.
func (g generator) workspace() string {
	var b strings.Builder
	var stacks, tasks, groups []string
	for i := range g.IntN(6) {
		stacks = append(stacks, fmt.Sprintf("s%d", i))
	}
	for i := range g.IntN(5) {
		tasks = append(tasks, fmt.Sprintf("t%d", i))
	}
	for i := range g.IntN(3) {
		groups = append(groups, fmt.Sprintf("g%d", i))
	}
	all := slices.Concat(stacks, tasks, groups)
	if len(all) == 0 {
		return ""
	}
	refs := append(slices.Clone(all), "tag:prod", "s*", "/^t[01]$/", "./live", "tag:a (b)")
	rules := func(kinds ...string) {
		for _, kind := range kinds {
			if g.chance(12) {
				fmt.Fprintf(&b, "  %s = %s\n", kind, quoted(g.some(refs, 2)))
			}
		}
	}
	common := func() {
		rules("after", "before", "after_any", "wants", "wanted_by")
		if g.chance(15) {
			fmt.Fprintf(&b, "  order = %s\n", g.one([]string{"1", "-2.5", `"first"`, `"last"`}))
		}
		if g.chance(30) {
			fmt.Fprintf(&b, "  tags = %s\n", quoted(g.some([]string{"prod", "a", "b", "and", "é è"}, 2)))
		}
		if g.chance(15) {
			fmt.Fprintf(&b, "  description = %s\n", hclQuote(g.one(words)+"\n"+g.one(words)))
		}
	}
	dirs := []string{"live"}
	for _, name := range stacks {
		dir := path.Join(g.one(append(dirs, ".")), g.one(append(words, "x", "y", "z", "w")))
		dirs = append(dirs, dir)
		fmt.Fprintf(&b, "stack %q {\n  path = %s\n", name, hclQuote(dir))
		if g.chance(20) {
			b.WriteString("  workspace = \"blue\"\n")
		}
		if g.chance(15) {
			fmt.Fprintf(&b, "  files = %s\n", quoted(g.some([]string{"*.tf", "**", "/shared/*", "!gen.tf"}, 3)))
		}
		if g.chance(15) {
			fmt.Fprintf(&b, "  watch = %s\n  var_files = %s\n", quoted(g.some([]string{"p", "q/*"}, 2)), quoted(g.some(words, 2)))
		}
		if g.chance(15) {
			fmt.Fprintf(&b, "  environment = { x = %s }\n  variables = { y = %s }\n", hclQuote(g.one(words)), hclQuote(g.one(words)))
		}
		rules("plan_after", "apply_after", "modified_by", "plan_after_any")
		common()
		b.WriteString("}\n")
	}
	for _, name := range tasks {
		fmt.Fprintf(&b, "task %q {\n  command = %s\n", name, hclQuote(name+" "+g.one(words)))
		if g.chance(40) {
			fmt.Fprintf(&b, "  stage = %q\n", g.one([]string{"pre", "post", "pre/1", "post/-1.5", "pre/100"}))
		}
		if g.chance(20) {
			b.WriteString("  on_change = \"again\"\n")
		}
		rules("watch", "prereq", "onchanges", "onfail", "listen", "onfail_all", "watch_any", "prereq_in")
		common()
		b.WriteString("}\n")
	}
	for i, name := range groups {
		fmt.Fprintf(&b, "group %q {\n  members = %s\n", name, quoted(g.some(append(all[:len(stacks)+len(tasks)+i], "tag:prod"), 3)))
		rules("plan_after", "apply_after", "modified_by")
		common()
		b.WriteString("}\n")
	}
	if g.chance(30) {
		b.WriteString("workspace { ties = \"directory\" }\n")
	}
	return b.String()
}

func FuzzWorkspace(f *testing.F) {
	seeds(f, 200)
	f.Fuzz(func(t *testing.T, seed uint64) {
		text := newGenerator(seed).workspace()
		w, diags := cairnfile.Parse(cairnfile.FileName, []byte(text))
		if diags.HasErrors() {
			t.Fatalf("%v\n%s", diags, text)
		}
		m, diags := cairnfile.Resolve(w)
		if diags.HasErrors() {
			return
		}
		for _, phased := range []bool{false, true} {
			if _, diags := m.Graph(phased); diags.HasErrors() {
				return
			}
		}
		fromWorkspace(t, m)
		if t.Failed() {
			t.Logf("seed %d\n%s", seed, text)
		}
	})
}

// fromWorkspace checks all that can be made of a workspace file.
func fromWorkspace(t *testing.T, m *cairnfile.Model) {
	t.Helper()
	for name, to := range map[string]func(*cairnfile.Model) (Result, hcl.Diagnostics){
		"dirs": ToDirs, "gates": ToGates, "plugins": ToPlugins, "states": ToStates,
	} {
		r, diags := to(m)
		if diags.HasErrors() {
			t.Errorf("to %s: %v", name, diags)
			continue
		}
		if again, _ := to(m); string(again.Text()) != string(r.Text()) || lost(again) != lost(r) {
			t.Errorf("to %s: converting twice gives different texts", name)
		}
		switch name {
		case "dirs":
			checkDirs(t, m, r)
		case "gates":
			checkGates(t, m, r)
		case "plugins":
			checkPlugins(t, m, r)
		case "states":
			checkStates(t, m, r)
		}
		if t.Failed() {
			t.Fatalf("to %s:\n%s\n%s", name, r.Text(), lost(r))
		}
	}
}

// selection chooses nodes of a workspace file by their leaves.
func selection(g *cairnfile.Graph, which func(*cairnfile.Leaf) bool) order.Selection {
	selected := make(order.Selection, g.Len())
	for n, step := range g.Steps {
		selected[n] = step.Leaf != nil && which(step.Leaf)
	}
	return selected
}

func checkDirs(t *testing.T, m *cairnfile.Model, r Result) {
	t.Helper()
	files := map[string]string{}
	for _, file := range r.Files {
		files[file.Path] = string(file.Text)
	}
	tree, diags := readTree(t, files)
	if diags.HasErrors() {
		t.Errorf("cannot be read: %v", diags)
		return
	}
	if losesOrder(r) {
		return
	}
	after, before := treeGraph(t, tree), graphOf(t, m, false)
	// Of stacks in one directory the first one is there.
	first := map[string]*cairnfile.Leaf{}
	for _, leaf := range m.Leaves {
		if leaf.Stack != nil && first[path.Clean(leaf.Stack.Dir)] == nil {
			first[path.Clean(leaf.Stack.Dir)] = leaf
		}
	}
	selected := selection(before, func(l *cairnfile.Leaf) bool { return l.Stack != nil && first[path.Clean(l.Stack.Dir)] == l })
	name := func(n int) string { return after.Node(n).Name }
	if diff := cmp.Diff(sequence(before.Graph, m.Rule(), selected, byDir(before)), sequence(after, order.ByQueue, nil, name)); diff != "" {
		t.Errorf("sequence (-workspace +stack directories):\n%s", diff)
	}
	if diff := cmp.Diff(waves(before.Graph, selected, byDir(before)), waves(after, nil, name)); diff != "" {
		t.Errorf("waves (-workspace +stack directories):\n%s", diff)
	}
}

func checkGates(t *testing.T, m *cairnfile.Model, r Result) {
	t.Helper()
	var dirs []string
	seen := map[string]bool{}
	twice := false
	for _, leaf := range m.Leaves {
		if leaf.Stack == nil {
			continue
		}
		key := path.Clean(leaf.Stack.Dir) + " " + leaf.Stack.Workspace
		twice = twice || seen[key]
		seen[key] = true
		dirs = append(dirs, path.Clean(leaf.Stack.Dir))
	}
	layout := readGates(string(r.Text()), append(dirs, "elsewhere"))
	if layout == nil {
		t.Error("cannot be read")
		return
	}
	if losesOrder(r) || twice || strings.Contains(lost(r), "without which there is no stack") {
		return
	}
	files := mainFiles(dirs)
	withoutTasks := workspaceSteps(t, m, files)
	if diff := cmp.Diff(withoutTasks, gateSteps(layout, files)); diff != "" {
		t.Errorf("steps (-workspace +gates):\n%s", diff)
	}
	for _, dir := range dirs {
		if strings.Contains(lost(r), "only some files count") {
			break
		}
		files := mainFiles([]string{dir})
		if diff := cmp.Diff(workspaceSteps(t, m, files), gateSteps(layout, files)); diff != "" {
			t.Errorf("steps for %s (-workspace +gates):\n%s", dir, diff)
		}
	}
}

func checkPlugins(t *testing.T, m *cairnfile.Model, r Result) {
	t.Helper()
	tasks, diags := plugintasks.Parse(pluginName, plugintasks.FileName, r.Text(), plugintasks.Strict)
	if diags.HasErrors() {
		t.Errorf("cannot be read: %v", diags)
		return
	}
	plugintasks.Sort(tasks)
	var got []string
	for _, task := range tasks {
		got = append(got, task.Command[strings.LastIndex(task.Command, "\n")+1:])
	}
	g := graphOf(t, m, false)
	want := sequence(g.Graph, m.Rule(), selection(g, func(l *cairnfile.Leaf) bool { return l.Task != nil }), func(n int) string {
		return commandOf(g.Steps[n].Leaf)
	})
	want = slices.DeleteFunc(want, func(command string) bool { return !slices.Contains(got, command) })
	if diff := cmp.Diff(want, got); diff != "" && len(want)+len(got) > 0 {
		t.Errorf("sequence (-workspace +plugins):\n%s", diff)
	}
}

func checkStates(t *testing.T, m *cairnfile.Model, r Result) {
	t.Helper()
	low, diags := compileText(string(r.Text()))
	if diags.HasErrors() {
		t.Errorf("cannot be read: %v", diags)
		return
	}
	g := graphOf(t, m, false)
	calls := callsIn(low, func(c *compile.Call) bool { return !strings.HasSuffix(c.ID, "-on-change") })
	want := sequence(g.Graph, m.Rule(),
		selection(g, func(l *cairnfile.Leaf) bool { return l.Task != nil && slices.Contains(calls, l.Name) }), byName(g))
	if diff := cmp.Diff(want, calls); diff != "" && len(want)+len(calls) > 0 && !losesOrder(r) {
		t.Errorf("sequence (-workspace +states):\n%s", diff)
	}
}
