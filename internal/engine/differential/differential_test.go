// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// TestDifferential compares the native engine with the recorded answers of terraform. Names of
// archives begin with the numbers of the behaviours that they show. With UPDATE_GOLDEN, the answers
// of the native engine are written that are meant to differ, or that terraform cannot give, and no
// others.
func TestDifferential(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("archives: %d, %v", len(paths), err)
	}
	native := NewNative(t)
	var terraform *Bench
	if os.Getenv(testenv.OracleVariable) != "" {
		terraform = NewTerraform(t)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { compare(t, path, native, terraform) })
	}
}

// compare compares the answer of the native engine to an archive with the recorded one, and that
// with the answer of terraform, unless that is nil or cannot be asked.
func compare(t *testing.T, path string, native, terraform *Bench) {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	c, err := ParseCase(text)
	if err != nil {
		t.Fatal(err)
	}
	oracle := os.Getenv(testenv.OracleVariable)
	if terraform != nil && c.ByHand == "" && (oracle != "new" || c.Want == "") {
		answer := terraform.Run(t, c)
		if diff := differences(c.Want, answer); diff != "" && oracle == "terraform" {
			t.Errorf("terraform no longer answers what is recorded (-recorded +answered):\n%s", diff)
		}
		if oracle != "terraform" {
			c.Want = answer
		}
	}
	want := c.Want
	if c.Differs != "" {
		want = c.WantNative
	}
	got := InWordsOf(want, native.Run(t, c))
	if update := os.Getenv("UPDATE_GOLDEN") != ""; update && c.Differs != "" {
		c.WantNative, want = got, got
	} else if update && c.ByHand != "" {
		c.Want, want = got, got
	}
	if diff := differences(want, got); diff != "" {
		t.Errorf("the native engine differs (-want +got):\n%s", diff)
	}
	if c.Differs != "" && got == InWordsOf(c.Want, got) && got == c.Want {
		t.Error("there is a reason why the native engine differs, but it does not")
	}
	if changed := c.Format(); string(changed) != string(text) {
		if err := os.WriteFile(path, changed, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// Each archive whose difference is meant is in the documentation.
func TestDifferencesAreDocumented(t *testing.T) {
	document, err := os.ReadFile("../../../docs/differences.md")
	if err != nil {
		t.Fatal(err)
	}
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(filepath.Base(path), ".txtar")
		if listed := strings.Contains(string(document), "| `"+name+"` |"); listed != strings.Contains(string(text), "\ndiffers: ") {
			t.Errorf("%s: is in docs/differences.md: %t", name, listed)
		}
	}
}

// differences returns the differences between two texts, line by line.
func differences(want, got string) string {
	return cmp.Diff(strings.Split(want, "\n"), strings.Split(got, "\n"))
}
