// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// inBackquotes finds the code in Markdown.
var inBackquotes = regexp.MustCompile("`([^`\n]+)`")

// Packages and files that documents name exist.
func TestNamedPathsExist(t *testing.T) {
	roots := []string{"cmd", "docs", "examples", "internal", "promising", "proto", "stackaddrs", "stackruntime", "testdata"}
	var found int
	for document, text := range documents(t) {
		for _, match := range inBackquotes.FindAllStringSubmatch(text, -1) {
			path := match[1]
			first, _, inside := strings.Cut(path, "/")
			if !slices.Contains(roots, first) || inside && strings.ContainsAny(path, " *") {
				continue
			}
			found++
			if _, err := os.Stat(filepath.Join("..", filepath.FromSlash(path))); err != nil {
				t.Errorf("%s names %s: %v", document, path, err)
			}
		}
	}
	if found < 100 {
		t.Errorf("documents name %d paths: these are not all", found)
	}
}

// Each package is named by CONTRIBUTING.md, itself or by one above it.
func TestPackagesAreDescribed(t *testing.T) {
	text, err := os.ReadFile("../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	for pkg := range imports(t) {
		described := pkg == strings.TrimSuffix(module, "/") || pkg == "internal"
		for path := pkg; path != "." && !described; path = filepath.ToSlash(filepath.Dir(path)) {
			described = strings.Contains(string(text), "`"+path+"`")
		}
		if !described {
			t.Errorf("CONTRIBUTING.md does not say what %s is", pkg)
		}
	}
}

// The largest types of package operation and of those below it: a type with more methods or fields
// is several.
const (
	maxMethods = 40
	maxFields  = 12
)

func TestOperationTypesAreSmall(t *testing.T) {
	methods, fields := map[string]int{}, map[string]int{}
	err := filepath.WalkDir("operation", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		for _, decl := range file.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if decl.Recv != nil {
					methods[filepath.Dir(path)+"."+receiver(decl.Recv.List[0].Type)]++
				}
			case *ast.GenDecl:
				for _, spec := range decl.Specs {
					if spec, ok := spec.(*ast.TypeSpec); ok {
						fields[filepath.Dir(path)+"."+spec.Name.Name] = countFields(spec.Type)
					}
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(fields) < 50 {
		t.Errorf("there are %d types: these are not all", len(fields))
	}
	for name, n := range methods {
		if n > maxMethods {
			t.Errorf("%s has %d methods, and %d are enough", name, n, maxMethods)
		}
	}
	for name, n := range fields {
		if n > maxFields {
			t.Errorf("%s has %d fields, and %d are enough", name, n, maxFields)
		}
	}
}

// receiver returns the name of the type of a method.
func receiver(expr ast.Expr) string {
	switch expr := expr.(type) {
	case *ast.StarExpr:
		return receiver(expr.X)
	case *ast.IndexExpr:
		return receiver(expr.X)
	case *ast.Ident:
		return expr.Name
	}
	return ""
}

// countFields returns the number of the fields of a struct, an embedded one as one.
func countFields(expr ast.Expr) int {
	declared, ok := expr.(*ast.StructType)
	if !ok {
		return 0
	}
	n := 0
	for _, field := range declared.Fields.List {
		n += max(len(field.Names), 1)
	}
	return n
}
