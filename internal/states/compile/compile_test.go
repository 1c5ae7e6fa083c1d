// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package compile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/states/slstest"
)

func load(t *testing.T, archive string, opts LoadOptions, names ...string) (*High, hcl.Diagnostics) {
	t.Helper()
	if len(names) == 0 {
		names = []string{"blah"}
	}
	return Load(slstest.Tree(archive), names, opts)
}

func mustLoad(t *testing.T, archive string, names ...string) *High {
	t.Helper()
	high, diags := load(t, archive, LoadOptions{}, names...)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return high
}

func mustCompile(t *testing.T, archive string, names ...string) *Low {
	t.Helper()
	low, diags := Compile(mustLoad(t, archive, names...), CompileOptions{})
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return low
}

// problems returns the problems of loading and compiling, one a line: code, place, summary.
func problems(t *testing.T, archive string, names ...string) (short []string, all hcl.Diagnostics) {
	t.Helper()
	high, diags := load(t, archive, LoadOptions{}, names...)
	if !diags.HasErrors() {
		_, more := Compile(high, CompileOptions{})
		diags = diags.Extend(more)
	}
	for _, diag := range diags {
		at := ""
		if diag.Subject != nil {
			at = fmt.Sprintf(" %s:%d:%d", diag.Subject.Filename, diag.Subject.Start.Line, diag.Subject.Start.Column)
		}
		short = append(short, fmt.Sprintf("%s%s %s", problem.CodeOf(diag), at, diag.Summary))
	}
	return short, diags
}

const x1 = `
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
`

func compareJSON(t *testing.T, value any, want string) {
	t.Helper()
	var b strings.Builder
	if err := WriteJSON(&b, value); err != nil {
		t.Fatal(err)
	}
	var indented bytes.Buffer
	if err := json.Indent(&indented, []byte(want), "", "  "); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.TrimSpace(indented.String()), strings.TrimSpace(b.String())); diff != "" {
		t.Errorf("wrong data (-want +got):\n%s", diff)
	}
}

const x1High = `{
  "apache": {
    "pkg": [{"name": "httpd"}, "installed", {"order": 10000}],
    "service": [{"name": "httpd"}, {"watch": [{"file": "apache_conf"}, {"pkg": "apache"}]}, "running", {"order": 10001}],
    "__sls__": "blah", "__env__": "base"
  },
  "apache_conf": {
    "file": [{"name": "/etc/httpd/conf.d/httpd.conf"}, {"source": "salt://apache/httpd.conf"}, "managed", {"order": 10002}],
    "__sls__": "blah", "__env__": "base"
  }
}`

const x1Low = `[
  {"name": "httpd", "state": "pkg", "__id__": "apache", "fun": "installed", "__env__": "base", "__sls__": "blah", "order": 10000},
  {"name": "httpd", "watch": [{"file": "apache_conf"}, {"pkg": "apache"}],
   "state": "service", "__id__": "apache", "fun": "running", "__env__": "base", "__sls__": "blah", "order": 10001},
  {"name": "/etc/httpd/conf.d/httpd.conf", "source": "salt://apache/httpd.conf",
   "state": "file", "__id__": "apache_conf", "fun": "managed", "__env__": "base", "__sls__": "blah", "order": 10002}
]`

// orders lists the calls as "id=order".
func ordersOf(low *Low) string {
	var list []string
	for _, call := range low.Calls {
		name := call.ID
		if call.nth > 0 {
			name = call.Name
		}
		list = append(list, name+"="+strconv.FormatFloat(call.Order, 'f', -1, 64))
	}
	return strings.Join(list, " ")
}

func sequenceOf(low *Low) string {
	var list []string
	for _, n := range low.Sequence() {
		list = append(list, low.Calls[n].ID)
	}
	return strings.Join(list, " ")
}

func TestOrderC(t *testing.T) {
	t.Run("C-01_and_C-07_high_data", func(t *testing.T) { compareJSON(t, mustLoad(t, x1).Value(), x1High) })
	t.Run("C-01_function_in_the_list", func(t *testing.T) {
		high := mustLoad(t, "vim:\n  pkg: [installed, {version: '1'}]\nemacs: pkg.removed\n")
		compareJSON(t, high.Value(), `{
			"vim": {"pkg": [{"version": "1"}, "installed", {"order": 10000}], "__sls__": "blah", "__env__": "base"},
			"emacs": {"pkg": ["removed", {"order": 10001}], "__sls__": "blah", "__env__": "base"}}`)
	})
	t.Run("C-02_and_C-08_low_data", func(t *testing.T) { compareJSON(t, mustCompile(t, x1).Value(), x1Low) })
	t.Run("C-03_both_as_JSON_and_YAML", testPrinted)
	t.Run("C-04_definition_order", func(t *testing.T) {
		low := mustCompile(t, "b: {m.f: []}\na: {m.f: [], n.f: []}\n")
		if got, want := ordersOf(low), "b=10000 a=10001 a=10002"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("C-05_explicit_order_is_not_counted", func(t *testing.T) {
		low := mustCompile(t, "a: {m.f: []}\nb: {m.f: [{order: 20000}]}\nc: {m.f: []}\n")
		if got, want := ordersOf(low), "a=10000 c=10001 b=20000"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("C-06_without_automatic_order", func(t *testing.T) {
		high, diags := load(t, x1, LoadOptions{NoAutoOrder: true})
		low, moreDiags := Compile(high, CompileOptions{})
		if len(diags)+len(moreDiags) > 0 {
			t.Fatal(diags, moreDiags)
		}
		var b strings.Builder
		for _, value := range []any{high.Value(), low.Value()} {
			if err := WriteJSON(&b, value); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Contains(b.String(), `"order"`) {
			t.Errorf("an order key is set: %s", &b)
		}
		var got []string
		for _, call := range low.Calls {
			got = append(got, call.Module)
		}
		if want := "file pkg service"; strings.Join(got, " ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
	t.Run("C-06_module_then_function_then_id", func(t *testing.T) {
		high, diags := load(t, "d: {n.b: []}\nc: {m.g: []}\nb: {m.f: [], n.a: []}\na: {m.f: [{require: [d]}]}\n", LoadOptions{NoAutoOrder: true})
		low, moreDiags := Compile(high, CompileOptions{})
		if len(diags)+len(moreDiags) > 0 {
			t.Fatal(diags, moreDiags)
		}
		var got []string
		for _, call := range low.Calls {
			got = append(got, call.FullFunction()+" "+call.ID)
		}
		if want := "m.f a, m.f b, m.g c, n.a b, n.b d"; strings.Join(got, ", ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if got, want := sequenceOf(low), "d a b c b"; got != want { // requisites count all the same
			t.Errorf("sequence %s, want %s", got, want)
		}
	})
	t.Run("C-09_requisites_when_they_are_needed", func(t *testing.T) {
		low := mustCompile(t, x1)
		var got []string
		for _, n := range low.Sequence() {
			got = append(got, low.Calls[n].Module)
		}
		if want := "pkg file service"; strings.Join(got, " ") != want {
			t.Errorf("got %s, want %s", got, want)
		}
		steps := []string{
			"apache (pkg.installed) is looked at",
			"apache (pkg.installed) is made",
			"apache (service.running) is looked at",
			"apache_conf (file.managed) is not done, which apache (service.running) waits for",
			"apache_conf (file.managed) is looked at",
			"apache_conf (file.managed) is made",
			"apache (pkg.installed) is done, which apache (service.running) waits for",
			"apache (service.running) is made",
		}
		if diff := cmp.Diff(steps, low.Steps()); diff != "" {
			t.Errorf("wrong steps (-want +got):\n%s", diff)
		}
	})
}

func testPrinted(t *testing.T) {
	high := mustLoad(t, "a:\n  m.f:\n    - word: 'yes'\n    - digits: '0644'\n    - text: \"x\\ny\"\n    - number: 1.5\n    - none: ~\n"+
		"    - truth: yes\n    - empty: ''\n")
	var b strings.Builder
	if err := WriteYAML(&b, high.Value()); err != nil {
		t.Fatal(err)
	}
	// The YAML output means the same as the JSON output.
	d := decoder{file: "printed.yaml"}
	root, diags := parse(d.file, []byte(b.String()))
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	compareJSON(t, d.value(root),
		`{"a": {"m": [{"word": "yes"}, {"digits": "0644"}, {"text": "x\ny"}, {"number": 1.5}, {"none": null}, {"truth": true},
		{"empty": ""}, "f", {"order": 10000}], "__sls__": "blah", "__env__": "base"}}`)
}

func TestOrderCIncludes(t *testing.T) {
	const simple = "\n%s:\n  m.f: []\n"
	include := func(id string, names ...string) string {
		text := ""
		if len(names) > 0 {
			text = "include: [" + strings.Join(names, ", ") + "]"
		}
		return text + fmt.Sprintf(simple, id)
	}
	tests := map[string]struct {
		archive string
		names   []string
		want    string // files in the order of loading
	}{
		"C-10_included_first": {"-- a.sls --\n" + include("a", "b") + "-- b.sls --\n" + include("b"), []string{"a"}, "b a"},
		"C-11_as_written": {
			"-- a.sls --\n" + include("a", "z", "b") + "-- b.sls --\n" + include("b") + "-- z.sls --\n" + include("z"), []string{"a"}, "z b a",
		},
		"C-12_depth_first": {
			"-- foo.sls --\n" + include("foo", "bar", "baz") + "-- bar.sls --\n" + include("bar", "quo") + "-- baz.sls --\n" +
				include("baz", "qux") +
				"-- quo.sls --\n" + include("quo") + "-- qux.sls --\n" + include("qux"), []string{"foo"}, "quo bar qux baz foo",
		},
		"C-13_once_and_in_cycles": {
			"-- a.sls --\n" + include("a", "b", "c") + "-- b.sls --\n" + include("b", "c") + "-- c.sls --\n" + include("c", "a"),
			[]string{"a", "b"},
			"c b a",
		},
		"C-14_packages": {
			"-- web/init.sls --\n" + include("web", "db", "web.config") + "-- web/config.sls --\n" + include("config") + "-- db.sls --\n" +
				include("db"),
			[]string{"web"},
			"db web.config web",
		},
		"relative_to_the_package": {
			"-- web/init.sls --\n" + include("web", ".config", "..db") + "-- web/config.sls --\n" + include("config", ".users") +
				"-- web/users.sls --\n" +
				include("users") + "-- db.sls --\n" + include("db"), []string{"web"}, "web.users web.config db web",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			high := mustLoad(t, test.archive, test.names...)
			if got := strings.Join(high.Loaded, " "); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			var byID []string
			for _, id := range high.IDs {
				byID = append(byID, id.SLS)
			}
			if got := strings.Join(byID, " "); got != test.want {
				t.Errorf("ids are of %s, want %s", got, test.want)
			}
		})
	}
	t.Run("C-17_numbers_run_on", func(t *testing.T) {
		low := mustCompile(t, "-- a.sls --\n"+include("a", "b")+"-- b.sls --\n"+include("b")+"-- c.sls --\n"+include("c"), "a", "c")
		if got, want := ordersOf(low), "b=10000 a=10001 c=10002"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	})
}

func TestOrderCNumbers(t *testing.T) {
	tests := map[string]struct {
		src, want string
	}{
		"C-21_one_is_first":     {"a: {m.f: []}\nb: {m.f: [{order: 1}]}", "b=1 a=10000"},
		"C-22_last_and_minus_1": {"l: {m.f: [{order: last}]}\nm: {m.f: [{order: -1}]}\na: {m.f: []}", "a=10000 m=1010099 l=1010100"},
		"C-23_first_is_0":       {"a: {m.f: [{order: 1}]}\nf: {m.f: [{order: first}]}", "f=0 a=1"},
		"C-24_the_cap_grows":    {"a: {m.f: [{order: 5}]}\nb: {m.f: [{order: 105}]}\nl: {m.f: [{order: last}]}", "a=5 b=105 l=1000205"},
		"C-24_steps_of_100":     {"a: {m.f: [{order: 5}]}\nb: {m.f: [{order: 104}]}\nl: {m.f: [{order: last}]}", "a=5 b=104 l=1000105"},
		"C-24_other_words":      {"a: {m.f: [{order: 5}]}\nb: {m.f: [{order: soon}]}", "a=5 b=105"},
		"C-24_none_at_all":      {"l: {m.f: [{order: last}]}", "l=1000001"},
		"C-24_0_and_fractions_do_not_count": {
			"a: {m.f: [{order: 0}]}\nb: {m.f: [{order: 700.5}]}\nc: {m.f: [{order: -7}]}\nl: {m.f: [{order: last}]}",
			"a=0 b=700.5 c=999994 l=1000001",
		},
		"C-24_only_what_is_above_the_cap_so_far": {
			"a: {m.f: [{order: 500}]}\nb: {m.f: [{order: 599}]}\nc: {m.f: [{order: 600}]}\nl: {m.f: [{order: last}]}", "a=500 b=599 c=600 l=1000700",
		},
		"C-24_each_file_before_what_it_includes": {
			"include: [b]\na: {m.f: []}\nl: {m.f: [{order: last}]}\n-- b.sls --\nb: {m.f: []}\n", "b=10000 a=10001 l=1010101",
		},
		"C-24_and_its_includes_as_written": {
			"include: [b, c]\na: {m.f: [{order: 10}]}\nm: {m.f: [{order: -1}]}\n-- b.sls --\ninclude: [d]\nb: {m.f: []}\n-- c.sls --\n" +
				"c: {m.f: [{order: 10101}]}\n" +
				"-- d.sls --\nd: {m.f: []}\n", "a=10 d=10000 b=10001 c=10101 m=1010200",
		},
		"C-25_fractions":         {"c: {m.f: [{order: 2}]}\nb: {m.f: [{order: 1.5}]}\na: {m.f: [{order: 1}]}", "a=1 b=1.5 c=2"},
		"C-26_names":             {"a: {m.f: [{names: [z, y]}]}\nb: {m.f: []}", "z=10000.0001 y=10000.0002 b=10001"},
		"C-26_names_of_an_order": {"a: {m.f: [{names: [z, y]}, {order: -1}]}\nb: {m.f: []}", "b=10000 z=1010099.0001 y=1010099.0002"},
		"C-27_all_kinds": {
			"a: {m.f: []}\nb: {m.f: []}\nl: {m.f: [{order: last}]}\nm1: {m.f: [{order: -1}]}\nm2: {m.f: [{order: -2}]}\n" +
				"f: {m.f: [{order: first}]}\no1: {m.f: [{order: 1}]}",
			"f=0 o1=1 a=10000 b=10001 m2=1010098 m1=1010099 l=1010100",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			if got := ordersOf(mustCompile(t, test.src)); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	t.Run("C-24_the_largest_number", func(t *testing.T) {
		low := mustCompile(t, "l: {m.f: [{order: last}]}\na: {m.f: [{order: 9223372036854775807}]}\nb: {m.f: []}\n")
		if got, want := sequenceOf(low), "b a l"; got != want {
			t.Errorf("got %s, want %s: %s", got, want, ordersOf(low))
		}
	})
	t.Run("C-26_names_with_arguments", func(t *testing.T) {
		low := mustCompile(t, "a:\n  m.f:\n    - mode: 1\n    - names:\n      - x\n      - y:\n        - mode: 2\n")
		compareJSON(t, low.Value(), `[
			{"name": "x", "mode": 1, "state": "m", "__id__": "a", "fun": "f", "__env__": "base", "__sls__": "blah", "order": 10000.0001},
			{"name": "y", "mode": 2, "state": "m", "__id__": "a", "fun": "f", "__env__": "base", "__sls__": "blah", "order": 10000.0002}]`)
	})
	const ties = "a: {pkg.removed: [{order: 5}]}\nb: {pkg.installed: [{order: 5}]}\nz: {file.managed: [{order: 5}]}\n"
	for name, test := range map[string]struct {
		tie  Tie
		want string
	}{
		"C-20_and_C-28_ties":   {TieByParts, "z=5 b=5 a=5"},
		"C-28_ties_as_shipped": {TieByText, "z=5 a=5 b=5"},
	} {
		t.Run(name, func(t *testing.T) {
			low, diags := Compile(mustLoad(t, ties), CompileOptions{Tie: test.tie})
			if len(diags) > 0 {
				t.Fatal(diags)
			}
			if got := ordersOf(low); got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
		})
	}
	t.Run("C-29_the_same_each_time", func(t *testing.T) {
		var src strings.Builder
		for i := range 200 {
			fmt.Fprintf(&src, "s%d: {m.f: [{order: %d}, {watch_in: ['t%d*']}]}\n", i, i%7, i%20)
		}
		for i := range 20 {
			fmt.Fprintf(&src, "t%d: {m.f: [{names: [x, y, z]}]}\n", i)
		}
		var first string
		for range 5 {
			low := mustCompile(t, src.String())
			var b strings.Builder
			if err := WriteJSON(&b, low.Value()); err != nil {
				t.Fatal(err)
			}
			fmt.Fprintln(&b, low.Sequence())
			if first == "" {
				first = b.String()
			}
			if b.String() != first {
				t.Fatal("two compiles differ")
			}
		}
	})
}

func TestOrderCErrors(t *testing.T) {
	for name, test := range errorTests {
		t.Run(name, func(t *testing.T) {
			got, diags := problems(t, test.archive)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Fatalf("wrong problems (-want +got):\n%s%v", diff, diags)
			}
			if len(diags) > 0 && !strings.Contains(diags[0].Detail, test.says) {
				t.Errorf("got %s\nwant %s in it", diags[0].Detail, test.says)
			}
		})
	}
}

var errorTests = map[string]struct {
	archive string
	want    []string // code, place and summary
	says    string   // in the detail of the first
}{
	"C-15_same_id_in_two_files": {
		"include: [b]\nx: {m.f: []}\n-- b.sls --\nx: {m.f: []}\n",
		[]string{"order/duplicate-id blah.sls:2:1 Duplicate ID"},
		"b.sls:1:1",
	},
	"C-15_before_exclude": {
		"include: [b]\nexclude: [{id: x}]\nx: {m.f: []}\n-- b.sls --\nx: {m.f: []}\n",
		[]string{"order/duplicate-id blah.sls:3:1 Duplicate ID"},
		"",
	},
	"C-16_excluded_id": {
		"exclude: [{id: x}]\nx: {m.f: []}\ny: {m.f: [{require: [{m: x}]}]}\n",
		[]string{"order/unknown-ref blah.sls:3:22 Excluded requisite"},
		`"require" requisite "m: x" of y (m.f) in blah.sls`,
	},
	"C-16_excluded_file": {
		"include: [b]\nexclude: [{sls: b}]\ny: {m.f: [{require: [{sls: b}]}]}\n-- b.sls --\nx: {m.f: []}\n",
		[]string{"order/unknown-ref blah.sls:3:22 Excluded requisite"},
		"",
	},
	"C-16_turned_around_before": {
		"exclude: [{id: x}]\nx: {m.f: [{require_in: [y]}]}\ny: {m.f: []}\n",
		[]string{"order/unknown-ref blah.sls:2:25 Excluded requisite"},
		"",
	},
	"C-16_nothing_to_exclude": {
		"exclude: [{id: yy}, {sls: blub}]\nyyy: {m.f: []}\n",
		[]string{"order/unknown-ref blah.sls:1:11 Exclusion of an unknown ID", "order/unknown-ref blah.sls:1:21 Exclusion of an unknown SLS"},
		`"yyy"`,
	},
	"C-40_matches_nothing": {
		"vim: {pkg.installed: []}\nx: {m.f: [{watch: [{pkg: vmi}]}]}\n",
		[]string{"order/unknown-ref blah.sls:2:20 Unknown requisite"},
		`The "watch" requisite "pkg: vmi" of x (m.f) in blah.sls matches nothing: no loaded SLS has such a call. Did you mean "vim"?`,
	},
	"C-40_in_a_mapping": {
		"a: {m.f: [{use: {m: b, n: [c]}}]}\nb: {m.f: []}\n",
		[]string{"order/syntax blah.sls:1:27 Invalid requisite"},
		`A requisite is "- MODULE: ID" or the id alone`,
	},
	"C-40_in_a_mapping_that_must_be_a_list": {
		"a: {m.f: [{require: {m: b}}]}\nb: {m.f: []}\n",
		[]string{"order/not-a-set blah.sls:1:21 List expected"},
		`The argument "require" must be a list`,
	},
	"C-40_of_another_module": {
		"vim: {pkg.installed: []}\nx: {m.f: [{watch: [{file: vim}]}]}\n",
		[]string{"order/unknown-ref blah.sls:2:20 Unknown requisite"},
		`There is vim (pkg.installed): write "pkg: vim".`,
	},
	"C-40_in_a_file_that_is_not_loaded": {
		"x: {m.f: [{watch: [{file: vim}]}]}\n-- editors/init.sls --\nvim: {file.f: []}\n-- broken.sls --\n{{ x }}\n",
		[]string{"order/unknown-ref blah.sls:1:20 Unknown requisite"},
		`The SLS "editors" declares it and is not loaded: include it.`,
	},
	"extension_in_a_file_that_is_not_loaded": {
		"extend: {vim: {file: []}}\nx: {m.f: []}\n-- editors/init.sls --\nvim: {file.f: []}\n",
		[]string{"order/unknown-ref blah.sls:1:10 Extension of an unknown ID"},
		`No loaded SLS declares the id "vim". The SLS "editors" does: include it.`,
	},
	"with_the_extension": {
		"include: [b.sls]\n-- b.sls --\na: {m.f: []}\n", []string{"order/unknown-ref blah.sls:1:11 Unknown SLS"}, "The extension is left out: b.",
	},
	"C-40_in_form": {
		"x: {m.f: [{watch_in: [{file: vim}]}]}\n",
		[]string{"order/unknown-ref blah.sls:1:23 Unknown requisite"},
		`"watch_in" requisite "file: vim" of x (m.f)`,
	},
	"C-41_loop": {
		"a: {m.f: [{require: [b]}]}\nb: {m.f: [{watch: [c]}]}\nc: {m.f: [{require: [a]}]}\n",
		[]string{"order/cycle blah.sls:3:22 Cycle in the order"},
		"a (m.f) → c (m.f) → b (m.f) → a (m.f)",
	},
	"C-41_loop_by_both_forms": {
		"a: {m.f: [{require: [b]}, {require_in: [b]}]}\nb: {m.f: []}\n",
		[]string{"order/cycle blah.sls:1:41 Cycle in the order"},
		"",
	},
	"C-41_itself": {
		"a: {m.f: [{require: [a]}]}\n", []string{"order/self blah.sls:1:22 Self-dependency in the order"}, "",
	},
	"C-41_both_made_before_the_other": {
		"a: {m.f: [{prereq: [b]}]}\nb: {m.f: [{prereq: [a]}]}\n", []string{"order/cycle blah.sls:1:21 Cycle in the order"}, "",
	},
	"C-41_use": {
		"a: {m.f: [{use: [b]}]}\nb: {m.f: [{use: [a]}]}\n", []string{"order/cycle blah.sls:2:18 Cycle in the order"}, "",
	},
	"unknown_include": {
		"include: [wbe]\n-- web/init.sls --\na: {m.f: []}\n", []string{"order/unknown-ref blah.sls:1:11 Unknown SLS"}, `Did you mean "web"?`,
	},
	"include_out_of_the_root": {
		"include: [...up]\n", []string{"order/bad-path blah.sls:1:11 Include outside of the root"}, "",
	},
	"include_with_a_path": {
		"include: [../up, /etc/x, 'a..b', 'a\\b']\n", []string{
			"order/bad-path blah.sls:1:11 Invalid SLS name", "order/bad-path blah.sls:1:18 Invalid SLS name",
			"order/bad-path blah.sls:1:26 Invalid SLS name", "order/bad-path blah.sls:1:34 Invalid SLS name",
		}, "",
	},
	"template_block":      {"{% if x %}\na: {m.f: []}\n{% endif %}\n", []string{"order/syntax blah.sls:1:1 Unsupported renderer"}, ""},
	"template_as_mapping": {"a:\n  m.f:\n    - x: {{ y }}\n", []string{"order/syntax blah.sls:3:10 Unsupported renderer"}, ""},
	"template_in_a_word":  {"a:\n  m.f:\n    - x: y-{{ y }}\n", []string{"order/syntax blah.sls:3:10 Unsupported renderer"}, ""},
	"template_as_a_key":   {"{{ x }}:\n  m.f: []\n", []string{"order/syntax blah.sls:1:1 Unsupported renderer"}, ""},
	"renderer":            {"#!py\n\ndef run(): pass\n", []string{"order/syntax blah.sls:1:1 Unsupported renderer"}, ""},
	"template_in_strings": {"# {{ no }}\na:\n  m.f:\n    - x: '{{ y }}'\n    - y: |\n        {% z %}\n", nil, ""},
	"renderer_is_yaml":    {"#!yaml\na: {m.f: []}\n", nil, ""},
	"extension_of_nothing": {
		"extend: {aa: {m: []}}\naaa: {m.f: []}\n", []string{"order/unknown-ref blah.sls:1:10 Extension of an unknown ID"}, `"aaa"`,
	},
	"extension_of_another_module": {
		"extend: {a: {n: []}}\na: {m.f: []}\n", []string{"order/unknown-ref blah.sls:1:14 Extension of an unknown module"}, "",
	},
	"no_function":       {"a: {m: []}\n", []string{"order/syntax blah.sls:1:5 Missing function"}, ""},
	"two_functions":     {"a: {m: [f, g]}\n", []string{"order/syntax blah.sls:1:12 Several functions"}, ""},
	"module_twice":      {"a: {m.f: [], m.g: []}\n", []string{"order/duplicate-id blah.sls:1:14 Module used twice"}, ""},
	"argument_twice":    {"a: {m.f: [{x: 1}, {x: 2}]}\n", []string{"order/duplicate-id blah.sls:1:20 Argument repeated"}, ""},
	"no_list":           {"a:\n  m.f:\n    x: 1\n", []string{"order/not-a-set blah.sls:3:5 List expected"}, "after a dash"},
	"nothing_to_do":     {"a: 5\n", []string{"order/syntax blah.sls:1:4 Missing function call"}, ""},
	"no_mapping":        {"[a]\n", []string{"order/syntax blah.sls:1:1 Mapping expected"}, ""},
	"invalid_word":      {"a: {../x.f: []}\n", []string{"order/syntax blah.sls:1:5 Invalid function name"}, ""},
	"invalid_function":  {"a: m..f\n", []string{"order/syntax blah.sls:1:4 Invalid function name"}, ""},
	"invalid_requisite": {"a: {m.f: [{require: [[x]]}]}\n", []string{"order/syntax blah.sls:1:22 Invalid requisite"}, ""},
	"requisites_listed": {"a: {m.f: [{require: x}]}\n", []string{"order/not-a-set blah.sls:1:21 List expected"}, ""},
	"order_of_truth":    {"a: {m.f: [{order: true}]}\n", []string{"order/bad-number blah.sls:1:19 Invalid order"}, ""},
	"order_endless":     {"a: {m.f: [{order: .inf}]}\n", []string{"order/bad-number blah.sls:1:19 Invalid order"}, ""},
	"names_no_list":     {"a: {m.f: [{names: x}]}\n", []string{"order/not-a-set blah.sls:1:19 Invalid names argument"}, ""},
	"invalid_name":      {"a: {m.f: [{name: [x]}]}\n", []string{"order/syntax blah.sls:1:18 Invalid name"}, ""},
	"reserved_argument": {"a: {m.f: [{fun: x}]}\n", []string{"order/syntax blah.sls:1:17 Reserved argument"}, ""},
	"reserved_id":       {"__a__: {m.f: []}\n", []string{"order/syntax blah.sls:1:1 Reserved ID"}, ""},
	"invalid_failhard":  {"a: {m.f: [{failhard: 3}]}\n", []string{"order/syntax blah.sls:1:22 Invalid failhard"}, ""},
	"invalid_parallel":  {"a: {m.f: [{parallel: 3}]}\n", []string{"order/syntax blah.sls:1:22 Invalid parallel"}, ""},
	"retry_of_text":     {"a: {m.f: [{retry: often}]}\n", []string{"order/syntax blah.sls:1:19 Invalid retry"}, "this is a string"},
	"retry_unknown": {
		"a: {m.f: [{retry: {attempt: 3}}]}\n",
		[]string{"order/unknown-key blah.sls:1:19 Invalid retry"},
		`Did you mean "attempts"?`,
	},
	"retry_values": {
		"a: {m.f: [{retry: {attempts: 0, until: never, interval: -1, splay: x}}]}\n",
		slices.Repeat([]string{"order/syntax blah.sls:1:19 Invalid retry"}, 4),
		`The entry "attempts" of "retry" must be a whole number of 1 or more.`,
	},
	"without_effect": {
		"a: {m.f: [{fire_event: done}, {aggregate: true}]}\n",
		[]string{"order/unknown-key blah.sls:1:24 Argument without effect", "order/unknown-key blah.sls:1:43 Argument without effect"},
		"there is no master",
	},
	"invalid_exclusion": {"exclude: [{file: x}]\n", []string{"order/syntax blah.sls:1:11 Invalid exclusion"}, ""},
	"invalid_tag":       {"a: {m.f: [{x: !!python/object 3}]}\n", []string{"order/syntax blah.sls:1:15 Unsupported YAML tag"}, ""},
	"bomb": {
		"a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\n" +
			"d: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n" +
			"e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n",
		[]string{"order/syntax blah.sls:6:4 Too many YAML aliases"},
		"",
	},
}
