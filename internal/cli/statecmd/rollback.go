// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"
	"strconv"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
)

func rollbackCommand() *session.Command {
	var autoApprove bool
	return &session.Command{
		Name:    "rollback",
		Args:    "SERIAL",
		Summary: "Brings the state back to the end of a serial.",
		Long: `
Only the state is changed, as a new serial; existing objects are not. Objects that were made since
go on existing, but cairn does not manage them any more; objects that were destroyed since are in
the state again. Both are listed, and if there are any, the command asks before it changes the
state. Plan afterwards to see how the state and the existing objects differ.`,
		Example: "cairn state history\ncairn state rollback 12",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.BoolVar(&autoApprove, "auto-approve", false, "do not ask before changing the state")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			serial, err := strconv.ParseInt(args[0], 10, 64)
			if err != nil || serial < 0 {
				return 0, failure.Error("Invalid serial", "The serial must be a number that \"cairn state history\" shows, and not %q.", args[0])
			}
			return rollBack(ctx, s, serial, autoApprove)
		},
	}
}

// rollBack restores the state of a serial. The objects that the state loses and regains by that are
// shown, and asked about.
func rollBack(ctx context.Context, s *session.Session, serial int64, autoApprove bool) (int, error) {
	changed, err := s.Stack().StateChanges().RollBack(ctx, serial, func(ctx context.Context, rollback deployment.Rollback) error {
		s.Print("%s", rollbackText(rollback.Loses, rollback.Regains))
		if autoApprove {
			return nil
		}
		return approveRollback(ctx, s)
	})
	return endChange(s, changed, err)
}

func rollbackText(loses, regains []string) string {
	var b strings.Builder
	if len(loses) > 0 {
		b.WriteString("These objects go on existing, and will not be managed any more:\n  - " + strings.Join(loses, "\n  - ") + "\n\n")
	}
	if len(regains) > 0 {
		b.WriteString("These objects will be in the state again, though they may not exist any more:\n  - " +
			strings.Join(regains, "\n  - ") + "\n\n")
	}
	return b.String()
}

func approveRollback(ctx context.Context, s *session.Session) error {
	s.Print("Do you want to change the state?\n  Only \"yes\" will be accepted to confirm.\n\n")
	answer, err := s.Ask(ctx, "  Enter a value: ", false)
	switch {
	case err != nil:
		return failure.Error("Approval needed",
			"The change of the state was not approved: %s. Answer \"yes\", or give -auto-approve. Nothing was changed.", err)
	case strings.TrimSpace(answer) != "yes":
		return failure.Error("Approval refused", "The change of the state was not approved. Nothing was changed.")
	}
	s.Print("\n")
	return nil
}
