// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package language_test

import (
	"flag"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", os.Getenv("UPDATE_GOLDEN") != "", "rewrite functions.txt")

// The table of functions is that of the documentation.
func TestFunctionTable(t *testing.T) {
	text, err := os.ReadFile("../../../docs/functions.md")
	if err != nil {
		t.Fatal(err)
	}
	tables, _, found := strings.Cut(string(text), "\n## Functions of OpenTofu") // which stacks do not have
	if !found {
		t.Fatal("the documentation has no section for the functions of OpenTofu")
	}
	var want strings.Builder
	for _, row := range regexp.MustCompile("(?m)^\\| `([a-z0-9]+\\([^`]*\\))` \\| (.*) \\|$").FindAllStringSubmatch(tables, -1) {
		want.WriteString(row[1] + "\t" + row[2] + "\n")
	}
	if *update {
		if err := os.WriteFile("functions.txt", []byte(want.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("functions.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want.String(), string(got)); diff != "" {
		t.Errorf("run the test with -update: %s", diff)
	}
}
