// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module_test

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// load loads the root of a tree of files, which are given as NAME and text.
func load(t *testing.T, files map[string]string) (*module.Node, hcl.Diagnostics) {
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
	tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
	if tree == nil {
		return nil, diags
	}
	return tree.Root, diags
}

// loadValid is load for modules without mistakes.
func loadValid(t *testing.T, files map[string]string) *module.Node {
	t.Helper()
	tree, diags := load(t, files)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	return tree
}

// names writes references as they would be written.
func names(found []refs.Reference) string {
	var text []string
	for _, ref := range found {
		text = append(text, ref.Subject.String())
	}
	return strings.Join(text, " ")
}

// Provider requirements may be in a file that is read after the blocks that they are for.
func TestLateRequirements(t *testing.T) {
	tree := loadValid(t, map[string]string{
		"a.tf": "resource \"x_y\" \"r\" {}\nterraform {\n  provider_meta \"x\" {}\n}\naction \"x_z\" \"a\" {}\n",
		"b.tf": "terraform {\n  required_providers {\n    x = { source = \"example.com/me/other\" }\n  }\n}\n",
	})
	for _, resource := range tree.Resources {
		if got, want := resource.ProviderAddr.String(), "example.com/me/other"; got != want {
			t.Errorf("the resource has the provider %s, want %s", got, want)
		}
	}
	if action, meta := tree.Actions["x_z.a"].ProviderAddr, tree.ProviderMeta["x"].Provider; action.Type != "other" || meta.Type != "other" {
		t.Errorf("the action has the provider %s, the metadata are for %s", action, meta)
	}
}

func TestExamples(t *testing.T) {
	loader := module.NewLoader(module.Options{Base: "../.."})
	for _, name := range []string{"app", "database", "network", "worker"} {
		dir := filepath.Join("../../examples/quickstart", name)
		tree, diags := loader.LoadStrict(dir)
		if tree == nil || len(diags) > 0 {
			t.Errorf("Load(%s) = %v, %v", dir, tree, diags)
			continue
		}
		if again, _ := loader.LoadStrict(dir); again != tree {
			t.Errorf("Load(%s) decodes again", dir)
		}
		if len(tree.Root.Resources) == 0 || tree.Root.Path != "." {
			t.Errorf("Load(%s) has the resources %v and the path %q", dir, tree.Root.Resources, tree.Root.Path)
		}
	}
}

func TestBlocks(t *testing.T) {
	tree := loadValid(t, map[string]string{"main.tf": `
		variable "size" {
		  type        = number
		  default     = 3
		  description = "How much."
		  validation {
		    condition     = var.size > local.least
		    error_message = "Too small."
		  }
		}
		locals {
		  least = 1
		  ids   = terraform_data.a[*].id
		}
		resource "terraform_data" "a" {
		  count      = var.size
		  depends_on = [terraform_data.b]
		  input      = { x = local.least, y = path.module }
		  lifecycle {
		    create_before_destroy = true
		    ignore_changes        = [input, triggers_replace[0]]
		    replace_triggered_by  = [terraform_data.b.output]
		    postcondition {
		      condition     = self.id != ""
		      error_message = "No ID."
		    }
		  }
		  connection {
		    host = self.id
		  }
		  provisioner "local-exec" {
		    when       = destroy
		    on_failure = continue
		    command    = self.id
		  }
		}
		resource "terraform_data" "b" {}
		output "ids" {
		  value      = local.ids
		  depends_on = [terraform_data.b]
		}
		moved {
		  from = module.old["k"].terraform_data.x
		  to   = terraform_data.a[0]
		}
		removed {
		  from = terraform_data.gone
		  lifecycle {
		    destroy = false
		  }
		}
		import {
		  to = terraform_data.b
		  id = "b"
		}
		check "healthy" {
		  assert {
		    condition     = length(local.ids) > 0
		    error_message = "None."
		  }
		}
	`})
	a := tree.Resources[stackaddrs.Resource{Type: "terraform_data", Name: "a"}]
	size := tree.Variables["size"]
	moved, removed := tree.Moved[0], tree.Removed[0]
	for _, c := range []struct{ what, got, want string }{
		{"description", size.Description, "How much."},
		{"validation", names(size.Validations[0].Condition.Refs), "var.size local.least"},
		{"local", names(tree.Locals["ids"].Value.Refs), "terraform_data.a"},
		{"count", names(a.Repeat.Count.Refs), "var.size"},
		{"depends_on", names(a.DependsOn), "terraform_data.b"},
		{"body", names(a.Refs), "local.least path.module"},
		{"trigger", names(a.ReplaceTriggeredBy[0].Refs), "terraform_data.b"},
		{"postcondition", names(a.Postconditions[0].Condition.Refs), "self"},
		{"connection", names(a.Connection.Refs), "self"},
		{"provisioner", names(a.Provisioners[0].Refs), "self"},
		{"provider", a.ProviderAddr.String(), "terraform.io/builtin/terraform"},
		{"output", names(tree.Outputs["ids"].Value.Refs), "local.ids"},
		{
			"moved from", moved.From.Module[0].Name + moved.From.Module[0].Key.String() + " " + moved.From.Resource.String(),
			`old["k"] terraform_data.x`,
		},
		{"moved to", moved.To.Resource.String() + moved.To.Key.String(), "terraform_data.a[0]"},
		{"removed", removed.From.Resource.String(), "terraform_data.gone"},
		{"import", names(tree.Imports[0].ID.Refs), ""},
		{"check", names(tree.Checks["healthy"].Assertions[0].Condition.Refs), "local.ids"},
	} {
		if c.got != c.want {
			t.Errorf("%s: got %s, want %s", c.what, c.got, c.want)
		}
	}
	if !a.CreateBeforeDestroy || a.PreventDestroy || a.IgnoreAll || len(a.IgnoreChanges) != 2 {
		t.Errorf("the lifecycle is %+v", a)
	}
	if p := a.Provisioners[0]; !p.Destroy || !p.Continue || p.Connection != nil {
		t.Errorf("the provisioner is %+v", p)
	}
	if removed.Destroy {
		t.Error("the removed object is destroyed")
	}
	content, diags := a.Body.Content(&hcl.BodySchema{Attributes: []hcl.AttributeSchema{{Name: "input"}}})
	if content.Attributes["input"] == nil || diags.HasErrors() {
		t.Errorf("the body is %v, %v", content, diags)
	}
}

func TestTree(t *testing.T) {
	tree := loadValid(t, map[string]string{
		"main.tf": `
			module "a" {
			  source   = "./child"
			  for_each = toset(["x"])
			  name     = each.key
			}
			module "b" {
			  source = "./child"
			  name   = module.a["x"].name
			}
		`,
		"child/main.tf": `
			variable "name" {}
			module "inner" {
			  source = "../inner"
			}
			output "name" {
			  value = "${var.name}/${path.module}"
			}
		`,
		"inner/main.tf": `resource "terraform_data" "x" {}`,
	})
	a, b := tree.Children["a"], tree.Children["b"]
	if a.Directory != b.Directory || a.Children["inner"].Directory != b.Children["inner"].Directory {
		t.Error("a directory is decoded twice")
	}
	if inner := b.Children["inner"]; inner.Path != "inner" || inner.Parent != b || inner.Call != b.Calls["inner"] {
		t.Errorf("module.b.inner is %q of %v by %v", inner.Path, inner.Parent, inner.Call)
	}
	if got, want := slices.Sorted(maps.Keys(b.Call.Inputs)), []string{"name"}; !slices.Equal(got, want) {
		t.Errorf("inputs are %v, want %v", got, want)
	}
	if got, want := names(b.Call.Inputs["name"].Refs), "module.a.name"; got != want {
		t.Errorf("the input refers to %s, want %s", got, want)
	}
}

func TestOverride(t *testing.T) {
	tree, warnings := load(t, map[string]string{
		"main.tf": `
			locals {
			  a = 1
			  b = 2
			  c = 3
			}
			resource "terraform_data" "r" {
			  count            = 1
			  input            = local.a
			  triggers_replace = local.b
			  block {
			    x = local.a
			  }
			  dynamic "block" {
			    for_each = local.a
			    content {}
			  }
			  kept {
			    x = local.c
			  }
			  lifecycle {
			    create_before_destroy = true
			    ignore_changes        = [input]
			    replace_triggered_by  = [terraform_data.other]
			  }
			  provisioner "local-exec" {
			    command = "1"
			  }
			  provisioner "local-exec" {
			    command = "2"
			  }
			}
			resource "terraform_data" "other" {}
		`,
		"x_override.tf": `
			locals { c = 4 }
			resource "terraform_data" "r" {
			  for_each = {}
			  input    = local.b
			  block {
			    y = 1
			  }
			  lifecycle {
			    prevent_destroy      = true
			    ignore_changes       = [triggers_replace, output]
			    replace_triggered_by = [terraform_data.nothing]
			  }
			  provisioner "local-exec" {
			    command = "3"
			  }
			}
		`,
		"y_override.tf": `
			resource "terraform_data" "r" {
			  block {
			    z = local.c
			  }
			}
		`,
	})
	if len(warnings) != 1 || warnings[0].Summary != "Override ignored" { // of replace_triggered_by
		t.Errorf("unexpected: %v", warnings)
	}
	r := tree.Resources[stackaddrs.Resource{Type: "terraform_data", Name: "r"}]
	if got, want := names(r.Refs), "local.b local.c local.b local.c"; got != want {
		t.Errorf("the body refers to %s, want %s", got, want)
	}
	if r.Repeat.Count == nil || r.Repeat.ForEach == nil {
		t.Errorf("the repetition is %+v, want both", r.Repeat)
	}
	if !r.CreateBeforeDestroy || !r.PreventDestroy || len(r.IgnoreChanges) != 2 || len(r.ReplaceTriggeredBy) != 1 || len(r.Provisioners) != 1 {
		t.Errorf("the lifecycle is %+v", r)
	}
	schema := &hcl.BodySchema{
		Attributes: []hcl.AttributeSchema{{Name: "input"}, {Name: "triggers_replace", Required: true}},
		Blocks:     []hcl.BlockHeaderSchema{{Type: "block"}, {Type: "kept"}, {Type: "dynamic", LabelNames: []string{"type"}}},
	}
	content, diags := r.Body.Content(schema)
	if diags.HasErrors() || len(content.Attributes) != 2 || len(content.Blocks.OfType("block")) != 1 || len(content.Blocks) != 2 {
		t.Errorf("the body has %v and %d blocks, %v", content.Attributes, len(content.Blocks), diags)
	}
	if attrs, _ := content.Blocks.OfType("block")[0].Body.JustAttributes(); attrs["z"] == nil {
		t.Errorf("the block has %v, want that of the last file", attrs)
	}
	schema.Attributes = append(schema.Attributes, hcl.AttributeSchema{Name: "missing", Required: true})
	if _, diags := r.Body.Content(schema); len(diags) != 1 {
		t.Errorf("without a required argument there are %v", diags)
	}
}

func TestUnsupported(t *testing.T) {
	tree, diags := load(t, map[string]string{"main.tf": `
		terraform {
		  experiments = [one]
		}
		resource "terraform_data" "a" {
		  connection {
		    type = "winrm"
		  }
		  provisioner "salt" {}
		  lifecycle {
		    enabled = true
		  }
		}
		module "m" {
		  source = "./m"
		  lifecycle {
		    enabled = false
		  }
		}
		output "o" { value = urldecode("a%20b") }
	`, "m/main.tf": ""})
	var lines []int
	for _, diag := range tree.Unsupported {
		lines = append(lines, diag.Subject.Start.Line)
	}
	slices.Sort(lines)
	if want := []int{3, 7, 9, 11, 17, 20}; !slices.Equal(lines, want) || len(diags) > 0 {
		t.Errorf("unsupported are lines %v, want %v; %v", lines, want, diags)
	}
}

// FuzzLoad checks that nothing ends the program, and that the references that are found lie inside
// of the file.
func FuzzLoad(f *testing.F) {
	for _, text := range []string{
		`resource "a_b" "c" { count = var.x }`, `variable "x" { type = list(string) }`, `locals { a = local.a[0].b }`,
		`module "m" { source = "./m" }`, `moved { from = a.b[0] to = module.c["x"] }`, `check "x" { data "a" "b" {} }`,
		`resource "a" "b" { dynamic "x" { for_each = a.b } lifecycle { ignore_changes = [a["x"]] } }`,
		`terraform { required_providers { a = { source = "b/c" } } }`, `import { to = a.b[each.key] id = 1 }`,
	} {
		f.Add(text, false)
	}
	for _, text := range []string{
		`{"resource": {"a": {"b": {"count": "${var.x}", "depends_on": ["c.d"]}}}}`, `{"moved": [{"from": "a.b", "to": "module.c[0]"}]}`,
		`{"locals": {"a": "${"}, "check": {"c": {"assert": {"condition": 1}}}}`, `{"import": {"to": "a.b[", "id": null}}`,
	} {
		f.Add(text, true)
	}
	f.Fuzz(func(t *testing.T, text string, inJSON bool) {
		name := "main.tf"
		if inJSON {
			name += ".json"
		}
		tree, _ := load(t, map[string]string{name: text, "x_override.tf": text})
		if tree == nil {
			return
		}
		for _, local := range tree.Locals {
			for _, ref := range local.Value.Refs {
				if !inJSON && !ref.Whole.CanSliceBytes([]byte(text)) {
					t.Errorf("the reference to %s is at %s, outside of the file", ref.Subject, ref.Whole)
				}
			}
		}
		for addr, r := range tree.Resources {
			if r.Addr != addr || r.Body == nil {
				t.Errorf("the resource %s is %+v", addr, r)
			}
		}
		for name, output := range tree.Outputs {
			if output.Value == nil || output.Output == nil {
				t.Errorf("the output %s is %+v", name, output)
			}
		}
	})
}
