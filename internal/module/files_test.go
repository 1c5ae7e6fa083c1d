// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package module

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

func writeModule(t testing.TB, dir, content string) string {
	t.Helper()
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Loaders for several stacks parse a module once, as long as it is the same and has the same name
// for all of them.
func TestFilesAreParsedOnce(t *testing.T) {
	root := t.TempDir()
	module := writeModule(t, filepath.Join(root, "module"), "variable \"a\" {}\n")
	var files Files
	load := func(stack string) *File {
		t.Helper()
		tree, diags := NewLoader(Options{Base: filepath.Join(root, stack), Files: &files}).Load(module)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		return tree.Root.Files[0]
	}
	first := load("one")
	if load("two") != first {
		t.Error("the file was parsed again for another stack")
	}
	deeper := load("deeper/three")
	if got := deeper.File.Body.MissingItemRange().Filename; got != "../../module/main.tf" || deeper == first {
		t.Errorf("ranges in the file of a deeper stack name it %s", got)
	}
	writeModule(t, module, "variable \"b\" {}\n")
	if edited := load("one"); edited == first || string(edited.Source) != "variable \"b\" {}\n" {
		t.Errorf("after it was edited, the file is %q", edited.Source)
	}
}

// A caller may change the diagnostics that it gets.
func TestDiagnosticsAreNotShared(t *testing.T) {
	root := t.TempDir()
	module := writeModule(t, filepath.Join(root, "module"), "variable \"a\" {\n")
	var files Files
	_, first := NewLoader(Options{Base: root, Files: &files}).Load(module)
	_, second := NewLoader(Options{Base: root, Files: &files}).Load(module)
	if len(first) == 0 || len(second) != len(first) || first[0] == second[0] {
		t.Errorf("diagnostics %v and %v", first, second)
	}
}

// The kept files are limited, and more than that are read all the same.
func TestKeptFilesAreLimited(t *testing.T) {
	var files Files
	files.bytes.Store(maxKept - 10)
	for range 2 {
		if file, diags := files.parse("main.tf", "main.tf", []byte("variable \"a\" {}\n")); file == nil || diags.HasErrors() {
			t.Errorf("a file beyond the limit: %v, %v", file, diags)
		}
	}
	if got := files.bytes.Load(); got != maxKept-10 {
		t.Errorf("%d bytes are kept", got)
	}
}

func BenchmarkLoadForManyStacks(b *testing.B) {
	root := b.TempDir()
	var content string
	for i := range 100 {
		content += fmt.Sprintf("resource \"terraform_data\" \"r%d\" {\n  input = [var.a, \"text ${var.b}\"]\n}\n", i)
	}
	module := writeModule(b, filepath.Join(root, "module"), content)
	for name, files := range map[string]*Files{"apart": nil, "together": {}} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, diags := NewLoader(Options{Base: filepath.Join(root, "stack"), Files: files}).Load(module); diags.HasErrors() {
					b.Fatal(diags)
				}
			}
		})
	}
}

// A loader reads one more file of one directory, which others do not have.
func TestWith(t *testing.T) {
	root := t.TempDir()
	dir := writeModule(t, filepath.Join(root, "module"), "variable \"a\" {}\nmodule \"c\" {\n  source = \"./called\"\n}\n")
	writeModule(t, filepath.Join(dir, "called"), "variable \"b\" {\n  default = 1\n}\n")
	loader := NewLoader(Options{Base: root})
	with := loader.With(filepath.Join(dir, "added.tf"), []byte("variable \"added\" {}\n"))
	for loader, want := range map[*Loader]int{loader: 1, with: 2} {
		tree, diags := loader.Load(dir)
		if diags.HasErrors() {
			t.Fatal(diags)
		}
		if root, called := tree.Root.Variables, tree.Root.Children["c"].Variables; len(root) != want || len(called) != 1 {
			t.Errorf("the variables are %v and, in the called module, %v", root, called)
		}
	}
}
