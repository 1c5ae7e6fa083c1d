// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
)

// The states of units that were compared with their real objects.
const (
	Drifting State = "drifted"
	AsStated State = "no drift"
)

// DriftOptions are the options of a comparison of units with their real objects.
type DriftOptions struct {
	Parallel int
	Apart    bool                         // as in [Options]
	Open     func(unit int) driver.Driver // which is a [driver.Drifter], too
	Ended    func(DriftEnd)               // may be nil
}

// DriftEnd is the result of comparing a unit.
type DriftEnd struct {
	Unit  int
	State State // [Drifting], [AsStated], [Failed] or [NotStarted]
	Drift driver.Drift
	Err   error // of a unit that failed

	Started, Ended time.Time // zero if it was not begun
}

// Compared returns the chosen units that have a state.
func (w *Work) Compared() []int {
	var units []int
	for _, unit := range w.Chosen() {
		if w.Units[unit].Task == nil {
			units = append(units, unit)
		}
	}
	return units
}

// Drift compares the units of [Work.Compared] with their real objects, in any order: the findings
// about one of them do not matter to another, and neither does its failure. In one directory one
// thing is done at a time (rule R4). Once ctx ends nothing more is started.
func (w *Work) Drift(ctx context.Context, options DriftOptions) []DriftEnd {
	units := w.Compared()
	ends := make([]DriftEnd, len(units))
	var b order.Builder
	byDir := map[string][]int{}
	for i, unit := range units {
		ends[i] = DriftEnd{Unit: unit, State: NotStarted}
		n := b.Add(order.Node{Name: w.Units[unit].Name})
		byDir[w.Units[unit].Dir] = append(byDir[w.Units[unit].Dir], n)
	}
	graph, err := b.Build()
	if err != nil {
		panic("rollout: " + err.Error()) // there are no edges
	}
	others := &run{Work: w, options: Options{Mode: Destroy, Open: options.Open}, outcome: make([]outcome, len(w.Units)), comparing: true}
	opts := order.RunOptions{Rule: order.ByWeight, Parallel: options.Parallel, KeepGoing: true}
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		if nodes := byDir[dir]; len(nodes) > 1 && !options.Apart {
			opts.Limits = append(opts.Limits, order.Limit{Parallel: 1, Nodes: nodes})
		}
	}
	if options.Ended != nil {
		opts.Ended = func(n int, _ order.Result) { options.Ended(ends[n]) }
	}
	graph.Run(ctx, opts, func(ctx context.Context, n int) error {
		end := &ends[n]
		started := time.Now()
		drift, err := others.drift(ctx, end.Unit)
		if errors.Is(err, process.ErrStopped) {
			return order.ErrNotStarted
		}
		end.Started, end.Ended, end.Drift, end.Err, end.State = started, time.Now(), drift, err, AsStated
		switch {
		case err != nil:
			end.State = Failed
		case drift.Found:
			end.State = Drifting
		}
		return err
	})
	return ends
}

// drift compares a unit, with values that others have by their states. They are read before the
// unit takes its directory: while it has that, it waits for no other one.
func (r *run) drift(ctx context.Context, unit int) (driver.Drift, error) {
	var inputs driver.Inputs
	if r.Units[unit].Inputs != nil {
		values, diags := r.values(ctx, unit)
		waits := r.waitsFor(unit, values, "a root module cannot be compared with the real objects")
		if waits != "" && !diags.HasErrors() {
			diags = diags.Append(failure.New("Inputs not known", "The root module waits %s.", waits))
		}
		inputs = func() ([]wiring.Value, hcl.Diagnostics) { return values, diags } // which nobody asks for where there is nothing to compare
	}
	release, err := r.reading.take(ctx, &r.Units[unit])
	if err != nil {
		return driver.Drift{}, err
	}
	defer release()
	return r.options.Open(unit).(driver.Drifter).Drift(ctx, inputs) //nolint:forcetypeassert // all drivers are
}
