// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package localsource

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Modules are found at any depth, the nearest first and each once, also in cycles and where files
// do not say that they are used; not outside of the top.
func TestUses(t *testing.T) {
	top, err := RealPath(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	calls := func(dir string, sources ...string) {
		t.Helper()
		var b strings.Builder
		for _, source := range sources {
			b.WriteString("module \"m\" {\n  source = \"" + source + "\"\n}\n")
		}
		if err := os.MkdirAll(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(top, dir, "main.tf"), []byte(b.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	calls("app", "../net", "./part", "../../outside")
	calls("app/part", "../../deep", "..")
	calls("net", "../deep")
	calls("deep", "../net", "../gone")
	calls("more")

	all := NewCalls(top)
	all.Add(filepath.Join(top, "net"), filepath.Join(top, "more"))
	all.Add(filepath.Join(top, "net"), filepath.Dir(top))
	var got []string
	for use := range all.Uses(filepath.Join(top, "app")) {
		got = append(got, strings.Join(use.Chain(), " → "))
	}
	want := []string{"net", "app/part", "net → deep", "net → more", "net → deep → gone"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("uses of app (-want +got):\n%s", diff)
	}
	for range all.Uses(filepath.Join(top, "app")) {
		break // a caller may stop at any element
	}
}
