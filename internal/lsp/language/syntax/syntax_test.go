// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package syntax_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"

	"github.com/cairnstacks/cairn/internal/lsp/language/syntax"
)

var types = []string{"component", "stack", "variable", "output", "locals", "provider", "required_providers", "removed", "moved"}

// describe writes the contents of a body, one thing a line.
func describe(f *syntax.File) string {
	var b strings.Builder
	describeBody(&b, f.Root, "")
	return b.String()
}

func describeBody(b *strings.Builder, body *syntax.Body, indent string) {
	for _, argument := range body.Arguments {
		fmt.Fprintf(b, "%s%s", indent, argument.Name)
		for _, ref := range argument.Value.Refs {
			b.WriteString(" " + refText(ref))
		}
		for _, call := range argument.Value.Calls {
			b.WriteString(" " + call.Name + "()")
		}
		for _, group := range argument.Value.Groups {
			if len(group.Items) > 0 {
				b.WriteString(" {")
				for i, item := range group.Items {
					b.WriteString(strings.Repeat(" ", min(i, 1)) + item.Key)
				}
				b.WriteString("}")
			}
		}
		for _, text := range argument.Value.Strings {
			fmt.Fprintf(b, " %q", text.Text)
		}
		b.WriteString("\n")
	}
	for _, block := range body.Blocks {
		b.WriteString(indent + block.Type)
		for _, label := range block.Labels {
			fmt.Fprintf(b, " %q", label.Text)
		}
		b.WriteString("\n")
		if block.Body != nil {
			describeBody(b, block.Body, indent+"  ")
		}
	}
}

func refText(ref *syntax.Ref) string {
	var b strings.Builder
	for i, step := range ref.Steps {
		switch {
		case step.Kind == syntax.SplatStep:
			b.WriteString("[*]")
		case step.Kind == syntax.IndexStep:
			b.WriteString("[" + step.Name + "]")
		case i == 0:
			b.WriteString(step.Name)
		default:
			b.WriteString("." + step.Name)
		}
	}
	return b.String()
}

func TestParseNative(t *testing.T) {
	for name, test := range map[string]struct{ src, want string }{
		"blocks":                 {"a \"x\" \"y\" {\n b {\n c = 1\n }\n}\n", "a \"x\" \"y\"\n  b\n    c\n"},
		"one line":               {`a { b = var.c }`, "a\n  b var.c\n"},
		"reference":              {`a = component.x["k"].y[0].z`, "a component.x[k].y[].z \"k\"\n"},
		"splats":                 {`a = component.x[*].y + stack.z.*.u`, "a component.x[*].y stack.z[*].u\n"},
		"reference in an index":  {`a = component.x[each.key].y`, "a component.x[].y each.key\n"},
		"last dot":               {"a = component.x.\nb = 1\n", "a component.x.\nb\n"},
		"last dot in a map":      {"a = {\n b = var.\n c = var.d\n}", "a var. var.d {b c}\n"},
		"template":               {`a = "x${var.y}z${local.u}"`, "a var.y local.u\n"},
		"template in a template": {`a = "${"${var.x}"}"`, "a var.x\n"},
		"heredoc":                {"a = <<E\n${var.x}\nE\nb = 1\n", "a var.x\nb\n"},
		"open quote":             {"a {\n b = \"x\n c = var.y\n}\nd \"e\" {}\n", "a\n  b \"x\"\n  c var.y\nd \"e\"\n"},
		"open template":          {"a {\n b = \"${var.x\n c = var.y\n}\nd \"e\" {}\n", "a\n  b var.x\n  c var.y\nd \"e\"\n"},
		"open map": {
			"component \"a\" {\n inputs = {\n  b = var.c\n\ncomponent \"d\" {\n e = 1\n}\n",
			"component \"a\"\n  inputs var.c {b}\ncomponent \"d\"\n  e\n",
		},
		"open call":           {"locals {\n b = upper(var.c\n}\n\nlocals {\n e = 1\n}\n", "locals\n  b var.c upper()\nlocals\n  e\n"},
		"keys":                {`a = { b = 1, "c" = 2, (var.d) = 3, "e${var.f}" = 4, g : 5 }`, "a var.d var.f {b c   g} \"c\"\n"},
		"key with a dot":      {`a = { b.c = provider.d.e }`, "a provider.d.e {b.c}\n"},
		"word without value":  {"a = {\n b\n c = 1\n}", "a {c}\n"},
		"maps in maps":        {`a = { b = { c = var.d } }`, "a var.d {b} {c}\n"},
		"for":                 {`a = [for k, v in var.x : "${k}-${v.id}-${local.y}"]`, "a var.x local.y\n"},
		"for in braces":       {`a = { for v in var.x : v.id => v... if v.ok }`, "a var.x\n"},
		"conditional":         {`a = var.x ? local.y : null`, "a var.x local.y\n"},
		"functions":           {`a = upper(core::lower(provider::aws::f(var.x)))`, "a var.x upper() core::lower() provider::aws::f()\n"},
		"beginning of a name": {`a = provider::aw`, "a provider::aw()\n"},
		"attribute of a call": {`a = f(x).y.z`, "a x f()\n"},
		"comments":            {"a = 1 # b = 2\n// c = 3\n/* d = 4 */ e = 5\n", "a\ne\n"},
		"nothing":             {"", ""},
		"word":                {"comp", ""},
		"word before a block": {"comp\na {}\n", "a\n"},
		"header":              {`component "x"`, "component \"x\"\n"},
		"too many braces":     {"}\n}\na = 1\n", "a\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := describe(syntax.ParseNative("f.hcl", []byte(test.src), types))
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseJSON(t *testing.T) {
	top := syntax.Shape{Blocks: map[string]syntax.Shape{
		"component": {Labels: 1, Static: []string{"depends_on"}},
		"provider":  {Labels: 2, Blocks: map[string]syntax.Shape{"config": {}}},
		"removed":   {},
	}}
	for name, test := range map[string]struct{ src, want string }{
		"blocks": {`{"component": {"a": {"source": "./x"}, "b": {}}}`, "component \"a\"\n  source \"./x\"\ncomponent \"b\"\n"},
		"labels": {`{"provider": {"aws": {"x": {"config": {"y": 1}}}}}`, "provider \"aws\" \"x\"\n  config\n    y\n"},
		"list":   {`{"removed": [{"a": 1}, {"b": true}]}`, "removed\n  a\nremoved\n  b\n"},
		"template": {
			`{"component": {"a": {"inputs": {"b": "x${var.c}y", "d": ["${f(local.e)}"]}}}}`,
			"component \"a\"\n  inputs var.c local.e f() {b d}\n",
		},
		"static":      {`{"component": {"a": {"depends_on": ["component.b"]}}}`, "component \"a\"\n  depends_on component.b \"component.b\"\n"},
		"escapes":     {`{"component": {"a": {"x": "\"${var.b}"}}}`, "component \"a\"\n  x\n"},
		"open":        {`{"component": {"a": {"x": "${component.b.`, "component \"a\"\n  x component.b.\n"},
		"open string": {"{\"component\": {\"a\": {\"x\": \"y\n}}}", "component \"a\"\n  x \"y\"\n"},
		"nothing":     {``, ""},
		"no object":   {`[1]`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			f := syntax.ParseJSON("f.json", []byte(test.src), top)
			if diff := cmp.Diff(test.want, describe(f)); diff != "" {
				t.Error(diff)
			}
			checkRanges(t, f.Root, len(test.src))
		})
	}
}

// FuzzParseJSON checks that ranges are in the file, whatever is in it (rule S3).
func FuzzParseJSON(f *testing.F) {
	top := syntax.Shape{Blocks: map[string]syntax.Shape{"a": {Labels: 1, Static: []string{"c"}}}}
	f.Add(`{"a": {"b": {"c": "d.e", "f": "${g[\"h\"].i}"}}}`)
	f.Fuzz(func(t *testing.T, src string) {
		checkRanges(t, syntax.ParseJSON("f.json", []byte(src), top).Root, len(src))
	})
}

// Files that the HCL parser accepts have the same blocks, arguments and references (rule S1).
func TestParseNativeAgreesWithParser(t *testing.T) {
	compared := 0
	for _, root := range []string{"../../../../examples", "../../../../testdata"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".hcl") && !strings.HasSuffix(path, ".tf") {
				return err
			}
			src, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			if compare(t, path, src) {
				compared++
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if compared < 10 {
		t.Errorf("%d files were compared", compared)
	}
}

// compare reports whether a file could be compared.
func compare(t *testing.T, name string, src []byte) bool {
	t.Helper()
	file, diags := hclsyntax.ParseConfig(src, name, hcl.InitialPos)
	if diags.HasErrors() {
		return false
	}
	want := parsed(file.Body.(*hclsyntax.Body), "")
	got := found(syntax.ParseNative(name, src, types).Root, "")
	slices.Sort(want)
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: %s", name, diff)
	}
	return true
}

// parsed lists the arguments, blocks and references that the parser finds, with places.
func parsed(body *hclsyntax.Body, within string) []string {
	var list []string
	for name, attribute := range body.Attributes {
		list = append(list, fmt.Sprintf("%s%s at %d", within, name, attribute.NameRange.Start.Byte))
		for _, traversal := range attribute.Expr.Variables() {
			if len(traversal) > 1 { // the names of types are references as well
				list = append(list, fmt.Sprintf("%s at %d", traversal.RootName(), traversal.SourceRange().Start.Byte))
			}
		}
	}
	for _, block := range body.Blocks {
		header := fmt.Sprintf("%s%s%q at %d-%d", within, block.Type, block.Labels, block.TypeRange.Start.Byte, block.CloseBraceRange.End.Byte)
		list = append(append(list, header), parsed(block.Body, block.Type+".")...)
	}
	return list
}

// found is the same list by this package.
func found(body *syntax.Body, within string) []string {
	var list []string
	for _, argument := range body.Arguments {
		list = append(list, fmt.Sprintf("%s%s at %d", within, argument.Name, argument.NameRange.Start.Byte))
		for _, ref := range argument.Value.Refs {
			if len(ref.Steps) > 1 {
				list = append(list, fmt.Sprintf("%s at %d", ref.Root(), ref.Range.Start.Byte))
			}
		}
	}
	for _, block := range body.Blocks {
		labels := []string{}
		for _, label := range block.Labels {
			labels = append(labels, label.Text)
		}
		list = append(list, fmt.Sprintf("%s%s%q at %d-%d", within, block.Type, labels, block.TypeRange.Start.Byte, block.Range.End.Byte))
		list = append(list, found(block.Body, block.Type+".")...)
	}
	return list
}

// FuzzParseNative checks that ranges are in the file, whatever its text (rule S3).
func FuzzParseNative(f *testing.F) {
	f.Add("a \"b\" {\n c = \"${d[\"e\"].f}\"\n}\n")
	f.Add("a = {\n b = component.x.\n\ncomponent \"y\" {\n")
	f.Add("a = <<E\n${\nE\n")
	f.Fuzz(func(t *testing.T, src string) {
		if len(src) > 4096 {
			return
		}
		checkRanges(t, syntax.ParseNative("f.hcl", []byte(src), types).Root, len(src))
	})
}

func checkRanges(t *testing.T, body *syntax.Body, size int) {
	inside := func(what string, rng hcl.Range) {
		if rng.Start.Byte < 0 || rng.Start.Byte > rng.End.Byte || rng.End.Byte > size {
			t.Errorf("%s is at %d-%d of %d", what, rng.Start.Byte, rng.End.Byte, size)
		}
	}
	inside("body", body.Range)
	for _, argument := range body.Arguments {
		inside(argument.Name, argument.NameRange)
		inside("value of "+argument.Name, argument.Value.Range)
		for _, ref := range argument.Value.Refs {
			inside("reference", ref.Range)
			for _, step := range ref.Steps {
				inside("step", step.Range)
			}
		}
		for _, group := range argument.Value.Groups {
			inside("group", group.Range)
			for _, item := range group.Items {
				inside("key", item.KeyRange)
				inside("item", item.Value)
			}
		}
		for _, text := range argument.Value.Strings {
			inside("string", text.Range)
		}
	}
	for _, block := range body.Blocks {
		inside(block.Type, block.Range)
		for _, label := range block.Labels {
			inside("label", label.Range)
		}
		if block.Body != nil {
			checkRanges(t, block.Body, size)
		}
	}
}
