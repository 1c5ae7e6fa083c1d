// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package enginetest has the tests that every [engine.Engine] must pass.
//
// The modules in them use variables, locals, the resource type terraform_data of the built-in
// provider and outputs, in plain expressions. An engine that reads no files can pass the tests with
// [SimpleModule] and its like, which it has in another form.
// Abilities are tested of those engines that have them, with one [Provider].
package enginetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Run runs the tests. newEngine returns an engine for a stack in a directory, whose modules are
// in place by then.
func Run(t *testing.T, newEngine func(t *testing.T, stackDir string) engine.Engine) {
	tests := []struct {
		name string
		run  func(*bench)
	}{
		{"describe variables and outputs", describe},
		{"describe a module that is not there", describeMissing},
		{"validate", validate},
		{"create", create},
		{"nothing to do", noOp},
		{"update", update},
		{"replace", replace},
		{"replace on demand", replaceOnDemand},
		{"remove one resource", removeOne},
		{"destroy", destroy},
		{"refresh only", refreshOnly},
		{"unknown inputs", unknownInputs},
		{"partly known inputs", partlyKnownInputs},
		{"chain of components", chain},
		{"inputs that do not refine the plan", notRefining},
		{"plan for another state", otherState},
		{"sensitive values", sensitiveValues},
		{"variable validation", variableValidation},
		{"failing precondition", failingPrecondition},
		{"instances", instances},
		{"child module", childModule},
		{"deferred instances", deferredInstances},
		{"deferred instances that exist", deferredAgain},
		{"nothing but deferred instances", deferredWhole},
		{"deferred instances in other modes", deferredModes},
		{"deferred by other components", deferredByOthers},
		{"events", events},
		{"stop", stop},
		{"functions", functions},
		{"types", types},
		{"prepare", prepare},
		{"recover", recovery},
		{"delegate", delegate},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.run(&bench{T: t, stack: t.TempDir(), newEngine: newEngine})
		})
	}
}

// bench is one test with a stack directory of its own.
type bench struct {
	*testing.T
	stack     string
	newEngine func(t *testing.T, stackDir string) engine.Engine

	opened engine.Session
	works  int // how many were named
}

// module writes the main file of a module.
func (b *bench) module(name, source string) {
	b.Helper()
	dir := filepath.Join(b.stack, filepath.FromSlash(name))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "main.tf"), []byte(source), 0o600); err != nil {
		b.Fatal(err)
	}
}

// session returns the session, which is opened when it is first asked for.
func (b *bench) session() engine.Session {
	if b.opened == nil {
		b.opened = Open(b.T, b.newEngine(b.T, b.stack), engine.SessionOptions{StackDir: b.stack})
	}
	return b.opened
}

// reopen lets the next call open a new session, which sees the modules as they are then.
func (b *bench) reopen() { b.opened = nil }

// Open opens a session until the end of a test.
func Open(t testing.TB, e engine.Engine, opts engine.SessionOptions) engine.Session {
	t.Helper()
	session, err := e.Open(t.Context(), opts)
	if err != nil {
		t.Fatalf("opening a session of %s: %s", e.Info().Name, err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Errorf("closing a session of %s: %s", e.Info().Name, err)
		}
	})
	return session
}

// Replaced is an engine whose sessions are replaced by others, which may pass calls on to them.
type Replaced struct {
	engine.Engine
	Session func(engine.Session) engine.Session
}

// Open implements [engine.Engine].
func (e Replaced) Open(ctx context.Context, opts engine.SessionOptions) (engine.Session, error) {
	session, err := e.Engine.Open(ctx, opts)
	if err != nil {
		return nil, err
	}
	return e.Session(session), nil
}

// work names a piece of work.
func (b *bench) work() engine.WorkID {
	b.works++
	return engine.WorkID(fmt.Sprintf("%s/%d", b.Name(), b.works))
}

func (b *bench) tryPlan(req *engine.PlanRequest) (*engine.PlanResult, hcl.Diagnostics) {
	req.Work = b.work()
	return b.session().Plan(b.Context(), req, nil)
}

func (b *bench) tryApply(req *engine.ApplyRequest) (*engine.ApplyResult, hcl.Diagnostics) {
	req.Work = b.work()
	return b.session().Apply(b.Context(), req, nil)
}

func (b *bench) dir(module string) string { return filepath.Join(b.stack, filepath.FromSlash(module)) }

type values = map[string]cty.Value

// request plans a component that is named as its module.
func (b *bench) request(module string, inputs values) *engine.PlanRequest {
	return &engine.PlanRequest{
		Component: stackaddrs.AbsComponentInstance{
			Item: stackaddrs.ComponentInstance{Component: stackaddrs.Component{Name: module}},
		},
		ModuleDir: b.dir(module),
		Inputs:    inputs,
	}
}

// plan makes a plan without errors.
func (b *bench) plan(req *engine.PlanRequest) *engine.PlanResult {
	b.Helper()
	result, diags := b.tryPlan(req)
	b.noErrors("Plan", diags)
	if result == nil {
		b.Fatal("Plan returned neither a result nor errors")
	}
	return result
}

// applyRequest applies a plan, as its keeper hands it back, with final inputs.
func applyRequest(req *engine.PlanRequest, plan *engine.PlanResult, final values) *engine.ApplyRequest {
	kept := *plan
	kept.Ephemeral = nil
	return &engine.ApplyRequest{
		Component:  req.Component,
		ModuleDir:  req.ModuleDir,
		Mode:       req.Mode,
		Planned:    &kept,
		Inputs:     final,
		Providers:  req.Providers,
		PriorState: req.PriorState,

		PlannedInputs: req.Inputs, Timestamp: req.Timestamp,
	}
}

// apply applies without errors.
func (b *bench) apply(req *engine.ApplyRequest) *engine.ApplyResult {
	b.Helper()
	result, diags := b.tryApply(req)
	b.noErrors("Apply", diags)
	if result == nil {
		b.Fatal("Apply returned neither a result nor errors")
	}
	b.acknowledge(req)
	return result
}

// acknowledge says that the state is saved.
func (b *bench) acknowledge(req *engine.ApplyRequest) {
	b.Helper()
	if err := b.session().Acknowledge(b.Context(), req.Work); err != nil {
		b.Errorf("Acknowledge: %v", err)
	}
}

// planAndApply brings a component up from the state and returns the request for the next plan.
func (b *bench) planAndApply(req *engine.PlanRequest) (*engine.PlanRequest, *engine.ApplyResult) {
	b.Helper()
	result := b.apply(applyRequest(req, b.plan(req), req.Inputs))
	next := *req
	next.PriorState = result.State
	return &next, result
}

func (b *bench) noErrors(call string, diags hcl.Diagnostics) {
	b.Helper()
	if diags.HasErrors() {
		for _, diag := range diags {
			b.Errorf("%s: %s: %s", call, diag.Summary, diag.Detail)
		}
		b.FailNow()
	}
}

func (b *bench) wantErrors(call string, diags hcl.Diagnostics) {
	b.Helper()
	if !diags.HasErrors() {
		b.Fatalf("%s reported no error, want one", call)
	}
}

// wantOutput compares an output, marks included.
func (b *bench) wantOutput(outputs values, name string, want cty.Value) {
	b.Helper()
	got, ok := outputs[name]
	if !ok {
		b.Errorf("output %s is missing", name)
		return
	}
	if !got.RawEquals(want) {
		b.Errorf("output %s: got %#v, want %#v", name, got, want)
	}
}

// wantUnknown checks that an output is unknown as a whole, and of the type.
func (b *bench) wantUnknown(outputs values, name string, ty cty.Type) {
	b.Helper()
	got, ok := outputs[name]
	if !ok {
		b.Errorf("output %s is missing", name)
		return
	}
	got, _ = got.Unmark()
	if got.IsKnown() || !got.Type().Equals(ty) {
		b.Errorf("output %s: got %#v, want an unknown %s", name, got, ty.FriendlyName())
	}
}

// wantChanges compares addresses and actions, in their order.
func (b *bench) wantChanges(plan *engine.PlanResult, want ...string) {
	b.Helper()
	var got []string
	for _, change := range plan.Changes {
		got = append(got, change.Address()+" "+actionName(change.Action))
	}
	if len(got) != len(want) {
		b.Errorf("changes: got %q, want %q", got, want)
		return
	}
	for i := range got {
		if got[i] != want[i] {
			b.Errorf("change %d: got %q, want %q", i, got[i], want[i])
		}
	}
}

func actionName(action engine.Action) string {
	if action.Replaces() {
		return "replace"
	}
	return string(action)
}

func strings(elements ...string) cty.Value {
	var list []cty.Value
	for _, element := range elements {
		list = append(list, cty.StringVal(element))
	}
	return cty.ListVal(list)
}
