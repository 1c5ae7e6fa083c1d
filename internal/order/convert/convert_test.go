// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/gated"
	"github.com/cairnstacks/cairn/internal/order/stackdir"
	"github.com/cairnstacks/cairn/internal/order/stage"
	"github.com/cairnstacks/cairn/internal/order/workspace"
)

func model(t *testing.T, src string) *workspace.Model {
	t.Helper()
	w, diags := workspace.Parse(workspace.FileName, []byte(src))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	m, diags := workspace.Resolve(w)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, src)
	}
	return m
}

// edges are the pairs of nodes that are ordered, also through others.
func edges(g *order.Graph, name func(string) string) []string {
	var list []string
	for _, edge := range g.Reduced(nil, true) {
		list = append(list, name(g.Node(edge.From).Name)+" < "+name(g.Node(edge.To).Name))
	}
	slices.Sort(list)
	return list
}

func write(t *testing.T, dir string, files map[string]string) {
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

// stack directories.
func TestOrderX11Tree(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"net/stack.tm":     "stack {\n  tags  = [\"net\", \"prod\"]\n  watch = [\"/files/zones.json\"]\n}\n",
		"net/dns/stack.tm": "stack {\n  before = [\"../../apps\"]\n}\n",
		"apps/a/stack.tm":  "stack {\n  after = [\"tag:net:prod,other\"]\n  wants = [\"../b\"]\n}\n",
		"apps/b/stack.tm":  "stack {\n  after = [\"../a\"]\n}\n",
	})
	tree, diags := stackdir.Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	before, diags := tree.Graph()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r := Tree(tree)
	after, diags := model(t, string(r.Text)).Graph(false)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, r.Text)
	}
	dotted := func(name string) string { return strings.ReplaceAll(strings.TrimPrefix(name, "/"), "/", ".") }
	if diff := cmp.Diff(edges(before, dotted), edges(after.Graph, dotted)); diff != "" {
		t.Errorf("order (-stack directories +workspace):\n%s\n%s", diff, r.Text)
	}
	if !strings.Contains(string(r.Text), `watch = ["files/zones.json"]`) {
		t.Errorf("the watched file is not there:\n%s", r.Text)
	}
	if text := lost(r); !strings.Contains(text, "/apps/a has wants or wanted_by") || len(r.Lost) != 2 {
		t.Errorf("lost:\n%s", text)
	}
}

// tasks of plugins.
func TestOrderX11Tasks(t *testing.T) {
	const text = `
- {role: '*', stage: post_deployment/100, type: shell, parameters: {cmd: c, timeout: 42}}
- {role: controller, stage: post_deployment/100.0, type: shell, parameters: {cmd: d}}
- {role: '*', stage: pre_deployment/-1.5, type: shell, parameters: {cmd: a}}
- {role: '*', stage: pre_deployment, type: reboot}
`
	tasks, diags := stage.Parse("z", "z/tasks.yaml", []byte(text), stage.Strict)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	others, diags := stage.Parse("b", "b/tasks.yaml", []byte("- {role: '*', stage: post_deployment/50, type: shell, parameters: {cmd: b}}"), stage.Strict)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	tasks = append(tasks, others...)
	stage.Sort(tasks)
	r := Tasks(tasks)
	g, diags := model(t, string(r.Text)).Graph(false)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	var commands []string
	for _, n := range g.Sequence(order.ByWeight, nil) {
		commands = append(commands, g.Steps[n].Leaf.Task.Command[2])
	}
	if got, want := strings.Join(commands, " "), "a b c d"; got != want {
		t.Errorf("order: %s, want %s\n%s", got, want, r.Text)
	}
	if text := lost(r); !strings.Contains(text, "z#4 is a task of type reboot") || !strings.Contains(text, "z#2 is for roles") || len(r.Lost) != 2 {
		t.Errorf("lost:\n%s", text)
	}
}

// gated stacks, there and back.
func TestOrderX11Gated(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"base/main.tf": "", "dev/main.tf": "", "prod-db/main.tf": "", "prod-app/main.tf": "",
		".terrateam/config.yml": `
stacks:
  names:
    base: {tag_query: "dir:base"}
    dev:
      tag_query: "dir:dev"
      rules: {modified_by: [base], auto_apply: true}
    prod:
      stacks: [db, app]
      variables: {tier: prod}
      rules: {modified_by: [base], plan_after: [], apply_after: [dev]}
    db: {tag_query: "dir:prod-db"}
    app:
      tag_query: "dir:prod-app"
      rules: {plan_after: [db]}
`,
	})
	layout, diags, err := gated.Load(dir)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	r := Gated(layout)
	m := model(t, string(r.Text))
	g, diags := m.Graph(true)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	same := func(name string) string { return name }
	want := []string{
		"apply base-2 < plan dev-2", "apply dev-2 < apply prod-db",
		"apply prod-db < plan prod-app", "plan base-2 < apply base-2", "plan dev-2 < apply dev-2", "plan prod-app < apply prod-app", "plan prod-db < apply prod-db",
	}
	if diff := cmp.Diff(want, edges(g.Graph, same)); diff != "" {
		t.Errorf("order (-want +got):\n%s\n%s", diff, r.Text)
	}
	app := m.LeavesOf(m.Block("prod-app"))[0]
	if app.Variables["tier"] != "prod" || !m.LeavesOf(m.Block("dev-2"))[0].AutoApply {
		t.Errorf("variables or auto_apply got lost:\n%s", r.Text)
	}

	back := ToGated(m)
	config, diags := gated.Read("config.yml", back.Text)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, back.Text)
	}
	dirspaces, diags := config.Dirspaces([]string{"base/main.tf", "dev/main.tf", "prod-db/main.tf", "prod-app/main.tf"}, func(string) bool { return false })
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	again, diags := gated.New(config, dirspaces)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, back.Text)
	}
	once, twice := steps(layout), steps(again)
	if diff := cmp.Diff(once, twice); diff != "" {
		t.Errorf("steps (-before +after there and back):\n%s\n%s", diff, back.Text)
	}
}

// steps renders the steps of a change of base by directories.
func steps(l *gated.Layout) []string {
	change := l.Change(l.ByFiles([]string{"base/main.tf"}), gated.ChangeOptions{})
	var list []string
	for _, step := range change.Steps() {
		var dirs []string
		for _, d := range step.Dirspaces {
			dirs = append(dirs, l.Dirspaces[d].Dir)
		}
		slices.Sort(dirs)
		list = append(list, step.Action.String()+" "+strings.Join(dirs, " "))
	}
	return list
}

// what gates cannot say is told.
func TestOrderX11Lost(t *testing.T) {
	r := ToGated(model(t, `
stack "a" { order = 3 }
stack "b" {
  after_any = ["a", "t"]
  watch     = ["x"]
}
task "t" { command = "true" }
group "g" {
  members = ["a", "t"]
  strategy { parallel = 1 }
}
`))
	want := `The order or the keys of a, for which there is no form (cairn.workspace.hcl:2:1).
The deployment, var_files or watch of the stack b, for which there is no form (cairn.workspace.hcl:3:1).
That one success is enough for b: all are waited for (cairn.workspace.hcl:4:3).
That b waits for the task t (cairn.workspace.hcl:4:3).
The task t, for which there is no form (cairn.workspace.hcl:7:1).
The strategy of the group g (cairn.workspace.hcl:8:1).`
	if diff := cmp.Diff(want, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	if _, diags := gated.Read("config.yml", r.Text); diags.HasErrors() {
		t.Errorf("%v\n%s", diags, r.Text)
	}
}

// a workspace as stack directories has the same order.
func TestOrderX11ToTree(t *testing.T) {
	m := model(t, `
stack "net" {
  tags  = ["net"]
  watch = ["files/zones.json"]
}
stack "db" { after = ["net"] }
stack "app" { path = "apps/app" }
stack "web" { path = "apps/web" }
group "apps" {
  members     = ["app", "web"]
  apply_after = ["db"]
}
stack "mon" { before = ["app"] }
task "t" { command = "true" }
`)
	before, diags := m.Graph(false)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	r := ToTree(m)
	dir := t.TempDir()
	for part := range strings.SplitSeq(strings.TrimPrefix(string(r.Text), "-- "), "\n-- ") {
		name, content, _ := strings.Cut(part, " --\n")
		write(t, dir, map[string]string{name: content + "\n"})
	}
	write(t, dir, map[string]string{"files/zones.json": ""})
	tree, diags := stackdir.Load(dir)
	if len(diags) > 0 {
		t.Fatalf("%v\n%s", diags, r.Text)
	}
	after, diags := tree.Graph()
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	if diff := cmp.Diff(edges(before.Graph, func(name string) string { return name }), edges(after, func(name string) string { return name[strings.LastIndex(name, "/")+1:] })); diff != "" {
		t.Errorf("order (-workspace +stack directories):\n%s\n%s", diff, r.Text)
	}
	if text := lost(r); !strings.Contains(text, "The task t") || !strings.Contains(text, "only a phase of app waits") {
		t.Errorf("lost:\n%s", text)
	}
}
