// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackeval

import (
	"context"
	"errors"
	"iter"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/lang"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/reference"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/applying"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/claims"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/components"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/expr"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/memo"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/planning"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/providerfunc"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/work"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Main is the root of the objects of one operation, and holds the options of the operation.
type Main struct {
	phase     expr.EvalPhase
	session   engine.Session
	hooks     hooks.Hooks
	locks     map[stackaddrs.Provider]string
	funcs     map[string]function.Function
	functions providerfunc.Functions
	works     *work.Operation
	panics    maintask.Panics

	functionOptions lang.Options

	planning   *PlanOptions
	querying   bool // a component is queried, and none is planned
	applying   *ApplyOptions
	inspecting *InspectOptions

	// Of an apply only.
	changes *applying.Results
	saving  chan struct{} // has an element while a change is being saved that others must not overlap

	movedBlocks []*stackconfig.MovedIn
	movedBy     map[stackaddrs.AbsComponentInstance]movedInstance // by the addresses they have now; while planning

	config *StackConfig
	files  map[string]*hcl.File // by their names in ranges
	stack  *Stack               // nil while validating

	sound SoundComponents // not to be checked again; while validating

	hasDependents memo.Memo[map[stackaddrs.AbsComponent]bool]

	// Made when first asked for.
	references     func() *reference.Graph
	existing       func() *claims.Existing
	recordedCycles func() map[stackaddrs.AbsComponent]int
	recordedUsers  func() components.Graph
	selected       memo.Memo[*planning.Selection]
}

// Options are the options of all operations.
type Options struct {
	Config  *stackconfig.Config
	Session engine.Session
	Hooks   hooks.Hooks

	// Operation is the prefix of the names of all work that the engine is given. No other operation
	// may have had it. Empty stands for one made up.
	Operation string

	// StopNow is closed when running work is to end now, after the context of the operation has ended.
	// Nil is never closed.
	StopNow <-chan struct{}

	// Locks are the selected versions of all providers that have one, and empty for those that
	// need none. Nil turns the checks against the lock file off.
	Locks map[stackaddrs.Provider]string
}

// PlanOptions are the options of planning.
type PlanOptions struct {
	Mode        engine.Mode
	Inputs      map[string]cty.Value // root variables that were given a value
	Prior       *stackstate.State
	Timestamp   time.Time
	SkipRefresh bool
	Replace     map[stackaddrs.AbsComponentInstance][]string
	Targets     []stackaddrs.AbsComponentInstance
	Excludes    []stackaddrs.AbsComponentInstance

	// Requested are the actions to invoke, in mode Invoke, by component instances. Without a key, all
	// instances are meant.
	Requested map[stackaddrs.AbsComponentInstance]engine.Requested

	GenerateConfig bool
}

// ApplyOptions are the options of applying.
type ApplyOptions struct {
	Plan   *stackplan.Plan
	Prior  *stackstate.State
	Inputs map[string]cty.Value // of root variables that the plan does not hold, and others if unchanged

	LeaveUnknown bool // root variables that were unknown while planning need no value

	Progress stackplan.Progress // of earlier applies of the plan, whose result Prior is

	// Save is called for each change of the state as soon as it is known. Calls do not overlap, unless
	// SavesTogether. After an error no further change is begun. That is all that [ErrBeginNothing]
	// means.
	Save func(context.Context, applying.StateChange) error

	SavesTogether bool // changes of different component instances

	renamed []stackstate.Renaming // the moves of the plan, as carried out in Prior
}

// ErrBeginNothing is returned for a change that was saved, when no further one
// may be begun.
var ErrBeginNothing = errors.New("the change was saved, and nothing more is to be begun")

// InspectOptions are the options of evaluating against a state.
type InspectOptions struct {
	State  *stackstate.State
	Inputs map[string]cty.Value
}

// NewForValidating returns the root of an evaluation that knows the
// configuration only.
func NewForValidating(opts Options) *Main {
	return newMain(expr.ValidatePhase, opts, time.Now().UTC())
}

// NewForPlanning returns the root of an evaluation that makes a plan.
func NewForPlanning(opts Options, planning PlanOptions) *Main {
	m := newMain(expr.PlanPhase, opts, planning.Timestamp)
	m.planning = &planning
	m.stack = newRootStack(m)
	return m
}

// NewForApplying returns the root of an evaluation that carries out a plan.
func NewForApplying(opts Options, apply ApplyOptions) *Main {
	m := newMain(expr.ApplyPhase, opts, apply.Plan.Timestamp)
	if apply.Progress == nil { // else an earlier apply has begun with that
		moved := apply.Prior.Renamed(apply.Plan.Moved)
		apply.renamed = applying.Renamings(apply.Prior, moved, apply.Plan.Moved)
		apply.Prior = moved
	}
	m.applying = &apply
	m.functions.Start(apply.Plan.FunctionResults)
	m.saving = make(chan struct{}, 1)
	m.stack = newRootStack(m)
	return m
}

// NewForInspecting returns the root of an evaluation that looks at a state.
func NewForInspecting(opts Options, inspecting InspectOptions) *Main {
	m := newMain(expr.InspectPhase, opts, time.Now().UTC())
	m.inspecting = &inspecting
	m.stack = newRootStack(m)
	return m
}

func newMain(phase expr.EvalPhase, opts Options, timestamp time.Time) *Main {
	m := &Main{
		phase:   phase,
		session: opts.Session,
		hooks:   opts.Hooks,
		locks:   opts.Locks,
		works: work.NewOperation(work.Options{
			Name: opts.Operation, Session: opts.Session, StopNow: opts.StopNow, Watch: opts.Hooks.ComponentWork,
		}),
		functions: providerfunc.Functions{Optional: phase == expr.ValidatePhase},
		functionOptions: lang.Options{
			BaseDir:       opts.Config.BaseDir,
			Within:        opts.Config.FilesWithin,
			Allowance:     lang.AllowanceFor(opts.Config.FilesWithin),
			PlanTimestamp: timestamp,
			PureOnly:      phase != expr.ApplyPhase,
		},
	}
	m.funcs = lang.Functions(m.functionOptions)
	if opts.Session != nil { // an inspection may need none
		m.functions.Caller = opts.Session.Abilities().Functions
	}
	m.movedBlocks, m.files = opts.Config.Moved, opts.Config.Files
	m.config = newStackConfig(m, opts.Config.Root, nil)
	m.references = sync.OnceValue(func() *reference.Graph { return reference.New(opts.Config.Root) })
	m.existing = sync.OnceValue(func() *claims.Existing { return claims.FindExisting(m.componentInstances()) })
	m.recordedUsers = sync.OnceValue(func() components.Graph { return components.Users(m.prior()) })
	m.recordedCycles = sync.OnceValue(func() map[stackaddrs.AbsComponent]int { return components.RecordedCycles(m.prior()) })
	return m
}

// timestamp is the time of the plan that is made or applied.
func (m *Main) timestamp() time.Time {
	if m.applying != nil {
		return m.applying.Plan.Timestamp
	}
	return m.planning.Timestamp
}

// prior is the state before the operation, empty while validating.
func (m *Main) prior() *stackstate.State {
	switch {
	case m.planning != nil:
		return m.planning.Prior
	case m.applying != nil:
		return m.applying.Prior
	case m.inspecting != nil:
		return m.inspecting.State
	default:
		return noState
	}
}

// noState is the prior state of a validation. Made where it is needed, it would take room on the
// stack of each task that asks for the prior state, one and a half kilobytes that stay for as long
// as the task waits.
var noState = stackstate.New()

// destroying reports whether the operation takes the whole stack down.
func (m *Main) destroying() bool { return m.mode() == engine.Destroy }

// mode is the mode of the plan that is made or carried out.
func (m *Main) mode() engine.Mode {
	switch {
	case m.planning != nil:
		return m.planning.Mode
	case m.applying != nil:
		return m.applying.Plan.Mode
	default:
		return engine.Normal
	}
}

// disposition is the fate of the components of the root stack.
func (m *Main) disposition() disposition {
	if m.destroying() {
		return destroyed
	}
	return stays
}

// EvalExpr evaluates an expression in the scope of a stack instance.
func (m *Main) EvalExpr(ctx context.Context, e hcl.Expression, stack stackaddrs.StackInstance) (cty.Value, hcl.Diagnostics) {
	return maintask.Run(ctx, &m.panics, func(ctx context.Context) (cty.Value, hcl.Diagnostics) {
		scope := m.stackInstance(ctx, stack)
		if scope == nil {
			return cty.DynamicVal, hcl.Diagnostics{failure.New("Unknown stack", "The configuration has no stack instance %s.", stack)}
		}
		value, diags := expr.EvalExpr(ctx, e, m.phase, scope)
		return expr.WithoutFailed(value), diags
	})
}

// RootOutputs returns the root outputs, without those that cannot be evaluated.
func (m *Main) RootOutputs(ctx context.Context) map[string]cty.Value {
	values := map[string]cty.Value{}
	//nolint:errcheck // whatever keeps an output from a value, it has none
	_, _ = maintask.Run(ctx, &m.panics, func(ctx context.Context) (struct{}, hcl.Diagnostics) {
		for name, output := range m.stack.outputs {
			if value, diags := output.CheckValue(ctx); !diags.HasErrors() {
				values[name] = expr.WithoutFailed(value)
			}
		}
		return struct{}{}, nil
	})
	return values
}

// componentInstances iterates over the component instances in the prior state or, while applying,
// in the plan.
func (m *Main) componentInstances() iter.Seq[stackaddrs.AbsComponentInstance] {
	return func(yield func(stackaddrs.AbsComponentInstance) bool) {
		if m.applying == nil {
			for addr := range m.prior().Components {
				if !yield(addr) {
					return
				}
			}
			return
		}
		for _, plan := range m.applying.Plan.Components {
			if !yield(plan.Addr) {
				return
			}
		}
	}
}
