// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package schematest gets schemas from terraform, for tests that compare others with them.
package schematest

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/judge"
)

// Object is an object of JSON.
type Object = map[string]any

// Terraform returns the schemas that terraform shows of the fake provider, the provider time and
// the built-in one, by address, and a directory with the packages.
func Terraform(t *testing.T) (schemas map[string]Object, mirror string) {
	t.Helper()
	terraform := testenv.Terraform(t)
	mirror = testenv.TimeProviderMirror(t)
	testenv.CLIConfig(t, mirror)
	dir := t.TempDir()
	const config = `
terraform {
  required_providers {
    fake = { source = "cairnstacks/fake" }
    time = { source = "hashicorp/time" }
  }
}
resource "terraform_data" "all" {
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	engine := judge.New(t, terraform, dir)
	if err := engine.Init(t.Context()); err != nil {
		t.Fatal(err)
	}
	var answer struct {
		Schemas map[string]Object `json:"provider_schemas"`
	}
	if err := json.Unmarshal(engine.Schemas(), &answer); err != nil {
		t.Fatal(err)
	}
	if len(answer.Schemas) != 3 {
		t.Fatalf("terraform has the schemas of %d providers, want 3", len(answer.Schemas))
	}
	return answer.Schemas, mirror
}
