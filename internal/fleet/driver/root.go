// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"context"
	"errors"
	"io"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// RootView shows one phase of the work on a root module, until it is closed. Its methods are called
// one at a time.
type RootView interface {
	// Writers returns the destinations for output of programs that is not data.
	Writers() (stdout, stderr io.Writer)

	// Event shows a report of a running command.
	Event(event engine.Event)

	// Plan shows a plan, whose only component is the module. Diagnostics about it are still to be
	// reported.
	Plan(plan *stackplan.Plan, diags hcl.Diagnostics) error

	// Applied shows the result of an apply.
	Applied(applied rootmodule.Applied, destroy bool) error

	// Report shows the diagnostics of the whole phase. Compact asks for warnings without their
	// details.
	Report(diags hcl.Diagnostics, compact bool) error

	// Close ends the view. Its error is that something could not be shown.
	Close() error
}

// Root works on a root module by terraform or tofu.
type Root struct {
	session *rootmodule.Session
	show    func(phase string) RootView
	plan    *rootmodule.Plan // nil until there is one
}

var (
	_ Driver        = (*Root)(nil)
	_ Fingerprinter = (*Root)(nil)
)

// NewRoot returns a driver of the root module of a session, which is used by nobody else. The
// function begins to show a phase of the work.
func NewRoot(session *rootmodule.Session, show func(phase string) RootView) *Root {
	return &Root{session: session, show: show}
}

// Plan implements [Driver].
func (r *Root) Plan(ctx context.Context, req PlanRequest) (Plan, error) {
	r.plan = nil
	var plan Plan
	err := r.during(ctx, planPhase, func(phase *rootPhase) (err error) {
		if err := phase.take(req.Inputs); err != nil {
			return err
		}
		if req.Saved {
			if r.plan, err = phase.OpenSaved(ctx); err == nil {
				plan = describeRoot(r.plan)
			}
			return err
		}
		r.plan, err = phase.Plan(ctx, rootmodule.PlanRequest{Destroy: req.Destroy, Again: req.Again, NotToKeep: req.NotToKeep})
		if err != nil || r.plan == nil {
			return err
		}
		plan = describeRoot(r.plan)
		return phase.showPlan(ctx, r.plan)
	})
	return plan, err
}

func describeRoot(plan *rootmodule.Plan) Plan {
	described := Plan{
		Changes: plan.Changes, Complete: true, Counts: plan.Counts, Details: plan.Details,
		Outputs: wiring.Outputs{Open: true}, OutputsChange: plan.OutputsChange,
	}
	if plan.Details != nil {
		described.Outputs, _ = plannedOutputs(plan.Details)
	}
	return described
}

// Show implements [Driver].
func (r *Root) Show(ctx context.Context) error {
	if r.plan == nil {
		return errNoPlan
	}
	return r.during(ctx, planPhase, func(phase *rootPhase) error { return phase.showPlan(ctx, r.plan) })
}

// Apply implements [Driver].
func (r *Root) Apply(ctx context.Context, req ApplyRequest) (Applied, error) {
	if r.plan == nil {
		return Applied{}, errNoPlan
	}
	name := applyPhase
	if req.Destroy {
		name = destroyPhase
	}
	var applied Applied
	err := r.during(ctx, name, func(phase *rootPhase) error {
		done, err := phase.Apply(ctx)
		if done == nil {
			return err
		}
		if showErr := phase.view.Applied(*done, req.Destroy); err == nil {
			applied.OutputsChanged = r.plan.OutputsChange
			err = showErr
		}
		if err == nil && req.Values {
			applied.Outputs, _, err = phase.StoredOutputs(ctx)
		}
		return err
	})
	if _, isLost := errors.AsType[*LostOutputError](err); err != nil && !isLost {
		return Applied{}, err
	}
	return applied, err
}

// Outputs implements [Driver].
func (r *Root) Outputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	err = r.unseen(ctx, func(work *rootmodule.Work) error {
		outputs, found, err = work.Outputs(ctx)
		return err
	})
	return outputs, found, err
}

// Fingerprint returns that of the sources of the plan as they are now. The module is initialized
// for that. Nothing is shown.
func (r *Root) Fingerprint(ctx context.Context) (made rootmodule.Fingerprint, err error) {
	err = r.unseen(ctx, func(work *rootmodule.Work) error {
		made, err = work.Fingerprint(ctx)
		return err
	})
	return made, err
}

// rootPhase is one phase of the work on a root module.
type rootPhase struct {
	*rootmodule.Work
	view   RootView
	inputs hcl.Diagnostics // of evaluating values of variables
}

// take keeps values of variables.
func (p *rootPhase) take(inputs Inputs) error {
	if inputs == nil {
		return nil
	}
	var values []wiring.Value
	if values, p.inputs = inputs(); p.inputs.HasErrors() {
		return &process.ExitError{Code: 1}
	}
	var given []rootmodule.Input
	for _, value := range values {
		given = append(given, rootmodule.Input(value))
	}
	return p.SetInputs(given)
}

// diagnostics are those of the phase until now.
func (p *rootPhase) diagnostics() hcl.Diagnostics {
	return slices.Concat(p.inputs, p.Report().Diagnostics)
}

// showPlan shows a plan, which the engine does itself if nobody else can read it.
func (p *rootPhase) showPlan(ctx context.Context, plan *rootmodule.Plan) error {
	if plan.Details == nil {
		return p.PrintPlan(ctx)
	}
	return p.view.Plan(plan.Details, p.diagnostics())
}

// during does a phase of the work.
func (r *Root) during(ctx context.Context, name string, do func(*rootPhase) error) error {
	if err := process.Stopped(ctx); err != nil {
		return err
	}
	view := r.show(name)
	stdout, stderr := view.Writers()
	phase := &rootPhase{Work: r.session.Begin(rootmodule.Output{Stdout: stdout, Stderr: stderr, Event: view.Event}), view: view}
	err := do(phase)
	lost := errors.Join(view.Report(phase.diagnostics(), phase.Report().Compact), view.Close())
	return withLost(phase.failure(err), lost)
}

// unseen does work that nobody is to see.
func (r *Root) unseen(ctx context.Context, do func(*rootmodule.Work) error) error {
	if err := process.Stopped(ctx); err != nil {
		return err
	}
	phase := &rootPhase{Work: r.session.Begin(rootmodule.Output{})}
	return phase.failure(do(phase.Work))
}

// failure adds the diagnostics of the phase to the end of a program.
func (p *rootPhase) failure(err error) error {
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		return &Failure{Diagnostics: append(p.diagnostics(), p.Report().Printed...), End: exit}
	}
	return err
}
