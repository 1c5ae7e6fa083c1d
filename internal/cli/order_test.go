// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"
	"go.yaml.in/yaml/v3"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// Line O-01: the same bytes, whatever the order in which directories were made.
func TestOrderO01(t *testing.T) {
	stacks := []string{
		`c after = ["../b"]`, `b after = ["tag:x"]`, `d tags = ["x"]`, `a tags = ["x"]`, `e wants = ["../a"]`,
		`f/g before = ["/a"]`, `f`,
	}
	for _, args := range [][]string{
		{"list", "-json"},
		{"list", "-run-order"},
		{"order"},
		{"order", "-format=json"},
		{"order", "-format=dot"},
		{"order", "-format=mermaid"},
		{"order", "convert", "-from=dirs"},
	} {
		first := ""
		for range 3 {
			_, stdout, stderr := runIn(t, stacks, args...)
			if first == "" {
				first = stdout
			}
			if stdout != first || stdout == "" {
				t.Errorf("%v: got\n%s\nand\n%s\n%s", args, first, stdout, stderr)
			}
			slices.Reverse(stacks)
			stacks[0], stacks[3] = stacks[3], stacks[0]
		}
	}
}

// Line C-03: high and low data are printed by two commands, as JSON and as YAML that means the
// same, and nothing is run.
func TestOrderC03(t *testing.T) {
	t.Chdir(t.TempDir())
	const file = "touch:\n  cmd.run:\n    - name: touch ran\n    - order: 5\n    - require: [{test: first}]\n    - mode: '0644'\n" +
		"first: test.nop\n"
	if err := os.WriteFile("blah.sls", []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	for command, want := range map[string]string{
		"high": `{"touch": {"cmd": [{"name": "touch ran"}, {"order": 5}, {"require": [{"test": "first"}]}, {"mode": "0644"}, "run"],
			"__sls__": "blah", "__env__": "base"},
			"first": {"test": ["nop", {"order": 10000}], "__sls__": "blah", "__env__": "base"}}`,
		"low": `[{"name": "touch ran", "mode": "0644", "require": [{"test": "first"}], "state": "cmd", "__id__": "touch", "fun": "run",
			"__env__": "base", "__sls__": "blah", "order": 5},
			{"name": "first", "state": "test", "__id__": "first", "fun": "nop", "__env__": "base", "__sls__": "blah", "order": 10000}]`,
	} {
		var wanted any
		if err := yaml.Unmarshal([]byte(want), &wanted); err != nil {
			t.Fatal(err)
		}
		for _, format := range []string{"json", "yaml"} {
			var out, errs strings.Builder
			status := Main(testContext(), []string{"order", command, "-format=" + format, ".", "blah"},
				session.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
			var got any
			if err := yaml.Unmarshal([]byte(out.String()), &got); err != nil || status != cmdline.ExitOK {
				t.Fatalf("order %s -format=%s: exit code %d, %v\n%s%s", command, format, status, err, &out, &errs)
			}
			if isJSON := json.Valid([]byte(out.String())); isJSON != (format == "json") {
				t.Errorf("order %s -format=%s: is JSON: %t", command, format, isJSON)
			}
			if diff := cmp.Diff(wanted, got); diff != "" {
				t.Errorf("order %s -format=%s (-want +got):\n%s", command, format, diff)
			}
		}
	}
	if _, err := os.Stat("ran"); err == nil {
		t.Error("a call was made")
	}
}

// Line X-09: the chain of edges, each with its reason and place, or the rule that decides.
func TestOrderX09(t *testing.T) {
	stacks := []string{`app after = ["/db"]`, `db`, `net before = ["../db"]`, `zone`, `lib tags = ["l"]`, `net/sub`}
	for args, want := range map[string]string{
		"app net": "net runs before app:\n" +
			"  net before db: /net has before = [\"../db\"] (net/stack.tm:2:11)\n" +
			"  db before app: /app has after = [\"/db\"] (app/stack.tm:2:10)\n",
		"net app": "net runs before app:\n" +
			"  net before db: /net has before = [\"../db\"] (net/stack.tm:2:11)\n" +
			"  db before app: /app has after = [\"/db\"] (app/stack.tm:2:10)\n",
		"net/sub net": "net runs before net/sub:\n  net before net/sub: /net/sub is in the directory of /net (net/sub/stack.tm:1:1)\n",
		"zone lib":    "lib runs before zone: nothing orders them but their names.\n",
		"app zone":    "zone runs before app: nothing orders them; /zone has less to wait for.\n",
	} {
		status, stdout, stderr := runIn(t, stacks, append([]string{"order", "explain"}, strings.Fields(args)...)...)
		if status != cmdline.ExitOK || stdout != want {
			t.Errorf("%s: exit code %d\n%s%s\nwant\n%s", args, status, stdout, stderr, want)
		}
	}
	_, stdout, _ := runIn(t, stacks, "order", "explain", "-json", "app", "net")
	var got, want any
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal([]byte(`{
		"format_version": "1.0", "first": "net", "second": "app", "diagnostics": [],
		"chain": [
			{"from": "net", "to": "db", "reason": "/net has before = [\"../db\"]", "place": {"file": "net/stack.tm", "line": 2, "column": 11}},
			{"from": "db", "to": "app", "reason": "/app has after = [\"/db\"]", "place": {"file": "app/stack.tm", "line": 2, "column": 10}}
		]}`), &want); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("document (-want +got):\n%s", diff)
	}
}

// Line X-10: one graph in each form, with and without edges that others imply.
func TestOrderX10(t *testing.T) {
	stacks := []string{`a`, `b after = ["../a"]`, `c after = ["../a", "../b"]`, `d`}
	const head = "digraph order {\n  rankdir = \"LR\"\n  node [shape = box, fontname = \"sans-serif\"]\n  \"a\"\n  \"d\"\n  \"b\"\n  \"c\"\n"
	const (
		ab = "  \"a\" -> \"b\" [tooltip = \"a before b: /b has after = [\\\"../a\\\"] (b/stack.tm:2:10)\"]\n"
		ac = "  \"a\" -> \"c\" [tooltip = \"a before c: /c has after = [\\\"../a\\\"] (c/stack.tm:2:10)\"]\n"
		bc = "  \"b\" -> \"c\" [tooltip = \"b before c: /c has after = [\\\"../b\\\"] (c/stack.tm:2:18)\"]\n"
	)
	for args, want := range map[string]string{
		"":                            "1.\n  a\n  d\n2.\n  b  (after a)\n3.\n  c  (after b)\n",
		"-transitive-reduction=false": "1.\n  a\n  d\n2.\n  b  (after a)\n3.\n  c  (after a, b)\n",
		"-transitive-reduction":       "1.\n  a\n  d\n2.\n  b  (after a)\n3.\n  c  (after b)\n",
		"-format=dot -transitive-reduction=false": head + ab + ac + bc + "}\n",
		"-format=dot": head + ab + bc + "}\n",
		"-format=mermaid -transitive-reduction=false": "flowchart LR\n  n0[\"a\"]\n  n1[\"d\"]\n  n2[\"b\"]\n  n3[\"c\"]\n" +
			"  n0 --> n2\n  n0 --> n3\n  n2 --> n3\n",
		"-format=mermaid": "flowchart LR\n  n0[\"a\"]\n  n1[\"d\"]\n  n2[\"b\"]\n  n3[\"c\"]\n" +
			"  n0 --> n2\n  n2 --> n3\n", //nolint:dupword // the language of Mermaid
	} {
		status, stdout, stderr := runIn(t, stacks, append([]string{"order"}, strings.Fields(args)...)...)
		if diff := cmp.Diff(want, stdout); status != cmdline.ExitOK || diff != "" {
			t.Errorf("order %s: exit code %d (-want +got):\n%s%s", args, status, diff, stderr)
		}
	}
	type document struct {
		Nodes    []string                    `json:"nodes"`
		Edges    []struct{ From, To string } `json:"edges"`
		Sequence []string                    `json:"sequence"`
		Waves    [][]string                  `json:"waves"`
	}
	for args, edges := range map[string][]struct{ From, To string }{
		"-format=json":                       {{"a", "b"}, {"a", "c"}, {"b", "c"}},
		"-format=json -transitive-reduction": {{"a", "b"}, {"b", "c"}},
	} {
		_, stdout, _ := runIn(t, stacks, append([]string{"order"}, strings.Fields(args)...)...)
		var got document
		if err := json.Unmarshal([]byte(stdout), &got); err != nil {
			t.Fatalf("%v\n%s", err, stdout)
		}
		want := document{
			Nodes: []string{"a", "b", "c", "d"}, Edges: edges, Sequence: []string{"a", "d", "b", "c"},
			Waves: [][]string{{"a", "d"}, {"b"}, {"c"}},
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("order %s (-want +got):\n%s", args, diff)
		}
	}
}

// Line B-09: with auto_apply, plans are applied without a question; all others wait for somebody to
// agree.
func TestOrderB09(t *testing.T) {
	testenv.Engine(t)
	testenv.CLIConfig(t, "")
	root := t.TempDir()
	for name, content := range map[string]string{
		".terrateam/config.yml": "stacks:\n  names:\n    asked: {tag_query: 'dir:asked'}\n" +
			"    auto: {tag_query: 'dir:auto', rules: {auto_apply: true}}\n",
		"asked/main.tf": "output \"x\" {\n  value = 1\n}\n",
		"auto/main.tf":  "output \"x\" {\n  value = 1\n}\n",
	} {
		path := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	var out, errs strings.Builder
	status := Main(testContext(), []string{"run", "apply"}, session.Streams{In: strings.NewReader(""), Out: &out, Err: &errs})
	if status == cmdline.ExitOK {
		t.Errorf("exit code %d although something was not applied", status)
	}
	for text, want := range map[string]bool{
		"Apply asked,": true, "Apply auto,": false, "applied  auto: auto  (0 added, 0 changed, 0 destroyed)\n": true,
		"planned  asked: asked  (0 to add, 0 to change, 0 to destroy; not approved)\n": true,
	} {
		if got := strings.Contains(errs.String(), text); got != want {
			t.Errorf("%q is printed: %t, want %t\n%s%s", text, got, want, &out, &errs)
		}
	}
	for dir, want := range map[string]bool{"asked": false, "auto": true} {
		if _, err := os.Stat(filepath.Join(root, dir, "terraform.tfstate")); (err == nil) != want {
			t.Errorf("%s is applied: %t, want %t", dir, err == nil, want)
		}
	}
}

// Names of directories can have any character. None steers the terminal, ends a line or a string of
// another language.
func TestHostileNames(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("such names cannot be")
	}
	names := []string{
		"\x1b[31mred", "new\nline", "cr\rx", "tab\tx", "quo\"te", "<b>&", "back\\", "#quot;", "`code`", "a|b", "%s", "[x]",
		"\u202eevil", "sp ace", "-dash",
	}
	root := t.TempDir()
	for i, name := range names {
		src := "stack {}\n"
		if i > 0 {
			src = fmt.Sprintf("stack {\n  after = [%s]\n}\n", hclText("/"+names[i-1]))
		}
		if err := os.Mkdir(filepath.Join(root, name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "stack.tm"), []byte(src), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	cairn := func(args ...string) (stdout, stderr string) {
		var out, errs strings.Builder
		if status := Main(testContext(), args, session.Streams{In: strings.NewReader(""), Out: &out, Err: &errs}); status != cmdline.ExitOK {
			t.Errorf("%v: exit code %d\n%s", args, status, &errs)
		}
		return out.String(), errs.String()
	}
	for _, test := range []struct {
		lines int // of standard output; -1 for any number
		args  []string
	}{
		{len(names), []string{"list"}},
		{len(names), []string{"list", "-run-order"}},
		{2 * len(names), []string{"order"}},
		{4 + 2*len(names) - 1, []string{"order", "-format=dot"}},
		{1 + 2*len(names) - 1, []string{"order", "-format=mermaid"}},
		{14, []string{"order", "explain", names[0], "sp ace"}},
		{len(names), []string{"run", "-dry-run", "--", "echo", "\x1b", "a\nb"}},
		{len(names), []string{"run", "--", "echo", "one"}},
		{len(names), []string{"run", "-parallel=2", "-report=report.xml", "--", "echo", "one"}},
		{-1, []string{"order", "-format=svg"}},
		{-1, []string{"order", "-format=json"}},
		{-1, []string{"list", "-json"}},
		{-1, []string{"order", "convert", "-from=dirs"}},
	} {
		stdout, stderr := cairn(test.args...)
		for _, bad := range []string{"\x1b", "\r", "\u202e"} {
			if strings.Contains(stdout+stderr, bad) && !slices.Contains(test.args, "-json") && !slices.Contains(test.args, "-format=json") {
				t.Errorf("%q: %q is in\n%q", test.args, bad, stdout+stderr)
			}
		}
		if got := strings.Count(stdout, "\n"); test.lines >= 0 && got != test.lines {
			t.Errorf("%q: %d lines, want %d:\n%s", test.args, got, test.lines, stdout)
		}
	}

	// Programs get the names as they are.
	var document struct{ Sequence []string }
	stdout, _ := cairn("order", "-format=json")
	if err := json.Unmarshal([]byte(stdout), &document); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(names, document.Sequence); diff != "" {
		t.Errorf("names in JSON (-want +got):\n%s", diff)
	}
	report, err := os.ReadFile("report.xml")
	if err != nil {
		t.Fatal(err)
	}
	var suite struct {
		Cases []struct {
			Name string `xml:"name,attr"`
		} `xml:"testcase"`
	}
	if err := xml.Unmarshal(report, &suite); err != nil || len(suite.Cases) != len(names) || suite.Cases[5].Name != names[5] {
		t.Errorf("report: %v, %+v", err, suite)
	}
	svg, _ := cairn("order", "-format=svg")
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || strings.Contains(svg, "<b>") {
		t.Errorf("drawing: %v\n%s", err, svg)
	}
	dot, _ := cairn("order", "-format=dot")
	mermaid, _ := cairn("order", "-format=mermaid")
	for text, in := range map[string]string{
		`"quo\"te" -> "<b>&"`: dot, `"back\\" -> "#quot;"`: dot, `"new␊line" -> "cr`: dot,
		`["quo#quot;te"]`: mermaid, `["#lt;b#gt;#amp;"]`: mermaid, `["#35;quot;"]`: mermaid, `["#96;code#96;"]`: mermaid,
	} {
		if !strings.Contains(in, text) {
			t.Errorf("%s is not in\n%s", text, in)
		}
	}
}

// hclText writes a string in HCL.
func hclText(text string) string {
	return string(hclwrite.TokensForValue(cty.StringVal(text)).Bytes())
}
