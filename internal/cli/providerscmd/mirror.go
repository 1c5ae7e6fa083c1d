// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package providerscmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/requirements"
)

func mirrorCommand() *session.Command {
	var platforms cmdline.List
	lockFile := true
	return &session.Command{
		Name:    "mirror",
		Args:    "DIR",
		Summary: "Fetches the providers of the stack into a directory that they can be installed from.",
		Long: `
Fetches the packages of the providers that the stack and its modules require, for each platform,
from their registries. The directory is a filesystem_mirror of the CLI configuration, and, served by
any web server, a network_mirror. Its content stays, so that several stacks can have one mirror.

The versions are those of .terraform.lock.hcl; without that file, or with -lock-file=false, the newest that are allowed.`,
		Example: "cairn providers mirror -platform=linux_amd64 -platform=darwin_arm64 mirror",
		MinArgs: 1,
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			platformFlag(f, &platforms)
			f.BoolVar(&lockFile, "lock-file", true, "take the versions of .terraform.lock.hcl; with false, the newest that are allowed")
			session.EngineFlags(f)
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			s.ChangesNothing = true
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			mirrored, diags := s.Stack().Providers().Mirror(ctx, requirements.MirrorRequest{
				Dir: args[0], Platforms: platforms,
				IgnoreLock: !lockFile,
			})
			for _, one := range mirrored {
				s.Line("Mirrored: %s", one.File)
			}
			return s.Finish(diags)
		},
	}
}
