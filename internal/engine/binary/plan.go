// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/cairnstacks/cairn/internal/engine/binary/command"
	"github.com/cairnstacks/cairn/internal/engine/binary/crash"
	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/withheld"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Plan implements [engine.Session].
func (e *Session) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	ctx, work, err := e.works.Begin(ctx, req.Work, observe)
	if err != nil {
		return nil, hcl.Diagnostics{failure.Of("Component not planned", err)}
	}
	defer work.End()
	if req.Mode == engine.Invoke {
		return nil, hcl.Diagnostics{failure.New("Actions not invocable", "%s %s invokes actions only because of changes of resources. "+
			"The native engine also invokes those that are asked for.", e.info.Name, e.info.Version)}
	}
	tree, diags := e.modules.Load(req.ModuleDir)
	if diags.HasErrors() {
		return nil, diags
	}
	prior, err := tfstate.Parse(req.PriorState)
	if err != nil {
		return nil, diags.Append(failure.Of("Component cannot be planned", err))
	}
	if mustDefer(tree, req) {
		return e.deferredPlan(tree, req, prior), diags
	}
	p := &planning{
		engine: e, tree: tree, req: req, prior: numbered(prior), work: work, report: unrepeated(observe.Numbered()),
		hidden: withheld.NewFilter(tree.Root, req.Inputs, req.Providers, req.PriorState),
	}
	result, moreDiags, err := p.plan(ctx)
	result = p.withGenerated(result)
	if err != nil {
		moreDiags = moreDiags.Append(failure.Of("Component cannot be planned", err))
	}
	if result != nil {
		moreDiags = p.hidden.Diagnostics(moreDiags, nil, result.Changes, result.Drift)
	} else {
		moreDiags = p.hidden.Diagnostics(moreDiags, nil)
	}
	if req.DeferAll {
		result = deferChanges(result, moreDiags)
	}
	diags = diags.Extend(moreDiags)
	return result, diags
}

// planning is one run of the plan command.
type planning struct {
	engine *Session
	tree   *module.Tree
	req    *engine.PlanRequest
	layout *workcopy.Layout
	hash   string
	prior  *tfstate.Document // numbered
	dir    *rundir.Dir
	spec   *workcopy.Spec // of the copy
	copy   *workcopy.Copy
	hidden *withheld.Filter
	report engine.Observer
	work   *engine.Work

	generated []engine.Generated
}

func (p *planning) plan(ctx context.Context) (_ *engine.PlanResult, _ hcl.Diagnostics, err error) {
	e, tree, req := p.engine, p.tree, p.req
	if p.layout, p.hash, err = e.layOut(tree, req.Inputs); err != nil {
		return nil, nil, err
	}
	if p.dir, err = rundir.New(e.runsDir, req.Component.String()); err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, p.keepFiles(), p.dir.Remove()) }()

	lock, diags := e.lockFor(tree, req.Providers)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	blockTypes, diags := e.blockTypes(ctx, req.Providers)
	if diags.HasErrors() {
		return nil, diags, nil
	}
	p.spec = &workcopy.Spec{
		Dir:        p.dir.File(rundir.TreeDir),
		Tree:       tree,
		Layout:     p.layout,
		Timestamp:  req.Timestamp,
		State:      p.prior.Bytes(),
		Lock:       lock,
		Inputs:     req.Inputs,
		Providers:  req.Providers,
		BlockTypes: blockTypes,
	}
	p.copy, err = workcopy.Build(p.spec)
	var unknownBlocks *workcopy.UnknownBlocksError
	if errors.As(err, &unknownBlocks) {
		return e.deferredPlan(tree, req, p.prior), nil, nil
	}
	if err != nil {
		return nil, nil, err
	}
	if err := p.copy.RestoreFiles(e.writtenDir(req.Component.String())); err != nil {
		return nil, nil, err
	}
	return p.run(ctx)
}

// keepFiles keeps the files that data sources have written, for the apply and for the next plan.
func (p *planning) keepFiles() error {
	if p.copy == nil {
		return nil
	}
	return p.copy.KeepFiles(p.engine.writtenDir(p.req.Component.String()))
}

// writtenDir is where files are kept that the module of a component instance has written below its
// own directory.
func (e *Session) writtenDir(component string) string {
	return rundir.Written(e.runsDir, component)
}

func (p *planning) run(ctx context.Context) (*engine.PlanResult, hcl.Diagnostics, error) {
	diags, err := p.process(ctx, p.args(), p.report)
	if err != nil {
		return nil, nil, err
	}
	if onlyUnknownInstances(diags) {
		return p.deferInstances(ctx, diags)
	}
	return p.conclude(ctx, diags)
}

// process runs the plan command.
func (p *planning) process(ctx context.Context, args []string, report engine.Observer) (hcl.Diagnostics, error) {
	dataDir, err := p.engine.dataDir(p.tree)
	if err != nil {
		return nil, err
	}
	// The process would create a file that others may read.
	if err := os.WriteFile(p.dir.File(rundir.PlanFile), nil, 0o600); err != nil {
		return nil, err
	}
	release, err := p.engine.shared.processes.Acquire(ctx)
	if err != nil {
		return hcl.Diagnostics{failure.Of("Component not planned", err)}, nil
	}
	defer release()
	if err := os.RemoveAll(p.dir.File(rundir.GeneratedFile)); err != nil { // of an earlier process
		return nil, err
	}
	process, err := startWithVariables(p.copy, runner.Command{
		Path:   p.engine.binary.Path,
		Args:   append([]string{"-chdir=" + p.copy.Root, "plan"}, args...),
		Dir:    p.engine.stackDir,
		Env:    p.engine.binary.Env(ctx, map[string]string{"TF_DATA_DIR": dataDir}),
		RunDir: p.dir.Path(),

		Disposable: true,
	})
	if err != nil {
		return nil, err
	}
	killNow(p.work, process)
	outcome, err := process.Wait(ctx, func(ev runner.Event) {
		if out, ok := progress(ev, planEvents); ok {
			report.Observe(p.hidden.Event(out))
		}
	})
	if err != nil {
		return nil, err
	}
	diags := p.copy.Diagnostics(outcome.Diagnostics)
	if p.generated, err = p.readGenerated(); err != nil {
		return nil, err
	}
	crash.ExplainProvider(diags, outcome)
	explainLacks(diags, p.engine.info)
	p.engine.log.InfoContext(ctx, "engine process ended", "command", "plan", "run", filepath.Base(p.dir.Path()), "exit_code", outcome.ExitCode)
	if outcome.Outcome != runner.OutcomeSucceeded && !diags.HasErrors() {
		diags = diags.Append(p.engine.died("Component cannot be planned", outcome))
	}
	return diags, nil
}

// startWithVariables starts a process that reads the values of variables of a working copy.
func startWithVariables(copied *workcopy.Copy, command runner.Command) (*runner.Process, error) {
	piped, err := copied.ShareVariables()
	if err != nil {
		return nil, err
	}
	command.Piped = piped
	return runner.Start(command)
}

// conclude turns the output of a process into a result.
func (p *planning) conclude(ctx context.Context, diags hcl.Diagnostics) (*engine.PlanResult, hcl.Diagnostics, error) {
	addRemedies(diags)
	result, err := p.result(ctx, diags.HasErrors())
	return result, diags, err
}

// commonArgs are the arguments of every plan command.
func (p *planning) commonArgs() []string {
	return []string{
		"-json", "-input=false", "-lock=false",
		"-out=" + p.dir.File(rundir.PlanFile),
		"-var-file=" + workcopy.VariablesFile,
	}
}

func (p *planning) args() []string {
	args := p.commonArgs()
	switch p.req.Mode {
	case engine.Destroy:
		args = append(args, "-destroy")
	case engine.RefreshOnly:
		args = append(args, "-refresh-only")
	}
	if p.skipsRefresh() {
		args = append(args, "-refresh=false")
	}
	for _, address := range p.req.Replace {
		args = append(args, "-replace="+address)
	}
	if p.req.GenerateConfig {
		args = append(args, "-generate-config-out="+p.dir.File(rundir.GeneratedFile))
	}
	return args
}

func (p *planning) skipsRefresh() bool {
	return p.req.SkipRefresh || p.unknownProviders() && p.req.Mode != engine.RefreshOnly
}

// unknownProviders reports whether a provider configuration is not wholly known. Nothing can be
// read with it then.
func (p *planning) unknownProviders() bool {
	return slices.ContainsFunc(p.copy.Shape.Providers, func(leaf workcopy.ProviderLeaf) bool { return leaf.Unknown })
}

// result reads the plan of the process. After errors there may be none.
func (p *planning) result(ctx context.Context, errored bool) (*engine.PlanResult, error) {
	data, plan, err := p.read(ctx)
	if err != nil || plan == nil && errored {
		return nil, err
	}
	if plan == nil {
		return nil, errors.New("reading the plan: there is none")
	}
	result, err := p.describe(plan)
	if err != nil {
		return nil, err
	}
	result.Applyable, result.Complete = plan.Applyable && !errored, plan.Complete && !errored
	if errored {
		return result, nil
	}
	result.Plan, err = p.store(data, nil)
	return result, err
}

// read reads the plan file. The plan is nil if the process has written none.
func (p *planning) read(ctx context.Context) ([]byte, *planfile.Plan, error) {
	data, err := os.ReadFile(p.dir.File(rundir.PlanFile))
	if err != nil {
		return nil, nil, fmt.Errorf("reading the plan: %w", err)
	}
	if len(data) == 0 {
		return nil, nil, nil
	}
	plan, err := p.engine.readPlan(ctx, data)
	return data, plan, err
}

// describe returns the contents of a plan.
func (p *planning) describe(plan *planfile.Plan) (*engine.PlanResult, error) {
	refreshed, err := tfstate.Parse(plan.PriorState)
	if err == nil {
		refreshed, err = workcopy.CleanState(refreshed)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the refreshed state: %w", err)
	}
	checks := p.hidden.Checks(workcopy.PlannedChecks(plan.Checks))
	if p.req.Mode != engine.Destroy { // such a plan checks nothing
		if refreshed, err = refreshed.WithChecks(checks); err != nil {
			return nil, err
		}
	}
	return &engine.PlanResult{
		Engine:         p.engine.info,
		Outputs:        p.outputs(plan),
		Changes:        visibleChanges(plan.ResourceChanges),
		Drift:          visibleChanges(plan.ResourceDrift),
		Checks:         checks,
		RefreshedState: refreshed.Bytes(),
	}, nil
}

func (p *planning) outputs(plan *planfile.Plan) map[string]cty.Value {
	outputs := make(map[string]cty.Value, len(p.tree.Module.Outputs))
	for name, declared := range p.tree.Module.Outputs {
		value, sensitive := cty.DynamicVal, declared.Sensitive
		if change := plan.Outputs[name]; change != nil {
			value, sensitive = change.After, sensitive || change.Sensitive
		}
		outputs[name] = markOutput(value, sensitive)
	}
	return outputs
}

// visibleChanges returns the changes without those of generated objects, sorted by address.
func visibleChanges(changes []*engine.Change) []*engine.Change {
	var visible []*engine.Change
	for _, change := range changes {
		if !workcopy.IsGenerated(change.Address()) {
			visible = append(visible, change)
		}
	}
	engine.SortChanges(visible)
	return visible
}

// store packs the plan with the facts that applying it needs. A plan of only a part of the module
// comes with the outputs that are known even so.
func (p *planning) store(file []byte, known map[string]cty.Value) ([]byte, error) {
	var err error
	stored := storedPlan{file: file, meta: planMeta{
		Version:    containerVersion,
		Engine:     p.engine.info,
		Component:  p.req.Component.String(),
		Mode:       p.req.Mode.String(),
		ModuleHash: p.hash,
		Timestamp:  p.req.Timestamp,
		Prior:      p.prior.Identity(),
		Shape:      p.copy.Shape,
		Inputs:     map[string][]byte{},
		Partial:    known != nil,
	}}
	if stored.meta.Outputs, err = encodeOutputs(known); err != nil {
		return nil, err
	}
	for name, value := range p.req.Inputs {
		if p.tree.Module.Variables[name].Ephemeral {
			continue
		}
		if stored.meta.Inputs[name], err = encodeInput(value); err != nil {
			return nil, fmt.Errorf("storing input %q: %w", name, err)
		}
	}
	return stored.encode()
}

// layOut looks at the files of a module. The hash changes with their content.
func (e *Session) layOut(tree *module.Tree, inputs map[string]cty.Value) (*workcopy.Layout, string, error) {
	layout, err := workcopy.NewLayout(tree, inputs, e.workDir)
	if err != nil {
		return nil, "", err
	}
	fingerprint, err := layout.Fingerprint()
	if err != nil {
		return nil, "", err
	}
	e.mu.Lock()
	known := e.mu.hashes[tree.Root.Dir]
	e.mu.Unlock()
	if known.fingerprint == fingerprint {
		return layout, known.hash, nil
	}
	hash, err := layout.Hash()
	if err != nil {
		return nil, "", err
	}
	e.mu.Lock()
	e.mu.hashes[tree.Root.Dir] = fingerprintedHash{fingerprint, hash}
	e.mu.Unlock()
	return layout, hash, nil
}

// died says that a process ended without saying why.
func (e *Session) died(summary string, outcome *runner.Result) *hcl.Diagnostic {
	detail := fmt.Sprintf("%s ended unexpectedly with exit code %d.", e.info.Name, outcome.ExitCode)
	if outcome.Outcome == runner.OutcomeDied {
		detail = e.info.Name + " was killed, or crashed."
		if outcome.Interrupted {
			detail = e.info.Name + " was interrupted and has ended at once."
		}
	}
	if tail := command.LastLines(outcome.Stderr, 20); tail != "" {
		detail += " Its last words were:\n\n" + tail
	}
	return failure.New(summary, "%s", detail)
}

// addRemedies adds the remedies for errors that only occur because the whole stack is planned at
// once.
func addRemedies(diags hcl.Diagnostics) {
	for _, diag := range diags {
		if !isUnknownInstances(diag) {
			continue
		}
		diag.Detail += "\n\nIn a stack, such values come from components that are not applied yet. Let the number of instances depend on " +
			"values " +
			"that the configuration gives, or apply the stack in two steps: first without the blocks that depend on these values."
	}
}

// absolute returns a path that is relative to the working directory of the engine.
func (e *Session) absolute(parts ...string) string {
	return filepath.Join(append([]string{e.workDir}, parts...)...)
}
