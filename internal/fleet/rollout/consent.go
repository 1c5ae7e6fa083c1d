// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/process"
)

// errNothingApproved is why a task is not run that comes before applies.
var errNothingApproved = errors.New("nothing is approved that it precedes")

// Consent is the answer to the question whether a plan is to be applied.
type Consent struct {
	Given bool
	By    string // whom, for the history; "" for an answer to this program
}

// consent asks once at most whether a plan is to be applied.
type consent struct {
	ask  func(ctx context.Context, unit int) (Consent, error) // nil always says yes
	asks func(unit int) bool                                  // nil for all
	by   string                                               // whom plans are approved where nobody is asked

	// rules returns those of the deployment that approve the latest plan of a unit, so that nobody is
	// asked.
	rules func(unit int) []string

	ctx context.Context //nolint:containedctx // of questions, which end earlier than everything else
	end context.CancelFunc

	asking  sync.Mutex // held while a question waits for its answer
	answers map[question]answer
}

// answer is the answer to a question.
type answer struct {
	by  string
	err error // why it is not applied
}

// question is about one round of the work on a unit. The first round is 1.
type question struct{ unit, round int }

// to asks about one round, and returns for the history the person or the rule that approved it; ""
// says nothing.
//
// Errors: [errNotApproved]; [process.ErrStopped] if it does not matter any more; those of asking.
func (c *consent) to(q question) (by string, err error) {
	if rules := c.rules(q.unit); len(rules) > 0 {
		return operation.ByRules(rules), nil
	}
	if c.ask == nil {
		return c.by, nil
	}
	if c.asks != nil && !c.asks(q.unit) {
		return "", nil
	}
	c.asking.Lock()
	defer c.asking.Unlock()
	if given, known := c.answers[q]; known {
		return given.by, given.err
	}
	if c.ctx.Err() != nil {
		return "", process.ErrStopped
	}
	given, err := c.ask(c.ctx, q.unit)
	switch {
	case c.ctx.Err() != nil:
		return "", process.ErrStopped
	case err == nil && !given.Given:
		err = errNotApproved
	}
	by = cmp.Or(given.By, operation.ByAnswer)
	c.answers[q] = answer{by, err}
	return by, err
}
