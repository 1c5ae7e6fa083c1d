// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package toolcache

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

func openTemporary(t *testing.T) *Cache {
	t.Helper()
	t.Setenv("CAIRN_CACHE", t.TempDir())
	c, err := Open(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestProvideBuildsOnce(t *testing.T) {
	c := openTemporary(t)
	path := filepath.Join(c.Dir(), "bin", "program")
	var builds atomic.Int32
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			err := c.provide(path, func(out string) error {
				builds.Add(1)
				return os.WriteFile(out, []byte("built"), 0o600)
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := builds.Load(); got != 1 {
		t.Errorf("builds: got %d, want 1", got)
	}
	if raw, err := os.ReadFile(path); err != nil || string(raw) != "built" {
		t.Errorf("program: got %q, error %v", raw, err)
	}
}

func TestProvideLeavesNothingAfterFailure(t *testing.T) {
	c := openTemporary(t)
	path := filepath.Join(c.Dir(), "program")
	broken := errors.New("broken")
	err := c.provide(path, func(out string) error {
		return errors.Join(os.WriteFile(out, []byte("half"), 0o600), broken)
	})
	if !errors.Is(err, broken) {
		t.Errorf("provide: got error %v, want %v", err, broken)
	}
	left, err := filepath.Glob(filepath.Join(c.Dir(), "*"))
	if err != nil {
		t.Fatal(err)
	}
	if len(left) != 1 || filepath.Base(left[0]) != "lock" {
		t.Errorf("left in the cache: %q, want the lock alone", left)
	}
}

func TestProvideRemovesWhatAKilledProcessLeft(t *testing.T) {
	c := openTemporary(t)
	left := filepath.Join(c.Dir(), "build", "module")
	if err := os.MkdirAll(left, 0o755); err != nil {
		t.Fatal(err)
	}
	err := c.provide(filepath.Join(c.Dir(), "program"), func(out string) error {
		if _, err := os.Stat(left); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is still there: %v", left, err)
		}
		return os.WriteFile(out, []byte("built"), 0o600)
	})
	if err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(filepath.Dir(left)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the build directory is left: %v", err)
	}
}

func TestRemoveOldMirrors(t *testing.T) {
	c := openTemporary(t)
	old := time.Now().Add(-2 * unusedAge)
	for name, when := range map[string]time.Time{"old": old, "kept": old, "recent": time.Now()} {
		dir := filepath.Join(c.Dir(), "mirror", name)
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(dir, when, when); err != nil {
			t.Fatal(err)
		}
	}
	c.removeOldMirrors("kept")
	for name, want := range map[string]bool{"old": false, "kept": true, "recent": true} {
		if got := exists(filepath.Join(c.Dir(), "mirror", name)); got != want {
			t.Errorf("mirror %q exists: %t, want %t", name, got, want)
		}
	}
}

func TestMirrorKeyFollowsSources(t *testing.T) {
	c := &Cache{root: t.TempDir()}
	write := func(name, text string) {
		t.Helper()
		path := filepath.Join(c.root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	key := func() string {
		t.Helper()
		key, err := c.mirrorKey()
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	write("go.mod", "module m\n")
	write("go.sum", "")
	write(fakeSource+"/a.go", "package a\n")
	first := key()
	write(fakeSource+"/a_test.go", "package a\n")
	write("other/b.go", "package b\n")
	if got := key(); got != first {
		t.Errorf("a test or another package changed the key from %s to %s", first, got)
	}
	write(fakeSource+"/a.go", "package a // changed\n")
	second := key()
	if second == first {
		t.Error("a changed source left the key as it was")
	}
	write("go.mod", "module m // changed\n")
	if key() == second {
		t.Error("a changed go.mod left the key as it was")
	}
}

func TestCLIConfig(t *testing.T) {
	if got := CLIConfig(""); len(got) > 0 {
		t.Errorf("without a mirror: got %q, want nothing", got)
	}
	dir := filepath.Join(string(filepath.Separator), "a \"b\"")
	if got, want := CLIConfig(dir), []byte(`path = "/a \"b\""`); !bytes.Contains(got, want) {
		t.Errorf("got %s, want it to contain %s", got, want)
	}
}

func TestRepositoryRoot(t *testing.T) {
	root, err := repositoryRoot()
	if err != nil {
		t.Fatal(err)
	}
	if want := filepath.FromSlash("internal/testenv/toolcache"); !strings.HasSuffix(startDir, want) || filepath.Join(root, want) != startDir {
		t.Errorf("root: got %s, want the one above %s", root, startDir)
	}
}

func TestTofuPath(t *testing.T) {
	c := openTemporary(t)
	programs, other := t.TempDir(), t.TempDir()
	for _, path := range []string{
		filepath.Join(programs, exe("terraform")), filepath.Join(programs, exe("editor")),
		filepath.Join(other, exe("git")), filepath.Join(c.Dir(), "bin", exe("tofu")),
	} {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o755); err != nil { //nolint:gosec // a program
			t.Fatal(err)
		}
	}
	const list = string(filepath.ListSeparator)
	t.Setenv("PATH", programs+list+other+list+filepath.Join(other, exe("git"))) // the last is not a directory
	got, err := c.TofuPath(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("PATH", got)
	for name, want := range map[string]bool{"terraform": false, "tofu": true, "editor": true, "git": true} {
		if path := lookPath(name); (path != "") != want {
			t.Errorf("%s with PATH=%s: found %q, want it found: %t", name, got, path, want)
		}
	}
}

// Without a cache of its own choice, a clone shares OpenTofu with others.
func TestTofuIsSharedByClones(t *testing.T) {
	t.Setenv("CAIRN_CACHE", "")
	c, err := Open(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	if startUserCacheErr == nil && !strings.HasPrefix(c.tofuPath(), startUserCache) {
		t.Errorf("tofu is built at %s, want it below %s", c.tofuPath(), startUserCache)
	}
	if c := openTemporary(t); !strings.HasPrefix(c.tofuPath(), c.Dir()) {
		t.Errorf("tofu is built at %s, want it below CAIRN_CACHE, %s", c.tofuPath(), c.Dir())
	}
}
