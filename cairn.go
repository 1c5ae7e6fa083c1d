// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairn

import (
	"context"
	"log/slog"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Options say which stack is opened, and how. A field with the zero value is taken from the
// environment or from the settings file cairn.hcl of the stack, or has the usual value.
type Options struct {
	Dir        string // of the stack; the current directory if empty
	WorkDir    string // for the data kept between operations; .cairn next to the stack if empty
	State      string // path of the state
	Deployment string // which of several states of the stack; "default" if empty
	Engine     string // "auto", which is usual, "native", or the path or name of a binary

	// ModulesEngine plans and applies modules. Nil stands for the engine that Engine names.
	ModulesEngine engine.Engine

	// Environ is the environment of the operations, and of the programs that they start, as
	// [os.Environ] has it. Paths in it are relative to the directory of the stack. Nil stands for the
	// environment of this program.
	Environ []string

	// StopNow is closed by a caller that waits for the end of an operation that it has interrupted
	// (rule C4). Nil is never closed.
	StopNow <-chan struct{}

	ReadOnlyLocks bool          // no version of a provider is chosen that is not locked
	LockTimeout   time.Duration // how long to wait for somebody else's lock of the state; 0 is not at all
	Log           *slog.Logger  // gets names, addresses and processes, never values; nil logs nothing
}

// Stack is a stack as one caller uses it, with everything opened so far. Its operations may be
// called one after the other. The configuration and the settings are read once, and the number of
// components worked on at a time is settled by the first operation: open a stack anew after files
// have changed.
type Stack struct{ operations *operation.Stack }

// Open returns a stack of which nothing was read yet. The caller closes it.
func Open(opts Options) *Stack {
	return &Stack{operation.Open(operation.Options{
		Env: env.Options{
			Dir: opts.Dir, WorkDir: opts.WorkDir, State: opts.State, Deployment: opts.Deployment, Environ: opts.Environ, Log: opts.Log,
		},
		Engine:        engines.Request{Named: opts.Engine, NamedBy: "the caller", Given: opts.ModulesEngine},
		ReadOnlyLocks: opts.ReadOnlyLocks, LockTimeout: opts.LockTimeout, StopNow: opts.StopNow,
	})}
}

// ErrInterrupted is the cause with which a caller ends the context of an operation that is to stop
// (rule C4).
var ErrInterrupted = operation.ErrInterrupted

// ApproveAll approves every plan. It is a [Caller.Approve].
func ApproveAll(ctx context.Context, plan *stackplan.Plan, warnings hcl.Diagnostics) error {
	return operation.ApproveAll(ctx, plan, warnings)
}

// Validate finds the mistakes of the configuration. It takes neither values nor a state, but an
// engine and the providers, which are installed.
func (s *Stack) Validate(ctx context.Context) hcl.Diagnostics { return s.operations.Validate(ctx) }

// Plan makes a plan and saves it in a file, unless the file's name is empty. Nothing is changed,
// except that the results of an apply that was cut off are recovered into the state.
//
// The plan is nil if there is none. With error diagnostics it holds the part that could be planned,
// and is not saved.
func (s *Stack) Plan(ctx context.Context, req Request, caller Caller, file string) (*stackplan.Plan, hcl.Diagnostics) {
	planned, diags := s.operations.Plan(ctx, req.operation(), caller.operation(), file)
	return planned.Plan, s.end(diags)
}

// ApplyFile applies a plan that [Stack.Plan] or "cairn plan" has saved, exactly as it is. A file
// that does not fit the configuration, the state, the deployment or the engine any more is an
// error, before anything is done. Changes that an apply of the same file has left undone, as it was
// interrupted or has failed, are made by the next one. Nobody is asked to approve it.
//
// Of the request count only the values of variables, Parallelism and AcceptRecovery.
func (s *Stack) ApplyFile(ctx context.Context, file string, req Request, caller Caller) hcl.Diagnostics {
	plan, made, err := s.operations.ReadPlan(ctx, file)
	if err != nil {
		return operation.Diagnostics(err)
	}
	return s.end(s.operations.ApplySaved(ctx, plan, made, req.operation(), caller.operation()))
}

// Apply plans, has the plan approved by the caller, and applies it. While something is deferred
// that may be known after that, it does so again, up to [Request.Rounds] times, and each plan is
// approved. A plan that changes nothing is not approved.
//
// With error diagnostics, some of it may have been done. Whatever was done is in the state.
func (s *Stack) Apply(ctx context.Context, req Request, caller Caller) hcl.Diagnostics {
	return s.end(s.operations.Apply(ctx, req.operation(), caller.operation()))
}

// end ends an operation whose diagnostics the caller gets, and adds those about recovered work.
func (s *Stack) end(diags hcl.Diagnostics) hcl.Diagnostics {
	return diags.Extend(operation.Diagnostics(s.operations.Acknowledge(true)))
}

// ProviderSchemas returns the schemas of the stack's providers as "terraform providers schema
// -json" writes them. Providers that are not there yet are installed.
func (s *Stack) ProviderSchemas(ctx context.Context) ([]byte, hcl.Diagnostics) {
	return s.operations.ProviderSchemas(ctx)
}

// Outputs returns the outputs of the last apply, by name. There are none before the first one.
//
// Unknown: in whole or in part, where that apply failed or deferred an object that a value depends
// on. Marks: sensitive ones are kept.
func (s *Stack) Outputs(ctx context.Context) (map[string]cty.Value, error) {
	return s.operations.States().Outputs(ctx)
}

// Files are the sources of diagnostics, by the names in their ranges, as
// [hcl.NewDiagnosticTextWriter] takes them.
func (s *Stack) Files() map[string]*hcl.File { return s.operations.Env().Files }

// Close releases the resources of the stack. All that matters was saved before.
func (s *Stack) Close() error { return s.operations.Close() }
