// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// For those who know terraform modules, the error names the place where their block belongs.
func TestMisplacedBlocks(t *testing.T) {
	const component = "component \"x\" {\n  source = \"./mod\"\n  %\n}\n"
	for name, test := range map[string]struct{ config, want string }{
		"module":           {`module "x" {}`, `component "NAME"`},
		"resource":         {`resource "a" "b" {}`, ".tf files of a module"},
		"data":             {`data "a" "b" {}`, ".tf files of a module"},
		"terraform":        {`terraform {}`, "required_providers block"},
		"backend":          {`backend "s3" {}`, "kept in one place"},
		"cloud":            {`cloud {}`, "configured outside of the stack"},
		"state_store":      {`state_store "x" {}`, "configured outside of the stack"},
		"import":           {`import {}`, "can be made that of a component"},
		"check":            {`check "x" {}`, "validation block"},
		"deployment":       {`deployment "x" {}`, "*.tfdeploy.hcl"},
		"store":            {`store "a" "b" {}`, "*.tfdeploy.hcl"},
		"unlabelled":       {`provider "aws" {}`, `provider "TYPE" "NAME"`},
		"misspelt":         {`componet "x" {}`, `Did you mean "component"?`}, //nolint:misspell // on purpose
		"count":            {strings.Replace(component, "%", "count = 2", 1), "for_each = toset("},
		"lifecycle":        {strings.Replace(component, "%", "lifecycle {}", 1), "resource"},
		"input":            {strings.Replace(component, "%", `region = "eu"`, 1), "inputs = { NAME = VALUE }"},
		"misspelt source":  {strings.Replace(component, "%", `input = {}`, 1), `Did you mean "inputs"?`},
		"provider":         {strings.Replace(component, "%", `provider = aws`, 1), "providers = { aws = provider.aws.NAME }"},
		"stack providers":  {"stack \"x\" {\n  source = \"./mod\"\n  providers = {}\n}\n", "configures its providers itself"},
		"alias":            {"provider \"a\" \"b\" {\n  alias = \"x\"\n}\n", "second label"},
		"region":           {"provider \"a\" \"b\" {\n  region = \"x\"\n}\n", "config { NAME = VALUE }"},
		"source":           {`component "x" { source = "mod" }`, `write "./mod"`},
		"source of others": {`component "x" { source = "mods/a" }`, `write "./mods/a"`},
		"source nowhere":   {`component "x" { source = "vpc" }`, `begins with "./" or "../"`},
		"json":             {`{"module": {"x": {}}}`, `component "NAME"`},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			for _, module := range []string{"mod", "mods/a"} {
				if err := os.MkdirAll(filepath.Join(dir, module), 0o755); err != nil {
					t.Fatal(err)
				}
			}
			file := "main.tfcomponent.hcl"
			if strings.HasPrefix(test.config, "{") {
				file = "main.tfcomponent.json"
			}
			if err := os.WriteFile(filepath.Join(dir, file), []byte(test.config), 0o644); err != nil {
				t.Fatal(err)
			}
			_, diags := Load(dir)
			if !strings.Contains(details(diags), test.want) {
				t.Errorf("no %q in: %s", test.want, details(diags))
			}
		})
	}
}
