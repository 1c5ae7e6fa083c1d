// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// layoutOf reads a configuration and checks it with the dirspaces of some files. Errors end the
// test.
func layoutOf(t testing.TB, config string, files ...string) *Layout {
	t.Helper()
	l, diags := tryLayout(config, files...)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return l
}

func tryLayout(config string, files ...string) (*Layout, hcl.Diagnostics) {
	c, diags := Read("config.yml", []byte(config))
	if diags.HasErrors() {
		return nil, diags
	}
	dirspaces, moreDiags := c.Dirspaces(files, unused)
	diags = diags.Extend(moreDiags)
	l, moreDiags := New(c, dirspaces)
	return l, diags.Extend(moreDiags)
}

func unused(string) bool { return false }

// rules makes a configuration of lines such as "dev modified_by: base, apply_after: a b" and "prod
// = a b c", with a directory named like each leaf.
func rules(lines ...string) (config string, files []string) {
	var b strings.Builder
	b.WriteString("stacks:\n  names:\n")
	for _, line := range lines {
		head, keys, _ := strings.Cut(line, " ")
		fmt.Fprintf(&b, "    %s:\n", head)
		if rest, nested := strings.CutPrefix(keys, "= "); nested {
			members, more, _ := strings.Cut(rest, ";")
			fmt.Fprintf(&b, "      stacks: [%s]\n", strings.Join(strings.Fields(members), ", "))
			keys = strings.TrimSpace(more)
		} else {
			fmt.Fprintf(&b, "      tag_query: dir:%s\n", head)
			files = append(files, head+"/main.tf")
		}
		if keys == "" {
			continue
		}
		b.WriteString("      rules:\n")
		for rule := range strings.SplitSeq(keys, ", ") {
			name, value, _ := strings.Cut(rule, ": ")
			if value != "true" && value != "false" {
				value = "[" + strings.Join(strings.Fields(value), ", ") + "]"
			}
			fmt.Fprintf(&b, "        %s: %s\n", strings.TrimSuffix(name, ":"), value)
		}
	}
	return b.String(), files
}

// changeOf makes a change of the main files of some directories.
func changeOf(l *Layout, dirs string) *Change {
	var files []string
	for dir := range strings.FieldsSeq(dirs) {
		files = append(files, dir+"/main.tf")
	}
	return l.Change(l.ByFiles(files), ChangeOptions{})
}

func modified(c *Change) string {
	var names []string
	for _, s := range c.Stacks {
		names = append(names, c.Layout.Stacks[s.Stack].Name)
	}
	return strings.Join(names, " ")
}

// work is a change as work to be done.
func work(c *Change) *rollout.Work {
	w, diags := c.Rollout(RolloutOptions{})
	if diags.HasErrors() {
		panic(diags) // nothing is known to be a stack of our language
	}
	return w
}

func steps(c *Change) string {
	var texts []string
	w := work(c)
	for _, batch := range w.Batches() {
		var names []string
		for _, unit := range batch.Units {
			names = append(names, w.Units[unit].Stack)
		}
		slices.Sort(names)
		texts = append(texts, string(batch.Phase)+" "+strings.Join(slices.Compact(names), ","))
	}
	return strings.Join(texts, "; ")
}

var (
	baseProdDev        = []string{"base", "prod modified_by: base, apply_after: dev", "dev modified_by: base"}
	networkBaseProdDev = []string{
		"network", "base plan_after: network", "prod modified_by: base, apply_after: dev", "dev modified_by: base",
	}
	environments = []string{
		"prod = prod-service prod-database prod-network; modified_by: base, apply_after: dev",
		"dev = dev-service dev-database dev-network; modified_by: base",
		"prod-service", "prod-database", "prod-network", "dev-service", "dev-database", "dev-network", "base",
	}
	layeredEnvironments = []string{
		"prod = prod-service prod-database prod-network; modified_by: base, apply_after: dev",
		"dev = dev-service dev-database dev-network; modified_by: base",
		"prod-service plan_after: prod-database", "prod-database plan_after: prod-network", "prod-network",
		"dev-service plan_after: dev-database", "dev-database plan_after: dev-network", "dev-network", "base",
	}
)

const allSix = "dev-database dev-network dev-service prod-database prod-network prod-service"

func TestOrderBSteps(t *testing.T) {
	for name, test := range map[string]struct {
		rules                    []string
		changed, modified, steps string
	}{
		"B-40": {
			[]string{"base", "dev plan_after: base"}, "base", "base", "plan base; apply base",
		},
		"B-41": {
			[]string{"base", "dev plan_after: base"}, "base dev", "base dev", "plan base; apply base; plan dev; apply dev",
		},
		"B-42": {
			[]string{"base", "dev plan_after: base"}, "dev", "dev", "plan dev; apply dev",
		},
		"B-43": {
			[]string{"base", "dev modified_by: base, plan_after: base"}, "base", "base dev", "plan base; apply base; plan dev; apply dev",
		},
		"B-44": {
			[]string{"base", "dev modified_by: base"}, "base", "base dev", "plan base; apply base; plan dev; apply dev",
		},
		"B-45": {
			[]string{"base", "dev modified_by: base, plan_after:"}, "base", "base dev", "plan base,dev; apply base,dev",
		},
		"B-46": {
			baseProdDev, "base", "base dev prod", "plan base; apply base; plan dev,prod; apply dev; apply prod",
		},
		"B-47": {
			baseProdDev, "dev prod", "dev prod", "plan dev,prod; apply dev; apply prod",
		},
		"B-48": {
			baseProdDev, "prod", "prod", "plan prod; apply prod",
		},
		"B-49": {
			[]string{"network", "base modified_by: network", "prod modified_by: base, apply_after: dev", "dev modified_by: base"},
			"network", "base dev network prod",
			"plan network; apply network; plan base; apply base; plan dev,prod; apply dev; apply prod",
		},
		"B-50": {
			[]string{"network", "base modified_by: network", "prod modified_by: base, apply_after: dev", "dev plan_after: base"},
			"network", "base network prod",
			"plan network; apply network; plan base; apply base; plan prod; apply prod",
		},
		"B-51": {networkBaseProdDev, "network", "network", "plan network; apply network"},
		"B-52": {
			networkBaseProdDev, "network base", "base dev network prod",
			"plan network; apply network; plan base; apply base; plan dev,prod; apply dev; apply prod",
		},
		"B-53": {
			networkBaseProdDev, "base", "base dev prod", "plan base; apply base; plan dev,prod; apply dev; apply prod",
		},
		"B-54": {
			environments, "base", "base " + allSix,
			"plan base; apply base; plan dev-database,dev-network,dev-service,prod-database,prod-network,prod-service; " +
				"apply dev-database,dev-network,dev-service; apply prod-database,prod-network,prod-service",
		},
		"B-55": {
			environments, "prod-database dev-network", "dev-network prod-database",
			"plan dev-network,prod-database; apply dev-network; apply prod-database",
		},
		"B-56": {
			layeredEnvironments, "base", "base " + allSix,
			"plan base; apply base; plan dev-network,prod-network; apply dev-network; plan dev-database; apply dev-database; " +
				"plan dev-service; apply dev-service; apply prod-network; plan prod-database; apply prod-database; " +
				"plan prod-service; apply prod-service",
		},
		"B-57": {
			layeredEnvironments, "dev-network prod-network", "dev-network prod-network",
			"plan dev-network,prod-network; apply dev-network; apply prod-network",
		},
		"B-58": {
			layeredEnvironments, "dev-network dev-service", "dev-network dev-service",
			"plan dev-network; apply dev-network; plan dev-service; apply dev-service",
		},
		"B-15 through what is not modified": {
			[]string{"a", "b plan_after: a", "c plan_after: b"}, "a c", "a c", "plan a; apply a; plan c; apply c",
		},
		"B-15 each kind of rule on its own": {
			[]string{"a", "b plan_after: a", "c apply_after: b"}, "a c", "a c", "plan a,c; apply a,c",
		},
		"B-15 apply_after through what is not modified": {
			[]string{"a", "b apply_after: a", "c apply_after: b"}, "a c", "a c", "plan a,c; apply a; apply c",
		},
		"B-15 through a rule of a nested stack": {
			[]string{"a", "g = b; plan_after: a", "b", "c plan_after: b"}, "a c", "a c", "plan a; apply a; plan c; apply c",
		},
		"B-16": {
			[]string{"a", "b plan_after: a"}, "b", "b", "plan b; apply b",
		},
		"B-01 B-06 nothing is planned before": {
			[]string{"a", "b plan_after: a", "x"}, "a b x", "a b x", "plan a,x; apply a,x; plan b; apply b",
		},
		"B-07 planning is not held back": {
			[]string{"a", "b apply_after: a"}, "a b", "a b", "plan a,b; apply a; apply b",
		},
		"B-03 rules of a nested stack act on its members": {
			[]string{"a", "g = b c; modified_by: a, plan_after:, apply_after: a", "b", "c"}, "a", "a b c", "plan a,b,c; apply a; apply b,c",
		},
		"B-04 waiting for a nested stack is waiting for its top": {
			[]string{"g = low high", "low", "high plan_after: low", "x plan_after: g"},
			"low high x", "high low x",
			"plan low; apply low; plan high; apply high; plan x; apply x",
		},
		"B-08 by a nested stack, of which one leaf is modified": {
			[]string{"g = a b", "a", "b", "c modified_by: g"}, "b", "b c", "plan b; apply b; plan c; apply c",
		},
		"B-04 of stacks side by side, all of them": {
			[]string{"g = left right", "left", "right", "x plan_after: g", "y apply_after: g"},
			"left right x y",
			"left right x y",
			"plan left,right,y; apply left,right; plan x; apply x,y",
		},
		"B-04 of the members that changed": {
			[]string{"g = low high", "low", "high plan_after: low", "x plan_after: g"}, "low x", "low x", "plan low; apply low; plan x; apply x",
		},
		"B-11 plan_after as written": {
			[]string{"a", "b", "c modified_by: a, plan_after: b"}, "a b", "a b c", "plan a,b; apply a,b; plan c; apply c",
		},
		"B-12 plan_after modifies nothing": {
			[]string{"a", "b plan_after: a"}, "a", "a", "plan a; apply a",
		},
		"B-14 any depth": {
			[]string{"g1 = g2; plan_after: a", "g2 = g3", "g3 = x", "x", "a"}, "a x", "a x", "plan a; apply a; plan x; apply x",
		},
		"B-21": {
			[]string{"a modified_by: b, plan_after:", "b modified_by: a, plan_after: a"}, "b", "a b", "plan a; apply a; plan b; apply b",
		},
	} {
		t.Run(name, func(t *testing.T) {
			config, files := rules(test.rules...)
			c := changeOf(layoutOf(t, config, files...), test.changed)
			if got := modified(c); got != test.modified {
				t.Errorf("modified: got %s, want %s", got, test.modified)
			}
			if diff := cmp.Diff(strings.Split(test.steps, "; "), strings.Split(steps(c), "; ")); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// byTags makes a configuration as [rules] does, in which queries ask for the words of the names of
// stacks, that are tags of directories.
func byTags(lines ...string) (config string, files []string) {
	config, files = rules(lines...)
	var dirs strings.Builder
	for i, file := range files {
		leaf := strings.TrimSuffix(file, "/main.tf")
		words := strings.SplitN(leaf, "-", 3)
		config = strings.Replace(config, "tag_query: dir:"+leaf+"\n", "tag_query: "+strings.Join(words, " and ")+"\n", 1)
		files[i] = "live/" + strings.Join(words, "/") + "/main.tf"
		fmt.Fprintf(&dirs, "  live/%s/*.tf: {tags: [%s]}\n", strings.Join(words, "/"), strings.Join(words, ", "))
	}
	return config + "dirs:\n" + dirs.String(), files
}

// The worked examples with nested stacks, with leaves that are found by the tags of their
// directories.
func TestOrderB54B55B56B57B58B59ByTags(t *testing.T) {
	russianDolls := []string{
		"everything = prod dev staging", "prod = prod-compute prod-database", "dev", "staging",
		"prod-compute = prod-compute-us-east-1 prod-compute-us-west-1", "prod-database = prod-database-us-east-1 prod-database-us-west-1",
		"prod-compute-us-east-1", "prod-compute-us-west-1", "prod-database-us-east-1", "prod-database-us-west-1",
	}
	for _, test := range []struct {
		rules          []string
		changed, steps string
	}{
		{
			environments, "base",
			"plan base; apply base; plan dev-database,dev-network,dev-service,prod-database,prod-network,prod-service; " +
				"apply dev-database,dev-network,dev-service; apply prod-database,prod-network,prod-service",
		},
		{environments, "prod/database dev/network", "plan dev-network,prod-database; apply dev-network; apply prod-database"},
		{
			layeredEnvironments, "base",
			"plan base; apply base; plan dev-network,prod-network; apply dev-network; plan dev-database; apply dev-database; " +
				"plan dev-service; apply dev-service; apply prod-network; plan prod-database; apply prod-database; " +
				"plan prod-service; apply prod-service",
		},
		{layeredEnvironments, "dev/network prod/network", "plan dev-network,prod-network; apply dev-network; apply prod-network"},
		{layeredEnvironments, "dev/network dev/service", "plan dev-network; apply dev-network; plan dev-service; apply dev-service"},
		{russianDolls, "prod/compute/us-east-1", "plan prod-compute-us-east-1; apply prod-compute-us-east-1"},
	} {
		config, files := byTags(test.rules...)
		var changed []string
		for dir := range strings.FieldsSeq(test.changed) {
			changed = append(changed, "live/"+dir)
		}
		c := changeOf(layoutOf(t, config, files...), strings.Join(changed, " "))
		if diff := cmp.Diff(strings.Split(test.steps, "; "), strings.Split(steps(c), "; ")); diff != "" {
			t.Errorf("%s changed (-want +got):\n%s", test.changed, diff)
		}
		if test.changed != "prod/compute/us-east-1" {
			continue
		}
		want := []string{
			"prod", "compute", "us-east-1", "dir:live/prod/compute/us-east-1", "workspace:default", "stack_name:prod-compute-us-east-1",
			"stack_name:prod-compute", "stack_name:prod", "stack_name:everything",
		}
		if diff := cmp.Diff(want, c.Tags(c.Stacks[0].Dirspaces[0].Dirspace)); diff != "" {
			t.Errorf("tags (-want +got):\n%s", diff)
		}
	}
}

func TestOrderB59(t *testing.T) {
	config, files := rules("everything = prod dev staging", "prod = prod-compute prod-database", "dev", "staging",
		"prod-compute = prod-compute-us-east-1 prod-compute-us-west-1", "prod-database = prod-database-us-east-1 prod-database-us-west-1",
		"prod-compute-us-east-1", "prod-compute-us-west-1", "prod-database-us-east-1", "prod-database-us-west-1")
	l := layoutOf(t, config, files...)
	c := changeOf(l, "prod-compute-us-west-1")
	if got, want := steps(c), "plan prod-compute-us-west-1; apply prod-compute-us-west-1"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	tags := l.Tags(c.Stacks[0].Dirspaces[0].Dirspace)
	want := []string{
		"dir:prod-compute-us-west-1", "workspace:default", "stack_name:prod-compute-us-west-1",
		"stack_name:prod-compute", "stack_name:prod", "stack_name:everything",
	}
	if diff := cmp.Diff(want, tags); diff != "" {
		t.Error(diff)
	}
}

// Line B-24: the tags of each dirspace besides its own.
func TestOrderB24(t *testing.T) {
	l := layoutOf(t, `
stacks:
  names:
    leaf: {tag_query: mine}
    inner: {stacks: [leaf]}
    outer: {stacks: [inner]}
dirs:
  a/b:
    tags: [mine]
    workspaces: {blue: {tags: [sky]}, green: {}}
`, "a/b/main.tf", "c/main.tf")
	got := map[string][]string{}
	for d := range l.Dirspaces {
		tags := l.Tags(d)
		slices.Sort(tags)
		got[l.Dirspaces[d].Name()] = tags
	}
	nested := []string{"stack_name:inner", "stack_name:leaf", "stack_name:outer"}
	want := map[string][]string{
		"a/b (blue)":  append([]string{"dir:a/b", "mine", "sky"}, append(nested, "workspace:blue")...),
		"a/b (green)": append([]string{"dir:a/b", "mine"}, append(nested, "workspace:green")...),
		"c":           {"dir:c", "stack_name:default", "workspace:default"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tags (-want +got):\n%s", diff)
	}
}

// Names that terraform would take for options or for directories, and those that no environment can
// hold.
func TestHostileNames(t *testing.T) {
	for config, want := range map[string]string{
		`dirs: {a: {workspaces: {"-help": {}}}}`:                                            `There cannot be a workspace "-help"`,
		`dirs: {a: {workspaces: {"..": {}}}}`:                                               `There cannot be a workspace ".."`,
		`dirs: {a: {workspaces: {"": {}}}}`:                                                 `There cannot be a workspace ""`,
		`dirs: {a: {workspaces: {"a\0b": {}}}}`:                                             `There cannot be a workspace "a\x00b"`,
		`stacks: {names: {s: {tag_query: a, variables: {X: "a\0b"}}}}`:                      `The value of "X" has a zero byte`,
		`stacks: {names: {s: {tag_query: a, variables: {"A=B": c}}}}`:                       `The variable "A=B" cannot be`,
		`dirs: {"` + strings.Repeat("**/", 334) + `": {tags: [x]}}`:                         `Pattern is longer than 1000 characters`,
		`dirs: {a: {when_modified: {file_patterns: ["` + strings.Repeat("{", 999) + `"]}}}`: `a { has no closing }`,
	} {
		if _, diags := tryLayout(config, "a/main.tf"); len(diags) != 1 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%.60s: %v, want %s", config, diags, want)
		}
	}
}

func TestOrderBOwners(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		want   string // texts in the only error, or the owner
	}{
		"B-17 two leaves": {
			"stacks: {names: {one: {tag_query: 'a'}, two: {tag_query: 'dir:x'}}}\ndirs: {x: {tags: [a], workspaces: {blue: {}}}}",
			`error x blue one two`,
		},
		"B-18 none": {"stacks: {names: {one: {tag_query: 'dir:y'}}}", "default"},
		"B-18 a configured default": {
			"stacks: {names: {default: {tag_query: 'dir:y'}}}", "error x default",
		},
		"B-18 a configured default that matches": {
			"stacks: {names: {default: {tag_query: ''}}}", "default",
		},
	} {
		t.Run(name, func(t *testing.T) {
			l, diags := tryLayout(test.config, "x/main.tf")
			words, isError := strings.CutPrefix(test.want, "error ")
			if !isError {
				if diags.HasErrors() {
					t.Fatal(diags)
				}
				if got := l.Stacks[l.Owner(0)].Name; got != test.want {
					t.Errorf("got %s", got)
				}
				return
			}
			if len(diags) != 1 || l != nil {
				t.Fatalf("got %v", diags)
			}
			for word := range strings.FieldsSeq(words) {
				if !strings.Contains(diags[0].Detail, `"`+word+`"`) {
					t.Errorf("%s is not in %q", word, diags[0].Detail)
				}
			}
		})
	}
}

func TestOrderBInherited(t *testing.T) {
	l := layoutOf(t, `
stacks:
  names:
    leaf:
      tag_query: dir:x
      variables: {own: leaf, both: leaf}
      rules: {auto_apply: true}
    inner:
      stacks: [leaf, other]
      variables: {both: inner, near: inner, mid: inner}
    outer:
      stacks: [inner]
      variables: {both: outer, near: outer, far: outer}
      rules: {auto_apply: false}
    other:
      tag_query: dir:y
    free:
      tag_query: dir:z
      rules: {auto_apply: true}
`, "x/main.tf", "y/main.tf", "z/main.tf")
	t.Run("B-22", func(t *testing.T) {
		want := map[string]string{"own": "leaf", "both": "leaf", "near": "inner", "mid": "inner", "far": "outer"}
		if diff := cmp.Diff(want, l.Variables(l.byName["leaf"])); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("B-23", func(t *testing.T) {
		got := map[string]bool{}
		for _, name := range []string{"leaf", "other", "free"} {
			got[name] = l.AutoApply(l.byName[name])
		}
		if diff := cmp.Diff(map[string]bool{"leaf": false, "other": false, "free": true}, got); diff != "" {
			t.Error(diff)
		}
	})
	t.Run("B-13", func(t *testing.T) {
		for name := range l.Variables(l.byName["leaf"]) {
			if strings.HasPrefix(name, "STACK_VAR_") {
				t.Errorf("%s is set", name)
			}
		}
		diags := l.Hidden([]string{"HOME=/", "far=1"})
		if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || !strings.Contains(diags[0].Detail, `"far"`) {
			t.Errorf("got %v, want one warning about far", diags)
		}
	})
}

func TestOrderB30Run(t *testing.T) {
	config, files := rules("dev", "staging modified_by: dev", "prod modified_by: staging", "aside")
	c := changeOf(layoutOf(t, config, files...), "dev aside")
	run := func(fails string) (done []string) {
		w := work(c)
		w.Graph.Run(t.Context(), order.RunOptions{FailFast: true, Rule: w.Rule}, func(_ context.Context, n int) error {
			name := fmt.Sprintf("%s %s", w.Steps[n].Phase, w.Units[w.Steps[n].Unit].Path)
			done = append(done, name)
			if name == fails {
				return errors.New("failed")
			}
			return nil
		})
		return done
	}
	want := []string{
		"plan aside", "plan dev", "apply aside", "apply dev", "plan staging", "apply staging", "plan prod", "apply prod",
	}
	if diff := cmp.Diff(want, run("")); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want[:6], run("apply staging")); diff != "" {
		t.Errorf("after a failure: %s", diff)
	}
}

func TestOrderB60B61Gates(t *testing.T) {
	config, files := rules("network", "base plan_after: network", "prod modified_by: base, apply_after: dev",
		"dev modified_by: base, auto_apply: true")
	l := layoutOf(t, config, files...)
	c := changeOf(l, "base")
	auto := map[string]bool{}
	for _, s := range c.Stacks {
		auto[l.Stacks[s.Stack].Name] = l.AutoApply(s.Stack)
	}
	if diff := cmp.Diff(map[string]bool{"base": false, "dev": true, "prod": false}, auto); diff != "" {
		t.Errorf("B-60: %s", diff)
	}
	for _, test := range []struct{ stack, action, applied, want string }{
		{"base", "plan", "", ""},
		{"dev", "plan", "", "base"},
		{"prod", "plan", "", "base"},
		{"prod", "apply", "", "base dev"},
		{"dev", "apply", "base", ""},
		{"prod", "plan", "base", ""},
		{"prod", "apply", "base", "dev"}, // B-61: dev waits for somebody, and so does prod
		{"prod", "apply", "base dev", ""},
	} {
		w := work(c)
		var got []string
		for unit := range w.Units {
			if w.Units[unit].Stack != test.stack {
				continue
			}
			for _, holder := range w.HeldBy(unit, rollout.Phase(test.action)) {
				if name := w.Units[holder].Stack; !slices.Contains(strings.Fields(test.applied), name) {
					got = append(got, name)
				}
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s of %s with %s applied is held by %v, want %s", test.action, test.stack, test.applied, got, test.want)
		}
	}
}

func TestOrderO05DestroyIsReversed(t *testing.T) {
	config, files := rules("base", "dev modified_by: base", "prod modified_by: base, apply_after: dev")
	l := layoutOf(t, config, files...)
	want := "plan dev,prod; apply prod; apply dev; plan base; apply base"
	if got := steps(l.Change(l.All("all"), ChangeOptions{Destroy: true})); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func layers(c *Change) string {
	var texts []string
	w := work(c)
	plans := make(order.Selection, len(w.Steps))
	for n, step := range w.Steps {
		plans[n] = step.Phase == rollout.Plan
	}
	for _, layer := range w.Graph.Waves(plans) {
		var names []string
		for _, n := range layer {
			names = append(names, w.Units[w.Steps[n].Unit].Path)
		}
		texts = append(texts, strings.Join(names, ","))
	}
	return strings.Join(texts, " / ")
}

// depending makes a configuration of directories with depends_on. A query that ends with ! prunes.
func depending(pairs ...string) (config string, files []string) {
	var b strings.Builder
	b.WriteString("dirs:\n")
	for _, pair := range pairs {
		dir, query, _ := strings.Cut(pair, ": ")
		query, prune := strings.CutSuffix(query, "!")
		fmt.Fprintf(&b, "  %s:\n", dir)
		if query != "" {
			fmt.Fprintf(&b, "    when_modified: {depends_on: {tag_query: %q, prune_on_no_change: %t}}\n", query, prune)
		}
		files = append(files, dir+"/main.tf")
	}
	return b.String(), files
}

func TestOrderBLayers(t *testing.T) {
	for name, test := range map[string]struct {
		dirs          []string
		changed, want string
	}{
		"B-70": {
			[]string{"network", "database: dir:network", "application: dir:database"}, "network", "network / database / application",
		},
		"B-71": {
			[]string{"base", "database1: dir:base", "database2: dir:base", "webservice: dir:database1 or dir:database2"},
			"base",
			"base / database1,database2 / webservice",
		},
		"B-73": {
			[]string{"a: dir:b", "b: dir:c", "c: dir:d!", "d: dir:e", "e"}, "b d", "d / b / a",
		},
		"B-74":                      {[]string{"a: dir:b!", "b: dir:c!", "c"}, "c", "c"},
		"a pruned one changed, too": {[]string{"a: dir:b!", "b"}, "a b", "b / a"},
	} {
		t.Run(name, func(t *testing.T) {
			config, files := depending(test.dirs...)
			if got := layers(changeOf(layoutOf(t, config, files...), test.changed)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestOrderB72(t *testing.T) {
	l := layoutOf(t, `
dirs:
  projects/**/database/*.tf:
    when_modified:
      depends_on: relative_dir:../base
`, "projects/proj1/base/main.tf", "projects/proj1/database/main.tf", "projects/proj2/base/main.tf", "projects/proj2/database/main.tf")
	if got, want := layers(changeOf(l, "projects/proj1/base")), "projects/proj1/base / projects/proj1/database"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestOrderBCycles(t *testing.T) {
	ruled := func(lines ...string) func() (string, []string) {
		return func() (string, []string) { return rules(lines...) }
	}
	for name, test := range map[string]struct {
		config func() (string, []string)
		want   string
		code   problem.Code
	}{
		"B-02 of plan_after":          {ruled("b plan_after: c", "c plan_after: a", "a plan_after: b"), "a → c → b → a", problem.Cycle},
		"B-02 itself":                 {ruled("a plan_after: a"), "a → a", problem.Self},
		"B-20 of both rules":          {ruled("a plan_after: b", "b apply_after: a"), "a → b → a", problem.Cycle},
		"B-20 of members":             {ruled("a = b", "b = a"), "a → b → a", problem.Cycle},
		"B-20 its own member":         {ruled("a = a"), "a → a", problem.Self},
		"B-20 a member and a rule":    {ruled("g = m x", "m plan_after: g", "x"), "g → m → g", problem.Cycle},
		"B-20 a rule for all members": {ruled("g = m; apply_after: x", "m", "x plan_after: m"), "g → m → x → g", problem.Cycle},
		"B-20 implied plan_after":     {ruled("a modified_by: b", "b modified_by: a"), "a → b → a", problem.Cycle},
		"B-75": {
			func() (string, []string) { return depending("base: dir:database", "database: dir:base") }, "base → database → base", problem.Cycle,
		},
		"depends_on against a rule": {func() (string, []string) {
			config, files := rules("base", "dev plan_after: base")
			return config + "dirs: {base: {when_modified: {depends_on: 'dir:dev'}}}\n", files
		}, "base → dev → base", problem.Cycle},
	} {
		t.Run(name, func(t *testing.T) {
			config, files := test.config()
			_, diags := tryLayout(config, files...)
			if len(diags) != 1 {
				t.Fatalf("got %v, want one error", diags)
			}
			if !strings.Contains(diags[0].Detail, ": "+test.want+"\n") {
				t.Errorf("%s is not in %s", test.want, diags[0].Detail)
			}
			if diags[0].Subject == nil || diags[0].Subject.Start.Line == 0 || problem.CodeOf(diags[0]) != test.code {
				t.Errorf("got %s at %v", problem.CodeOf(diags[0]), diags[0].Subject)
			}
		})
	}
}

func TestOrderB19(t *testing.T) {
	for _, rule := range []string{"dev plan_after: bse", "dev apply_after: bse", "dev modified_by: bse", "dev = bse"} {
		config, files := rules("base", rule)
		_, diags := tryLayout(config, files...)
		if len(diags) != 1 || problem.CodeOf(diags[0]) != problem.UnknownRef {
			t.Fatalf("%s: got %v", rule, diags)
		}
		if text := diags[0].Detail; !strings.Contains(text, `"bse"`) || !strings.Contains(text, `Did you mean "base"?`) {
			t.Errorf("%s: got %s", rule, text)
		}
		at := diags[0].Subject
		if got := strings.Split(config, "\n")[at.Start.Line-1][at.Start.Column-1 : at.End.Column-1]; got != "bse" {
			t.Errorf("%s: place is %s", rule, got)
		}
	}
}

func TestReasons(t *testing.T) {
	config, files := rules("base", "g = a; modified_by: base", "a")
	config += "dirs: {x: {when_modified: {depends_on: 'dir:a'}}}\n"
	c := changeOf(layoutOf(t, config, append(files, "x/main.tf")...), "base")
	got := map[string]string{}
	for _, s := range c.Stacks {
		for _, d := range s.Dirspaces {
			got[c.Dirspaces[d.Dirspace].Name()] = d.Reason
		}
	}
	want := map[string]string{
		"base": "base/main.tf changed", "a": "g is modified by base", "x": "depends on a, which is modified",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestOneChangedDirectoryOfALeaf(t *testing.T) {
	config := "stacks: {names: {leaf: {tag_query: 'x in dir'}, next: {tag_query: 'dir:next', rules: {modified_by: [leaf]}}}}"
	l := layoutOf(t, config, "x/a/main.tf", "x/b/main.tf", "next/main.tf")
	if got, want := layers(changeOf(l, "x/b")), "x/b / next"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// Rules between wide stacks are not multiplied out.
func TestWideStacks(t *testing.T) {
	const width = 300
	var b strings.Builder
	var files []string
	b.WriteString("stacks:\n  names:\n")
	for layer := range 4 {
		var members []string
		for i := range width {
			name := fmt.Sprintf("s%d-%d", layer, i)
			members = append(members, name)
			files = append(files, name+"/main.tf")
			fmt.Fprintf(&b, "    %s: {tag_query: 'dir:%s'}\n", name, name)
		}
		fmt.Fprintf(&b, "    g%d:\n      stacks: [%s]\n", layer, strings.Join(members, ", "))
		if layer > 0 {
			fmt.Fprintf(&b, "      rules: {plan_after: [g%d]}\n", layer-1)
		}
	}
	l := layoutOf(t, b.String(), files...)
	c := l.Change(l.ByFiles(append(slices.Clone(files[:width]), files[3*width:]...)), ChangeOptions{})
	if got := len(work(c).Batches()); got != 4 {
		t.Errorf("%d steps, want 4: through the layers that are not modified", got)
	}
	if got := len(c.graph.Edges()); got > 100*width {
		t.Errorf("%d edges for %d leaves", got, 4*width)
	}
}

func TestHiddenValuesOfTwoParents(t *testing.T) {
	_, diags := tryLayout("stacks: {names: {a: {tag_query: 'dir:x'}, "+
		"g: {stacks: [a], variables: {v: '1'}}, h: {stacks: [a], variables: {v: '2'}}}}", "x/main.tf")
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning {
		t.Errorf("got %v, want one warning", diags)
	}
}

func dirNames(t *testing.T, config string, files ...string) string {
	t.Helper()
	c, diags := Read("config.yml", []byte(config))
	dirspaces, moreDiags := c.Dirspaces(files, unused)
	if diags = diags.Extend(moreDiags); diags.HasErrors() {
		t.Fatal(diags)
	}
	var names []string
	for _, d := range dirspaces {
		names = append(names, d.Name())
	}
	return strings.Join(names, ", ")
}

func TestDirspaces(t *testing.T) {
	for name, test := range map[string]struct {
		config, files, want string
	}{
		"without configuration":    {"", "a/main.tf a/b/x.tfvars c/README.md main.tf", "., a, a/b"},
		"named workspaces":         {"dirs: {a: {workspaces: {two: {}, one: {}}}}", "a/main.tf", "a (one), a (two)"},
		"a pattern of directories": {"dirs: {'e/*/db': {workspaces: {w: {}}}}", "e/1/db/m.tf e/1/x/m.tf", "e/1/db (w), e/1/x"},
		"a pattern of files":       {"dirs: {'**/t.hcl': {when_modified: {file_patterns: ['${DIR}/*.hcl']}}}", "a/t.hcl b/u.hcl", "a"},
		"the longest pattern": {
			"dirs: {'p/**': {workspaces: {w: {}}}, 'p/**/e/**': {workspaces: {long: {}}}}",
			"p/a/e/m.tf p/a/m.tf",
			"p/a (w), p/a/e (long)",
		},
		"a name before all patterns":   {"dirs: {'p/**/*.tf': {workspaces: {w: {}}}, 'p/a': {}}", "p/a/m.tf p/b/m.tf", "p/a, p/b (w)"},
		"empty file_patterns":          {"dirs: {'mod/**': {when_modified: {file_patterns: []}}}", "mod/a/m.tf b/m.tf", "b"},
		"patterns for all directories": {"when_modified: {file_patterns: ['**/*.hcl']}", "a/x.hcl b/x.tf", "a"},
		"a slash at the end":           {"dirs: {a/: {workspaces: {w: {}}}}", "a/m.tf", "a (w)"},
		"special characters":           {"", "a[1]/m.tf", "a[1]"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := dirNames(t, test.config, strings.Fields(test.files)...); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
}

func TestLoad(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		ConfigFile: "dirs: {modules/named: {}}",
		"app/main.tf": "module \"a\" {\n  source = \"../modules/a\"\n}\nmodule \"n\" {\n" +
			"  source = \"../modules/named\"\n}\n",
		"modules/a/main.tf":                "",
		"modules/named/main.tf":            "",
		"modules/free/main.tf":             "",
		"stack/main.tfcomponent.hcl":       "component \"x\" {\n  source = \"./x\"\n}\nstack \"e\" {\n  source = \"./e\"\n}\n",
		"stack/x/main.tf":                  "",
		"stack/e/main.tfcomponent.hcl":     "",
		".hidden/main.tf":                  "",
		"app/.terraform/modules/x/main.tf": "",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	l, diags, err := Load(root)
	if err != nil || diags.HasErrors() {
		t.Fatal(err, diags)
	}
	var got []string
	for _, d := range l.Dirspaces {
		got = append(got, d.Name())
	}
	if diff := cmp.Diff([]string{"app", "modules/free", "modules/named", "stack"}, got); diff != "" {
		t.Error(diff)
	}
	if err := os.Rename(filepath.Join(root, ConfigFile), filepath.Join(root, OtherConfigFile)); err != nil {
		t.Fatal(err)
	}
	other, diags, err := Load(root)
	if err != nil || diags.HasErrors() || !Exists(root) || len(other.Dirspaces) != len(l.Dirspaces) {
		t.Errorf("with the other extension: %v, %v", err, diags)
	}
	if _, _, err := Load(t.TempDir()); !errors.Is(err, ErrNoConfig) {
		t.Errorf("without a configuration: %v", err)
	}
}

func TestLoadRefusesLinks(t *testing.T) {
	root, outside := t.TempDir(), filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(outside, []byte("secret: [\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(root, ".terrateam"), 0o700); err != nil {
		t.Fatal(err)
	}
	testenv.Symlink(t, outside, filepath.Join(root, filepath.FromSlash(ConfigFile)))
	_, diags, err := Load(root)
	if err != nil || len(diags) != 1 || problem.CodeOf(diags[0]) != problem.BadPath || !strings.Contains(diags[0].Detail, "escapes") {
		t.Errorf("got %v, %v, want order/bad-path", err, diags)
	}
}

func TestWatchedFiles(t *testing.T) {
	l := layoutOf(t, `
when_modified: {file_patterns: ['${DIR}/*.tf', 'shared/**/*.tf', '!**/test.tf']}
dirs:
  b:
    workspaces:
      special: {when_modified: {file_patterns: ['b/only.tf']}}
      usual: {}
  shared/**: {when_modified: {file_patterns: []}}
`, "a/main.tf", "b/only.tf", "shared/x/y.tf")
	for file, want := range map[string]string{
		"a/main.tf": "a", "a/test.tf": "", "a/x/main.tf": "", "shared/x/y.tf": "a, b (usual)", "b/only.tf": "b (special), b (usual)",
		"shared/x/test.tf": "",
	} {
		var names []string
		for _, cause := range l.ByFiles([]string{file}) {
			names = append(names, l.Dirspaces[cause.Dirspace].Name())
		}
		if got := strings.Join(names, ", "); got != want {
			t.Errorf("%s: got %s, want %s", file, got, want)
		}
	}
}

func TestOrderBRead(t *testing.T) {
	for name, test := range map[string]struct {
		config string
		want   []string // "line:column code text" of each problem
	}{
		"B-05 all keys": {
			"stacks: {names: {a: {tag_query: a, variables: {v: x}, rules: {plan_after: [], apply_after: [], modified_by: [], auto_apply: true}}}}",
			nil,
		},
		"B-03 both": {
			"stacks:\n  names:\n    a:\n      tag_query: a\n      stacks: [b]\n", []string{"3:5 order/conflict Remove one of them"},
		},
		"B-03 neither":           {"stacks: {names: {a: {rules: {}}}}", []string{"1:18 order/syntax neither tag_query nor stacks"}},
		"unknown key":            {"stacks: {names: {a: {tag_query: a, rule: {}}}}", []string{`1:36 order/unknown-key Did you mean "rules"?`}},
		"unknown key at the top": {"stack: {}", []string{`1:1 order/unknown-key Did you mean "stacks"?`}},
		"B-25 on_change":         {"stacks: {names: {a: {tag_query: a, on_change: {}}}}", []string{"1:36 order/unknown-key modified_by"}},
		"B-25 can_apply_after": {
			"stacks: {names: {a: {tag_query: a, can_apply_after: [b]}}}",
			[]string{"1:36 order/unknown-key rules.apply_after"},
		},
		"B-25 run_strategy": {
			"stacks: {names: {a: {tag_query: a, run_strategy: {}}}}",
			[]string{"1:36 order/unknown-key rules.auto_apply"},
		},
		"B-25 allow_workspace": {"stacks: {allow_workspace_in_multiple_stacks: true}", []string{"1:10 order/unknown-key exactly one stack"}},
		"B-25 engine": {
			"stacks: {names: {a: {tag_query: a, engine: {}}}}",
			[]string{"1:36 order/unknown-key at the top of the file"},
		},
		"B-31": {
			"stacks: {names: {a: {tag_query: a, auto_apply: true}}}",
			[]string{"1:36 order/unknown-key rules: {auto_apply: true}"},
		},
		"B-85":         {"stacks: {names: {a: {tag_query: 'x and (y'}}}", []string{"1:40 order/bad-tag-query no closing one"}},
		"B-22 no text": {"stacks: {names: {a: {tag_query: a, variables: {v: 1}}}}", []string{"1:51 order/syntax Put it in quotes"}},
		"a list that is none": {
			"stacks: {names: {a: {tag_query: a, rules: {plan_after: b}}}}",
			[]string{"1:56 order/not-a-set to be a list"},
		},
		"no boolean": {
			"stacks: {names: {a: {tag_query: a, rules: {auto_apply: maybe}}}}",
			[]string{"1:56 order/syntax true or false"},
		},
		"outside": {"dirs: {../x: {}}", []string{"1:8 order/bad-path below the root"}},
		"twice":   {"stacks:\n  names:\n    a: {tag_query: a}\n    a: {tag_query: b}\n", []string{"4:5 order/duplicate-id"}},
		"depends_on": {
			"dirs: {x: {when_modified: {depends_on: {prune_on_no_change: true}}}}",
			[]string{"1:40 order/syntax tag_query"},
		},
		"keys about other things": {"version: '1'\nworkflows: []\nparallel_runs: 3\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := Read("config.yml", []byte(test.config))
			if len(diags) != len(test.want) {
				t.Fatalf("got %v, want %d problems", diags, len(test.want))
			}
			for i, diag := range diags {
				place, rest, _ := strings.Cut(test.want[i], " ")
				code, text, _ := strings.Cut(rest, " ")
				if got := fmt.Sprintf("%d:%d", diag.Subject.Start.Line, diag.Subject.Start.Column); got != place ||
					string(problem.CodeOf(diag)) != code {
					t.Errorf("got %s %s, want %s %s", got, problem.CodeOf(diag), place, code)
				}
				if !strings.Contains(diag.Detail, text) {
					t.Errorf("%q is not in %q", text, diag.Detail)
				}
			}
		})
	}
}

func TestOrderB31Effect(t *testing.T) {
	c, diags := Read("config.yml", []byte("stacks: {names: {a: {tag_query: a, rules: {modified_by: [b]}, auto_apply: true}}}"))
	if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning {
		t.Fatal(diags)
	}
	if auto := c.Stacks[0].Rules.AutoApply; auto == nil || !*auto {
		t.Error("auto_apply next to rules has no effect")
	}
}

func TestOrderB10B11Implied(t *testing.T) {
	for text, want := range map[string]string{
		"{modified_by: [b]}":                  "b",
		"{modified_by: [b], plan_after: []}":  "",
		"{modified_by: [b], plan_after: [c]}": "c",
		"{plan_after: [c]}":                   "c",
		"{}":                                  "",
	} {
		c, diags := Read("config.yml", []byte("stacks: {names: {a: {tag_query: a, rules: "+text+"}}}"))
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		var got []string
		for _, ref := range c.Stacks[0].Rules.PlanAfter {
			got = append(got, ref.Name)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", text, got, want)
		}
	}
}

// A layout of the same things in another order gives the same steps (O-01).
func TestOrderO01(t *testing.T) {
	config, files := rules(layeredEnvironments...)
	want := steps(changeOf(layoutOf(t, config, files...), "base"))
	lines := slices.Clone(layeredEnvironments)
	slices.Reverse(lines)
	config, files = rules(lines...)
	slices.Reverse(files)
	if got := steps(changeOf(layoutOf(t, config, files...), "base")); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

func FuzzRead(f *testing.F) {
	for _, lines := range [][]string{baseProdDev, layeredEnvironments} {
		config, _ := rules(lines...)
		f.Add([]byte(config))
	}
	config, _ := depending("a: dir:b", "b: relative_dir:../c!")
	f.Add([]byte(config))
	f.Fuzz(func(t *testing.T, src []byte) {
		c, diags := Read("config.yml", src)
		if diags.HasErrors() {
			return
		}
		dirspaces, diags := c.Dirspaces([]string{"base/main.tf", "dev/main.tf", "a/main.tf", "b/main.tf"}, unused)
		if diags.HasErrors() {
			return
		}
		l, diags := New(c, dirspaces)
		if diags.HasErrors() {
			return
		}
		planned := map[int]bool{}
		w := work(l.Change(l.All("all"), ChangeOptions{}))
		for _, batch := range w.Batches() {
			for _, unit := range batch.Units {
				if batch.Phase == rollout.Apply && !planned[unit] {
					t.Errorf("%s is applied before it is planned", w.Units[unit].Name)
				}
				planned[unit] = true
			}
		}
		if got := len(slices.Collect(maps.Keys(planned))); got != len(l.Dirspaces) {
			t.Errorf("%d of %d are planned", got, len(l.Dirspaces))
		}
	})
}

func BenchmarkChange(b *testing.B) {
	const width = 2500
	var text strings.Builder
	var files []string
	text.WriteString("stacks:\n  names:\n")
	for layer := range 4 {
		fmt.Fprintf(&text, "    s%d:\n      tag_query: l%d\n", layer, layer)
		if layer > 0 {
			fmt.Fprintf(&text, "      rules: {modified_by: [s%d]}\n", layer-1)
		}
	}
	text.WriteString("dirs:\n")
	for layer := range 4 {
		fmt.Fprintf(&text, "  l%d/**: {tags: [l%d]", layer, layer)
		if layer > 0 {
			fmt.Fprintf(&text, ", when_modified: {depends_on: 'relative_dir:../../l%d/x or l%d'}", layer-1, layer-1)
		}
		text.WriteString("}\n")
		for i := range width {
			files = append(files, fmt.Sprintf("l%d/d%d/main.tf", layer, i))
		}
	}
	for b.Loop() {
		l := layoutOf(b, text.String(), files...)
		c := l.Change(l.ByFiles(files[:1]), ChangeOptions{})
		if got := len(work(c).Batches()); got != 8 {
			b.Fatalf("%d steps, want 8", got)
		}
	}
}

// Dependencies on thousands of directories each, thousands of times, are an error, found in
// seconds.
func TestDependenciesOnTooMuch(t *testing.T) {
	var config strings.Builder
	var files []string
	config.WriteString("dirs:\n")
	for i := range 1500 {
		fmt.Fprintf(&config, "  d%d: {tags: [x], when_modified: {depends_on: x and not y%[1]d}}\n", i)
		files = append(files, fmt.Sprintf("d%d/main.tf", i))
	}
	_, diags := tryLayout(config.String(), files...)
	if want := "Too many dependencies"; len(diags) != 1 || diags[0].Summary != want {
		t.Errorf("%v, want %s", diags, want)
	}
}
