// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package planset

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

// Applying is a set that is applied. It is safe for concurrent use.
type Applying struct {
	*Set
	written func() error
	mu      struct {
		sync.Mutex
		progress map[string]Progress
	}
}

// NewApplying returns a set as it is to be applied, with how far it was. Written is called when
// that was written; it may be nil.
func NewApplying(set *Set, progress map[string]Progress, written func() error) *Applying {
	a := &Applying{Set: set, written: written}
	a.mu.progress = maps.Clone(progress)
	return a
}

// Progress says how far a unit was applied.
func (a *Applying) Progress(unit string) Progress {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.progress[unit]
}

func (a *Applying) setProgress(unit string, progress Progress) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.progress[unit] = progress
	if err := a.SetProgress(a.mu.progress); err != nil || a.written == nil {
		return err
	}
	return a.written()
}

// Check finds out whether the plan of a unit still fits, before anything is done. A unit with which
// an apply of the set has begun may have a state that its plan does not fit any more: that is
// decided when all that it has values from is there.
func (a *Applying) Check(ctx context.Context, unit *Unit, d driver.Driver) hcl.Diagnostics {
	if a.Progress(unit.Name) != "" {
		return nil
	}
	return a.fits(ctx, unit, d)
}

// fits finds out whether the plan of a unit fits its configuration, its engine and its state.
func (a *Applying) fits(ctx context.Context, unit *Unit, d driver.Driver) hcl.Diagnostics {
	switch d := d.(type) {
	case driver.SavedChecker:
		return d.CheckSaved(ctx)
	case driver.Fingerprinter:
		return checkModule(ctx, unit, d)
	}
	return nil
}

// NewModule returns the sources of the plan of a root module.
func NewModule(ctx context.Context, d driver.Fingerprinter) (*Module, error) {
	made, err := d.Fingerprint(ctx)
	if err != nil {
		return nil, err
	}
	return &Module{
		Engine:  made.Engine,
		Config:  made.Config,
		Lineage: made.Lineage,
		Serial:  made.Serial,
		State:   planfile.StatePlace(made.StateFile),
	}, nil
}

// checkModule compares a root module with that of its plan.
func checkModule(ctx context.Context, unit *Unit, d driver.Fingerprinter) hcl.Diagnostics {
	now, err := NewModule(ctx, d)
	switch was := unit.Module; {
	case err != nil:
		return failure.Diagnostics(err)
	case was == nil:
		return hcl.Diagnostics{failure.New("Damaged set of plans",
			"The index does not record how the plan of %s was made. Nothing was done. Plan again.", unit.Name)}
	case now.Engine != was.Engine:
		return hcl.Diagnostics{failure.New("Plan of another engine", "This plan was made with %s, and the engine is now %s. "+
			"Nothing was done. Use the engine that made the plan, or make a new plan.", was.Engine, now.Engine)}
	}
	for _, diag := range []*hcl.Diagnostic{unit.Module.checkConfig(now.Config), unit.Module.CheckState(now.version())} {
		if diag != nil {
			return hcl.Diagnostics{diag}
		}
	}
	return nil
}

func (m *Module) version() planfile.StateVersion {
	return planfile.StateVersion{File: m.State, Lineage: m.Lineage, Serial: m.Serial}
}

// withBackend adds to a diagnostic about another state than that of the plan that the backend of
// the root module says where its state is, in place of the hint for stacks.
func withBackend(diag *hcl.Diagnostic) *hcl.Diagnostic {
	if code := engine.FaultOf(diag); code == planfile.CodeOtherState {
		diag.Extra = nil
		diag.Detail += " The backend of the module says where its state is."
	}
	return diag
}

// Driver returns a driver that applies the saved plan of a unit, in place of one that it makes.
func (a *Applying) Driver(unit *Unit, of driver.Driver) driver.Driver {
	return &saved{Driver: of, set: a, unit: unit}
}

// saved is a driver whose first plan is that of the set.
type saved struct {
	driver.Driver
	set     *Applying
	unit    *Unit
	resumed bool // an apply of it has begun before
}

// UnfitError says that the plan of a unit whose apply has failed in part does not fit any more.
// When the unit is as configured, as after it was planned and applied by itself, applying the set
// goes on with the units after it.
type UnfitError struct{ Err error }

func (e *UnfitError) Error() string { return e.Err.Error() }
func (e *UnfitError) Unwrap() error { return e.Err }

// isUnfit reports whether an apply was refused since an object is not as planned any more, as one
// that was left tainted.
func isUnfit(err error) bool {
	failed, ok := errors.AsType[*driver.Failure](err)
	return ok && failed.First() != nil && engine.FaultOf(failed.First()) == fault.StalePlan
}

// Plan implements [driver.Driver].
func (s *saved) Plan(ctx context.Context, req driver.PlanRequest) (driver.Plan, error) {
	progress := s.set.Progress(s.unit.Name)
	if progress == Done {
		values, _, err := s.Outputs(ctx)
		return driver.Plan{Complete: true, Outputs: wiring.Outputs{Values: values, Stored: true}}, err
	}
	if progress == Begun && s.set.fits(ctx, s.unit, s.Driver).HasErrors() {
		return s.planAnew(ctx, req)
	}
	if inputs := req.Inputs; inputs != nil {
		req.Inputs = func() ([]wiring.Value, hcl.Diagnostics) {
			values, diags := inputs()
			return values, diags.Extend(s.contradictions(values))
		}
	}
	s.resumed = progress == Begun
	req.Saved, req.NotToKeep, req.CheckTaken = true, false, s.otherTaken()
	plan, err := s.Driver.Plan(ctx, req)
	plan.Leaves, plan.Complete = !plan.Complete, true // to the next set
	return plan, err
}

// planAnew is for a unit whose apply has failed, and that something else has changed since, as to
// repair it. If nothing is left to do, it is done.
func (s *saved) planAnew(ctx context.Context, req driver.PlanRequest) (driver.Plan, error) {
	req.NotToKeep = true
	plan, err := s.Driver.Plan(ctx, req)
	switch {
	case err != nil:
		return plan, err
	case plan.Changes:
		return plan, &UnfitError{
			errors.New("its plan in the set does not fit any more since its apply has failed, and it is not as configured yet"),
		}
	}
	return plan, s.set.setProgress(s.unit.Name, Done)
}

// contradictions are values that are not those of the plan.
func (s *saved) contradictions(values []wiring.Value) hcl.Diagnostics {
	var diags hcl.Diagnostics
	for _, value := range values {
		planned, ok := s.unit.Inputs[value.Name]
		if !ok || !s.set.Fits(planned, value.Value) {
			diags = diags.Append(problem.New(problem.BadValue, value.Range.Ptr(), "Input changed since planning",
				"The value of %q, which is made of %s, is not the one that the plan was made with. Plan again.",
				value.Name, strings.Join(planned.From, ", ")))
		}
	}
	return diags
}

// otherTaken finds published values of other stacks that are not those of the plan; nil if it was
// made with none.
func (s *saved) otherTaken() func([]operation.Taken) hcl.Diagnostics {
	if !slices.ContainsFunc(slices.Collect(maps.Keys(s.unit.Inputs)), func(name string) bool { return strings.Contains(name, ".") }) {
		return nil
	}
	return func(now []operation.Taken) hcl.Diagnostics {
		var diags hcl.Diagnostics
		for _, taken := range now {
			if planned, ok := s.unit.Inputs[taken.Reference]; !ok || !s.set.Fits(planned, taken.Value) {
				diags = diags.Append(problem.New(problem.BadValue, taken.Range.Ptr(), "Input changed since planning",
					"The value of %s is not the one that the plan was made with. Plan again.", taken.Reference))
			}
		}
		return diags
	}
}

// Publish implements [driver.Publisher]. Published values are a change of the state, which the plan
// does not fit afterwards: so it is recorded like an apply.
func (s *saved) Publish(ctx context.Context) error {
	publisher, ok := s.Driver.(driver.Publisher)
	if !ok {
		return nil
	}
	if s.set.Progress(s.unit.Name) == Done {
		return publisher.Publish(ctx)
	}
	if err := s.set.setProgress(s.unit.Name, Begun); err != nil {
		return err
	}
	err := publisher.Publish(ctx)
	if _, isLost := errors.AsType[*driver.LostOutputError](err); err != nil && !isLost {
		return err
	}
	return errors.Join(err, s.set.setProgress(s.unit.Name, Done))
}

// Apply implements [driver.Driver].
func (s *saved) Apply(ctx context.Context, req driver.ApplyRequest) (driver.Applied, error) {
	if err := s.set.setProgress(s.unit.Name, Begun); err != nil {
		return driver.Applied{}, err
	}
	applied, err := s.Driver.Apply(ctx, req)
	if _, isLost := errors.AsType[*driver.LostOutputError](err); err == nil || isLost {
		if saveErr := s.set.setProgress(s.unit.Name, Done); saveErr != nil {
			return applied, fmt.Errorf("it is applied, but that is not recorded in the set: %s", failure.Reason(saveErr))
		}
	}
	if s.resumed && isUnfit(err) {
		return applied, &UnfitError{err}
	}
	return applied, err
}
