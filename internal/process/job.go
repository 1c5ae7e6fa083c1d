// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package process

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"
)

// Job is a command that is tried more than once, and may have another one after it.
type Job struct {
	Command

	Retries  int           // tries after the first one
	Interval time.Duration // between tries
	Reaction *Command      // after the command, with its input and output; nil for none
}

// RunJob runs a command, again after each failure as often as it may, and its reaction. Once ctx
// ends it is not tried again.
//
// Errors: those of [Set.Run], of the last try.
func (s *Set) RunJob(ctx context.Context, j Job) error {
	for try := 0; ; try++ {
		err := s.Run(j.Command)
		if err == nil {
			break
		}
		if try == j.Retries || errors.Is(err, ErrStopped) || ctx.Err() != nil {
			return err
		}
		if err := j.tellRetry(err, try); err != nil {
			return err
		}
		select {
		case <-time.After(j.Interval):
		case <-ctx.Done():
			return err
		}
	}
	if j.Reaction == nil {
		return nil
	}
	reaction := *j.Reaction
	reaction.Stdin, reaction.Stdout, reaction.Stderr, reaction.Foreground = j.Stdin, j.Stdout, j.Stderr, j.Foreground
	return s.Run(reaction)
}

func (j *Job) tellRetry(failure error, try int) error {
	text := failure.Error()
	_, err := fmt.Fprintf(j.Stderr, "%s%s; trying again (%d of %d)\n", strings.ToUpper(text[:1]), text[1:], try+1, j.Retries)
	return err
}
