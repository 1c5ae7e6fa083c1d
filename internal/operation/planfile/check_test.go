// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planfile

import (
	"os"
	"path/filepath"
	"testing"
)

func TestStackIdentity(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "live", "eu")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if got := stackIdentity(dir); got != "" {
		t.Errorf("outside of a repository: got %q", got)
	}
	if err := os.Mkdir(filepath.Join(root, ".git"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, want := stackIdentity(dir), "live/eu"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestWithoutRepeats(t *testing.T) {
	const phrase = "it is damaged: "
	for _, test := range []struct{ text, want string }{
		{"p: it is damaged: component.app: it is damaged: member 1", "p: it is damaged: component.app: member 1"},
		{"p: it is damaged: member 1", "p: it is damaged: member 1"},
		{"p: something else", "p: something else"},
	} {
		if got := withoutRepeats(test.text, phrase); got != test.want {
			t.Errorf("withoutRepeats(%q): got %q, want %q", test.text, got, test.want)
		}
	}
}
