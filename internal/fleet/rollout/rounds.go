// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// rounds applies the plan of a unit, and plans and applies again until nothing is left (rule R6).
//
// Errors: [errNotApproved]; [process.ErrStopped] and [order.ErrNotStarted] if a round was not
// begun; [*deferredError]; those of drivers.
func (r *run) rounds(ctx context.Context, unit int) error {
	now := &r.outcome[unit]
	now.applied = &stackplan.Counts{}
	// Providers defer what depends on objects that are made only now, so that each round can plan
	// more than the one before. Each is approved by itself, and a round that leaves the state as it
	// was ends the loop: the next would be the same.
	for round := 1; ; round++ {
		by, err := r.consent.to(question{unit, round})
		if err != nil {
			return err
		}
		applied, err := now.driver.Apply(ctx, driver.ApplyRequest{
			Destroy: now.plan.Destroys || r.options.Mode == Destroy, Outputs: r.exports[unit], Values: r.wants[unit], ApprovedBy: by,
		})
		lost, isLost := errors.AsType[*driver.LostOutputError](err)
		if err != nil && !isLost {
			return err
		}
		now.outputs = now.outputs || applied.OutputsChanged
		now.exported = applied.Outputs
		now.done, now.rounds = true, round
		if now.applied = Sum(now.applied, now.plan.Counts); now.applied != nil {
			now.applied.Defer = 0 // it is not done
		}
		if isLost {
			return fmt.Errorf("it is %s, but %w", r.applied(unit), lost)
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
		next, err := now.driver.Plan(ctx, driver.PlanRequest{Destroy: r.options.Mode == Destroy, Again: true})
		switch {
		case err != nil:
			return fmt.Errorf("plan of round %d: %w", round+1, err)
		case !next.Changes:
			return nil
		case next.State == now.plan.State && !next.Complete: // the round has brought nothing
			return &deferredError{round}
		}
		now.plan = next
	}
}

// deferredError says that changes are left that no plan gets hold of.
type deferredError struct{ rounds int }

func (e *deferredError) Error() string {
	if e.rounds == 1 {
		return "changes are still deferred after 1 round"
	}
	return fmt.Sprintf("changes are still deferred after %d rounds", e.rounds)
}

// Sum adds up how many resources plans would do something with. It is nil if that is not known of
// one of them.
func Sum(a, b *stackplan.Counts) *stackplan.Counts {
	if a == nil || b == nil {
		return nil
	}
	sum := a.Plus(*b)
	return &sum
}
