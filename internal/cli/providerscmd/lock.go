// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerscmd

import (
	"context"
	"slices"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
	"github.com/cairnstacks/cairn/internal/providers/locks"
)

func lockCommand() *session.Command {
	var platforms cmdline.List
	var req requirements.LockRequest
	return &session.Command{
		Name:    "lock",
		Args:    "[PROVIDER...]",
		Summary: "Completes .terraform.lock.hcl with the checksums of providers for several platforms.",
		Long: `
Fetches the packages of the providers that the stack and its modules require, for each platform, from their registries,
whatever the CLI configuration says of installing them, and adds their checksums to .terraform.lock.hcl. Versions that
are locked are kept; others are chosen as init would do it. With names of providers, such as hashicorp/time, only these
are locked.

After that, the stack can be used on all these platforms, and with mirrors that have the same packages.`,
		Example: "cairn providers lock -platform=linux_amd64 -platform=darwin_arm64\n" +
			"cairn providers lock -fs-mirror=mirror hashicorp/time",
		MaxArgs: 1 << 30,
		Flags: func(f *session.Flags) {
			platformFlag(f, &platforms)
			f.StringVar(&req.Directory, "fs-mirror", "", "take packages from the mirror in this directory, not from registries: `DIR`")
			f.StringVar(&req.Network, "net-mirror", "", "take packages from the mirror below this address, not from registries: `URL`")
			session.EngineFlags(f)
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			req.Platforms, req.Providers = platforms, args
			locked, diags := s.Stack().Providers().Lock(ctx, req)
			if diags.HasErrors() {
				return s.Finish(diags)
			}
			showLocked(s, locked)
			return s.Finish(diags)
		},
	}
}

func showLocked(s *session.Session, locked []requirements.Package) {
	for _, one := range locked {
		text := "all checksums were locked before"
		switch {
		case one.New:
			text = "the provider is new in the lock file"
		case one.Added:
			text = "checksums were added"
		}
		s.Print("Provider: %s %s for %s: %s\n", one.Provider, one.Version, one.Platform, text)
	}
	if slices.ContainsFunc(locked, func(one requirements.Package) bool { return one.Added }) {
		s.Say("\nThe file %s has changed. Commit it, so that everybody uses the same packages.\n", locks.FileName)
		return
	}
	s.Say("\nThe file %s was complete.\n", locks.FileName)
}
