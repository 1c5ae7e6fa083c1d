// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/upstream"
)

// common is the common part of the drivers of stacks and of root modules.
type common struct {
	client   *Client
	number   int // of the unit
	unit     *rollout.Unit
	planFile string
	together map[string]bool

	calls    map[op]int // how many were made
	position driver.Position
	inputs   *inputs
}

// stack is the driver of a stack.
type stack struct{ common }

// root is the driver of a root module.
type root struct{ common }

var (
	_ driver.Driver        = (*stack)(nil)
	_ driver.Publisher     = (*stack)(nil)
	_ driver.SavedChecker  = (*stack)(nil)
	_ driver.Drifter       = (*stack)(nil)
	_ driver.Driver        = (*root)(nil)
	_ driver.Fingerprinter = (*root)(nil)
	_ driver.Drifter       = (*root)(nil)
)

// Open returns the driver of a unit. Its plan is kept in a file, for an apply or a set. Together
// are as in [operation.Request].
func (c *Client) Open(number int, u *rollout.Unit, planFile string, together map[string]bool) driver.Driver {
	opened := common{client: c, number: number, unit: u, planFile: planFile, together: together, calls: map[op]int{}}
	if u.Kind == rollout.Components {
		return &stack{opened}
	}
	return &root{opened}
}

// call makes the next call of its kind.
func (d *common) call(ctx context.Context, req request, phase string) (*response, error) {
	d.calls[req.Op]++
	req.Position, req.Together = d.position, d.together
	name := fmt.Sprintf("%d/%s-%d", d.number, req.Op, d.calls[req.Op])
	resp, err := d.client.call(ctx, name, d.unit, req, phase)
	if resp != nil {
		d.position = resp.Position
	}
	return resp, err
}

// take evaluates values of variables; nil for those of the plan before.
func (d *common) take(values driver.Inputs) {
	if values == nil {
		return
	}
	d.inputs = &inputs{Files: map[string][]byte{}}
	d.inputs.Values, d.inputs.Diagnostics = values()
	for name, file := range d.unit.Inputs.Sources() {
		d.inputs.Files[name] = file.Bytes
	}
}

// Plan implements [driver.Driver].
func (d *common) Plan(ctx context.Context, req driver.PlanRequest) (driver.Plan, error) {
	d.take(req.Inputs)
	asked := request{Op: opPlan, Inputs: d.inputs, Plan: planRequest{
		Destroy: req.Destroy, Again: req.Again, NotToKeep: req.NotToKeep, Details: d.client.Details, Taken: req.CheckTaken != nil,
		Upstream: map[string]published{},
	}}
	for dir, values := range req.Upstream {
		at, err := d.client.within(dir)
		if err != nil {
			return driver.Plan{}, err
		}
		asked.Plan.Upstream[at] = published{values.Values, textOf(values.Err)}
	}
	if req.Saved {
		var err error
		if asked.File, err = os.ReadFile(d.planFile); err != nil {
			return driver.Plan{}, err
		}
	}
	resp, err := d.call(ctx, asked, "plan")
	if resp == nil {
		return driver.Plan{}, err
	}
	if err == nil && req.CheckTaken != nil {
		if diags := req.CheckTaken(resp.Taken); diags.HasErrors() {
			return driver.Plan{}, &driver.Failure{Diagnostics: diags}
		}
	}
	if err == nil && !req.Saved {
		err = writePlan(d.planFile, resp.File)
	}
	return resp.Plan, err
}

func textOf(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func errorOf(text string) error {
	if text == "" {
		return nil
	}
	return errors.New(text)
}

// Show implements [driver.Driver].
func (d *common) Show(ctx context.Context) error {
	file, err := os.ReadFile(d.planFile)
	if err != nil {
		return err
	}
	_, err = d.call(ctx, request{Op: opShow, File: file, Inputs: d.inputs}, "plan")
	return err
}

// Apply implements [driver.Driver].
func (d *common) Apply(ctx context.Context, req driver.ApplyRequest) (driver.Applied, error) {
	file, err := os.ReadFile(d.planFile)
	if err != nil {
		return driver.Applied{}, err
	}
	phase := "apply"
	if req.Destroy {
		phase = "destroy"
	}
	resp, err := d.call(ctx, request{Op: opApply, File: file, Inputs: d.inputs, Apply: req}, phase)
	if resp == nil {
		return driver.Applied{}, err
	}
	return resp.Applied, err
}

// Outputs implements [driver.Driver].
func (d *common) Outputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	resp, err := d.call(ctx, request{Op: opOutputs}, "")
	if err != nil {
		return nil, false, err
	}
	return resp.Outputs, resp.Found, nil
}

// Drift implements [driver.Drifter].
func (d *common) Drift(ctx context.Context, values driver.Inputs) (driver.Drift, error) {
	d.take(values)
	resp, err := d.call(ctx, request{Op: opDrift, Inputs: d.inputs}, "plan")
	if err != nil {
		return driver.Drift{}, err
	}
	found := driver.Drift{Found: resp.Drift.Found, Objects: resp.Drift.Objects}
	if d.unit.Kind == rollout.Components {
		found.Unkept = d.client.Remember(d.unit, found)
	}
	return found, nil
}

// CheckSaved implements [driver.SavedChecker].
func (d *stack) CheckSaved(ctx context.Context) hcl.Diagnostics {
	file, err := os.ReadFile(d.planFile)
	if err != nil {
		return failure.Diagnostics(err)
	}
	resp, err := d.call(ctx, request{Op: opCheck, File: file}, "")
	if err != nil {
		return failure.Diagnostics(err)
	}
	return resp.Diagnostics
}

// Publish implements [driver.Publisher].
func (d *stack) Publish(ctx context.Context) error {
	if !d.position.Publishes {
		return nil
	}
	_, err := d.call(ctx, request{Op: opPublish, Inputs: d.inputs}, "apply")
	return err
}

// PublishedBy implements [driver.Publisher].
func (d *stack) PublishedBy(ctx context.Context, plans []operation.PlannedOutputs) (upstream.Published, bool) {
	asked := request{Op: opPublished}
	for _, plan := range plans {
		asked.Published = append(asked.Published, planned{plan.Deployment, plan.Outputs, textOf(plan.Err)})
	}
	resp, err := d.call(ctx, asked, "")
	if err != nil {
		return upstream.Published{Err: err}, true
	}
	return upstream.Published{Values: resp.Published.Values, Err: errorOf(resp.Published.Failure)}, resp.Publishes
}

// Fingerprint implements [driver.Fingerprinter].
func (d *root) Fingerprint(ctx context.Context) (rootmodule.Fingerprint, error) {
	resp, err := d.call(ctx, request{Op: opFingerprint}, "")
	if err != nil {
		return rootmodule.Fingerprint{}, err
	}
	return resp.Fingerprint, nil
}

// upstreamOf returns the published values in a request, by directories below a top.
func (r *planRequest) upstreamOf(top string) map[string]upstream.Published {
	all := map[string]upstream.Published{}
	for at, values := range r.Upstream {
		all[filepath.Join(top, filepath.FromSlash(at))] = upstream.Published{Values: values.Values, Err: errorOf(values.Failure)}
	}
	return all
}

// given returns the inputs in a request, nil for none.
func (i *inputs) given() driver.Inputs {
	if i == nil {
		return nil
	}
	return func() ([]wiring.Value, hcl.Diagnostics) { return i.Values, i.Diagnostics }
}
