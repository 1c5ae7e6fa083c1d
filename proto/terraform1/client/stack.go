// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// StackOptions are the parameters of [Client.OpenStack].
type StackOptions struct {
	// Source is the address of the directory of the stack: ./stack, relative to the working directory
	// of the server, or that of a package in the bundle.
	Source   string
	Versions string // constraint, for registry addresses only

	// Bundle is the directory of an unpacked source bundle, as the server sees it. Without one, the
	// stack and its modules are local.
	Bundle string

	// Providers are the locked providers, with hashes. LockFile is the source address of a lock file
	// that has them instead, such as ./stack/.terraform.lock.hcl. Without both there are only those
	// that the server has built in.
	Providers []Provider
	LockFile  string
	CacheDir  string // has the packages of these providers; see [Client.InstallProviders]
}

// Stack is an opened configuration. It is safe for concurrent use until it is closed.
type Stack struct {
	client               *Client
	config, locks, cache int64
	warnings             Diagnostics
	closers              []func() error
}

// OpenStack opens a stack. The caller calls [Stack.Close].
//
// Errors: [*DiagnosticsError] if the configuration or the lock file cannot be read.
func (c *Client) OpenStack(ctx context.Context, opts StackOptions) (*Stack, error) {
	s := &Stack{client: c}
	if err := s.open(ctx, opts); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

func (s *Stack) open(ctx context.Context, opts StackOptions) error {
	bundle, err := s.openBundle(ctx, opts.Bundle)
	if err != nil {
		return err
	}
	if err := s.openLocks(ctx, bundle, opts); err != nil {
		return err
	}
	if opts.CacheDir != "" {
		if s.cache, err = s.client.openCache(ctx, opts.CacheDir); err != nil {
			return err
		}
		s.closeLater(func() error { return s.client.closeCache(s.cache) })
	}
	return s.openConfig(ctx, bundle, opts)
}

func (s *Stack) closeLater(closer func() error) { s.closers = append(s.closers, closer) }

// Close closes the handles of the stack. Operations on the stack should have ended. A further call
// does nothing.
func (s *Stack) Close() error {
	var errs []error
	for _, closer := range slices.Backward(s.closers) {
		errs = append(errs, closer())
	}
	s.closers = nil
	return errors.Join(errs...)
}

func (s *Stack) openBundle(ctx context.Context, dir string) (int64, error) {
	if dir == "" {
		var err error
		if dir, err = EmptyBundle(); err != nil {
			return 0, err
		}
		s.closeLater(func() error { return os.RemoveAll(dir) })
	}
	response, err := s.client.dependencies.OpenSourceBundle(ctx, &dependenciespb.OpenSourceBundle_Request{LocalPath: dir})
	if err != nil {
		return 0, wrap("opening the source bundle", err)
	}
	handle := response.GetSourceBundleHandle()
	s.closeLater(func() error {
		return closing("the source bundle", func(ctx context.Context) error {
			_, err := s.client.dependencies.CloseSourceBundle(ctx, &dependenciespb.CloseSourceBundle_Request{SourceBundleHandle: handle})
			return err
		})
	})
	return handle, nil
}

// EmptyBundle makes a source bundle without packages in a new temporary directory, which the caller
// removes. With one, all sources are local. [Client.OpenStack] makes its own.
func EmptyBundle() (dir string, err error) {
	if dir, err = os.MkdirTemp("", "sources"); err != nil {
		return "", fmt.Errorf("making a source bundle: %w", err)
	}
	const manifest = `{"terraform_source_bundle":1,"packages":[],"registry":[],"components":[]}`
	if err := os.WriteFile(filepath.Join(dir, "terraform-sources.json"), []byte(manifest), 0o600); err != nil {
		return "", errors.Join(fmt.Errorf("making a source bundle: %w", err), os.RemoveAll(dir))
	}
	return dir, nil
}

func (s *Stack) openLocks(ctx context.Context, bundle int64, opts StackOptions) (err error) {
	switch {
	case opts.LockFile != "" && len(opts.Providers) > 0:
		return errors.New("there are a lock file and locked providers; one of them says what is locked")
	case opts.LockFile != "":
		s.locks, err = s.openLockFile(ctx, bundle, opts.LockFile)
	case len(opts.Providers) > 0:
		s.locks, err = s.client.createLocks(ctx, opts.Providers)
	default:
		return nil
	}
	if err == nil {
		s.closeLater(func() error { return s.client.closeLocks(s.locks) })
	}
	return err
}

func (s *Stack) openLockFile(ctx context.Context, bundle int64, address string) (int64, error) {
	response, err := s.client.dependencies.OpenDependencyLockFile(ctx, &dependenciespb.OpenDependencyLockFile_Request{
		SourceBundleHandle: bundle, SourceAddress: &terraform1.SourceAddress{Source: address},
	})
	if err != nil {
		return 0, wrap("opening the lock file", err)
	}
	handle := response.GetDependencyLocksHandle()
	return handle, s.opened(handle, "the lock file", response.GetDiagnostics())
}

func (s *Stack) openConfig(ctx context.Context, bundle int64, opts StackOptions) error {
	response, err := s.client.stacks.OpenStackConfiguration(ctx, &stackspb.OpenStackConfiguration_Request{
		SourceBundleHandle: bundle, SourceAddress: &terraform1.SourceAddress{Source: opts.Source, Versions: opts.Versions},
	})
	if err != nil {
		return wrap("opening the configuration", err)
	}
	s.config = response.GetStackConfigHandle()
	if err := s.opened(s.config, "the configuration", response.GetDiagnostics()); err != nil {
		return err
	}
	s.closeLater(func() error {
		return closing("the configuration", func(ctx context.Context) error {
			_, err := s.client.stacks.CloseStackConfiguration(ctx, &stackspb.CloseStackConfiguration_Request{StackConfigHandle: s.config})
			return err
		})
	})
	return nil
}

// opened keeps warnings, and returns an error for an object without a handle.
func (s *Stack) opened(handle int64, what string, messages []*terraform1.Diagnostic) error {
	diags := newDiagnostics(messages)
	if handle != 0 {
		s.warnings = append(s.warnings, diags...)
		return nil
	}
	if !diags.HasErrors() {
		return fmt.Errorf("the server did not open %s and does not say why", what)
	}
	return &DiagnosticsError{diags}
}

// Warnings returns the server's warnings on opening the stack.
func (s *Stack) Warnings() Diagnostics { return s.warnings }

// Validate checks the configuration. Its mistakes are in the diagnostics.
func (s *Stack) Validate(ctx context.Context) (Diagnostics, error) {
	response, err := s.client.stacks.ValidateStackConfiguration(ctx, &stackspb.ValidateStackConfiguration_Request{
		StackConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache,
	})
	return newDiagnostics(response.GetDiagnostics()), wrap("validating", err)
}

// Config returns the blocks of the stack, and the stacks in it.
func (s *Stack) Config(ctx context.Context) (*stackspb.FindStackConfigurationComponents_StackConfig, error) {
	response, err := s.client.stacks.FindStackConfigurationComponents(ctx,
		&stackspb.FindStackConfigurationComponents_Request{StackConfigHandle: s.config})
	return response.GetConfig(), wrap("finding components", err)
}
