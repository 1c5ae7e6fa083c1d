// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tfengine

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// A module finds what it has written below its directory, as it does with plain terraform, until it removes that itself. Its sources stay as they are.
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

	// What the sources have there wins, and another component has files of its own.
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
