// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"os"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/workers/records"
	"github.com/cairnstacks/cairn/internal/workers/runs"
)

// keptSet is a set of plans that is kept with the run which has planned it.
type keptSet struct {
	store    *runs.Store
	run      string
	progress int // number of the last record of how far it was applied
}

// of returns the run of a set, "" if it is not kept with one.
func (k *keptSet) of() string {
	if k == nil {
		return ""
	}
	return k.run
}

// openKeptSet writes a set that is kept with a run into a directory of its own. The caller closes
// the connection and removes the directory.
func (o *gateOptions) openKeptSet(ctx context.Context, s *session.Session) (closeSet func(), err error) {
	t, err := connectToRuns(ctx, s, strings.TrimPrefix(o.set, session.OfRun))
	if err != nil {
		return nil, err
	}
	dir, remove, err := s.SetOfRun(ctx, t.store, t.run)
	if err != nil {
		t.close()
		return nil, err
	}
	closeSet = func() {
		remove()
		t.close()
	}
	o.set = dir
	if err := o.keptWith(ctx, t.store, t.run); err != nil {
		closeSet()
		return nil, err
	}
	return closeSet, nil
}

// takeSet takes the set that a run applies, or that it makes, for a program that goes on with the
// run. The caller closes it.
func (o *gateOptions) takeSet(ctx context.Context, s *session.Session, t *team) (closeSet func(), err error) {
	kept := &t.record.Options
	if kept.KeepsSet {
		o.out = session.OfRun
	}
	if !kept.Set {
		return func() {}, nil
	}
	if o.set, closeSet, err = s.SetOfRun(ctx, t.store, t.run); err != nil || kept.SetOf == "" {
		return closeSet, err
	}
	if err := o.keptWith(ctx, t.store, kept.SetOf); err != nil {
		closeSet()
		return nil, err
	}
	return closeSet, nil
}

// keptWith has the progress of the set in the directory of the options recorded with the run that
// has planned it.
func (o *gateOptions) keptWith(ctx context.Context, store *runs.Store, run string) error {
	content, number, err := store.Progress(ctx, run)
	if err != nil {
		return err
	}
	o.kept = &keptSet{store: store, run: run, progress: number}
	if number == 0 {
		return nil
	}
	return os.WriteFile(planset.ProgressFile(o.set), content, 0o600)
}

// written records how far the set in a directory was applied; nil for one that is kept nowhere
// else.
func (k *keptSet) written(ctx context.Context, dir string) func() error {
	if k == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // a unit that has ended counts, also in a run that is interrupted
	return func() error {
		content, err := os.ReadFile(planset.ProgressFile(dir))
		if err != nil {
			return err
		}
		err = k.store.KeepProgress(ctx, k.run, k.progress+1, content)
		switch {
		case err == nil:
			k.progress++
		case errors.Is(err, records.ErrExists): // and so it is for all units that follow
			err = failure.Error("Set of plans in use",
				"Another process is applying the set of the run %s. Wait for it to end; then the same command goes on with the rest.", k.run)
		}
		return err
	}
}

// setName is the set that is applied, as a person names it.
func (o *gateOptions) setName() string {
	if o.kept != nil {
		return session.OfRun + o.kept.run
	}
	return o.set
}

// keepSet keeps the set that was made with the run. One that another process has kept, which goes
// on with the same run, counts.
func (g *gates) keepSet(ctx context.Context) error {
	err := g.team.store.KeepSet(ctx, g.team.run, g.saving.Dir)
	if err == nil || errors.Is(err, records.ErrExists) {
		return nil
	}
	return failure.Error("Set of plans not saved", "The set cannot be kept with the run %s: %s.", g.team.run, failure.Reason(err))
}

// keepsWithRun reports whether the plans are kept with the run.
func (o *gateOptions) keepsWithRun() bool { return o.out == session.OfRun }

// outName is where plans are saved, as a person names it.
func (g *gates) outName() string {
	if g.options.keepsWithRun() {
		return session.OfRun + g.team.run
	}
	return g.options.out
}

// claimSet refuses to apply a set that somebody is removing. The run is recorded, so that nobody
// begins to remove it from now on.
func (t *team) claimSet(ctx context.Context) error {
	set := t.record.Options.SetOf
	if set == "" {
		return nil
	}
	removed, err := t.store.Removed(ctx, set)
	if err == nil && removed {
		err = failure.Error("Set of plans removed", "The run %s is being removed, with its set of plans. Nothing was done. Plan again.", set)
	}
	if err == nil {
		return nil
	}
	return errors.Join(err, t.store.End(ctx, t.run, runs.Outcome{Who: thisPerson(), Code: cmdline.ExitError}))
}

// settledSet returns the run with the set of which nothing is left to be applied at the end of this
// run, "" for none.
func (t *team) settledSet(code int) string {
	g := t.gates
	switch {
	case t.record.Options.SetOf != "" && code == cmdline.ExitOK:
		return t.record.Options.SetOf
	case g.options.keepsWithRun() && g.saving != nil &&
		!slices.ContainsFunc(g.saving.Units, func(unit planset.Unit) bool { return unit.Changes }):
		return t.run // nothing was planned, or no set was kept
	}
	return ""
}
