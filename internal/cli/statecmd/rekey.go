// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statecmd

import (
	"context"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/operation/statechange"
	"github.com/cairnstacks/cairn/internal/safetext"
)

func rekeyCommand() *session.Command {
	var decrypt bool
	return &session.Command{
		Name:    "rekey",
		Summary: "Encrypts states with new keys, for the keys that the settings name now.",
		Long: `
Without -deployment, that is done for all deployments that have a state. All records of one are written anew, in one serial; a state
in clear is encrypted by that. Former serials stay as they are: with the keys that they were encrypted for, or in clear; whoever has a
key of the newest serial can read those that are encrypted. Others can go on reading meanwhile. To exchange a key, name both, the old
one in a "former" block, run this command, and then remove the old one.`,
		Example: "cairn state rekey\ncairn state rekey -deployment=prod",
		Flags: func(f *session.Flags) {
			f.BoolVar(&decrypt, "decrypt", false, "write the state in clear, before encryption is removed from the settings")
			session.LockFlags(f)
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			mode, done, found := encryptedstore.Rekey, "encrypted with a new key", false
			if decrypt {
				mode, done = encryptedstore.Decrypt, "decrypted"
			}
			err := s.Stack().StateChanges().Rekey(ctx, mode, func(deployment string, changed statechange.Changed) {
				if !changed.Nothing {
					found = true
					s.Print("The state of the deployment %q was %s and is now at serial %d.\n", safetext.Name(deployment), done, changed.Serial)
				}
			})
			if err == nil && !found {
				s.Print("There are no states with content. Nothing was changed.\n")
			}
			return cmdline.ExitOK, err
		},
	}
}
