// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"context"
	"os"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/telemetry"
)

// Trace begins the span of a command, if the environment asks for traces or metrics, and returns a
// function to call with its end. That they cannot be sent is a note, and no reason for another exit
// code.
func (s *Session) Trace(ctx context.Context, command string) (_ context.Context, end func(status int, err error)) {
	sending, err := telemetry.Start(ctx, os.Environ(), Version())
	if err != nil {
		s.noteUnsent(err)
	}
	if sending == nil {
		return ctx, func(int, error) {}
	}
	ctx, span := telemetry.Command(sending.Into(ctx), command)
	return ctx, func(status int, err error) {
		if err != nil {
			status = cmdline.ExitError
		}
		if status == cmdline.ExitError {
			span.Fail("the command failed")
		}
		span.Exit(status)
		span.End()
		if err := sending.Close(); err != nil {
			s.noteUnsent(err)
		}
	}
}

func (s *Session) noteUnsent(err error) {
	s.Log.Error("telemetry", "error", err.Error())
	s.Note("\nNot all telemetry was sent: %s.\n", failure.Reason(err))
}
