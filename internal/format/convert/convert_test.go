// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/plugintasks"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// model reads a workspace file.
func model(t testing.TB, src string) *cairnfile.Model {
	t.Helper()
	w, diags := cairnfile.Parse(cairnfile.FileName, []byte(src))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	m, diags := cairnfile.Resolve(w)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	return m
}

func graphOf(t testing.TB, m *cairnfile.Model, phased bool) *cairnfile.Graph {
	t.Helper()
	g, diags := m.Graph(phased)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return g
}

// must returns the result of a conversion that has no errors.
func must(t testing.TB) func(Result, hcl.Diagnostics) Result {
	return func(r Result, diags hcl.Diagnostics) Result {
		t.Helper()
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return r
	}
}

func write(t testing.TB, dir string, files map[string]string) {
	t.Helper()
	for name, content := range files {
		full := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(full, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func lost(r Result) string {
	var texts []string
	for _, loss := range r.Lost {
		texts = append(texts, loss.String())
	}
	return strings.Join(texts, "\n")
}

// losesOrder reports whether a loss says that the order may be another one.
func losesOrder(r Result) bool {
	return slices.ContainsFunc(r.Lost, func(l Loss) bool { return l.Order })
}

// waves renders groups of nodes, sorted in each.
func waves(g *order.Graph, selected order.Selection, name func(n int) string) []string {
	var list []string
	for _, wave := range g.Waves(selected) {
		var texts []string
		for _, n := range wave {
			texts = append(texts, name(n))
		}
		slices.Sort(texts)
		list = append(list, strings.Join(texts, " "))
	}
	return list
}

func sequence(g *order.Graph, rule order.Rule, selected order.Selection, name func(n int) string) []string {
	var list []string
	for _, n := range g.Sequence(rule, selected) {
		list = append(list, name(n))
	}
	return list
}

// byDir names the nodes of a workspace graph by directories.
func byDir(g *cairnfile.Graph) func(n int) string {
	return func(n int) string { return path.Join("/", g.Steps[n].Leaf.Stack.Dir) }
}

func byName(g *cairnfile.Graph) func(n int) string {
	return func(n int) string { return g.Steps[n].Leaf.Name }
}

// tree writes stack directories and reads them. Each line is "PATH attribute=entry;entry
// attribute=…".
func tree(t testing.TB, lines string) *terramate.Tree {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for line := range strings.Lines(lines) {
		fields := strings.Fields(line)
		if len(fields) == 0 {
			continue
		}
		var b strings.Builder
		b.WriteString("stack {\n")
		for _, field := range fields[1:] {
			name, value, _ := strings.Cut(field, "=")
			if name == "name" || name == "id" || name == "description" {
				b.WriteString("  " + name + " = \"" + value + "\"\n")
				continue
			}
			b.WriteString("  " + name + " = [\"" + strings.ReplaceAll(value, ";", "\", \"") + "\"]\n")
		}
		b.WriteString("}\n")
		files[path.Join(fields[0], "stack.tm")] = b.String()
	}
	write(t, dir, files)
	return load(t, dir)
}

func load(t testing.TB, dir string) *terramate.Tree {
	t.Helper()
	loaded, diags := terramate.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return loaded
}

func treeGraph(t testing.TB, tree *terramate.Tree) *order.Graph {
	t.Helper()
	g, diags := tree.Graph()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return g
}

// written reads stack directories that were written.
func written(t testing.TB, r Result) *terramate.Tree {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{}
	for _, file := range r.Files {
		files[file.Path] = string(file.Text)
	}
	write(t, dir, files)
	return load(t, dir)
}

// sameOrder compares the sequence and the waves of a tree and of a workspace file.
func sameOrder(t testing.TB, tree *terramate.Tree, m *cairnfile.Model) {
	t.Helper()
	before, after := treeGraph(t, tree), graphOf(t, m, false)
	inTree := func(n int) string { return before.Node(n).Name }
	if diff := cmp.Diff(sequence(before, order.ByQueue, nil, inTree), sequence(after.Graph, m.Rule(), nil, byDir(after))); diff != "" {
		t.Errorf("sequence (-stack directories +workspace):\n%s", diff)
	}
	if diff := cmp.Diff(waves(before, nil, inTree), waves(after.Graph, nil, byDir(after))); diff != "" {
		t.Errorf("waves (-stack directories +workspace):\n%s", diff)
	}
}

// trees are the layouts of lines, and others that are hard to convert.
var trees = map[string]struct{ lines, want string }{
	"A-30": {"1\n2\n3\nbatatinha\nfrita\nboom", "1 2 3 batatinha boom frita"},
	"A-31": {"a\nb after=../a\nc after=../b\nd after=../z\nz", "a z b d c"},
	"A-32": {"a after=../b;../c\nb after=../d;../f\nc after=../g;../h\nd\nf\ng\nh", "d f g h b c a"},
	"A-33": {"z after=../a;../b;../c;../d\na after=../b;../c\nb\nc\nd", "b c d a z"},
	"A-34": {"z after=../a;../b;../c;../d\na after=../x;../y\nb\nc\nd\nx\ny", "b c d x y a z"},
	"A-35": {"z after=../b;../c;../d\na after=../c\nb before=../a\nc\nd", "b c d a z"},
	"A-36": {"stack-a after=/stack-b\nstack-b", "stack-b stack-a"},
	"A-37": {"s\ns/A\ns/B\ns/A/AA\ns/B/BA\ns/A/AA/AAA", "s s/A s/B s/A/AA s/B/BA s/A/AA/AAA"},
	"A-39": {"dir/s1\ndir/s2\ndir/s3\na after=/dir", "dir/s1 dir/s2 dir/s3 a"},
	"A-40": {"parent\nparent/s1\nparent/s2\nparent/s3\na after=/parent", "parent parent/s1 parent/s2 parent/s3 a"},
	"A-41": {"a after=/empty\nempty/.keep/x\nb", "a b"},
	"A-42": {"a after=/nowhere\nb", "a b"},
	"A-44": {"a tags=infra;prod\nb tags=infra;dev\nc tags=infra\nX after=tag:infra:prod,infra:dev", "a b c X"},
	"A-45": {"a after=tag:unknown\nb", "a b"},
	"A-46": {"s1 tags=core\ns2\ns3 before=tag:core", "s2 s3 s1"},
	"A-47": {`
infra1 tags=infra;prod
infra2 tags=infra;prod
infra3 tags=infra;dev
k8s1 tags=k8s;prod after=tag:infra:prod
k8s2 tags=k8s;dev after=tag:infra:dev
app1 after=tag:k8s:prod
app2 after=tag:k8s:dev`, "infra1 infra2 infra3 k8s1 k8s2 app1 app2"},
	"A-48": {`
project tags=project before=tag:identity
iac/bucket after=tag:project;tag:sa
iac/sa-dir tags=identity before=/iac/sa-dir/name
iac/sa-dir/name tags=sa`, "project iac/sa-dir iac/sa-dir/name iac/bucket"},
	"A-49": {"p\np/child before=tag:other\np/child/grand\nother tags=other", "p p/child other p/child/grand"},
	"A-61": {"a/b after=..\na\na/c after=..", "a a/b a/c"},

	"keywords as tags": {"a tags=and;IN\nb after=tag:and:IN,not\nc tags=not;or", "a c b"},
	"names for people": {"a name=zoo\nb name=zoo after=../c\nc name=yak.1", "a c b"},
	"names that meet":  {"a.b\na/b after=/a-b\na-b", "a-b a.b a/b"},
	"signs in names": {
		"x(1)\nx{1} after=../x(1)\nx'1 after=../x{1}\nx*[1] after=../x'1\né after=/x*[1]",
		"x(1) x{1} x'1 x*[1] é",
	},
	"the top of the repository":    {".\na before=/b\nb", ". a b"},
	"what a directory stands for":  {"live/a\nlive/a/x\nlive/b after=..;../a\nlive/c after=/live/a", "live/a live/a/x live/c live/b"},
	"wants that go round":          {"a wants=../b\nb wanted_by=../a wants=/a", "a b"},
	"a stack without constraints":  {"only", "only"},
	"interpolation in description": {"a description=$${x}%%{y}\nb", "a b"},
}

// stack directories as a workspace file, and back.
func TestOrderX11Dirs(t *testing.T) {
	for name, test := range trees {
		t.Run(name, func(t *testing.T) {
			from := tree(t, test.lines)
			var got []string
			for _, n := range treeGraph(t, from).Sequence(order.ByQueue, nil) {
				got = append(got, strings.TrimPrefix(from.Stacks[n].Path, "/"))
			}
			if want := strings.TrimPrefix(test.want, ". "); strings.Join(slices.DeleteFunc(got, func(s string) bool {
				return s == ""
			}), " ") != want {
				t.Fatalf("the source has the sequence %q, want %q", got, want)
			}
			r := FromDirs(from)
			if losesOrder(r) {
				t.Errorf("order is lost:\n%s", lost(r))
			}
			m := model(t, string(r.Text()))
			sameOrder(t, from, m)

			back := must(t)(ToDirs(m))
			if losesOrder(back) {
				t.Errorf("order is lost on the way back:\n%s", lost(back))
			}
			again := written(t, back)
			sameOrder(t, again, m)
			for i, stack := range from.Stacks {
				if diff := cmp.Diff(selectedWith(from, stack.Path), selectedWith(again, stack.Path)); diff != "" {
					t.Errorf("selected with %d %s (-before +there and back):\n%s\n%s", i, stack.Path, diff, back.Text())
				}
			}
			if t.Failed() {
				t.Logf("%s\n%s", r.Text(), back.Text())
			}
		})
	}
}

// selectedWith lists the stacks that are selected in a tree along with a directory.
func selectedWith(tree *terramate.Tree, dir string) []string {
	var list []string
	selected := tree.Select(terramate.Filter{Below: dir})
	for i, stack := range tree.Stacks {
		if selected.Selection.Has(i) {
			list = append(list, stack.Path)
		}
	}
	return list
}

// the text of a workspace file made of stack directories.
func TestOrderX11FromDirsText(t *testing.T) {
	r := FromDirs(tree(t, `
net tags=net;prod watch=/files/zones.json;../a[1] name=network id=n
net/dns before=../../apps
apps/a after=tag:net:prod,other wants=../b;/nowhere
apps/b after=../a wanted_by=/net name=B!`))
	want := `workspace {
  ties = "directory"
}

stack "apps.a" {
  path  = "apps/a"
  after = ["network", "net.dns"]
  wants = ["./apps/b"]
}

stack "apps.b" {
  path        = "apps/b"
  description = "B!"
  after       = ["./apps/a"]
  wanted_by   = ["./net"]
}

stack "network" {
  path  = "net"
  tags  = ["net", "prod"]
  watch = ["files/zones.json", "a[[]1]", "a[[]1]/**"]
}

stack "net.dns" {
  path   = "net/dns"
  after  = ["network"]
  before = ["./apps"]
}
`
	if diff := cmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	got := strings.ReplaceAll(lost(r), r.Lost[0].Place.File[:strings.Index(r.Lost[0].Place.File, "apps/")], "")
	if diff := cmp.Diff("That /apps/a names \"/nowhere\" in wants, where there is no stack (apps/a/stack.tm:3:20).\n"+
		"The id \"n\" of /net (net/stack.tm:1:1).", got); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// plugins reads tasks of plugins, given as name and content in turn.
func plugins(t testing.TB, texts ...string) []*plugintasks.Task {
	t.Helper()
	var tasks []*plugintasks.Task
	for i := 0; i < len(texts); i += 2 {
		more, diags := plugintasks.Parse(texts[i], texts[i]+"/tasks.yaml", []byte(texts[i+1]), plugintasks.Strict)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		for _, task := range more {
			task.Dir = "/repo/plugins/" + texts[i]
		}
		tasks = append(tasks, more...)
	}
	plugintasks.Sort(tasks)
	return tasks
}

// stages makes the tasks of a plugin from the given texts, with commands that are its name and the
// text.
func stages(plugin string, texts ...string) string {
	var b strings.Builder
	for _, text := range texts {
		b.WriteString("- {role: '*', stage: " + text + ", type: shell, parameters: {cmd: '" + plugin + " " + text + "'}}\n")
	}
	return b.String()
}

func commandsOf(tasks []*plugintasks.Task) []string {
	var list []string
	for _, task := range tasks {
		list = append(list, task.Command)
	}
	return list
}

func commandsIn(g *cairnfile.Graph, rule order.Rule) []string {
	return sequence(g.Graph, rule, nil, func(n int) string { return shellLine(g.Steps[n].Leaf.Task.Command) })
}

// tasks of plugins as a workspace file, and back. All of them are one row.
func TestOrderX11Plugins(t *testing.T) {
	tests := map[string][]*plugintasks.Task{
		"D-10": plugins(t, "plugin1", stages("plugin1", "pre_deployment", "pre_deployment/100", "pre_deployment/-100", "pre_deployment/-99.9"),
			"plugin2", stages("plugin2", "pre_deployment", "pre_deployment/100.0", "pre_deployment/-101", "pre_deployment/0")),
		"D-11": plugins(t, "name2", stages("name2", "post_deployment/-99", "post_deployment/100", "post_deployment"),
			"name1", stages("name1", "post_deployment/-100", "post_deployment/100.0", "post_deployment/+100", "post_deployment")),
		"D-09": plugins(t, "a", stages("a", "post_deployment/-5", "pre_deployment/7"), "Z",
			stages("Z", "post_deployment/.5", "pre_deployment/-7")),
		"more than nine, and names that meet": plugins(t,
			"a b", stages("a b", "pre_deployment", "pre_deployment", "pre_deployment", "pre_deployment", "pre_deployment", "pre_deployment",
				"pre_deployment", "pre_deployment", "pre_deployment", "pre_deployment", "pre_deployment"),
			"a-b", stages("a-b", "pre_deployment", "pre_deployment")),
	}
	for name, tasks := range tests {
		t.Run(name, func(t *testing.T) {
			r := FromPlugins("/repo", tasks)
			if losesOrder(r) {
				t.Errorf("order is lost:\n%s", lost(r))
			}
			m := model(t, string(r.Text()))
			g := graphOf(t, m, false)
			if diff := cmp.Diff(commandsOf(tasks), commandsIn(g, m.Rule())); diff != "" {
				t.Errorf("sequence (-plugins +workspace):\n%s\n%s", diff, r.Text())
			}
			if got := len(g.Waves(nil)); got != len(tasks) {
				t.Errorf("%d waves, want one for each of the %d tasks", got, len(tasks))
			}
			back := must(t)(ToPlugins(m))
			again := plugins(t, pluginName, string(back.Text()))
			if diff := cmp.Diff(commandsOf(tasks), commandsOf(again)); diff != "" {
				t.Errorf("sequence (-before +there and back):\n%s\n%s", diff, back.Text())
			}
		})
	}
}

// the text of a workspace file made of tasks of plugins.
func TestOrderX11FromPluginsText(t *testing.T) {
	tasks := plugins(t, "z", `
- {role: '*', stage: post_deployment/100, type: shell, parameters: {cmd: c, timeout: 42}}
- {role: [controller, 'a b'], stage: post_deployment/100.0, type: shell, parameters: {cmd: "echo ${d}"}}
- {role: '*', stage: pre_deployment/-1.5, type: shell, parameters: {cmd: a}}
- {role: '*', stage: pre_deployment, type: reboot}
- {role: '*', stage: post_deployment/200, type: shell, parameters: {cmd: " "}}
`)
	tasks[3].Dir = "/elsewhere"
	r := FromPlugins("/repo", tasks)
	want := `task "z.3" {
  command = "a"
  path    = "plugins/z"
  stage   = "pre/-1.5"
}

task "z.1" {
  command = "c"
  path    = "plugins/z"
  timeout = "42s"
  stage   = "post/100"
}

task "z.2" {
  command = "echo $${d}"
  stage   = "post/100"
  tags    = ["controller", "a b"]
}

task "z.5" {
  command = ":"
  path    = "plugins/z"
  stage   = "post/200"
}
`
	if diff := cmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	wantLost := `z#4, a task of type reboot (z/tasks.yaml:5:3).
The directory /elsewhere of z#2, which is outside of the repository (z/tasks.yaml:3:3).
z#2 is for roles, which are tags: with -role=NAME tasks for all roles would be selected, too (z/tasks.yaml:3:3).`
	if diff := cmp.Diff(wantLost, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// states compiles SLS files, of which the last one is named.
func states(t testing.TB, text string) *compile.Low {
	t.Helper()
	low, diags := compileText(text)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, text)
	}
	return low
}

func compileText(text string) (*compile.Low, hcl.Diagnostics) {
	high, diags := compile.Load(fstest.MapFS{"workspace.sls": {Data: []byte(text)}}, []string{"workspace"}, compile.LoadOptions{})
	if diags.HasErrors() {
		return nil, diags
	}
	low, moreDiags := compile.Compile(high, compile.CompileOptions{})
	return low, diags.Extend(moreDiags)
}

// callsIn renders the commands of the calls in the order in which they are made.
func callsIn(low *compile.Low, which func(*compile.Call) bool) []string {
	var list []string
	for _, i := range low.Sequence() {
		if call := low.Calls[i]; which == nil || which(call) {
			list = append(list, call.ID)
		}
	}
	return list
}

// the output can be read, whatever characters a text has.
func TestOrderX11Characters(t *testing.T) {
	var odd strings.Builder
	for _, r := range []rune{1, '\t', '\r', 0x7f, 0x85, 0x90, 0xa0, 0x2028, 0x2029, 0xfeff, 0xfffd, 0xfffe, 0xffff, 0x1f600} {
		fmt.Fprintf(&odd, "a\\U%08x", r)
	}
	texts := `"one: ` + odd.String() + `\n- two # {{{ x }} {%% y %} {# z #} {"`
	m := model(t, "stack \"s\" {\n  description = "+texts+"\n  environment = { x = "+texts+" }\n}\n"+
		"task \"t\" {\n  description = "+texts+"\n  command = "+texts+"\n}\n")
	layout := layoutOf(t, textOf(must(t)(ToGates(m))), []string{"s"})
	if diff := cmp.Diff(m.Leaves[0].Environment, layout.Variables(0)); diff != "" {
		t.Errorf("variables (-workspace +gates):\n%s", diff)
	}
	command, inStates := m.Leaves[1].Task.Command[2], textOf(must(t)(ToStates(m)))
	for _, template := range []string{"{{", "{%", "{#"} { // which Salt renders before it reads YAML, in comments as well
		if strings.Contains(inStates, template) {
			t.Errorf("%s is in the states:\n%s", template, inStates)
		}
	}
	if got := states(t, inStates).Calls[0].Name; got != command {
		t.Errorf("the command is %q in states, want %q", got, command)
	}
	if got := plugins(t, pluginName, textOf(must(t)(ToPlugins(m))))[0].Command; got != command {
		t.Errorf("the command is %q in plugins, want %q", got, command)
	}
}

func textOf(r Result) string { return string(r.Text()) }

// times that are longer than other formats allow are written all the same.
func TestOrderX11LongTimes(t *testing.T) {
	m := model(t, "task \"t\" {\n  command = \"x\"\n  timeout = \"400000h\"\n  interval = \"2500000h\"\n  retries = 1000000000\n}\n")
	if got := plugins(t, pluginName, textOf(must(t)(ToPlugins(m))))[0].Timeout; got != maxSeconds*time.Second {
		t.Errorf("the timeout is %s in plugins", got)
	}
	call := states(t, textOf(must(t)(ToStates(m)))).Calls[0]
	if timeout, ok := secondsOf(call.Args.Get("timeout")); timeout != maxSeconds*time.Second ||
		!ok || call.Retry.Interval != maxSeconds*time.Second {
		t.Errorf("the timeout is %s in states, the interval %s", timeout, call.Retry.Interval)
	}
}

// The first word of a command is a program, whatever it is called.
func TestShellLine(t *testing.T) {
	for want, command := range map[string][]string{
		"echo A=b if 'it'\\''s' ''":     {"echo", "A=b", "if", "it's", ""},
		"'A=b' echo":                    {"A=b", "echo"},
		"'while' true":                  {"while", "true"},
		"'A=b'":                         {"A=b"},
		"while true; do A=b; done":      {"/bin/sh", "-c", "while true; do A=b; done"},
		"/bin/sh -c 'echo $1' x":        {"/bin/sh", "-c", "echo $1", "x"},
		"'{' echo":                      {"{", "echo"},
		"./bin/x.sh --a=b,c @file 100%": {"./bin/x.sh", "--a=b,c", "@file", "100%"},
	} {
		if got := shellLine(command); got != want {
			t.Errorf("%q is %s, want %s", command, got, want)
		}
	}
}
