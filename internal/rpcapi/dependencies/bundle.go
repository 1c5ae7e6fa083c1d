// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/apparentlymart/go-versions/versions"
	"github.com/hashicorp/go-slug/sourceaddrs"
	"github.com/hashicorp/go-slug/sourcebundle"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	terraform1pb "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// BundleHandle is the name in errors of handles of [*Bundle].
const BundleHandle = "source bundle"

// Bundle is an unpacked source bundle that a client has opened.
type Bundle struct {
	*sourcebundle.Bundle
	Dir string // absolute
}

// Resolved is where a source address leads.
type Resolved struct {
	// Path is of the file or directory, which need not exist. It is relative to the working directory
	// of the process for local sources.
	Path string

	// Source is the address, for registry sources with the version that was chosen.
	Source sourceaddrs.FinalSource
}

// Resolve finds a source that a request names. Local sources are those of the working directory of
// the process.
//
// Errors: InvalidArgument, also for a missing address.
func (b *Bundle) Resolve(addr *terraform1pb.SourceAddress) (Resolved, error) {
	source, err := b.finalSource(addr)
	if err != nil {
		return Resolved{}, status.Errorf(codes.InvalidArgument, "invalid source address: %s", err)
	}
	path, err := b.LocalPathForSource(source)
	if err != nil {
		return Resolved{}, status.Errorf(codes.InvalidArgument, "unavailable source address: %s", err)
	}
	return Resolved{Path: path, Source: source}, nil
}

func (b *Bundle) finalSource(addr *terraform1pb.SourceAddress) (sourceaddrs.FinalSource, error) {
	if addr.GetSource() == "" {
		return nil, fmt.Errorf("the address is missing")
	}
	source, err := sourceaddrs.ParseSource(addr.GetSource())
	if err != nil {
		return nil, err
	}
	if registry, ok := source.(sourceaddrs.RegistrySource); ok {
		return b.chooseVersion(registry, addr.GetVersions())
	}
	if addr.GetVersions() != "" {
		return nil, fmt.Errorf("%s is not in a registry, and has no versions to choose from", addr.GetSource())
	}
	switch source := source.(type) {
	case sourceaddrs.RemoteSource:
		return source, nil
	case sourceaddrs.LocalSource:
		return source, nil
	default:
		return nil, fmt.Errorf("%s is neither a remote nor a local source, nor one in a module registry", addr.GetSource())
	}
}

// chooseVersion returns the newest version in the bundle that satisfies a constraint.
func (b *Bundle) chooseVersion(source sourceaddrs.RegistrySource, constraint string) (sourceaddrs.FinalSource, error) {
	allowed := versions.All
	if constraint != "" {
		var err error
		if allowed, err = versions.MeetingConstraintsStringRuby(constraint); err != nil {
			return nil, fmt.Errorf("%q are not constraints of a version: %w", constraint, err)
		}
	}
	chosen := b.RegistryPackageVersions(source.Package()).NewestInSet(allowed)
	if chosen == versions.Unspecified {
		return nil, fmt.Errorf("the source bundle does not include %s in a version that satisfies %q", source.Package(), constraint)
	}
	return source.Versioned(chosen), nil
}

// OpenSourceBundle implements [dependenciespb.DependenciesServer].
func (s *Service) OpenSourceBundle(
	_ context.Context, req *dependenciespb.OpenSourceBundle_Request,
) (*dependenciespb.OpenSourceBundle_Response, error) {
	dir, err := filepath.Abs(req.GetLocalPath())
	if err != nil {
		return nil, status.Errorf(codes.Unknown, "the source bundle %q cannot be found: %s", req.GetLocalPath(), err)
	}
	opened, err := sourcebundle.OpenDir(dir)
	if err != nil {
		return nil, status.Errorf(codes.Unknown, "%q is not a source bundle that can be used: %s", req.GetLocalPath(), err)
	}
	opening := handle.Open(s.handles, &Bundle{Bundle: opened, Dir: dir})
	return &dependenciespb.OpenSourceBundle_Response{SourceBundleHandle: opening}, nil
}

// CloseSourceBundle implements [dependenciespb.DependenciesServer].
func (s *Service) CloseSourceBundle(
	_ context.Context, req *dependenciespb.CloseSourceBundle_Request,
) (*dependenciespb.CloseSourceBundle_Response, error) {
	if _, err := handle.Close[*Bundle](s.handles, req.GetSourceBundleHandle(), BundleHandle); err != nil {
		return nil, err
	}
	return &dependenciespb.CloseSourceBundle_Response{}, nil
}
