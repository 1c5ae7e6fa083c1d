// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terragrunt

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// The files that units read, in the order of expressions, whether or not they are there.
func TestReads(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"config/terragrunt.hcl": `locals { env = read_terragrunt_config(find_in_parent_folders("env.hcl")) }`,
		"file/terragrunt.hcl":   `inputs = { names = split(",", file("${get_repo_root()}/names.txt")), same = file("../names.txt") }`,
		"vars/terragrunt.hcl": `terraform {
  extra_arguments "common" {
    required_var_files = ["a.tfvars", "../b.tfvars"]
    optional_var_files = [local.unknown]
  }
}`,
		"unknown/terragrunt.hcl":  `inputs = { text = file(run_cmd("where")) }`,
		"included/terragrunt.hcl": `include "root" { path = find_in_parent_folders("common.hcl") }`,
		"cycle/terragrunt.hcl":    `locals { x = read_terragrunt_config("../cycle.hcl") }`,
		"cycle.hcl":               `locals { x = read_terragrunt_config("../cycle.hcl") }`,
		"common.hcl":              `inputs = { text = file("own.txt") }`,
		"env.hcl":                 `locals { text = templatefile("../names.txt", {}) }`,
		"names.txt":               "a,b",
	} {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if filepath.Base(file) == FileName {
			if err := os.WriteFile(filepath.Join(filepath.Dir(file), "main.tf"), nil, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	units, diags := Load(root)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	type reads struct {
		Files  []string
		Unread int
	}
	got := map[string]reads{}
	for _, u := range units {
		got[u.Dir] = reads{u.Files, len(u.Unread)}
	}
	want := map[string]reads{
		"config":   {Files: []string{"env.hcl", "names.txt"}},
		"file":     {Files: []string{"names.txt"}},
		"vars":     {Files: []string{"vars/a.tfvars", "b.tfvars"}, Unread: 1},
		"unknown":  {Unread: 1},
		"included": {Files: []string{"included/own.txt"}},
		"cycle":    {Files: []string{"cycle.hcl"}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
