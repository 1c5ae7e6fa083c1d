// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package plugintasks

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// plugins writes plugins, each given as "name: stages", and returns their folder.
func plugins(t *testing.T, lines ...string) string {
	t.Helper()
	dir := t.TempDir()
	for _, line := range lines {
		name, stages, _ := strings.Cut(line, ": ")
		var b strings.Builder
		for stage := range strings.SplitSeq(stages, ", ") {
			fmt.Fprintf(&b, "- role: '*'\n  stage: %s\n  type: shell\n  parameters: {cmd: ./deploy.sh, timeout: 42}\n", stage)
		}
		write(t, filepath.Join(dir, name, FileName), b.String())
	}
	return dir
}

func write(t *testing.T, name, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
		t.Fatal(err)
	}
}

// sequence loads plugins and returns the order as "plugin stage" elements.
func sequence(t *testing.T, lines ...string) []string {
	t.Helper()
	tasks, diags := Load(plugins(t, lines...), Strict)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var got []string
	for _, task := range tasks {
		got = append(got, task.Plugin+" "+task.Text)
	}
	return got
}

func TestOrderD(t *testing.T) {
	tests := map[string]struct {
		plugins, want []string
	}{
		"D-01 number is of the task": {
			[]string{"a: post_deployment/100, post_deployment/10", "b: post_deployment/50"},
			[]string{"a post_deployment/10", "b post_deployment/50", "a post_deployment/100"},
		},
		"D-02 lower number first": {
			[]string{"A: post_deployment/100", "B: post_deployment/50"},
			[]string{"B post_deployment/50", "A post_deployment/100"},
		},
		"D-03 negative, positive, integer, floating": {
			[]string{"a: pre_deployment/1, pre_deployment/.5, pre_deployment/-1.5, pre_deployment/+0.75, pre_deployment/-2"},
			[]string{"a pre_deployment/-2", "a pre_deployment/-1.5", "a pre_deployment/.5", "a pre_deployment/+0.75", "a pre_deployment/1"},
		},
		"D-04 no number is 0": {
			[]string{"a: pre_deployment/1, pre_deployment, pre_deployment/-1"},
			[]string{"a pre_deployment/-1", "a pre_deployment", "a pre_deployment/1"},
		},
		"D-05 equal numbers by plugin name": {
			[]string{"Z: pre_deployment/100", "A: pre_deployment/100"},
			[]string{"A pre_deployment/100", "Z pre_deployment/100"},
		},
		"D-06 number before name": {
			[]string{"Z: pre_deployment/100", "A: pre_deployment/200"},
			[]string{"Z pre_deployment/100", "A pre_deployment/200"},
		},
		"D-07 compared as numbers": {
			[]string{"c: pre_deployment/100", "b: pre_deployment/+100", "a: pre_deployment/100.0", "z: pre_deployment/9"},
			[]string{"z pre_deployment/9", "a pre_deployment/100.0", "b pre_deployment/+100", "c pre_deployment/100"},
		},
		"D-08 equal numbers in a plugin by the file": {
			[]string{"a: pre_deployment/100.0, pre_deployment/+100, pre_deployment/100"},
			[]string{"a pre_deployment/100.0", "a pre_deployment/+100", "a pre_deployment/100"},
		},
		"D-09 stages are separate": {
			[]string{"a: post_deployment/-1000, pre_deployment/1000"},
			[]string{"a pre_deployment/1000", "a post_deployment/-1000"},
		},
		"D-10 two plugins": {
			[]string{
				"plugin1: pre_deployment, pre_deployment/100, pre_deployment/-100, pre_deployment/-99.9",
				"plugin2: pre_deployment, pre_deployment/100.0, pre_deployment/-101, pre_deployment/0",
			},
			[]string{
				"plugin2 pre_deployment/-101", "plugin1 pre_deployment/-100", "plugin1 pre_deployment/-99.9", "plugin1 pre_deployment",
				"plugin2 pre_deployment", "plugin2 pre_deployment/0", "plugin1 pre_deployment/100", "plugin2 pre_deployment/100.0",
			},
		},
		"D-11 in reverse order of names": {
			[]string{
				"name2: post_deployment/-99, post_deployment/100, post_deployment",
				"name1: post_deployment/-100, post_deployment/100.0, post_deployment/+100, post_deployment",
			},
			[]string{
				"name1 post_deployment/-100", "name2 post_deployment/-99", "name1 post_deployment", "name2 post_deployment",
				"name1 post_deployment/100.0", "name1 post_deployment/+100", "name2 post_deployment/100",
			},
		},
		"D-14 plugins that do not know each other": {
			[]string{"aaa_volumes: post_deployment/2000", "driver: post_deployment/100"},
			[]string{"driver post_deployment/100", "aaa_volumes post_deployment/2000"},
		},
	}
	for name, test := range tests {
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			if diff := cmp.Diff(test.want, sequence(t, test.plugins...)); diff != "" {
				t.Errorf("order (-want +got):\n%s", diff)
			}
		})
	}
}

// describe renders diagnostics as "severity code line:column detail".
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

func parseStageLine(line string, mode Mode) ([]*Task, hcl.Diagnostics) {
	return Parse("a", "a/tasks.yaml", []byte("- role: ['*']\n  "+line+"\n  type: reboot\n"), mode)
}

func TestOrderD12OtherSeparators(t *testing.T) {
	noSlash := func(instead, correct string) string {
		return "error order/bad-stage 2:10 Between the stage and its number there must be a slash" + instead + ". Write " + correct + "."
	}
	tests := map[string]string{
		`stage: post_deployment:50`:     noSlash(`, not ":"`, `"post_deployment/50"`),
		`stage: post_deployment::50`:    noSlash(`, not "::"`, `"post_deployment/50"`),
		`stage: pre_deployment: 50`:     noSlash(`, not ":"`, `"pre_deployment/50"`),
		`stage: pre_deployment:: -9.5`:  noSlash(`, not "::"`, `"pre_deployment/-9.5"`),
		`stage: "post_deployment#50"`:   noSlash(`, not "#"`, `"post_deployment/50"`),
		`stage: post_deployment:: 50`:   noSlash(`, not "::"`, `"post_deployment/50"`),
		`stage: post_deployment: :50`:   noSlash(`, not ": :"`, `"post_deployment/50"`),
		`stage: post_deployment : 50`:   noSlash(`, not ":"`, `"post_deployment/50"`),
		`stage: pre_deployment :: +.5`:  noSlash(`, not "::"`, `"pre_deployment/+.5"`),
		`stage: "pre_deployment@ -9.9"`: noSlash(`, not "@"`, `"pre_deployment/-9.9"`),
		`stage: post_deployment-50`:     noSlash(`, not "-"`, `"post_deployment/50"`),
		`stage: post_deployment.50`:     noSlash(`, not "."`, `"post_deployment/50"`),
		`stage: post_deployment_50`:     noSlash(`, not "_"`, `"post_deployment/50"`),
		`stage: post_deployment 50`:     noSlash(" and nothing else", `"post_deployment/50"`),
		`stage: post_deployment50`:      noSlash(" and nothing else", `"post_deployment/50"`),
		`stage: post_deployment /50`:    noSlash(" and nothing else", `"post_deployment/50"`),
		`stage: post_deployment:`:       noSlash(`, not ":"`, `"post_deployment/100"`),
		`stage: {post_deployment: 50}`:  noSlash(`, not ":"`, `"post_deployment/50"`),
		`stage: 'post_deployment\50'`:   noSlash(`, not "\\"`, `"post_deployment/50"`),
		`stage: 'post_deployment//50'`: `error order/bad-number 2:10 After the slash of "post_deployment//50" ` +
			`there must be a number such as 100, -99.9 or .5, without an exponent.`,
		`stage: post_deploymnet/50`: `error order/bad-stage 2:10 There is no stage "post_deploymnet/50": ` +
			`write pre_deployment or post_deployment, with a slash and a number behind it if the place among other tasks matters, ` +
			`such as "post_deployment/100". Did you mean "post_deployment"?`,
		"stage:\n    - post_deployment/50": `error order/bad-value 3:5 The stage must be a string; this is a list.`,
	}
	for line, want := range tests {
		for _, mode := range []Mode{Strict, Lenient} {
			if strings.Contains(line, "//") && mode == Lenient {
				continue // D-13
			}
			_, diags := parseStageLine(line, mode)
			if diff := cmp.Diff([]string{want}, describe(diags)); diff != "" {
				t.Errorf("%s, mode %d (-want +got):\n%s", line, mode, diff)
			}
		}
	}
}

func TestOrderD13PostfixThatIsNoNumber(t *testing.T) {
	for _, postfix := range []string{"/1.", "/1e3", "/abc", "/", "/0x10", "/--1", "/ 1", "/1/2", "/" + strings.Repeat("9", 400)} {
		line := `stage: "post_deployment` + postfix + `"`
		_, strict := parseStageLine(line, Strict)
		if got := describe(strict); len(got) != 1 || !strings.HasPrefix(got[0], "error order/bad-number 2:10 ") {
			t.Errorf("strict, %s: got %q, want an error order/bad-number at 2:10", line, got)
		}
		tasks, lenient := parseStageLine(line, Lenient)
		got := describe(lenient)
		if len(got) != 1 || !strings.HasPrefix(got[0], "warning order/bad-number 2:10 ") || !strings.Contains(got[0], "number 0") {
			t.Errorf("lenient, %s: got %q, want a warning order/bad-number at 2:10 that says 0", line, got)
		}
		if len(tasks) != 1 || tasks[0].Value != 0 || tasks[0].Stage != Post {
			t.Errorf("lenient, %s: got %+v, want post_deployment at 0", line, tasks)
		}
	}
}

func TestOrderD15ReservedRanges(t *testing.T) {
	tests := map[string]struct{ original, final int }{ // numbers of warnings
		"/0": {0, 0}, "/999": {0, 0}, "/1000": {1, 1}, "/1999.5": {1, 1}, "/2000": {0, 0}, "/3500": {1, 1}, "/4999": {0, 0},
		"/5000": {0, 1}, "/5999.9": {0, 1}, "/6000": {1, 0}, "/7000": {1, 1}, "/8999": {0, 0}, "/9000": {0, 0}, "/-1500": {0, 0}, "": {0, 0},
	}
	for postfix, want := range tests {
		for _, stage := range []Stage{Pre, Post} {
			tasks, diags := parseStageLine("stage: "+string(stage)+postfix, Strict)
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			original, final := Lint(tasks, Original), Lint(tasks, Final)
			if len(original) != want.original || len(final) != want.final {
				t.Errorf("%s%s: got %d and %d warnings, want %d and %d", stage, postfix, len(original), len(final), want.original, want.final)
			}
			if original.HasErrors() || final.HasErrors() {
				t.Errorf("%s%s: the ranges are enforced", stage, postfix)
			}
		}
	}
	tasks, _ := parseStageLine("stage: pre_deployment/6123", Strict)
	want := []string{"warning order/reserved-range 2:10 By convention the numbers 6000 to 6999 are reserved: " +
		"other plugins expect nothing there. Choose a number of a " +
		"range that fits: 0–999 configuration of hardware, 2000–2999 disk partitions and volumes, " +
		"4000–4999 configuration of the network, 5000–5999 deployment of software, 8000–8999 monitoring services."}
	if diff := cmp.Diff(want, describe(Lint(tasks, Original))); diff != "" {
		t.Errorf("lint (-want +got):\n%s", diff)
	}
}

func TestOrderD16ExplicitDependencies(t *testing.T) {
	tasks, diags := Load(plugins(t,
		"p: pre_deployment/5, pre_deployment/+5, post_deployment",
		"q: pre_deployment/5, pre_deployment/6, post_deployment/1",
	), Strict)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	graph := Graph(tasks)
	var got []string
	for _, edge := range graph.Edges() {
		got = append(got, fmt.Sprintf("%s → %s: %s", graph.Node(edge.From).Name, graph.Node(edge.To).Name, edge.Reason))
	}
	want := []string{
		"p#1 → p#2: both are at 5 of pre_deployment, and task 1 of plugin p is before task 2",
		"p#2 → q#1: both are at 5 of pre_deployment, and plugin p is before q",
		"q#1 → q#2: in pre_deployment, 5 is before 6",
		"q#2 → p#3: pre_deployment is before post_deployment",
		"p#3 → q#3: in post_deployment, 0 is before 1",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("dependencies (-want +got):\n%s", diff)
	}
	if waves := graph.Waves(nil); len(waves) != len(tasks) {
		t.Errorf("%d waves of %d tasks: some could run at the same time", len(waves), len(tasks))
	}
}

func TestParse(t *testing.T) {
	tasks, diags := Parse("a", "a/tasks.yaml", []byte(`
- role: ['primary-controller', 'controller']
  stage: post_deployment/100
  type: shell
  parameters: {cmd: ./deploy.sh, timeout: 42}
- role: compute
  stage: pre_deployment
  type: puppet
  parameters: {puppet_manifest: site.pp, puppet_modules: modules, timeout: 360}
`), Strict)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	first := tasks[0]
	if first.Command != "./deploy.sh" || first.Timeout.Seconds() != 42 || first.Type != Shell || first.Place.String() != "a/tasks.yaml:2:3" {
		t.Errorf("first task is %+v", first)
	}
	for roles, want := range map[string][2]bool{
		"":           {true, true},
		"controller": {true, false},
		"compute":    {false, true},
		"cinder":     {false, false},
	} {
		for i, task := range tasks {
			if got := task.HasRole(strings.Fields(roles)); got != want[i] {
				t.Errorf("task %d for role %q: got %t, want %t", i+1, roles, got, want[i])
			}
		}
	}
}

func TestParseErrors(t *testing.T) {
	tests := map[string]struct {
		src  string
		want []string
	}{
		"no list": {
			"role: x",
			[]string{"error order/bad-value 1:1 The file must hold a list of tasks, each with role, stage, type and parameters; it is a mapping."},
		},
		"no task": {
			"- x",
			[]string{"error order/bad-value 1:3 A task must be a mapping with the keys role, stage, type and parameters; this is a string."},
		},
		"no YAML": {"- [", []string{"error order/syntax 1:1 The file is not YAML: did not find expected node content."}},
		"no role": {
			"- {stage: pre_deployment, type: reboot}",
			[]string{"error order/bad-value 1:3 The task has no role. Add it; a complete task has role, stage, type and parameters."},
		},
		"bad type": {
			"- {role: x, stage: pre_deployment, type: shel}",
			[]string{`error order/bad-value 1:42 There is no type of task "shel"; there are shell, puppet, reboot. Did you mean "shell"?`},
		},
		"no command": {
			"- {role: x, stage: pre_deployment, type: shell}",
			[]string{"error order/bad-value 1:3 A task of type shell needs a command: parameters: {cmd: ./deploy.sh, timeout: 42}."},
		},
		"bad timeout": {
			"- {role: x, stage: pre_deployment, type: reboot, parameters: {timeout: -1}}",
			[]string{"error order/bad-value 1:72 The timeout is a positive number of seconds, such as 42."},
		},
		"unknown key": {
			"- {role: x, stage: pre_deployment, type: reboot, roles: [y]}",
			[]string{`warning order/unknown-key 1:50 The key "roles" of a task has no effect here; ` +
				`those that have are role, stage, type, parameters. Did you mean "role"?`},
		},
		"repeated key": {
			"- {role: x, role: y, stage: pre_deployment, type: reboot}",
			[]string{`error order/duplicate-id 1:13 The key "role" is already on line 1. Keep one of them.`},
		},
		"role 'null'": {
			"- {role: [~], stage: pre_deployment, type: reboot}",
			[]string{"error order/bad-value 1:11 The role must be a string; this is a null."},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, diags := Parse("a", "a/tasks.yaml", []byte(test.src), Strict)
			if diff := cmp.Diff(test.want, describe(diags)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
		})
	}
}

func TestLoadErrors(t *testing.T) {
	outside := t.TempDir()
	write(t, filepath.Join(outside, "secret", FileName), "- {role: x, stage: pre_deployment, type: reboot}\n")
	dir := t.TempDir()
	testenv.Symlink(t, filepath.Join(outside, "secret"), filepath.Join(dir, "linked"))
	for _, folder := range []string{dir, filepath.Join(dir, "nowhere")} {
		tasks, diags := Load(folder, Strict)
		if len(tasks) > 0 || len(diags) != 1 || problem.CodeOf(diags[0]) != problem.BadPath {
			t.Errorf("%s: got %d tasks and %v, want order/bad-path", folder, len(tasks), diags)
		}
	}
}

// Tasks of the later format are named, as they are not read.
func TestLoadNamesWhatIsNotRead(t *testing.T) {
	dir := plugins(t, "p: pre_deployment/5")
	write(t, filepath.Join(dir, "p", "deployment_tasks.yaml"), "- {id: x, type: shell}\n")
	write(t, filepath.Join(dir, "q", "deployment_tasks.yaml"), "- {id: y, type: shell}\n")
	tasks, diags := Load(dir, Strict)
	var named []string
	for _, diag := range diags {
		if diag.Severity == hcl.DiagWarning {
			named = append(named, filepath.Base(filepath.Dir(diag.Subject.Filename))+"/"+filepath.Base(diag.Subject.Filename))
		}
	}
	if diff := cmp.Diff([]string{"p/deployment_tasks.yaml", "q/deployment_tasks.yaml"}, named); diff != "" || len(tasks) != 1 {
		t.Errorf("%d tasks, warnings (-want +got):\n%s", len(tasks), diff)
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte("- {role: x, stage: pre_deployment/1, type: shell, parameters: {cmd: a}}"))
	f.Add([]byte("- stage: post_deployment:: 5"))
	f.Fuzz(func(t *testing.T, src []byte) {
		tasks, diags := Parse("a", "a/tasks.yaml", src, Strict)
		for _, task := range tasks {
			if !diags.HasErrors() && (task.Type == "" || task.Text == "" || len(task.Roles) == 0 && !strings.Contains(string(src), "[")) {
				t.Errorf("an incomplete task without a diagnostic: %+v", task)
			}
		}
		Sort(tasks)
		Graph(tasks)
	})
}
