// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
)

// layoutOf reads gates of a repository with a file in each of some directories.
func layoutOf(t testing.TB, config string, dirs []string) *terrateam.Layout {
	t.Helper()
	c, diags := terrateam.Read(terrateam.ConfigFile, []byte(config))
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, config)
	}
	var files []string
	for _, dir := range dirs {
		files = append(files, path.Join(dir, "main.tf"))
	}
	dirspaces, diags := c.Dirspaces(files, func(string) bool { return false })
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, config)
	}
	l, diags := terrateam.New(c, dirspaces)
	if diags.HasErrors() {
		t.Fatalf("%v\n%s", diags, config)
	}
	return l
}

// gateSteps renders the steps of a change of files by gates, each as "plan DIR…" or "apply DIR…".
func gateSteps(l *terrateam.Layout, files []string) []string {
	var list []string
	work, diags := l.Change(l.ByFiles(files), terrateam.ChangeOptions{}).Rollout(terrateam.RolloutOptions{})
	if diags.HasErrors() {
		panic(diags) // nothing is known to be a stack of our language
	}
	for _, batch := range work.Batches() {
		var dirs []string
		for _, unit := range batch.Units {
			dirs = append(dirs, work.Units[unit].Name)
		}
		slices.Sort(dirs)
		list = append(list, string(batch.Phase)+" "+strings.Join(dirs, ", "))
	}
	return list
}

// workspaceSteps are the same of a workspace file.
func workspaceSteps(t testing.TB, m *cairnfile.Model, files []string) []string {
	t.Helper()
	g := graphOf(t, m, true)
	modified := changedBy(t, m, files...)
	selected := make(order.Selection, g.Len())
	for n, step := range g.Steps {
		_, there := modified[step.Leaf]
		selected[n] = there && step.Leaf.Stack != nil
	}
	var list []string
	for _, batch := range g.Batches(selected, 2, func(n int) int {
		if g.Steps[n].Phase == cairnfile.Apply {
			return 1
		}
		return 0
	}) {
		var dirs []string
		for _, n := range batch {
			leaf := g.Steps[n].Leaf
			name := path.Clean(leaf.Stack.Dir)
			if leaf.Stack.Workspace != "" {
				name += " (" + leaf.Stack.Workspace + ")"
			}
			dirs = append(dirs, name)
		}
		slices.Sort(dirs)
		list = append(list, string(g.Steps[batch[0]].Phase)+" "+strings.Join(dirs, ", "))
	}
	return list
}

// gateLine is one of lines B-40 to B-60: rules of stacks, and the effects of a change.
type gateLine struct {
	config  string // below names; a stack without tag_query and stacks is the directory of its name
	dirs    string // more directories
	rest    string // of the configuration
	changes map[string]string
}

func (l gateLine) read() (config string, dirs []string) {
	var b strings.Builder
	b.WriteString("stacks:\n  names:\n")
	for line := range strings.Lines(strings.TrimLeft(l.config, "\n")) {
		name, content, _ := strings.Cut(strings.TrimSpace(line), ":")
		if !strings.Contains(content, "tag_query:") && !strings.Contains(content, "stacks:") {
			dirs = append(dirs, name)
			content = "{tag_query: 'dir:" + name + "', rules: {" + strings.TrimSpace(content) + "}}"
		}
		b.WriteString("    " + name + ": " + content + "\n")
	}
	return b.String() + l.rest, append(dirs, strings.Fields(l.dirs)...)
}

const nestedGates = `
base:
prod: {stacks: [prod-service, prod-database, prod-network], rules: {modified_by: [base], apply_after: [dev]}}
dev: {stacks: [dev-service, dev-database, dev-network], rules: {modified_by: [base]}}
`

var gateLines = map[string]gateLine{
	"B-40 to B-42": {"base:\ndev: plan_after: [base]", "", "", map[string]string{
		"base": "plan base; apply base", "base dev": "plan base; apply base; plan dev; apply dev", "dev": "plan dev; apply dev",
	}},
	"B-43": {
		"base:\ndev: modified_by: [base], plan_after: [base]",
		"",
		"",
		map[string]string{"base": "plan base; apply base; plan dev; apply dev"},
	},
	"B-44": {"base:\ndev: modified_by: [base]", "", "", map[string]string{"base": "plan base; apply base; plan dev; apply dev"}},
	"B-45": {"base:\ndev: modified_by: [base], plan_after: []", "", "", map[string]string{"base": "plan base, dev; apply base, dev"}},
	"B-46 to B-48": {"base:\nprod: modified_by: [base], apply_after: [dev]\ndev: modified_by: [base]", "", "", map[string]string{
		"base":     "plan base; apply base; plan dev, prod; apply dev; apply prod",
		"dev prod": "plan dev, prod; apply dev; apply prod",
		"prod":     "plan prod; apply prod",
	}},
	"B-49": {
		"network:\nbase: modified_by: [network]\nprod: modified_by: [base], apply_after: [dev]\ndev: modified_by: [base]",
		"",
		"",
		map[string]string{
			"network": "plan network; apply network; plan base; apply base; plan dev, prod; apply dev; apply prod",
		},
	},
	"B-50": {
		"network:\nbase: modified_by: [network]\nprod: modified_by: [base], apply_after: [dev]\ndev: plan_after: [base]",
		"",
		"",
		map[string]string{
			"network": "plan network; apply network; plan base; apply base; plan prod; apply prod",
		},
	},
	"B-51 to B-53": {
		"network:\nbase: plan_after: [network]\nprod: modified_by: [base], apply_after: [dev]\ndev: modified_by: [base]",
		"",
		"",
		map[string]string{
			"network":      "plan network; apply network",
			"network base": "plan network; apply network; plan base; apply base; plan dev, prod; apply dev; apply prod",
			"base":         "plan base; apply base; plan dev, prod; apply dev; apply prod",
		},
	},
	"B-54 and B-55": {
		nestedGates + "prod-service:\nprod-database:\nprod-network:\ndev-service:\ndev-database:\ndev-network:",
		"",
		"",
		map[string]string{
			"base": "plan base; apply base; plan dev-database, dev-network, dev-service, prod-database, prod-network, prod-service; " +
				"apply dev-database, dev-network, dev-service; apply prod-database, prod-network, prod-service",
			"prod-database dev-network": "plan dev-network, prod-database; apply dev-network; apply prod-database",
		},
	},
	"B-56 to B-58": {nestedGates + `prod-service: plan_after: [prod-database]
prod-database: plan_after: [prod-network]
prod-network:
dev-service: plan_after: [dev-database]
dev-database: plan_after: [dev-network]
dev-network:`, "", "", map[string]string{
		"base": "plan base; apply base; plan dev-network, prod-network; apply dev-network; plan dev-database; apply dev-database; " +
			"plan dev-service; apply dev-service; apply prod-network; plan prod-database; apply prod-database; " +
			"plan prod-service; apply prod-service",
		"dev-network prod-network": "plan dev-network, prod-network; apply dev-network; apply prod-network",
		"dev-network dev-service":  "plan dev-network; apply dev-network; plan dev-service; apply dev-service",
	}},
	"B-59": {`
everything: {stacks: [prod, dev, staging]}
prod: {stacks: [prod-compute, prod-database]}
prod-compute: {stacks: [us-east-1, us-west-1]}
prod-database: {stacks: [db-us-east-1, db-us-west-1]}
us-east-1:
us-west-1:
db-us-east-1:
db-us-west-1:
dev:
staging:`, "", "", map[string]string{"us-east-1": "plan us-east-1; apply us-east-1"}},
	"B-60": {
		"network:\nbase: plan_after: [network]\nprod: modified_by: [base], apply_after: [dev]\ndev: modified_by: [base], auto_apply: true",
		"",
		"",
		map[string]string{
			"base": "plan base; apply base; plan dev, prod; apply dev; apply prod",
		},
	},
	"B-21": {`
loop: {stacks: [x, y], rules: {modified_by: [loop], plan_after: []}}
x: {tag_query: 'x in dir'}
y:
self: modified_by: [self, y], plan_after: []`, "x/1 x/2", "", map[string]string{
		"x/1": "plan self, x/1, x/2, y; apply self, x/1, x/2, y",
	}},
	"B-70": {
		"all: {tag_query: ''}", "network database application",
		"dirs:\n  database: {when_modified: {depends_on: 'dir:network'}}\n  application: {when_modified: {depends_on: 'dir:database'}}\n",
		map[string]string{"network": "plan network; apply network; plan database; apply database; plan application; apply application"},
	},
	"B-72": {
		"all: {tag_query: ''}", "projects/proj1/base projects/proj1/database projects/proj2/base projects/proj2/database",
		"dirs:\n  'projects/**/database/*.tf': {when_modified: {depends_on: 'relative_dir:../base'}}\n",
		map[string]string{"projects/proj1/base": "plan projects/proj1/base; apply projects/proj1/base; " +
			"plan projects/proj1/database; apply projects/proj1/database"},
	},
	"B-73": {
		"all: {tag_query: ''}", "a b c d e",
		"dirs:\n  a: {when_modified: {depends_on: 'dir:b'}}\n  b: {when_modified: {depends_on: 'dir:c'}}\n" +
			"  c: {when_modified: {depends_on: {tag_query: 'dir:d', prune_on_no_change: true}}}\n  d: {when_modified: {depends_on: 'dir:e'}}\n",
		map[string]string{"b d": "plan d; apply d; plan b; apply b; plan a; apply a"},
	},
	"workspaces, signs and keywords": {`
blue: {tag_query: '"dir:a (b)" and workspace:blue'}
green: {tag_query: '"dir:a (b)" and workspace:green', rules: {plan_after: [blue]}}
quoted: {tag_query: '"and" or ''in''', rules: {apply_after: [blue]}}
'x y': {tag_query: 'é', rules: {modified_by: [quoted]}}
x-y: {tag_query: '"dir:it''s"', rules: {modified_by: ['x y']}}`, "", `
dirs:
  'a (b)': {workspaces: {blue: {}, green: {}}}
  'a\[1]': {tags: [and]}
  c: {tags: ["in", "${x}"]}
  d: {tags: [é]}
  "it's": {when_modified: {file_patterns: ['${DIR}/*.tf', '!${DIR}/gen*.tf', 'shared/**']}}
`, map[string]string{
		"c": "plan c; apply c; plan d; apply d; plan it's; apply it's",
	}},
}

// gates as a workspace file, and back.
func TestOrderX11Gates(t *testing.T) {
	for name, line := range gateLines {
		t.Run(name, func(t *testing.T) {
			config, dirs := line.read()
			if strings.HasPrefix(name, "workspaces") {
				dirs = append(dirs, "a (b)", "a[1]", "c", "d", "it's")
			}
			layout := layoutOf(t, config, dirs)
			r := FromGates(layout)
			m := model(t, string(r.Text()))
			back := must(t)(ToGates(m))
			again := layoutOf(t, string(back.Text()), append(dirs, "elsewhere"))
			// In a workspace file kinds of gates go on through each other, of which some of these make use.
			mixed := strings.HasPrefix(name, "B-56") || strings.HasPrefix(name, "workspaces")
			if losesOrder(r) != mixed || losesOrder(back) != mixed {
				t.Errorf("order is lost: %t, and on the way back: %t; want %t\n%s\n%s", losesOrder(r), losesOrder(back), mixed, lost(r), lost(back))
			}
			changes := []string{strings.Join(dirs, " ")}
			for changed, want := range line.changes {
				changes = append(changes, changed)
				if got := strings.Join(gateSteps(layout, mainFiles(strings.Fields(changed))), "; "); got != want {
					t.Errorf("the source has for %s the steps %s, want %s", changed, got, want)
				}
			}
			for _, changed := range changes {
				files := mainFiles(strings.Fields(changed))
				if changed == changes[0] {
					files = mainFiles(dirs)
				}
				want := gateSteps(layout, files)
				if diff := gocmp.Diff(want, workspaceSteps(t, m, files)); diff != "" {
					t.Errorf("steps for %s (-gates +workspace):\n%s", changed, diff)
				}
				if diff := gocmp.Diff(want, gateSteps(again, files)); diff != "" {
					t.Errorf("steps for %s (-before +there and back):\n%s", changed, diff)
				}
			}
			for d, dirspace := range layout.Dirspaces {
				compareSettings(t, layout, d, m, again, dirspace)
			}
			if t.Failed() {
				t.Logf("%s\n%s\n%s", lost(r), r.Text(), back.Text())
			}
		})
	}
}

// a stack without directories passes on that something is modified, also as an empty group.
func TestOrderX11GatesWithoutDirectories(t *testing.T) {
	for stacks, want := range map[string]string{
		"base:\nnone: {tag_query: 'dir:none', rules: {modified_by: [base]}}\n" +
			"top: modified_by: [none]": "plan base; apply base; plan top; apply top",
		"base:\nnone: {tag_query: 'dir:none', rules: {modified_by: [base], plan_after: []}}\n" +
			"top: modified_by: [none]": "plan base, top; apply base, top",
		"base:\nnone: {tag_query: 'dir:none', rules: {modified_by: [base]}}\ntop: modified_by: " +
			"[none], plan_after: []": "plan base, top; apply base, top",
		"base:\ng: {stacks: [none], rules: {modified_by: [base]}}\nnone: {tag_query: 'dir:none'}\n" +
			"top: modified_by: [g]": "plan base; apply base; plan top; apply top",
		"base:\nmid: {tag_query: 'dir:mid', rules: {modified_by: [none]}}\nnone: {tag_query: 'dir:none', rules: {modified_by: [base]}}\n" +
			"top: modified_by: [mid]": "plan base; apply base; plan top; apply top",
	} {
		config, dirs := gateLine{config: stacks}.read()
		layout := layoutOf(t, config, dirs)
		r := FromGates(layout)
		files := mainFiles([]string{"base"})
		if got := strings.Join(gateSteps(layout, files), "; "); got != want {
			t.Errorf("%s\nsteps of gates: %s, want %s", config, got, want)
		}
		if got := strings.Join(workspaceSteps(t, model(t, string(r.Text())), files), "; "); got != want {
			t.Errorf("%s\nsteps of the workspace file: %s, want %s\n%s", config, got, want, r.Text())
		}
	}
}

// A workspace that cannot be chosen is none that a query can name.
func TestOrderX11GatesInvalidWorkspace(t *testing.T) {
	layout := layoutOf(t, `
stacks:
  names:
    a: {tag_query: 'a in dir and "workspace:x y"'}
    b: {tag_query: 'b in dir', rules: {plan_after: [a]}}
dirs: {a: {workspaces: {"x y": {}}}}
`, []string{"a", "b"})
	r := FromGates(layout)
	m := model(t, string(r.Text()))
	if group := m.Block("a"); len(m.LeavesOf(group)) != 1 {
		t.Errorf("the group a is empty:\n%s", r.Text())
	}
	if got := strings.Join(workspaceSteps(t, m, mainFiles([]string{"a", "b"})), "; "); got != "plan a; apply a; plan b; apply b" {
		t.Errorf("steps %s", got)
	}
	want := `That the stack a takes in later matches of "a in dir and \"workspace:x y\"": the group has the members of today (.terrateam/config.yml:4:5).
The workspace "x y" of a, which cannot be chosen (.terrateam/config.yml:4:5).`
	if text := lost(r); !strings.Contains(text, want) {
		t.Errorf("lost:\n%s\nwant in it:\n%s", text, want)
	}
}

// A directory that a query cannot name has a tag that only it has.
func TestOrderX11ToGatesMarker(t *testing.T) {
	r := must(t)(ToGates(model(t, `
stack "a" { path = "x'\"" }
stack "b" { tags = ["stack/a"] }
stack "c" { tags = ["stack/a/2"] }
`)))
	layout := layoutOf(t, string(r.Text()), []string{`x'"`, "b", "c"})
	var got []string
	for d, dirspace := range layout.Dirspaces {
		got = append(got, layout.Stacks[layout.Owner(d)].Name+" "+dirspace.Dir)
	}
	if diff := gocmp.Diff([]string{"b b", "c c", `a x'"`}, got); diff != "" {
		t.Errorf("owners (-want +got):\n%s\n%s", diff, r.Text())
	}
}

// variables can have names that mean something else in HCL.
func TestOrderX11GatesVariables(t *testing.T) {
	layout := layoutOf(t, `
stacks:
  names:
    a: {tag_query: 'dir:a', variables: {for: a, if: b, "null": c, 'a b': d, '${x}': e, "\u00e9": f, "e\u0301": g, TF_VAR_for: h}}
`, []string{"a"})
	r := FromGates(layout)
	leaf := model(t, string(r.Text())).Leaves[0]
	// Of the two that are one the first one is there, by its bytes.
	want := map[string]string{"for": "a", "if": "b", "null": "c", "a b": "d", "${x}": "e", "\u00e9": "g"}
	if diff := gocmp.Diff(want, leaf.Environment); diff != "" {
		t.Errorf("environment (-want +got):\n%s\n%s", diff, r.Text())
	}
	if diff := gocmp.Diff(map[string]string{"for": "h"}, leaf.Variables); diff != "" {
		t.Errorf("variables (-want +got):\n%s\n%s", diff, r.Text())
	}
	wantLost := "A text in environment of a is written with other bytes, as HCL composes characters: " +
		"\"e\u0301\" (.terrateam/config.yml:4:5).\n" +
		"The entry \"\u00e9\" in environment of a, which has another one that HCL takes for the same (.terrateam/config.yml:4:5)."
	if diff := gocmp.Diff(wantLost, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// a file can have a name that begins as a pattern that takes away does.
func TestOrderX11GatesFilesWithSigns(t *testing.T) {
	for _, dir := range []string{"a", "."} {
		config := "stacks: {names: {a: {tag_query: 'dir:" + dir + "'}}}\n" +
			"dirs: {" + dir + ": {when_modified: {file_patterns: ['${DIR}/*.tf', '${DIR}/!b', './!shared/*', '!${DIR}/!c.tf']}}}\n"
		layout := layoutOf(t, config, []string{dir})
		r := FromGates(layout)
		m := model(t, string(r.Text()))
		back := must(t)(ToGates(m))
		again := layoutOf(t, string(back.Text()), []string{dir})
		for _, file := range []string{"main.tf", "!b", "b", "!c.tf", "c.tf"} {
			for _, file := range []string{path.Join(dir, file), "!shared/x", "shared/x"} {
				_, changed := changedBy(t, m, file)[m.Leaves[0]]
				if want, back := layout.Dirspaces[0].Watches(file), again.Dirspaces[0].Watches(file); changed != want || back != want {
					t.Errorf("%s belongs to %s: %t, in the workspace file %t, and back %t\n%s", file, dir, want, changed, back, r.Text())
				}
			}
		}
	}
}

// gates of different kinds do not go on through a stack without directories, so that with
// depends_on they can form a figure that would be a cycle of groups. The order by way of that stack
// is kept.
func TestOrderX11GatesThroughEmpty(t *testing.T) {
	const why = ", and the stacks that hold it, once there is something in it: as an empty group it would close a cycle"
	for name, test := range map[string]struct {
		config string // of which b depends on a
		want   string // the steps if everything changes
		lost   []string
		text   string // part of the output
	}{
		"plan by way of apply": {
			"a: plan_after: [none]\nb:\nnone: {tag_query: 'dir:none', rules: {apply_after: [b]}}",
			"plan a; apply a; plan b; apply b",
			[]string{"The dependencies of the empty stack none" + why + " (.terrateam/config.yml:5:5)."},
			"plan_after = [\"none\"]\n}\n\nstack \"b\" {\n  path        = \"b\"\n  modified_by = [\"a\"]\n" +
				"}\n\ngroup \"none\" {\n  members = [\"tag:dir:none\"]\n}\n",
		},
		"apply by way of plan": {
			"a: apply_after: [none]\nb:\nnone: {tag_query: 'dir:none', rules: {modified_by: [b]}}",
			"plan a; apply a; plan b; apply b",
			[]string{"The dependencies of the empty stack none" + why + " (.terrateam/config.yml:5:5)."},
			"group \"none\" {\n  members     = [\"tag:dir:none\"]\n  modified_by = [\"b\"]\n  plan_after  = []\n}\n",
		},
		"a row of them": {
			`a: modified_by: [none]
b:
p:
q:
r:
none: {tag_query: 'dir:none', rules: {plan_after: [p, further]}}
further: {tag_query: 'dir:further', rules: {plan_after: [q], apply_after: [b]}}
later: {tag_query: 'dir:later', rules: {plan_after: [r]}}`,
			"plan p, q, r; apply p, q, r; plan a; apply a; plan b; apply b",
			[]string{"The dependencies of the empty stack further" + why + " (.terrateam/config.yml:9:5)."},
			"group \"none\" {\n  members    = [\"tag:dir:none\"]\n  plan_after = [\"p\", \"further\", \"q\"]\n}\n",
		},
		"what holds it waits": {
			"a: plan_after: [none]\nb:\nc:\nouter: {stacks: [none, c], rules: {apply_after: [b], plan_after: [d]}}\n" +
				"none: {tag_query: 'dir:none'}\nd:",
			"plan d; apply d; plan a, c; apply a; plan b; apply b; apply c",
			[]string{"The dependencies of the empty stack none" + why + " (.terrateam/config.yml:7:5)."},
			"group \"outer\" {\n  members     = [\"c\"]\n  plan_after  = [\"d\"]\n  apply_after = [\"b\"]\n}\n",
		},
		"what holds it is waited for": {
			"a: plan_after: [outer]\nb:\nc:\nouter: {stacks: [none, c]}\nnone: {tag_query: 'dir:none', " +
				"rules: {apply_after: [b], plan_after: [d]}}\nd:",
			"plan c, d; apply c, d; plan a; apply a; plan b; apply b",
			[]string{"The dependencies of the empty stack none" + why + " (.terrateam/config.yml:7:5)."},
			"stack \"a\" {\n  path       = \"a\"\n  plan_after = [\"outer\", \"d\"]\n}\n",
		},
		"a stack of stacks": {
			"a: plan_after: [outer]\nb:\nouter: {stacks: [none], rules: {apply_after: [b]}}\nnone: {tag_query: 'dir:none', variables: {x: y}}",
			"plan a; apply a; plan b; apply b",
			[]string{
				"The dependencies of the empty stack outer" + why + " (.terrateam/config.yml:5:5).",
				"The dependencies of the empty stack none" + why + " (.terrateam/config.yml:6:5).",
			},
			"group \"outer\" {\n  members = [\"none\"]\n}\n",
		},
		"a stack of no stacks": {
			"a: plan_after: [outer]\nb:\nouter: {stacks: [], rules: {plan_after: [b]}}",
			"plan a; apply a; plan b; apply b",
			[]string{"The dependencies of the empty stack outer" + why + " (.terrateam/config.yml:5:5)."},
			"group \"outer\" {\n  members = []\n}\n",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, dirs := gateLine{config: test.config, rest: "dirs: {b: {when_modified: {depends_on: 'dir:a'}}}\n"}.read()
			layout := layoutOf(t, config, dirs)
			r := FromGates(layout)
			// Other losses are about the stacks that depends_on goes on through, if only some change.
			reported := slices.DeleteFunc(strings.Split(lost(r), "\n"), func(text string) bool {
				return strings.Contains(text, "not part of a run")
			})
			if diff := gocmp.Diff(test.lost, reported); diff != "" {
				t.Errorf("lost (-want +got):\n%s", diff)
			}
			if text := strings.ReplaceAll(string(r.Text()), "[\"tag:dir:a\"]", "[\"a\"]"); !strings.Contains(text, test.text) {
				t.Errorf("written:\n%s\nwant in it:\n%s", text, test.text)
			}
			m := model(t, string(r.Text()))
			if got := strings.Join(gateSteps(layout, mainFiles(dirs)), "; "); got != test.want {
				t.Errorf("steps of gates: %s, want %s", got, test.want)
			}
			for _, changed := range [][]string{dirs, {"a", "b"}, {"b", "c"}, {"a", "d"}, {"a", "p"}} {
				if losesOrder(r) && len(changed) < len(dirs) {
					continue
				}
				if diff := gocmp.Diff(gateSteps(layout, mainFiles(changed)), workspaceSteps(t, m, mainFiles(changed))); diff != "" {
					t.Errorf("steps for %s (-gates +workspace):\n%s\n%s", changed, diff, r.Text())
				}
			}
		})
	}
}

// changedBy returns the changes by a workspace file that changed files amount to, by their paths
// from the root of the repository.
func changedBy(t testing.TB, m *cairnfile.Model, files ...string) map[*cairnfile.Leaf][]gitdiff.Reason {
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
	return found.Reasons
}

func mainFiles(dirs []string) []string {
	var files []string
	for _, dir := range dirs {
		files = append(files, path.Join(dir, "main.tf"))
	}
	return files
}

// compareSettings compares everything about a dirspace that is not order.
func compareSettings(
	t *testing.T, layout *terrateam.Layout, d int, m *cairnfile.Model, again *terrateam.Layout, dirspace *terrateam.Dirspace,
) {
	t.Helper()
	at := slices.IndexFunc(m.Leaves, func(l *cairnfile.Leaf) bool {
		return path.Clean(l.Stack.Dir) == dirspace.Dir && cmp.Or(l.Stack.Workspace, "default") == dirspace.Workspace
	})
	other := slices.IndexFunc(again.Dirspaces, func(o *terrateam.Dirspace) bool { return o.Name() == dirspace.Name() })
	if at < 0 || other < 0 {
		t.Errorf("%s is missing", dirspace.Name())
		return
	}
	leaf := m.Leaves[at]
	if auto := layout.AutoApply(layout.Owner(d)); auto != leaf.AutoApply || auto != again.AutoApply(again.Owner(other)) {
		t.Errorf("auto_apply of %s: %t, in the workspace file %t, and back %t",
			dirspace.Name(), auto, leaf.AutoApply, again.AutoApply(again.Owner(other)))
	}
	variables := layout.Variables(layout.Owner(d))
	environment := map[string]string{}
	for name, value := range leaf.Environment {
		environment[name] = value
	}
	for name, value := range leaf.Variables {
		environment["TF_VAR_"+name] = value
	}
	if diff := gocmp.Diff(variables, environment); diff != "" {
		t.Errorf("variables of %s (-gates +workspace):\n%s", dirspace.Name(), diff)
	}
	if diff := gocmp.Diff(variables, again.Variables(again.Owner(other))); diff != "" {
		t.Errorf("variables of %s (-before +there and back):\n%s", dirspace.Name(), diff)
	}
	for _, file := range []string{"gen.tf", "x.tfvars", "README.md", "sub/main.tf", "../shared/x"} {
		file = path.Join(dirspace.Dir, file)
		_, changed := changedBy(t, m, file)[leaf]
		if watches := dirspace.Watches(file); watches != changed || watches != again.Dirspaces[other].Watches(file) {
			t.Errorf("%s belongs to %s: %t, in the workspace file %t, and back %t",
				file, dirspace.Name(), watches, changed, again.Dirspaces[other].Watches(file))
		}
	}
}

// the text of a workspace file made of gates.
func TestOrderX11FromGatesText(t *testing.T) {
	const config = `
stacks:
  names:
    base: {tag_query: "dir:base"}
    dev:
      tag_query: "dir:dev"
      rules: {modified_by: [base], auto_apply: true}
    prod:
      stacks: [db, app]
      variables: {tier: prod, TF_VAR_size: "3"}
      rules: {modified_by: [base], plan_after: [], apply_after: [dev]}
    db: {tag_query: "prod and db"}
    app: {tag_query: "app not stack_name:x", rules: {plan_after: [db]}}
dirs:
  prod-db: {tags: [prod, db]}
  prod-app: {tags: [app], when_modified: {file_patterns: ["${DIR}/*.tf", "!${DIR}/x.tf", "shared/**", "/never"], depends_on: "db and stack_name:db"}}
`
	r := FromGates(layoutOf(t, config, []string{"base", "dev", "prod-app", "prod-db", "other"}))
	want := `workspace {
  files = ["*.tf", "*.tfvars", "*.tfcomponent.hcl", "*.tfcomponent.json", "*.tfstack.hcl", "*.tfstack.json"]
}

stack "base" {
  path = "base"
}

stack "dev" {
  path        = "dev"
  modified_by = ["base"]
  auto_apply  = true
}

group "prod" {
  members = ["db", "app"]
  variables = {
    size = "3"
  }
  environment = {
    tier = "prod"
  }
  modified_by = ["base"]
  plan_after  = []
  apply_after = ["dev"]
}

group "db" {
  members = ["tag:prod and db"]
}

group "app" {
  members    = ["tag:app not stack_name:x"]
  plan_after = ["db"]
}

stack "other" {
  path = "other"
}

stack "prod-app" {
  path        = "prod-app"
  tags        = ["app"]
  files       = ["*.tf", "/shared/**", "!x.tf"]
  modified_by = ["tag:db and stack_name:db"]
}

stack "prod-db" {
  path = "prod-db"
  tags = ["prod", "db"]
}
`
	if diff := gocmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
}

// the text of gates made of a workspace file, and the reported losses.
func TestOrderX11ToGatesText(t *testing.T) {
	r := must(t)(ToGates(model(t, `
workspace { parallel = 3 }
stack "a" {
  description = "All of\na"
  path        = "live/a"
  order       = 3
  tags        = ["x"]
}
stack "b" {
  after_any   = ["a", "t"]
  watch       = ["policies"]
  var_files   = ["b.tfvars"]
  variables   = { n = 1 }
  environment = { "E" = "\"quoted\"" }
}
task "t" {
  command = "true"
  after   = ["c"]
}
stack "c" {
  path      = "c"
  workspace = "blue"
  wants     = ["b"]
  modified_by = ["a"]
}
stack "c2" {
  path      = "c"
  after     = ["t"]
  modified_by = ["a"]
}
stack "c3" { path = "c" }
task "u" {
  command = "true"
  prereq  = ["b"]
  after   = ["c2"]
}
group "g" {
  members = ["/^[ab]$/", "t"]
  tags    = ["y"]
  strategy { parallel = 1 }
}
`[1:])))
	want := `stacks:
  names:
    # All of
    # a
    "a":
      tag_query: "dir:live/a"
    "b":
      tag_query: "dir:b"
      variables:
        "E": "\"quoted\""
        "TF_VAR_n": "1"
      rules:
        apply_after: ["c2"]
        plan_after: ["a", "c"]
    "c":
      tag_query: "dir:c and workspace:blue"
      rules:
        modified_by: ["a"]
    "c2":
      tag_query: "dir:c and workspace:default"
      rules:
        modified_by: ["a"]
        plan_after: ["c", "a"]
    "g":
      stacks: ["a", "b"]
when_modified:
  file_patterns: [] # only the directories below are stacks
dirs:
  "b":
    tags: ["y"]
    when_modified:
      file_patterns: ["${DIR}/**", "b.tfvars", "policies", "policies/**"]
  "c":
    workspaces:
      "blue":
        when_modified:
          file_patterns: ["${DIR}/**"]
      "default":
        when_modified:
          file_patterns: ["${DIR}/**"]
  "live/a":
    tags: ["x", "y"]
    when_modified:
      file_patterns: ["${DIR}/**"]
`
	if diff := gocmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("gates (-want +got):\n%s", diff)
	}
}
