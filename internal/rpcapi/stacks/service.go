// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stacks is the service of the RPC API for stacks: their configurations, states and plans,
// and operations on them.
package stacks

import (
	"log/slog"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// Options are the parameters of [New].
type Options struct {
	Version string
	Environ []string
	Log     *slog.Logger
}

// Service implements [stackspb.StacksServer].
type Service struct {
	stackspb.UnimplementedStacksServer
	handles *handle.Table
	opts    Options
	running running

	shared    operation.Shared // by all operations
	temporary temporary
}

// New returns a service whose handles are in a table. It removes from the disk the files of
// services whose processes were killed.
func New(handles *handle.Table, opts Options) *Service {
	kind := directories(opts.Log)
	kind.RemoveLeft()
	return &Service{handles: handles, opts: opts, temporary: temporary{kind: kind}}
}

// Close removes the files of operations from the disk. Nothing may run any more.
func (s *Service) Close() error { return s.temporary.remove() }

// Stop asks all plans and applies that run to end gracefully. Later ones are not concerned.
func (s *Service) Stop() { s.running.stop() }
