// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package install

import (
	"os"
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/providers/locks"
)

// FuzzLocks reads provider lock files. Each version that is read belongs to a provider of an entry.
func FuzzLocks(f *testing.F) {
	const entry = "provider \"registry.terraform.io/hashicorp/null\" {\n  version     = \"3.2.4\"\n  constraints = \"~> 3.0\"\n" +
		"  hashes = [\n    \"h1:x\",\n  ]\n}\n"
	for _, seed := range []string{
		"", "# Comment\n" + entry, entry + entry, "provider \"a/b\" {\n  version = \"1.0.0\"\n}\n", "provider \"a/b/c\" {\n  version = 1\n}\n",
		"provider \"a/b/c\" {\n  version = null\n}\n", "provider \"a/b/c\" {\n  version = [\"1\"]\n}\n", "provider \"a/b/c\" {}\n",
		"provider {\n  version = x.y\n}\n", "provider \"registry.opentofu.org/a/b\" {\n  version = \"${1 + 1}\"\n}\n", "\xff",
		"provider \"", "x = {",
	} {
		f.Add([]byte(seed), true)
	}
	f.Fuzz(func(t *testing.T, src []byte, tofu bool) {
		i := New(Options{StackDir: t.TempDir(), WorkDir: t.TempDir()})
		if tofu {
			i.opts.Engine = toolchain.Tofu
		}
		if err := os.WriteFile(i.lockFile(), src, 0o600); err != nil {
			t.Fatal(err)
		}
		versions, err := i.Locks(t.Context())
		if err != nil {
			if err.Error() == "" || versions != nil {
				t.Errorf("Locks() = %v, %q", versions, err)
			}
			return
		}
		locked, err := i.locked()
		if err != nil {
			t.Fatal(err)
		}
		for _, lock := range locked.All() {
			if version, ok := versions[i.stackAddress(lock.Provider)]; !ok || version != lock.Version.String() &&
				len(locked.All()) == len(versions) {
				t.Errorf("%s is missing in %v", lock.Provider, versions)
			}
		}
		if len(versions) > len(locked.All()) {
			t.Errorf("Locks() = %v, entries = %v", versions, locked.All())
		}
	})
}

func TestNestedLockFile(t *testing.T) {
	i := New(Options{StackDir: t.TempDir(), WorkDir: t.TempDir()})
	if err := os.WriteFile(i.lockFile(), []byte("\nx = "+strings.Repeat("[", 100_000)), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := i.Locks(t.Context()); err == nil || !strings.Contains(err.Error(), locks.FileName+":2") {
		t.Errorf("got %v, want an error at line 2", err)
	}
}
