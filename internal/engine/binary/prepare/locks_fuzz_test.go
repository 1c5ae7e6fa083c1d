// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/providers/locks"
)

// FuzzLocks reads provider lock files. Each entry that is read names a provider by three parts, and
// the entries that the versions come from are sorted.
func FuzzLocks(f *testing.F) {
	const entry = "provider \"registry.terraform.io/hashicorp/null\" {\n  version     = \"3.2.4\"\n  constraints = \"~> 3.0\"\n  hashes = [\n    \"h1:x\",\n  ]\n}\n"
	for _, seed := range []string{
		"", "# Comment\n" + entry, entry + entry, "provider \"a/b\" {\n  version = \"1.0.0\"\n}\n", "provider \"a/b/c\" {\n  version = 1\n}\n",
		"provider \"a/b/c\" {\n  version = null\n}\n", "provider \"a/b/c\" {\n  version = [\"1\"]\n}\n", "provider \"a/b/c\" {}\n",
		"provider {\n  version = x.y\n}\n", "provider \"registry.opentofu.org/a/b\" {\n  version = \"${1 + 1}\"\n}\n", "\xff", "provider \"", "x = {",
	} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, tofu bool) {
		p := &Preparer{opts: Options{StackDir: t.TempDir()}}
		if tofu {
			p.opts.Info.Name = toolchain.Tofu
		}
		if err := os.WriteFile(p.lockPath(), src, 0o600); err != nil {
			t.Fatal(err)
		}
		versions, err := p.Locks()
		if err != nil {
			if err.Error() == "" || versions != nil {
				t.Errorf("Locks() = %v, %q", versions, err)
			}
			return
		}
		entries, err := p.lockEntries()
		if err != nil {
			t.Fatal(err)
		}
		if len(versions) > len(entries) || !slices.IsSortedFunc(entries, func(a, b lockEntry) int { return compareSources(a.source, b.source) }) {
			t.Errorf("Locks() = %v, entries = %v", versions, entries)
		}
		for _, entry := range entries {
			provider, err := p.ParseProvider(entry.source)
			if _, ok := versions[provider]; err != nil || !ok {
				t.Errorf("%q is missing in %v: %v", entry.source, versions, err)
			}
		}
	})
}

func compareSources(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func TestNestedLockFile(t *testing.T) {
	if _, err := parseLock([]byte("\nx = " + strings.Repeat("[", 100_000))); err == nil || !strings.Contains(err.Error(), locks.FileName+":2") {
		t.Errorf("got %v, want an error at line 2", err)
	}
}
