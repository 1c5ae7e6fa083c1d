// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

// lonely is an engine that fails if it runs twice at the same time.
func lonely(t *testing.T, shared *Shared, opts engine.SessionOptions, environ ...string) func() *Session {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the engine is a shell script")
	}
	busy := filepath.Join(t.TempDir(), "busy")
	program := filepath.Join(t.TempDir(), "terraform")
	script := "#!/bin/sh\n[ \"$1\" = version ] && { echo 'Terraform v1.11.4'; exit; }\nmkdir " + busy + " || exit 1\nsleep 0.1\nrmdir " + busy + "\n"
	if err := os.WriteFile(program, []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	return func() *Session {
		e, err := New(t.Context(), Options{Binary: program, WorkDir: t.TempDir(), Shared: shared, Environ: append(os.Environ(), environ...)})
		if err != nil {
			t.Fatal(err)
		}
		opts.StackDir = t.TempDir()
		return enginetest.Open(t, e, opts).(*Session)
	}
}

// The processes of all sessions together are limited.
func TestSessionsShareTheLimit(t *testing.T) {
	session := lonely(t, &Shared{}, engine.SessionOptions{Parallelism: 1})
	var all sync.WaitGroup
	for range 4 {
		e := session()
		all.Go(func() {
			if _, stderr, err := e.binary.Run(t.Context(), command.Invocation{Args: []string{"validate"}}); err != nil {
				t.Errorf("%v: %s", err, stderr)
			}
		})
	}
	all.Wait()
}

// Into a cache of the user, one process installs at a time, however many may run.
func TestCacheIsWrittenByOne(t *testing.T) {
	session := lonely(t, &Shared{}, engine.SessionOptions{Parallelism: 10}, "TF_PLUGIN_CACHE_DIR="+t.TempDir())
	var all sync.WaitGroup
	for range 4 {
		e := session()
		all.Go(func() {
			if _, diags := e.runInit(t.Context(), []byte("{}"), nil, &engine.PrepareRequest{}); diags.HasErrors() {
				t.Error(diags)
			}
		})
	}
	all.Wait()
}
