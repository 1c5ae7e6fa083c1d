// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terragrunt

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func writeUnits(t *testing.T, files map[string]string) string {
	t.Helper()
	root := t.TempDir()
	for name, content := range files {
		name = filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// Expressions that could take all time or memory have no known value. The attributes that use them
// are reported.
func TestHostileExpressions(t *testing.T) {
	const ten = "[1,1,1,1,1,1,1,1,1,1]"
	kilobytes := strings.Repeat("x", 60_000)
	for name, locals := range map[string]string{
		"loops":        "a = " + strings.Repeat("[for x in "+ten+" : ", 20) + `"b"` + strings.Repeat("]", 20),
		"templates":    `a = "` + strings.Repeat("%{ for x in "+ten+" }", 20) + strings.Repeat("%{ endfor }", 20) + `"`,
		"number":       `a = "${1e2000}"`,
		"product":      `a = "${1e1000 * 1e1000}"`,
		"doubled":      "b = \"" + kilobytes + "\"\n a = \"" + strings.Repeat("${local.b}", 50) + `"`,
		"many times":   "b = \"" + kilobytes + "\"\n a = \"" + strings.Repeat("${local.b}", 10_000) + `"`,
		"replaced":     "b = \"" + kilobytes + "\"\n a = replace(local.b, \"\", local.b)",
		"by a pattern": "b = \"" + kilobytes + "\"\n a = replace(local.b, \"/(a{1000}|b{1000})*/\", \"\")",
		"repeated":     `a = format("%1000000000s", "x")`,
	} {
		root := writeUnits(t, map[string]string{
			"u/main.tf": "", "u/terragrunt.hcl": "locals {\n " + locals + "\n}\ndependency \"d\" {\n  config_path = local.a\n}\n",
		})
		units, diags := Load(root)
		if diags.HasErrors() || len(units) != 1 || len(units[0].Dependencies) > 0 || len(units[0].Unknown) != 1 {
			t.Errorf("%s: %v, want a unit with a dependency that is not known: %v", name, units, diags)
		}
	}
}

// Many expressions, each of which is none too large, are an error in the end.
func TestTooMuchToEvaluate(t *testing.T) {
	var locals strings.Builder
	fmt.Fprintf(&locals, "locals {\n b = %q\n", strings.Repeat("x", 60_000))
	for i := range 200 {
		fmt.Fprintf(&locals, " a%d = \"%s\"\n", i, strings.Repeat("${local.b}", 90))
	}
	root := writeUnits(t, map[string]string{"u/main.tf": "", "u/terragrunt.hcl": locals.String() + "}\n"})
	_, diags := Load(root)
	if want := "Evaluation too large"; len(diags) != 1 || diags[0].Summary != want || diags[0].Subject.Start.Line < 3 {
		t.Errorf("%v, want %s", diags, want)
	}
}

// A file that all units include is read once.
func TestIncludedByAll(t *testing.T) {
	files := map[string]string{"root.hcl": "locals {\n" + strings.Repeat("# comment\n", 80_000) + "}\n"}
	for i := range 300 {
		files[fmt.Sprintf("u%d/terragrunt.hcl", i)] = "include {\n path = find_in_parent_folders(\"root.hcl\")\n}\n" +
			"terraform {\n source = \".\"\n}\n"
	}
	units, diags := Load(writeUnits(t, files))
	if len(units) != 300 || len(diags) > 0 {
		t.Errorf("%d units, %v", len(units), diags)
	}
}
