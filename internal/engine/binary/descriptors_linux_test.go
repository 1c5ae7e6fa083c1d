// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Providers and commands of provisioners inherit the descriptor with the values of variables, but
// nothing is left to read there.
func TestChildrenOfEngineFindNoValues(t *testing.T) {
	testenv.SkipUnderRace(t, "the contract of engines does the same things at the same time")
	dir := t.TempDir()
	record, said := filepath.Join(dir, "provider"), filepath.Join(dir, "said")
	t.Setenv(testprovider.DescriptorsVariable, record)
	t.Setenv("SAID", said)
	b := newFakeBench(t, map[string]string{"mod/main.tf": `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
  }
}
variable "open" {
  type = string
}
variable "token" {
  type      = string
  ephemeral = true
}
resource "fake_resource" "x" {
  value = length(var.open)
  provisioner "local-exec" {
    command = "for fd in /proc/self/fd/* /proc/$PPID/fd/3; do echo \"$fd: $(timeout 1 head -c 100000 $fd 2>/dev/null </dev/null)\" >>\"$SAID\"; done"
  }
}
`})
	b.prepare()
	inputs := map[string]cty.Value{"open": cty.StringVal(strings.Repeat("value", 50_000)), "token": cty.StringVal("hush-token")}
	req := b.request(inputs)
	config := b.config(map[string]cty.Value{"token": cty.StringVal("hush-provider")})
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{{LocalName: "fake"}: config}
	result := b.plan(req)
	b.apply(applyRequest(req, result.Plan, inputs))
	for _, file := range []string{record, said} {
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(content), "3: ") {
			t.Errorf("%s does not have the inherited descriptor: %.1000s", file, content)
		}
		for _, value := range []string{"hush", "valuevalue"} {
			if strings.Contains(string(content), value) {
				t.Errorf("%s has the value %q", file, value)
			}
		}
	}
}
