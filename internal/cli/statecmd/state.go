// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/sources"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Command returns the command state with all below it.
func Command() *session.Command {
	return &session.Command{
		Name:    "state",
		Summary: "Looks at the state, and changes it by hand.",
		Example: "cairn state list\ncairn state history",
		Commands: []*session.Command{
			listCommand(), showCommand(), pullCommand(), pushCommand(), moveCommand(), removeCommand(),
			historyCommand(), rollbackCommand(), exportCommand(), importCommand(), unlockCommand(), locksCommand(), whereCommand(), migrateCommand(),
			compactCommand(),
			rekeyCommand(),
		},
	}
}

func listCommand() *session.Command {
	var components bool
	return &session.Command{
		Name:    "list",
		Args:    "[ADDRESS]",
		Summary: "Lists components and their resources.",
		Long:    "With an address, only that component or that stack instance.",
		Example: "cairn state list\ncairn state list component.network",
		MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.BoolVar(&components, "components", false, "print only components, with those that are declared and not applied yet")
			session.StateFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			stored, err := s.Stack().States().ReadToShow(ctx)
			if components && severalDeployments(err) { // which have the same components
				s.Print("%s", strings.Join(componentAddresses(ctx, s, nil), ""))
				return cmdline.ExitOK, nil
			}
			if err != nil {
				return 0, err
			}
			address := ""
			if len(args) == 1 {
				address = args[0]
			}
			contents, err := stored.Contents(address)
			if err != nil {
				return 0, err
			}
			if components {
				s.Print("%s", strings.Join(componentAddresses(ctx, s, contents), ""))
				return cmdline.ExitOK, nil
			}
			listContents(s, contents)
			return cmdline.ExitOK, nil
		},
	}
}

// severalDeployments reports whether an error is that none of several deployments was named.
func severalDeployments(err error) bool {
	return slices.ContainsFunc(failure.Diagnostics(err), func(diag *hcl.Diagnostic) bool {
		return diag.Extra == sources.CodeSeveralDeployments
	})
}

// componentAddresses are lines with the component instances of a state, and with the components of
// the configuration of which there are none.
func componentAddresses(ctx context.Context, s *session.Session, contents []deployment.Contents) []string {
	var lines []string
	stored := map[stackaddrs.AbsComponent]bool{}
	for _, component := range contents {
		lines = append(lines, component.Addr.String()+"\n")
		stored[stackaddrs.ComponentOf(component.Addr)] = true
	}
	declared, _ := s.Stack().Graph(ctx) //nolint:errcheck // other commands report mistakes of the configuration
	for _, component := range declared.Components {
		if !stored[component.Addr] && !component.Addr.Stack.HasWildcard() {
			lines = append(lines, component.Addr.String()+"\n")
		}
	}
	slices.Sort(lines)
	return lines
}

func listContents(s *session.Session, contents []deployment.Contents) {
	if len(contents) == 0 {
		s.Note("The state is empty.\n")
	}
	var b strings.Builder
	for _, component := range contents {
		b.WriteString(component.Addr.String() + "\n")
		for _, object := range component.Objects {
			b.WriteString(object.In(component.Addr).String() + "\n")
		}
	}
	s.Print("%s", b.String())
}

// endChange reports the result of a change of the state by hand, or returns why there is none.
func endChange(s *session.Session, changed statechange.Changed, err error) (int, error) {
	if err != nil {
		return 0, err
	}
	showChanged(s, changed)
	return cmdline.ExitOK, nil
}

// showChanged reports the result of a change of the state by hand.
func showChanged(s *session.Session, changed statechange.Changed) {
	if changed.Nothing {
		s.Print("The state is like that already. Nothing was changed.\n")
		return
	}
	s.Print("The state was changed and is now at serial %d.\n", changed.Serial)
}
