// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package lsp

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.lsp.dev/protocol"

	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/tables"
)

// store writes a state with component instances.
func (e *editor) store(base statestore.Base, instances ...string) statestore.Base {
	e.t.Helper()
	store, err := tables.Open(filepath.Join(e.dir, states.Default), nil, statestore.Options{})
	e.check(err)
	lock, err := store.Lock(e.t.Context(), "default", statestore.LockRequest{Operation: "test"})
	e.check(err)
	records := map[string][]byte{}
	for _, instance := range instances {
		records["CMPT"+instance] = []byte{}
	}
	writer, err := lock.Begin(e.t.Context(), base, "test", records)
	e.check(err)
	e.check(writer.Commit(e.t.Context()))
	snapshot, err := store.Read(e.t.Context(), "default")
	e.check(err)
	e.check(errors.Join(lock.Unlock(e.t.Context()), store.Close()))
	return snapshot.Base()
}

// removals returns the code actions that remove leftovers, by title.
func (e *editor) removals(name string) map[string]*protocol.CodeAction {
	e.t.Helper()
	actions, err := e.CodeAction(e.t.Context(), &protocol.CodeActionParams{TextDocument: e.document(name)})
	e.check(err)
	found := map[string]*protocol.CodeAction{}
	for _, action := range actions {
		if action := action.(*protocol.CodeAction); strings.HasPrefix(action.Title, "Add a removed block") {
			found[action.Title] = action
		}
	}
	return found
}

// The state of a stack has the leftovers of the stacks that it embeds, too.
func TestLeftOversOfEmbeddedStacks(t *testing.T) {
	e := open(t, `
-- main.tfcomponent.hcl --
stack "region" {
  for_each = toset(["a"])
  source   = "./region"
  inputs   = { name = each.key }
}
-- region/main.tfcomponent.hcl --
variable "name" {
  type = string
}
`)
	e.store(statestore.Base{}, `stack.region["a"].component.old`, `stack.region["b"].component.old`)
	e.open(mainFile)
	e.open("region/main.tfcomponent.hcl")
	action := e.removals(mainFile)[`Add a removed block for stack.region["b"]`]
	if action == nil {
		t.Fatalf("a key is gone, and the actions are %v", e.removals(mainFile))
	}
	want := "removed {\n  from   = stack.region[\"b\"]\n  source = \"./region\"\n  inputs = { name = \"b\" }\n}\n"
	if after := e.applied(action.Edit)[mainFile]; !strings.HasSuffix(after, want) {
		t.Errorf("got %q, want %q at its end", after, want)
	}
	if actions := e.removals("region/main.tfcomponent.hcl"); len(actions) != 1 ||
		actions["Add a removed block for component.old, with the source to be filled in"] == nil {
		t.Errorf("in the embedded stack the actions are %v", actions)
	}
}

func TestLeftOverComponents(t *testing.T) {
	e := open(t, shop)
	e.open(mainFile)
	e.open("variables.tfcomponent.hcl")
	if actions := e.removals(mainFile); len(actions) > 0 {
		t.Errorf("nothing is left over, and the actions are %v", actions)
	}
	if _, err := os.Stat(filepath.Join(e.dir, states.Default)); err == nil {
		t.Error("a state was made")
	}

	// The file on the disk still has the component.
	e.replace(mainFile, "component \"net\" {\n  source = \"./net\"\n  inputs = { cidr = \"10.0.0.0/8\" }\n}\n", "")
	const title = "Add a removed block for component.net"
	action := e.removals("variables.tfcomponent.hcl")[title]
	if action == nil {
		t.Fatal("component.net is left over, and there is no action")
	}
	after := e.applied(action.Edit)["variables.tfcomponent.hcl"]
	if want := "\nremoved {\n  from   = component.net\n  source = \"./net\"\n}\n"; !strings.HasSuffix(after, want) {
		t.Errorf("got %q, want %q at its end", after, want)
	}

	// The state has a component, of which nobody knows the source.
	base := e.store(statestore.Base{}, "component.app", "component.old")
	e.check(e.DidSave(t.Context(), &protocol.DidSaveTextDocumentParams{TextDocument: e.document(mainFile)}))
	action = e.removals(mainFile)["Add a removed block for component.old, with the source to be filled in"]
	if action == nil {
		t.Fatalf("component.old is in the state, and the actions are %v", e.removals(mainFile))
	}
	text := e.applied(action.Edit)[mainFile]
	e.replace(mainFile, string(e.texts[mainFile].Bytes()), text)
	if actions := e.removals(mainFile); len(actions) != 1 || actions[title] == nil {
		t.Errorf("with the block the actions are %v", actions)
	}
	line := strings.Count(text[:strings.Index(text, "SOURCE-IT-HAD")], "\n") + 1
	e.until(func() string {
		shown := e.shown(mainFile)
		if slices.Contains(shown, fmt.Sprintf("%d:15 Source cannot be used here", line)) {
			return ""
		}
		return strings.Join(shown, "\n")
	}, "what is to be filled in is not reported, but")

	// Another state is read.
	e.store(base, "component.older")
	e.check(e.DidSave(t.Context(), &protocol.DidSaveTextDocumentParams{TextDocument: e.document(mainFile)}))
	if e.removals(mainFile)["Add a removed block for component.older, with the source to be filled in"] == nil {
		t.Errorf("component.older is in the state now, and the actions are %v", e.removals(mainFile))
	}
	entries, err := filepath.Glob(filepath.Join(e.dir, states.Default+"*"))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the state there are %q, %v", entries, err)
	}
}
