// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module_test

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// loadNative loads a module as the native engine does, and returns it with its mistakes: their
// places and first words.
func loadNative(t *testing.T, files map[string]string) (*module.Tree, []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.OptionsOf(engine.Info{Name: toolchain.Native}, dir, nil)).LoadStrict(dir)
	if tree != nil {
		for _, dir := range tree.Directories() {
			diags = append(diags, dir.Unsupported...)
		}
	}
	var said []string
	for _, diag := range diags {
		kind := ""
		if diag.Severity == hcl.DiagWarning {
			kind = "warning: "
		}
		said = append(said, fmt.Sprintf("%s:%d %s%s", diag.Subject.Filename, diag.Subject.Start.Line, kind, diag.Summary))
	}
	slices.Sort(said)
	return tree, said
}

// Rule D7.
func TestSignsOfTofu(t *testing.T) {
	const call = "module \"c\" {\n  source = \"./c\"\n}\n"
	for name, test := range map[string]struct {
		files map[string]string
		want  map[string]string // the sign of each directory that is for tofu
		read  []string          // the files of the root and of the called module
	}{
		"none": {
			map[string]string{"a.tf": call, "c/a.tf": ""}, nil, []string{"a.tf", "a.tf"},
		},
		"a file that hides another one": {
			map[string]string{"a.tf": call, "a.tf.json": "{}", "c/a.tf": "", "c/a.tofu": "", "c/b.tf": "", "c/a.tf.json": "{}"},
			map[string]string{"c": "c/a.tofu:1"},
			[]string{"a.tf", "a.tf.json", "a.tf.json", "a.tofu", "b.tf"},
		},
		"a file in JSON syntax": {
			map[string]string{"a.tofu.json": `{"module": {"c": {"source": "./c"}}}`, "a.tf": "", "a.tf.json": "{", "c/a.tf": ""},
			map[string]string{".": "a.tofu.json:1"},
			[]string{"a.tf", "a.tofu.json", "a.tf"},
		},
		"an override file": {
			map[string]string{"a.tf": call, "b_override.tf": "{", "b_override.tofu": "", "c/a.tf": ""},
			map[string]string{".": "b_override.tofu:1"},
			[]string{"a.tf", "b_override.tofu", "a.tf"},
		},
		"a language block": {
			map[string]string{
				"a.tf": call, "b.tf": "\nlanguage {\n  compatible_with {\n    opentofu = \">= 1.12\"\n  }\n}\n",
				"c/a.tf.json": `{"language": {"compatible_with": {"opentofu": "1.12.1"}}}`,
			},
			map[string]string{".": "b.tf:2", "c": "c/a.tf.json:1"},
			[]string{"a.tf", "b.tf", "a.tf.json"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			tree, said := loadNative(t, test.files)
			if len(said) > 0 {
				t.Fatal(said)
			}
			signs := map[string]string{}
			var read []string
			for _, node := range append([]*module.Node{tree.Root}, tree.Nodes...) {
				if node.Tofu != nil {
					signs[node.Place] = fmt.Sprintf("%s:%d", node.Tofu.Filename, node.Tofu.Start.Line)
				}
				for _, file := range node.Files {
					read = append(read, file.Name)
				}
			}
			if !maps.Equal(signs, test.want) || !slices.Equal(read, test.read) {
				t.Errorf("got %v from %v, want %v from %v", signs, read, test.want, test.read)
			}
		})
	}
}

// The additions of OpenTofu are errors in a directory that is not for it.
func TestAdditionsOfTofu(t *testing.T) {
	const additions = `
terraform {
  encryption {}
}
language {}
output "o" { value = urldecode(core::base64gunzip("")) }
resource "terraform_data" "x" {
  lifecycle {
    enabled = true
  }
}
module "m" {
  source = "./m"
  lifecycle {
    enabled = true
  }
}
`
	const lacking = "a.tf:%d Unsupported module feature"
	var want []string
	for _, line := range []int{15, 3, 5, 6, 6, 9} {
		want = append(want, fmt.Sprintf(lacking, line))
	}
	if _, said := loadNative(t, map[string]string{"a.tf": additions, "m/a.tf": ""}); !cmp.Equal(said, want) {
		t.Errorf("without a sign: %s", cmp.Diff(want, said))
	}
	tree, said := loadNative(t, map[string]string{"a.tf": additions, "b.tofu": "", "m/a.tf": additions[:strings.Index(additions, "module")]})
	want = []string{"a.tf:3 warning: Encryption of a module ignored"}
	for _, line := range []int{3, 5, 6, 6, 9} {
		want = append(want, fmt.Sprintf("m/"+lacking, line))
	}
	if !cmp.Equal(said, want) {
		t.Errorf("with a sign: %s", cmp.Diff(want, said))
	}
	if tree.Root.Calls["m"].Repeat.Enabled == nil {
		t.Error("the argument enabled of the call is lost")
	}
}

// The conditions of mistakes that only OpenTofu's additions can have.
func TestMistakesInAdditions(t *testing.T) {
	for text, want := range map[string]string{
		"resource \"a_b\" \"x\" {\n  count = 1\n  lifecycle {\n    enabled = true\n  }\n}": "a.tofu:2 Both enabled and several " +
			"instances",
		"module \"m\" {\n  source = \"./m\"\n  for_each = {}\n  lifecycle {\n    enabled = true\n  }\n}": "a.tofu:3 Both enabled and several " +
			"instances",
		"module \"m\" {\n  source = \"./m\"\n  lifecycle {\n    destroy = true\n  }\n}": "a.tofu:4 Unsupported argument",
		"module \"m\" {\n  source = \"./m\"\n  lifecycle {}\n  lifecycle {}\n}":         "a.tofu:4 Duplicate nested block",

		"language {\n  version = 1\n}":                                  "a.tofu:2 Unsupported argument",
		"language {\n  compatible_with {\n    opentofu = 1.12\n  }\n}":  "",
		"language {\n  compatible_with {\n    opentofu = \"x\"\n  }\n}": "a.tofu:3 Invalid version constraint",
		"language {\n  compatible_with {\n    other = var.x\n  }\n}":    "",
	} {
		_, said := loadNative(t, map[string]string{"a.tofu": text, "m/a.tf": ""})
		if got := strings.Join(said, ", "); got != want {
			t.Errorf("%s\ngot %q, want %q", text, got, want)
		}
	}
}

// In a directory for OpenTofu, only what OpenTofu reads is a demand, on OpenTofu.
func TestVersionsOfTofu(t *testing.T) {
	demand := func(text string) string { return "terraform {\n  required_version = \"" + text + "\"\n}\n" }
	language := func(text string) string {
		return "language {\n  compatible_with {\n    opentofu = \"" + text + "\"\n  }\n}\n"
	}
	for name, test := range map[string]struct {
		files map[string]string
		want  string
	}{
		"the newest":       {map[string]string{"a.tofu": demand("~> 1.12.3")}, ""},
		"the oldest":       {map[string]string{"a.tofu": demand("1.8.0")}, ""},
		"too old":          {map[string]string{"a.tofu": demand("< 1.8")}, "a.tofu:2 Unsupported OpenTofu version"},
		"too new":          {map[string]string{"a.tofu": demand(">= 1.13")}, "a.tofu:2 Unsupported OpenTofu version"},
		"a language block": {map[string]string{"a.tf": language(">= 1.13")}, "a.tf:3 Unsupported OpenTofu version"},
		"both": {
			map[string]string{"a.tofu": demand("< 1.9"), "b.tf": language("1.12.0")},
			"a.tofu:2 Unsupported OpenTofu version",
		},
		"one for terraform": {map[string]string{"a.tofu": "", "b.tf": demand(">= 2")}, ""},
		"an override":       {map[string]string{"a.tf": language("1.9.0"), "o_override.tofu": demand("1.12.0")}, ""},
		"terraform alone":   {map[string]string{"a.tf": demand(">= 2")}, "a.tf:2 Unsupported Terraform version"},
		"a module for terraform": {
			map[string]string{"a.tofu": "module \"c\" {\n  source = \"./c\"\n}\n", "c/a.tf": demand(">= 2")},
			"c/a.tf:2 Unsupported Terraform version",
		},
		"something newer than terraform": {map[string]string{
			"a.tf":     demand("< 1.12") + "module \"c\" {\n  source = \"./c\"\n}\n",
			"c/a.tofu": "variable \"v\" {\n  default = 1\n  deprecated = \"D\"\n}\n",
		}, ""},
	} {
		if _, said := loadNative(t, test.files); strings.Join(said, ", ") != test.want {
			t.Errorf("%s: got %v, want %q", name, said, test.want)
		}
	}
}
