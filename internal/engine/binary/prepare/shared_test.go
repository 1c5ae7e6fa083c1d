// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package prepare

import (
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/limiter"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// fakeEngine makes a program from a script.
func fakeEngine(t *testing.T, script string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	program := filepath.Join(t.TempDir(), "terraform")
	if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	return program
}

// newStack returns the preparer of a stack, and a counter of the processes that were to install
// something since the last call.
func newStack(t *testing.T, shared *Shared, program string, environ ...string) (p *Preparer, installed func() int) {
	t.Helper()
	count := 0
	log := slog.New(slog.DiscardHandler)
	p = New(Options{
		Info: engine.Info{Name: "terraform", Version: "1.11.4"}, StackDir: t.TempDir(), WorkDir: t.TempDir(), Shared: shared, Log: log,
		Binary:  &command.Binary{Path: program, Name: "terraform", Environ: append(os.Environ(), environ...), Limit: &limiter.Limiter{}, Log: log},
		Working: func(string) { count++ },
	})
	p.opts.Binary.Limit.Raise(10)
	return p, func() int {
		defer func() { count = 0 }()
		return count
	}
}

// installs stands in for an engine whose init fetches a provider, as from a registry.
const installs = `dir=$TF_DATA_DIR/providers/example.com/a/b/1.0.0/os_arch
mkdir -p "$dir" && echo program >"$dir/program"
printf 'provider "example.com/a/b" {\n  version = "1.0.0"\n}\n' >"${1#-chdir=}/.terraform.lock.hcl"`

// The packages of another stack may be gone, and init does not write through links to them.
func TestPackagesOfAnotherStack(t *testing.T) {
	t.Setenv("TF_CLI_CONFIG_FILE", os.DevNull)
	var shared Shared
	provider := stackaddrs.Provider{Hostname: "example.com", Namespace: "a", Type: "b"}
	program := fakeEngine(t, installs)
	stack := func() (install func(what string, upgrade bool, want int), dir func() string) {
		p, installed := newStack(t, &shared, program)
		install = func(what string, upgrade bool, want int) {
			t.Helper()
			_, _, diags := p.Install(t.Context(), map[stackaddrs.Provider][]string{provider: nil}, &engine.PrepareRequest{Upgrade: upgrade})
			if got := installed(); diags.HasErrors() || got != want {
				t.Fatalf("%s: %d processes, %v; want %d", what, got, diags, want)
			}
		}
		return install, func() string {
			t.Helper()
			packages, err := p.Packages()
			if err != nil || len(packages) != 1 {
				t.Fatalf("packages: %v, %v; want one", packages, err)
			}
			return packages[0].Dir
		}
	}
	install, first := stack()
	install("the first", false, 1)
	install, second := stack()
	install("the second", false, 0)
	if got, err := os.Readlink(second()); err != nil || got != first() {
		t.Errorf("the package is a link to %s, %v; want one to %s", got, err, first())
	}
	install("an upgrade", true, 1)
	for what, dir := range map[string]string{"first": first(), "second": second()} {
		if stat, err := os.Lstat(dir); err != nil || !stat.IsDir() {
			t.Errorf("after init, the package of the %s stack: %v, %v; want a directory", what, stat, err)
		}
	}

	if err := os.RemoveAll(first()); err != nil {
		t.Fatal(err)
	}
	install, _ = stack()
	install("with a package that is gone", false, 1)
}

// Into a cache of the user, one process installs at a time, however many may run.
func TestCacheIsWrittenByOne(t *testing.T) {
	var shared Shared
	busy, cache := filepath.Join(t.TempDir(), "busy"), t.TempDir()
	program := fakeEngine(t, "mkdir "+busy+" || exit 1\nsleep 0.1\nrmdir "+busy)
	var all sync.WaitGroup
	for range 4 {
		p, _ := newStack(t, &shared, program, "TF_PLUGIN_CACHE_DIR="+cache)
		all.Go(func() {
			if _, diags := p.runInit(t.Context(), []byte("{}"), nil, &engine.PrepareRequest{}); diags.HasErrors() {
				t.Error(diags)
			}
		})
	}
	all.Wait()
}
