// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"fmt"
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

func TestExplainLacks(t *testing.T) {
	old, newer := engine.Info{Name: toolchain.Terraform, Version: "1.11.4"}, engine.Info{Name: toolchain.Terraform, Version: "1.12.0-dev"}
	tofu := engine.Info{Name: toolchain.Tofu, Version: "1.12.6"}
	for name, test := range map[string]struct {
		info            engine.Info
		summary, detail string
		want            string // that is added; empty if nothing is
	}{
		"of a newer version": {
			old, "Unsupported argument", `An argument named "identity" is not expected here.`,
			"terraform from version 1.12.0 and in tofu from version 1.12.0 [terraform >= 1.12.0 tofu >= 1.12.0]",
		},
		"new enough": {newer, "Unsupported argument", `An argument named "identity" is not expected here.`, ""},
		"of the other engine": {old, "Unsupported argument", `An argument named "enabled" is not expected here.`, "terraform 1.11.4 does not " +
			"have that. It is there in tofu from version 1.11.0"},
		"of terraform": {tofu, "Unsupported block type", `Blocks of type "action" are not expected here.`, "terraform from version 1.14.0 " +
			"[terraform >= 1.14.0]"},
		"function":             {old, "Call to unknown function", `There is no function named "cidrcontains".`, "tofu from version 1.11.0"},
		"known to nobody":      {old, "Unsupported argument", `An argument named "inputt" is not expected here.`, ""},
		"of another complaint": {old, "Missing required argument", `The argument "enabled" is required.`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			diags := hcl.Diagnostics{{Severity: hcl.DiagError, Summary: test.summary, Detail: test.detail}}
			explainLacks(diags, test.info)
			added := strings.TrimSuffix(strings.TrimPrefix(diags[0].Detail, test.detail), ".")
			if lacking, ok := hcl.DiagnosticExtra[fault.Named](diags[0]); ok && lacking.Code == toolchain.CodeNotInstalled {
				added += fmt.Sprint(" ", lacking.Names)
			}
			if test.want == "" && added != "" || !strings.Contains(added, test.want) {
				t.Errorf("added: got %q, want %q", added, test.want)
			}
		})
	}
}

// The engine itself, whichever it is, complains in the words that are looked for.
func TestEngineSaysWhatItLacks(t *testing.T) {
	modules := map[string]string{ // with the missing feature, by the text that explains it
		`If the function "cidrcontains" is meant`: `output "x" { value = cidrcontains("10.0.0.0/8", "10.1.1.1") }`,
		`If the argument "enabled" of "lifecycle" blocks is meant`: "resource \"terraform_data\" \"x\" {\n  lifecycle {\n    enabled = true\n  " +
			"}\n}",
	}
	if newBench(t, nil).engine.Info().Name == toolchain.Tofu {
		modules = map[string]string{`If a block "action" is meant`: `action "terraform_a" "b" {}`} // of the provider that needs no installation
	}
	for want, module := range modules {
		b := newBench(t, map[string]string{"mod/main.tf": module})
		_, diags := b.tryPlan(t.Context(), b.request(nil))
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("Plan of %s: got %v, want %q", module, diags, want)
		}
	}
}
