// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package workcopy

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

func loadTree(t testing.TB, files map[string]string) *module.Tree {
	t.Helper()
	base := t.TempDir()
	for name, content := range files {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: base}).Load(filepath.Join(base, "m"))
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	return tree
}

// rewrite rewrites the only file of a module in which v and w are latched.
func rewrite(t *testing.T, name, source string) (outer, inner string, r *rewriter) {
	t.Helper()
	tree := loadTree(t, map[string]string{"m/" + name: source})
	r = &rewriter{latched: map[string]bool{"v": true, "w": true}, timestamp: time.Unix(0, 0), dir: "/m${x}"}
	file := tree.Root.Files[0]
	var out, in *edited
	if body, native := file.Native(); native {
		out, in = r.native(file, body, true)
	} else {
		var err error
		if out, in, err = r.json(file, true); err != nil {
			t.Fatal(err)
		}
	}
	if in != nil {
		inner = string(in.content)
	}
	return string(out.content), inner, r
}

// absolute is the replacement of an argument of abspath.
func absolute(argument string) string {
	return "[for __stack_path in [" + argument +
		"]: substr(__stack_path, 0, 1) == \"/\" ? __stack_path : join(\"\", [\"/m$${x}/\", __stack_path])][0]"
}

func TestRewriteReferences(t *testing.T) {
	const v, w = "module.__stack_in.v", "module.__stack_in.w"
	tests := map[string]struct{ source, want string }{
		"plain":          {"locals {\n  a = var.v\n}", "locals {\n  a = " + v + "\n}"},
		"other variable": {"locals {\n  a = var.other\n}", "locals {\n  a = var.other\n}"},
		"longer name":    {"locals {\n  a = var.vv\n}", "locals {\n  a = var.vv\n}"},
		"path":           {"locals {\n  a = var.v[0].x[*].y + var.w[var.v]\n}", "locals {\n  a = " + v + "[0].x[*].y + " + w + "[" + v + "]\n}"},
		"templates": {"locals {\n  a = \"${var.v}-%{if var.w}x%{endif}\"\n}", "locals {\n  a = \"${" + v + "}-%{if " + w +
			"}x%{endif}\"\n}"},
		"heredoc":         {"locals {\n  a = <<-E\n    ${var.v}\n  E\n}", "locals {\n  a = <<-E\n    ${" + v + "}\n  E\n}"},
		"not a reference": {"locals {\n  a = \"var.v\" # var.v\n}", "locals {\n  a = \"var.v\" # var.v\n}"},
		"for":             {"locals {\n  a = [for x in var.v : x if var.w]\n}", "locals {\n  a = [for x in " + v + " : x if " + w + "]\n}"},
		"shadowed":        {"locals {\n  a = [for var in var.v : var.w]\n}", "locals {\n  a = [for var in " + v + " : var.w]\n}"},
		"object key":      {"locals {\n  a = { (var.v) = 1, var = 2 }\n}", "locals {\n  a = { (" + v + ") = 1, var = 2 }\n}"},
		"blocks": {
			"resource \"t\" \"n\" {\n  b {\n    depends_on = [var.v]\n  }\n}",
			"resource \"t\" \"n\" {\n  b {\n    depends_on = [" + v + "]\n  }\n}",
		},
		"spaces":         {"locals {\n  a = var . v\n}", "locals {\n  a = " + v + "\n}"},
		"plan timestamp": {"locals {\n  a = f(plantimestamp())\n}", "locals {\n  a = f(\"1970-01-01T00:00:00Z\")\n}"},
		"absolute path":  {"locals {\n  a = abspath(var.v)\n}", "locals {\n  a = abspath(" + absolute(v) + ")\n}"},
		"twice absolute": {"locals {\n  a = abspath(core::abspath(\"x\"))\n}", "locals {\n  a = abspath(" +
			absolute("core::abspath("+absolute("\"x\"")+")") + ")\n}"},
		"variable": {"variable \"v\" {\n  type = string\n}\nlocals {}", "              \n               \n \nlocals {}"},
		"backend":  {"terraform {\n  backend \"s3\" {\n    a = var.v\n  }\n}", "terraform {\n                \n             \n   \n}"},
		"store":    {"terraform {\n  state_store \"s\" {}\n}", "terraform {\n                    \n}"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, _ := rewrite(t, "a.tf", test.source)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("rewritten (-want +got):\n%s", diff)
			}
		})
	}
}

var spaces = regexp.MustCompile(` +`)

func TestRewriteJSON(t *testing.T) {
	const v = "module.__stack_in.v"
	tests := map[string]struct{ source, want string }{
		"plain":          {`{"locals": {"a": "${var.v}"}}`, `{"locals": {"a": "${` + v + `}"}}`},
		"escapes before": {`{"locals": {"a": "\"\u00e9\n${var.v}"}}`, `{"locals": {"a": "\"é\n${` + v + `}"}}`},
		"no template":    {`{"locals": {"a": "var.v"}}`, `{"locals": {"a": "var.v"}}`},
		"property name":  {`{"locals": {"a": {"${var.v}": 1}}}`, `{"locals": {"a": {"${` + v + `}": 1}}}`},
		"depends_on":     {`{"output": {"o": {"depends_on": ["var.v"]}}}`, `{"output": {"o": {"depends_on": ["` + v + `"]}}}`},
		"variables":      {`{"variable": {"a": {}, "v": {"default": "${x}"}, "b": {}}}`, `{"variable": {"a": {}, "b": {}}}`},
		"last variables": {`{"variable": {"a": {}, "v": {}, "w": {}}}`, `{"variable": {"a": {} }}`},
		"only variables": {`{"locals": {}, "variable": {"v": {}, "w": {}}}`, `{"locals": {} }`},
		"backend":        {`{"terraform": {"backend": {"s3": {}}, "required_version": "1"}}`, `{"terraform": { "required_version": "1"}}`},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			got, _, _ := rewrite(t, "a.tf.json", test.source)
			if diff := cmp.Diff(test.want, spaces.ReplaceAllString(got, " ")); diff != "" {
				t.Errorf("rewritten (-want +got):\n%s", diff)
			}
			if !json.Valid([]byte(got)) {
				t.Error("the result is not JSON")
			}
		})
	}
}

func TestMovedVariablesKeepTheirLines(t *testing.T) {
	_, inner, r := rewrite(t, "a.tf", `
locals {}
variable "v" {
  validation {
    condition     = var.v > 0
    error_message = "m"
  }
  validation {
    condition     = var.v < local.max && var.w
    error_message = "must be < ${local.max}"
  }
}
variable "other" {}
`)
	want := "\n         \nvariable \"v\" {\n  validation {\n    condition     = var.v > 0\n    error_message = \"m\"\n  }\n"
	if !strings.HasPrefix(inner, want) || strings.Contains(inner, "local.max") || strings.Contains(inner, "other") {
		t.Errorf("moved: got %q", inner)
	}
	rules := []validation{{
		"v", "${module.__stack_in.v < local.max && module.__stack_in.w}", "${\"must be < ${local.max}\"}",
	}}
	if diff := cmp.Diff(rules, r.validations, cmp.AllowUnexported(validation{})); diff != "" {
		t.Errorf("rules that stay (-want +got):\n%s", diff)
	}

	_, inner, r = rewrite(t, "a.tf.json", `{
  "variable": {
    "v": {
      "validation": [
        {"condition": "${var.v > 0}", "error_message": "m"},
        {"condition": "${var.v < local.max}", "error_message": "below ${local.max}"}
      ]
    }
  }
}`)
	if at := strings.Index(inner, `"v"`); strings.Count(inner[:at], "\n") != 2 || strings.Contains(inner, "local.max") ||
		!json.Valid([]byte(inner)) {
		t.Errorf("moved: got %q", inner)
	}
	rules = []validation{{"v", "${module.__stack_in.v < local.max}", "below ${local.max}"}}
	if diff := cmp.Diff(rules, r.validations, cmp.AllowUnexported(validation{})); diff != "" {
		t.Errorf("rules that stay (-want +got):\n%s", diff)
	}
}

// Rule W1.
func TestPositionsMapBack(t *testing.T) {
	source := []byte("é var.v + var.w\nnext var.v end")
	edits := []edit{{3, 8, "module.x.v"}, {11, 16, "module.x.w"}, {22, 27, "module.x.v"}}
	file := newEdited("a.tf", source, source, edits)
	for _, text := range []string{"é", "+", "next", "end"} {
		offset := bytes.Index(file.content, []byte(text))
		want := positionOf(source, bytes.Index(source, []byte(text)))
		if got := file.position(offset); got != want {
			t.Errorf("position of %q: got %v, want %v", text, got, want)
		}
	}
	inside := bytes.Index(file.content, []byte("x.w"))
	if got := file.position(inside); got.Line != 1 || got.Byte < 11 || got.Byte > 16 {
		t.Errorf("position inside of what was replaced: got %v", got)
	}
	if got := positionOf(source, 3); got.Column != 3 {
		t.Errorf("columns count characters: got %v", got)
	}
}

// FuzzRewriteNative checks that a parsable text can be parsed after rewriting, has the same lines,
// and mentions no latched variable any more.
func FuzzRewriteNative(f *testing.F) {
	f.Add("locals {\n  a = \"${var.v}\"\n}\nvariable \"v\" {\n  default = <<E\nx\nE\n}\n")
	f.Add("a = [for var in var.v : var.v]\nb { c = plantimestamp() }")
	f.Add("a = abspath(abspath(var.v))\nvariable \"v\" {\n  b = abspath(<<E\nx\nE\n)\n}")
	f.Fuzz(func(t *testing.T, source string) {
		parsed, diags := hclsyntax.ParseConfig([]byte(source), "a.tf", hcl.InitialPos)
		if diags.HasErrors() {
			t.Skip()
		}
		file := &module.File{Name: "a.tf", Display: "a.tf", Source: []byte(source), File: parsed}
		body, _ := file.Native()
		r := &rewriter{latched: map[string]bool{"v": true}, dir: "/m"}
		outer, inner := r.native(file, body, true)
		for _, out := range []*edited{outer, inner} {
			if out == nil {
				continue
			}
			again, diags := hclsyntax.ParseConfig(out.content, "a.tf", hcl.InitialPos)
			if diags.HasErrors() {
				t.Fatalf("rewritten: %v\n%s", diags, out.content)
			}
			if out == inner {
				continue
			}
			for _, ref := range walk(again.Body.(*hclsyntax.Body)).references {
				if ref.name == "v" {
					t.Errorf("still has var.v:\n%s", out.content)
				}
			}
		}
	})
}

func TestExpressions(t *testing.T) {
	str := cty.StringVal
	const ref = "data.terraform_remote_state.__stack_in.outputs.x_0"
	tests := map[string]struct {
		value cty.Value
		exact bool
		want  string
	}{
		"literal":        {str("${a} %{b} \"\n"), false, `"$${a} %%{b} \"\n"`},
		"null":           {cty.NullVal(cty.String), false, "null"},
		"unknown":        {cty.UnknownVal(cty.String), false, "tostring(" + ref + ")"},
		"not null":       {cty.UnknownVal(cty.String).RefineNotNull(), false, `join("", [` + ref + `])`},
		"prefix":         {cty.UnknownVal(cty.String).Refine().NotNull().StringPrefixFull("a${$").NewValue(), false, `"a$${${` + ref + `}"`},
		"sensitive":      {str("a").Mark(marks.Sensitive), false, `sensitive("a")`},
		"sensitive part": {cty.TupleVal([]cty.Value{str("a").Mark(marks.Sensitive), cty.True}), false, `[sensitive("a"), true]`},
		"object": {cty.ObjectVal(map[string]cty.Value{"b": cty.Zero, "a c": cty.UnknownVal(cty.Bool)}), false, `{"a c" = tobool(` + ref +
			`), "b" = 0}`},
		"list":         {cty.ListVal([]cty.Value{str("a")}), false, `["a"]`},
		"exact list":   {cty.ListVal([]cty.Value{str("a")}), true, `tolist(["a"])`},
		"exact set":    {cty.SetVal([]cty.Value{str("a")}), true, `toset(["a"])`},
		"exact map":    {cty.MapVal(map[string]cty.Value{"a": cty.True}), true, `tomap({"a" = true})`},
		"set":          {cty.SetVal([]cty.Value{str("a"), cty.UnknownVal(cty.String)}), false, ref},
		"unknown list": {cty.UnknownVal(cty.List(cty.String)).RefineNotNull(), false, ref},
		"unknown object": {
			cty.UnknownVal(cty.Object(map[string]cty.Type{"a": cty.Number})).RefineNotNull(), false, `{"a" = tonumber(` + ref + `)}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var leaves []Leaf
			got := constructor{input: "x", exact: test.exact, leaves: &leaves}.expression(test.value, nil)
			if got != test.want {
				t.Errorf("got %s, want %s", got, test.want)
			}
			if _, diags := hclsyntax.ParseExpression([]byte(got), "", hcl.InitialPos); diags.HasErrors() {
				t.Error(diags)
			}
		})
	}
}

func TestShapeRoundTrip(t *testing.T) {
	shape := Shape{
		Latched: []string{"x"},
		Leaves: []Leaf{{
			Output: "x_0", Input: "x", Prefix: "p", NotNull: true,
			Path: cty.GetAttrPath("a").IndexInt(3).IndexString("k"),
		}},
		Ephemeral:        []string{"e"},
		EphemeralWrapped: []string{"f"},
		Providers:        []ProviderLeaf{{Variable: "p0", Path: cty.GetAttrPath("region"), Unknown: true}},
	}
	shape.Providers[0].Slot.LocalName = "aws"
	data, err := json.Marshal(shape)
	if err != nil {
		t.Fatal(err)
	}
	var got Shape
	if err := json.Unmarshal(data, &got); err != nil {
		t.Fatal(err)
	}
	equalPaths := cmp.Comparer(func(a, b cty.Path) bool { return a.Equals(b) })
	if diff := cmp.Diff(shape, got, equalPaths); diff != "" {
		t.Errorf("stored and read (-want +got):\n%s", diff)
	}
}

func TestLayoutReachesWhatIsNamed(t *testing.T) {
	files := map[string]string{
		"m/main.tf": `module "c" { source = "./c" }`, "m/c/a.tf": "", "m/data/x": "", "m/terraform.tfvars": "", "sibling/y": "",
	}
	tests := map[string]struct {
		more   map[string]string
		inputs map[string]cty.Value
		root   string
	}{
		"only the module":           {nil, nil, "."},
		"a sibling":                 {map[string]string{"m/c/b.tf": `locals { f = file("${path.module}/../../sibling/y") }`}, nil, "m"},
		"an ellipsis is not a path": {map[string]string{"m/b.tf": `locals { f = max([1]...) }`}, nil, "."},
		"named by an input":         {nil, map[string]cty.Value{"f": cty.ListVal([]cty.Value{cty.StringVal("../sibling/y")})}, "m"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			all := map[string]string{}
			for _, some := range []map[string]string{files, test.more} {
				for name, content := range some {
					all[name] = content
				}
			}
			tree := loadTree(t, all)
			layout, err := NewLayout(tree, test.inputs, "")
			if err != nil {
				t.Fatal(err)
			}
			if layout.Root != test.root {
				t.Fatalf("Root: got %q, want %q", layout.Root, test.root)
			}
			dir := filepath.Join(t.TempDir(), "tree")
			if err := layout.build(dir, func(string) bool { return false }); err != nil {
				t.Fatal(err)
			}
			for _, name := range []string{"main.tf", "c/a.tf", "data/x"} {
				if _, err := os.Stat(filepath.Join(dir, layout.Root, name)); err != nil {
					t.Error(err)
				}
			}
			if _, err := os.Lstat(filepath.Join(dir, layout.Root, "terraform.tfvars")); !os.IsNotExist(err) {
				t.Errorf("terraform.tfvars is part of the copy: %v", err)
			}
			if info, err := os.Lstat(filepath.Join(dir, layout.Root, "data")); err != nil || !info.IsDir() {
				t.Errorf("data is not a real directory: %v, %v", info, err)
			}
			_, err = os.Stat(filepath.Join(dir, "sibling", "y"))
			if reached := err == nil; reached != (test.root == "m") {
				t.Errorf("sibling/y is there: %v", reached)
			}
		})
	}
}

func TestLayoutHashFollowsContent(t *testing.T) {
	tree := loadTree(t, map[string]string{"m/main.tf": "", "m/t.txt": "one"})
	state := func() (string, string) {
		layout, err := NewLayout(tree, nil, "")
		if err != nil {
			t.Fatal(err)
		}
		fingerprint, err := layout.Fingerprint()
		if err != nil {
			t.Fatal(err)
		}
		hash, err := layout.Hash()
		if err != nil {
			t.Fatal(err)
		}
		return fingerprint, hash
	}
	file := filepath.Join(tree.Root.Dir, "t.txt")
	fingerprint, hash := state()
	if err := os.Chtimes(file, time.Unix(1, 0), time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	touched, same := state()
	if touched == fingerprint || same != hash {
		t.Error("touching a file: want another fingerprint and the same hash")
	}
	if err := os.WriteFile(file, []byte("two"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, other := state(); other == hash {
		t.Error("writing a file: want another hash")
	}
}

func TestMessagesNameNothingGenerated(t *testing.T) {
	c := &Copy{files: map[string]*edited{}, displays: map[string]string{"main.tf": "mod/main.tf"}}
	diags := c.Diagnostics([]diagnostic.Diagnostic{{
		Severity: "error",
		Summary:  "On module.__stack_in.v",
		Detail:   "Checked at .stack-inputs/main.tf:3: module.__stack_in.var.v depends on data.terraform_remote_state.__stack_in.outputs.v_0.",
		Range:    &diagnostic.Range{Filename: "main.tf", Start: diagnostic.Pos{Line: 2, Column: 3, Byte: 4}},
		Snippet:  &diagnostic.Snippet{Values: []diagnostic.Value{{Traversal: "module.__stack_in.v", Statement: "is a string"}}},
	}, {Severity: "warning", Summary: "W"}})
	if len(diags) != 2 || diags[0].Severity != hcl.DiagError || diags[1].Severity != hcl.DiagWarning {
		t.Fatalf("got %v", diags)
	}
	extra, _ := diags[0].Extra.(*engine.DiagnosticData)
	if extra == nil || len(extra.References) != 1 || extra.References[0].Reference != "var.v" {
		t.Errorf("Extra: got %+v", extra)
	}
	text := diags[0].Summary + diags[0].Detail
	if strings.Contains(text, prefix) || strings.Contains(text, latchDir) {
		t.Errorf("got %q", text)
	}
	if at := diags[0].Subject; at == nil || at.Filename != "mod/main.tf" || at.Start != (hcl.Pos{Line: 2, Column: 3, Byte: 4}) {
		t.Errorf("Subject: got %v", at)
	}
}

func TestMessagesAboutGeneratedProvidersAreDropped(t *testing.T) {
	c := &Copy{dropped: true}
	diags := c.Diagnostics([]diagnostic.Diagnostic{
		{Severity: "error", Summary: "Missing token", Address: `provider["registry.terraform.io/cairnstacks/fake"]`},
		{Severity: "error", Summary: "Missing argument", Range: &diagnostic.Range{Filename: generatedFile}},
		{Severity: "error", Summary: "About a resource", Address: "fake_resource.a"},
	})
	if len(diags) != 1 || diags[0].Summary != "About a resource" {
		t.Errorf("got %v, want only what is about the resource", diags)
	}
}

func TestManifestHasAllCalls(t *testing.T) {
	tree := loadTree(t, map[string]string{
		"m/main.tf": `module "c" { source = "../c" }`, "c/a.tf": `module "d" { source = "./d" }`, "c/d/a.tf": "",
	})
	data := Manifest(tree)
	var manifest struct {
		Modules []struct{ Key, Source, Dir string }
	}
	if err := json.Unmarshal(data, &manifest); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, entry := range manifest.Modules {
		got = append(got, entry.Key+"|"+entry.Source+"|"+entry.Dir)
	}
	want := []string{"||.", "__stack_in|./.stack-inputs|.stack-inputs", "c|../c|../c", "c.d|./d|../c/d"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}
