// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"slices"
	"testing"
)

// References are followed through local values, also those in a cycle, and through the rules of
// variables, but not into resources.
func TestFollow(t *testing.T) {
	tree := mustLoad(t, map[string]string{"m/main.tf": `
variable "region" {
  type = string
  validation {
    condition     = var.region != var.other
    error_message = "Not ${path.module}."
  }
}
variable "other" { type = string }
variable "unused" { type = string }
locals {
  name   = "${local.prefix}-${var.region}"
  prefix = local.name
  object = terraform_data.a.id
}
resource "terraform_data" "a" { input = var.unused }
output "named" { value = local.name }
output "object" { value = local.object }
output "lost" { value = local.undeclared }
`})
	root := tree.Root.Directory
	for output, want := range map[string][]string{
		"named":  {"name", "prefix", "region", "other", "module"},
		"object": {"object", "a"},
		"lost":   {"undeclared"},
	} {
		var got []string
		for ref := range root.Follow(root.Outputs[output].Value.Refs) {
			got = append(got, ref.Subject.Name+ref.Subject.Attr)
		}
		if !slices.Equal(got, want) {
			t.Errorf("output %s leads to %q, want %q", output, got, want)
		}
	}
}
