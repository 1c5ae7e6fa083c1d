// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/lsp/language"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// stacks returns the directories of all stacks of the repository that are for reading.
func stacks(t testing.TB) []string {
	t.Helper()
	var dirs []string
	for _, root := range []string{"../../../examples", "../../../testdata/stacks", "../../deployments/deployconfig/testdata"} {
		err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err == nil && !entry.IsDir() && stackconfig.IsComponentFile(path) {
				dirs = append(dirs, filepath.Dir(path))
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	slices.Sort(dirs)
	dirs = slices.Compact(dirs)
	if len(dirs) < 20 {
		t.Fatalf("there are %d stacks: these are not all", len(dirs))
	}
	return dirs
}

// limit is far more than any answer about a small stack takes.
const limit = 2 * time.Second

// Every question has an answer at every place of every stack, in time, and with ranges in the
// files.
func TestEveryPlace(t *testing.T) {
	for _, dir := range stacks(t) {
		view := viewOf(t, dir)
		stack := language.New(view)
		for _, file := range view.Files {
			for offset := range len(file.Src) + 1 {
				askAll(t, stack, view, file, offset)
			}
		}
	}
}

// A text that ends anywhere has answers at its end.
func TestEveryBeginning(t *testing.T) {
	for _, dir := range stacks(t) {
		view := viewOf(t, dir)
		for i, file := range view.Files {
			for offset := 0; offset <= len(file.Src); offset += 1 + len(file.Src)/100 {
				shorter := view
				shorter.Files = slices.Clone(view.Files)
				shorter.Files[i].Src = file.Src[:offset:offset]
				askAll(t, language.New(shorter), shorter, shorter.Files[i], offset)
			}
		}
	}
}

func askAll(t *testing.T, stack *language.Stack, view language.View, file language.File, offset int) {
	t.Helper()
	began := time.Now()
	inside := func(what, path string, rng hcl.Range) {
		for _, f := range view.Files {
			if f.Path == path && (rng.Start.Byte < 0 || rng.Start.Byte > rng.End.Byte || rng.End.Byte > len(f.Src)) {
				t.Errorf("%s at %d of %s: %v is not in the file", what, offset, file.Path, rng)
			}
		}
	}
	for _, completion := range stack.Complete(file.Path, offset) {
		inside("completion", file.Path, completion.Replace)
		if completion.Replace.End.Byte < offset && completion.Replace != (hcl.Range{}) {
			t.Errorf("completion %q at %d of %s replaces %v", completion.Label, offset, file.Path, completion.Replace)
		}
	}
	if hover := stack.Hover(file.Path, offset); hover != nil {
		inside("hover", file.Path, hover.Range)
	}
	for _, location := range slices.Concat(stack.Definition(file.Path, offset), stack.References(file.Path, offset, true)) {
		inside("location", location.Path, location.Range)
	}
	if renaming, err := stack.Rename(file.Path, offset, "renamed"); err == nil {
		for _, edit := range renaming.Edits {
			inside("renaming", edit.Path, edit.Range)
		}
	}
	at := hcl.Range{Start: hcl.Pos{Byte: offset}, End: hcl.Pos{Byte: offset}}
	for _, action := range stack.Actions(file.Path, at) {
		for _, edit := range action.Edits {
			inside("action", edit.Path, edit.Range)
		}
	}
	stack.SignatureAt(file.Path, offset)
	if offset == len(file.Src) {
		stack.Hints(file.Path, 0, offset)
		stack.Lenses(file.Path)
	}
	if took := time.Since(began); took > limit {
		t.Errorf("answers at %d of %s took %s", offset, file.Path, took)
	}
}

// The references to a declaration have it as their definition, and the reverse.
func TestReferencesAndDefinitionsAgree(t *testing.T) {
	checked := 0
	for _, dir := range stacks(t) {
		view := viewOf(t, dir)
		stack := language.New(view)
		for _, file := range view.Files {
			for offset := range len(file.Src) + 1 {
				declared := stack.Definition(file.Path, offset)
				used := stack.References(file.Path, offset, true)
				if len(declared) != 1 || len(used) == 0 {
					continue
				}
				for _, use := range used {
					checked++
					if got := stack.Definition(use.Path, use.Range.Start.Byte); !slices.Equal(got, declared) {
						t.Errorf("%s at %d: definition of the use %v is %v, want %v", file.Path, offset, use, got, declared)
					}
				}
				if place := declared[0]; slices.ContainsFunc(view.Files, func(f language.File) bool { return f.Path == place.Path }) {
					if got := stack.References(place.Path, place.Range.Start.Byte, true); !slices.Equal(got, used) {
						t.Errorf("%s at %d: references of the declaration are %v, want %v", file.Path, offset, got, used)
					}
				}
			}
		}
	}
	if checked < 100 {
		t.Errorf("%d references were checked", checked)
	}
}

// Renaming there and back gives the same files, except for moved blocks.
func TestRenameAndBack(t *testing.T) {
	renamed := 0
	for _, dir := range stacks(t) {
		view := viewOf(t, dir)
		stack := language.New(view)
		for _, symbol := range stack.Symbols("") {
			if symbol.Kind == language.Deployment {
				continue // it is not renamed: its state has its name
			}
			offset := symbol.Range.Start.Byte
			name, _, err := stack.PrepareRename(symbol.Path, offset)
			if err != nil {
				t.Errorf("%s: %v", symbol.Title, err)
				continue
			}
			there, err := stack.Rename(symbol.Path, offset, "renamed_to_something")
			if err != nil {
				t.Errorf("%s: %v", symbol.Title, err)
				continue
			}
			after := edited(view, there.Edits)
			again := language.New(after)
			at := slices.IndexFunc(again.Symbols(""), func(s language.SymbolInfo) bool {
				return s.Kind == symbol.Kind && s.Dir == symbol.Dir && strings.HasSuffix(s.Name, "renamed_to_something")
			})
			if at < 0 {
				t.Errorf("%s: the new name is not declared", symbol.Title)
				continue
			}
			declared := again.Symbols("")[at]
			back, err := again.Rename(declared.Path, declared.Range.Start.Byte, name)
			if err != nil {
				t.Errorf("%s, back: %v", symbol.Title, err)
				continue
			}
			want := view
			if symbol.Kind == language.Component || symbol.Kind == language.Call {
				for _, edit := range there.Edits {
					if strings.Contains(edit.Text, "moved {") {
						edit.Text = turned(edit.Text, name)
						want = edited(want, []language.Edit{edit})
					}
				}
			}
			renamed++
			got := edited(after, back.Edits)
			for i, file := range want.Files {
				if string(got.Files[i].Src) != string(file.Src) {
					t.Errorf("%s in %s: got %s, want %s", symbol.Title, file.Path, got.Files[i].Src, file.Src)
				}
			}
		}
	}
	if renamed < 50 {
		t.Errorf("%d names were renamed", renamed)
	}
}

// turned is a moved block in the other direction.
func turned(block, name string) string {
	block = strings.ReplaceAll(block, "."+name+"\n", ".\x00\n")
	block = strings.ReplaceAll(block, ".renamed_to_something\n", "."+name+"\n")
	return strings.ReplaceAll(block, ".\x00\n", ".renamed_to_something\n")
}

// edited returns a view with edits.
func edited(view language.View, edits []language.Edit) language.View {
	view.Files = slices.Clone(view.Files)
	for _, edit := range slices.Backward(edits) {
		for i, file := range view.Files {
			if file.Path == edit.Path {
				text := string(file.Src[:edit.Range.Start.Byte]) + edit.Text + string(file.Src[edit.Range.End.Byte:])
				view.Files[i].Src = []byte(text)
			}
		}
	}
	return view
}

// generated is a stack of some components in a chain, each with the module of the tests.
func generated(components int) string {
	var b strings.Builder
	b.WriteString(world + "-- " + mainFile + " --\n")
	for i := range components {
		previous := "var.region"
		if i > 0 {
			previous = fmt.Sprintf("component.c%d.id", i-1)
		}
		fmt.Fprintf(&b, "component \"c%d\" {\n  source = \"../modules/net\"\n  inputs = {\n    cidr    = %s\n"+
			"    options = { dns = true }\n  }\n}\n", i, previous)
	}
	b.WriteString("component \"last\" {\n  inputs = { a = component.\n")
	return b.String()
}

// A completion includes reading the text that has just been typed.
func BenchmarkComplete(b *testing.B) {
	view, path, offset := benchmarkView(b)
	b.ReportAllocs()
	for b.Loop() {
		if found := language.New(view).Complete(path, offset); len(found) != 302 {
			b.Fatalf("%d completions", len(found))
		}
	}
}

func BenchmarkReferences(b *testing.B) {
	view, path, _ := benchmarkView(b)
	b.ReportAllocs()
	for b.Loop() {
		language.New(view).References(path, 12, true)
	}
}

func benchmarkView(b *testing.B) (view language.View, path string, offset int) {
	b.Helper()
	dir := writeArchive(b, generated(300))
	view = viewOf(b, filepath.Join(dir, "stack"))
	path = filepath.Join(dir, filepath.FromSlash(mainFile))
	for _, f := range view.Files {
		if f.Path == path {
			offset = strings.LastIndex(string(f.Src), "component.") + len("component.")
		}
	}
	return view, path, offset
}
