// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/order"
)

// everything is a workspace file with all that others cannot say.
const everything = `workspace {
  parallel = 8
  limits   = { k = 2 }
}
stack "net" {
  tags  = ["net", "a b"]
  watch = ["files/zones.json", "policies/*"]
  keys  = ["k"]
}
stack "db" {
  after       = ["check"]
  deployment  = "prod"
  variables   = { size = 3 }
  environment = { A = "b" }
  var_files   = ["db.tfvars"]
}
stack "app" {
  path      = "apps/app"
  files     = ["*.tf"]
  workspace = "blue"
}
stack "app2" { path = "apps/app" }
stack "web" {
  path        = "apps/web"
  modified_by = ["net"]
  auto_apply  = true
}
group "apps" {
  members     = ["app", "web"]
  apply_after = ["db"]
  wants       = ["check"]
  strategy { one_by_one = true }
}
stack "apps-all" { path = "apps" }
stack "mon" {
  before    = ["app"]
  after_any = ["net", "db"]
}
task "check" {
  command   = ["check", "a b"]
  after     = ["net"]
  on_change = "again"
  retries   = 1
  path      = "scripts"
  tags      = ["t"]
}
task "page" {
  command = "page"
  onfail  = ["db"]
}
`

// the text of stack directories made of a workspace file, and the reported losses.
func TestOrderX11ToDirsLost(t *testing.T) {
	m := model(t, everything)
	r := must(t)(ToDirs(m))
	want := `The tag "a b" of net, which is none there (cairn.workspace.hcl:5:1).
The stack app2, which has the directory of app (cairn.workspace.hcl:22:1).
The task check (cairn.workspace.hcl:39:1).
The task page (cairn.workspace.hcl:47:1).
That nothing puts app after apps-all: a stack comes after those in the directories above (cairn.workspace.hcl:17:1).
That nothing puts web after apps-all: a stack comes after those in the directories above (cairn.workspace.hcl:23:1).
That app wants check (cairn.workspace.hcl:17:1).
That web wants check (cairn.workspace.hcl:23:1).
That net watches the pattern "policies/*": only paths can be watched (cairn.workspace.hcl:5:1).
Of net: keys (cairn.workspace.hcl:5:1).
Of db: deployment, variables, environment, var_files, which are only watched (cairn.workspace.hcl:10:1).
That only a phase of app waits: all of it does (cairn.workspace.hcl:30:3).
Of app: workspace, files (cairn.workspace.hcl:17:1).
That web is modified with others (cairn.workspace.hcl:25:3).
That only a phase of web waits: all of it does (cairn.workspace.hcl:30:3).
Of web: auto_apply (cairn.workspace.hcl:23:1).
That one success is enough for mon: all are waited for (cairn.workspace.hcl:37:3).
The order of stacks that no rule orders: apps-all runs where net did (cairn.workspace.hcl).
How much may run at the same time (cairn.workspace.hcl).
The limits of keys (cairn.workspace.hcl).
The strategy of the group apps (cairn.workspace.hcl:28:1).`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(lost(r), "\n")); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	g := treeGraph(t, written(t, r))
	name := func(n int) string { return g.Node(n).Name }
	wantWaves := []string{"/apps /net", "/db", "/apps/web /mon", "/apps/app"}
	if diff := cmp.Diff(wantWaves, waves(g, nil, name)); diff != "" {
		t.Errorf("waves (-want +got):\n%s\n%s", diff, r.Text())
	}
}

// A tree cannot put a stack after one that is below it. A stack that came after the lower one by
// way of that still does.
func TestOrderX11ToDirsContradiction(t *testing.T) {
	r := must(t)(ToDirs(model(t, `
stack "inner" { path = "a/b" }
stack "outer" {
  path  = "a"
  after = ["inner"]
}
stack "z" { after = ["outer"] }
`)))
	if text := lost(r); !losesOrder(r) || !strings.Contains(text, "That outer comes after inner, which a tree puts the other way round") {
		t.Errorf("lost:\n%s", text)
	}
	g := treeGraph(t, written(t, r))
	got := sequence(g, order.ByQueue, nil, func(n int) string { return g.Node(n).Name })
	if diff := cmp.Diff([]string{"/a", "/a/b", "/z"}, got); diff != "" {
		t.Errorf("sequence (-want +got):\n%s\n%s", diff, r.Text())
	}
}

// A directory stands for all stacks below it, so that a stack that comes after one of them alone is
// named in the file of that one.
func TestOrderX11ToDirsMarker(t *testing.T) {
	r := must(t)(ToDirs(model(t, `
stack "a-" { path = "a" }
stack "inner" {
  path  = "a/b"
  after = ["x"]
  tags  = ["stack/a-/0"]
}
stack "x" { after = ["a-"] }
`)))
	if losesOrder(r) && strings.Contains(lost(r), "the other way round") {
		t.Errorf("lost:\n%s", lost(r))
	}
	if text := string(r.Text()); !strings.Contains(text, `before = ["/x"]`) {
		t.Errorf("not said at the other end:\n%s", text)
	}
	g := treeGraph(t, written(t, r))
	got := sequence(g, order.ByQueue, nil, func(n int) string { return g.Node(n).Name })
	if diff := cmp.Diff([]string{"/a", "/x", "/a/b"}, got); diff != "" {
		t.Errorf("sequence (-want +got):\n%s\n%s", diff, r.Text())
	}
}

// losses in a conversion to gates.
func TestOrderX11ToGatesLost(t *testing.T) {
	r := must(t)(ToGates(model(t, everything)))
	want := `The task check (cairn.workspace.hcl:39:1).
The task page (cairn.workspace.hcl:47:1).
Of net: keys (cairn.workspace.hcl:5:1).
The deployment of the stack db (cairn.workspace.hcl:10:1).
That db waits for check (cairn.workspace.hcl:11:3).
Of apps: wants (cairn.workspace.hcl:28:1).
That one success is enough for mon: all are waited for (cairn.workspace.hcl:37:3).
How much may run at the same time (cairn.workspace.hcl).
The limits of keys (cairn.workspace.hcl).
The strategy of the group apps (cairn.workspace.hcl:28:1).`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(lost(r), "\n")); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	layout := layoutOf(t, string(r.Text()), []string{"net", "db", "apps/app", "apps/web", "apps", "mon", "elsewhere"})
	got := gateSteps(layout, mainFiles([]string{"net", "db", "apps/app", "apps/web", "apps", "mon"}))
	if diff := cmp.Diff(workspaceSteps(t, withoutTasks(t),
		mainFiles([]string{"net", "db", "apps/app", "apps/web", "apps", "mon"})), got); diff != "" {
		t.Errorf("steps (-workspace +gates):\n%s\n%s", diff, r.Text())
	}
}

// A rule that is dropped along with a stack is reported with its relation to the stack.
func TestOrderX11ToGatesLostTarget(t *testing.T) {
	r := must(t)(ToGates(model(t, `
stack "a" { path = "x" }
stack "b" { path = "x" }
stack "c" {
  modified_by = ["b"]
  apply_after = ["b"]
}
`[1:])))
	want := `The stack b, which has the directory of a (cairn.workspace.hcl:2:1).
That c is modified with b (cairn.workspace.hcl:4:3).
That c waits for b (cairn.workspace.hcl:5:3).`
	if diff := cmp.Diff(strings.Split(want, "\n"), strings.Split(lost(r), "\n")); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// withoutTasks is everything with db after net directly.
func withoutTasks(t *testing.T) *cairnfile.Model {
	t.Helper()
	src := strings.Replace(everything, `after       = ["check"]`, `after       = ["net"]`, 1)
	src = strings.Replace(src, `  wants       = ["check"]`, "", 1)
	return model(t, src[:strings.Index(src, "task \"check\"")])
}

// Requirements before an apply are reported once, if they are about something: without one,
// auto_apply does not ask.
func TestOrderX11FromGatesRequirements(t *testing.T) {
	r := FromGates(layoutOf(t, `
stacks:
  names:
    all: {tag_query: "", rules: {auto_apply: true}}
apply_requirements:
  checks:
    - {tag_query: "dir:a or dir:b", approved: true, merge_conflicts: true}
    - {tag_query: "dir:nowhere", approved: true}
    - {approved: {enabled: false}}
`, []string{"a", "b", "c"}))
	want := "The requirements before an apply, which hold with auto_apply, too: approved, merge_conflicts (.terrateam/config.yml:7:7)."
	if diff := cmp.Diff(want, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// losses in a conversion to plugins.
func TestOrderX11ToPluginsLost(t *testing.T) {
	r := must(t)(ToPlugins(model(t, everything+`
task "late" {
  command     = "late"
  stage       = "post/5.5"
  timeout     = "90s"
  environment = { A = "it's", "b c" = "d" }
}
task "early" {
  description = "before\nall"
  command = "early"
  stage   = "pre/-1"
}
`)))
	want := `# before
# all
- role: "*" # early
  stage: pre_deployment/-1
  type: shell
  parameters:
    cmd: "early"
- role: "*" # check
  stage: pre_deployment/-1
  type: shell
  parameters:
    cmd: "check 'a b'"
- role: "*" # late
  stage: post_deployment/5.5
  type: shell
  parameters:
    cmd: "export A='it'\\''s'\nlate"
    timeout: 90
`
	if diff := cmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("plugins (-want +got):\n%s", diff)
	}
	wantLost := `The stack net (cairn.workspace.hcl:5:1).
The stack db (cairn.workspace.hcl:10:1).
The stack app (cairn.workspace.hcl:17:1).
The stack app2 (cairn.workspace.hcl:22:1).
The stack web (cairn.workspace.hcl:23:1).
The stack apps-all (cairn.workspace.hcl:34:1).
The stack mon (cairn.workspace.hcl:35:1).
The task page, which runs only in reaction to others (cairn.workspace.hcl:49:3).
Of check: path, retries, on_change, tags (cairn.workspace.hcl:39:1).
The variable "b c" of late, which a shell cannot set (cairn.workspace.hcl:52:1).
How much may run at the same time (cairn.workspace.hcl).
The limits of keys (cairn.workspace.hcl).
The strategy of the group apps (cairn.workspace.hcl:28:1).`
	if diff := cmp.Diff(strings.Split(wantLost, "\n"), strings.Split(lost(r), "\n")); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// A loss of the second of two steps has the place in the file that the first one read.
func TestThen(t *testing.T) {
	first := FromGates(layoutOf(t,
		"stacks:\n  names:\n    a: {tag_query: 'dir:a'}\n    b: {tag_query: 'dir:b', rules: {apply_after: [a], auto_apply: true}}\n",
		[]string{"a", "b"}))
	r, diags := first.Then(ToDirs)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := `Of a: files (.terrateam/config.yml:3:5).
That only a phase of b waits: all of it does (.terrateam/config.yml:4:5).
Of b: files, auto_apply (.terrateam/config.yml:4:5).`
	if diff := cmp.Diff(want, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}
