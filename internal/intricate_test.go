// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"
)

// maxWithoutReason is the cyclomatic complexity up to which a function needs no comment in its
// body.
const maxWithoutReason = 15

// A function with many branches has a comment that says why one of them is there.
func TestIntricateFunctionsSayWhy(t *testing.T) {
	functions, intricate := 0, 0
	goFiles(t, func(path string, source []byte) {
		if strings.HasSuffix(path, "_test.go") {
			return
		}
		files := token.NewFileSet()
		file, err := parser.ParseFile(files, path, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, decl := range file.Decls {
			function, ok := decl.(*ast.FuncDecl)
			if !ok || function.Body == nil {
				continue
			}
			functions++
			branches := complexity(function)
			if branches <= maxWithoutReason {
				continue
			}
			intricate++
			if !hasReason(file, function.Body) {
				t.Errorf("%s: %s has the complexity %d, and no comment that says why",
					strings.TrimPrefix(files.Position(function.Pos()).String(), "../"), function.Name.Name, branches)
			}
		}
	})
	t.Logf("%d of %d functions have a complexity over %d", intricate, functions, maxWithoutReason)
	if functions < 5000 {
		t.Errorf("there are %d functions: these are not all", functions)
	}
}

// complexity is the cyclomatic complexity of a function with the functions in it.
func complexity(function *ast.FuncDecl) int {
	n := 1
	ast.Inspect(function, func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt:
			n++
		case *ast.CaseClause:
			if node.List != nil { // else it is the default
				n++
			}
		case *ast.CommClause:
			if node.Comm != nil {
				n++
			}
		case *ast.BinaryExpr:
			if node.Op == token.LAND || node.Op == token.LOR {
				n++
			}
		}
		return true
	})
	return n
}

// hasReason reports whether a body has a comment, other than one for a linter.
func hasReason(file *ast.File, body *ast.BlockStmt) bool {
	for _, group := range file.Comments {
		if body.Pos() < group.Pos() && group.End() < body.End() && !strings.HasPrefix(group.List[0].Text, "//nolint") {
			return true
		}
	}
	return false
}
