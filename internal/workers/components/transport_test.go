// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package components_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/components"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue/memory"
	"github.com/cairnstacks/cairn/internal/workers/records"
	"github.com/cairnstacks/cairn/internal/workers/sources"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
)

const pool = "pool"

// site has a queue, records and keys, which programs and workers have in common.
type site struct {
	queue   *memory.Queue
	records records.Store
	run     envelope.RunKey
	pool    envelope.PoolKey
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{queue: &memory.Queue{}, records: records.InMemory()}
	var err error
	if s.run, err = envelope.NewRunKey(); err != nil {
		t.Fatal(err)
	}
	if s.pool, err = envelope.NewPoolKey(); err != nil {
		t.Fatal(err)
	}
	return s
}

// transport returns the transport of a program that works on a stack.
func (s *site) transport(stackDir string) *components.Transport {
	return components.New(components.Options{
		StackDir: stackDir, Version: "test",
		Connect: func(context.Context) (*components.Connection, error) {
			return &components.Connection{
				Queue: s.queue, Records: s.records, Key: s.run,
				Pools: map[string]envelope.PoolRecipient{pool: envelope.PoolRecipient(s.pool.Recipient())},
			}, nil
		},
	})
}

// work starts a worker, until the end of the test.
func (s *site) work(t *testing.T, process string) *calls.Worker {
	t.Helper()
	server := remote.NewServer(remote.ServerOptions{Open: openNative})
	worker := &calls.Worker{
		Records: s.records, Key: s.pool, Trusted: s.run.Public(), Version: "test", Death: time.Nanosecond,
		Self: calls.Attempt{Worker: process, Pool: pool, Process: process},
	}
	handler := &components.Handler{Server: server, Cache: sources.Cache{Dir: t.TempDir()}, Fetch: worker.Fetch}
	worker.Handlers = map[string]calls.Handler{components.Kind: handler.Handle}
	ctx, end := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- worker.Serve(ctx, s.queue, 4) }()
	t.Cleanup(func() {
		end()
		if err := errors.Join(<-ended, server.Close()); err != nil {
			t.Error(err)
		}
	})
	return worker
}

// whenPut says which records were made.
type whenPut struct {
	records.Store
	put func(name string)
}

func (w *whenPut) Put(ctx context.Context, name string, content []byte) error {
	err := w.Store.Put(ctx, name, content)
	w.put(name)
	return err
}

func openNative(stackDir string) (engine.Engine, error) {
	return native.New(native.Options{WorkDir: filepath.Join(stackDir, ".cairn")})
}

// anew is a transport that brings the files for each call: tests change them in between, as nobody
// does during an operation.
type anew struct {
	*site
	stackDir string
}

func (a anew) Call(ctx context.Context, call remote.Call, reports func([][]byte)) ([]byte, error) {
	return a.transport(a.stackDir).Call(ctx, call, reports)
}

func (a anew) StopNow(ctx context.Context, name string) error {
	return a.transport(a.stackDir).StopNow(ctx, name)
}

// Components that go through a queue and records are done as the contract of engines says.
func TestContract(t *testing.T) {
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	var all *site
	var of *testing.T
	enginetest.Run(t, func(t *testing.T, stackDir string) engine.Engine {
		if of != t { // the workers outlive the sessions of one test
			of, all = t, newSite(t)
			all.work(t, "worker")
		}
		local, err := openNative(stackDir)
		if err != nil {
			t.Fatal(err)
		}
		return remote.New(remote.Options{
			Local: local, Transport: anew{all, stackDir},
			Pool: func(stackaddrs.AbsComponentInstance, map[engine.ProviderSlot]engine.ProviderConfig) (string, hcl.Diagnostics) {
				return pool, nil
			},
		})
	})
}

// A call that another program may have made is taken over, and never begun.
func TestTakeOver(t *testing.T) {
	s := newSite(t)
	dir := t.TempDir()
	asking := s.transport(dir)
	// No worker serves the pool yet, and the program that has asked is gone.
	gone, end := context.WithCancel(t.Context())
	s.records = &whenPut{s.records, func(name string) {
		if strings.HasSuffix(name, "/request") {
			end()
		}
	}}
	call := remote.Call{Name: "op/apply/component.a", Pool: pool, Changes: true, Request: []byte("x")}
	_, err := asking.Call(gone, call, func([][]byte) {})
	if !errors.Is(err, remote.ErrNotBegun) {
		t.Fatalf("a call that was stopped before a worker came: got %v, want that it was not begun", err)
	}
	another := s.transport(dir)
	call.Request = nil
	for range 2 {
		_, err = another.Call(t.Context(), call, func([][]byte) {})
		if !errors.Is(err, remote.ErrNotBegun) {
			t.Errorf("taken over: got %v, want that it was not begun", err)
		}
	}
	// A worker that comes later has nothing to do.
	s.work(t, "late")
	_, err = asking.Call(t.Context(), call, func([][]byte) {})
	if !errors.Is(err, remote.ErrNotBegun) {
		t.Errorf("taken over once more: got %v, want that it was not begun", err)
	}
	_, err = another.Call(t.Context(), remote.Call{Name: "other/apply/component.a", Pool: pool, Changes: true}, func([][]byte) {})
	if !errors.Is(err, remote.ErrForgotten) {
		t.Errorf("a call of an operation that the records do not know: got %v, want that it is forgotten", err)
	}
}
