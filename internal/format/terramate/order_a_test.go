// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terramate

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// writeTree writes stacks, one a line: PATH ARGUMENTS, as in `stack-b after = ["../stack-a"]`. A
// path with a slash at its end is of a directory without a stack. Arguments are separated by
// semicolons.
func writeTree(t testing.TB, lines ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, line := range lines {
		dir, arguments, _ := strings.Cut(line, " ")
		writeFile(t, root, filepath.Join(dir, ".keep"), "")
		if !strings.HasSuffix(dir, "/") {
			writeFile(t, root, filepath.Join(dir, "stack.tm.hcl"), "stack {\n  "+strings.ReplaceAll(arguments, "; ", "\n  ")+"\n}\n")
		}
	}
	return root
}

func writeFile(t testing.TB, root, name, content string) {
	t.Helper()
	path := filepath.Join(root, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

func load(t testing.TB, root string) (*Tree, *order.Graph, hcl.Diagnostics) {
	t.Helper()
	tree, diags := Load(root)
	if diags.HasErrors() {
		return tree, nil, diags
	}
	g, moreDiags := tree.Graph()
	return tree, g, diags.Extend(moreDiags)
}

// sequence returns the selected stacks in order, without the slash at the beginning.
func sequence(g *order.Graph, selected order.Selection) string {
	var paths []string
	for _, n := range g.Sequence(order.ByQueue, selected) {
		paths = append(paths, strings.TrimPrefix(g.Node(n).Name, "/"))
	}
	return strings.Join(paths, ", ")
}

// problems describes diagnostics: code and place, relative to the root.
func problems(root string, diags hcl.Diagnostics) []string {
	var list []string
	for _, diag := range diags {
		place := ""
		if diag.Subject != nil {
			rel, err := filepath.Rel(root, diag.Subject.Filename)
			if err != nil {
				rel = diag.Subject.Filename
			}
			place = fmt.Sprintf(" %s:%d:%d", filepath.ToSlash(rel), diag.Subject.Start.Line, diag.Subject.Start.Column)
		}
		list = append(list, string(problem.CodeOf(diag))+place)
	}
	return list
}

func query(t testing.TB, texts ...string) []tagquery.Terms {
	t.Helper()
	var queries []tagquery.Terms
	for _, text := range texts {
		q, err := tagquery.ParseTerms(text)
		if err != nil {
			t.Fatal(err)
		}
		queries = append(queries, q)
	}
	return queries
}

// writeDocumented writes stacks as writeTree does, in the format of the source document: a file
// terrastack.tsk.hcl with a block that makes the stack, and a stack block only if that says
// something. It is not ok if that format does not have the arguments.
func writeDocumented(t testing.TB, lines ...string) (root string, ok bool) {
	t.Helper()
	root = t.TempDir()
	for _, line := range lines {
		dir, arguments, _ := strings.Cut(line, " ")
		writeFile(t, root, filepath.Join(dir, ".keep"), "")
		if strings.HasSuffix(dir, "/") {
			continue
		}
		content := "terrastack {\n  required_version = \"~> 1.0\"\n}\n"
		if arguments != "" {
			content += "\nstack {\n  " + strings.ReplaceAll(arguments, "; ", "\n  ") + "\n}\n"
		}
		for argument := range strings.SplitSeq(arguments, "; ") {
			if name, _, _ := strings.Cut(argument, " "); name != "" && name != "before" && name != "after" {
				return "", false
			}
		}
		writeFile(t, root, filepath.Join(dir, "terrastack.tsk.hcl"), content)
	}
	return root, true
}

// The lines of system A whose result is a sequence, in both formats.
func TestOrderA(t *testing.T) {
	nodes := func(text string) []string { return strings.Fields(text) }
	for _, test := range []struct {
		line    string
		tree    []string
		below   string
		tags    []string
		noTags  []string
		changed string // names of the stacks that a change filter lets pass, "" for no filter
		want    string
	}{
		{line: "A-01", tree: []string{`s before = ["../a"]`, `a`}, want: "s, a"},
		{line: "A-02", tree: []string{`a after = ["../x"]`, `x`}, want: "x, a"},
		{line: "A-03 repeated entries", tree: []string{`a after = ["../y", "../x", "../y"]`, `x`, `y`}, want: "x, y, a"},
		{line: "A-03 order of entries", tree: []string{`a after = ["../x", "../y"]`, `x`, `y`}, want: "x, y, a"},
		{line: "A-04", tree: []string{`stack-a`, `stack-b before = ["../stack-a"]`}, want: "stack-b, stack-a"},
		{line: "A-05", tree: []string{`stack-a`, `stack-b after = ["../stack-a"]`}, want: "stack-a, stack-b"},
		{line: "A-06", tree: []string{`stack-a before = ["../stack-b"]`, `stack-b`}, want: "stack-a, stack-b"},
		{line: "A-07", tree: []string{`stack-a before = ["../stack-b"]`, `stack-b after = ["../stack-a"]`}, want: "stack-a, stack-b"},
		{
			line: "A-08",
			tree: []string{`stack-a`, `stack-b`, `stack-c before = ["../stack-b"]; after = ["../stack-a"]`},
			want: "stack-a, stack-c, stack-b",
		},
		{line: "A-09", tree: []string{`m before = ["../a"]; after = ["../z"]`, `a`, `z`}, want: "z, m, a"},
		{line: "A-11", tree: []string{`b after = ["../c"]; before = ["../a"]`, `a`, `c`}, changed: "b", want: "b"},
		{line: "A-13", tree: []string{`a`, `b after = ["../a"]`, `c after = ["../a", "../b"]`}, want: "a, b, c"},
		{line: "A-14", tree: []string{`a`, `b after = ["../a"]`, `c after = ["../a", "../b"]`}, changed: "a c", want: "a, c"},
		{line: "A-15", tree: []string{`a`, `b after = ["../a"]`, `c after = ["../a", "../b"]`}, changed: "c", want: "c"},
		{line: "A-20", tree: []string{`a after = ["../b"]`, `b after = ["../c"]`, `c`}, changed: "a c", want: "c, a"},

		{line: "A-30", tree: nodes("batatinha frita 1 2 3 boom"), want: "1, 2, 3, batatinha, boom, frita"},
		{line: "A-31", tree: []string{`c after = ["../b"]`, `b after = ["../a"]`, `d after = ["../z"]`, `a`, `z`}, want: "a, z, b, d, c"},
		{
			line: "A-32", tree: append(nodes("d f g h"), `a after = ["../b", "../c"]`, `b after = ["../d", "../f"]`, `c after = ["../g", "../h"]`),
			want: "d, f, g, h, b, c, a",
		},
		{
			line: "A-33", tree: append(nodes("b c d"), `z after = ["../a", "../b", "../c", "../d"]`, `a after = ["../b", "../c"]`),
			want: "b, c, d, a, z",
		},
		{
			line: "A-34", tree: append(nodes("b c d x y"), `z after = ["../a", "../b", "../c", "../d"]`, `a after = ["../x", "../y"]`),
			want: "b, c, d, x, y, a, z",
		},
		{
			line: "A-35", tree: []string{`z after = ["../b", "../c", "../d"]`, `a after = ["../c"]`, `b before = ["../a"]`, `c`, `d`},
			want: "b, c, d, a, z",
		},
		{line: "A-36", tree: []string{`stack-a after = ["/stack-b"]`, `stack-b`}, want: "stack-b, stack-a"},
		{line: "A-37", tree: nodes("s s/A s/B s/A/AA s/B/BA s/A/AA/AAA"), want: "s, s/A, s/B, s/A/AA, s/B/BA, s/A/AA/AAA"},
		{line: "A-39", tree: append(nodes("dir/s1 dir/s2 dir/s3"), `a after = ["/dir"]`), want: "dir/s1, dir/s2, dir/s3, a"},
		{line: "A-39 any depth", tree: append(nodes("dir/x/y/s1 dir/s2"), `a after = ["../dir"]`), want: "dir/s2, dir/x/y/s1, a"},
		{
			line: "A-40", tree: append(nodes("parent parent/s1 parent/s2 parent/s3"), `stack after = ["/parent"]`),
			want: "parent, parent/s1, parent/s2, parent/s3, stack",
		},
		{line: "A-41", tree: []string{`empty/x/`, `a after = ["/empty"]`, `b`}, want: "a, b"},
		{line: "A-45", tree: []string{`a after = ["tag:unknown"]`, `b`}, want: "a, b"},
		{line: "A-44", tree: []string{
			`a after = ["tag:infra:prod,infra:dev"]`, `p tags = ["infra", "prod"]`, `d tags = ["dev", "infra"]`,
			`i tags = ["infra"]; after = ["../a"]`, `q tags = ["prod", "dev"]; after = ["../a"]`,
		}, want: "d, p, a, i, q"},
		{line: "A-44", tree: []string{ // those below each match, too
			`a after = ["tag:x"]`, `m tags = ["x"]`, `m/below`, `m/below/deep`, `n`, `y/m tags = ["x"]; after = ["/n"]`, `y/m/z`,
		}, want: "m, n, m/below, y/m, m/below/deep, y/m/z, a"},
		{line: "A-44", tree: []string{`z before = ["tag:x"]`, `m tags = ["x"]`, `m/below`}, want: "z, m, m/below"},
		{line: "A-44", tree: []string{ // not the stack with the entry, nor others that have the same one
			`m tags = ["x"]`, `m/a after = ["tag:x"]`, `m/b after = ["tag:x"]`, `m/b/deep`, `m/c`, `m/z tags = ["x"]; after = ["../c"]`,
		}, want: "m, m/c, m/z, m/a, m/b, m/b/deep"},
		{line: "A-44", tree: []string{`a after = ["tag:1st/2.x"]`, `b tags = ["1st/2.x", "2"]`}, want: "b, a"},
		{line: "A-46", tree: []string{`s1 tags = ["core"]`, `s2`, `s3 before = ["tag:core"]`}, want: "s2, s3, s1"},
		{line: "A-47", tree: []string{
			`infra1 tags = ["infra", "prod"]`, `infra2 tags = ["infra", "prod"]`, `infra3 tags = ["infra", "dev"]`,
			`k8s1 tags = ["k8s", "prod"]; after = ["tag:infra:prod"]`, `k8s2 tags = ["k8s", "dev"]; after = ["tag:infra:dev"]`,
			`app1 after = ["tag:k8s:prod"]`, `app2 after = ["tag:k8s:dev"]`,
		}, want: "infra1, infra2, infra3, k8s1, k8s2, app1, app2"},
		{line: "A-48", tree: []string{
			`project tags = ["project"]; before = ["tag:identity"]`, `iac/bucket after = ["tag:project", "tag:sa"]`,
			`iac/sa-dir tags = ["identity"]; before = ["/iac/sa-dir/name"]`, `iac/sa-dir/name tags = ["sa"]`,
		}, want: "project, iac/sa-dir, iac/sa-dir/name, iac/bucket"},
		{
			line: "A-49",
			tree: []string{`p`, `p/child before = ["tag:other"]`, `p/child/grand`, `other tags = ["other"]`},
			want: "p, p/child, other, p/child/grand",
		},
		{line: "A-50", tree: []string{
			`parent-stack`, `stacks/a after = ["/stacks/b", "/parent-stack"]`, `stacks/b before = ["/parent-stack"]`,
		}, below: "/stacks", want: "stacks/b, stacks/a"},
		{line: "A-51", tree: nodes("test tests"), below: "/test", want: "test"},
		{line: "A-52", tree: []string{`a tags = ["dev"]`, `b tags = ["prod"]; after = ["../a"]`}, tags: []string{"prod"}, want: "b"},
		{line: "A-53", tree: []string{
			`x tags = ["a", "b"]`, `y tags = ["a", "b", "c"]`, `z tags = ["a"]`,
		}, tags: []string{"a:b"}, noTags: []string{"c"}, want: "x"},
		{line: "A-54", tree: []string{`s wants = ["../x"]`, `x wants = ["/a"]`, `a`, `b`}, changed: "s", want: "a, s, x"},
		{
			line:   "A-55",
			tree:   []string{`s wanted_by = ["../x"]; tags = ["no"]`, `x tags = ["yes"]`},
			tags:   []string{"yes"},
			noTags: []string{"no"},
			want:   "s, x",
		},
		{line: "A-55 outside of the working directory", tree: []string{`s wanted_by = ["/in/x"]`, `in/x`}, below: "/in", want: "in/x, s"},
		{line: "A-56", tree: []string{`s1 wanted_by = ["../s2"]`, `s2 wanted_by = ["../s1"]`}, changed: "s2", want: "s1, s2"},
		{
			line:    "A-54 all of a directory",
			tree:    []string{`p`, `p/a wants = [".."]`, `p/a/deep`, `p/b wants = [".."]`, `p/c`, `q`},
			changed: "p/a",
			want:    "p, p/a, p/b, p/c, p/a/deep",
		},
		{line: "A-54 tags without what is below", tree: []string{`a wants = ["tag:x"]`, `m tags = ["x"]`, `m/below`}, changed: "a", want: "a, m"},
		{
			line:    "A-55 all of a directory",
			tree:    []string{`p`, `p/a wanted_by = [".."]`, `p/b wanted_by = [".."]`, `p/c`, `q`},
			changed: "p/c",
			want:    "p/a, p/b, p/c",
		},
		{
			line:    "A-55 tags with what is below",
			tree:    []string{`a wanted_by = ["tag:x"]`, `m tags = ["x"]`, `m/below`},
			changed: "m/below",
			want:    "a, m/below",
		},

		{line: "A-61", tree: []string{`p/c after = [".."]`, `p/a`, `p/z`, `p/c/below`}, want: "p/a, p/z, p/c, p/c/below"},
		{line: "A-61 parent is a stack", tree: []string{`p`, `p/c after = ["/p"]`, `p/z`}, want: "p, p/z, p/c"},
		{line: "A-61 several children", tree: []string{`p`, `p/a after = [".."]`, `p/b after = ["/p"]`, `p/z`}, want: "p, p/z, p/a, p/b"},
	} {
		t.Run(test.line, func(t *testing.T) {
			roots := []string{writeTree(t, test.tree...)}
			if root, ok := writeDocumented(t, test.tree...); ok {
				roots = append(roots, root)
			}
			for _, root := range roots {
				tree, g, diags := load(t, root)
				if warned := test.line == "A-56"; diags.HasErrors() || warned != (len(diags) > 0) {
					t.Fatal(diags)
				}
				filter := Filter{Below: test.below, TagFilter: tagquery.TagFilter{Tags: query(t, test.tags...), NoTags: query(t, test.noTags...)}}
				if test.changed != "" {
					filter.Changed = selectionOf(t, tree, test.changed)
				}
				if got := sequence(g, tree.Select(filter).Selection); got != test.want {
					t.Errorf("sequence: %s, want %s", got, test.want)
				}
			}
		})
	}
}

// selectionOf selects stacks by their paths without the slash at the beginning.
func selectionOf(t testing.TB, tree *Tree, names string) order.Selection {
	t.Helper()
	selection := make(order.Selection, len(tree.Stacks))
	for name := range strings.FieldsSeq(names) {
		i, ok := tree.Index("/" + name)
		if !ok {
			t.Fatalf("no stack %s", name)
		}
		selection[i] = true
	}
	return selection
}

// Line A-10: a stack that reads values of another is not ordered by that.
func TestOrderA10(t *testing.T) {
	root := writeTree(t, "a", "b")
	writeFile(t, root, "a/main.tf", `data "terraform_remote_state" "b" { backend = "local" }`+"\n")
	_, g, diags := load(t, root)
	if len(diags) > 0 || len(g.Edges()) > 0 {
		t.Errorf("edges %v, diagnostics %v; want none", g.Edges(), diags)
	}
}

// The lines of system A whose result is a diagnostic.
func TestOrderADiagnostics(t *testing.T) {
	for _, test := range []struct {
		line   string
		tree   []string
		want   []string
		detail string // part of the first detail
	}{
		{
			line:   "A-03 number",
			tree:   []string{`a after = ["../b", 5]`, `b`},
			want:   []string{"order/not-a-set a/stack.tm.hcl:2:20"},
			detail: "a number",
		},
		{
			line:   "A-03 object",
			tree:   []string{`a before = [{ x = 1 }]`},
			want:   []string{"order/not-a-set a/stack.tm.hcl:2:13"},
			detail: "an object",
		},
		{line: "A-03 no set", tree: []string{`a before = "../b"`, `b`}, want: []string{"order/not-a-set a/stack.tm.hcl:2:12"}},
		{
			line: "A-17", tree: []string{`a after = ["../c"]`, `b after = ["../a"]`, `c after = ["../b"]`},
			want: []string{"order/cycle b/stack.tm.hcl:2:12"}, detail: "/a → /b → /c → /a",
		},
		{
			line: "A-18", tree: []string{`a before = ["../b"]; after = ["../b"]`, `b`},
			want: []string{"order/conflict a/stack.tm.hcl:3:12"}, detail: "run before /b",
		},
		{
			line: "A-18 by a directory", tree: []string{`a before = ["/d/b"]; after = ["/d"]`, `d/b`, `d/c`},
			want: []string{"order/conflict a/stack.tm.hcl:3:12"}, detail: "run before /d/b",
		},
		{
			line:   "A-38 child",
			tree:   []string{`p`, `p/c before = [".."]`},
			want:   []string{"order/cycle p/c/stack.tm.hcl:1:1"},
			detail: "/p → /p/c → /p",
		},
		{
			line:   "A-38 parent",
			tree:   []string{`p after = ["c"]`, `p/c`},
			want:   []string{"order/cycle p/c/stack.tm.hcl:1:1"},
			detail: "/p → /p/c → /p",
		},
		{
			line:   "A-42",
			tree:   []string{`stack-a after = ["../nowhere"]`},
			want:   []string{"order/bad-path stack-a/stack.tm.hcl:2:12"},
			detail: "Stack /stack-a references an invalid path (../nowhere) in the 'after' attribute",
		},
		{
			line:   "A-42 file",
			tree:   []string{`stack-a before = ["/stack-a/stack.tm.hcl"]`},
			want:   []string{"order/bad-path stack-a/stack.tm.hcl:2:13"},
			detail: "references an invalid path (/stack-a/stack.tm.hcl) in the 'before' attribute",
		},
		{line: "A-43 dot", tree: []string{`a after = ["."]`}, want: []string{"order/self a/stack.tm.hcl:2:12"}, detail: "/a → /a"},
		{line: "A-43 name", tree: []string{`stack-a before = ["../stack-a"]`}, want: []string{"order/self stack-a/stack.tm.hcl:2:13"}},
		{
			line:   "A-45",
			tree:   []string{`a after = ["tag:_bad"]`},
			want:   []string{"order/bad-tag-query a/stack.tm.hcl:2:12"},
			detail: `"_bad" is not a tag`,
		},
		{
			line:   "A-45 empty",
			tree:   []string{`a after = ["tag:x,"]`},
			want:   []string{"order/bad-tag-query a/stack.tm.hcl:2:12"},
			detail: "a tag is missing",
		},
		{line: "A-45 tag of a stack", tree: []string{`a tags = ["x:y"]`}, want: []string{"order/bad-tag-query a/stack.tm.hcl:2:11"}},
		{
			line:   "outside",
			tree:   []string{`a after = ["../../etc"]`},
			want:   []string{"order/bad-path a/stack.tm.hcl:2:12"},
			detail: "not below the root",
		},
		{
			line:   "outside, absolute",
			tree:   []string{`a after = ["/../etc"]`},
			want:   []string{"order/bad-path a/stack.tm.hcl:2:12"},
			detail: "not below the root",
		},
		{
			line:   "unknown key",
			tree:   []string{`a afer = ["../b"]`},
			want:   []string{"order/unknown-key a/stack.tm.hcl:2:3"},
			detail: `no argument "afer"`,
		},
		{line: "syntax", tree: []string{`a after = [`}, want: []string{"order/syntax a/stack.tm.hcl:3:1"}},
		{
			line:   "same ID",
			tree:   []string{`a id = "X"`, `b id = "x"`},
			want:   []string{"order/duplicate-id b/stack.tm.hcl:1:1"},
			detail: "/a and /b",
		},
	} {
		t.Run(test.line, func(t *testing.T) {
			root := writeTree(t, test.tree...)
			_, _, diags := load(t, root)
			if diff := cmp.Diff(test.want, problems(root, diags)); diff != "" {
				t.Fatalf("diagnostics (-want +got):\n%s\n%v", diff, diags)
			}
			if !strings.Contains(diags[0].Detail, test.detail) {
				t.Errorf("detail %q, want %q in it", diags[0].Detail, test.detail)
			}
		})
	}
}

// Line A-42: the run goes on.
func TestOrderA42GoesOn(t *testing.T) {
	_, g, diags := load(t, writeTree(t, `stack-a after = ["../nowhere"]`, "b"))
	if diags.HasErrors() || sequence(g, nil) != "b, stack-a" {
		t.Errorf("got %v, want a warning and the sequence b, stack-a", diags)
	}
}

func TestOrderA21OfANewerVersion(t *testing.T) {
	for _, text := range []string{">= 0.18", "~> 0.18.0", "0.99.1", ">= 0.1, >= 1.0, < 3"} {
		root := t.TempDir()
		writeFile(t, root, "a.tm.hcl", fmt.Sprintf("terramate {\n  required_version = %q\n}\nstack {}\n", text))
		tree, diags := Load(root)
		if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || problem.CodeOf(diags[0]) != problem.Version ||
			!strings.Contains(diags[0].Detail, text) || !strings.Contains(diags[0].Detail, TerramateVersion) {
			t.Errorf("%s: got %v, want a warning with both versions", text, diags)
		}
		if len(tree.Stacks) != 1 {
			t.Errorf("%s: %d stacks, want 1", text, len(tree.Stacks))
		}
	}
}

// Stacks that want each other, or are wanted by each other, can be selected, and are warned of.
func TestOrderA54A56Circular(t *testing.T) {
	for name, test := range map[string]struct {
		tree []string
		want string // in the detail; "" for no warning
	}{
		"wants":          {[]string{`s1 wants = ["../s2"]`, `s2 wants = ["../s3"]`, `s3 wants = ["../s1"]`}, "/s1 → /s2 → /s3 → /s1 ("},
		"wanted_by":      {[]string{`s1 wanted_by = ["../s2"]`, `s2 wanted_by = ["../s1"]`}, "/s1 → /s2 → /s1 ("},
		"both":           {[]string{`s1 wants = ["../s2"]; wanted_by = ["../s2"]`, `s2`}, "/s1 → /s2 → /s1 ("},
		"tags":           {[]string{`s1 wants = ["tag:x"]; tags = ["x"]`, `s2 wants = ["../s1"]; tags = ["x"]`}, "/s1 → /s2 → /s1 ("},
		"the same twice": {[]string{`s1 wants = ["../s2"]`, `s2 wanted_by = ["../s1"]`}, ""},
		"a directory":    {[]string{`p/a wants = [".."]`, `p/b wants = [".."]`}, ""},
		"itself":         {[]string{`p wants = ["."]`}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, diags := Load(writeTree(t, test.tree...))
			if test.want == "" {
				if len(diags) > 0 {
					t.Error(diags)
				}
				return
			}
			if len(diags) != 1 || diags[0].Severity != hcl.DiagWarning || diags[0].Subject == nil || !strings.Contains(diags[0].Detail, test.want) {
				t.Errorf("got %v, want a warning with a place and %q", diags, test.want)
			}
		})
	}
}

func TestOrderA21(t *testing.T) {
	// Files that require older versions are read all the same, and so are examples.
	warned := map[string]bool{
		"terramate ~> 0.4.0": true, "terramate < 0.17": true, "terrastack < 1": true, "terrastack <version>": true,
		"terramate <version>": true,
	}
	for constraint, ok := range map[string]bool{
		"terrastack ~> 1.0":         true,
		"terrastack ~> 2.0":         false,
		"terrastack x":              false,
		"terramate ~> 0.4":          true,
		"terramate ~> 0.4.0":        false,
		"terramate >= 0.1, < 1":     true,
		"terramate >= 0.16":         true,
		"terramate ~> 0.17.0":       true,
		"terrastack < 1":            false,
		"terrastack <version>":      false,
		"terramate <version>":       false,
		"terramate < 0.17":          false,
		"terramate != 0.17.0":       false,
		"terramate >= 0.18, < 0.16": false,
	} {
		t.Run(constraint, func(t *testing.T) {
			kind, text, _ := strings.Cut(constraint, " ")
			file := map[string]string{"terrastack": "terrastack.tsk.hcl", "terramate": "terramate.tm.hcl"}[kind]
			root := t.TempDir()
			writeFile(t, root, file, fmt.Sprintf("%s {\n  required_version = %q\n}\n", kind, text))
			_, diags := Load(root)
			var want []string
			if !ok {
				want = []string{"order/version " + file + ":2:22"}
			}
			if diff := cmp.Diff(want, problems(root, diags)); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			running := map[string]string{"terrastack": TerrastackVersion, "terramate": TerramateVersion}[kind]
			if isWarning := len(diags) == 1 && diags[0].Severity == hcl.DiagWarning; isWarning != warned[constraint] {
				t.Errorf("got %v, warning: want %t", diags, warned[constraint])
			}
			if !ok && text != "x" && text != "<version>" &&
				(!strings.Contains(diags[0].Detail, running) || !strings.Contains(diags[0].Detail, file) ||
					!strings.Contains(diags[0].Detail, text)) {
				t.Errorf("detail %q names not all of %s, %s and %s", diags[0].Detail, file, text, running)
			}
		})
	}
}

// Section 3.1: the directories that are stacks.
func TestWhatIsAStack(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"a/terrastack.tsk.hcl":        "terrastack {\n  required_version = \"~> 1.0\"\n}\n",
		"b/other.tsk.hcl":             "terrastack {}\nstack {\n  after = [\"../d\"]\n}\n",
		"c/x.tm":                      "stack {}\n",
		"d/y.tm.hcl":                  "globals {\n  x = global.y\n}\nstack {\n  name = tm_upper(\"d\")\n  after = [\"../a\"]\n}\n",
		"none/terramate.tm.hcl":       "terramate {\n  config {}\n}\n",
		"none/main.tf":                "",
		"skipped/.tmskip":             "",
		"skipped/x/stack.tm":          "stack {}\n",
		".hidden/stack.tm":            "stack {}\n",
		"own/main.tfcomponent.hcl":    "stack \"part\" {\n  source = \"./part\"\n}\n",
		"own/part/p.tfcomponent.hcl":  "",
		"both/main.tfcomponent.hcl":   "stack \"part\" {\n  source = \"./part\"\n}\n",
		"both/part/p.tfcomponent.hcl": "",
		"both/part/stack.tm":          "stack {}\n",
	} {
		writeFile(t, root, name, content)
	}
	tree, g, diags := load(t, root)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var paths []string
	for _, stack := range tree.Stacks {
		paths = append(paths, stack.Path)
	}
	if got, want := strings.Join(paths, " "), "/a /b /both /both/part /c /d /own"; got != want {
		t.Errorf("stacks: %s, want %s", got, want)
	}
	if got, want := sequence(g, nil), "a, both, c, own, d, both/part, b"; got != want {
		t.Errorf("sequence: %s, want %s", got, want)
	}
}

func TestTwoStackBlocks(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "a/1.tm", "stack {}\n")
	writeFile(t, root, "a/2.tsk.hcl", "stack {}\n")
	_, _, diags := load(t, root)
	if diff := cmp.Diff([]string{"order/duplicate-id a/2.tsk.hcl:1:1"}, problems(root, diags)); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

func TestHostileFiles(t *testing.T) {
	root := t.TempDir()
	writeFile(t, root, "large/stack.tm", "stack {}\n"+strings.Repeat("#", hclsource.MaxSize))
	testenv.Symlink(t, "/dev/zero", filepath.Join(root, "endless.tm"))
	testenv.Symlink(t, root, filepath.Join(root, "loop"))
	_, _, diags := load(t, root)
	got := problems(root, diags)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"order/bad-path endless.tm:0:0", "order/syntax large/stack.tm:0:0"}, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

// Entries that mean thousands of stacks each, thousands of times, are an error, found in seconds.
func TestEntriesForTooMuch(t *testing.T) {
	var entries []string
	for i := range 100 {
		entries = append(entries, fmt.Sprintf(`"tag:x,y%d"`, i))
	}
	root := t.TempDir()
	for i := range 150 {
		writeFile(t, root, fmt.Sprintf("s%d/stack.tm", i), "stack {\n  tags = [\"x\"]\n  after = ["+strings.Join(entries, ", ")+"]\n}\n")
	}
	_, diags := Load(root)
	if want := "Too many stacks referenced"; len(diags) != 1 || diags[0].Summary != want {
		t.Errorf("%v, want %s", diags, want)
	}
}
