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
		asked int // how often a process has told schemas
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
			if strings.HasPrefix(what, "Reading schemas") {
				s.mu.asked++
			}
		},
	})
	return b
}

func TestStacksShareSchemas(t *testing.T) {
	s := newSharing(t)
	stacks := []*bench{s.stack("CAIRN_STACK=a"), s.stack("CAIRN_STACK=b"), s.stack("CAIRN_STACK=c")}
	var together sync.WaitGroup
	for _, b := range stacks[:2] {
		together.Go(func() {
			if _, diags := b.engine.Prepare(t.Context(),
				&engine.PrepareRequest{Modules: []string{filepath.Join(b.stack, "mod")}}); diags.HasErrors() {
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
	if s.mu.asked != 1 {
		t.Errorf("the schemas of one package were asked for %d times", s.mu.asked)
	}

	// All of it is remembered by each stack for itself.
	stacks[1].engine = open(t, stacks[1].stack, Options{
		Binary: testenv.Engine(t), WorkDir: filepath.Join(stacks[1].stack, ".cairn"),
		Environ: append(os.Environ(), "CAIRN_STACK=b"), Working: func(what string) { t.Errorf("later: %s", what) },
	})
	stacks[1].prepare()
}

// The processes of all sessions together are limited.
func TestSessionsShareTheLimit(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	busy, program := filepath.Join(t.TempDir(), "busy"), filepath.Join(t.TempDir(), "terraform")
	script := "#!/bin/sh\n[ \"$1\" = version ] && { echo 'Terraform v1.11.4'; exit; }\nmkdir " + busy +
		" || exit 1\nsleep 0.1\nrmdir " + busy + "\n"
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
