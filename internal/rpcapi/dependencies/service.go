// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package dependencies is the service of the RPC API for the dependencies of stacks: source
// bundles, provider locks, provider caches and schemas.
package dependencies

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"

	svchost "github.com/hashicorp/terraform-svchost"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// Options are the parameters of [New].
type Options struct {
	Environ    []string
	Log        *slog.Logger
	Registries *registry.Client
}

// Service implements [dependenciespb.DependenciesServer].
type Service struct {
	dependenciespb.UnimplementedDependenciesServer
	handles *handle.Table
	opts    Options
}

// New returns a service whose handles are in a table.
func New(handles *handle.Table, opts Options) *Service { return &Service{handles: handles, opts: opts} }

// StoreCredentials stores tokens for hosts where the CLI configuration of the user says, and uses
// them from now on.
func (s *Service) StoreCredentials(ctx context.Context, tokens map[string]string) error {
	for _, name := range slices.Sorted(maps.Keys(tokens)) {
		host, err := svchost.ForComparison(name)
		if err != nil {
			return fmt.Errorf("%q is not a host name: %w", name, err)
		}
		if err := cliconfig.StoreToken(ctx, s.opts.Environ, host, tokens[name]); err != nil {
			return err
		}
		s.opts.Registries.SetToken(host, tokens[name])
	}
	return nil
}
