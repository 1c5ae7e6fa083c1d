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
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// writers are the packages that write to the streams of the process, or know a terminal, besides
// commands, which are of package main.
var writers = []string{
	"internal/cli", // and its views, which get a writer from it
	"server/internal/cli",
	"internal/testenv", // builds the needs of tests, and says so
}

// All others return texts that are to be shown, or write them to a writer that they are given.
func TestOnlyCommandLinesWrite(t *testing.T) {
	eachFile(t, writers, func(name string, file *ast.File, position func(ast.Node) token.Position) {
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
				t.Errorf("%s uses %s.%s: only the command line writes to the streams of the process", position(n), of.Name, selector.Sel.Name)
			}
			return true
		})
	})
}

// speakers are the packages whose messages may name options of commands: those of cairn, or of
// programs that they are about.
var speakers = []string{
	"internal/cli",
	"server/internal/cli",
	"internal/views",          // write the output of the command line
	"internal/format/convert", // is about options of other programs, too
	"internal/stackgen",       // is for tests
	"internal/testenv",
}

// option is an option of cairn's commands in a text. Those of git have two dashes; the files of
// SQLite have names with such endings.
var option = regexp.MustCompile("(?:^|[ (\"`])-[a-z][a-z-]+")

var endings = []string{"-wal", "-shm"}

// A library has callers of other kinds, whose users have no options: package fault and codes of
// failures let each add the remedies of its users.
func TestOnlyCommandLinesNameOptions(t *testing.T) {
	eachFile(t, speakers, func(_ string, file *ast.File, position func(ast.Node) token.Position) {
		ast.Inspect(file, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			text, err := strconv.Unquote(literal.Value)
			if found := option.FindString(text); err == nil && found != "" && strings.Contains(text, " ") &&
				!slices.ContainsFunc(endings, func(ending string) bool { return strings.HasSuffix(found, ending) }) {
				t.Errorf("%s names the option %s: %s", position(n), strings.TrimLeft(found, " (\"`"), text)
			}
			return true
		})
	})
}

// eachFile parses the files of all packages but those in some directories, commands and tests.
func eachFile(t *testing.T, but []string, do func(name string, file *ast.File, position func(ast.Node) token.Position)) {
	t.Helper()
	files := 0
	err := fs.WalkDir(os.DirFS(".."), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && (strings.HasPrefix(entry.Name(), ".") && name != "." || entry.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(name, ".go"), strings.HasSuffix(name, "_test.go"):
			return nil
		case slices.ContainsFunc(but, func(dir string) bool { return strings.HasPrefix(name, dir+"/") }):
			return nil
		}
		files++
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path.Join("..", name), nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		if file.Name.Name != "main" {
			do(name, file, func(n ast.Node) token.Position { return set.Position(n.Pos()) })
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if files < 400 {
		t.Errorf("only %d files were looked at", files)
	}
}
