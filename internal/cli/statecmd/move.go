// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation/deployment"
)

func moveCommand() *session.Command {
	var dryRun bool
	return &session.Command{
		Name:    "mv",
		Args:    "FROM TO",
		Summary: "Gives a component, an embedded stack or a resource another address.",
		Long: `
Without a key, as in component.a, all instances are meant, and keep their keys. With a key in one of the two it is one
instance, and the address without a key is that of a block without for_each. A resource can get another address in
its component, or in another one.

Only the state is changed; the configuration has to have the new name, too. Where others have states of the same
configuration, or review plans, a moved block does the same with the next apply.`,
		Example: "cairn state mv component.network component.vpc\n" +
			"cairn state mv component.network 'component.network[\"eu\"]'\n" +
			"cairn state mv 'stack.region[\"eu\"]' 'stack.region[\"europe\"]'\n" +
			"cairn state mv component.app.aws_s3_bucket.logs component.logs.aws_s3_bucket.main",
		MinArgs: 2, MaxArgs: 2,
		Flags: func(f *session.Flags) {
			f.BoolVar(&dryRun, "dry-run", false, "show which objects would get which address, and change nothing")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			if dryRun {
				moved, err := s.Stack().StateChanges().PreviewMove(ctx, args[0], args[1])
				if err != nil {
					return 0, err
				}
				listMoves(s, "Would move", moved)
				s.Print("Nothing was changed.\n")
				return cmdline.ExitOK, nil
			}
			moved, changed, err := s.Stack().StateChanges().Move(ctx, args[0], args[1])
			if err != nil {
				return 0, err
			}
			showChanged(s, changed)
			listMoves(s, "Moved", moved)
			return cmdline.ExitOK, nil
		},
	}
}

func listMoves(s *session.Session, verb string, moved []deployment.Moved) {
	for _, m := range moved {
		s.Line(verb+" %s to %s.", m.From, m.To)
	}
}
