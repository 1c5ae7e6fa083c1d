// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// A module finds the files that it has written below its directory, as it does with plain
// terraform, until it removes them itself. Its sources stay as they are.
func TestFilesOfModulesAreKept(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/given.txt": "given",
		"mod/main.tf": `
variable "text" { type = string }
locals {
  file  = "${path.module}/out/text.txt"
  found = fileexists(local.file) ? file(local.file) : "nothing"
}
module "child" { source = "./child" }
resource "terraform_data" "write" {
  triggers_replace = var.text
  provisioner "local-exec" {
    command = "mkdir -p '${path.module}/out' && printf '%s' '${var.text}' >'${local.file}' && echo more >'${path.root}/made.tf'"
  }
  provisioner "local-exec" {
    when    = destroy
    command = "rm -f '${path.module}/out/text.txt'"
  }
}
output "found" { value = local.found }
output "inner" { value = module.child.found }
output "given" { value = file("${path.module}/given.txt") }
`,
		"mod/child/main.tf": `
resource "terraform_data" "write" {
  provisioner "local-exec" {
    command = "echo inner >'${path.module}/inner.txt'"
  }
}
output "found" { value = fileexists("${path.module}/inner.txt") }
`,
	})
	text := func(text string) map[string]cty.Value { return map[string]cty.Value{"text": cty.StringVal(text)} }
	req := b.request(text("one"))
	result := b.plan(req)
	if !result.Outputs["found"].RawEquals(cty.StringVal("nothing")) {
		t.Errorf("before the first apply: found %#v", result.Outputs["found"])
	}
	req.PriorState = b.apply(applyRequest(req, result.Plan, req.Inputs)).State

	b.reopen() // a later command
	result = b.plan(req)
	if !result.Outputs["found"].RawEquals(cty.StringVal("one")) || !result.Outputs["inner"].RawEquals(cty.True) {
		t.Errorf("after the first apply: found %#v, %#v", result.Outputs["found"], result.Outputs["inner"])
	}
	req.Inputs = text("two")
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, req.Inputs)).State
	if result = b.plan(req); !result.Outputs["found"].RawEquals(cty.StringVal("two")) {
		t.Errorf("after the second apply: found %#v", result.Outputs["found"])
	}

	// The file of the sources wins, and another component has files of its own.
	b.write("mod/out/text.txt", "of the sources")
	if result = b.plan(req); !result.Outputs["found"].RawEquals(cty.StringVal("of the sources")) {
		t.Errorf("with the file in the sources: found %#v", result.Outputs["found"])
	}
	if err := os.RemoveAll(filepath.Join(b.stack, "mod", "out")); err != nil {
		t.Fatal(err)
	}

	req.Mode = engine.Destroy
	req.PriorState = b.apply(applyRequest(req, b.plan(req).Plan, req.Inputs)).State
	req.Mode = engine.Normal
	if result = b.plan(req); !result.Outputs["found"].RawEquals(cty.StringVal("nothing")) {
		t.Errorf("after the destroy: found %#v", result.Outputs["found"])
	}
	for _, name := range []string{"mod/out", "mod/made.tf", "mod/child/inner.txt"} {
		if _, err := os.Stat(filepath.Join(b.stack, name)); err == nil {
			t.Errorf("%s is in the sources", name)
		}
	}
	if content, err := os.ReadFile(filepath.Join(b.stack, "mod/given.txt")); err != nil || string(content) != "given" {
		t.Errorf("given.txt is %q, %v", content, err)
	}
}

// A directory of files that came with a checkout brings nothing that the directory of the module
// could not: neither a state nor configuration.
func TestRestoresOnlyWhatIsKept(t *testing.T) {
	b := newBench(t, map[string]string{
		"mod/main.tf": `output "found" { value = fileexists("${path.module}/text.txt") }`,
	})
	req := b.request(nil)
	kept := b.engine.writtenDir(req.Component.String())
	for name, text := range map[string]string{
		"text.txt": "x",
		"more.tf":  `resource "terraform_data" "more" {}`,
		"terraform.tfstate": `{"version": 4, "terraform_version": "1.11.4", "serial": 1, "lineage": "x", "outputs": {}, "resources": [{"mode": "managed", "type": "terraform_data",
			"name": "old", "provider": "provider[\"terraform.io/builtin/terraform\"]", "instances": [{"schema_version": 0, "attributes": {"id": "x"}}]}]}`,
	} {
		path := filepath.Join(kept, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	result := b.plan(req)
	if !result.Outputs["found"].RawEquals(cty.True) {
		t.Errorf("the text was not restored: found %#v", result.Outputs["found"])
	}
	if len(result.Changes) != 0 {
		t.Errorf("changes of what was forged: %v", result.Changes)
	}
}
