// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/cairnstacks/cairn/internal/bundle"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// InitCommand returns the command that fetches sources and installs the providers of the stack.
func InitCommand() *session.Command {
	var upgrade, scaffold bool
	return &session.Command{
		Name:    "init",
		Summary: "Fetches the sources and installs the providers of the whole stack.",
		Long: `
Fetches the sources of the stack and its modules from repositories, archives and registries, and
records their versions in cairn.sources.lock.hcl. Other commands use the fetched sources.

Chooses a version of each provider that all stacks and modules accept, installs it once for all components, and
records the choice in .terraform.lock.hcl. Other commands do the same by themselves when something has changed. Both
lock files belong into version control.

With -new, a small stack is written first, which can be planned and applied as it is. It replaces no files.`,
		Example: "cairn init\ncairn init -upgrade\ncairn init -new",
		Flags: func(f *session.Flags) {
			f.BoolVar(&upgrade, "upgrade", false, "choose the newest versions that are allowed, whatever was chosen before")
			f.BoolVar(&scaffold, "new", false, "write a small stack first, into a directory that has none")
			session.ProviderFlags(f)
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			if upgrade && s.Options.ReadOnly {
				return 0, failure.Error("Conflicting options", "With -lockfile=readonly there is no -upgrade: give only one of them.")
			}
			if scaffold {
				created, err := operation.Scaffold(s.Stack().Env())
				if err != nil {
					return 0, err
				}
				for _, name := range created {
					s.Print("Created %s\n", name)
				}
			}
			s.ListsProviders = true
			ctx, stop := s.Interruptible(ctx, session.LooksOnly)
			defer stop()
			installed, diags := s.Stack().Install(ctx, operation.InstallRequest{
				Upgrade: upgrade, Verify: true, Fetched: func(packages []bundle.Package) { ShowFetched(s, packages) },
			})
			if diags.HasErrors() {
				return s.Finish(diags)
			}
			ShowInstalled(s, installed)
			if !inAutomation() {
				s.Say("\nThe stack is ready. Go on with: cairn plan\n")
			}
			return s.Finish(diags)
		},
	}
}

// ShowFetched shows which source packages there are.
func ShowFetched(s *session.Session, packages []bundle.Package) {
	for _, pkg := range packages {
		s.Print("Source: %s\n", describePackage(pkg))
	}
}

// ShowInstalled shows the versions of the engine and the providers of a stack.
func ShowInstalled(s *session.Session, installed operation.Versions) {
	s.Print("Engine: %s %s\n", installed.Engine.Name, installed.Engine.Version)
	if text := s.Stack().Engines().VersionFileIgnored(installed.Engine.Name); text != "" {
		s.Note("%s\n", text)
	}
	for _, provider := range slices.SortedFunc(maps.Keys(installed.Providers), stackaddrs.Provider.Compare) {
		s.Print("Provider: %s %s\n", provider, cmp.Or(installed.Providers[provider], "(not locked)"))
	}
}

func describePackage(pkg bundle.Package) string {
	text := pkg.Address
	if pkg.Version != "" {
		text += " " + pkg.Version
	}
	if pkg.Commit != "" {
		text += " (commit " + pkg.Commit[:min(len(pkg.Commit), 12)] + ")"
	}
	return text
}
