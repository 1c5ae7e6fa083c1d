// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
)

// Command returns the command state with all below it.
func Command() *session.Command {
	return &session.Command{
		Name:    "state",
		Summary: "Looks at the state, and changes it by hand.",
		Example: "cairn state list\ncairn state history",
		Commands: []*session.Command{
			listCommand(), showCommand(), pullCommand(), pushCommand(), moveCommand(), removeCommand(),
			historyCommand(), rollbackCommand(), exportCommand(), importCommand(), unlockCommand(),
		},
	}
}

func listCommand() *session.Command {
	return &session.Command{
		Name:    "list",
		Args:    "[ADDRESS]",
		Summary: "Lists components and their resources.",
		Long:    "With an address, only that component or that stack instance.",
		Example: "cairn state list\ncairn state list component.network",
		MaxArgs: 1,
		Flags:   session.StateFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			stored, err := s.Stack().ReadToShow(ctx)
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
			listContents(s, contents)
			return cmdline.ExitOK, nil
		},
	}
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

// showChanged says what a change of the state by hand has done.
func showChanged(s *session.Session, changed statechange.Changed) {
	if changed.Nothing {
		s.Print("The state is like that already. Nothing was changed.\n")
		return
	}
	s.Print("The state was changed and is now at serial %d.\n", changed.Serial)
}
