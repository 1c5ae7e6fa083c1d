// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package servercmd

import (
	"context"
	"errors"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/rpcapi"
)

// RPCAPICommand returns the command for clients of the RPC API.
func RPCAPICommand() *session.Command {
	return &session.Command{
		Name:    "rpcapi",
		Summary: "Serves the RPC API to the program that has started it.",
		Long: `
It is not for people: a client of the API starts it, reads from its standard output where it
listens, and ends it. The API is the one that terraform has for its stacks, so that clients of that
can drive cairn; docs/rpc.md describes it. Go programs start it with the package
proto/terraform1/client.`,
		Example: "cairn rpcapi    (by a client)",
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			err := rpcapi.Serve(ctx, rpcapi.Options{Version: session.Version(), Log: s.Log, Stderr: s.Streams.Err})
			if errors.Is(err, rpcapi.ErrNotClient) {
				return 0, failure.Error("Not started by a client",
					"This command is for programs: a client of the RPC API starts it, and sets %s in its environment.",
					rpcapi.Handshake.MagicCookieKey)
			}
			return cmdline.ExitOK, err
		},
	}
}
