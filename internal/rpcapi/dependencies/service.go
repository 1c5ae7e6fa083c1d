// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package dependencies is the service of the RPC API for what stacks depend on: source bundles, provider locks, provider caches and schemas.
package dependencies

import (
	"context"
	"fmt"
	"log/slog"

	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// Options are the parameters of [New].
type Options struct {
	Environ []string
	Log     *slog.Logger
}

// Service implements [dependenciespb.DependenciesServer].
type Service struct {
	dependenciespb.UnimplementedDependenciesServer
	handles *handle.Table
	opts    Options
}

// New returns a service whose handles are in a table.
func New(handles *handle.Table, opts Options) *Service { return &Service{handles: handles, opts: opts} }

// StoreCredentials stores tokens for hosts where the CLI configuration of the user says.
func (s *Service) StoreCredentials(_ context.Context, tokens map[string]string) error {
	if len(tokens) > 0 {
		return fmt.Errorf("credentials cannot be stored")
	}
	return nil
}
