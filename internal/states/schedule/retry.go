// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package schedule

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/states/compile"
)

// attempts makes a call until its result is as wanted. Nothing is waited for in test mode. Once ctx
// ends, there are no more attempts.
//
// Something has changed if it has in any of the attempts. The comment has all of them.
func (r *run) attempts(ctx context.Context, c *compile.Call, req Request) Outcome {
	outcome := r.opts.Functions.Call(ctx, req)
	var changed Outcome
	var comments []string
	for n := 1; n < c.Retry.Attempts && !req.Test && !outcome.Needless && outcome.Failed != c.Retry.UntilFailure; n++ {
		comments = append(comments, fmt.Sprintf("Attempt %d %s. %s", n, resultWord(outcome), outcome.Comment))
		if outcome.Changed {
			changed = changed.and(outcome)
		}
		if !wait(ctx, c.Retry) {
			outcome.Comment = fmt.Sprintf("Interrupted before attempt %d.", n+1)
			break
		}
		outcome = r.opts.Functions.Call(ctx, req)
	}
	if len(comments) == 0 {
		return outcome
	}
	failed := outcome.Failed
	outcome.Comment = strings.Join(append(comments, outcome.Comment), "\n")
	if changed.Changed {
		changed.Comment = ""
		outcome = changed.and(outcome)
		outcome.Failed = failed
	}
	return outcome
}

func resultWord(o Outcome) string {
	if o.Failed {
		return "has failed"
	}
	return "has succeeded"
}

// wait waits between two attempts. It returns false if ctx has ended.
func wait(ctx context.Context, r compile.Retry) bool {
	pause := r.Interval
	if r.Splay > 0 {
		pause += rand.N(r.Splay) //nolint:gosec // it spreads load, and is not a secret
	}
	timer := time.NewTimer(pause)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-timer.C:
		return ctx.Err() == nil
	}
}
