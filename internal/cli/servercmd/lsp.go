// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package servercmd

import (
	"context"
	"errors"
	"io"
	"os"

	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lsp"
)

// LSPCommand returns the command for editors.
func LSPCommand() *session.Command {
	return &session.Command{
		Name:    "lsp",
		Summary: "Serves an editor as a language server.",
		Long: `
It is not for people: an editor starts it, and speaks the Language Server Protocol with it over
standard input and output, about the files *.tfcomponent.hcl, *.tfcomponent.json and
cairn.workspace.hcl. It starts no engine and writes no files. docs/editors.md has the settings of
editors. The log of CAIRN_LOG goes to standard error.`,
		Example: "cairn lsp    (by an editor)",
		Flags: func(f *session.Flags) {
			f.Bool("stdio", true, "no effect, since there is no other way; for editors that give it")
		},
		Run: func(ctx context.Context, s *session.Session, _ []string) (int, error) {
			if file, ok := s.Streams.In.(*os.File); ok && term.IsTerminal(int(file.Fd())) { //nolint:gosec // a descriptor is small
				return 0, failure.Error("Not started by an editor",
					"This command is for editors, which speak with it over standard input; docs/editors.md says how they start it.")
			}
			err := lsp.Serve(ctx, stdio{s.Streams.In, s.Streams.Out}, lsp.Options{Version: session.Version(), Log: s.Log})
			if errors.Is(err, lsp.ErrNoShutdown) {
				return cmdline.ExitError, nil // as the protocol has it
			}
			return cmdline.ExitOK, err
		},
	}
}

// stdio is the connection with the program that has started this one.
type stdio struct {
	io.Reader
	io.Writer
}

// Close implements [io.Closer].
func (c stdio) Close() error {
	if closer, ok := c.Reader.(io.Closer); ok {
		return closer.Close()
	}
	return nil
}
