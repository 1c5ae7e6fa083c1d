// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/glob"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/internal/workers/calls"
	"github.com/cairnstacks/cairn/internal/workers/sources"
)

// Server does the work on units that runs ask for. Its fields are not changed while it is used. It
// is safe for concurrent use.
type Server struct {
	Cache   sources.Cache
	Fetch   func(ctx context.Context, record string) ([]byte, error) // an archive of sources
	Screens Screens

	// Deployments are patterns of the names of the deployments that it works on (rule M4). None stands
	// for all.
	Deployments []glob.Pattern

	Stack   operation.Options        // of all stacks, without [operation.Options.Shared]
	Shared  func() *operation.Shared // makes the common cache of the units of a run
	Version string
	Environ []string // of tasks

	// Workers returns the workers of components of stacks whose files are those of a run, below a
	// directory. Nil stands for none.
	Workers func(top string, files sources.Archive) engines.Workers

	// Roots returns the engine of root modules, without [rootmodule.Engine.Processes] and directories.
	Roots func(ctx context.Context, shared *operation.Shared) (*rootmodule.Engine, error)

	caches caches
}

// Screens show work as a person sees it who is somewhere else.
type Screens interface {
	// Stack begins to show a phase of the work on a stack, as in [driver.StackOptions].
	Stack(screen *Screen, phase string, options *operation.Options) driver.View

	// Root begins to show a phase of the work on a root module.
	Root(screen *Screen, phase string) driver.RootView
}

// Handle implements [calls.Handler].
func (s *Server) Handle(ctx context.Context, work *calls.Work) ([]byte, error) {
	var asked request
	if err := wire.Decode(work.Body, &asked); err != nil {
		return nil, err
	}
	if err := s.allowed(&asked.Unit); err != nil {
		return nil, err
	}
	top, err := s.Cache.Get(ctx, asked.Sources.Digest, func() ([]byte, error) { return s.Fetch(ctx, asked.Sources.Record) })
	if err != nil {
		return nil, err
	}
	files, err := os.MkdirTemp("", "cairn-worker-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(files) //nolint:errcheck // the system removes what is left
	ctx, stopped := context.WithCancelCause(ctx)
	defer stopped(nil)
	w := &unitWork{
		Server: s, ctx: ctx, call: work, asked: &asked, top: top, files: files, processes: &process.Set{},
		screen: newScreen(&asked, work.Say),
	}
	w.screen.Dir = w.path(asked.Unit.Path)
	over := make(chan struct{})
	watched := make(chan struct{})
	go func() {
		defer close(watched)
		w.watch(over, stopped)
	}()
	resp, err := w.do()
	close(over)
	<-watched
	if err != nil {
		return nil, err
	}
	w.screen.flush()
	return wire.Encode(*resp)
}

// allowed refuses units that this worker was not started for.
func (s *Server) allowed(u *unit) error {
	matches := func(pattern glob.Pattern) bool { return pattern.Match(u.Deployment) }
	if u.Deployment != "" && len(s.Deployments) > 0 && !slices.ContainsFunc(s.Deployments, matches) {
		return errors.New("this worker was not started for " + u.Name)
	}
	return nil
}

// unitWork is the work on a unit that a call asks for.
type unitWork struct {
	*Server
	ctx       context.Context //nolint:containedctx // of the call, which this is
	call      *calls.Work
	asked     *request
	top       string // directory with the files of the run
	files     string // directory for plans and reports of engines
	processes *process.Set
	screen    *Screen
}

// watch stops the work when the caller asks for that, until it is over.
func (w *unitWork) watch(over <-chan struct{}, stop context.CancelCauseFunc) {
	select {
	case <-over:
		return
	case <-w.call.Stop:
		stop(operation.ErrInterrupted)
		w.processes.Stop(os.Interrupt, false)
	}
	select {
	case <-over:
	case <-w.call.Now:
		w.processes.Kill()
	}
}

// do does the work. Its error is one of the worker; those of the work itself are in the response.
func (w *unitWork) do() (*response, error) {
	if w.asked.Op == opTask {
		return &response{Failure: encodeError(w.task())}, nil
	}
	if err := w.begunBefore(); err != nil {
		return &response{Failure: encodeError(err), Position: w.asked.Position}, nil
	}
	if err := w.checkState(); err != nil {
		return &response{Failure: encodeError(err), Position: w.asked.Position}, nil
	}
	opened, err := w.open()
	if err != nil {
		return nil, err
	}
	resp := &response{Position: w.asked.Position}
	if stack, ok := opened.(*driver.Stack); ok {
		stack.Position = w.asked.Position
		defer func() { resp.Position = stack.Position }()
	}
	err = w.with(opened, resp)
	resp.Failure = encodeError(err)
	return resp, nil
}

// begunBefore refuses work that another worker may have begun, and of which nobody knows how far it
// has come (rule M2).
func (w *unitWork) begunBefore() error {
	if len(w.call.Before) == 0 || w.asked.Unit.Kind == rollout.Components || w.asked.Op != opApply && w.asked.Op != opTask {
		return nil
	}
	last := w.call.Before[len(w.call.Before)-1]
	what := "An apply of the root module " + w.asked.Unit.Name
	remedy := "See what it has changed, such as by \"terraform plan\" in its directory, and then begin a new run."
	if w.asked.Op == opTask {
		what, remedy = "The task "+w.asked.Unit.Name, "See what it has done, and then begin a new run."
	}
	return w.refuse(hcl.Diagnostics{failure.New("Outcome not known",
		"%s was begun by the worker %s at %s, which has not said how it has ended. It was not begun again. %s",
		what, last.Worker, last.Began.Format(time.RFC3339), remedy)})
}

// refuse shows why nothing is done, and returns that.
func (w *unitWork) refuse(diags hcl.Diagnostics) error {
	view := w.Screens.Root(w.screen, string(w.asked.Op))
	if err := errors.Join(view.Report(diags, false), view.Close()); err != nil {
		return err
	}
	return &driver.Failure{Diagnostics: diags}
}

// path returns the place of a path from the top of the archive.
func (w *unitWork) path(name string) string { return filepath.Join(w.top, filepath.FromSlash(name)) }

// unit returns the unit in the files of the run.
func (w *unitWork) unit() rollout.Unit {
	sent := &w.asked.Unit
	u := rollout.Unit{
		Name: sent.Name, Kind: sent.Kind, Dir: w.path(sent.Path), Path: sent.Path, Workspace: sent.Workspace, Deployment: sent.Deployment,
		Destroyed: sent.Destroyed, Env: slices.Concat(w.asked.Variables, sent.Env), Task: sent.Task,
	}
	for _, file := range sent.VarFiles {
		u.VarFiles = append(u.VarFiles, w.path(file))
	}
	return u
}

// planFile is where the plan of the unit is.
func (w *unitWork) planFile() string { return filepath.Join(w.files, "unit.plan") }

// stackOptions are the options of operations on a stack of the run.
func (w *unitWork) stackOptions() operation.Options {
	options := w.Stack
	options.Env.Workspace = w.path(w.asked.Sources.Below)
	return options
}

// open returns the driver of the unit in this process.
func (w *unitWork) open() (driver.Driver, error) {
	if err := writePlan(w.planFile(), w.asked.File); err != nil {
		return nil, err
	}
	drivers := &rollout.Drivers{
		Plans: w.files, PlanFile: func(int) string { return w.planFile() },
		Stack: w.stackOptions(), Version: w.Version, AcceptRecovery: w.asked.AcceptRecovery, Together: w.asked.Together,
		Show: func(_, phase string, options *operation.Options) driver.View {
			return w.Screens.Stack(w.screen, phase, options)
		},
		ShowRoot: func(_ *rollout.Unit, phase string) driver.RootView { return w.Screens.Root(w.screen, phase) },
	}
	drivers.Stack.StopNow = w.call.Stop
	if w.Workers != nil {
		drivers.Stack.Engine.Workers = w.Workers(w.top, w.asked.Sources.Archive)
	}
	drivers.Stack.Shared = w.caches.of(w.asked.Sources.Digest, w.Shared)
	if len(w.call.Before) > 0 {
		drivers.Stack.LockTimeout = lockPatience // of the worker before, until its lease has ended
	}
	if w.asked.Unit.Kind == rollout.Root {
		engine, err := w.Roots(w.ctx, drivers.Stack.Shared)
		if err != nil {
			return nil, err
		}
		engine.Processes, engine.WorkDir = w.processes, filepath.Join(w.files, "engine")
		if !w.asked.View.Out.Color {
			engine.Options = []string{"-no-color"}
		}
		drivers.Roots = engine
	}
	work := &rollout.Work{Units: []rollout.Unit{w.unit()}}
	return drivers.Open(work, 0), nil
}

// lockPatience is how long a call that is delivered again waits for the lock of the worker before
// it. The leases of locks end sooner.
const lockPatience = 10 * time.Minute

// with does the work with a driver.
func (w *unitWork) with(d driver.Driver, resp *response) (err error) {
	switch w.asked.Op {
	case opPlan:
		return w.plan(d, resp)
	case opShow:
		if _, err := d.Plan(w.ctx, driver.PlanRequest{Saved: true}); err != nil {
			return err
		}
		return d.Show(w.ctx)
	case opApply:
		if _, err := d.Plan(w.ctx, driver.PlanRequest{Saved: true, Inputs: w.asked.Inputs.given()}); err != nil {
			return err
		}
		resp.Applied, err = d.Apply(w.ctx, w.asked.Apply)
	case opOutputs:
		resp.Outputs, resp.Found, err = d.Outputs(w.ctx)
	case opPublish:
		return d.(driver.Publisher).Publish(w.ctx) //nolint:forcetypeassert // of a stack
	case opPublished:
		w.published(d.(driver.Publisher), resp) //nolint:forcetypeassert // of a stack
	case opDrift:
		var found driver.Drift
		found, err = d.(driver.Drifter).Drift(w.ctx, w.asked.Inputs.given()) //nolint:forcetypeassert // all drivers are
		resp.Drift = drift{found.Found, found.Objects}
	case opCheck:
		resp.Diagnostics = d.(driver.SavedChecker).CheckSaved(w.ctx) //nolint:forcetypeassert // of a stack
	case opFingerprint:
		resp.Fingerprint, err = d.(driver.Fingerprinter).Fingerprint(w.ctx) //nolint:forcetypeassert // of a root module
	default:
		err = fmt.Errorf("this worker knows no work %q", w.asked.Op)
	}
	return err
}

// plan makes a plan, or takes the one that came with the request.
func (w *unitWork) plan(d driver.Driver, resp *response) (err error) {
	asked := &w.asked.Plan
	req := driver.PlanRequest{
		Destroy: asked.Destroy, Again: asked.Again, NotToKeep: asked.NotToKeep, Saved: w.asked.File != nil,
		Inputs: w.asked.Inputs.given(), Upstream: asked.upstreamOf(w.top),
	}
	if asked.Taken {
		req.CheckTaken = func(now []operation.Taken) hcl.Diagnostics {
			resp.Taken = now
			return nil
		}
	}
	resp.Plan, err = d.Plan(w.ctx, req)
	if !asked.Details {
		resp.Plan.Details = nil
	}
	if err != nil || req.Saved || req.NotToKeep {
		return err
	}
	if resp.File, err = os.ReadFile(w.planFile()); errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return err
}

// published adds the values that a stack publishes by plans of its deployments.
func (w *unitWork) published(d driver.Publisher, resp *response) {
	var plans []operation.PlannedOutputs
	for _, plan := range w.asked.Published {
		plans = append(plans, operation.PlannedOutputs{Deployment: plan.Deployment, Outputs: plan.Outputs, Err: errorOf(plan.Failure)})
	}
	values, publishes := d.PublishedBy(w.ctx, plans)
	resp.Published, resp.Publishes = published{values.Values, textOf(values.Err)}, publishes
}

// task runs the command of a task.
func (w *unitWork) task() error {
	if err := w.begunBefore(); err != nil {
		return err
	}
	u := w.unit()
	job := u.Task.Job(u.Dir, telemetry.Environ(w.ctx, append(slices.Clone(w.Environ), u.Env...)), w.asked.Reacts)
	job.Stdout, job.Stderr = w.screen.Out, w.screen.Err
	return w.processes.RunJob(w.ctx, job)
}
