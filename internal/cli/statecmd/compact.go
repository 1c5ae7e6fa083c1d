// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"
	"strconv"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
)

func compactCommand() *session.Command {
	return &session.Command{
		Name:    "compact",
		Args:    "SERIAL",
		Summary: "Drops the history of the state before a serial, on object storage.",
		Long: `
The states of the earlier serials cannot be read any more, nor rolled back to; their descriptions stay. The present state does not
change. Entries that are younger than a day stay in any case. Other places keep all serials.`,
		Example: "cairn state history\ncairn state compact 12",
		MinArgs: 1, MaxArgs: 1,
		Flags: session.LockFlags,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			serial, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil {
				return 0, failure.Error("Invalid serial", "The serial must be a number that \"cairn state history\" shows, and not %q.", args[0])
			}
			removed, err := s.Stack().StateChanges().Compact(ctx, serial)
			if err != nil {
				return 0, err
			}
			if removed == 0 {
				s.Print("There is nothing before serial %d that is older than a day.\n", serial)
				return cmdline.ExitOK, nil
			}
			s.Print("The history before serial %d was dropped: %s.\n", serial, counted(removed, "object"))
			return cmdline.ExitOK, nil
		},
	}
}
