// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package components

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/records"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// Options are the parameters of a transport.
type Options struct {
	StackDir string // absolute
	Version  string // of this program, as workers must have it

	// Files are the files of the stack's repository, if workers of all pools can have them. The zero
	// value has those on the disk brought to them.
	Files Files

	// Connect connects with the workers. It is called when that is first needed, and again after an
	// error.
	Connect func(ctx context.Context) (*Connection, error)

	// Waiting is called, from any goroutine, for a component whose work no worker has taken for a
	// while. It may be nil.
	Waiting func(component, pool string)
}

// Files are files that were brought to workers.
type Files struct {
	Archive sources.Archive
	Top     string // absolute directory in which they are here
}

// Connection has the queue and the records that calls go through.
type Connection struct {
	Queue   queue.Queue
	Records records.Store
	Key     envelope.RunKey                   // of who may start work
	Pools   map[string]envelope.PoolRecipient // by name
}

// Transport is the [remote.Transport] of operations on one stack. Nothing is connected before the
// first call. The connection ends with the program.
type Transport struct {
	opts Options
	top  string // directory that the archives are of

	mu struct {
		sync.Mutex
		connection *Connection
		brought    map[string]sources.Archive // by run
	}
}

var _ remote.Transport = (*Transport)(nil)

// New returns a transport.
func New(opts Options) *Transport {
	t := &Transport{opts: opts, top: opts.Files.Top}
	if t.top == "" {
		t.top = sources.Top(opts.StackDir)
	}
	t.mu.brought = map[string]sources.Archive{}
	return t
}

// client returns a client for the run of a call.
func (t *Transport) client(ctx context.Context, call remote.Call) (*calls.Client, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.mu.connection == nil {
		opened, err := t.opts.Connect(ctx)
		if err != nil {
			return nil, err
		}
		t.mu.connection = opened
	}
	to := t.mu.connection
	client := &calls.Client{
		Queue: to.Queue, Records: to.Records, Key: to.Key, Pools: to.Pools, Run: runOf(call.Name), Version: t.opts.Version,
	}
	if t.opts.Waiting != nil {
		client.Waiting = func(calls.Call) { t.opts.Waiting(call.About, call.Pool) }
	}
	return client, nil
}

// bring records the beginning of the run of a client, and the files of the repository if they are
// to be brought, once.
func (t *Transport) bring(ctx context.Context, client *calls.Client) (sources.Archive, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if found, ok := t.mu.brought[client.Run]; ok {
		return found, nil
	}
	files := t.opts.Files.Archive
	if files == (sources.Archive{}) {
		var err error
		if files, err = t.pack(ctx, client); err != nil {
			return sources.Archive{}, err
		}
	}
	if err := client.Begin(ctx); err != nil {
		return sources.Archive{}, err
	}
	t.mu.brought[client.Run] = files
	return files, nil
}

// pack records the files of the repository for the run of a client, for all pools.
func (t *Transport) pack(ctx context.Context, client *calls.Client) (sources.Archive, error) {
	archive, digest, err := sources.Pack(t.top)
	if err != nil {
		return sources.Archive{}, err
	}
	files := sources.Archive{Record: calls.Folder(client.Run) + "sources-" + digest, Digest: digest}
	var to []envelope.Recipient
	for _, name := range slices.Sorted(maps.Keys(client.Pools)) {
		to = append(to, client.Pools[name])
	}
	sealed, err := envelope.Seal(files.Record, archive, to...)
	if err != nil {
		return sources.Archive{}, err
	}
	err = client.Records.Put(ctx, files.Record, sealed)
	if errors.Is(err, records.ErrExists) {
		err = nil
	}
	return files, err
}

// patience is the time between tries where the records are away.
const patience = 5 * time.Second

// Call implements [remote.Transport].
func (t *Transport) Call(ctx context.Context, call remote.Call, reports func([][]byte)) ([]byte, error) {
	said := func(_ int, some [][]byte) { reports(some) }
	client, err := t.client(ctx, call)
	if err != nil {
		return nil, notBegun(call, err)
	}
	made := calls.Call{Name: nameOf(call.Name), Pool: call.Pool, Kind: Kind, Parts: true, Changes: call.Changes}
	if call.Request == nil {
		answer, err := client.TakeOver(ctx, made, said)
		return result(answer, err)
	}
	if _, known := client.Pools[call.Pool]; !known {
		return nil, notBegun(call, fmt.Errorf("there are no workers for a pool %q", call.Pool))
	}
	if made.Body, err = t.body(ctx, client, call); err != nil {
		return nil, notBegun(call, err)
	}
	// Reports are passed on once, also if the call is asked for again.
	passed := 0
	for {
		number := 0
		answer, err := client.Do(ctx, made, func(_ int, some [][]byte) {
			known := min(max(passed-number, 0), len(some))
			number += len(some)
			passed = max(passed, number)
			if known < len(some) {
				reports(some[known:])
			}
		})
		if !call.Changes || !isUncertain(err) {
			return result(answer, err)
		}
		<-time.After(patience) // work that may have begun is waited for
		client.Again = true
	}
}

// body returns the body of a call.
func (t *Transport) body(ctx context.Context, client *calls.Client, call remote.Call) ([]byte, error) {
	files, err := t.bring(ctx, client)
	if err != nil {
		return nil, err
	}
	dir, err := filepath.Rel(t.top, t.opts.StackDir)
	if err != nil {
		return nil, err
	}
	return wire.Encode(body{files, filepath.ToSlash(dir), call.Request})
}

// notBegun returns the error of a call that was not made.
func notBegun(call remote.Call, err error) error {
	if call.Changes && call.Request != nil {
		return fmt.Errorf("%w: %w", remote.ErrNotBegun, err)
	}
	return err
}

// isUncertain reports whether an error leaves open whether a worker goes on.
func isUncertain(err error) bool {
	if err == nil || errors.Is(err, queue.ErrStopped) || errors.Is(err, calls.ErrLost) {
		return false
	}
	_, refused := errors.AsType[*queue.RefusedError](err)
	_, failed := errors.AsType[*calls.FailedError](err)
	return !refused && !failed
}

// result returns the answer of a call as the engine has it.
func result(answer calls.Answer, err error) ([]byte, error) {
	switch {
	case errors.Is(err, calls.ErrLost):
		return nil, remote.ErrWorkerLost
	case errors.Is(err, calls.ErrForgotten):
		return nil, remote.ErrForgotten
	case errors.Is(err, calls.ErrNotBegun), errors.Is(err, queue.ErrStopped):
		return nil, remote.ErrNotBegun
	}
	if refused, ok := errors.AsType[*queue.RefusedError](err); ok {
		return nil, fmt.Errorf("%w: %s", remote.ErrNotBegun, refused.Text())
	}
	if failed, ok := errors.AsType[*calls.FailedError](err); ok {
		return nil, fmt.Errorf("%w: %w", remote.ErrWorkerLost, failed)
	}
	if err != nil {
		return nil, err
	}
	var got answered
	if err := wire.Decode(answer.Body, &got); err != nil {
		return nil, fmt.Errorf("the answer of the worker %s cannot be decoded: %w", answer.Worker, err)
	}
	if got.NotBegun != "" {
		return nil, fmt.Errorf("%w: %s (on the worker %s)", remote.ErrNotBegun, got.NotBegun, answer.Worker)
	}
	return got.Content, nil
}

// StopNow implements [remote.Transport].
func (t *Transport) StopNow(ctx context.Context, name string) error {
	client, err := t.client(ctx, remote.Call{Name: name})
	if err != nil {
		return err
	}
	return client.StopNow(ctx, nameOf(name))
}
