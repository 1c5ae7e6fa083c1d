// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package internal_test

import (
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
