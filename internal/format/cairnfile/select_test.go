// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/order"
)

// selectedAlong renders the leaves that are selected along with some, with reasons.
func selectedAlong(t *testing.T, src, selected string, passes func(*Leaf) bool) []string {
	t.Helper()
	m := resolve(t, src)
	selection := map[*Leaf]bool{}
	for _, leaf := range m.Leaves {
		if slices.Contains(strings.Fields(selected), leaf.Name) {
			selection[leaf] = true
		}
	}
	why, _ := m.along(selection, passes)
	var list []string
	for _, leaf := range m.Leaves {
		if selection[leaf] {
			list = append(list, strings.TrimSuffix(leaf.Name+": "+why[leaf].Text, ": "))
		}
	}
	return list
}

// in a workspace file.
func TestOrderX06Wants(t *testing.T) {
	const chain = `
stack "a" { wants = ["b"] }
stack "b" { wants = ["./c"] }
stack "c" {}
stack "d" { wanted_by = ["tag:prod"] }
stack "e" {
  tags      = ["prod"]
  wanted_by = ["d"]
}
stack "f" {}
task "t" {
  command = "true"
  wants   = ["f"]
}
group "g" {
  members = ["a"]
  wants   = ["t"]
}
group "h" {
  members   = ["f"]
  wanted_by = ["c"]
}
`
	tests := map[string]struct {
		src, selected string
		tasks         bool
		want          []string
	}{
		"A-54 what it wants, and what that wants": {
			"stack \"a\" { wants = [\"b\"] }\nstack \"b\" { wants = [\"c\"] }\nstack \"c\" {}\nstack \"d\" {}", "a", false,
			[]string{"a", "b: a wants it", "c: b wants it"},
		},
		"A-54 not the other way": {"stack \"a\" { wants = [\"b\"] }\nstack \"b\" {}", "b", false, []string{"b"}},
		"A-55 what it is wanted by": {
			"stack \"a\" { wanted_by = [\"b\"] }\nstack \"b\" {}",
			"b",
			false,
			[]string{"a: it is wanted by b", "b"},
		},
		"A-55 not the other way":          {"stack \"a\" { wanted_by = [\"b\"] }\nstack \"b\" {}", "a", false, []string{"a"}},
		"A-56 a loop":                     {chain, "d", false, []string{"d", "e: it is wanted by d"}},
		"A-56 the same loop from its end": {chain, "e", false, []string{"d: it is wanted by e", "e"}},
		"of groups and of tasks": {
			chain,
			"a",
			false,
			[]string{"a", "b: a wants it", "c: b wants it", "f: t wants it", "t: a wants it"},
		},
		"of a group that is wanted": {chain, "c", false, []string{"c", "f: it is wanted by c"}},
		"a task goes with what is wanted": {
			"stack \"a\" { wants = [\"b\"] }\nstack \"b\" {}\ntask \"t\" {\n  command = \"true\"\n  after = [\"b\"]\n}",
			"a",
			true,
			[]string{"a", "b: a wants it", "t"},
		},
		"without tasks": {
			"stack \"a\" {}\ntask \"t\" {\n  command = \"true\"\n  after = [\"a\"]\n}",
			"a",
			false,
			[]string{"a"},
		},
		"tasks with a stage go with any stack": {
			"stack \"a\" {}\ntask \"t\" {\n  command = \"true\"\n  stage = \"pre\"\n}",
			"a",
			true,
			[]string{"a", "t"},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(test.want, selectedAlong(t, test.src, test.selected, func(*Leaf) bool { return test.tasks })); diff != "" {
				t.Errorf("selected (-want +got):\n%s", diff)
			}
		})
	}
	if got := sequence(t, "stack \"a\" { wants = [\"b\"] }\nstack \"b\" { wanted_by = [\"c\"] }\nstack \"c\" {}"); got != "a b c" {
		t.Errorf("A-54 no order by itself: got %s", got)
	}
}

// A filter leaves tasks out, but not wanted leaves, and leaves behind such a task are found all the
// same.
func TestAlongFilter(t *testing.T) {
	const src = `
stack "a" { wants = ["u"] }
task "s" {
  command = "true"
  after   = ["a"]
}
task "t" {
  command = "true"
  after   = ["s"]
}
task "u" { command = "true" }
`
	got := selectedAlong(t, src, "a", func(l *Leaf) bool { return l.Name == "t" })
	if diff := cmp.Diff([]string{"a", "t", "u: a wants it"}, got); diff != "" {
		t.Errorf("selected (-want +got):\n%s", diff)
	}
}

// A task that names stacks goes with these, and with no others that only name it or come after it;
// one that names none goes with all that name it.
func TestAlongTiedTasks(t *testing.T) {
	const src = `
stack "dev" {}
stack "prod" { after = ["build", "dev-test"] }
stack "docs" {}
group "live" { members = ["prod"] }
task "build" { command = "true" }
task "dev-test" {
  command = "true"
  require = ["dev"]
}
task "prod-test" {
  command = "true"
  require = ["live"]
}
task "report" {
  command = "true"
  stage   = "post"
  after   = ["dev-test", "prod-test"]
}
task "page" {
  command = "true"
  onfail  = ["prod-test"]
}
`
	for selected, want := range map[string][]string{
		"dev": {
			"dev", `dev-test: dev is selected, and dev-test has require = ["dev"]`, `report: it has stage = "post"`,
		},
		"prod": {
			"prod", `build: prod is selected, and prod has after = ["build"]`, `prod-test: prod is selected, and prod-test has require = ["live"]`,
			`report: it has stage = "post"`, `page: prod-test is selected, and page has onfail = ["prod-test"]`,
		},
		"docs": {"docs", `report: it has stage = "post"`},
	} {
		m := resolve(t, src)
		selection := map[*Leaf]bool{}
		for _, leaf := range m.Leaves {
			selection[leaf] = leaf.Name == selected
		}
		_, why := m.along(selection, func(*Leaf) bool { return true })
		var got []string
		for _, leaf := range m.Leaves {
			if selection[leaf] {
				got = append(got, strings.TrimSuffix(leaf.Name+": "+why[leaf].Text, ": "))
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("along with %s (-want +got):\n%s", selected, diff)
		}
	}
}

func TestWantsMistakes(t *testing.T) {
	got := problems(t, "stack \"net\" { wants = [\"nt\"] }\nstack \"app\" { wanted_by = [\"app\"] }\nstack \"b\" { wants = \"net\" }")
	want := []string{
		`error order/not-a-set 3:21 The argument "wants" must be a list of strings, such as ["network"].`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
	got = problems(t, "stack \"net\" { wants = [\"nt\"] }\nstack \"app\" { wanted_by = [\"app\"] }")
	want = []string{
		`error order/unknown-ref 1:24 There is no stack, group or task "nt" in this file. Did you mean "net"?`,
		`error order/self 2:28 The stack "app" refers to itself. Remove the entry.`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The order of stack directories: in a workspace file.
func TestTiesByDirectory(t *testing.T) {
	const chain = "stack \"c\" { after = [\"b\"] }\nstack \"b\" { after = [\"a\"] }\nstack \"a\" {}\n" +
		"stack \"d\" { after = [\"z\"] }\nstack \"z\" {}\n"
	const nested = `
stack "s" {}
stack "x" {
  path  = "s/A"
  after = ["s"]
}
stack "w" {
  path  = "s/B"
  after = ["s"]
}
stack "v" {
  path  = "s/A/AA"
  after = ["x"]
}
stack "u" {
  path  = "s/B/BA"
  after = ["w"]
}
`
	tests := map[string]struct{ src, want string }{
		"A-31 by name":      {chain, "a b c z d"},
		"A-31 by directory": {"workspace { ties = \"directory\" }\n" + chain, "a z b d c"},
		"A-37 by directory": {"workspace { ties = \"directory\" }\n" + nested, "s x w v u"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			g := graph(t, test.src, false)
			if got := names(g, g.Sequence(g.Model.Rule(), nil)); got != test.want {
				t.Errorf("sequence %s, want %s", got, test.want)
			}
		})
	}
	got := problems(t, "workspace { ties = \"path\" }")
	if want := []string{
		`error order/bad-value 1:20 Blocks that no rule orders are ordered by "name", or by "directory" as stack directories are; ` +
			`there is no "path".`,
	}; !slices.Equal(got, want) {
		t.Errorf("problems %q, want %q", got, want)
	}
}

// Tasks of "pre" are before those of "post" also without stacks (D-09), and equal numbers are
// ordered by weight, then by name.
func TestStagesWithoutStacks(t *testing.T) {
	const src = `
task "a" {
  command = "true"
  stage   = "post/1"
}
task "b" {
  command = "true"
  stage   = "pre/5"
  order   = 2
}
task "c" {
  command = "true"
  stage   = "pre/5"
  order   = 1
}
`
	g := graph(t, src, false)
	if got := names(g, g.Sequence(order.ByWeight, nil)); got != "c b a" {
		t.Errorf("sequence %s, want c b a", got)
	}
	if got := len(g.Waves(nil)); got != 3 {
		t.Errorf("%d waves, want 3", got)
	}
}

// The attribute "files" of a stack replaces its directory.
func TestFiles(t *testing.T) {
	m := resolve(t, `
stack "app" {
  path  = "live/[app]"
  files = ["*.tf", "../shared/**", "/conf/a.json", "!gen.tf", "!/live/shared/x/**"]
  watch = ["policies"]
}
stack "none" { files = [] }
stack "all" { path = "live" }
`)
	tests := map[string]string{
		"live/[app]/main.tf":     `app: live/[app]/main.tf has changed, one of its files by "*.tf"`,
		"live/[app]/gen.tf":      "",
		"live/[app]/README.md":   "",
		"live/[app]/sub/main.tf": "",
		"live/a/main.tf":         "all: live/a/main.tf changed",
		"live/shared/a/b":        `all: live/shared/a/b changed; app: live/shared/a/b has changed, one of its files by "../shared/**"`,
		"live/shared/x/b":        "all: live/shared/x/b changed",
		"conf/a.json":            `app: conf/a.json has changed, one of its files by "/conf/a.json"`,
		"policies/p":             `app: policies/p has changed, which it watches by "policies"`,
		"none/main.tf":           "",
	}
	for file, want := range tests {
		var got []string
		for leaf, reasons := range changedBy(t, m, file).Reasons {
			for _, reason := range reasons {
				got = append(got, leaf.Name+": "+reason.Text)
			}
		}
		slices.Sort(got)
		if strings.Join(got, "; ") != want {
			t.Errorf("change of %s: got %q, want %q", file, got, want)
		}
	}
	got := problems(t, "stack \"a\" { files = [\"../../x\", \"[\", \"!\"] }")
	want := []string{
		`error order/bad-path 1:22 The pattern "../../x" must be one of files of the repository.`,
		`error order/bad-value 1:33 The pattern "a/[": a [ has no closing ], or nothing in it.`,
		`error order/bad-value 1:38 A pattern of files must not be empty.`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

func TestWorkspaceAndEnvironment(t *testing.T) {
	m := resolve(t, `
stack "blue" {
  path        = "app"
  workspace   = "blue"
  environment = { COLOR = "blue", A = "own" }
}
stack "plain" {
  path      = "app"
  workspace = "default"
}
task "t" {
  command     = "true"
  environment = { A = "own" }
}
group "g" {
  members     = ["blue", "t"]
  variables   = { v = 1 }
  environment = { A = "group", B = "group" }
}
task "other" {
  command = "true"
  after   = ["tag:workspace:blue"]
}
`)
	blue, task := m.leaves[m.Block("blue")], m.leaves[m.Block("t")]
	if diff := cmp.Diff(map[string]string{"COLOR": "blue", "A": "own", "B": "group"}, blue.Environment); diff != "" {
		t.Errorf("environment of the stack (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"v": "1"}, blue.Variables); diff != "" {
		t.Errorf("variables of the stack (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"v": "1", "A": "own", "B": "group"}, task.Environment); diff != "" {
		t.Errorf("environment of the task (-want +got):\n%s", diff)
	}
	if blue.Stack.Workspace != "blue" || m.Block("plain").Stack.Workspace != "" {
		t.Errorf("workspaces %q and %q, want blue and none", blue.Stack.Workspace, m.Block("plain").Stack.Workspace)
	}
	if rules := m.Rules(m.Block("other")); len(rules[0].Targets) != 1 || rules[0].Targets[0].Name != "blue" {
		t.Errorf("tag:workspace:blue means %v, want blue", rules[0].Targets)
	}
	got := problems(t, "stack \"a\" {\n  kind = \"stack\"\n  workspace = \"x\"\n}\nstack \"b\" { workspace = \"a b\" }\n"+
		"stack \"c\" { environment = { \"A=B\" = 1 } }")
	want := []string{
		`error order/bad-value 3:15 A stack of the Terraform Stacks language has no workspaces. Use "deployment".`,
		`error order/bad-value 5:25 "a b" cannot be a workspace: their names consist of letters, ` +
			`digits, _, ., ~ and -, do not begin with -, and are not "." or "..".`,
		`error order/bad-value 6:27 "A=B" cannot be the name of a variable of an environment.`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("problems (-want +got):\n%s", diff)
	}
}

// The attribute "files" of the block workspace is for stacks without one.
func TestFilesOfAll(t *testing.T) {
	m := resolve(t, `
stack "a" {}
workspace { files = ["*.tf"] }
stack "b" { files = ["x"] }
`)
	for file, want := range map[string]bool{"a/main.tf": true, "a/x": false, "b/x": true, "b/main.tf": false} {
		if got := len(changedBy(t, m, file).Reasons) > 0; got != want {
			t.Errorf("change of %s: %t, want %t", file, got, want)
		}
	}
	got := problems(t, "stack \"a\" {}\nstack \"b\" {}\nworkspace { files = [\"[\"] }")
	if want := []string{`error order/bad-value 3:22 The pattern "a/[": a [ has no closing ], or nothing in it.`}; !slices.Equal(got, want) {
		t.Errorf("problems %q, want %q", got, want)
	}
}
