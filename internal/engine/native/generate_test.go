// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

const importsOnly = "import {\n  to = terraform_data.a\n  id = \"x\"\n}\n"

const generatedBlock = `resource "terraform_data" "a" {
  input            = null
  triggers_replace = null
}
`

// generate plans with the option that generates blocks.
func (c *component) generate(generate bool) (*engine.PlanResult, hcl.Diagnostics) {
	c.t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance("component.c")
	if err != nil {
		c.t.Fatal(err)
	}
	c.works++
	return c.session.Plan(c.t.Context(), &engine.PlanRequest{
		Work: engine.WorkID(strings.Repeat("w", c.works)), Component: addr, ModuleDir: c.dir, Timestamp: time.Now(), GenerateConfig: generate,
	}, nil)
}

// A plan is as if the module had the blocks, which it has not.
func TestGeneratedBlocksArePlanned(t *testing.T) {
	c := newComponent(t, importsOnly)
	result, diags := c.generate(true)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	a := stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "terraform_data", Name: "a"}}
	if want := []engine.Generated{{ModuleDir: c.dir, Addr: a, Text: generatedBlock}}; !slices.Equal(result.Generated, want) {
		t.Errorf("the blocks are %+v, want %+v", result.Generated, want)
	}
	if len(result.Changes) != 1 || result.Changes[0].Addr != a || result.Changes[0].Importing == nil ||
		result.Changes[0].Action != engine.ActionNoOp {
		t.Errorf("the changes are %+v, want one import", result.Changes)
	}
	if entries, err := filepath.Glob(filepath.Join(c.dir, "*.tf")); err != nil || len(entries) != 1 {
		t.Errorf("the module has the files %v, %v", entries, err)
	}
	_, diags = c.generate(false)
	if !diags.HasErrors() || engine.FaultOf(diags[0]) != fault.ImportUndeclared {
		t.Errorf("without the option: %v", diags)
	}
}

// The blocks are there also if planning with them fails, and where a file has the name that theirs
// would have.
func TestGeneratedBlocksOfFailedPlan(t *testing.T) {
	c := newComponent(t, importsOnly+"resource \"terraform_data\" \"b\" {\n  lifecycle {\n    precondition {\n"+
		"      condition = path.module == \"\"\n      error_message = \"no\"\n    }\n  }\n}\n")
	if err := os.WriteFile(filepath.Join(c.dir, "generated.tf"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	result, diags := c.generate(true)
	if !diags.HasErrors() || result == nil || len(result.Generated) != 1 || result.Generated[0].Text != generatedBlock {
		t.Errorf("got %+v with %v, want the block and an error", result, diags)
	}
}

// Nothing is generated where the module has other mistakes, or where the blocks cannot be.
func TestNothingGenerated(t *testing.T) {
	for name, test := range map[string]struct{ config, want string }{
		"reference":  {importsOnly + "output \"o\" {\n  value = terraform_data.a.id\n}\n", "Reference to undeclared object"},
		"for_each":   {"import {\n  for_each = [\"k\"]\n  to = terraform_data.a[each.key]\n  id = \"x\"\n}\n", "Configuration not generated"},
		"key":        {"import {\n  to = terraform_data.a[0]\n  id = \"x\"\n}\n", "Configuration not generated"},
		"no such id": {"import {\n  to = terraform_data.a\n  id = \"\"\n}\n", "Invalid import argument"},
		"called":     {"import {\n  to = module.m.terraform_data.a\n  id = \"x\"\n}\n", "Undeclared import target"},
	} {
		t.Run(name, func(t *testing.T) {
			result, diags := newComponent(t, test.config).generate(true)
			if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return diag.Summary == test.want }) {
				t.Errorf("got %v, want %s", diags, test.want)
			}
			if result != nil && len(result.Generated) > 0 {
				t.Errorf("generated: %v", result.Generated)
			}
		})
	}
}
