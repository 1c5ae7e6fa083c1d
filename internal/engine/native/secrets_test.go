// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package native_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// No error quotes a sensitive value.
func TestErrorsHideSecrets(t *testing.T) {
	const declared = "variable \"secret\" {\n  type = map(string)\n  sensitive = true\n}\n"
	for name, source := range map[string]string{
		"function in a loop": `output "o" { value = [for k, v in var.secret : tonumber(v)] }`,
		"duplicate key":      `output "o" { value = { for k, v in var.secret : v => k } }`,
		"resource in a loop": `resource "terraform_data" "x" { input = [for k, v in var.secret : tonumber(v)] }`,
		"dynamic conversion": `resource "terraform_data" "x" { count = var.secret }`,
		"message": "resource \"terraform_data\" \"x\" {\n  lifecycle {\n    precondition {\n      condition = false\n      " +
			"error_message = var.secret[\"a\"]\n    }\n  }\n}",
	} {
		t.Run(name, func(t *testing.T) {
			c := newComponent(t, declared+source)
			addr, err := stackaddrs.ParseAbsComponentInstance("component.c")
			if err != nil {
				t.Fatal(err)
			}
			secret := cty.MapVal(map[string]cty.Value{"a": cty.StringVal("hush-hush"), "b": cty.StringVal("hush-hush")}).Mark(marks.Sensitive)
			_, diags := c.session.Plan(t.Context(), &engine.PlanRequest{
				Work: "w", Component: addr, ModuleDir: c.dir, Inputs: map[string]cty.Value{"secret": secret}, Timestamp: time.Now(),
			}, nil)
			if !diags.HasErrors() {
				t.Fatal("got no error")
			}
			for _, diag := range diags {
				if text := fmt.Sprint(diag.Summary, diag.Detail); strings.Contains(text, "hush-hush") {
					t.Errorf("shown: %s", text)
				}
			}
		})
	}
}
