// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/runs"
)

// removeOptions say which runs are removed.
type removeOptions struct {
	olderThan    time.Duration
	sets, dryRun bool
}

func runRemoveCommand() *session.Command {
	var o removeOptions
	return &session.Command{
		Name:    "remove",
		Args:    "[ID...]",
		Summary: "Removes what is kept of runs on workers that have ended.",
		Long: `
Nothing of a run is needed once it has ended, but a set of plans that is kept with it. With -older-than, runs that have
ended so long ago are removed and listed, and the calls of components of single stacks that were begun so long ago, if that
is a day at least. A run that has not ended stays, and so does one with a set of plans that has not been applied: they are named.`,
		Example: "cairn run remove 20310102-030405-abcdef\ncairn run remove -older-than=720h -dry-run",
		MaxArgs: 1 << 20,
		Flags: func(f *session.Flags) {
			o = removeOptions{}
			f.DurationVar(&o.olderThan, "older-than", 0, "remove all runs that have ended more than `DURATION` ago, such as 720h for 30 days")
			f.BoolVar(&o.sets, "sets", false, "with -older-than: also runs with a set of plans that has not been applied")
			f.BoolVar(&o.dryRun, "dry-run", false, "with -older-than: only list what would be removed")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			if err := o.check(args); err != nil {
				return 0, err
			}
			t, err := connectToRuns(ctx, s, "")
			if err != nil {
				return 0, err
			}
			defer t.close()
			if !o.dryRun {
				if err := t.store.FinishRemovals(ctx, thisPerson()); err != nil {
					return 0, err
				}
			}
			if o.olderThan > 0 {
				return cmdline.ExitOK, t.removeOld(ctx, o)
			}
			return cmdline.ExitOK, t.removeEnded(ctx, args)
		},
	}
}

func (o *removeOptions) check(ids []string) error {
	switch {
	case o.olderThan < 0:
		return failure.Error("Invalid value", "The option -older-than takes a time like 720h, and not a negative one.")
	case (len(ids) > 0) == (o.olderThan > 0):
		return failure.Error("Unclear choice", "Give either IDs of runs or -older-than, such as -older-than=720h.")
	case o.olderThan == 0 && (o.sets || o.dryRun):
		return failure.Error("Missing required option", "The options -sets and -dry-run are for -older-than: a run that is named is removed.")
	}
	return nil
}

// removeEnded removes runs that have ended.
func (t *team) removeEnded(ctx context.Context, ids []string) error {
	for _, id := range ids {
		if _, err := t.read(ctx, id); err != nil {
			return err
		}
		outcome, err := t.store.Outcome(ctx, id)
		if err != nil {
			return err
		}
		if outcome == nil {
			return failure.Error("Run not ended", "The run %s has not ended. Nothing of it was removed. "+
				"\"cairn run attach\" goes on with it, and \"cairn run cancel\" stops it.", id)
		}
	}
	for _, id := range ids {
		err := t.store.Remove(ctx, id, thisPerson())
		if inUse, ok := errors.AsType[*runs.SetInUseError](err); ok {
			return failure.Error("Set of plans in use", "The run %s is not removed: the run %s, which has not ended, is applying its set of plans. "+
				"\"cairn run attach %[2]s\" goes on with that, and \"cairn run cancel %[2]s\" stops it.", id, inUse.By)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// leastAge is the age from which calls of components are removed: nothing says that the command has
// ended which has made them, and another one may take them over.
const leastAge = 24 * time.Hour

// removeOld removes the runs that have ended long ago, and lists them, also if it cannot go on.
func (t *team) removeOld(ctx context.Context, o removeOptions) error {
	now := time.Now()
	old, err := t.store.Old(ctx, now.Add(-o.olderThan), o.sets)
	if err != nil {
		return err
	}
	removed := []runState{}
	for _, one := range old {
		if one.Why == nil && !o.dryRun {
			one.Why = t.store.Remove(ctx, one.ID, thisPerson())
			if _, inUse := errors.AsType[*runs.SetInUseError](one.Why); one.Why != nil && !inUse {
				err = one.Why
				break
			}
		}
		if one.Why == nil {
			removed = append(removed, runState{Run: one.Run, Outcome: one.Outcome})
			continue
		}
		t.gates.session.NoteLine("Kept: %s: %s.", one.ID, strings.TrimSuffix(one.Why.Error(), "."))
	}
	operations := 0
	if err == nil {
		operations, err = t.removeCalls(ctx, now.Add(-max(o.olderThan, leastAge)), o.dryRun)
	}
	if len(removed) > 0 {
		err = errors.Join(err, writeRuns(t.gates.session, removed, now))
	}
	said := "Removed"
	if o.dryRun {
		said = "To be removed"
	}
	t.gates.session.Note("%s: %d runs, and the calls of %d operations on single stacks.\n", said, len(removed), operations)
	return err
}

// removeCalls removes the calls of components of single stacks that were begun before a time, and
// returns the number of operations that they are of.
func (t *team) removeCalls(ctx context.Context, before time.Time, dryRun bool) (operations int, err error) {
	begun, err := calls.Begun(ctx, t.connection.Records, before)
	if err != nil || dryRun {
		return len(begun), err
	}
	for _, run := range begun {
		if err := calls.RemoveBegun(ctx, t.connection.Records, run); err != nil {
			return operations, err
		}
		operations++
	}
	return operations, nil
}
