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

// The working directory of modules is that of the stack.
func TestWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	module := filepath.Join(dir, "m")
	if err := os.Mkdir(module, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(module, "main.tf"), []byte(`output "cwd" { value = path.cwd }`), 0o600); err != nil {
		t.Fatal(err)
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
	if got, want := plan.Outputs["cwd"], cty.StringVal(filepath.ToSlash(dir)); !got.RawEquals(want) {
		t.Errorf("path.cwd is %#v, want %#v", got, want)
	}
}
