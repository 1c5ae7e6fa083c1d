// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackconfig

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/wantdiag"
)

// rowsOfFixtures are the rows of the behaviour checklist that a fixture below testdata/invalid is
// for.
var rowsOfFixtures = map[string]string{
	"several-files":  "001_",
	"sources":        "002_",
	"const-variable": "006_",
	"removed-from":   "016_",
}

// The fixtures below testdata/invalid are stacks with mistakes, with the
// expectations of package wantdiag.
func TestRowsInvalidFixtures(t *testing.T) {
	dirs, err := os.ReadDir("testdata/invalid")
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, dir := range dirs {
		if rowsOfFixtures[dir.Name()] != "" {
			found++
		}
		t.Run(rowsOfFixtures[dir.Name()]+dir.Name(), func(t *testing.T) {
			root := filepath.Join("testdata/invalid", dir.Name())
			cfg, diags := Load(root)
			if cfg == nil {
				t.Fatalf("Load(%q) returned no configuration: %s", root, diags)
			}
			want, err := wantdiag.Expected(root)
			if err != nil {
				t.Fatal(err)
			}
			if len(want) == 0 {
				t.Error("the fixture expects no diagnostics")
			}
			if diff := cmp.Diff(want, wantdiag.Found(diags, wantdiag.SourceOf(cfg.Files))); diff != "" {
				t.Errorf("Load(%q): wrong diagnostics (-want +got):\n%s\n%s", root, diff, details(diags))
			}
		})
	}
	if found != len(rowsOfFixtures) {
		t.Errorf("%d fixtures with rows, want %d", found, len(rowsOfFixtures))
	}
}

func TestValidFixtures(t *testing.T) {
	dirs, err := os.ReadDir("testdata/valid")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		t.Run(dir.Name(), func(t *testing.T) {
			cfg, diags := Load(filepath.Join("testdata/valid", dir.Name()))
			if len(diags) > 0 {
				t.Errorf("unexpected diagnostics:\n%s", details(diags))
			}
			if cfg == nil {
				t.Fatal("no configuration")
			}
			cfg.Walk(func(s *Stack) {
				if s.Incomplete {
					t.Errorf("%s is marked incomplete", s.Addr)
				}
				if got := cfg.Descendant(s.Addr); got != s {
					t.Errorf("Descendant(%s) is another stack", s.Addr)
				}
			})
		})
	}
}

var details = wantdiag.Details
