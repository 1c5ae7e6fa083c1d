// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
)

func whereCommand() *session.Command {
	return &session.Command{
		Name:    "where",
		Summary: "Names the place where the states of the stack's deployments are kept.",
		Long: `
In a database, that is a schema with the key of the stack: the name in cairn.hcl, or else the path of the stack in its
repository. What is written can be given to -state, to CAIRN_STATE and to upstream blocks; a user and a password are left out.`,
		Example: "cairn state where",
		Flags:   session.StateFlag,
		Run: func(_ context.Context, s *session.Session, _ []string) (int, error) {
			place, err := s.Stack().States().Place()
			if err != nil {
				return 0, err
			}
			s.Print("%s\n", place)
			return cmdline.ExitOK, nil
		},
	}
}
