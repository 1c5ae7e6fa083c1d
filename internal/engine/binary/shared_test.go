// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

// sharing has stacks whose engines have something in common, and counts the work that is done for
// them.
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
	locked.write(workcopy.LockFile, string(readFile(t, filepath.Join(same.stack, workcopy.LockFile))))
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

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// The processes of all sessions together are limited.
func TestSessionsShareTheLimit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	busy, program := filepath.Join(t.TempDir(), "busy"), filepath.Join(t.TempDir(), "terraform")
	script := "#!/bin/sh\n[ \"$1\" = version ] && { echo 'Terraform v1.11.4'; exit; }\nmkdir " + busy + " || exit 1\nsleep 0.1\nrmdir " + busy + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	var shared Shared
	var all sync.WaitGroup
	for range 4 {
		opened, err := New(t.Context(), Options{Binary: program, WorkDir: t.TempDir(), Shared: &shared})
		if err != nil {
			t.Fatal(err)
		}
		e := enginetest.Open(t, opened, engine.SessionOptions{StackDir: t.TempDir(), Parallelism: 1}).(*Session)
		all.Go(func() {
			if _, stderr, err := e.binary.Run(t.Context(), command.Invocation{Args: []string{"validate"}}); err != nil {
				t.Errorf("%v: %s", err, stderr)
			}
		})
	}
	all.Wait()
}
