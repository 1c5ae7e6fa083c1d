// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
)

// resolve reads a file that must have no problems.
func resolve(t testing.TB, src string) *Model {
	t.Helper()
	w, diags := Parse(FileName, []byte(src))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	m, diags := Resolve(w)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return m
}

// changedBy returns the changes that changed files amount to, by their paths from the root of the
// repository.
func changedBy(t testing.TB, m *Model, files ...string) *Changes {
	t.Helper()
	var list []gitdiff.File
	for _, file := range files {
		list = append(list, gitdiff.File{Path: file})
	}
	diff, err := gitdiff.DiffOf(".", list...)
	if err != nil {
		t.Fatal(err)
	}
	found, err := m.Changes(t.Context(), ".", diff)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func graph(t *testing.T, src string, phased bool) *Graph {
	t.Helper()
	g, diags := resolve(t, src).Graph(phased)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return g
}

// sequence renders the order of a file.
func sequence(t *testing.T, src string) string {
	t.Helper()
	g := graph(t, src, false)
	return names(g, g.Sequence(order.ByWeight, nil))
}

func names(g *Graph, nodes []int) string {
	var list []string
	for _, n := range nodes {
		list = append(list, g.Node(n).Name)
	}
	return strings.Join(list, " ")
}

// waves renders the waves of a phased graph in which some leaves are selected.
func waves(t *testing.T, src, selected string) string {
	t.Helper()
	g := graph(t, src, true)
	selection := make(order.Selection, g.Len())
	for n, step := range g.Steps {
		selection[n] = step.Leaf != nil && slices.Contains(strings.Fields(selected), step.Leaf.Name)
	}
	var list []string
	for _, wave := range g.Waves(selection) {
		var names []string
		for _, n := range wave {
			names = append(names, g.Node(n).Name)
		}
		list = append(list, strings.Join(names, ", "))
	}
	return strings.Join(list, "; ")
}

// problems reads a file and renders its diagnostics as "severity code line:column detail".
func problems(t *testing.T, src string) []string {
	t.Helper()
	w, diags := Parse(FileName, []byte(src))
	if !diags.HasErrors() {
		m, moreDiags := Resolve(w)
		diags = diags.Extend(moreDiags)
		if m != nil {
			_, moreDiags := m.Graph(true)
			diags = diags.Extend(moreDiags)
		}
	}
	return describe(diags)
}

func describe(diags hcl.Diagnostics) []string {
	var all []string
	for _, diag := range diags {
		severity := "error"
		if diag.Severity == hcl.DiagWarning {
			severity = "warning"
		}
		all = append(all, fmt.Sprintf("%s %s %d:%d %s", severity, problem.CodeOf(diag), diag.Subject.Start.Line,
			diag.Subject.Start.Column, diag.Detail))
	}
	return all
}

// hard edges by name, path, tag query, glob or regular expression, in both directions.
func TestOrderX01(t *testing.T) {
	const others = `
stack "net-a" {
  path = "live/a"
  tags = ["prod", "net"]
}
stack "net-b" {
  path = "live/b"
  tags = ["dev", "net"]
}
stack "zone" {
  path = "live/a/zone"
  tags = ["prod"]
}
`
	// Each rule is of the stack "app", which without it comes first.
	tests := map[string]struct{ rule, want string }{
		"none":                     {``, "app net-a net-b zone"},
		"name":                     {`after = ["net-b"]`, "net-b app net-a zone"},
		"several names":            {`after = ["zone", "net-b", "zone"]`, "net-b zone app net-a"},
		"path and what is below":   {`after = ["/live/a"]`, "net-a zone app net-b"},
		"path from the root":       {`after = ["./live/a/zone"]`, "zone app net-a net-b"},
		"path with a pattern":      {`after = ["./live/*"]`, "net-a net-b app zone"},
		"tag":                      {`after = ["tag:prod"]`, "net-a zone app net-b"},
		"tag query":                {`after = ["tag:net and not prod"]`, "net-b app net-a zone"},
		"tag of a directory":       {`after = ["tag:a in dir"]`, "net-a zone app net-b"},
		"tag that nothing has":     {`after = ["tag:staging"]`, "app net-a net-b zone"},
		"glob":                     {`after = ["net-*"]`, "net-a net-b app zone"},
		"glob of everything":       {`after = ["*"]`, "net-a net-b zone app"},
		"regular expression":       {`after = ["/^(net-b|zone)$/"]`, "net-b zone app net-a"},
		"require":                  {`require = ["net-b"]`, "net-b app net-a zone"},
		"requires":                 {`requires = ["net-b"]`, "net-b app net-a zone"},
		"before":                   {"order = 5\nbefore = [\"net-b\"]", "net-a app net-b zone"},
		"require_in":               {"order = 5\nrequire_in = [\"tag:dev\"]", "net-a app net-b zone"},
		"required_for":             {"order = 5\nrequired_for = [\"/b$/\"]", "net-a app net-b zone"},
		"both directions":          {"order = 5\nbefore = [\"zone\"]\nafter = [\"net-b\"]", "net-a net-b app zone"},
		"said twice, not an error": {`after = ["net-b", "tag:dev", "net-b"]`, "net-b app net-a zone"},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if got := sequence(t, "stack \"app\" {\n"+test.rule+"\n}\n"+others); got != test.want {
				t.Errorf("order: %s, want %s", got, test.want)
			}
		})
	}
}

// separate gates for plan and for apply.
func TestOrderX02(t *testing.T) {
	const src = `
stack "base" {}
stack "dev" { plan_after = ["base"] }
stack "prod" {
  plan_after  = ["base"]
  apply_after = ["dev"]
}
`
	for selected, want := range map[string]string{
		"base dev prod": "plan base; apply base; plan dev, plan prod; apply dev; apply prod",
		"dev prod":      "plan dev, plan prod; apply dev; apply prod", // an unselected node holds nothing back
		"base prod":     "plan base; apply base; plan prod; apply prod",
		"prod":          "plan prod; apply prod",
	} {
		if got := waves(t, src, selected); got != want {
			t.Errorf("%s: %s, want %s", selected, got, want)
		}
	}
	// An order is kept through unselected nodes.
	const chain = `
stack "a" {}
stack "b" { plan_after = ["a"] }
stack "c" { plan_after = ["b"] }
`
	if got, want := waves(t, chain, "a c"), "plan a; apply a; plan c; apply c"; got != want {
		t.Errorf("through b: %s, want %s", got, want)
	}
	// One node for each stack: a gate of a phase is one for all of it.
	if got, want := sequence(t, src), "base dev prod"; got != want {
		t.Errorf("without phases: %s, want %s", got, want)
	}
}

// run runs the graph of a file, one node at a time. The nodes named by failing fail, those by
// changing change something. It returns the outcome of each node.
func run(t *testing.T, src string, phased bool, failing, changing string) map[string]string {
	t.Helper()
	g := graph(t, src, phased)
	var mu sync.Mutex
	var begun []string
	changed := func(n int) bool {
		return slices.Contains(strings.Fields(changing), strings.ReplaceAll(g.Node(n).Name, " ", "-"))
	}
	opts := order.RunOptions{Rule: order.ByWeight, Decide: g.Decide(changed), Limits: g.Limits(), Parallel: 4}
	results := g.Run(t.Context(), opts, func(_ context.Context, n int) error {
		mu.Lock()
		defer mu.Unlock()
		begun = append(begun, g.Node(n).Name)
		if slices.Contains(strings.Fields(failing), strings.ReplaceAll(g.Node(n).Name, " ", "-")) {
			return errors.New("broken")
		}
		return nil
	})
	outcomes := map[string]string{}
	for n, result := range results {
		if g.Steps[n].Leaf == nil {
			continue
		}
		text := map[order.State]string{
			order.NotStarted: "not started",
			order.Succeeded:  "done",
			order.Failed:     "failed",
			order.Passed:     "passed",
		}[result.State]
		if result.State == order.Skipped {
			text = "skipped by " + g.Node(result.Because).Name
		}
		outcomes[g.Node(n).Name] = text
	}
	for _, edge := range g.Reduced(nil, false) {
		from, to := slices.Index(begun, g.Node(edge.From).Name), slices.Index(begun, g.Node(edge.To).Name)
		if from >= 0 && to >= 0 && from > to {
			t.Errorf("%s began before %s", g.Node(edge.To).Name, g.Node(edge.From).Name)
		}
	}
	return outcomes
}

// any and all policies on a set of predecessors.
func TestOrderX03(t *testing.T) {
	const src = `
stack "east" {}
stack "west" {}
stack "all" { after = ["east", "west"] }
stack "any" { after_any = ["east", "west"] }
stack "gated" { apply_after_any = ["/st$/"] }
task "check" {
  command     = "true"
  require_any = ["east", "west"]
}
group "late" {
  members   = ["member"]
  after_any = ["east", "west"]
}
stack "member" {}
stack "next" { after = ["any"] }
`
	for failing, want := range map[string]map[string]string{
		"": {
			"east": "done", "west": "done", "all": "done", "any": "done", "gated": "done", "check": "done", "member": "done", "next": "done",
		},
		"west": {
			"east":   "done",
			"west":   "failed",
			"all":    "skipped by west",
			"any":    "done",
			"gated":  "done",
			"check":  "done",
			"member": "done",
			"next":   "done",
		},
		"east west": {
			"east": "failed", "west": "failed", "all": "skipped by east", "any": "skipped by east", "gated": "skipped by east",
			"check": "skipped by east", "member": "skipped by east", "next": "skipped by east",
		},
	} {
		if diff := cmp.Diff(want, run(t, src, false, failing, "")); diff != "" {
			t.Errorf("failing %q (-want +got):\n%s", failing, diff)
		}
	}
	// A group has succeeded when all of it has.
	const groups = `
stack "a" {}
stack "b" {}
stack "c" {}
stack "d" {}
group "one" { members = ["a", "b"] }
group "two" { members = ["c", "d"] }
group "none" { members = [] }
stack "any" { after_any = ["one", "two"] }
stack "mixed" { after_any = ["none", "one", "d"] }
stack "free" { after_any = ["none", "tag:none"] }
`
	for failing, want := range map[string][2]string{
		"":      {"done", "done"},
		"a":     {"done", "done"},
		"a c":   {"skipped by a", "done"},
		"b d":   {"skipped by b", "skipped by b"},
		"c d":   {"done", "done"},
		"b c d": {"skipped by b", "skipped by b"},
	} {
		got := run(t, groups, false, failing, "")
		if got["any"] != want[0] || got["mixed"] != want[1] || got["free"] != "done" {
			t.Errorf("failing %q: any %s, mixed %s, free %s; want %s, %s, done", failing, got["any"], got["mixed"], got["free"], want[0], want[1])
		}
	}
	phased := run(t, src, true, "apply-east apply-west", "")
	if phased["plan gated"] != "done" || phased["apply gated"] != "skipped by apply east" {
		t.Errorf("apply_after_any: plan %s, apply %s; want done, skipped by apply east", phased["plan gated"], phased["apply gated"])
	}
}

// weights with a total tie rule.
func TestOrderX04(t *testing.T) {
	const src = `
stack "z" { order = "first" }
stack "a" { order = "last" }
stack "c" { order = 1.5 }
stack "d" { order = 2 }
stack "e" { order = 1 }
stack "f" { order = -0.5 }
stack "h" {}
stack "g" {}
stack "b" {
  order = "first"
  after = ["d"]
}
`
	// b is wanted first, and d before it; equal weights are ordered by name.
	if got, want := sequence(t, src), "d b z f g h e c a"; got != want {
		t.Errorf("order: %s, want %s", got, want)
	}
	for range 20 {
		if got, again := sequence(t, src), sequence(t, src); got != again {
			t.Fatalf("two orders of the same file: %s, %s", got, again)
		}
	}
	const stages = `
stack "s" {}
task "late" {
  command = "true"
  stage   = "post/100"
}
task "later" {
  command = "true"
  stage   = "post_deployment/+100.0"
}
task "soon" {
  command = "true"
  stage   = "post"
}
task "y" {
  command = "true"
  stage   = "pre/-.5"
}
task "x" {
  command = "true"
  stage   = "pre"
}
task "free" { command = "true" }
`
	if got, want := sequence(t, stages), "free y x s soon late later"; got != want {
		t.Errorf("stages: %s, want %s", got, want)
	}
	for _, bad := range []string{"1e9", "-1e9", `"middle"`, "true", "[1]"} {
		want := []string{`error order/bad-number 1:21 The order is a number between -1e9 and 1e9, whole or not, "first" or "last".`}
		if diff := cmp.Diff(want, problems(t, `stack "a" { order = `+bad+` }`)); diff != "" {
			t.Errorf("order = %s (-want +got):\n%s", bad, diff)
		}
	}
	for text, code := range map[string]string{"post:100": "bad-stage", "post/1e3": "bad-number", "post/": "bad-number", "mid": "bad-stage"} {
		want := []string{"error order/" + code +
			` 3:9 The stage is "pre" or "post", with a slash and a number behind it if the place among other tasks matters: "post/100".`}
		if diff := cmp.Diff(want, problems(t, "task \"t\" {\ncommand = \"true\"\nstage = \""+text+"\"\n}")); diff != "" {
			t.Errorf("stage %q (-want +got):\n%s", text, diff)
		}
	}
	const groups = `
stack "a" {}
stack "b" {}
stack "c" { order = -1 }
group "late" {
  members = ["a", "c"]
  order   = "last"
}
`
	if got, want := sequence(t, groups), "c b a"; got != want {
		t.Errorf("inherited: %s, want %s", got, want)
	}
}

// groups of groups that can be waited for, with rules inherited downwards.
func TestOrderX05(t *testing.T) {
	const src = `
stack "base" {}
group "prod" {
  members     = ["prod-data", "prod-app"]
  modified_by = ["base"]
  apply_after = ["dev"]
  tags        = ["production"]
  variables   = { tier = "prod", size = 3 }
  auto_apply  = false
}
group "prod-data" {
  members   = ["prod-db", "prod-cache"]
  variables = { tier = "data" }
}
stack "prod-db" {
  variables  = { size = 9 }
  auto_apply = true
}
stack "prod-cache" {}
stack "prod-app" {}
group "dev" {
  members     = ["/^dev-/"]
  modified_by = ["base"]
}
stack "dev-db" { auto_apply = true }
stack "dev-app" {}
stack "report" { after = ["prod"] }
`
	all := "base prod-db prod-cache prod-app dev-db dev-app report"
	want := "plan base; apply base; plan dev-app, plan dev-db, plan prod-app, plan prod-cache, plan prod-db; apply dev-app, apply dev-db; " +
		"apply prod-app, apply prod-cache, apply prod-db; plan report; apply report"
	if got := waves(t, src, all); got != want {
		t.Errorf("waves: %s, want %s", got, want)
	}
	if got, want := waves(t, src, "prod-db dev-app"), "plan dev-app, plan prod-db; apply dev-app; apply prod-db"; got != want {
		t.Errorf("waves of two: %s, want %s", got, want)
	}
	m := resolve(t, src)
	db := m.LeavesOf(m.Block("prod-db"))[0]
	if diff := cmp.Diff(map[string]string{"tier": "data", "size": "9"}, db.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s", diff)
	}
	for _, tag := range []string{"production", "stack_name:prod", "stack_name:prod-data", "stack_name:prod-db", "dir:prod-db"} {
		if !db.AllTags[tag] {
			t.Errorf("prod-db has not the tag %s: %v", tag, db.AllTags)
		}
	}
	if db.AutoApply || !m.LeavesOf(m.Block("dev-db"))[0].AutoApply {
		t.Errorf("auto_apply: the group prod says no, and no group of dev-db says anything")
	}

	cycle := "group \"a\" { members = [\"b\"] }\ngroup \"b\" { members = [\"c\"] }\ngroup \"c\" { members = [\"a\"] }\n"
	want1 := []string{"error order/cycle 1:24 These would have to wait for each other: a → b → c → a\n" +
		"  a before b: it is to be a member of a (cairn.workspace.hcl:1:24)\n" +
		"  b before c: it is to be a member of b (cairn.workspace.hcl:2:24)\n" +
		"  c before a: it is to be a member of c (cairn.workspace.hcl:3:24)."}
	if diff := cmp.Diff(want1, problems(t, cycle)); diff != "" {
		t.Errorf("cycle of groups (-want +got):\n%s", diff)
	}
	self := problems(t, `group "a" { members = ["a"] }`)
	if want := []string{`error order/self 1:24 The group "a" refers to itself. Remove the entry.`}; !slices.Equal(self, want) {
		t.Errorf("group of itself: got %q, want %q", self, want)
	}
	waits := problems(t, "stack \"s\" { after = [\"g\"] }\ngroup \"g\" { members = [\"s\"] }\n")
	if len(waits) != 1 || !strings.HasPrefix(waits[0], "error order/cycle ") {
		t.Errorf("a member that waits for its group: got %q, want a cycle", waits)
	}
}

// the cascade of "modified", with a reason for each.
func TestOrderX06(t *testing.T) {
	m := resolve(t, `
stack "network" {
  path      = "live/network"
  watch     = ["policies/*.json", "shared"]
  var_files = ["vars/net.tfvars"]
}
group "env" {
  members     = ["db", "app"]
  modified_by = ["network"]
}
stack "db" { path = "live/db" }
stack "app" { path = "live/app" }
stack "mon" {
  path       = "live/mon"
  plan_after = ["app"]
}
stack "alarm" {
  path        = "live/mon/alarm"
  modified_by = ["tag:dir:live/app"]
}
`)
	const viaEnv = `network is modified, and env has modified_by = ["network"] (cairn.workspace.hcl:9:18)`
	const viaApp = `app is modified, and alarm has modified_by = ["tag:dir:live/app"] (cairn.workspace.hcl:19:18)`
	for file, want := range map[string]map[string]string{
		"live/network/main.tf": {"network": "live/network/main.tf changed", "db": viaEnv, "app": viaEnv, "alarm": viaApp},
		"policies/a.json": {
			"network": `policies/a.json has changed, which it watches by "policies/*.json"`,
			"db":      viaEnv,
			"app":     viaEnv,
			"alarm":   viaApp,
		},
		"shared/deep/x.txt": {
			"network": `shared/deep/x.txt has changed, which it watches by "shared"`,
			"db":      viaEnv,
			"app":     viaEnv,
			"alarm":   viaApp,
		},
		"vars/net.tfvars":       {"network": "vars/net.tfvars, one of its var_files, has changed", "db": viaEnv, "app": viaEnv, "alarm": viaApp},
		"live/app/sub/x.tf":     {"app": "live/app/sub/x.tf changed", "alarm": viaApp}, // mon is planned after it, no more
		"live/mon/alarm/x.tf":   {"alarm": "live/mon/alarm/x.tf changed"},              // the nearest stack
		"live/networks/main.tf": {},
		"README.md":             {},
	} {
		got := map[string]string{}
		own := map[*Leaf]Cause{}
		for leaf, reasons := range changedBy(t, m, file).Reasons {
			if reasons[0].Kind != gitdiff.ModifiedBy {
				own[leaf] = Cause{Text: reasons[0].Text}
			}
			got[leaf.Name] = reasons[0].Text
		}
		for leaf, cause := range m.modified(own) {
			if cause.Place.File != "" {
				got[leaf.Name] += " (" + cause.Place.String() + ")"
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", file, diff)
		}
	}

	// A stack modified because of others is planned after them, unless its block says when it is
	// planned, even if it says never.
	const gates = `
stack "base" {}
stack "dev" {
  modified_by = ["base"]
  %s
}
`
	for rule, want := range map[string]string{
		"":                      "plan base; apply base; plan dev; apply dev",
		`plan_after = ["base"]`: "plan base; apply base; plan dev; apply dev",
		`plan_after = []`:       "plan base, plan dev; apply base, apply dev",
	} {
		if got := waves(t, fmt.Sprintf(gates, rule), "base dev"); got != want {
			t.Errorf("%q: %s, want %s", rule, got, want)
		}
	}
	// A cycle of modified_by is allowed where plan_after breaks it.
	cycle := resolve(t, "stack \"a\" {\nmodified_by = [\"b\"]\nplan_after = []\n}\nstack \"b\" {\nmodified_by = [\"a\"]\nplan_after = []\n}")
	if got := changedBy(t, cycle, "a/x.tf").Reasons; len(got) != 2 {
		t.Errorf("cycle: %d are modified, want 2", len(got))
	}
	if _, diags := cycle.Graph(true); len(diags) > 0 {
		t.Errorf("cycle: %v", diags)
	}
}

// reactions.
func TestOrderX07(t *testing.T) {
	const src = `
stack "s" {}
task "always" {
  command   = "true"
  watch     = ["s"]
  on_change = "reload"
}
task "changed" {
  command   = "true"
  onchanges = ["s"]
}
task "failed" {
  command = "true"
  onfail  = ["s"]
}
task "both-failed" {
  command    = "true"
  onfail_all = ["s", "other"]
}
task "end" {
  command = "true"
  listen  = ["s"]
}
stack "other" {}
task "next" {
  command = "true"
  require = ["changed"]
}
`
	tests := []struct {
		failing, changing string
		want              map[string]string
	}{
		{"", "", map[string]string{
			"s":           "done",
			"always":      "done",
			"changed":     "passed",
			"failed":      "passed",
			"both-failed": "passed",
			"end":         "passed",
			"other":       "done",
			"next":        "done",
		}},
		{"", "s", map[string]string{
			"s":           "done",
			"always":      "done",
			"changed":     "done",
			"failed":      "passed",
			"both-failed": "passed",
			"end":         "done",
			"other":       "done",
			"next":        "done",
		}},
		{"s", "s", map[string]string{
			"s":           "failed",
			"always":      "skipped by s",
			"changed":     "skipped by s",
			"failed":      "done",
			"both-failed": "passed",
			"end":         "passed",
			"other":       "done",
			"next":        "skipped by s",
		}},
		{"s other", "", map[string]string{
			"s":           "failed",
			"always":      "skipped by s",
			"changed":     "skipped by s",
			"failed":      "done",
			"both-failed": "done",
			"end":         "passed",
			"other":       "failed",
			"next":        "skipped by s",
		}},
	}
	for _, test := range tests {
		if diff := cmp.Diff(test.want, run(t, src, false, test.failing, test.changing)); diff != "" {
			t.Errorf("failing %q, changing %q (-want +got):\n%s", test.failing, test.changing, diff)
		}
	}
	g := graph(t, src, false)
	n := func(name string) int { return g.Nodes(g.Model.LeavesOf(g.Model.Block(name))[0])[0] }
	for _, changed := range []bool{true, false} {
		sees := func(node int) bool { return changed && node == n("s") }
		if got := g.Reacts(n("always"), sees); got != changed {
			t.Errorf("reaction with a change %t: %t", changed, got)
		}
		if g.Reacts(n("changed"), sees) {
			t.Error("a reaction of a task without watch")
		}
	}
	if got := sequence(t, src); !strings.HasSuffix(got, " end") {
		t.Errorf("order: %s, want what listens at the end", got)
	}

	// The same, written at the other end.
	const inverse = `
stack "s" {}
task "changed" { command = "true" }
task "failed" { command = "true" }
task "end" { command = "true" }
task "first" { command = "true" }
task "watcher" { command = "true" }
task "source" {
  command      = "true"
  onchanges_in = ["changed"]
  onfail_in    = ["failed"]
  listen_in    = ["end"]
  watch_in     = ["watcher"]
  prereq_in    = ["first"]
}
`
	want := map[string]string{
		"s":       "done",
		"first":   "done",
		"source":  "done",
		"changed": "done",
		"failed":  "passed",
		"end":     "done",
		"watcher": "done",
	}
	if diff := cmp.Diff(want, run(t, inverse, false, "", "source")); diff != "" {
		t.Errorf("inverse rules (-want +got):\n%s", diff)
	}
	if got, want := sequence(t, inverse), "s first source changed failed watcher end"; !strings.HasSuffix(got, "end") ||
		strings.Index(got, "first") > strings.Index(got, "source") {
		t.Errorf("order: %s, want such as %s", got, want)
	}

	// A task that a failure kept from running counts as failed for those that react to failures, and
	// never as one that could have changed something.
	const behind = `
stack "s" {}
task "t" {
  command = "true"
  after   = ["s"]
}
task "u" { command = "true" }
task "page" {
  command = "true"
  onfail  = ["t"]
}
task "changed" {
  command   = "true"
  onchanges = ["t"]
}
task "any" {
  command       = "true"
  onchanges_any = ["t", "u"]
}
`
	for changing, anyChange := range map[string]string{"": "skipped by s", "u": "done"} {
		want := map[string]string{"s": "failed", "t": "skipped by s", "u": "done", "page": "done", "changed": "skipped by s", "any": anyChange}
		if diff := cmp.Diff(want, run(t, behind, false, "s", changing)); diff != "" {
			t.Errorf("behind a failure, changing %q (-want +got):\n%s", changing, diff)
		}
	}

	// Entries of several blocks for one kind of reaction are one list.
	const several = `
task "a" {
  command      = "true"
  onchanges_in = ["changed"]
  onfail_in    = ["failed"]
  listen_in    = ["end"]
}
task "b" {
  command      = "true"
  onchanges_in = ["changed"]
  onfail_in    = ["failed"]
  listen_in    = ["end"]
}
task "c" { command = "true" }
task "changed" {
  command   = "true"
  onchanges = ["c"]
}
task "failed" {
  command = "true"
  onfail  = ["c"]
}
task "end" { command = "true" }
`
	for _, test := range []struct{ failing, changing, want string }{
		{"", "", "passed/passed/passed"},
		{"", "b", "done/passed/done"},
		{"", "a c", "done/passed/done"},
		{"a", "", "skipped by a/done/passed"},
		{"b", "a", "skipped by b/done/done"},
		{"c", "", "skipped by c/done/passed"},
	} {
		got := run(t, several, false, test.failing, test.changing)
		if got := strings.Join([]string{got["changed"], got["failed"], got["end"]}, "/"); got != test.want {
			t.Errorf("failing %q, changing %q: changed, failed, end are %s, want %s", test.failing, test.changing, got, test.want)
		}
	}
	m := resolve(t, several)
	for task, want := range map[string]string{
		"failed": "if one of a, b, c fails", "changed": "if one of a, b, c has changed", "end": "at the end, if one of a, b has changed", "a": "",
	} {
		if got := m.When(m.LeavesOf(m.Block(task))[0]); got != want {
			t.Errorf("when %s runs: %q, want %q", task, got, want)
		}
	}

	// A task whose reaction has no targets does not run.
	for _, targets := range []string{`["tag:none"]`, `["empty"]`, `[]`} {
		for _, kind := range []string{"onchanges", "onchanges_any", "onfail", "onfail_all", "listen", "prereq"} {
			src := "stack \"s\" {}\ngroup \"empty\" { members = [] }\ntask \"t\" {\n  command = \"true\"\n  " + kind + " = " + targets + "\n}\n"
			for _, phased := range []bool{false, true} {
				if got := run(t, src, phased, "s plan-s", "s plan-s apply-s")["t"]; got != "passed" {
					t.Errorf("%s = %s: %s, want passed", kind, targets, got)
				}
			}
			if m := resolve(t, src); targets != `["empty"]` &&
				m.When(m.LeavesOf(m.Block("t"))[0]) != "not at all, as there is nothing that it reacts to" {
				t.Errorf("%s = %s: when it runs: %q", kind, targets, m.When(m.LeavesOf(m.Block("t"))[0]))
			}
		}
	}

	// A prerequisite is done between the plan and the apply of a stack that would change.
	const prereq = `
stack "s" {}
task "backup" {
  command = "true"
  prereq  = ["s"]
}
`
	if got, want := waves(t, prereq, "s backup"), "plan s; backup; apply s"; got != want {
		t.Errorf("prereq: %s, want %s", got, want)
	}
	for changing, want := range map[string]string{"plan-s": "done", "": "passed"} {
		if got := run(t, prereq, true, "", changing)["backup"]; got != want {
			t.Errorf("prereq of what would change %q: %s, want %s", changing, got, want)
		}
	}
	if got := run(t, prereq, true, "backup", "plan-s")["apply s"]; got != "skipped by backup" {
		t.Errorf("apply behind a failed prereq: %s, want skipped by backup", got)
	}
	if got := run(t, prereq, true, "plan-s", "")["backup"]; got != "skipped by plan s" {
		t.Errorf("prereq of a failed plan: %s, want skipped by plan s", got)
	}
	// A task that comes before another one runs if that would.
	const chain = `
stack "s" {}
stack "r" {}
task "backup" {
  command = "true"
  prereq  = ["s", "r"]
}
task "announce" {
  command = "true"
  prereq  = ["backup"]
}
task "check" { command = "true" }
task "mixed" {
  command = "true"
  prereq  = ["check", "backup"]
}
`
	if got, want := waves(t, chain, "s r backup announce"), "plan r, plan s; announce; backup; apply r, apply s"; got != want {
		t.Errorf("chain of prereq: %s, want %s", got, want)
	}
	for changing, want := range map[string]string{"plan-r": "done/done/done", "": "passed/passed/done"} {
		got := run(t, chain, true, "", changing)
		if got := strings.Join([]string{got["announce"], got["backup"], got["mixed"]}, "/"); got != want {
			t.Errorf("chain of prereq, %q would change: announce, backup, mixed are %s, want %s", changing, got, want)
		}
	}
	if got := run(t, chain, true, "announce", "plan-s"); got["backup"] != "skipped by announce" || got["apply s"] != "skipped by announce" {
		t.Errorf("behind a failed prereq of a prereq: backup %s, apply s %s; want both skipped by announce", got["backup"], got["apply s"])
	}
	loop := problems(t, "stack \"s\" {}\ntask \"a\" {\n  command = \"true\"\n  prereq = [\"b\"]\n"+
		"}\ntask \"b\" {\n  command = \"true\"\n  prereq = [\"a\", \"s\"]\n}\n")
	if len(loop) != 1 || !strings.HasPrefix(loop[0], "error order/cycle ") {
		t.Errorf("tasks before each other: %q, want a cycle", loop)
	}
	want1 := []string{`error order/bad-value 4:16 Only tasks react to others; s is a stack.`}
	if diff := cmp.Diff(want1, problems(t, "stack \"s\" {}\ntask \"t\" {\n  command = \"true\"\n  onfail_in = [\"s\"]\n}\n")); diff != "" {
		t.Errorf("reaction of a stack (-want +got):\n%s", diff)
	}
}

// limits of groups, over all, and of keys.
func TestOrderX08(t *testing.T) {
	const src = `
workspace {
  parallel = 7
  limits   = { database = 2, api = 3 }
}
group "all" {
  members = ["rolling", "*-db"]
  keys    = ["api"]
  strategy { parallel = 4 }
}
group "rolling" {
  members = ["a", "b"]
  strategy { one_by_one = true }
}
stack "a" { keys = ["unlimited"] }
stack "b" {}
stack "x-db" { keys = ["database"] }
stack "y-db" { keys = ["database"] }
`
	g := graph(t, src, false)
	if g.Model.Parallel != 7 {
		t.Errorf("parallel: %d, want 7", g.Model.Parallel)
	}
	var got []string
	for _, limit := range g.Limits() {
		got = append(got, fmt.Sprintf("%d of %s", limit.Parallel, names(g, limit.Nodes)))
	}
	want := []string{"3 of a b x-db y-db", "2 of x-db y-db", "1 of a", "4 of a b x-db y-db", "1 of a b"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	if got := len(graph(t, src, true).Limits()[0].Nodes); got != 8 {
		t.Errorf("phased: a limit has %d nodes, want 8", got)
	}
	for text, want := range map[string]string{
		`workspace { limits = { a = 0 } }`: `error order/bad-value 1:22 The limit of "a" must be a whole number from 1.`,
		`workspace { parallel = 1.5 }`:     `error order/bad-value 1:24 The argument "parallel" must be a whole number from 1.`,

		"stack \"s\" { keys = [\"database\"] }\nworkspace { limits = { databse = 1 } }": `warning order/unknown-ref ` +
			`0:0 Nothing has the key "databse", which the block "workspace" limits. Did you mean "database"?`,
		"group \"g\" {\nmembers = []\nstrategy {\none_by_one = true\nparallel = 2\n" +
			"}\n}": `error order/bad-value 4:14 With one_by_one there is no number in parallel. Remove one of the two.`,
		"group \"g\" {\nmembers = []\nstrategy { parallel = 2 }\n" +
			"strategy { parallel = 2 }\n}": `error order/duplicate-id 4:1 A group has one strategy at most. Remove one of the blocks.`,
	} {
		if diff := cmp.Diff([]string{want}, problems(t, text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestProblems(t *testing.T) {
	tests := map[string]struct {
		src  string
		want []string
	}{
		"unknown name": {
			"stack \"network\" {}\nstack \"s\" { after = [\"netwrk\"] }",
			[]string{`error order/unknown-ref 2:22 There is no stack, group or task "netwrk" in this file. Did you mean "network"?`},
		},
		"path for a name": {`stack "s" { after = ["live/a"] }`, []string{
			`error order/unknown-ref 1:22 There is no stack, group or task "live/a" in this file. Paths begin with a point or a slash: "./live/a".`,
		}},
		"itself": {`stack "s" { after = ["s"] }`, []string{`error order/self 1:22 The stack "s" refers to itself. Remove the entry.`}},
		"conflict": {"stack \"a\" {}\nstack \"s\" {\n  before = [\"a\"]\n  require = [\"./a\"]\n}", []string{
			`error order/conflict 4:14 s is to be before a, by "a" at cairn.workspace.hcl:3:13, and after it, by "./a" here. Remove one of the two.`,
		}},
		"cycle": {"stack \"a\" { after = [\"b\"] }\nstack \"b\" { apply_after = [\"a\"] }", []string{
			"error order/cycle 2:28 These would have to wait for each other: apply a → apply b → plan a → apply a\n" +
				"  apply a before apply b: b has apply_after = [\"a\"] (cairn.workspace.hcl:2:28)\n" +
				"  apply b before plan a: a has after = [\"b\"] (cairn.workspace.hcl:1:22)\n" +
				"  plan a before apply a: a stack is planned before it is applied (cairn.workspace.hcl:1:1).",
		}},
		"empty path": {
			`stack "s" { after = ["./nowhere"] }`,
			[]string{`warning order/bad-path 1:22 No stack or task of this file matches "./nowhere", so that it has no effect.`},
		},
		"empty glob": {
			`stack "s" { after = ["x*"] }`,
			[]string{`warning order/unknown-ref 1:22 No stack or task of this file matches "x*", so that it has no effect.`},
		},
		"path outside": {
			`stack "s" { after = ["../x"] }`,
			[]string{`error order/bad-path 1:22 The path "../x" must lead to a directory of the repository, seen from its root.`},
		},
		"directory": {
			`stack "s" { path = "a/../../x" }`,
			[]string{`error order/bad-path 1:20 The path "a/../../x" must lead to a directory of the repository, seen from its root.`},
		},
		"expression": {`stack "s" { after = ["/(/"] }`, []string{
			"error order/bad-value 1:22 The text between slashes is a regular expression, and this one cannot be read: missing closing ): `(`.",
		}},
		"tag query": {`stack "s" { after = ["tag:a and (b"] }`, []string{`error order/bad-tag-query 1:33 `}},
		"not a set": {
			`stack "s" { after = "a" }`,
			[]string{`error order/not-a-set 1:21 The argument "after" must be a list of strings, such as ["network"].`},
		},
		"number in a set": {
			`stack "s" { after = [1] }`,
			[]string{`error order/not-a-set 1:22 The elements of "after" must be strings; this one is of type number.`},
		},
		"variable": {`stack "s" { after = [base] }`, []string{`error order/bad-value 1:22 Everything in this file is written out: ` +
			`there are no variables. If "base" is to be a text, put it in quotes.`}},
		"name twice": {"stack \"s\" {}\ngroup \"s\" { members = [] }", []string{`error order/duplicate-id 2:7 There ` +
			`is already a block with the name "s" at cairn.workspace.hcl:1:1. Names are unique over stacks, groups and tasks; choose another.`}},
		"loop": {
			`stack "s" { after = [[for x in [1, 2] : x]] }`,
			[]string{`error order/bad-value 1:22 Everything in this file is written out: there are no loops and no calculations. Write its result.`},
		},
		"huge number": {`stack "s" { variables = { x = 1e600000000 } }`, []string{
			`error order/syntax 1:31 The exponent of a number is at most 18000 either way. Write the number in quotes if it is meant as a text.`,
		}},
		"zero byte": {
			`stack "s" { environment = { X = "a\u0000b" } }`,
			[]string{`error order/bad-value 1:27 The value of "X" has a zero byte, which nothing in an environment can have.`},
		},
		"name of variable": {
			`stack "s" { variables = { "A=B" = "x" } }`,
			[]string{`error order/bad-value 1:25 "A=B" cannot be the name of a variable of an environment.`},
		},
		"zero byte, task": {
			`task "t" { command = ["echo", "\u0000"] }`,
			[]string{`error order/bad-value 1:22 The argument "command" must be a line for the shell, or a list of a program and its arguments.`},
		},
		"long pattern": {
			`stack "s" { watch = ["` + strings.Repeat("**/", 1000) + `"] }`,
			[]string{`error order/bad-value 1:21 The pattern is longer than 1000 characters.`},
		},
		"bad pattern": {
			`stack "s" { watch = ["a["] }`,
			[]string{`error order/bad-value 1:21 The pattern "a[": a [ has no closing ], or nothing in it.`},
		},
		"large expression": {`stack "s" { after = ["/(a{1000}){9}/"] }`, []string{
			"error order/bad-value 1:22 The text between slashes is a regular expression, and this one cannot be read: invalid repeat count: `{9}`.",
		}},
		"many expressions": {
			`stack "s" { after = ["/` + strings.Repeat("a{900}", 9) + `/"] }`,
			[]string{`error order/bad-value 1:22 The text between slashes is a regular expression, ` +
				`and this one cannot be read: it is too large, as its repetitions stand for many copies.`},
		},
		"workspace, option": {`stack "s" { workspace = "-help" }`, []string{`error order/bad-value 1:25 "-help" cannot be a workspace: ` +
			`their names consist of letters, digits, _, ., ~ and -, do not begin with -, and are not "." or "..".`}},
		"workspace, dir": {`stack "s" { workspace = ".." }`, []string{`error order/bad-value 1:25 ".." cannot be a workspace: ` +
			`their names consist of letters, digits, _, ., ~ and -, do not begin with -, and are not "." or "..".`}},
		"no name": {`stack {}`, []string{`error order/bad-value 1:1 A block of this type has exactly one name: stack "NAME" { … }.`}},
		"bad name": {`stack "a/b" {}`, []string{`error order/bad-value 1:7 The name "a/b" cannot be referred to. ` +
			`Names consist of letters, digits, _, . and -, and do not begin with . or -.`}},
		"unknown argument": {
			`stack "s" { aftre = [] }`,
			[]string{`error order/unknown-key 1:13 There is no argument "aftre" in a stack block. Did you mean "after"?`},
		},
		"unknown block": {
			`stak "s" {}`,
			[]string{`error order/unknown-key 1:1 There is no block type "stak" in this file. Did you mean "stack"?`},
		},
		"reaction of a stack": {
			`stack "s" { onfail = [] }`,
			[]string{`error order/unknown-key 1:13 There is no argument "onfail" in a stack block.`},
		},
		"task without command": {`task "t" {}`, []string{
			`error order/bad-value 1:1 A task needs the argument "command": a line for the shell, or a list of a program and its arguments.`,
		}},
		"bad timeout": {
			"task \"t\" {\ncommand = \"true\"\ntimeout = \"soon\"\n}",
			[]string{`error order/bad-value 3:11 The argument "timeout" must be a duration such as "90s" or "5m".`},
		},
		"syntax": {`stack "s" {`, []string{`error order/syntax 1:11 `}},
		"too large": {strings.Repeat("#", MaxSize+1), []string{fmt.Sprintf("error order/syntax 0:0 The file has %d bytes; "+
			"cairn reads workspace files of at most %d. Is it the right one?", MaxSize+1, MaxSize)}},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			got := problems(t, test.src)
			for i, want := range test.want {
				if i < len(got) && strings.HasSuffix(want, " ") { // the detail is that of another package
					got[i] = got[i][:min(len(want), len(got[i]))]
				}
			}
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Files that would mean very much are errors, found in seconds.
func TestReferencesToTooMuch(t *testing.T) {
	var clique, groups strings.Builder
	for i := range 4000 {
		fmt.Fprintf(&clique, "stack \"s%d\" { after = [\"t*\"] }\nstack \"t%[1]d\" {}\n", i)
	}
	groups.WriteString("stack \"s\" {}\ngroup \"g0\" {\nmembers = [\"s\"]\nauto_apply = true\n}\n")
	for i := 1; i < 300; i++ { // many ways lead to each of them
		fmt.Fprintf(&groups, "group \"g%d\" { members = [\"/^g%d$/\", \"g%d\", \"g%d\"] }\n", i, i, i-1, max(0, i-2))
	}
	got := problems(t, clique.String())
	if len(got) != 1 || !strings.HasPrefix(got[0], "error order/syntax ") || !strings.Contains(got[0], "stand for more than 2000000 blocks") {
		t.Errorf("edges: %q, want one error order/syntax", got)
	}
	w, _ := Parse(FileName, []byte(groups.String()))
	if m, diags := Resolve(w); m == nil || !m.Leaves[0].AutoApply || len(m.Leaves[0].Groups) != 300 {
		t.Errorf("groups in groups: %v", diags)
	}
}

func TestTask(t *testing.T) {
	m := resolve(t, `
task "migrate" {
  description = "moves the schema"
  command     = ["./migrate.sh", "up", 3]
  path        = "/db"
  timeout     = "1m30s"
  retries     = 2
  interval    = "5s"
  environment = { MODE = "fast", LEVEL = 3, DRY = false }
}
task "line" { command = "echo a | tr a b" }
`)
	task := m.Block("migrate").Task
	want := &Task{
		Task: rollout.Task{Command: []string{"./migrate.sh", "up", "3"}, Timeout: 90e9, Retries: 2, Interval: 5e9},
		Dir:  "db", Environment: map[string]string{"MODE": "fast", "LEVEL": "3", "DRY": "false"},
	}
	if diff := cmp.Diff(want, task); diff != "" {
		t.Errorf("task (-want +got):\n%s", diff)
	}
	if got, want := m.Block("line").Task.Command, []string{"/bin/sh", "-c", "echo a | tr a b"}; !slices.Equal(got, want) {
		t.Errorf("line: %q, want %q", got, want)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("stack \"a\" {\n after = [\"*\", \"/b/\", \"tag:c\", \"./d\"]\n}\ngroup \"g\" {\n members = [\"a\"]\n}"))
	f.Add([]byte("task \"t\" {\n command = \"x\"\n stage = \"post/1\"\n onfail = [\"t\"]\n}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		w, diags := Parse(FileName, src)
		for _, diag := range diags {
			if problem.CodeOf(diag) == "" {
				t.Errorf("a diagnostic without a code: %v", diag)
			}
		}
		if diags.HasErrors() {
			return
		}
		m, diags := Resolve(w)
		if (m == nil) != diags.HasErrors() {
			t.Fatal("a model with errors, or none without")
		}
		if m == nil {
			return
		}
		for _, phased := range []bool{false, true} {
			if g, diags := m.Graph(phased); (g == nil) != diags.HasErrors() {
				t.Error("a graph with errors, or none without")
			}
		}
		changedBy(t, m, "a/b")
	})
}
