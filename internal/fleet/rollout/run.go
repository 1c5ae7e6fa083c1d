// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Mode is the kind of work on units.
type Mode string

// The modes.
const (
	PlanOnly Mode = "plan"
	ApplyAll Mode = "apply"
	Destroy  Mode = "destroy"
)

// applied is the state of a unit whose plan was applied. A deployment is also destroyed if its
// files say so.
func (r *run) applied(unit int) State {
	if r.options.Mode == Destroy || r.outcome[unit].plan.Destroys {
		return Destroyed
	}
	return Applied
}

// Options say how work is done.
type Options struct {
	Mode     Mode
	Parallel int // how many units are worked on at the same time; less than 1 stands for 1

	// Open returns the driver of a unit that is not a task. It is called once for each.
	Open func(unit int) driver.Driver

	Processes *process.Set             // of tasks
	Output    func(unit string) Output // of a task by its name
	Last      func() string            // the name of the unit whose output was shown last
	MaxRounds int                      // less than 1 stands for 1

	// Approve asks whether the plan of a unit is to be applied. One question is asked at a time. Its
	// context ends with a failure of something else. Show prints the plan, unless it was printed last.
	// Nil stands for consent.
	Approve func(ctx context.Context, unit int, show func() error) (Consent, error)

	// Asks reports for which units that is asked; all others are applied at once, also while a
	// question waits. Nil for all.
	Asks func(unit int) bool

	// ByRules reports for which units nobody is asked if the rules for their deployments approve a
	// plan. Nil for none.
	ByRules func(unit int) bool

	// ApprovedBy names for the history the reason for which plans are approved if there is no Approve.
	// Empty says nothing.
	ApprovedBy string

	// Planned, if there is one, is called with each first plan. Its error fails the unit. It is called
	// from several goroutines. Keep keeps plans although nothing is to be applied.
	Planned func(Planning) error
	Keep    bool

	// RunTask, if there is one, runs the task of a unit in place of a program in this process. Reacts
	// is as in [Task.Job].
	RunTask func(ctx context.Context, unit int, reacts bool) error

	// Apart says that each unit is worked on in files of its own, so that rule R4 holds by itself.
	Apart bool

	// KeepGoing goes on after a failure with the units that do not come after it.
	KeepGoing bool

	// Ended, if there is one, is called with the end of each unit, as soon as that is known; those
	// that are not started do not end. It is called from several goroutines.
	Ended func(End)
}

// Output shows the output of a task.
type Output interface {
	// Writers returns where its programs write to.
	Writers() (stdout, stderr io.Writer)

	// Close ends the output. Its error is that something could not be shown.
	Close() error
}

// run is a work that is being done.
type run struct {
	*Work
	options Options
	outcome []outcome                     // by unit
	exports map[int]bool                  // units whose outputs may be the only reason for others
	wants   map[int]bool                  // units whose outputs others have
	stored  once.Map[int, wiring.Outputs] // of units that are not worked on
	reading directories                   // outputs, or comparing units whose outputs others read

	after map[int][]int // [Work.After], for traces; nil if there are none

	comparing bool // nothing is changed, and units are compared using the states of others

	failed  atomic.Bool
	consent consent
}

// outcome is the known outcome of a unit. Until its step has ended it belongs to that.
type outcome struct {
	driver driver.Driver // nil until the first step

	changes bool // its first plan has some
	done    bool // it was applied, at least in part, or the task has run
	rounds  int  // that were applied
	outputs bool // they have changed

	plan   driver.Plan    // the latest one
	inputs []wiring.Value // that others have
	waits  string         // the reason, if it could not be planned because of inputs that are not known yet

	exported map[string]cty.Value // outputs after it was applied; nil if they were not asked for
	applied  *stackplan.Counts    // the changes of the plans that were applied; nil if they are not known
	traced   telemetry.Link       // the span of its last step

	started, ended time.Time
	steps          []StepTimes
}

// Run does the selected steps and returns the ends of units, in the order of [Work.Chosen].
//
// Once ctx ends nothing more is started. Run returns when all that was started has ended.
func (w *Work) Run(ctx context.Context, options Options) []End {
	asking, end := context.WithCancel(ctx)
	defer end()
	r := &run{Work: w, options: options, outcome: make([]outcome, len(w.Units)), exports: map[int]bool{}, wants: w.wanted()}
	for _, u := range w.Units {
		for _, other := range u.OnlyByOutputs {
			r.exports[other] = options.Mode != Destroy
		}
	}
	if telemetry.From(ctx) != nil {
		r.after = w.After()
	}
	r.consent = consent{ctx: asking, end: end, answers: map[question]answer{}, by: options.ApprovedBy}
	r.consent.rules = func(unit int) []string {
		if options.ByRules == nil || !options.ByRules(unit) {
			return nil
		}
		return r.outcome[unit].plan.Judged.Rules
	}
	if options.Approve != nil {
		r.consent.asks = options.Asks
		r.consent.ask = func(ctx context.Context, unit int) (Consent, error) {
			return options.Approve(ctx, unit, func() error { return r.show(ctx, unit) })
		}
	}
	opts := order.RunOptions{Selected: w.Selected, Rule: w.Rule, Parallel: options.Parallel, Limits: w.limits(options.Apart)}
	if w.Conditions != nil {
		opts.Decide = r.decideWith(w.Conditions.Decide(r.changed))
	}
	opts.Decide = r.withoutSameOutputs(opts.Decide)
	if options.Ended != nil {
		opts.Ended = r.reportEnds()
	}
	return r.ends(w.Graph.Run(ctx, opts, r.node))
}

// decideWith takes units that are not approved for skipped, so that conditions do not see a failure
// (rule R3), and asks before a task that comes between plans and their applies whether these are
// approved.
func (r *run) decideWith(decide func(int, func(int) order.Result) order.Result) func(int, func(int) order.Result) order.Result {
	return func(node int, result func(int) order.Result) order.Result {
		decided := decide(node, func(n int) order.Result {
			got := result(n)
			if got.State == order.Failed && isHeld(got.Err) {
				return order.Result{State: order.Skipped, Because: n}
			}
			return got
		})
		if decided.State == order.NotStarted && !r.wanted(node) {
			return order.Result{State: order.Passed, Err: errNothingApproved}
		}
		return decided
	}
}

// wanted reports the node of a task that precedes applies whether one of these is approved; of
// others it is true.
func (r *run) wanted(node int) bool {
	if r.Conditions == nil || r.failed.Load() {
		return true
	}
	asked, approved := false, false
	for _, n := range r.Conditions.Precedes(node) {
		unit := r.Steps[n].Unit
		if !r.Selected.Has(n) || !r.outcome[unit].changes {
			continue
		}
		asked = true
		_, err := r.consent.to(question{unit, 1})
		if errors.Is(err, process.ErrStopped) {
			return true // nothing is started any more
		}
		approved = approved || err == nil
	}
	return approved || !asked
}

// changed reports a node that has ended whether it has changed something, or would.
func (r *run) changed(node int) bool {
	step := r.Steps[node]
	switch step.Phase {
	case "":
		return false
	case Plan:
		return r.outcome[step.Unit].changes
	default:
		return r.outcome[step.Unit].done
	}
}

// node does one step.
func (r *run) node(ctx context.Context, n int) error {
	// The graph starts a node as soon as its edges allow it, and knows neither the mode nor that
	// another unit has failed meanwhile. An end that is nobody's fault (stopped, not approved, not
	// asked for) must not count as the failure that stops the rest.
	step := r.Steps[n]
	if r.failed.Load() && (r.Conditions == nil || !r.Conditions.AtFailure(n)) {
		return order.ErrNotStarted // rule R2
	}
	if step.Phase == Apply && !r.outcome[step.Unit].changes && !r.publishes(step.Unit) {
		return nil // completely applied already
	}
	if step.Phase == Apply && r.options.Mode == PlanOnly {
		if r.PlansAhead {
			return nil
		}
		return errNotAsked
	}
	now := &r.outcome[step.Unit]
	if now.started.IsZero() {
		now.started = time.Now()
	}
	began := time.Now()
	err := r.step(ctx, n)
	now.ended = time.Now()
	now.steps = append(now.steps, StepTimes{n, began, now.ended})
	switch {
	case errors.Is(err, process.ErrStopped):
		return order.ErrNotStarted
	case err != nil && !isHeld(err) && !errors.Is(err, order.ErrNotStarted):
		if !r.options.KeepGoing {
			r.failed.Store(true)
			r.consent.end()
		}
	}
	return err
}

func (r *run) step(ctx context.Context, n int) (err error) {
	step := r.Steps[n]
	now := &r.outcome[step.Unit]
	ctx, span := telemetry.Unit(ctx, r.Units[step.Unit].Name, string(step.Phase), r.tracedBefore(n))
	defer func() {
		now.traced = span.Link()
		if err != nil && !isHeld(err) {
			span.Fail("failed")
		}
		span.End()
	}()
	switch step.Phase {
	case Plan:
		err = r.plan(ctx, step.Unit)
	case Apply:
		if !now.changes {
			return now.driver.(driver.Publisher).Publish(ctx) //nolint:forcetypeassert // see [run.publishes]
		}
		err = r.rounds(ctx, step.Unit)
	default:
		reacts := r.Conditions != nil && r.Conditions.Reacts(n, r.changed)
		if run := r.options.RunTask; run != nil {
			err = run(ctx, step.Unit, reacts)
		} else {
			err = r.task(ctx, &r.Units[step.Unit], reacts)
		}
		now.done = err == nil
	}
	return err
}

// tracedBefore returns the spans of the steps of other units that a step has waited for directly.
func (r *run) tracedBefore(n int) []telemetry.Link {
	links := make([]telemetry.Link, 0, len(r.after[n]))
	for _, unit := range r.after[n] {
		links = append(links, r.outcome[unit].traced)
	}
	return links
}

// publishes reports whether a unit without anything to apply may still have something to publish.
func (r *run) publishes(unit int) bool {
	_, ok := r.outcome[unit].driver.(driver.Publisher)
	return ok && r.options.Mode == ApplyAll
}

// show shows the plan of a unit, unless it was shown last.
func (r *run) show(ctx context.Context, unit int) error {
	if r.options.Last() == r.Units[unit].Name {
		return nil
	}
	return r.outcome[unit].driver.Show(ctx)
}
