// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"
	"fmt"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/statestore"
)

func migrateCommand() *session.Command {
	return &session.Command{
		Name:    "migrate",
		Args:    "FROM TO",
		Summary: "Moves the states of all deployments to another place.",
		Long: `
FROM and TO are files, or URLs such as postgres://HOST/DATABASE and s3://BUCKET/PREFIX. All serials are moved as they are, with the secrets by which
applies are recognised. Nobody can change the states meanwhile. The old place keeps a note of the new one, and is
refused from then on. After an interrupt, the same command goes on with what is left.`,
		Example: "cairn state migrate cairn.state.db postgres://db.example.com/states",
		MinArgs: 2, MaxArgs: 2,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			copying := ""
			done, err := s.Stack().States().Migrate(ctx, args[0], args[1], func(deployment string, _ statestore.Version) {
				if deployment != copying {
					s.Note("Copying the state of %s...\n", deployment)
					copying = deployment
				}
			})
			if err != nil {
				return 0, err
			}
			s.Print("The states of %s were moved to %s.\n", counted(done.Deployments, "deployment"), done.To)
			if place, err := s.Stack().States().Place(); err != nil || !place.Same(done.To) {
				s.Print("Name that place from now on: in cairn.hcl, by CAIRN_STATE or by -state.\n")
			}
			return cmdline.ExitOK, nil
		},
	}
}

func counted(number int, what string) string {
	if number == 1 {
		return fmt.Sprintf("1 %s", what)
	}
	return fmt.Sprintf("%d %ss", number, what)
}
