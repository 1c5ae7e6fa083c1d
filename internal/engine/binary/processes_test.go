// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

func TestProcessLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit processLimit
		limit.raise(2)
		limit.raise(1) // which lowers nothing
		var running, most atomic.Int64
		var all sync.WaitGroup
		for range 10 {
			all.Go(func() {
				release, err := limit.acquire(t.Context())
				if err != nil {
					t.Error(err)
					return
				}
				most.Store(max(most.Load(), running.Add(1)))
				<-time.After(time.Second) // of the bubble
				running.Add(-1)
				release()
			})
		}
		began := time.Now()
		all.Wait()
		if took := time.Since(began); most.Load() != 2 || took != 5*time.Second {
			t.Errorf("%d at the same time, %s in all; want 2, and 5s", most.Load(), took)
		}
	})
}

func TestProcessLimitIsRaised(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit processLimit
		var got atomic.Int64
		var all sync.WaitGroup
		for range 3 {
			all.Go(func() {
				if _, err := limit.acquire(t.Context()); err == nil {
					got.Add(1)
				}
			})
		}
		for _, want := range []int64{0, 1, 3} {
			limit.raise(int(want))
			synctest.Wait()
			if got.Load() != want {
				t.Errorf("with a limit of %d, %d have a place", want, got.Load())
			}
		}
		all.Wait()
	})
}

// Who no longer waits takes no place from the others.
func TestProcessLimitWithoutWaiting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var limit processLimit
		limit.raise(1)
		release, err := limit.acquire(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		stop := errors.New("stop")
		ctx, cancel := context.WithCancelCause(t.Context())
		var all sync.WaitGroup
		all.Go(func() {
			if _, err := limit.acquire(ctx); !errors.Is(err, stop) {
				t.Errorf("acquire = %v, want %v", err, stop)
			}
		})
		synctest.Wait()
		all.Go(func() {
			if _, err := limit.acquire(t.Context()); err != nil {
				t.Error(err)
			}
		})
		synctest.Wait()
		cancel(stop)
		synctest.Wait()
		release()
		all.Wait()
		if _, err := limit.acquire(ctx); !errors.Is(err, stop) {
			t.Errorf("acquire after the end = %v, want %v", err, stop)
		}
	})
}

func BenchmarkProcessLimit(b *testing.B) {
	var limit processLimit
	limit.raise(1)
	for b.Loop() {
		release, err := limit.acquire(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		release()
	}
}

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
			if _, stderr, err := e.command(t.Context(), "", nil, "validate"); err != nil {
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
