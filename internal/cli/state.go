// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/operation/deployment"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

func stateCommand() *command {
	return group(&command{
		name:    "state",
		summary: "Looks at the state, and changes it by hand.",
		example: "cairn state list\ncairn state history",
	},
		stateListCommand(), stateShowCommand(), statePullCommand(), statePushCommand(), stateMoveCommand(), stateRemoveCommand(),
		stateHistoryCommand(), stateRollbackCommand(), stateExportCommand(), stateImportCommand(), stateUnlockCommand(),
	)
}

func stateListCommand() *command {
	return &command{
		name:    "list",
		args:    "[ADDRESS]",
		summary: "Lists components and their resources.",
		long:    "With an address, only that component or that stack instance.",
		example: "cairn state list\ncairn state list component.network",
		maxArgs: 1,
		flags:   (*flagSet).stateFlags,
		run: func(ctx context.Context, s *session, args []string) (int, error) {
			stored, err := s.stack().ReadState(ctx)
			if err != nil {
				return 0, err
			}
			within := func(stackaddrs.AbsComponentInstance) bool { return true }
			if len(args) == 1 {
				if within, err = stored.Filter(args[0]); err != nil {
					return 0, err
				}
				if !slices.ContainsFunc(slices.Collect(maps.Keys(stored.State.Components)), within) {
					return 0, fail("Not in the state", "The state has nothing at %s.%s", args[0], didYouMean(args[0], stored.Places(), ""))
				}
			}
			return exitOK, s.listState(stored, within)
		},
	}
}

func (s *session) listState(stored *deployment.Stored, within func(stackaddrs.AbsComponentInstance) bool) error {
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
		s.note("The state is empty.\n")
	}
	s.stdout("%s", b.String())
	return nil
}
