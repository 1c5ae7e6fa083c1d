// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package operation_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
)

// openStack opens a stack of the files of an archive, in a directory that is not the current one.
func openStack(t *testing.T, archive string) *operation.Stack {
	t.Helper()
	for _, name := range []string{env.StateVariable, env.DeploymentVariable} {
		t.Setenv(name, "")
	}
	dir := t.TempDir()
	for _, file := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(file.Name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, file.Data, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	stack := operation.Open(operation.Options{Env: env.Options{Dir: dir}})
	t.Cleanup(func() {
		if err := stack.Close(); err != nil {
			t.Error(err)
		}
	})
	return stack
}

const imported = `
-- main.tfcomponent.hcl --
component "a" {
  source = "./m"
}
component "b" {
  for_each = toset(["x", "y"])
  source   = "./m"
}
-- m/main.tf --
resource "terraform_data" "one" {}
resource "terraform_data" "two" {}
`

// terraformState is a state with these resources, which have their names as identifiers.
func terraformState(names ...string) []byte {
	var resources []string
	for _, name := range names {
		resources = append(resources, fmt.Sprintf(`{"mode":"managed","type":"terraform_data","name":%q,"provider":"provider[\"terraform.io/builtin/terraform\"]",
			"instances":[{"schema_version":0,"attributes":{"id":"id of %[1]s"}}]}`, name))
	}
	return []byte(`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"l","outputs":{},"resources":[` +
		strings.Join(resources, ",") + `]}`)
}

// addresses are the addresses of all that the state has.
func addresses(t *testing.T, stack *operation.Stack) []string {
	t.Helper()
	stored, err := stack.States().Read(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	contents, err := stored.Contents("")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, component := range contents {
		for _, object := range component.Objects {
			all = append(all, object.In(component.Addr).String())
		}
	}
	return all
}

func wantAddresses(t *testing.T, stack *operation.Stack, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, addresses(t, stack)); diff != "" {
		t.Errorf("the state (-want +got):\n%s", diff)
	}
}

// A state goes through all changes by hand, each of them one call and one serial.
func TestStateChanges(t *testing.T) {
	ctx := t.Context()
	stack := openStack(t, imported)
	must := func(changed statechange.Changed, err error) statechange.Changed {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return changed
	}

	must(stack.StateChanges().Import(ctx, "component.a", terraformState("one", "two"), "a file"))
	if again := must(stack.StateChanges().Import(ctx, "component.a", terraformState("one", "two"), "a file")); !again.Nothing ||
		again.Serial != 1 {
		t.Errorf("the same state is imported: %+v", again)
	}
	wantAddresses(t, stack, "component.a.terraform_data.one", "component.a.terraform_data.two")

	moves := []deployment.Moved{{From: "component.a.terraform_data.two", To: `component.b["x"].terraform_data.two`}}
	from, to := moves[0].From, moves[0].To
	preview, err := stack.StateChanges().PreviewMove(ctx, from, to)
	if diff := cmp.Diff(moves, preview); err != nil || diff != "" {
		t.Errorf("preview: %v (-want +got):\n%s", err, diff)
	}
	moved, changed, err := stack.StateChanges().Move(ctx, from, to)
	must(changed, err)
	if diff := cmp.Diff(moves, moved); diff != "" {
		t.Errorf("moved (-want +got):\n%s", diff)
	}
	wantAddresses(t, stack, "component.a.terraform_data.one", to)

	removed, changed, err := stack.StateChanges().Remove(ctx, "component.a")
	if must(changed, err).Serial != 3 || len(removed.Objects) != 1 {
		t.Errorf("removed: %+v, %+v", removed, changed)
	}
	wantAddresses(t, stack, to)

	var asked []deployment.Rollback
	must(stack.StateChanges().RollBack(ctx, 1, func(_ context.Context, rollback deployment.Rollback) error {
		asked = append(asked, rollback)
		return nil
	}))
	if len(asked) != 1 || len(asked[0].Loses) != 0 || len(asked[0].Regains) != 1 || asked[0].Regains[0] != "component.a.terraform_data.one" {
		t.Errorf("asked about %+v", asked)
	}
	wantAddresses(t, stack, "component.a.terraform_data.one", "component.a.terraform_data.two")

	history, err := stack.StateChanges().History(ctx)
	var operations []string
	for _, version := range history {
		operations = append(operations, version.Operation)
	}
	if want := []string{"state import", "state mv", "state rm", "state rollback to 1"}; err != nil || !cmp.Equal(want, operations) {
		t.Errorf("history: %q, %v, want %q", operations, err, want)
	}

	exported, err := stack.StateChanges().Export(ctx, "component.a")
	if err != nil {
		t.Fatal(err)
	}
	must(stack.StateChanges().Import(ctx, `component.b["y"]`, exported, "what was exported"))
	wantAddresses(t, stack, "component.a.terraform_data.one", "component.a.terraform_data.two",
		`component.b["y"].terraform_data.one`, `component.b["y"].terraform_data.two`)
}

// The state of one stack is pushed to another; an older one, or one of another lineage, only by
// force.
func TestPushState(t *testing.T) {
	ctx := t.Context()
	document := func(stack *operation.Stack) *deployment.Document {
		stored, err := stack.States().Read(ctx)
		if err != nil {
			t.Fatal(err)
		}
		src, err := json.Marshal(stored.Document())
		if err != nil {
			t.Fatal(err)
		}
		parsed, err := deployment.ParseDocument(ctx, src, "a file", nil)
		if err != nil {
			t.Fatal(err)
		}
		return parsed
	}
	first, second := openStack(t, imported), openStack(t, imported)
	if _, err := first.StateChanges().Import(ctx, "component.a", terraformState("one"), "a file"); err != nil {
		t.Fatal(err)
	}
	old := document(first)
	if _, err := second.StateChanges().Push(ctx, old, false); err != nil {
		t.Fatal(err)
	}
	wantAddresses(t, second, "component.a.terraform_data.one")
	if _, _, err := second.StateChanges().Remove(ctx, "component.a"); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Outdated state serial", func() error { _, err := second.StateChanges().Push(ctx, old, false); return err })
	if _, err := second.StateChanges().Push(ctx, old, true); err != nil {
		t.Fatal(err)
	}
	wantAddresses(t, second, "component.a.terraform_data.one")

	other := openStack(t, imported)
	if _, err := other.StateChanges().Import(ctx, "component.a", terraformState("two"), "a file"); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Different state lineage", func() error { _, err := other.StateChanges().Push(ctx, old, false); return err })
}

// A change that is refused leaves the state as it was, and unlocked.
func TestStateChangesRefused(t *testing.T) {
	ctx := t.Context()
	stack := openStack(t, imported)
	if _, err := stack.StateChanges().Import(ctx, "component.a", terraformState("one"), "a file"); err != nil {
		t.Fatal(err)
	}
	for summary, change := range map[string]func() error{
		"Object not in the state": func() error { _, _, err := stack.StateChanges().Remove(ctx, "component.c"); return err },
		"Invalid move":            func() error { _, _, err := stack.StateChanges().Move(ctx, "component.a", "component.a"); return err },
		"Component not declared": func() error {
			_, err := stack.StateChanges().Import(ctx, "component.c", terraformState("one"), "a file")
			return err
		},
		"Not a Terraform state": func() error {
			_, err := stack.StateChanges().Import(ctx, "component.a", []byte("{}"), "a file")
			return err
		},
		"Approval needed": func() error { _, err := stack.StateChanges().RollBack(ctx, 0, nil); return err },
		"No such serial":  func() error { _, err := stack.StateChanges().RollBack(ctx, 99, nil); return err },
		"Command failed": func() error {
			_, err := stack.StateChanges().RollBack(ctx, 0, func(context.Context, deployment.Rollback) error { return errors.New("not today") })
			return err
		},
		"No such lock": func() error { return stack.StateChanges().Unlock(ctx, "that") },
	} {
		t.Run(summary, func(t *testing.T) {
			wantError(t, summary, change)
			wantAddresses(t, stack, "component.a.terraform_data.one")
			if history, err := stack.StateChanges().History(ctx); err != nil || len(history) != 1 {
				t.Errorf("history: %v, %v", history, err)
			}
		})
	}
}

func wantError(t *testing.T, summary string, do func() error) {
	t.Helper()
	if diags := operation.Diagnostics(do()); len(diags) != 1 || diags[0].Summary != summary {
		t.Errorf("got %v, want %q", diags, summary)
	}
}
