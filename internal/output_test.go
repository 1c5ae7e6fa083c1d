// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writers are the packages that write to the streams of the process, or know a terminal, besides commands, which are of package main.
var writers = []string{
	"internal/cli",     // and its views, which get a writer from it
	"internal/testenv", // builds what tests need, and says so
}

// All others return what is to be shown, or write it to what they are given.
func TestOnlyCommandLinesWrite(t *testing.T) {
	files := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		case slices.ContainsFunc(writers, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path.Join("..", name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Name.Name == "main" {
			return nil
		}
		for _, spec := range file.Imports {
			if imported, err := strconv.Unquote(spec.Path.Value); err == nil && imported == "golang.org/x/term" {
				t.Errorf("%s imports %s, which is for the command line", name, imported)
			}
		}
		ast.Inspect(file, func(n ast.Node) bool {
			selector, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			of, ok := selector.X.(*ast.Ident)
			if ok && (of.Name == "os" && (selector.Sel.Name == "Stdout" || selector.Sel.Name == "Stderr") ||
				of.Name == "fmt" && slices.Contains([]string{"Print", "Printf", "Println"}, selector.Sel.Name)) {
				t.Errorf("%s uses %s.%s: only the command line writes to the streams of the process", set.Position(n.Pos()), of.Name, selector.Sel.Name)
			}
			return true
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 400 {
		t.Errorf("only %d files were looked at", files)
	}
}
