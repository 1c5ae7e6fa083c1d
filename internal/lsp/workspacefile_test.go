// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"
)

const workspaceFile = "cairn.workspace.hcl"

// A workspace file has answers, without being part of a stack.
func TestAnswersAboutWorkspaceFile(t *testing.T) {
	e := open(t, "-- "+workspaceFile+" --\nstack \"network\" {}\nstack \"app\" {\n  after = [\"netwrk\"]\n}\n-- live/x.txt --\n")
	e.open(workspaceFile)
	if labels := e.labels(workspaceFile, "after = [\"|netwrk"); !slices.Contains(labels, "network") {
		t.Errorf("in a list of names there are %q", labels)
	}
	if labels := e.labels(workspaceFile, "app\" {\n|"); !slices.Contains(labels, "path") || slices.Contains(labels, "after") {
		t.Errorf("in a stack there are %q", labels)
	}
	hover, err := e.Hover(t.Context(), &protocol.HoverParams{TextDocumentPositionParams: e.in(workspaceFile, "aft|er")})
	e.check(err)
	if hover == nil || !strings.Contains(hover.Contents.(*protocol.MarkupContent).Value, "Stacks and tasks that must be done first.") {
		t.Errorf("hover: %+v", hover)
	}
	at := e.in(workspaceFile, "netw|rk")
	actions, err := e.CodeAction(t.Context(), &protocol.CodeActionParams{
		TextDocument: at.TextDocument, Range: protocol.Range{Start: at.Position, End: at.Position},
	})
	e.check(err)
	if len(actions) != 1 || !strings.Contains(e.applied(actions[0].(*protocol.CodeAction).Edit)[workspaceFile], `after = ["network"]`) {
		t.Errorf("actions: %+v", actions)
	}
	e.replace(workspaceFile, "netwrk", "network")
	want := "stack \"vpc\" {\n  path = \"network\"\n}\nstack \"app\" {\n  after = [\"vpc\"]\n}\n"
	if after := e.rename(workspaceFile, "netw|ork\"]", "vpc"); after[workspaceFile] != want {
		t.Errorf("renamed: %q, want %q", after[workspaceFile], want)
	}
}

// The suggestion of a diagnostic is offered, though the place alone does not show it.
func TestActionOfDiagnostic(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	e.replace(mainFile, "  inputs = { cidr", "  for_each = toset([\"north\"])\n  inputs = { cidr")
	e.replace(mainFile, "component.net.id", "component.net[\"nroth\"].id")
	e.want(mainFile, "14:36 Unknown component instance")
	diag := e.last(mainFile).Diagnostics[0]
	actions, err := e.CodeAction(t.Context(), &protocol.CodeActionParams{
		TextDocument: e.document(mainFile), Range: diag.Range, Context: protocol.CodeActionContext{Diagnostics: []protocol.Diagnostic{diag}},
	})
	e.check(err)
	if len(actions) != 1 || !strings.Contains(e.applied(actions[0].(*protocol.CodeAction).Edit)[mainFile], `component.net["north"].id`) {
		t.Errorf("actions: %+v", actions)
	}
	diag.Data = []byte(`"something else"`)
	if meant := meantBy(diag); meant != "" {
		t.Errorf("data of someone else means %q", meant)
	}
}
