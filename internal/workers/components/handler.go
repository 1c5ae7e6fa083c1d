// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package components

import (
	"context"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// Handler does the work of calls on a worker. Its fields are not changed while it is used.
type Handler struct {
	Server *remote.Server
	Cache  sources.Cache
	Fetch  func(ctx context.Context, record string) ([]byte, error) // an archive of sources
}

// Handle implements [calls.Handler].
func (h *Handler) Handle(ctx context.Context, work *calls.Work) ([]byte, error) {
	if len(work.Before) > 0 && work.Changes {
		return nil, calls.ErrLost // an apply that another worker may have begun
	}
	var asked body
	if err := wire.Decode(work.Body, &asked); err != nil {
		return nil, err
	}
	top, err := h.Cache.Get(ctx, asked.Sources.Digest, func() ([]byte, error) { return h.Fetch(ctx, asked.Sources.Record) })
	if err != nil {
		return wire.Encode(answered{NotBegun: err.Error()})
	}
	stop, stopped := context.WithCancel(ctx)
	defer stopped()
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		select {
		case <-over:
		case <-work.Stop:
			stopped()
		}
	}()
	defer func() { <-watched }()
	defer close(over)
	task := remote.Task{
		Call:     remote.Call{Name: work.Call, Changes: work.Changes, Request: asked.Request},
		StackDir: filepath.Join(top, filepath.FromSlash(asked.Dir)),
	}
	content, err := h.Server.Serve(stop, work.Now, task, remote.Reports{
		Say: work.Say, Keep: func(report []byte) error { return work.Keep(ctx, report) },
	})
	if err != nil {
		return nil, err
	}
	return wire.Encode(answered{Content: content})
}
