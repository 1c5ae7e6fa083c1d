// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hcldec"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/engine/remote/remotetest"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// stack is a stack whose components are in a pool.
type stack struct {
	*testing.T
	dir     string
	calls   string // file with the calls of providers
	workers *remotetest.Workers
	works   int
}

const required = `
terraform {
  required_providers {
    fake = { source = "registry.terraform.io/cairnstacks/fake" }
  }
}
`

// newStack returns a stack with modules, by their names, and workers for it.
func newStack(t *testing.T, opts remote.ServerOptions, modules map[string]string) *stack {
	t.Helper()
	testenv.CLIConfig(t, testenv.FakeProviderMirror(t))
	s := &stack{T: t, dir: t.TempDir(), calls: filepath.Join(t.TempDir(), "calls")}
	t.Setenv(testprovider.CallsVariable, s.calls)
	t.Setenv(testprovider.StoreVariable, t.TempDir())
	if opts.Open == nil {
		opts.Open = openNative
	}
	s.workers = remotetest.New(t, opts)
	for name, source := range modules {
		s.must(os.MkdirAll(filepath.Join(s.dir, name), 0o700))
		s.must(os.WriteFile(filepath.Join(s.dir, name, "main.tf"), []byte(required+source), 0o600))
	}
	return s
}

func (s *stack) must(err error) {
	s.Helper()
	if err != nil {
		s.Fatal(err)
	}
}

// program is a program that works on the stack.
type program struct {
	*stack
	transport *remotetest.Program
	session   engine.Session
	running   sync.WaitGroup
}

var secret = []byte("secret")

// start starts a program with a work directory, whose state knows of an earlier one what the
// purpose says.
func (s *stack) start(workDir string, purpose engine.Purpose) *program {
	s.Helper()
	local, err := openNative(workDir)
	s.must(err)
	p := &program{stack: s, transport: s.workers.Program(s.dir)}
	e := remote.New(remote.Options{Local: local, Pool: everything, Transport: p.transport})
	p.session, err = e.Open(s.Context(), engine.SessionOptions{StackDir: s.dir})
	s.must(err)
	s.Cleanup(func() { p.end() })
	purpose.Secret = secret
	p.session.Abilities().Recoverer.Bind(purpose)
	entries, err := os.ReadDir(s.dir)
	s.must(err)
	var modules []string
	for _, entry := range entries {
		if entry.IsDir() && entry.Name() != ".cairn" {
			modules = append(modules, filepath.Join(s.dir, entry.Name()))
		}
	}
	_, diags := p.session.Abilities().Preparer.Prepare(s.Context(), &engine.PrepareRequest{Modules: modules})
	s.noErrors("Prepare", diags)
	return p
}

// end closes the session, once.
func (p *program) end() {
	if p.session != nil {
		p.must(p.session.Close())
		p.session = nil
	}
}

// die ends the program with all that it does.
func (p *program) die() {
	p.transport.Die()
	p.running.Wait()
	p.end() // which writes nothing into the record, and gives up the lock on it
}

func (s *stack) noErrors(call string, diags hcl.Diagnostics) {
	s.Helper()
	if diags.HasErrors() {
		s.Fatalf("%s: %v", call, diags)
	}
}

func (s *stack) work() engine.WorkID {
	s.works++
	return engine.WorkID(fmt.Sprintf("%s/%d", s.Name(), s.works))
}

type values = map[string]cty.Value

// plan plans the component of a module, with provider settings.
func (p *program) plan(module string, inputs, settings values) (*engine.ApplyRequest, hcl.Diagnostics) {
	p.Helper()
	fake := stackaddrs.Provider{Hostname: "registry.terraform.io", Namespace: "cairnstacks", Type: "fake"}
	schema, diags := p.session.ProviderSchema(p.Context(), fake)
	p.noErrors("ProviderSchema", diags)
	config := values{}
	for name, ty := range hcldec.ImpliedType(schema.Config.Spec()).AttributeTypes() {
		config[name] = cty.NullVal(ty)
		if ty.IsListType() {
			config[name] = cty.ListValEmpty(ty.ElementType())
		} else if ty.IsSetType() && schema.Config.Blocks[name].Nesting != "" {
			config[name] = cty.SetValEmpty(ty.ElementType())
		}
	}
	for name, value := range settings {
		config[name] = value
	}
	addr, err := stackaddrs.ParseAbsComponentInstance("component." + module)
	p.must(err)
	req := &engine.PlanRequest{
		Work: p.work(), Component: addr, ModuleDir: filepath.Join(p.dir, module), Inputs: inputs, Timestamp: time.Now(),
		Providers: map[engine.ProviderSlot]engine.ProviderConfig{{LocalName: "fake"}: {Provider: fake, Config: cty.ObjectVal(config)}},
	}
	result, diags := p.session.Plan(p.Context(), req, nil)
	if result == nil {
		return nil, diags
	}
	planned := *result
	planned.Ephemeral = nil
	return &engine.ApplyRequest{
		Work: p.work(), Component: addr, ModuleDir: req.ModuleDir, Planned: &planned, PlannedInputs: inputs, Timestamp: req.Timestamp,
		Inputs: inputs, Providers: req.Providers,
	}, diags
}

// mustPlan is plan without errors.
func (p *program) mustPlan(module string, inputs values) *engine.ApplyRequest {
	p.Helper()
	req, diags := p.plan(module, inputs, nil)
	p.noErrors("Plan", diags)
	return req
}

// applied is the end of an apply that goes on meanwhile.
type applied struct {
	result *engine.ApplyResult
	diags  hcl.Diagnostics
}

// begin applies while the test goes on.
func (p *program) begin(ctx context.Context, req *engine.ApplyRequest) <-chan applied {
	end := make(chan applied, 1)
	p.running.Go(func() {
		result, diags := p.session.Apply(ctx, req, nil)
		end <- applied{result, diags}
	})
	return end
}

// newGate returns a gate that is open after the test, if not before: workers are waited for then.
func (s *stack) newGate() string {
	gate := filepath.Join(s.TempDir(), "gate")
	s.Cleanup(func() { s.open(gate) })
	return gate
}

func (s *stack) open(gate string) { s.must(os.WriteFile(gate, nil, 0o600)) }

// wantCreated compares the types of all objects whose creation was asked for, each time.
func (s *stack) wantCreated(want ...string) {
	s.Helper()
	calls, err := testprovider.ReadCalls(s.calls)
	s.must(err)
	var got []string
	for _, call := range calls {
		if call.RPC == "ApplyResourceChange" && !call.Finished {
			got = append(got, call.Action+" "+call.Type)
		}
	}
	if !slices.Equal(got, want) {
		s.Errorf("asked of providers: %q, want %q", got, want)
	}
}

// wantObjects compares the objects of a state.
func (s *stack) wantObjects(state engine.State, want ...string) {
	s.Helper()
	objects, err := tfstate.ParseObjects(state)
	s.must(err)
	var got []string
	for _, object := range objects {
		got = append(got, object.Addr.String())
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		s.Errorf("objects: %q, want %q", got, want)
	}
}

// wantError checks that there is an error with a summary and a text in its detail.
func (s *stack) wantError(diags hcl.Diagnostics, summary, detail string) {
	s.Helper()
	if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool {
		return diag.Severity == hcl.DiagError && diag.Summary == summary && strings.Contains(diag.Detail, detail)
	}) {
		s.Errorf("got %v, want %q with %q", diags, summary, detail)
	}
}
