// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"context"
	"fmt"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/providers/locks"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// LocksHandle is the name in errors of handles of [*Locks].
const LocksHandle = "set of dependency locks"

// Locks are the selections of providers that a client has opened. They do not change.
type Locks struct{ *locks.Locks }

// OpenDependencyLockFile implements [dependenciespb.DependenciesServer].
func (s *Service) OpenDependencyLockFile(
	_ context.Context, req *dependenciespb.OpenDependencyLockFile_Request,
) (*dependenciespb.OpenDependencyLockFile_Response, error) {
	bundle, err := handle.Get[*Bundle](s.handles, req.GetSourceBundleHandle(), BundleHandle)
	if err != nil {
		return nil, err
	}
	file, err := bundle.Resolve(req.GetSourceAddress())
	if err != nil {
		return nil, err
	}
	found, diags := locks.Read(file.Path)
	response := &dependenciespb.OpenDependencyLockFile_Response{Diagnostics: wire.Diagnostics(diags, nil)}
	if !diags.HasErrors() {
		response.DependencyLocksHandle = handle.Open(s.handles, &Locks{found})
	}
	return response, nil
}

// CreateDependencyLocks implements [dependenciespb.DependenciesServer].
func (s *Service) CreateDependencyLocks(
	_ context.Context, req *dependenciespb.CreateDependencyLocks_Request,
) (*dependenciespb.CreateDependencyLocks_Response, error) {
	created := &locks.Locks{}
	for _, selection := range req.GetProviderSelections() {
		lock, err := newLock(selection)
		if err == nil && created.Provider(lock.Provider) != nil {
			err = fmt.Errorf("the provider %s is selected more than once", lock.Provider)
		}
		if err != nil {
			return nil, status.Errorf(codes.InvalidArgument, "invalid selection of a provider: %s", err)
		}
		created.Set(lock)
	}
	return &dependenciespb.CreateDependencyLocks_Response{DependencyLocksHandle: handle.Open(s.handles, &Locks{created})}, nil
}

func newLock(selection *terraform1pb.ProviderPackage) (lock locks.Lock, err error) {
	if lock.Provider, err = release.ParseProvider(selection.GetSourceAddr()); err != nil {
		return lock, err
	}
	if lock.Provider.IsBuiltin() {
		return lock, fmt.Errorf("the provider %s is built in, and has no version that could be locked", lock.Provider)
	}
	if lock.Version, err = release.ParseVersion(selection.GetVersion()); err != nil {
		return lock, fmt.Errorf("for %s, %w", lock.Provider, err)
	}
	if lock.Hashes, err = parseHashes(selection.GetHashes()); err != nil {
		return lock, fmt.Errorf("for %s, %w", lock.Provider, err)
	}
	return lock, nil
}

func parseHashes(texts []string) ([]release.Hash, error) {
	var hashes []release.Hash
	for _, text := range texts {
		hash, err := release.ParseHash(text)
		if err != nil {
			return nil, err
		}
		hashes = append(hashes, hash)
	}
	return hashes, nil
}

// GetLockedProviderDependencies implements [dependenciespb.DependenciesServer].
func (s *Service) GetLockedProviderDependencies(
	_ context.Context, req *dependenciespb.GetLockedProviderDependencies_Request,
) (*dependenciespb.GetLockedProviderDependencies_Response, error) {
	opened, err := handle.Get[*Locks](s.handles, req.GetDependencyLocksHandle(), LocksHandle)
	if err != nil {
		return nil, err
	}
	response := &dependenciespb.GetLockedProviderDependencies_Response{}
	for _, lock := range opened.All() {
		response.SelectedProviders = append(response.SelectedProviders, providerPackage(lock.ID(), release.Known(lock.Hashes)))
	}
	return response, nil
}

// providerPackage returns the message for a release.
func providerPackage(id release.ID, hashes []release.Hash) *terraform1pb.ProviderPackage {
	message := &terraform1pb.ProviderPackage{SourceAddr: id.Provider.String(), Version: id.Version.String()}
	for _, hash := range hashes {
		message.Hashes = append(message.Hashes, string(hash))
	}
	return message
}

// CloseDependencyLocks implements [dependenciespb.DependenciesServer].
func (s *Service) CloseDependencyLocks(
	_ context.Context, req *dependenciespb.CloseDependencyLocks_Request,
) (*dependenciespb.CloseDependencyLocks_Response, error) {
	if _, err := handle.Close[*Locks](s.handles, req.GetDependencyLocksHandle(), LocksHandle); err != nil {
		return nil, err
	}
	return &dependenciespb.CloseDependencyLocks_Response{}, nil
}
