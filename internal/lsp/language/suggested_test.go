// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"slices"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/internal/lsp/snapshot"
)

// mistakes returns the diagnostics of validation in the main file, and the stack as the snapshot has it.
func (s session) mistakes() (*language.Stack, hcl.Diagnostics) {
	s.t.Helper()
	snap := snapshot.NewWorkspace(snapshot.Options{Environ: []string{}}).Stack(s.path("stack"))
	if snap == nil {
		s.t.Fatal("there is no stack")
	}
	diags := snap.Validate(s.t.Context())
	return language.New(language.ViewOf(snap)), slices.DeleteFunc(diags, func(diag *hcl.Diagnostic) bool {
		return diag.Subject == nil || diag.Subject.Filename != "main.tfcomponent.hcl"
	})
}

// What a diagnostic suggests removes the mistake.
func TestSuggested(t *testing.T) {
	for name, test := range map[string]struct{ text, title string }{
		"variable":      {"locals {\n  a = \"${var.regoin}-x\"\n}\n", `Change to "var.region"`},
		"local value":   {"locals {\n  a = local.prefx\n}\n", `Change to "local.prefix"`},
		"component":     {"locals {\n  a = component.mnay[\"a\"].id\n}\n", `Change to "component.many"`},
		"stack":         {"locals {\n  a = stack.chlid.url\n}\n", `Change to "stack.child"`},
		"output":        {"locals {\n  a = component.net.zonse\n}\n", `Change to "zones"`},
		"output by key": {"locals {\n  a = component.net[\"zonse\"]\n}\n", ""},
		"instance": {
			"component \"keys\" {\n  source = \"../modules/net\"\n  for_each = toset([\"north\"])\n  inputs = { cidr = \"\", options = { dns = true } }\n}\n" +
				"locals {\n  a = component.keys[\"nroth\"].id\n}\n",
			`Change to "[\"north\"]"`,
		},
		"nothing near": {"locals {\n  a = var.entirely_different\n}\n", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := openWorld(t, test.text)
			stack, diags := s.mistakes()
			if len(diags) != 1 {
				t.Fatalf("there are %d mistakes: %v", len(diags), diags)
			}
			actions := stack.Suggested(s.path(mainFile), diags)
			if test.title == "" {
				if len(actions) > 0 {
					t.Errorf("got %v", actions)
				}
				return
			}
			if len(actions) != 1 || actions[0].Title != test.title {
				t.Fatalf("got %v for %v, want %q", actions, diags, test.title)
			}
			s.apply(actions[0].Edits)
			if _, left := s.mistakes(); len(left) > 0 {
				t.Errorf("left is %v in %s", left, s.read(mainFile))
			}
		})
	}
}
