// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// mistakes returns the diagnostics of validation in the main file.
func (s session) mistakes() hcl.Diagnostics {
	s.t.Helper()
	snap := snapshot.NewWorkspace(snapshot.Options{Environ: []string{}}).Stack(s.path("stack"))
	if snap == nil {
		s.t.Fatal("there is no stack")
	}
	return slices.DeleteFunc(snap.Validate(s.t.Context()), func(diag *hcl.Diagnostic) bool {
		return diag.Subject == nil || diag.Subject.Filename != "main.tfcomponent.hcl"
	})
}

// The suggestion of a diagnostic can be written in its place, and is right there.
func TestMeant(t *testing.T) {
	for name, test := range map[string]struct{ text, meant string }{
		"variable":    {"locals {\n  a = \"${var.regoin}-x\"\n}\n", "var.region"},
		"local value": {"locals {\n  a = local.prefx\n}\n", "local.prefix"},
		"component":   {"locals {\n  a = component.mnay[\"a\"].id\n}\n", "component.many"},
		"stack":       {"locals {\n  a = stack.chlid.url\n}\n", "stack.child"},
		"configuration": {
			"component \"x\" {\n  source = \"../modules/db\"\n  inputs = { net = 1 }\n  providers = { aws.other = provider.aws.mian }\n}\n",
			"provider.aws.main",
		},
		"output":        {"locals {\n  a = component.net.zonse\n}\n", ".zones"},
		"output by key": {"locals {\n  a = component.net[\"zonse\"]\n}\n", ""},
		"instance": {
			"component \"keys\" {\n  source = \"../modules/net\"\n  for_each = toset([\"north\"])\n" +
				"  inputs = { cidr = \"\", options = { dns = true } }\n}\n" +
				"locals {\n  a = component.keys[\"nroth\"].id\n}\n",
			`["north"]`,
		},
		"nothing near": {"locals {\n  a = var.entirely_different\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWorld(t, test.text)
			diags := s.mistakes()
			if len(diags) != 1 {
				t.Fatalf("there are %d mistakes: %v", len(diags), diags)
			}
			meant, _ := hcl.DiagnosticExtra[fault.Meant](diags[0])
			if meant.Text != test.meant {
				t.Fatalf("got %q for %v, want %q", meant.Text, diags, test.meant)
			}
			if meant.Text == "" {
				return
			}
			s.apply([]language.Edit{{Path: s.path(mainFile), Range: *diags[0].Subject, Text: meant.Text}})
			if left := s.mistakes(); len(left) > 0 {
				t.Errorf("left is %v in %s", left, s.read(mainFile))
			}
		})
	}
}
