// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package stacktest runs stacks for tests, through the library and without a command line: a stack
// is written from a txtar archive, planned and applied, and the outcome is compared with short
// texts.
package stacktest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/rogpeppe/go-internal/txtar"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// Stack is a stack in a directory of the test, with its state. Made by [InMemory], [Real] or
// [Native].
type Stack struct {
	Dir string

	// Inputs are given to the next plans. Those named in Ephemeral are given to applies, too.
	Inputs    map[string]cty.Value
	Ephemeral map[string]cty.Value

	State  *stackstate.State
	Engine engine.Engine
	Hooks  hooks.Hooks

	// Locks are the versions in the provider lock file. [Real] and [Native] read them before each
	// operation.
	Locks map[stackaddrs.Provider]string

	// Store is where the objects of the fake provider are, and Calls the file in which it records
	// requests. Not of [InMemory].
	Store testprovider.Store
	Calls string

	// Parallelism is as in [engine.SessionOptions].
	Parallelism int

	// LeaveUnknown is as in [stackruntime.ApplyRequest].
	LeaveUnknown bool

	t *testing.T
}

// InMemory writes a stack which runs on a [Memory]. Options may be left out.
func InMemory(t *testing.T, archive string, options ...memengine.Options) *Stack {
	t.Helper()
	s := newStack(t, archive)
	opts := memengine.Options{}
	if len(options) > 0 {
		opts = options[0]
	}
	s.Engine = NewMemory(t, s.workDir(), opts)
	return s
}

func newStack(t *testing.T, archive string) *Stack {
	t.Helper()
	s := &Stack{
		Dir: t.TempDir(), Inputs: map[string]cty.Value{}, Ephemeral: map[string]cty.Value{},
		State: stackstate.New(), Parallelism: 4, t: t,
	}
	s.Write(archive)
	return s
}

// Write writes the files of a txtar archive over those of the stack. An empty one removes a file.
func (s *Stack) Write(archive string) {
	s.t.Helper()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(s.Dir, filepath.FromSlash(f.Name))
		if len(bytes.TrimSpace(f.Data)) == 0 {
			if err := os.Remove(name); err == nil {
				continue
			}
		}
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			s.t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			s.t.Fatal(err)
		}
	}
}

// Options loads the configuration and installs its requirements.
func (s *Stack) Options() (stackruntime.Options, hcl.Diagnostics) {
	s.t.Helper()
	config, diags := stackconfig.Load(s.Dir)
	session := s.Open()
	if preparer := session.Abilities().Preparer; !diags.HasErrors() && preparer != nil {
		_, moreDiags := preparer.Prepare(s.t.Context(), &engine.PrepareRequest{
			Modules: config.ModuleDirs(), Requirements: config.Requirements(),
		})
		diags = diags.Extend(moreDiags)
		var err error
		if s.Locks, err = preparer.Locks(s.t.Context()); err != nil && !diags.HasErrors() {
			s.t.Fatal(err)
		}
	}
	return stackruntime.Options{Config: config, Session: session, Hooks: s.Hooks, Locks: s.Locks}, diags
}

// Open opens a session of the engine until the end of the test.
func (s *Stack) Open() engine.Session {
	s.t.Helper()
	return enginetest.Open(s.t, s.Engine, engine.SessionOptions{StackDir: s.Dir, Parallelism: s.Parallelism})
}

// Validate loads and checks the configuration.
func (s *Stack) Validate() hcl.Diagnostics {
	opts, diags := s.Options()
	if diags.HasErrors() {
		return diags
	}
	return diags.Extend(stackruntime.Validate(s.t.Context(), opts))
}

// TryPlan plans and returns the plan with its diagnostics. If the configuration can't be loaded,
// the plan is nil.
func (s *Stack) TryPlan(mode engine.Mode, adjust ...func(*stackruntime.PlanRequest)) (*stackplan.Plan, hcl.Diagnostics) {
	opts, diags := s.Options()
	if diags.HasErrors() {
		return nil, diags
	}
	inputs := maps.Clone(s.Inputs)
	maps.Copy(inputs, s.Ephemeral)
	req := stackruntime.PlanRequest{Options: opts, Mode: mode, Prior: s.State, Inputs: inputs}
	for _, change := range adjust {
		change(&req)
	}
	plan, more := stackruntime.Plan(s.t.Context(), req)
	return plan, diags.Extend(more)
}

// Plan plans without an error, or ends the test.
func (s *Stack) Plan(mode engine.Mode, adjust ...func(*stackruntime.PlanRequest)) *stackplan.Plan {
	s.t.Helper()
	plan, diags := s.TryPlan(mode, adjust...)
	if diags.HasErrors() {
		s.t.Fatalf("plan:\n%s", Explain(diags))
	}
	return plan
}

// TryApply applies a plan that went through a plan file. The state afterwards is that of the stack.
func (s *Stack) TryApply(plan *stackplan.Plan, adjust ...func(*stackruntime.ApplyRequest)) (*stackruntime.ApplyResult, hcl.Diagnostics) {
	s.t.Helper()
	opts, diags := s.Options()
	if diags.HasErrors() {
		s.t.Fatalf("apply:\n%s", Explain(diags))
	}
	req := stackruntime.ApplyRequest{Options: opts, Plan: s.reread(plan), Prior: s.State, Inputs: s.Ephemeral, LeaveUnknown: s.LeaveUnknown}
	for _, change := range adjust {
		change(&req)
	}
	result, more := stackruntime.Apply(s.t.Context(), req)
	s.State = s.reload(result.State)
	return result, diags.Extend(more)
}

// reload stores a state in memory and loads it again, as every command does.
func (s *Stack) reload(state *stackstate.State) *stackstate.State {
	s.t.Helper()
	records, err := state.Records()
	if err != nil {
		s.t.Fatalf("storing the state: %s", err)
	}
	loaded, err := stackstate.FromRecords(records)
	if err != nil {
		s.t.Fatalf("loading the state: %s", err)
	}
	return loaded
}

// reread writes a plan to a file in memory and reads it back.
func (s *Stack) reread(plan *stackplan.Plan) *stackplan.Plan {
	s.t.Helper()
	var file bytes.Buffer
	if _, err := stackplan.Write(&file, plan, stackplan.FileContext{}); err != nil {
		s.t.Fatalf("writing the plan file: %s", err)
	}
	reread, _, err := stackplan.ReadFrom(bytes.NewReader(file.Bytes()), int64(file.Len()))
	if err != nil {
		s.t.Fatalf("reading the plan file: %s", err)
	}
	return reread
}

// Apply applies without an error, or ends the test.
func (s *Stack) Apply(plan *stackplan.Plan, adjust ...func(*stackruntime.ApplyRequest)) *stackruntime.ApplyResult {
	s.t.Helper()
	result, diags := s.TryApply(plan, adjust...)
	if diags.HasErrors() {
		s.t.Fatalf("apply:\n%s", Explain(diags))
	}
	return result
}

// Converge plans and applies in the normal mode, without an error.
func (s *Stack) Converge() *stackruntime.ApplyResult {
	s.t.Helper()
	return s.Apply(s.Plan(engine.Normal))
}
