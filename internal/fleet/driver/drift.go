// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Drifter compares a unit with its state. It writes to no state, waits for nobody's lock and takes
// none.
type Drifter interface {
	// Drift gets values of variables as [PlanRequest] has them.
	Drift(ctx context.Context, inputs Inputs) (Drift, error)
}

var (
	_ Drifter = (*Stack)(nil)
	_ Drifter = (*Root)(nil)
)

// Inputs returns values of variables that others have. Nil for none.
type Inputs = func() ([]wiring.Value, hcl.Diagnostics)

// Drift holds the differences between a unit and its state.
type Drift struct {
	Found   bool
	Objects []Drifted // nil also where only the engine can say more

	// Unkept says why the result is not remembered, nil if it is. That of a root module never is.
	Unkept error
}

// Drifted is an object that differs from its state. It holds no values, which may be sensitive.
type Drifted struct {
	Component  string        `json:"component,omitempty"` // of a stack
	Address    string        `json:"address"`             // of the object, in its module
	Action     engine.Action `json:"action"`              // that has been done with it by others
	Attributes []string      `json:"attributes,omitempty"`
}

// Drift implements [Drifter].
func (s *Stack) Drift(ctx context.Context, inputs Inputs) (Drift, error) {
	var drift Drift
	err := s.during(ctx, planPhase, func(stack *operation.Stack, view View) hcl.Diagnostics {
		if found, err := stack.States().Instances(ctx); err == nil && len(found) == 0 {
			return nil // so that a stack never applied needs no providers, which would be locked then
		}
		if diags := s.take(inputs); diags.HasErrors() {
			return diags
		}
		req := s.request(false)
		req.Mode, req.Beside = engine.RefreshOnly, true
		if diags := prepare(ctx, stack, view, &req); diags.HasErrors() {
			return diags
		}
		caller := view.Caller()
		caller.Judged = nil // nothing will be applied that a rule could approve
		planned, diags := stack.Plan(ctx, req, caller, "")
		if !diags.HasErrors() {
			drift = driftOf(planned.Plan)
			drift.Unkept = Remember(stack, drift)
		}
		return diags
	})
	return drift, err
}

// Remember keeps the result for the deployment that was compared.
func Remember(stack *operation.Stack, drift Drift) error {
	deployment, err := stack.Sources().Deployment()
	if err != nil {
		return err
	}
	return keepDrift(stack.Env(), deployment, LastDrift{At: time.Now().UTC(), Found: drift.Found, Objects: drift.Objects})
}

// Drift implements [Drifter].
func (r *Root) Drift(ctx context.Context, inputs Inputs) (Drift, error) {
	var drift Drift
	err := r.during(ctx, planPhase, func(phase *rootPhase) error {
		if exists, err := phase.HasState(ctx); err != nil || !exists {
			return err
		}
		if err := phase.take(inputs); err != nil {
			return err
		}
		plan, err := phase.PlanDrift(ctx)
		if err != nil {
			return err
		}
		if plan.Details == nil {
			drift.Found = plan.Changes
		} else {
			drift = driftOf(plan.Details)
		}
		return phase.showPlan(ctx, plan)
	})
	return drift, err
}

// driftOf returns the drift in a plan, in the order of components and addresses.
func driftOf(plan *stackplan.Plan) Drift {
	var drift Drift
	for _, component := range plan.Components {
		var changes []*engine.Change
		for _, change := range component.Drift {
			if stackplan.IsDrift(change) {
				changes = append(changes, change)
			}
		}
		engine.SortChanges(changes)
		for _, change := range changes {
			one := Drifted{Address: change.Addr.String(), Action: change.Action, Attributes: changedAttributes(change.Before, change.After)}
			if change.Deposed != "" {
				one.Address += " (deposed object " + string(change.Deposed) + ")"
			}
			if component.Source != "" { // that of a module that is a whole unit has none
				one.Component = component.Addr.String()
			}
			drift.Objects = append(drift.Objects, one)
		}
	}
	drift.Found = len(drift.Objects) > 0
	return drift
}

// changedAttributes returns the names of the attributes that differ, sorted. There are none if one
// of the objects is not there.
func changedAttributes(before, after cty.Value) []string {
	if !isObject(before) || !isObject(after) {
		return nil
	}
	before, _ = before.UnmarkDeep()
	after, _ = after.UnmarkDeep()
	var names []string
	for name := range after.Type().AttributeTypes() {
		if !before.Type().HasAttribute(name) || !before.GetAttr(name).RawEquals(after.GetAttr(name)) {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, strings.Compare)
	return names
}

func isObject(value cty.Value) bool {
	if value == cty.NilVal {
		return false
	}
	value, _ = value.Unmark()
	return value.IsKnown() && !value.IsNull() && value.Type().IsObjectType()
}
