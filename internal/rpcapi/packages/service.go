// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package packages is the service of the RPC API for the packages in registries.
package packages

import (
	"github.com/cairnstacks/cairn/internal/registry"
	packagespb "github.com/cairnstacks/cairn/proto/terraform1/packages"
)

// Options are the parameters of [New].
type Options struct {
	Environ    []string
	Registries *registry.Client
}

// Service implements [packagespb.PackagesServer].
type Service struct {
	packagespb.UnimplementedPackagesServer
	opts Options
}

// New returns a service.
func New(opts Options) *Service { return &Service{opts: opts} }
