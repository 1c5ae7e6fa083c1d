// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Roots are the common settings of all root modules of a run.
type Roots struct {
	Engine  string      // path of terraform or tofu
	Info    engine.Info // of it
	Options []string    // of commands that print texts, not data

	WorkDir   string         // for results about the engine
	SchemaDir string         // for schemas of providers; "" for a directory in WorkDir
	Shared    *binary.Shared // with stacks

	Processes *process.Set

	// Native is shared by the plans that are made in this process, of root modules for which that
	// is enough; see [Root.Plan]. With nil, the engine plans all.
	Native *native.Shared

	mu struct {
		sync.Mutex
		textOnly map[string]bool // commands that the engine does not know to report as data
	}
}

// RootOptions say which root module is worked on, and how.
type RootOptions struct {
	Dir       string
	Environ   []string
	VarFiles  []string
	Workspace string // that is to be selected; "" leaves the selected one
	PlanFile  string // which holds secrets
	RunDir    string // for the reports of a running command; made when needed

	// Show begins to show a phase of the work.
	Show func(phase string) RootView
}

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
	Applied(applied RootApplied) error

	// Report shows the diagnostics of the whole phase. Compact asks for warnings without their
	// details.
	Report(diags hcl.Diagnostics, compact bool) error

	// Close ends the view. Its error is that something could not be shown.
	Close() error
}

// RootApplied is the result of an apply of a root module.
type RootApplied struct {
	Destroy     bool
	Failed      bool
	Interrupted bool
	Counts      stackplan.Counts
	Outputs     map[string]cty.Value // Marks: sensitive. Sensitive values are unknown. Nil after errors
}

// Root works on a root module in one of its workspaces, by terraform or tofu.
type Root struct {
	*Roots
	opts RootOptions

	plan         *stackplan.Plan // nil if there is none, or only the engine can read it
	keepsOutputs bool            // the plan is known to leave all outputs as they are

	inputs    []wiring.Value
	latch     *latch // nil if all inputs were known when the plan was made
	notToKeep bool   // the plan: the contents of its file stay there
	prepared  bool   // the module is initialized, and its workspace is selected
}

var _ Driver = (*Root)(nil)

// NewRoot returns a driver of a root module.
func NewRoot(roots *Roots, opts RootOptions) *Root { return &Root{Roots: roots, opts: opts} }

// Plan implements [Driver]. A plan that is not to be kept is made by the native engine where that
// needs nothing but the files of the module.
func (r *Root) Plan(ctx context.Context, req PlanRequest) (Plan, error) {
	args := []string{"plan", "-json", "-input=false", "-detailed-exitcode"}
	if req.Destroy {
		args = append(args, "-destroy")
	}
	r.plan, r.keepsOutputs, r.latch, r.notToKeep = nil, false, nil, req.NotToKeep
	var plan Plan
	err := r.during(ctx, planPhase, func(work *rootWork) error {
		if err := work.takeInputs(req.Inputs); err != nil {
			return err
		}
		if req.Saved {
			if err := work.prepare(ctx); err != nil {
				return err
			}
			if err := work.openSaved(); err != nil {
				return err
			}
			plan = work.readPlan(ctx)
			return nil
		}
		// The cheapest way that fits: a plan that is only shown needs no initialized module, a later
		// round (rule R6 of package rollout) finds it initialized, and where nothing is left to destroy
		// there is no plan: terraform would ask for inputs whose sources may be destroyed already.
		if req.NotToKeep && !req.Destroy {
			made, err := work.planNatively(ctx)
			if made != nil || err != nil {
				if made != nil {
					plan = *made
				}
				return err
			}
		}
		if !req.Again {
			if err := work.prepare(ctx); err != nil {
				return err
			}
		}
		if req.Destroy {
			if nothing, err := work.planWithout(ctx); nothing || err != nil {
				return err
			}
		}
		changes, counts, err := work.makePlan(ctx, args)
		if req.Destroy {
			err = work.explainMissing(err)
		}
		if err != nil {
			return err
		}
		plan = Plan{Outputs: wiring.Outputs{Open: true}, OutputsChange: !r.keepsOutputs, Details: r.plan}
		if r.plan != nil {
			plan.Outputs, _ = plannedOutputs(r.plan)
		}
		if changes {
			plan.Changes, plan.Complete, plan.Counts = true, true, counts
		}
		return nil
	})
	return plan, err
}

// makePlan runs the plan command, in a working copy if there are inputs that are not known.
func (w *rootWork) makePlan(ctx context.Context, args []string) (changes bool, counts *stackplan.Counts, err error) {
	if err := w.takeLatch(); err != nil {
		return false, nil, err
	}
	files := w.varFiles()
	if w.latch != nil {
		defer w.endCopy()
		if files, err = w.planInCopy(ctx); err != nil {
			return false, nil, err
		}
	}
	result, err := w.reporting(ctx, slices.Concat(args, []string{"-out=" + w.enginePlan()}, files), nil)
	if err != nil {
		return false, nil, w.explainUnknown(err)
	}
	if w.latch != nil {
		w.latch.shape = w.latch.copy.Shape
	}
	if w.latch != nil && !w.notToKeep {
		if err := w.saveLatched(); err != nil {
			return false, nil, err
		}
	}
	counts, err = w.takePlan(ctx)
	return result.ExitCode == exitChanges, counts, err
}

// exitChanges is the exit code of plans with changes.
const exitChanges = 2

// Show implements [Driver]. The file knows its workspace; selecting it could disturb another unit
// that is at work in the directory.
func (r *Root) Show(ctx context.Context) error {
	return r.during(ctx, planPhase, func(work *rootWork) error { return work.showPlan(ctx) })
}

// Apply implements [Driver].
func (r *Root) Apply(ctx context.Context, req ApplyRequest) (Applied, error) {
	phase := applyPhase
	if req.Destroy {
		phase = destroyPhase
	}
	var applied Applied
	err := r.during(ctx, phase, func(work *rootWork) error {
		files := r.varFiles() // for ephemeral variables, which no plan holds
		if work.latch != nil {
			defer work.endCopy()
			var err error
			if files, err = work.applyInCopy(); err != nil {
				return err
			}
			defer func() {
				if err := work.cleanState(); err != nil {
					work.diags = append(work.diags, failure.Warning("State not cleaned",
						"The state has results of checks that belong to no object of the module: %s. The next apply removes them.", failure.Reason(err)))
				}
			}()
		}
		done := tally{applied: RootApplied{Destroy: req.Destroy}}
		result, err := work.reporting(ctx, slices.Concat([]string{"apply", "-json", "-input=false"}, files, []string{r.enginePlan()}), done.event)
		if result == nil {
			return err
		}
		if showErr := work.view.Applied(done.of(result)); err == nil {
			applied.OutputsChanged = !r.keepsOutputs
			err = showErr
		}
		if err == nil && req.Values {
			applied.Outputs, _, err = work.storedOutputs(ctx)
		}
		return err
	})
	if _, isLost := errors.AsType[*LostOutputError](err); err != nil && !isLost {
		return Applied{}, err
	}
	return applied, err
}

func (r *Root) varFiles() []string {
	var options []string
	for _, name := range r.opts.VarFiles {
		options = append(options, "-var-file="+name)
	}
	if len(r.inputs) > 0 {
		options = append(options, "-var-file="+r.inputsFile()) // the last one wins
	}
	return options
}

// during does a phase of the work.
func (r *Root) during(ctx context.Context, phase string, do func(*rootWork) error) error {
	if err := stopped(ctx); err != nil {
		return err
	}
	work := &rootWork{Root: r, view: r.opts.Show(phase)}
	err := do(work)
	lost := errors.Join(work.view.Report(work.diags, work.compact), work.view.Close())
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		return &Failure{Diagnostics: append(work.diags, work.unsaid...), End: exit}
	}
	return withLost(err, lost)
}
