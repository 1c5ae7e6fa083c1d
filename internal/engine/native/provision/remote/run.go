// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"

	"golang.org/x/crypto/ssh"
)

// ExitError says how a command has ended.
type ExitError struct{ how string }

func (e *ExitError) Error() string { return e.how }

// errLost says that a connection has ended before a command.
var errLost = errors.New("the connection was lost before the command had ended")

// Run runs a command to its end. Its output is written to out.
//
// Errors: [*ExitError], the cause of the end of ctx (rule R3), and others when the connection is
// lost.
func (m *Machine) Run(ctx context.Context, command string, out io.Writer) error {
	session, err := m.client.NewSession()
	if err != nil {
		return fmt.Errorf("no session: %w", err)
	}
	defer hangUp(session)
	session.Stdout, session.Stderr = out, out
	if err := session.Start(command); err != nil {
		return fmt.Errorf("the command was not begun: %w", err)
	}
	//nolint:errcheck // a machine that does not know it is left a moment later
	defer context.AfterFunc(ctx, func() { session.Signal(ssh.SIGINT) })()
	err = session.Wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return exit(err)
}

func exit(err error) error {
	if _, lost := errors.AsType[*ssh.ExitMissingError](err); lost || errors.Is(err, io.EOF) {
		return errLost
	}
	if failed, ok := errors.AsType[*ssh.ExitError](err); ok {
		if failed.Signal() != "" {
			return &ExitError{"ended by the signal " + failed.Signal()}
		}
		return &ExitError{fmt.Sprintf("exit code %d", failed.ExitStatus())}
	}
	return err
}
