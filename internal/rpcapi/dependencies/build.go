// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package dependencies

import (
	"context"
	"errors"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/providers/install"
	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// BuildProviderPluginCache implements [dependenciespb.DependenciesServer].
func (s *Service) BuildProviderPluginCache(
	req *dependenciespb.BuildProviderPluginCache_Request, stream grpc.ServerStreamingServer[dependenciespb.BuildProviderPluginCache_Event],
) error {
	selected, err := handle.Get[*Locks](s.handles, req.GetDependencyLocksHandle(), LocksHandle)
	if err != nil {
		return err
	}
	dir, err := newCacheDir(req.GetCacheDir(), req.GetOverridePlatform())
	if err != nil {
		return err
	}
	from, err := s.sources(req.GetInstallationMethods())
	if err != nil {
		return err
	}
	events := &buildEvents{stream: stream}
	pending := &dependenciespb.BuildProviderPluginCache_Event_Pending{}
	for _, lock := range selected.All() {
		pending.Expected = append(pending.Expected, &dependenciespb.BuildProviderPluginCache_Event_ProviderConstraints{
			SourceAddr: release.Short(lock.Provider),
		})
	}
	events.send(&dependenciespb.BuildProviderPluginCache_Event{
		Event: &dependenciespb.BuildProviderPluginCache_Event_Pending_{Pending: pending},
	})
	installer := &install.Installer{Source: from, Cache: dir}
	for _, lock := range selected.All() {
		if err := installer.Install(stream.Context(), lock, events); err != nil {
			events.failed(stream.Context(), lock.ID(), err)
		}
		if events.err != nil {
			return events.err
		}
	}
	return events.err
}

// sources returns where packages are installed from, in the order of the request.
func (s *Service) sources(methods []*dependenciespb.BuildProviderPluginCache_Request_InstallMethod) (source.Several, error) {
	var sources source.Several
	for _, method := range methods {
		if len(method.GetInclude()) > 0 || len(method.GetExclude()) > 0 {
			return nil, status.Error(codes.InvalidArgument, "methods of installation that include or exclude providers are not supported")
		}
		switch method := method.GetSource().(type) {
		case *dependenciespb.BuildProviderPluginCache_Request_InstallMethod_Direct:
			sources = append(sources, source.Registry{Client: s.opts.Registries})
		case *dependenciespb.BuildProviderPluginCache_Request_InstallMethod_LocalMirrorDir:
			sources = append(sources, source.Directory{Path: method.LocalMirrorDir})
		case *dependenciespb.BuildProviderPluginCache_Request_InstallMethod_NetworkMirrorUrl:
			mirror, err := source.NewNetwork(s.opts.Registries, method.NetworkMirrorUrl)
			if err != nil {
				return nil, status.Error(codes.InvalidArgument, err.Error())
			}
			sources = append(sources, mirror)
		default:
			return nil, status.Error(codes.Internal, "there is a method of installation without a source")
		}
	}
	return sources, nil
}

// buildEvents sends the events of an installer. It keeps the first error of that.
type buildEvents struct {
	stream grpc.ServerStreamingServer[dependenciespb.BuildProviderPluginCache_Event]
	err    error
}

var _ install.Observer = (*buildEvents)(nil)

func (e *buildEvents) send(event *dependenciespb.BuildProviderPluginCache_Event) {
	if e.err == nil {
		e.err = e.stream.Send(event)
	}
}

// failed sends a diagnostic, unless the client has given up.
func (e *buildEvents) failed(ctx context.Context, id release.ID, err error) {
	if ctx.Err() != nil {
		e.err = status.FromContextError(ctx.Err()).Err()
		return
	}
	diag := failure.New("Provider not installed", "Installing %s failed: %s.", id, failure.Reason(err))
	if query, ok := errors.AsType[*install.QueryError](err); ok {
		diag = failure.New("Provider not found", "The versions of %s cannot be listed, or %s is not among them: %s.",
			release.Short(id.Provider), id.Version, failure.Reason(query.Err))
	}
	e.send(&dependenciespb.BuildProviderPluginCache_Event{Event: &dependenciespb.BuildProviderPluginCache_Event_Diagnostic{
		Diagnostic: wire.Diagnostic(diag, nil),
	}})
}

func providerVersion(id release.ID) *dependenciespb.BuildProviderPluginCache_Event_ProviderVersion {
	return &dependenciespb.BuildProviderPluginCache_Event_ProviderVersion{SourceAddr: release.Short(id.Provider), Version: id.Version.String()}
}

// QueryBegin implements [install.Observer].
func (e *buildEvents) QueryBegin(id release.ID) {
	e.send(&dependenciespb.BuildProviderPluginCache_Event{Event: &dependenciespb.BuildProviderPluginCache_Event_QueryBegin{
		QueryBegin: &dependenciespb.BuildProviderPluginCache_Event_ProviderConstraints{
			SourceAddr: release.Short(id.Provider),
			Versions:   id.Version.String(),
		},
	}})
}

// QueryWarnings implements [install.Observer].
func (e *buildEvents) QueryWarnings(id release.ID, warnings []string) {
	e.send(&dependenciespb.BuildProviderPluginCache_Event{Event: &dependenciespb.BuildProviderPluginCache_Event_QueryWarnings{
		QueryWarnings: &dependenciespb.BuildProviderPluginCache_Event_ProviderWarnings{
			SourceAddr: release.Short(id.Provider),
			Warnings:   warnings,
		},
	}})
}

// QuerySuccess implements [install.Observer].
func (e *buildEvents) QuerySuccess(id release.ID) {
	e.send(&dependenciespb.BuildProviderPluginCache_Event{
		Event: &dependenciespb.BuildProviderPluginCache_Event_QuerySuccess{QuerySuccess: providerVersion(id)},
	})
}

// AlreadyInstalled implements [install.Observer].
func (e *buildEvents) AlreadyInstalled(id release.ID) {
	e.send(&dependenciespb.BuildProviderPluginCache_Event{
		Event: &dependenciespb.BuildProviderPluginCache_Event_AlreadyInstalled{AlreadyInstalled: providerVersion(id)},
	})
}

// FetchBegin implements [install.Observer].
func (e *buildEvents) FetchBegin(id release.ID, location string) {
	e.send(&dependenciespb.BuildProviderPluginCache_Event{Event: &dependenciespb.BuildProviderPluginCache_Event_FetchBegin_{
		FetchBegin: &dependenciespb.BuildProviderPluginCache_Event_FetchBegin{ProviderVersion: providerVersion(id), Location: location},
	}})
}

// FetchComplete implements [install.Observer].
func (e *buildEvents) FetchComplete(id release.ID, signed *source.Signed) {
	complete := &dependenciespb.BuildProviderPluginCache_Event_FetchComplete{ProviderVersion: providerVersion(id)}
	if signed != nil {
		complete.KeyIdForDisplay = signed.KeyID
		if signed.Official {
			complete.AuthResult = dependenciespb.BuildProviderPluginCache_Event_FetchComplete_OFFICIAL_SIGNED
		}
	}
	e.send(&dependenciespb.BuildProviderPluginCache_Event{
		Event: &dependenciespb.BuildProviderPluginCache_Event_FetchComplete_{FetchComplete: complete},
	})
}
