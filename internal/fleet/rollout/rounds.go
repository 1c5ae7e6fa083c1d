// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// rounds applies the plan of a unit, and plans and applies again until nothing is left (rule R6).
//
// Errors: [errNotApproved]; [process.ErrStopped] and [order.ErrNotStarted] if a round was not begun; [*deferredError]; those of
// programs.
func (r *run) rounds(ctx context.Context, unit int) error {
	u, now := &r.Units[unit], &r.outcome[unit]
	now.applied = &stackplan.Counts{}
	for round := 1; ; round++ {
		if err := r.consent.to(question{unit, round}); err != nil {
			return err
		}
		err := r.commands(unit, string(r.options.Mode), r.applyCommands(u, r.planFile(unit)))
		lost, isLost := errors.AsType[*lostOutput](err)
		if err != nil && !isLost {
			return err
		}
		now.done, now.rounds = true, round
		if now.applied = Sum(now.applied, now.plan.Counts); now.applied != nil {
			now.applied.Defer = 0 // it is not done
		}
		if isLost {
			return fmt.Errorf("it is %s, but %w", r.options.Mode.applied(), lost)
		}
		if now.plan.Complete {
			return nil
		}
		if round >= r.options.MaxRounds {
			return &deferredError{round}
		}
		if ctx.Err() != nil || r.failed.Load() {
			return order.ErrNotStarted // rule R2
		}
		before := now.plan.State
		changes, err := r.planAgain(unit)
		switch {
		case err != nil:
			return fmt.Errorf("plan of round %d: %w", round+1, err)
		case !changes:
			return nil
		case now.plan.State == before && !now.plan.Complete: // the round has brought nothing
			return &deferredError{round}
		}
	}
}

// planAgain makes another plan of a unit, which needs no preparation any more.
func (r *run) planAgain(unit int) (changes bool, err error) {
	u := &r.Units[unit]
	out := r.options.Output(u.Name)
	stdout, _ := out.Writers()
	_, err = fmt.Fprint(stdout, "\nSome changes were deferred. Planning again...\n\n")
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return false, err
	}
	commands := r.planCommands(u, r.planFile(unit))
	return r.planned(unit, r.commands(unit, string(Plan), commands[len(commands)-1:]))
}

// deferredError says that changes are left that no plan gets hold of.
type deferredError struct{ rounds int }

func (e *deferredError) Error() string {
	if e.rounds == 1 {
		return "changes are still deferred after 1 round"
	}
	return fmt.Sprintf("changes are still deferred after %d rounds", e.rounds)
}
