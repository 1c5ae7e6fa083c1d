// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func stateCommand() *session.Command {
	return &session.Command{
		Name:    "state",
		Summary: "Looks at the state, and changes it by hand.",
		Example: "cairn state list\ncairn state history",
		Commands: []*session.Command{
			stateListCommand(), stateShowCommand(), statePullCommand(), statePushCommand(), stateMoveCommand(), stateRemoveCommand(),
			stateHistoryCommand(), stateRollbackCommand(), stateExportCommand(), stateImportCommand(), stateUnlockCommand(),
		},
	}
}

func stateListCommand() *session.Command {
	return &session.Command{
		Name:    "list",
		Args:    "[ADDRESS]",
		Summary: "Lists components and their resources.",
		Long:    "With an address, only that component or that stack instance.",
		Example: "cairn state list\ncairn state list component.network",
		MaxArgs: 1,
		Flags:   session.StateFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			stored, err := s.Stack().ReadState(ctx)
			if err != nil {
				return 0, err
			}
			within := func(stackaddrs.AbsComponentInstance) bool { return true }
			if len(args) == 1 {
				if within, err = stored.Filter(args[0]); err != nil {
					return 0, err
				}
				if !slices.ContainsFunc(slices.Collect(maps.Keys(stored.State.Components)), within) {
					return 0, failure.Error("Not in the state", "The state has nothing at %s.%s", args[0], nearest.DidYouMean(args[0], stored.Places()))
				}
			}
			return cmdline.ExitOK, listState(s, stored, within)
		},
	}
}

func listState(s *session.Session, stored *deployment.Stored, within func(stackaddrs.AbsComponentInstance) bool) error {
	var b strings.Builder
	for _, component := range stored.State.SortedComponents() {
		if !within(component.Addr) {
			continue
		}
		b.WriteString(component.Addr.String() + "\n")
		objects, err := tfstate.ParseObjects(component.Module)
		if err != nil {
			return err
		}
		for _, object := range objects {
			b.WriteString(object.In(component.Addr).String() + "\n")
		}
	}
	if b.Len() == 0 {
		s.Note("The state is empty.\n")
	}
	s.Print("%s", b.String())
	return nil
}
