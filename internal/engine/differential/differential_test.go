// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package differential

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// oracleVariable is the environment variable that has terraform asked: "terraform" compares what it answers with what is recorded, "record" records it.
const oracleVariable = "CAIRN_DIFFERENTIAL"

// TestDifferential compares the native engine with the recorded answers of terraform. Names of archives begin with the numbers of the behaviours that they show.
func TestDifferential(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("archives: %d, %v", len(paths), err)
	}
	native := NewNative(t)
	var terraform *Bench
	oracle := os.Getenv(oracleVariable)
	if oracle != "" {
		terraform = NewTerraform(t)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			c, err := ParseCase(text)
			if err != nil {
				t.Fatal(err)
			}
			if terraform != nil && c.ByHand == "" {
				answer := terraform.Run(t, c)
				if diff := cmp.Diff(c.Want, answer); diff != "" && oracle == "record" {
					if err := os.WriteFile(path, c.WithWant(answer), 0o600); err != nil {
						t.Fatal(err)
					}
					c.Want = answer
				} else if diff != "" {
					t.Errorf("terraform no longer answers what is recorded (-recorded +answered):\n%s", diff)
				}
			}
			want := c.Want
			if c.WantNative != "" {
				want = c.WantNative
			}
			if diff := cmp.Diff(want, InWordsOf(want, native.Run(t, c))); diff != "" {
				t.Errorf("the native engine differs (-want +got):\n%s", diff)
			}
		})
	}
}
