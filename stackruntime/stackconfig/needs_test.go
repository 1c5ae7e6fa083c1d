// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
)

// The needs of the stacks of a tree are gathered from all of them, those in removed blocks
// included.
func TestNeeds(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{
		"main.tfcomponent.hcl": `
required_providers {
  b = {
    source  = "acme/fake"
    version = "~> 1.0"
  }
  a = {
    source  = "acme/other"
    version = "2.0.0"
  }
}
component "one" {
  source = "./m/one"
  inputs = { same = "s", other = 1, unknown = component.same.x }
}
component "same" {
  source = "./m/one"
  inputs = { same = "s", other = 2 }
}
removed {
  from   = component.gone
  source = "./m/gone"
}
stack "inner" { source = "./inner" }
stack "again" { source = "./inner" }
`,
		"inner/main.tfcomponent.hcl": `
required_providers {
  f = {
    source  = "acme/fake"
    version = ">= 1.2"
  }
}
component "two" {
  source = "./m/two"
  inputs = { "in" = upper("x"), "text" = "a${1}" }
}
`,
		"m/one/main.tf": "", "m/gone/main.tf": "", "inner/m/two/main.tf": "",
	} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	config, diags := Load(dir)
	if diags.HasErrors() {
		t.Fatal(diags)
	}
	dirs := []string{filepath.Join(dir, "inner/m/two"), filepath.Join(dir, "m/gone"), filepath.Join(dir, "m/one")}
	if diff := cmp.Diff(dirs, config.ModuleDirs()); diff != "" {
		t.Errorf("directories of modules (-want +got):\n%s", diff)
	}
	constants := map[string]string{}
	for dir, of := range config.Constants() {
		for name, constant := range of {
			constants[filepath.Base(dir)+" "+name] = fmt.Sprintf("%#v %t", constant.Value, constant.Other != nil)
		}
	}
	wantConstants := map[string]string{
		"one same": `cty.StringVal("s") false`, "one other": "cty.NumberIntVal(1) true", "one unknown": "cty.DynamicVal false",
		"two in": "cty.DynamicVal false", "two text": `cty.StringVal("a1") false`,
	}
	if diff := cmp.Diff(wantConstants, constants); diff != "" {
		t.Errorf("constants (-want +got):\n%s", diff)
	}
	fake := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: "fake"}
	other := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "acme", Type: "other"}
	want := map[stackaddrs.Provider][]string{fake: {"~> 1.0", ">= 1.2", ">= 1.2"}, other: {"2.0.0"}, stackaddrs.BuiltinProvider: nil}
	if diff := cmp.Diff(want, config.Requirements()); diff != "" {
		t.Errorf("requirements (-want +got):\n%s", diff)
	}
	ranges := config.RequirementRanges()
	if at := ranges[fake]; filepath.Base(at.Filename) != "main.tfcomponent.hcl" || at.Start.Line != 3 || len(ranges) != 3 {
		t.Errorf("ranges: got %v, want those of the root", ranges)
	}
}
