// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package failure_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
)

func TestDiagnostics(t *testing.T) {
	made := failure.New("Stale plan", "It is of %s.", "yesterday")
	for name, tc := range map[string]struct {
		err  error
		want string
	}{
		"own":     {hcl.Diagnostics{made}, "Stale plan: It is of yesterday."},
		"wrapped": {fmt.Errorf("somewhere: %w", failure.Error("Stale plan", "It is of %s.", "yesterday")), "Stale plan: It is of yesterday."},
		"other":   {errors.New("the disk is gone"), "Command failed: The disk is gone."},
		"dot":     {errors.New("the disk is gone."), "Command failed: The disk is gone."}, //nolint:revive // as some libraries have them
	} {
		t.Run(name, func(t *testing.T) {
			diags := failure.Diagnostics(tc.err)
			if len(diags) != 1 {
				t.Fatalf("Diagnostics(%v) = %v, want one", tc.err, diags)
			}
			if got := diags[0].Summary + ": " + diags[0].Detail; got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
	if diags := failure.Diagnostics(nil); diags != nil {
		t.Errorf("Diagnostics(nil) = %v", diags)
	}
}

func TestReason(t *testing.T) {
	path := filepath.Join(t.TempDir(), "missing")
	_, err := os.ReadFile(path)
	if got, want := failure.Reason(fmt.Errorf("reading: %w", err)), path+": no such file or directory"; got != want {
		t.Errorf("Reason = %q, want %q", got, want)
	}
}

func TestSentences(t *testing.T) {
	for text, want := range map[string]string{
		"the state is locked; wait":    "The state is locked. Wait.",
		"a/b.tf: it is not a file":     "a/b.tf: it is not a file.",
		"main.tf is damaged; make one": "main.tf is damaged. Make one.",
		"":                             ".",
	} {
		if got := failure.Sentences(text); got != want {
			t.Errorf("Sentences(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCapitalize(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"", ""},
		{"nothing was found", "Nothing was found"},
		{"main.tfcomponent.hcl: not a plan", "main.tfcomponent.hcl: not a plan"},
		{"plan: not a plan", "plan: not a plan"},
		{"dir/plan cannot be read", "dir/plan cannot be read"},
		{`dir\plan cannot be read`, `dir\plan cannot be read`},
		{"interrupted", "Interrupted"},
	} {
		if got := failure.Capitalize(test.text); got != test.want {
			t.Errorf("failure.Capitalize(%q): got %q, want %q", test.text, got, test.want)
		}
	}
}
