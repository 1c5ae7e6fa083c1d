// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package validate_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/providers/provider"
	"github.com/cairnstacks/cairn/internal/providers/schema"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// fake is a provider whose types, and whose only action, have a secret and a block, and which
// refuses a size of 13. One of its types has the name of a type of values.
type fake struct{ schema *schema.Provider }

func newFake() fake {
	thing := &schema.Schema{Block: &schema.Block{
		Attributes: []*schema.Attribute{
			{Name: "id", Type: cty.String, Computed: true},
			{Name: "old", Type: cty.String, Optional: true, Deprecated: true, Deprecation: "Use size."},
			{Name: "pass", Type: cty.String, Optional: true, WriteOnly: true},
			{Name: "size", Type: cty.Number, Required: true},
		},
		Blocks: []*schema.NestedBlock{{Name: "rule", Nesting: schema.List, Block: &schema.Block{
			Attributes: []*schema.Attribute{{Name: "port", Type: cty.Number, Required: true}},
		}}},
	}}
	return fake{&schema.Provider{
		Managed: map[string]*schema.Schema{"fake_thing": thing, "number": thing},
		Actions: map[string]*schema.Schema{"fake_do": thing},
	}}
}

func (f fake) Schema(of stackaddrs.Provider) *schema.Provider {
	if of.Type == "fake" {
		return f.schema
	}
	return nil
}

func (f fake) ValidateResource(_ context.Context, _ stackaddrs.Provider, _ stackaddrs.ResourceMode, _ string,
	config cty.Value,
) provider.Diagnostics {
	size := config.GetAttr("size")
	if !size.IsKnown() || size.RawEquals(cty.NumberIntVal(13)) {
		return provider.Diagnostics{{Summary: fmt.Sprintf("Size %s", size.GoString()), Path: cty.GetAttrPath("size")}}
	}
	return nil
}

func (f fake) ValidateAction(ctx context.Context, of stackaddrs.Provider, typeName string, config cty.Value) provider.Diagnostics {
	return f.ValidateResource(ctx, of, stackaddrs.ManagedResource, typeName, config)
}

// TestProvider checks the mistakes that depend on the schemas of providers, and on their own
// diagnostics.
func TestProvider(t *testing.T) {
	files := map[string]string{
		"main.tf": `terraform {
			  required_providers {
			    fake  = { source = "example.com/test/fake" }
			    other = { source = "example.com/test/other" }
			  }
			}
			variable "passing" { ephemeral = true }
			resource "fake_thing" "fine" {
			  size = "5"
			  pass = var.passing
			  rule { port = 1 }
			  dynamic "rule" {
			    for_each = [1, 2]
			    content { port = rule.value + fake_thing.other[0].rule[0].port }
			  }
			}
			resource "fake_thing" "other" {
			  count = 2
			  size  = count.index
			}
			resource "fake_thing" "refused" { size = 13 }
			resource "fake_thing" "deprecated" {
			  size = 1
			  old  = "x"
			}
			resource "fake_thing" "block" {
			  size = 1
			  rule { port = "x" }
			}
			resource "fake_thing" "reference" { size = fake_thing.fine.rule[0].prt }
			resource "other_thing" "unknown" { whatever = 1 }
			module "m" { source = "./m" }
		`,
		"m/main.tf": `terraform {
			  required_providers {
			    fake = {
			      source                = "example.com/test/fake"
			      configuration_aliases = [fake.second]
			    }
			  }
			}
			resource "fake_thing" "aliased" {
			  provider = fake.second
			  size     = 1
			}
		`,
	}
	compare(t, files, []string{
		"m/main.tf:10 Provider configuration missing",
		"main.tf:19 Size cty.UnknownVal(cty.Number).Refine().NotNull().NumberLowerBound(cty.NumberIntVal(0), true).NewValue()",
		"main.tf:21 Size cty.NumberIntVal(13)",
		"main.tf:24 Deprecated argument",
		"main.tf:28 Invalid argument type",
		"main.tf:30 Unsupported attribute",
		"main.tf:32 Provider configuration missing",
	})
}

// TestRequirements has no comparison with terraform, which takes the local names in no certain
// order.
func TestRequirements(t *testing.T) {
	compare(t, map[string]string{"main.tf": `terraform {
			  required_providers {
			    second = { source = "example.com/test/fake" }
			    other  = { source = "example.com/test/other" }
			    first  = { source = "example.com/test/fake" }
			    third  = { source = "example.com/test/fake" }
			  }
			}
		`}, []string{
		"main.tf:5 Duplicate required provider",
		"main.tf:6 Duplicate required provider",
	})
}

// TestResourceNamedAsType checks that the name of a type in convert is no reference to resources of
// a type with that name, and that others are.
func TestResourceNamedAsType(t *testing.T) {
	compare(t, map[string]string{"main.tf": `terraform {
			  required_providers {
			    fake = { source = "example.com/test/fake" }
			  }
			}
			resource "number" "x" {
			  provider = fake
			  size     = 1
			}
			output "converted" { value = convert(number.x.id, number) }
			output "missing" { value = convert(number.x.idd, number) }
			output "other" { value = number.y.id }
		`}, []string{
		"main.tf:11 Unsupported attribute",
		"main.tf:12 Reference to undeclared object",
	})
}

// TestAction checks actions and their triggers.
func TestAction(t *testing.T) {
	compare(t, map[string]string{"main.tf": `terraform {
			  required_providers {
			    fake = { source = "example.com/test/fake" }
			  }
			}
			variable "passing" { ephemeral = true }
			resource "fake_thing" "fine" {
			  for_each = toset(["a"])
			  size     = 1
			  lifecycle {
			    action_trigger {
			      events    = [after_create, after_update]
			      condition = self.size > 1 && each.key == "a"
			      actions   = [action.fake_do.fine, action.fake_do.keyed[each.key], action.fake_do.keyed["b"]]
			    }
			  }
			}
			action "fake_do" "fine" {
			  config {
			    size = length(fake_thing.fine) + 1
			    pass = var.passing
			  }
			}
			action "fake_do" "keyed" {
			  for_each = toset(["a", "b"])
			  config { size = length(each.key) }
			}
			resource "fake_thing" "wrong" {
			  size = 1
			  lifecycle {
			    action_trigger {
			      events    = [before_create, after_create]
			      condition = self.size > 1
			      actions   = [action.fake_do.fine["a"], action.fake_do.keyed, action.fake_do.none, fake_thing.fine]
			    }
			    action_trigger {
			      events  = [after_create]
			      actions = [action.fake_do.repeated[0], action.fake_do.keyed[each.key]]
			    }
			  }
			}
			action "fake_do" "repeated" {
			  count = fake_thing.wrong.size
			  config { size = 1 }
			}
			action "fake_do" "refused" {
			  config { size = 13 }
			}
			action "fake_do" "stored" {
			  config {
			    size = 1
			    old  = var.passing
			  }
			}
			action "fake_do" "reference" {
			  config { size = action.fake_do.fine }
			}
			action "fake_other" "unknown" {}
			action "fake_do" "empty" {}
		`}, []string{
		"main.tf:20 Size cty.UnknownVal(cty.Number).RefineNotNull()",
		"main.tf:20 Reference to triggering resource",
		"main.tf:26 Size cty.UnknownVal(cty.Number).Refine().NotNull().NumberLowerBound(cty.NumberIntVal(0), true).NewValue()",
		"main.tf:33 Reference not allowed here",
		"main.tf:34 Key without several instances",
		"main.tf:34 Action instance key missing",
		"main.tf:34 Reference to undeclared object",
		"main.tf:34 Invalid action reference",
		"main.tf:38 Reference not allowed here",
		"main.tf:42 Circular dependency",
		"main.tf:47 Size cty.NumberIntVal(13)",
		"main.tf:52 Deprecated argument",
		"main.tf:52 Invalid use of ephemeral value",
		"main.tf:56 Reference not allowed here",
		"main.tf:58 Unknown action type",
		"main.tf:59 Missing required argument",
	})
}

// compare validates modules, and compares the diagnostics with those wanted.
func compare(t *testing.T, files map[string]string, want []string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	tree, diags := module.NewLoader(module.Options{Base: dir}).LoadStrict(dir)
	if len(diags) > 0 {
		t.Fatal(diags)
	}
	var got []string
	for _, diag := range validate.Tree(t.Context(), tree.Root, validate.Options{
		Schemas: newFake(), Validator: newFake(), Functions: func(*module.Node) *hcl.EvalContext { return functions },
	}) {
		got = append(got, fmt.Sprintf("%s:%d %s", diag.Subject.Filename, diag.Subject.Start.Line, diag.Summary))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}
