// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"io"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
)

// Provider is a locked provider.
type Provider struct {
	Addr    string   // such as hashicorp/time or registry.example.com/acme/cloud
	Version string   // exact
	Hashes  []string // of its packages, as in lock files
}

// Mirror is where providers are installed from. One of its fields is set; with neither, it is the
// registry that is in the address of a provider.
type Mirror struct {
	Dir string // as the server sees it
	URL string
}

// InstallOptions are the parameters of [Client.InstallProviders].
type InstallOptions struct {
	CacheDir  string // made if it does not exist
	Providers []Provider
	Mirrors   []Mirror // without one, nothing can be installed that is not there already

	// Progress may be nil.
	Progress func(*dependenciespb.BuildProviderPluginCache_Event)
}

// InstallProviders installs providers in a directory for [StackOptions], and returns those that are
// there now, with hashes of their packages.
//
// Errors: [*DiagnosticsError], if one was not installed.
func (c *Client) InstallProviders(ctx context.Context, opts InstallOptions) (installed []Provider, err error) {
	locks, err := c.createLocks(ctx, opts.Providers)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.closeLocks(locks)) }()
	if err := c.buildCache(ctx, locks, opts); err != nil {
		return nil, err
	}
	cache, err := c.openCache(ctx, opts.CacheDir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.closeCache(cache)) }()
	response, err := c.dependencies.GetCachedProviders(ctx, &dependenciespb.GetCachedProviders_Request{ProviderCacheHandle: cache})
	if err != nil {
		return nil, wrap("listing providers", err)
	}
	return newProviders(response.GetAvailableProviders()), nil
}

func (c *Client) buildCache(ctx context.Context, locks int64, opts InstallOptions) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	stream, err := c.dependencies.BuildProviderPluginCache(ctx, &dependenciespb.BuildProviderPluginCache_Request{
		CacheDir: opts.CacheDir, DependencyLocksHandle: locks, InstallationMethods: installMethods(opts.Mirrors),
	})
	if err != nil {
		return wrap("installing providers", err)
	}
	var diags Diagnostics
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return diags.err()
		} else if err != nil {
			return wrap("installing providers", err)
		}
		if diagnostic := event.GetDiagnostic(); diagnostic != nil {
			diags = append(diags, newDiagnostic(diagnostic))
		}
		if opts.Progress != nil {
			opts.Progress(event)
		}
	}
}

func installMethods(mirrors []Mirror) []*dependenciespb.BuildProviderPluginCache_Request_InstallMethod {
	var methods []*dependenciespb.BuildProviderPluginCache_Request_InstallMethod
	for _, mirror := range mirrors {
		method := &dependenciespb.BuildProviderPluginCache_Request_InstallMethod{}
		switch {
		case mirror.Dir != "":
			method.Source = &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_LocalMirrorDir{LocalMirrorDir: mirror.Dir}
		case mirror.URL != "":
			method.Source = &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_NetworkMirrorUrl{NetworkMirrorUrl: mirror.URL}
		default:
			method.Source = &dependenciespb.BuildProviderPluginCache_Request_InstallMethod_Direct{Direct: true}
		}
		methods = append(methods, method)
	}
	return methods
}

func (c *Client) createLocks(ctx context.Context, providers []Provider) (int64, error) {
	request := &dependenciespb.CreateDependencyLocks_Request{}
	for _, p := range providers {
		request.ProviderSelections = append(request.ProviderSelections, &terraform1.ProviderPackage{
			SourceAddr: p.Addr, Version: p.Version,
			Hashes: p.Hashes,
		})
	}
	response, err := c.dependencies.CreateDependencyLocks(ctx, request)
	return response.GetDependencyLocksHandle(), wrap("locking providers", err)
}

func (c *Client) closeLocks(handle int64) error {
	return closing("locks of providers", func(ctx context.Context) error {
		_, err := c.dependencies.CloseDependencyLocks(ctx, &dependenciespb.CloseDependencyLocks_Request{DependencyLocksHandle: handle})
		return err
	})
}

func (c *Client) openCache(ctx context.Context, dir string) (int64, error) {
	response, err := c.dependencies.OpenProviderPluginCache(ctx, &dependenciespb.OpenProviderPluginCache_Request{CacheDir: dir})
	return response.GetProviderCacheHandle(), wrap("opening a cache of providers", err)
}

func (c *Client) closeCache(handle int64) error {
	return closing("a cache of providers", func(ctx context.Context) error {
		_, err := c.dependencies.CloseProviderPluginCache(ctx, &dependenciespb.CloseProviderPluginCache_Request{ProviderCacheHandle: handle})
		return err
	})
}

func newProviders(messages []*terraform1.ProviderPackage) []Provider {
	var providers []Provider
	for _, message := range messages {
		providers = append(providers, Provider{Addr: message.GetSourceAddr(), Version: message.GetVersion(), Hashes: message.GetHashes()})
	}
	return providers
}

// closing runs a call that closes a handle, also after the context of the operation it was opened
// for has ended.
func closing(what string, call func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(context.Background(), closePatience)
	defer cancel()
	return wrap("closing "+what, call(ctx))
}
