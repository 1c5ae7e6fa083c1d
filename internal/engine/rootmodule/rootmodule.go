// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package rootmodule plans and applies root modules of terraform or tofu in their own directories,
// with the state where their backend keeps it.
//
// An [Engine] opens a [Session] for each module. Each piece of work, which somebody watches from
// beginning to end, is a [Work] of the session: it takes plain data and returns results, and
// collects the diagnostics about them.
//
// Rules:
//
//   - M1. Only the plan that was made or opened last is applied.
//   - M2. The binary makes all plans that are applied, and applies them. A plan that is only shown
//     is the same from any engine: the native one makes it where it can, see [Work.Plan].
//   - M3. A module some of whose inputs are unknown is planned and applied in a working copy, where
//     these come through a latch. What would differ in a copy is not planned: that is a
//     [*WaitError].
//   - M4. The file of a plan, and the directory of a run, may hold secrets. Only their owner can
//     read them.
package rootmodule

import (
	"context"
	"io"
	"path/filepath"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary"
	"github.com/cairnstacks/cairn/internal/engine/native"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Engine is terraform or tofu, with the settings that all root modules of a run share.
type Engine struct {
	Path    string // of its program
	Info    engine.Info
	Options []string // of commands that print texts, not data

	WorkDir   string         // for results about the engine
	SchemaDir string         // for schemas of providers; "" for a directory in WorkDir
	Shared    *binary.Shared // with stacks

	Processes *process.Set

	// Native is shared by the plans that are made in this process. With nil, the binary makes all.
	Native *native.Shared

	textOnly sync.Map // commands that the engine does not know to report as data
}

// Options say which root module is worked on, and how.
type Options struct {
	Dir       string
	Environ   []string
	VarFiles  []string
	Workspace string // that is to be selected; "" leaves the selected one
	PlanFile  string // which holds secrets
	RunDir    string // for the reports of a running command; made when needed
}

// Session works on a root module in one of its workspaces. It is used by one goroutine at a time;
// different ones may work at the same time. Nothing depends on the working directory of this
// process.
type Session struct {
	engine *Engine
	opts   Options

	inputs    []Input
	latch     *latch // nil if all inputs were known when the plan was made
	notToKeep bool   // the plan: the contents of its file stay there
	prepared  bool   // the module is initialized, and its workspace is selected
}

// Open returns a session for a root module. Nothing is started or written.
func (e *Engine) Open(opts Options) *Session { return &Session{engine: e, opts: opts} }

// dir is the directory of the module as the engine sees it.
func (s *Session) dir() initdir.Dir { return initdir.Dir{Path: s.opts.Dir, Environ: s.opts.Environ} }

// Input is the value of a variable that the module has from others.
type Input struct {
	Name  string
	Value cty.Value // Marks: sensitive. Unknown: whole or in part, where it is not known before an apply.
	Range hcl.Range // of its expression
}

// Output takes the texts and reports of running commands. The zero value takes none.
type Output struct {
	Stdout, Stderr io.Writer       // for output of programs that is not data
	Event          engine.Observer // called one at a time; may be nil
}

// Work is a piece of work on a root module.
//
// Errors of its methods: [process.ErrStopped] if nothing was begun since everything is to stop; a
// [*process.ExitError] for work that has failed as its report says; a [*WaitError]; those of
// package process.
type Work struct {
	*Session
	out Output

	diags, printed hcl.Diagnostics
	compact        bool
}

// Begin begins a piece of work.
func (s *Session) Begin(out Output) *Work {
	if out.Stdout == nil {
		out.Stdout = io.Discard
	}
	if out.Stderr == nil {
		out.Stderr = io.Discard
	}
	return &Work{Session: s, out: out}
}

// Report is what a piece of work has found, as far as it got.
type Report struct {
	Diagnostics hcl.Diagnostics
	Printed     hcl.Diagnostics // failures of commands that report no data; their output says why
	Compact     bool            // the environment asks for warnings without details
}

// Report returns the report of the work until now.
func (w *Work) Report() Report { return Report{w.diags, w.printed, w.compact} }

// Plan is a plan of a root module.
type Plan struct {
	Changes bool              // it has some, or may have
	Counts  *stackplan.Counts // of its changes; nil if they are not known

	// OutputsChange is set unless all outputs are known to stay as they are.
	OutputsChange bool

	// Details are the plan itself, as that of a stack with nothing but the module. Nil if only its
	// engine can read it.
	Details *stackplan.Plan
}

// PlanRequest says how to plan.
type PlanRequest struct {
	Destroy   bool
	Again     bool // plan deferred changes, after an apply: everything is prepared
	NotToKeep bool // it will not be applied
}

// Plan makes a plan. It is nil where nothing is left to destroy.
//
// The cheapest way that fits is taken: a plan that is only shown needs no initialized module, one
// that is made again finds it initialized, and where nothing is left to destroy there is no plan:
// terraform would ask for inputs whose sources may be destroyed already.
func (w *Work) Plan(ctx context.Context, req PlanRequest) (*Plan, error) {
	w.latch, w.notToKeep = nil, req.NotToKeep
	if req.NotToKeep && !req.Destroy {
		if plan, err := w.planNatively(ctx); plan != nil || err != nil {
			return plan, err
		}
	}
	if !req.Again {
		if err := w.prepare(ctx); err != nil {
			return nil, err
		}
	}
	if !req.Destroy {
		return w.makePlan(ctx)
	}
	if nothing, err := w.planWithout(ctx); nothing || err != nil {
		return nil, err
	}
	plan, err := w.makePlan(ctx, "-destroy")
	return plan, w.explainMissing(err)
}

// makePlan runs the plan command, in a working copy if there are inputs that are not known.
func (w *Work) makePlan(ctx context.Context, options ...string) (*Plan, error) {
	if err := w.takeLatch(); err != nil {
		return nil, err
	}
	files := w.varFiles()
	if w.latch != nil {
		defer w.endCopy()
		var err error
		if files, err = w.planInCopy(ctx); err != nil {
			return nil, err
		}
	}
	plan, err := w.runPlan(ctx, slices.Concat(options, files))
	if err != nil {
		return nil, w.explainUnknown(err)
	}
	if w.latch != nil {
		w.latch.shape = w.latch.copy.Shape
		if !w.notToKeep {
			return plan, w.saveLatched()
		}
	}
	return plan, nil
}

// runPlan runs the plan command and reads its plan.
func (w *Work) runPlan(ctx context.Context, options []string) (*Plan, error) {
	args := slices.Concat([]string{"plan", "-json", "-input=false", "-detailed-exitcode", "-out=" + w.enginePlan()}, options)
	result, err := w.reporting(ctx, args, nil)
	if err != nil {
		return nil, err
	}
	plan, err := w.readPlan(ctx)
	if err != nil {
		return nil, err
	}
	if plan.Changes = result.ExitCode == exitChanges; !plan.Changes {
		plan.Counts = nil
	}
	return plan, nil
}

// exitChanges is the exit code of plans with changes.
const exitChanges = 2

// HasState reports whether the state has anything that may differ from its objects. The module is
// initialized for that, but no workspace is selected or made.
func (w *Work) HasState(ctx context.Context) (bool, error) {
	if err := w.initialize(ctx); err != nil {
		return false, err
	}
	if exists, err := w.nameWorkspace(ctx); err != nil || !exists {
		return false, err
	}
	empty, err := w.stateIsEmpty(ctx)
	return !empty, err
}

// PlanDrift makes a plan of the differences between the objects of the module and its state, which
// has some as [Work.HasState] says. No lock is taken.
func (w *Work) PlanDrift(ctx context.Context) (*Plan, error) {
	w.latch, w.notToKeep = nil, false
	return w.runPlan(ctx, append([]string{"-refresh-only", "-lock=false"}, w.varFiles()...))
}

// PrintPlan has the engine print the plan, which nobody else can read. Its file knows its
// workspace; selecting it could disturb another session that is at work in the directory.
func (w *Work) PrintPlan(ctx context.Context) error {
	return w.printing(ctx, []string{"show", w.enginePlan()})
}

// Applied is the result of an apply.
type Applied struct {
	Failed      bool
	Interrupted bool
	Counts      stackplan.Counts
	Outputs     map[string]cty.Value // Marks: sensitive. Sensitive values are unknown. Nil after errors
}

// Apply applies the plan. There is a result, also with an error, unless nothing was begun.
func (w *Work) Apply(ctx context.Context) (*Applied, error) {
	files := w.varFiles() // for ephemeral variables, which no plan holds
	if w.latch != nil {
		defer w.endCopy()
		var err error
		if files, err = w.applyInCopy(); err != nil {
			return nil, err
		}
		defer w.cleanState(ctx)
	}
	var done tally
	result, err := w.reporting(ctx, slices.Concat([]string{"apply", "-json", "-input=false"}, files, []string{w.enginePlan()}), done.event)
	if result == nil {
		return nil, err
	}
	applied := done.of(result)
	return &applied, err
}

// enginePlan is the file that the engine writes and reads.
func (s *Session) enginePlan() string {
	if s.latch != nil || s.notToKeep {
		return filepath.Join(s.opts.RunDir, "engine.tfplan")
	}
	return s.opts.PlanFile
}

func (s *Session) varFiles() []string {
	var options []string
	for _, name := range s.opts.VarFiles {
		options = append(options, "-var-file="+name)
	}
	if len(s.inputs) > 0 {
		options = append(options, "-var-file="+s.inputsFile()) // the last one wins
	}
	return options
}
