// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package identitycmd

import (
	"context"
	"errors"
	"io/fs"
	"os"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/deployments/identity"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// Command returns the command identity with all below it.
func Command() *session.Command {
	return &session.Command{
		Name:     "identity",
		Summary:  "Makes keys that tokens of deployments are signed with, and publishes them.",
		Example:  "cairn identity key identity.pem\ncairn identity jwks -out=public",
		Commands: []*session.Command{jwksCommand(), keyCommand()},
	}
}

func keyCommand() *session.Command {
	algorithm := identity.RS256
	return &session.Command{
		Name:    "key",
		Args:    "FILE",
		Summary: "Makes a private key that tokens are signed with.",
		Long: `
The file is new, and only its owner may read it. Whoever has it can log in as any deployment: keep it out of version
control. RS256 is understood by all who verify tokens; keys for ES256 are shorter.`,
		Example: "cairn identity key identity.pem\ncairn identity key -algorithm=ES256 identity.pem",
		MinArgs: 1, MaxArgs: 1,
		Flags: func(f *session.Flags) {
			f.StringVar(&algorithm, "algorithm", identity.RS256, "`NAME` of the algorithm of signatures: RS256 or ES256")
		},
		Run: func(_ context.Context, s *session.Session, args []string) (int, error) {
			if algorithm != identity.RS256 && algorithm != identity.ES256 {
				return 0, failure.Error("Unknown algorithm", "Tokens are not signed with %q.%s Give RS256 or ES256.",
					algorithm, nearest.DidYouMean(algorithm, []string{identity.RS256, identity.ES256}))
			}
			content, id, err := identity.NewKey(algorithm)
			if err != nil {
				return 0, err
			}
			if err := writeNew(args[0], content); err != nil {
				return 0, err
			}
			s.Line("Key: %s", args[0])
			s.Line("ID: %s", id)
			s.Note("Keep it out of version control. " +
				"Name it in an identity \"key\" block of cairn.hcl, and publish its public part: cairn identity jwks -out=DIR\n")
			return cmdline.ExitOK, nil
		},
	}
}

// writeNew writes a secret to a file that was not there.
func writeNew(name string, content []byte) error {
	file, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return failure.Error("Key file exists",
			"The file %s is there already, and a key in it would be lost. Name a new file, or move that one away.", name)
	}
	if err == nil {
		_, err = file.Write(content)
		err = errors.Join(err, file.Close())
		if err != nil {
			_ = os.Remove(name) //nolint:errcheck // half a key is of no use, and says so itself
		}
	}
	if err != nil {
		return failure.Error("Key not written", "The key could not be written to %s: %s. Nothing was kept of it.", name, safefile.Reason(err))
	}
	return nil
}
