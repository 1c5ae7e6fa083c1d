// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// sharing has stacks whose engines have something in common, and counts what is done for them.
type sharing struct {
	t      *testing.T
	shared *Shared

	mu struct {
		sync.Mutex
		installed, asked int // how often a process has done that
	}
}

func newSharing(t *testing.T) *sharing {
	t.Helper()
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	t.Setenv("CAIRN_FAKE_STORE", t.TempDir())
	return &sharing{t: t, shared: &Shared{}}
}

// stack opens a stack with a module that needs the fake provider.
func (s *sharing) stack(environ ...string) *bench {
	s.t.Helper()
	b := newBenchAt(s.t, s.t.TempDir(), map[string]string{"mod/main.tf": fakeRequired})
	b.engine = open(s.t, b.stack, Options{
		Binary: testenv.Engine(s.t), WorkDir: filepath.Join(b.stack, ".cairn"), Shared: s.shared,
		Environ: append(os.Environ(), environ...),
		Working: func(what string) {
			s.mu.Lock()
			defer s.mu.Unlock()
			switch {
			case strings.HasPrefix(what, "Installing"):
				s.mu.installed++
			case strings.HasPrefix(what, "Reading schemas"):
				s.mu.asked++
			}
		},
	})
	return b
}

// did checks how often processes have done something since the last call.
func (s *sharing) did(what string, installed, asked int) {
	s.t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.installed != installed || s.mu.asked != asked {
		s.t.Errorf("%s: %d installations and %d questions for schemas, want %d and %d", what, s.mu.installed, s.mu.asked, installed, asked)
	}
	s.mu.installed, s.mu.asked = 0, 0
}

// packageDir is where the package of the fake provider is installed for a stack.
func packageDir(b *bench) string {
	b.t.Helper()
	installed, err := b.engine.installed()
	if err != nil || len(installed) != 1 {
		b.t.Fatalf("installed: %v, %v; want one package", installed, err)
	}
	return installed[0].target
}

func TestStacksShareAnInstallation(t *testing.T) {
	s := newSharing(t)
	stacks := []*bench{s.stack("CAIRN_STACK=a"), s.stack("CAIRN_STACK=b"), s.stack("CAIRN_STACK=c")}
	var together sync.WaitGroup
	for _, b := range stacks[:2] {
		together.Go(func() {
			if _, diags := b.engine.Prepare(t.Context(), &engine.PrepareRequest{Modules: []string{filepath.Join(b.stack, "mod")}}); diags.HasErrors() {
				t.Errorf("Prepare: %v", diags)
			}
		})
	}
	together.Wait()
	stacks[2].prepare()
	for _, b := range stacks {
		request := b.request(nil)
		request.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
		b.plan(request)
	}
	s.did("three stacks", 1, 1)

	// All of it is remembered by each stack for itself.
	stacks[1].engine = open(t, stacks[1].stack, Options{
		Binary: testenv.Engine(t), WorkDir: filepath.Join(stacks[1].stack, ".cairn"),
		Environ: append(os.Environ(), "CAIRN_STACK=b"), Working: func(what string) { t.Errorf("later: %s", what) },
	})
	stacks[1].prepare()
}

func TestOtherInstallations(t *testing.T) {
	s := newSharing(t)
	s.stack().prepare()
	s.did("the first", 1, 0)

	s.stack("OTHER=environment").prepare()
	s.did("another environment", 1, 0)

	same, locked := s.stack(), s.stack()
	same.prepare()
	s.did("the same as the first", 0, 0)
	locked.write(lockFileName, string(readFile(t, same.engine.lockPath())))
	locked.prepare()
	s.did("a lock file", 1, 0)

	config := os.Getenv("TF_CLI_CONFIG_FILE")
	if err := os.WriteFile(config, append(readFile(t, config), "\n# edited\n"...), 0o600); err != nil {
		t.Fatal(err)
	}
	s.stack().prepare()
	s.did("another CLI configuration", 1, 0)

	local := s.stack()
	local.write("terraform.d/plugins/README", "")
	local.prepare()
	s.did("providers in the directory of the stack", 1, 0)
}

// The packages of another stack may be gone, and init does not write through links to them.
func TestPackagesOfAnotherStack(t *testing.T) {
	s := newSharing(t)
	first := s.stack()
	first.prepare()
	link := packageDir(first)
	real, err := filepath.EvalSymlinks(link)
	if err == nil {
		err = os.RemoveAll(link)
	}
	if err == nil {
		err = os.CopyFS(link, os.DirFS(real)) // as from a registry
	}
	if err != nil {
		t.Fatal(err)
	}
	s.did("the first", 1, 0)
	second := s.stack()
	made, err := first.engine.shareInstallation(readFile(t, first.engine.lockPath()))
	if err == nil {
		err = second.engine.adopt(t.Context(), []byte("{}"), made)
	}
	if err != nil {
		t.Fatal(err)
	}
	second.write(lockFileName, string(made.lock))
	if got, err := os.Readlink(packageDir(second)); err != nil || got != link {
		t.Errorf("the package is a link to %s, %v; want one to %s", got, err, link)
	}
	request := &engine.PrepareRequest{Modules: []string{filepath.Join(second.stack, "mod")}, Upgrade: true}
	_, diags := second.engine.Prepare(t.Context(), request)
	second.noErrors("Prepare", diags)
	s.did("an upgrade", 1, 0)
	if got, err := os.Readlink(packageDir(second)); err == nil && got == link {
		t.Errorf("after init the package is still a link to %s", got)
	}
	if stat, err := os.Lstat(link); err != nil || !stat.IsDir() {
		t.Errorf("the package of the first stack: %v, %v", stat, err)
	}

	if err := os.RemoveAll(link); err != nil {
		t.Fatal(err)
	}
	if err := s.stack().engine.adopt(t.Context(), []byte("{}"), made); err == nil {
		t.Error("a package that is gone was adopted")
	}
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// A package is read once, until one of its files shows that it has changed.
func TestPackagesAreReadOnce(t *testing.T) {
	shared := &Shared{}
	target := t.TempDir()
	program := filepath.Join(target, "program")
	write := func(content string) {
		t.Helper()
		stat, statErr := os.Stat(program)
		if err := os.WriteFile(program, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if statErr == nil {
			if err := os.Chtimes(program, stat.ModTime(), stat.ModTime()); err != nil {
				t.Fatal(err)
			}
		}
	}
	hash := func() string {
		t.Helper()
		e := &Session{installation: installPaths{packages: filepath.Join(t.TempDir(), "packages.json")}, shared: shared}
		return e.packageHashes(t.Context(), []installedProvider{{"a/b/c/1.0.0/linux_amd64", target}})["a/b/c/1.0.0/linux_amd64"]
	}
	write("one")
	first := hash()
	write("two") // which nothing shows
	if got := hash(); got != first {
		t.Errorf("another stack has read the package again: %s, then %s", first, got)
	}
	write("longer")
	if got := hash(); got == first || got == "" {
		t.Errorf("a package that has changed has the hash %q", got)
	}
}
