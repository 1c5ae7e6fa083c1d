// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

// The working directory is that of the stack, while paths are relative to the directory of the
// module.
func TestPaths(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "m")
	if err := os.Mkdir(module, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, content := range map[string]string{
		"m/main.tf": `
output "cwd" { value = path.cwd }
output "stored" { value = data.terraform_remote_state.other.outputs.x }
data "terraform_remote_state" "other" {
  backend = "local"
  config  = { path = "../other.tfstate" }
}
`,
		"other.tfstate": `{"version": 4, "outputs": {"x": {"value": "1", "type": "string"}}, "resources": []}`,
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	e, err := native.New(native.Options{WorkDir: filepath.Join(dir, ".cairn")})
	if err != nil {
		t.Fatal(err)
	}
	addr, err := stackaddrs.ParseAbsComponentInstance("component.c")
	if err != nil {
		t.Fatal(err)
	}
	plan, diags := enginetest.Open(t, e, engine.SessionOptions{StackDir: dir}).Plan(t.Context(), &engine.PlanRequest{
		Work: "w", Component: addr, ModuleDir: module, Timestamp: time.Now(),
	}, nil)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	want := map[string]cty.Value{"cwd": cty.StringVal(filepath.ToSlash(dir)), "stored": cty.StringVal("1")}
	for name, value := range want {
		if got := plan.Outputs[name]; !got.RawEquals(value) {
			t.Errorf("%s is %#v, want %#v", name, got, value)
		}
	}
}
