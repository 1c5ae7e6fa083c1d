// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package snapshot

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"golang.org/x/tools/txtar"
)

// write writes the files of an archive and returns the directory with them.
func write(t testing.TB, archive string) string {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range txtar.Parse([]byte(archive)).Files {
		put(t, filepath.Join(dir, file.Name), string(file.Data))
	}
	return dir
}

func put(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

const twoStacks = `
-- stack/a.tfcomponent.hcl --
component "net" {
  source = "./net"
  inputs = { size = var.size }
}
-- stack/b.tfcomponent.hcl --
variable "size" {
  type = number
}
stack "child" {
  source = "../child"
  inputs = { name = "x" }
}
-- stack/net/main.tf --
variable "size" {
  type = number
}
output "id" {
  value = 1
}
-- child/c.tfcomponent.hcl --
variable "name" {
  type = string
}
`

func found(diags hcl.Diagnostics) []string {
	var all []string
	for _, diag := range diags {
		name := "?"
		if diag.Subject != nil {
			name = fmt.Sprintf("%s:%d", diag.Subject.Filename, diag.Subject.Start.Line)
		}
		all = append(all, name+" "+diag.Summary)
	}
	return all
}

func check(t *testing.T, snap *Snapshot, want ...string) {
	t.Helper()
	if diff := cmp.Diff(want, found(snap.Validate(t.Context()))); diff != "" {
		t.Errorf("diagnostics (-want +got):\n%s", diff)
	}
}

func TestEdits(t *testing.T) {
	dir := write(t, twoStacks)
	w := NewWorkspace(Options{})
	a, b := filepath.Join(dir, "stack/a.tfcomponent.hcl"), filepath.Join(dir, "stack/b.tfcomponent.hcl")
	child := filepath.Join(dir, "child/c.tfcomponent.hcl")
	first := w.Stack(a)
	check(t, first)
	if diff := cmp.Diff([]string{child, a, b}, first.Paths()); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if w.Stack(b) != first {
		t.Error("nothing has changed, and there is a new snapshot")
	}

	// A text that is not saved counts, and the other files are not parsed again.
	w.Edit(b, []byte("variable \"sizes\" {\n  type = number\n}\nstack \"child\" {\n  source = \"../child\"\n}\n"))
	second := w.Stack(a)
	check(t, second, "a.tfcomponent.hcl:3 Unknown variable", "b.tfcomponent.hcl:4 Embedded stack needs inputs")
	if second.File(a).Tree != first.File(a).Tree || second.File(child).Tree != first.File(child).Tree {
		t.Error("files that have not changed were parsed again")
	}
	if !second.File(b).Open || second.File(a).Open {
		t.Error("b is open, a is not")
	}
	check(t, first) // rule 1

	// One of the embedded stack counts, too.
	w.Close(b)
	w.Edit(child, []byte("variable \"names\" {\n  type = string\n}\n"))
	if len(w.Stack(a).Validate(t.Context())) == 0 {
		t.Error("an unsaved file of an embedded stack does not count")
	}
	w.Close(child)
	check(t, w.Stack(a))

	// A file that is not on the disk.
	fresh := filepath.Join(dir, "stack/new.tfcomponent.hcl")
	w.Edit(fresh, []byte("locals {\n  x = var.nothing\n}\n"))
	check(t, w.Stack(a), "new.tfcomponent.hcl:2 Unknown variable")
	if got := w.Stack(fresh).Path("new.tfcomponent.hcl"); got != fresh {
		t.Errorf("Path = %s, want %s", got, fresh)
	}
	w.Close(fresh)
	check(t, w.Stack(a))
}

func TestBrokenFile(t *testing.T) {
	dir := write(t, twoStacks)
	w := NewWorkspace(Options{})
	a, b := filepath.Join(dir, "stack/a.tfcomponent.hcl"), filepath.Join(dir, "stack/b.tfcomponent.hcl")
	before := w.Stack(a)
	w.Edit(b, []byte("variable \"si\nlocals {\n  n = 1\n}\n"))
	snap := w.Stack(a)
	if diags := snap.Validate(t.Context()); len(diags) == 0 || diags[0].Subject.Filename != "b.tfcomponent.hcl" {
		t.Errorf("diagnostics: %s", found(diags))
	}
	if !snap.Config.Root.Incomplete || snap.Config.Root.Variables["size"] != nil {
		t.Error("Config has what a broken file declares")
	}
	if snap.Declared.Root.Variables["size"] == nil || snap.Declared.Root.Calls["child"] == nil || snap.Declared.Root.Components["net"] == nil {
		t.Error("Declared lacks what the file has declared when it was right")
	}
	if snap.File(b).LastGood != before.File(b).Tree {
		t.Error("LastGood is another tree than that of the file when it was right")
	}
	if len(snap.StacksOf(b)) != 1 {
		t.Error("the broken file is part of no stack")
	}

	// The right parts of a file that never was right.
	other := filepath.Join(dir, "child/d.tfcomponent.hcl")
	w.Edit(other, []byte("locals {\n  m = 1\n}\nvariable \"x\" {\n  type = \n}\n"))
	child := w.Stack(other)
	if child.Declared.Root.Locals["m"] == nil || child.Config.Root.Locals["m"] != nil {
		t.Errorf("locals: declared %v, in the configuration %v", child.Declared.Root.Locals, child.Config.Root.Locals)
	}
}

func TestModules(t *testing.T) {
	dir := write(t, twoStacks)
	w := NewWorkspace(Options{})
	a, main := filepath.Join(dir, "stack/a.tfcomponent.hcl"), filepath.Join(dir, "stack/net/main.tf")
	snap := w.Stack(a)
	described := snap.Module(filepath.Dir(main))
	if described == nil || described.Variables["size"] == nil || described.Outputs["id"] == nil {
		t.Fatalf("the module is %+v", described)
	}
	if path := snap.Path(described.Outputs["id"].Range.Filename); path != main {
		t.Errorf("the output is in %s, want %s", path, main)
	}
	w.Edit(a, []byte(string(snap.Text(a).Bytes())+"\n"))
	if w.Stack(a).Module(filepath.Dir(main)) != described {
		t.Error("the module has not changed, and was read again")
	}

	put(t, main, "variable \"other\" {\n  type = number\n}\n")
	w.Changed()
	if got := len(w.Stack(a).Validate(t.Context())); got == 0 {
		t.Error("the change of a module is not seen")
	}
	w.Edit(main, []byte("variable \"size\" {\n  type = number\n}\n"))
	check(t, w.Stack(a))

	if err := os.RemoveAll(filepath.Dir(main)); err != nil {
		t.Fatal(err)
	}
	w.Close(main)
	w.Changed()
	if got := found(w.Stack(a).Validate(t.Context())); !slices.Contains(got, "a.tfcomponent.hcl:2 Source cannot be used here") {
		t.Errorf("the module is gone, and the diagnostics are %q", got)
	}
}

func TestConstantsOfModules(t *testing.T) {
	dir := write(t, `
-- main.tfcomponent.hcl --
component "net" {
  source = "./net"
  inputs = { which = "one" }
}
locals {
  which = "one"
}
-- net/main.tf --
variable "which" {
  type  = string
  const = true
}
module "child" { source = "./${var.which}" }
-- net/one/main.tf --
locals {}
`)
	w := NewWorkspace(Options{})
	stack := filepath.Join(dir, "main.tfcomponent.hcl")
	check(t, w.Stack(stack))
	text := string(w.Stack(stack).Text(stack).Bytes())
	w.Edit(stack, []byte(strings.Replace(text, `"one"`, `"two"`, 1)))
	check(t, w.Stack(stack), "net/main.tf:5 No module at this source")
	w.Edit(stack, []byte(strings.Replace(text, `"one"`, "local.which", 1)))
	check(t, w.Stack(stack), "main.tfcomponent.hcl:3 Unknown value of constant variable")
	w.Edit(stack, []byte(text))
	check(t, w.Stack(stack))
}

func TestStacks(t *testing.T) {
	dir := write(t, twoStacks+"-- .hidden/x.tfcomponent.hcl --\n-- cairn.workspace.hcl --\n")
	w := NewWorkspace(Options{})
	w.AddFolder(dir)
	want := []string{filepath.Join(dir, "child"), filepath.Join(dir, "stack")}
	if diff := cmp.Diff(want, w.Stacks()); diff != "" {
		t.Errorf("stacks (-want +got):\n%s", diff)
	}
	for _, none := range []string{
		filepath.Join(dir, "cairn.workspace.hcl"), filepath.Join(dir, "stack/net/main.tf"),
		filepath.Join(dir, "nowhere/x.tfcomponent.hcl"), dir,
	} {
		if w.Stack(none) != nil {
			t.Errorf("%s belongs to a stack", none)
		}
	}
	if err := os.RemoveAll(filepath.Join(dir, "child")); err != nil {
		t.Fatal(err)
	}
	w.Changed()
	if w.Stack(want[0]) != nil || !slices.Equal(w.Stacks(), want[1:]) {
		t.Errorf("the directory was removed, and the stacks are %q", w.Stacks())
	}
	w.RemoveFolder(dir)
	if got := w.Stacks(); len(got) != 0 {
		t.Errorf("without folders there are stacks %q", got)
	}
}

// Readers get snapshots that agree with themselves, while others edit.
func TestConcurrentUse(t *testing.T) {
	dir := write(t, twoStacks)
	w := NewWorkspace(Options{})
	b := filepath.Join(dir, "stack/b.tfcomponent.hcl")
	good, err := os.ReadFile(b)
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for n := range 4 {
		all.Go(func() {
			for i := range 20 {
				w.Edit(b, []byte(string(good)+strings.Repeat("\n", n*20+i)))
			}
		})
		all.Go(func() {
			for range 20 {
				snap := w.Stack(b)
				if diags := snap.Validate(t.Context()); len(diags) > 0 {
					t.Errorf("diagnostics: %q", found(diags))
				}
			}
		})
	}
	all.Wait()
}
