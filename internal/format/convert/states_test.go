// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package convert

import (
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/states/compile"
)

// C-27 and C-28 in commands, and requisites of all kinds.
var slsFiles = map[string]struct{ text, want string }{
	"C-27": {`
a: {cmd.run: []}
b: {cmd.run: []}
l: {cmd.run: [{order: last}]}
m1: {cmd.run: [{order: -1}]}
m2: {cmd.run: [{order: -2}]}
f: {cmd.run: [{order: first}]}
o1: {cmd.run: [{order: 1}]}
`, "f o1 a b m2 m1 l"},
	"C-28": {"b: {cmd.run: [{order: 5}]}\na: {cmd.run: [{order: 5}]}\nz: {cmd.run: [{order: 4.5}]}", "z a b"},
	"C-33": {"a: {cmd.run: [{require: [{cmd: z}]}, {order: first}]}\nb: {cmd.run: []}\nz: {cmd.run: [{order: last}]}", "z a b"},
	"C-35": {"a: {cmd.run: [{require: [{id: b}]}]}\nb: {cmd.run: []}\nc: {cmd.run: [{require_in: [{cmd: a}]}, {watch_in: [b]}]}", "c b a"},
	"C-43": {"a: {cmd.run: [{prereq: [{cmd: c}]}]}\nb: {cmd.run: []}\nc: {cmd.run: [{require: [{cmd: b}]}]}", "b a c"},
	"requisites of all kinds": {`
a: {cmd.run: []}
b: {cmd.run: [{require: [a]}]}
c: {cmd.run: [{require_any: [a, b]}]}
d: {cmd.run: [{watch: [c]}]}
e: {cmd.run: [{watch_any: [c, d]}]}
f: {cmd.run: [{onfail: [e, a]}]}
g: {cmd.run: [{onfail_all: [e, a]}]}
h: {cmd.run: [{onchanges: [e, a]}]}
i: {cmd.run: [{onchanges_any: [e, h]}]}
j: {cmd.wait: [{watch: [e]}]}
k: {cmd.wait: [{listen: [a]}, {require: [b]}]}
m: {cmd.run: [{onfail_any: [j]}, {require: [k]}]}
`, "a b c d e f g h i j m k"},
	"by way of what is dropped": {`
a: {cmd.run: [{order: last}]}
p: {pkg.installed: [{require: [{cmd: a}]}]}
q: {service.running: [{watch: [{pkg: p}]}]}
b: {cmd.run: [{require: [{service: q}]}]}
`, "a b"},
	"what is done at the end": {`
w: {cmd.wait: [{listen: [w, a]}]}
v: {cmd.wait: [{listen: [u, a]}, {prereq: [a]}, {onfail: [b]}]}
u: {cmd.wait: [{listen: [v, b]}]}
a: {cmd.run: [{require: [w]}]}
b: {cmd.run: [{require: [u]}]}
`, "b a w u v"},
	"X1": {`
apache:
  pkg.installed:
    - name: httpd
  service.running:
    - name: httpd
    - watch: [{file: apache_conf}, {pkg: apache}]
apache_conf:
  file.managed:
    - name: /etc/httpd/conf.d/httpd.conf
    - source: salt://apache/httpd.conf
`, ""},
}

func kept(call *compile.Call) bool { return isCommand(call) }

// calls of states as a workspace file, and back.
func TestOrderX11States(t *testing.T) {
	for name, test := range slsFiles {
		t.Run(name, func(t *testing.T) {
			low := states(t, test.text)
			got := callsIn(low, func(c *compile.Call) bool {
				return kept(c) && len(low.Requisites(slices.Index(low.Calls, c), "listen")) == 0
			})
			got = append(got, callsIn(low, func(c *compile.Call) bool { return len(low.Requisites(slices.Index(low.Calls, c), "listen")) > 0 })...)
			if strings.Join(got, " ") != test.want {
				t.Fatalf("the source has the sequence %s, want %s", strings.Join(got, " "), test.want)
			}
			r := FromStates(low)
			if losesOrder(r) {
				t.Errorf("order is lost:\n%s", lost(r))
			}
			m := model(t, string(r.Text()))
			g := graphOf(t, m, false)
			if diff := cmp.Diff(got, sequence(g.Graph, m.Rule(), nil, byName(g))); diff != "" && len(got) > 0 {
				t.Errorf("sequence (-states +workspace):\n%s\n%s", diff, r.Text())
			}
			back := must(t)(ToStates(m))
			again := states(t, string(back.Text()))
			if diff := cmp.Diff(got, callsIn(again, nil)); diff != "" && len(got) > 0 {
				t.Errorf("sequence (-before +there and back):\n%s\n%s", diff, back.Text())
			}
			third := FromStates(again)
			if diff := cmp.Diff(rulesOf(m), rulesOf(model(t, string(third.Text())))); diff != "" {
				t.Errorf("rules (-before +there, back and there again):\n%s\n%s\n%s", diff, back.Text(), third.Text())
			}
		})
	}
}

// rulesOf renders the rules of all tasks, but for prereq: a task always would change something, so
// that it is the same as require_in.
func rulesOf(m *cairnfile.Model) []string {
	var list []string
	for _, leaf := range m.Leaves {
		for _, rule := range m.Rules(leaf.Block) {
			for _, target := range rule.Targets {
				switch rule.Rel {
				case cairnfile.Prereq:
					list = append(list, target.Name+" require "+leaf.Name)
				default:
					list = append(list, leaf.Name+" "+kindOf(rule.Rel, rule.Policy)+" "+target.Name)
				}
			}
		}
	}
	slices.Sort(list)
	return list
}

// the text of a workspace file made of calls of states.
func TestOrderX11FromStatesText(t *testing.T) {
	r := FromStates(states(t, `
vim: {pkg.installed: []}
deploy it:
  cmd.run:
    - name: ./deploy.sh "$A"
    - cwd: /srv/my app
    - env: [{A: 1}, {B: 'x${y}'}]
    - timeout: 90
    - retry: {attempts: 3, interval: 5}
    - require: [{pkg: vim}]
    - creates: /srv/done
    - runas: web
    - failhard: true
deploy-it:
  cmd.run:
    - name: "true"
    - shell: /bin/bash
    - check_cmd: test -e it's
    - hide_output: true
after:
  cmd.wait:
    - names: [one, two]
    - watch: [{cmd: deploy-it}]
page:
  cmd.run:
    - onfail: [{pkg: vim}]
idle: {cmd.wait: [{listen: [idle]}]}
`))
	want := `task "deploy-it" {
  command     = "{ test -e /srv/done || test -L /srv/done; } && exit 0\ncd -- '/srv/my app' || exit 1\n./deploy.sh \"$A\""
  timeout     = "1m30s"
  retries     = 2
  interval    = "5s"
  environment = { A = "1", B = "x$${y}" }
  order       = 10001
}

task "deploy-it-2" {
  command = "exec >/dev/null 2>&1\n/bin/bash -c true\n/bin/bash -c 'test -e it'\\''s'"
  order   = 10002
}

task "after" {
  command   = "one"
  order     = 10003.0001
  require   = ["deploy-it-2"]
  onchanges = ["deploy-it-2"]
}

task "after-2" {
  command   = "two"
  order     = 10003.0002
  require   = ["deploy-it-2"]
  onchanges = ["deploy-it-2"]
}
`
	got := strings.NewReplacer("environment = {\n    A = \"1\"\n    B = \"x$${y}\"\n  }",
		"environment = { A = \"1\", B = \"x$${y}\" }").Replace(string(r.Text()))
	if diff := cmp.Diff(normal(want), normal(got)); diff != "" {
		t.Errorf("workspace (-want +got):\n%s", diff)
	}
	wantLost := `vim (pkg.installed): only commands can be tasks (workspace.sls:2:7).
page (cmd.run), of which nothing is left in "onfail" (workspace.sls:25:3).
idle (cmd.wait), of which nothing is left in "watch" (workspace.sls:27:8).
The name of the call "deploy it", which is called "deploy-it" (workspace.sls:4:3).
The name of the call "deploy-it", which is called "deploy-it-2" (workspace.sls:15:3).
The name of the call "after", which is called "after-2" (workspace.sls:21:3).
That deploy it (cmd.run) has not changed anything if it is not needed: where it is a command, it has (workspace.sls:4:3).
Of deploy it (cmd.run): runas, failhard (workspace.sls:4:3).`
	if diff := cmp.Diff(wantLost, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
}

// Written conditions have the effect of the original ones: each is run by the shell of the call,
// and paths in "creates" are not relative to the directory in which it runs.
func TestOrderX11FromStatesConditions(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write(t, dir, map[string]string{"made": "", "shell": "#!/bin/sh\necho \"in own shell: <$2>\"; eval \"$2\"\n"})
	if err := os.Chmod("shell", 0o755); err != nil { //nolint:gosec // it is run
		t.Fatal(err)
	}
	for call, want := range map[string]string{
		"{name: echo it}":                                                     "it\n",
		"{name: echo it}, {shell: ./shell}":                                   "in own shell: <echo it>\nit\n",
		"{name: echo it}, {creates: made}":                                    "",
		"{name: pwd}, {creates: [made, not]}":                                 "DIR\n",
		"{name: echo it}, {cwd: /nowhere}, {creates: made}":                   "",
		"{name: echo it}, {cwd: /}, {creates: made}":                          "",
		"{name: pwd}, {cwd: /}, {onlyif: [test -d bin, test -d dev]}":         "/\n",
		"{name: echo it}, {onlyif: [test -e made, test -e not]}":              "",
		"{name: echo it}, {unless: [test -e made, test -e not]}":              "it\n",
		"{name: echo it}, {unless: [test -e made, test -e shell]}":            "",
		"{name: 'echo it; exit 3'}, {check_cmd: [test -e made]}":              "it\n",
		"{name: 'echo it; exit 0'}, {check_cmd: [test -e made, test -e not]}": "it\nexit status 1",
		"{name: exit 3}":                              "exit status 3",
		"{name: echo it}, {hide_output: true}":        "",
		"{name: 'exit 3'}, {shell: ./shell}":          "in own shell: <exit 3>\nexit status 3",
		"{name: echo it}, {shell: ./shell}, {cwd: /}": "exit status 127",
		"{name: exit 3}, {shell: ./shell}, {unless: [test -e not]}, {check_cmd: 'echo checked'}": "in own shell: <exit 3>\n" +
			"in own shell: <echo checked>\nchecked\n",
	} {
		r := FromStates(states(t, "a: {cmd.run: ["+call+"]}"))
		command := model(t, string(r.Text())).Leaves[0].Task.Command
		output, err := exec.CommandContext(t.Context(), command[0], command[1:]...).Output() //nolint:gosec // as written above
		got := strings.ReplaceAll(string(output), dir, "DIR")
		if err != nil {
			got += err.Error()
		}
		if got != want {
			t.Errorf("%s does %q, want %q\n%s", call, got, want, r.Text())
		}
	}
}

// values that nothing can have in a workspace file.
func TestOrderX11FromStatesOddValues(t *testing.T) {
	for call, test := range map[string]struct{ want, lost string }{
		`{name: "\n"}`:   {`command = ":"`, ""},
		`{name: "a\0b"}`: {`command = "ab"`, "The zero bytes in the command of a, which no command can have (workspace.sls:1:5)."},
		`{name: "a\0b"}, {shell: sh}`: {
			`command = "sh -c 'ab'"`,
			"The zero bytes in the command of a, which no command can have (workspace.sls:1:5).",
		},
		`{name: x}, {env: {"": a, "b=": c, d: "\0", e: null}}`: {
			`environment = { e = "" }`,
			"The variable \"\" of a, which cannot be in an environment (workspace.sls:1:5).\nThe variable \"b=\" of a, which " +
				"cannot be in an environment (workspace.sls:1:5).\nThe variable \"d\" of a, which cannot be in an environment (workspace.sls:1:5).",
		},
		`{name: x}, {env: [a, {b: [c], d: e}]}`:       {`environment = { d = "e" }`, "Of a (cmd.run): env (workspace.sls:1:5)."},
		`{name: x}, {retry: {attempts: 2000000000}}`:  {`retries = 1000000000`, ""},
		`{name: x}, {timeout: "90"}`:                  {`command = "x"`, "Of a (cmd.run): timeout (workspace.sls:1:5)."},
		`{name: x}, {timeout: 1e300}`:                 {`command = "x"`, "Of a (cmd.run): timeout (workspace.sls:1:5)."},
		`{name: x}, {timeout: -1}`:                    {`command = "x"`, "Of a (cmd.run): timeout (workspace.sls:1:5)."},
		`{name: x}, {cwd: [y]}, {hide_output: "yes"}`: {`command = "x"`, "Of a (cmd.run): cwd, hide_output (workspace.sls:1:5)."},
		`{name: x}, {unless: [{fun: y}]}`:             {`command = "x"`, "Of a (cmd.run): unless (workspace.sls:1:5)."},
	} {
		r := FromStates(states(t, "a: {cmd.run: ["+call+"]}"))
		if diags := r.Check(); diags.HasErrors() {
			t.Errorf("%s: %v", call, diags)
		}
		if got := normal(string(r.Text())); !strings.Contains(got, test.want) || lost(r) != test.lost {
			t.Errorf("%s is %s; want %s in it; lost:\n%s\nwant:\n%s", call, got, test.want, lost(r), test.lost)
		}
	}
}

// normal leaves out how much space is between words.
func normal(text string) string { return strings.Join(strings.Fields(text), " ") }

// the text of states made of a workspace file.
func TestOrderX11ToStatesText(t *testing.T) {
	r := must(t)(ToStates(model(t, `
workspace {
  parallel = 2
  limits   = { k = 1 }
}
stack "app" {}
stack "db" { after = ["include"] }
task "include" {
  description = "First\nof all"
  command     = ["echo", "it's", "$HOME"]
  path        = "scripts dir"
  environment = { yes = "no", "a.b" = "\u0085" }
  timeout     = "1500ms"
  retries     = 1
  keys        = ["k"]
}
task "restart" {
  command   = "restart"
  watch     = ["include", "app"]
  on_change = "reload"
  after     = ["db"]
}
task "last" {
  command = "last"
  listen  = ["restart", "include"]
}
task "page" {
  command = "page"
  onfail  = ["app"]
}
task "next" {
  command   = "next"
  after     = ["restart"]
  onfail_all = ["restart", "include"]
}
group "g" {
  members = ["restart", "next"]
  strategy { one_by_one = true }
}
`[1:])))
	want := `# First
# of all
"include-2":
  cmd.run:
    - name: "cd -- 'scripts dir' || exit 1\necho 'it'\\''s' '$HOME'"
    - env:
      - "a.b": "\u0085"
      - "yes": "no"
    - timeout: 1.5
    - retry: {attempts: 2, interval: 0}
"restart":
  cmd.run:
    - name: "restart"
    - watch:
      - id: "include-2"
"restart-on-change":
  cmd.wait:
    - name: "reload"
    - require:
      - id: "restart"
    - watch:
      - id: "include-2"
"next":
  cmd.run:
    - name: "next"
    - require:
      - id: "restart"
      - id: "restart-on-change"
    - onfail_all:
      - id: "restart"
      - id: "include-2"
"last":
  cmd.wait:
    - name: "last"
    - listen:
      - id: "restart"
      - id: "include-2"
`
	if diff := cmp.Diff(want, string(r.Text())); diff != "" {
		t.Errorf("states (-want +got):\n%s", diff)
	}
	wantLost := `The stack app (cairn.workspace.hcl:5:1).
The stack db (cairn.workspace.hcl:6:1).
The task page, which reacts only to others that are not there (cairn.workspace.hcl:28:3).
The name of the task "include", which is called "include-2" (cairn.workspace.hcl:7:1).
That restart has to do with app (cairn.workspace.hcl:18:3).
That restart has to do with db (cairn.workspace.hcl:20:3).
Of include: keys (cairn.workspace.hcl:7:1).
How much may run at the same time (cairn.workspace.hcl).
The limits of keys (cairn.workspace.hcl).
The strategy of the group g (cairn.workspace.hcl:35:1).`
	if diff := cmp.Diff(wantLost, lost(r)); diff != "" {
		t.Errorf("lost (-want +got):\n%s", diff)
	}
	states(t, string(r.Text()))
}
