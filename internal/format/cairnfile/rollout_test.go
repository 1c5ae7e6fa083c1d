// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
)

// wholeOf selects all leaves of a graph.
func wholeOf(g *Graph) RolloutOptions {
	selected := map[*Leaf]bool{}
	for _, leaf := range g.Model.Leaves {
		selected[leaf] = true
	}
	return RolloutOptions{Root: "/repo", Selected: selected, Reasons: func(*Leaf) []string { return []string{"all"} }}
}

// batches shows the steps of a rollout.
func batches(w *rollout.Work) string {
	var lines []string
	for _, batch := range w.Batches() {
		var names []string
		for _, unit := range batch.Units {
			names = append(names, w.Units[unit].Name)
		}
		lines = append(lines, string(batch.Phase)+" "+strings.Join(names, ","))
	}
	return strings.Join(lines, "; ")
}

// Line O-05: stacks are destroyed in the exact reverse of the order in which they are applied, and
// each gate is turned around: a stack that waits for an apply, be it with the plan or with the
// apply only, is destroyed before.
func TestOrderO05Destroy(t *testing.T) {
	for name, test := range map[string]struct{ src, apply, destroy string }{
		"plan_after": {
			`stack "a" {}
			stack "b" { plan_after = ["a"] }`,
			"plan a; apply a; plan b; apply b", "plan b; apply b; plan a; apply a",
		},
		"apply_after": {
			`stack "a" {}
			stack "b" { apply_after = ["a"] }`,
			"plan a,b; apply a; apply b", "plan b,a; apply b; apply a",
		},
		"groups and what is implied": {
			`stack "net" {}
			stack "dev" {}
			stack "prod" {}
			group "live" {
			  members     = ["dev", "prod"]
			  modified_by = ["net"]
			}
			group "late" {
			  members     = ["prod"]
			  apply_after = ["dev"]
			}`,
			"plan net; apply net; plan dev,prod; apply dev; apply prod", "plan prod,dev; apply prod; apply dev; plan net; apply net",
		},
		"through tasks, which are not run": {
			`stack "a" {}
			task "t" {
			  command = "x"
			  require = ["a"]
			}
			stack "b" { after = ["t"] }`,
			"plan a; apply a; plan b; apply b", "plan b; apply b; plan a; apply a",
		},
		"what only a task in between orders": {
			`stack "a" {}
			task "t" {
			  command = "x"
			  require = ["a"]
			  prereq  = ["b"]
			}
			stack "b" {}`,
			"plan a,b; apply a; apply b", "plan b; apply b; plan a; apply a",
		},
		"any": {
			`stack "a" {}
			stack "b" {}
			stack "c" { after_any = ["a", "b"] }`,
			"plan a,b; apply a,b; plan c; apply c", "plan c; apply c; plan b,a; apply b,a",
		},
	} {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			m := resolve(t, test.src)
			g := graph(t, test.src, true)
			if got := batches(g.Rollout(wholeOf(g))); got != test.apply {
				t.Errorf("apply: %s\nwant:  %s", got, test.apply)
			}
			d, diags := m.DestroyGraph()
			if diags.HasErrors() {
				t.Fatal(diags)
			}
			if got := batches(d.Rollout(wholeOf(d))); got != test.destroy {
				t.Errorf("destroy: %s\nwant:    %s", got, test.destroy)
			}
		})
	}
}

// One at a time, the applies of any workspace are destroyed in the reverse order.
func TestOrderO05Random(t *testing.T) {
	for seed := range uint64(200) {
		random := rand.New(rand.NewPCG(seed, 5))
		const count = 9
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, "stack \"s%d\" {\n  order = %d\n", i, random.IntN(3))
			for _, rule := range []string{"after", "plan_after", "apply_after", "modified_by", "after_any"} {
				if i > 0 && random.IntN(4) == 0 {
					fmt.Fprintf(&b, "  %s = [\"s%d\"]\n", rule, random.IntN(i))
				}
			}
			b.WriteString("}\n")
		}
		fmt.Fprintf(&b, "group \"g\" {\n  members = [\"s%d\", \"s%d\"]\n  before = [\"s8\"]\n}\n", random.IntN(4), random.IntN(4))
		m := resolve(t, b.String())
		applies := func(g *Graph) (names []string) {
			work := g.Rollout(wholeOf(g))
			for _, n := range work.Graph.Sequence(work.Rule, work.Selected) {
				if step := work.Steps[n]; step.Phase == rollout.Apply {
					names = append(names, work.Units[step.Unit].Name)
				}
			}
			return names
		}
		forward, diags := m.Graph(true)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		backward, diags := m.DestroyGraph()
		if diags.HasErrors() {
			t.Fatalf("%s\n%v", b.String(), diags)
		}
		want := applies(forward)
		slices.Reverse(want)
		if diff := cmp.Diff(want, applies(backward)); diff != "" {
			t.Fatalf("seed %d (-want +got):\n%s\n%s", seed, diff, b.String())
		}
	}
}

func TestWhen(t *testing.T) {
	m := resolve(t, `
stack "a" {}
stack "b" {}
group "all" { members = ["a", "b"] }
task "plain" {
  command = "x"
  require = ["a"]
}
task "fail" {
  command = "x"
  onfail  = ["b", "a"]
}
task "fail-all" {
  command    = "x"
  onfail_all = ["a", "b"]
}
task "change" {
  command   = "x"
  onchanges = ["all"]
}
task "end" {
  command = "x"
  listen  = ["a", "b"]
  prereq  = ["a"]
}
`)
	want := map[string]string{
		"plain": "", "fail": "if one of a, b fails", "fail-all": "if all of a, b fail", "change": "if all has changed",
		"end": "at the end, if one of a, b has changed and if a is to change",
	}
	for _, leaf := range m.Leaves {
		if leaf.Task != nil && m.When(leaf) != want[leaf.Name] {
			t.Errorf("%s: %q, want %q", leaf.Name, m.When(leaf), want[leaf.Name])
		}
	}
}

// Settings that units are run with. Values of variables are in the environment only.
func TestUnits(t *testing.T) {
	g := graph(t, `
stack "site" {
  kind        = "terraform"
  path        = "live/site"
  workspace   = "blue"
  variables   = { size = 3 }
  var_files   = ["values/a.tfvars"]
  environment = { MODE = "fast" }
  tags        = ["x"]
}
stack "app" {
  kind       = "stack"
  deployment = "prod"
  variables  = { name = "n" }
}
group "all" {
  members    = ["site", "app"]
  auto_apply = true
  variables  = { size = 1 }
}
task "t" {
  command     = ["echo", "x"]
  environment = { A = "b" }
}
`, true)
	work := g.Rollout(wholeOf(g))
	var got []rollout.Unit
	for _, u := range work.Units {
		u.Tags = nil
		got = append(got, u)
	}
	all := []string{"all"}
	want := []rollout.Unit{
		{
			Name: "app", Kind: rollout.Components, Dir: "/repo/app", Path: "app", Deployment: "prod", AutoApply: true, Groups: all, Reasons: all,
			Env: []string{"CAIRN_STACK=app", "CAIRN_DEPLOYMENT=prod", "CAIRN_VAR_name=n", "CAIRN_VAR_size=1"},
		},
		{
			Name:      "site",
			Kind:      rollout.Root,
			Dir:       "/repo/live/site",
			Path:      "live/site",
			Workspace: "blue",
			AutoApply: true,
			Groups:    all,
			Reasons:   all,
			Env:       []string{"CAIRN_STACK=site", "CAIRN_DEPLOYMENT=", "TF_VAR_size=3", "MODE=fast"},
			VarFiles:  []string{"/repo/values/a.tfvars"},
		},
		{
			Name: "t", Kind: rollout.Command, Dir: "/repo", Path: ".", Reasons: all, Env: []string{"A=b"},
			Task: &rollout.Task{Command: []string{"echo", "x"}},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestVarFilesEnviron(t *testing.T) {
	if got := VarFilesEnviron(nil, func(string) string { return "x" }); got != nil {
		t.Errorf("without files: %v", got)
	}
	env := VarFilesEnviron([]string{"/a/it's.tfvars", "/b"}, func(name string) string {
		if name == "TF_CLI_ARGS_plan" {
			return "-lock=false"
		}
		return ""
	})
	for _, want := range []string{
		"CAIRN_VAR_FILES=/a/it's.tfvars:/b",
		`TF_CLI_ARGS_plan='-var-file=/a/it'\''s.tfvars' '-var-file=/b' -lock=false`,
		`TF_CLI_ARGS_apply='-var-file=/a/it'\''s.tfvars' '-var-file=/b'`,
	} {
		if !slices.Contains(env, want) {
			t.Errorf("no %s in %q", want, env)
		}
	}
}
