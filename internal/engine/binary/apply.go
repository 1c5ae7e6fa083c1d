// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/cairnstacks/cairn/internal/engine/binary/crash"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/withheld"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/statewatch"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Apply implements [engine.Session].
func (e *Session) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	ctx, work, err := e.works.Begin(ctx, req.Work, observe)
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Component not applied", err)}
	}
	defer work.End()
	tree, diags := e.modules.Load(req.ModuleDir)
	if diags.HasErrors() {
		return nil, diags
	}
	stored, err := decodePlan(req.Planned.Plan)
	if err != nil {
		return nil, diags.Append(failure.Of("Plan cannot be applied", err))
	}
	prior, err := tfstate.Parse(req.PriorState)
	if err != nil {
		return nil, diags.Append(failure.Of("Plan cannot be applied", err))
	}
	a := &applying{
		engine: e, tree: tree, req: req, observe: observe, prior: prior, stored: stored,
		hidden: withheld.NewFilter(tree.Root, req.Inputs, req.Providers, req.PriorState),
	}
	if diags := a.check(); diags.HasErrors() {
		return nil, diags
	}
	if ctx.Err() != nil {
		return nil, hcl.Diagnostics{failure.Of("Component not applied", context.Cause(ctx))}
	}
	result, diags, err := a.apply(ctx)
	if err != nil {
		diags = diags.Append(failure.Of("Component not applied as planned", err))
	}
	return result, a.hide(ctx, result, diags)
}

// hide hides secrets in diagnostics, those that the apply itself has made, too.
func (a *applying) hide(ctx context.Context, result *engine.ApplyResult, diags hcl.Diagnostics) hcl.Diagnostics {
	if len(diags) == 0 {
		return diags
	}
	var states []engine.State
	if result != nil {
		states = append(states, result.State)
	}
	var changes []*engine.Change
	if plan, err := a.engine.readPlan(ctx, a.stored.file); err == nil { // else there is less to hide
		changes = plan.ResourceChanges
	}
	return a.hidden.Diagnostics(diags, states, changes)
}

// applying is one run of the apply command.
type applying struct {
	engine  *Session
	tree    *module.Tree
	req     *engine.ApplyRequest
	observe engine.Observer
	prior   *tfstate.Document
	stored  *storedPlan
	layout  *workcopy.Layout
	dir     *rundir.Dir
	copy    *workcopy.Copy
	state   *statewatch.Watch
	hidden  *withheld.Filter
}

// check refuses a plan that must not be applied. Nothing was done then.
func (a *applying) check() hcl.Diagnostics {
	meta := &a.stored.meta
	refuse := func(format string, args ...any) hcl.Diagnostics {
		return hcl.Diagnostics{failure.New("Plan cannot be applied", format, args...)}
	}
	if meta.Engine != a.engine.info {
		return refuse("The plan of %s was made by %s %s, and only this can apply it. Now the engine is %s %s.",
			meta.Component, meta.Engine.Name, meta.Engine.Version, a.engine.info.Name, a.engine.info.Version)
	}
	if component := a.req.Component.String(); meta.Component != component {
		return refuse("The plan was made for %s, not for %s.", meta.Component, component)
	}
	if meta.Mode != a.req.Mode.String() {
		return refuse("The plan was made in mode %q, not %q.", meta.Mode, a.req.Mode)
	}
	layout, hash, err := a.engine.layOut(a.tree, a.plannedInputs())
	if err != nil {
		return refuse("%s", failure.Sentence(err.Error()))
	}
	if hash != meta.ModuleHash {
		return refuse("The files of module %s, or of a module that it calls, have changed since the plan was made. Plan again.",
			path.Dir(a.tree.Root.Files[0].Display))
	}
	a.layout = layout
	if a.prior.Identity().Resources != meta.Prior.Resources {
		diags := refuse("The state of %s has changed since the plan was made. Plan again.", meta.Component)
		diags[0].Extra = &engine.DiagnosticData{Fault: fault.StalePlan}
		return diags
	}
	if a.req.Mode == engine.Destroy {
		return nil // destroying doesn't depend on inputs
	}
	return a.checkInputs()
}

// plannedInputs returns the planned values of inputs, without those that are ephemeral.
func (a *applying) plannedInputs() map[string]cty.Value {
	inputs := map[string]cty.Value{}
	for name, data := range a.stored.meta.Inputs {
		if value, err := decodeInput(data); err == nil {
			inputs[name] = value
		}
	}
	return inputs
}

// checkInputs compares the final inputs with the planned ones (rule E2 of package engine). The
// engine itself finds differences only after it has applied the resources that don't depend on
// them.
func (a *applying) checkInputs() hcl.Diagnostics {
	var diags hcl.Diagnostics
	planned := a.plannedInputs()
	for _, name := range slices.Sorted(maps.Keys(a.stored.meta.Inputs)) {
		problem := errors.New("there is no value any more")
		switch final, ok := a.req.Inputs[name]; {
		case planned[name] == cty.NilVal:
			problem = errNotPlan
		case ok:
			bare, _ := final.UnmarkDeep()
			problem = engine.CheckRefines(planned[name], bare)
			if problem == nil && !bare.IsWhollyKnown() {
				problem = errors.New("the value is still not known")
			}
		}
		if problem == nil {
			continue
		}
		diag := failure.New("Input changed since planning",
			"The value of input %q of %s can't be used with the plan: %s. Plan again.", name, a.stored.meta.Component, problem)
		if variable := a.tree.Module.Variables[name]; variable != nil {
			diag.Subject = variable.Range.Ptr()
		}
		diags = diags.Append(diag)
	}
	return diags
}

func (a *applying) apply(ctx context.Context) (_ *engine.ApplyResult, _ hcl.Diagnostics, err error) {
	release, err := a.engine.shared.processes.Acquire(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Component not applied", err)}, nil
	}
	defer release()
	if a.dir, err = rundir.New(a.engine.runsDir, a.req.Component.String()); err != nil {
		return nil, nil, err
	}
	process, diags, err := a.start(ctx)
	if err != nil || diags.HasErrors() {
		return nil, diags, errors.Join(err, a.dir.Remove())
	}
	return a.finish(ctx, process)
}

// start prepares the working copy and starts the process.
func (a *applying) start(ctx context.Context) (*runner.Process, hcl.Diagnostics, error) {
	meta := &a.stored.meta
	lock, diags := a.engine.lockFor(a.tree, a.req.Providers)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	var err error
	a.copy, err = workcopy.Build(&workcopy.Spec{
		Dir:       a.dir.File(rundir.TreeDir),
		Tree:      a.tree,
		Layout:    a.layout,
		Timestamp: meta.Timestamp,
		State:     withIdentity(a.prior, meta.Prior).Bytes(),
		Lock:      lock,
		Providers: a.req.Providers,
		Shape:     meta.Shape,
	})
	if err != nil {
		return nil, nil, err
	}
	if err := a.copy.RestoreFiles(a.engine.writtenDir(meta.Component)); err != nil {
		return nil, nil, err
	}
	if err := a.copy.WriteFinal(a.req.Inputs, a.req.Providers, a.req.Mode == engine.Destroy); err != nil {
		return nil, nil, err
	}
	if err := os.WriteFile(a.dir.File(rundir.PlanFile), a.stored.file, 0o600); err != nil {
		return nil, nil, err
	}
	dataDir, err := a.engine.dataDir(a.tree)
	if err != nil {
		return nil, nil, err
	}
	root, err := filepath.Rel(a.dir.Path(), a.copy.Root)
	if err != nil {
		return nil, nil, err
	}
	record := rundir.Record{
		Work: a.req.Work, Component: meta.Component, Mode: a.req.Mode, StartedAt: time.Now().UTC(), Root: root, Scope: runner.Scope(),
	}
	if record.State, err = a.dir.HashState(record); err != nil {
		return nil, nil, err
	}
	if a.state, err = statewatch.Begin(a.dir, a.dir.StateFile(record), a.prior, a.observe); err != nil {
		return nil, nil, err
	}
	if err := a.dir.BeginApply(a.engine.sign(record)); err != nil {
		return nil, nil, err
	}
	process, err := startWithVariables(a.copy, runner.Command{
		Path: a.engine.binary.Path,
		Args: []string{
			"-chdir=" + a.copy.Root, "apply", "-json", "-input=false", "-auto-approve",
			"-var-file=" + workcopy.VariablesFile, a.dir.File(rundir.PlanFile),
		},
		Dir:    a.engine.stackDir,
		Env:    a.engine.binary.Env(ctx, map[string]string{"TF_DATA_DIR": dataDir}),
		RunDir: a.dir.Path(),
	})
	return process, nil, err
}

// withoutHalt drops the error in which terraform and tofu only repeat that they were interrupted,
// where others say more.
func withoutHalt(diags hcl.Diagnostics) hcl.Diagnostics {
	rest := slices.DeleteFunc(slices.Clone(diags), func(diag *hcl.Diagnostic) bool { return diag.Summary == "execution halted" })
	if !rest.HasErrors() {
		return diags
	}
	return rest
}

// finish waits for the process and gathers its results.
func (a *applying) finish(ctx context.Context, process *runner.Process) (*engine.ApplyResult, hcl.Diagnostics, error) {
	outputs := runner.ProvisionerOutputs{}
	outcome, waitErr := process.Wait(ctx, func(ev runner.Event) {
		a.state.Event(ev)
		outputs.Event(ev)
		if out, ok := progress(ev, applyEvents); ok {
			a.observe.Observe(a.hidden.Event(out))
		}
	})
	diags := a.copy.Diagnostics(outcome.Diagnostics)
	if a.stored.meta.Partial {
		diags = withoutTargeting(diags)
	}
	if ctx.Err() != nil {
		diags = withoutHalt(diags)
	}
	outputs.Hide(diags)
	crash.ExplainProvider(diags, outcome)
	a.engine.log.InfoContext(ctx, "engine process ended", "command", "apply", "run", filepath.Base(a.dir.Path()), "exit_code",
		outcome.ExitCode)
	if outcome.Outcome != runner.OutcomeSucceeded && !diags.HasErrors() {
		diags = diags.Append(a.engine.died("Component partly applied", outcome))
	}
	state, doubts, lost := a.state.Final(outcome)
	if lost != nil {
		diags = diags.Append(lost)
	}
	result := &engine.ApplyResult{State: state}
	if err := a.outputs(result, diags.HasErrors()); err != nil {
		diags = diags.Append(failure.Of("Unreadable module outputs", err))
	}
	if err := a.copy.KeepFiles(a.engine.writtenDir(a.stored.meta.Component)); err != nil {
		warning := failure.Of("Module files not kept", err)
		warning.Severity = hcl.DiagWarning
		diags = diags.Append(warning)
	}
	a.engine.keep(a.req.Work, keptRun{a.dir, func() error { // not before (rule T2 of package rundir)
		if len(doubts) == 0 {
			return a.dir.Remove()
		}
		return a.retire(doubts, a.hidden.Diagnostics(hcl.Diagnostics{lost}, []engine.State{state}))
	}})
	return result, diags, waitErr
}

// retire has the doubts reported again until somebody has looked at them.
func (a *applying) retire(doubts []crash.Doubt, diags hcl.Diagnostics) error {
	err := a.dir.Retire(rundir.Report{
		Component: a.stored.meta.Component, Mode: a.req.Mode, Doubts: crash.Addresses(doubts), Diagnostics: rundir.Diagnostics(diags),
		Seen: true, // by the program that applies: they are among the diagnostics
	})
	return errors.Join(err, a.dir.Close())
}

// outputs sets the parts of the result that come from the final state.
func (a *applying) outputs(result *engine.ApplyResult, errored bool) error {
	missing := cty.NullVal(cty.DynamicPseudoType) // a state has no outputs that are null
	if errored {
		missing = cty.DynamicVal
	}
	state, err := tfstate.Parse(result.State)
	if err != nil {
		return err
	}
	if result.Outputs, err = finalOutputs(a.tree.Module, state, missing); err != nil {
		return err
	}
	if result.Checks, err = state.Checks(); err != nil {
		return err
	}
	result.Checks = a.hidden.Checks(result.Checks)
	if state, err = state.WithChecks(result.Checks); err != nil {
		return err
	}
	result.State = state.Bytes()
	if errored {
		a.dropStale(result)
	} else if a.stored.meta.Partial {
		return a.replaceSkipped(result)
	}
	return nil
}

// replaceSkipped gives those outputs their planned values that are not computed when a part of a
// module is applied. The state has the ones from before.
func (a *applying) replaceSkipped(result *engine.ApplyResult) error {
	plan, err := planfile.Read(a.stored.file, planfile.Options{})
	if err != nil {
		return fmt.Errorf("reading the plan: %w", err)
	}
	for name, declared := range a.tree.Module.Outputs {
		if plan.Outputs[name] != nil {
			continue
		}
		if result.Outputs[name], err = a.stored.meta.output(name, declared.Sensitive); err != nil {
			return err
		}
	}
	return nil
}

// dropStale makes those outputs unknown which the process has not computed: after an error, the
// state still has their values from before.
func (a *applying) dropStale(result *engine.ApplyResult) {
	planned := map[string]*planfile.OutputChange{}
	if plan, err := planfile.Read(a.stored.file, planfile.Options{}); err == nil {
		planned = plan.Outputs
	}
	for name, declared := range a.tree.Module.Outputs {
		value, _ := result.Outputs[name].UnmarkDeep()
		change := planned[name]
		stale := change == nil
		if change != nil {
			// A known output is there if it is as planned; an unknown one if it has changed.
			stale = engine.CheckRefines(change.After, value) != nil ||
				!change.After.IsWhollyKnown() && change.Before.RawEquals(value)
		}
		if stale {
			result.Outputs[name] = markOutput(cty.DynamicVal, declared.Sensitive || change != nil && change.Sensitive)
		}
	}
}
