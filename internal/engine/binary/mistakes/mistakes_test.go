// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package mistakes_test

import (
	"strings"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/binary/mistakes"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

func mistake(severity hcl.DiagnosticSeverity, summary, detail, file string) *hcl.Diagnostic {
	return &hcl.Diagnostic{Severity: severity, Summary: summary, Detail: detail, Subject: &hcl.Range{Filename: file}}
}

func summaries(diags hcl.Diagnostics) string {
	var all []string
	for _, diag := range diags {
		all = append(all, diag.Summary)
	}
	return strings.Join(all, " ")
}

// newTree is a root that calls one module.
func newTree() (*module.Tree, *module.Directory) {
	root := &module.Node{Directory: &module.Directory{Files: []*module.File{{Display: "root.tf"}}}}
	called := &module.Directory{Files: []*module.File{{Display: "called.tf"}}}
	return &module.Tree{Root: root, Nodes: []*module.Node{{Directory: called}}, Faulty: map[*module.Directory]bool{}}, called
}

// Diagnostics of several runs about one place are one mistake, however they name the module. Errors
// make the module faulty that they are in.
func TestAdd(t *testing.T) {
	tree, called := newTree()
	found := mistakes.New(tree)
	found.Add(hcl.Diagnostics{
		mistake(hcl.DiagError, "A", "In this module.", "called.tf"), mistake(hcl.DiagError, "A", "In module.c.", "called.tf"),
		mistake(hcl.DiagWarning, "B", "", "root.tf"),
	})
	found.Add(hcl.Diagnostics{mistake(hcl.DiagError, "A", "In the root module.", "called.tf"), mistake(hcl.DiagError, "A", "Elsewhere.",
		"called.tf")})
	if got := summaries(found.Diags); got != "A B A" {
		t.Errorf("found %s", got)
	}
	if !found.Faulty[called] || found.Faulty[tree.Root.Directory] || found.ToReplace() != 1 {
		t.Errorf("faulty: %v", found.Faulty)
	}
	if len(tree.Faulty) > 0 {
		t.Error("the tree is changed")
	}
}

// That providers do not match counts only if that is all: else it may come from a module that was
// not loaded.
func TestAddWhole(t *testing.T) {
	mismatch := mistake(hcl.DiagError, "Provider type mismatch", "", "root.tf")
	tree, _ := newTree()
	found := mistakes.New(tree)
	found.AddWhole(hcl.Diagnostics{mismatch, mistake(hcl.DiagError, "A", "", "called.tf")})
	if got := summaries(found.Diags); got != "A" {
		t.Errorf("with another mistake: %s", got)
	}
	found = mistakes.New(tree)
	found.AddWhole(hcl.Diagnostics{mismatch})
	if got := summaries(found.Diags); got != mismatch.Summary {
		t.Errorf("alone: %s", got)
	}
}

func TestWithoutWhatTheRunIsAtFaultFor(t *testing.T) {
	diags := hcl.Diagnostics{
		mistake(hcl.DiagError, "A", "In the root module.", "called.tf"),
		mistake(hcl.DiagWarning, "B", "", "called.tf"),
		mistake(hcl.DiagError, "Output refers to sensitive values", "", "called.tf"),
		mistake(hcl.DiagError, "Configuration for import target does not exist", "", "called.tf"),
	}
	called := mistakes.AsCalled(diags)
	if got := summaries(called); got != "A Configuration for import target does not exist" || called[0].Detail != "In this module." {
		t.Errorf("as called: %s", got)
	}
	if got := summaries(mistakes.BesideStandIns(diags)); got != "A Output refers to sensitive values" {
		t.Errorf("beside stand-ins: %s", got)
	}
	if diags[0].Detail != "In the root module." || len(diags) != 4 {
		t.Error("the diagnostics are changed")
	}

	ephemeral := hcl.Range{Filename: "root.tf", Start: hcl.Pos{Line: 3}}
	root := &module.Directory{Outputs: map[string]*module.Output{
		"o": {Output: &engine.Output{Ephemeral: true, Range: ephemeral}}, "p": {Output: &engine.Output{}},
	}}
	for name, test := range map[string]struct {
		subject *hcl.Range
		want    bool
	}{"ephemeral output": {&ephemeral, true}, "other place": {&hcl.Range{}, false}, "no place": {nil, false}} {
		if got := mistakes.IsEphemeralOutput(root, &hcl.Diagnostic{Subject: test.subject}); got != test.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
