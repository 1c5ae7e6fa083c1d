// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testprovider"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/engine/enginetest"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Marks and unknown values are the same on both machines, and ephemeral values get to providers
// without being stored.
func TestValues(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{"m": `
variable "secret" { 
  type      = string
  sensitive = true
}
variable "token" {
  type      = string
  ephemeral = true
}
resource "fake_resource" "a" { value = var.secret }
resource "fake_writeonly" "b" {
  secret         = var.token
  secret_version = 1
}
output "secret" { 
  value     = fake_resource.a.value
  sensitive = true
}
output "token" { 
  value     = var.token
  ephemeral = true
}
`})
	t.Setenv(testprovider.ValuesVariable, "1")
	p := s.start(t.TempDir(), engine.Purpose{})
	token := cty.StringVal("planted token").Mark(marks.Ephemeral)
	settings := values{"token": cty.StringVal("planted password").WithMarks(cty.NewValueMarks(marks.Sensitive, marks.Ephemeral))}
	req, diags := p.plan("m", values{"secret": cty.UnknownVal(cty.String).Mark(marks.Sensitive), "token": token}, settings)
	s.noErrors("Plan", diags)
	if secret := req.Planned.Outputs["secret"]; !secret.HasMark(marks.Sensitive) || secret.IsKnown() || secret.Type() != cty.String {
		t.Errorf("planned output: got %#v, want an unknown sensitive string", secret)
	}
	req.Inputs = values{"secret": cty.StringVal("v").Mark(marks.Sensitive), "token": token}
	req.PlannedInputs = values{"secret": req.PlannedInputs["secret"], "token": cty.NullVal(cty.String).Mark(marks.Ephemeral)}
	result, diags := p.session.Apply(t.Context(), req, nil)
	s.noErrors("Apply", diags)
	s.must(p.session.Acknowledge(t.Context(), req.Work))
	if want := cty.StringVal("v").Mark(marks.Sensitive); !result.Outputs["secret"].RawEquals(want) {
		t.Errorf("output: got %#v, want %#v", result.Outputs["secret"], want)
	}
	if !result.Ephemeral["token"].RawEquals(token) {
		t.Errorf("ephemeral output: got %#v, want %#v", result.Ephemeral["token"], token)
	}
	if strings.Contains(string(result.State), "planted") {
		t.Errorf("the state has an ephemeral value: %s", result.State)
	}
	calls, err := testprovider.ReadCalls(s.calls)
	s.must(err)
	if !slices.ContainsFunc(calls, func(call testprovider.Call) bool { return string(call.WriteOnly["secret"]) == `"planted token"` }) {
		t.Error("the provider did not get the ephemeral value")
	}
	if !slices.ContainsFunc(calls, func(call testprovider.Call) bool {
		return call.RPC == "ConfigureProvider" && strings.Contains(string(call.Config), "planted password")
	}) {
		t.Error("the provider did not get the ephemeral part of its configuration")
	}
}

// Objects are found by workers, too, and described in this process.
func TestQuery(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{"m": `resource "fake_identity" "a" { value = "v" }`})
	query := []byte("list \"fake_identity\" \"all\" {\n  provider         = fake\n  include_resource = true\n}\n")
	s.must(os.WriteFile(filepath.Join(s.dir, "m", "all.tfquery.hcl"), query, 0o600))
	p := s.start(t.TempDir(), engine.Purpose{})
	req := p.mustPlan("m", nil)
	_, diags := p.session.Apply(t.Context(), req, nil)
	s.noErrors("Apply", diags)
	s.must(p.session.Acknowledge(t.Context(), req.Work))
	found, diags := p.session.Abilities().Querier.Query(t.Context(), &engine.QueryRequest{
		Work: s.work(), Component: req.Component, ModuleDir: req.ModuleDir, Inputs: values{}, Providers: req.Providers,
	}, nil)
	s.noErrors("Query", diags)
	if len(found.Objects) != 1 || found.Objects[0].List != "list.fake_identity.all" ||
		!found.Objects[0].Object.GetAttr("value").RawEquals(cty.StringVal("v")) {
		t.Errorf("got %+v, want one object", found.Objects)
	}
	if begun := s.workers.Begun(s.Name() + "/3"); begun != 1 {
		t.Errorf("workers have begun %d queries, want one", begun)
	}
}

// A worker of another version does nothing (rule R6), and leaves nothing behind.
func TestOtherVersion(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{"m": `resource "fake_resource" "a" {}`})
	dir := t.TempDir()
	p := s.start(dir, engine.Purpose{})
	req := p.mustPlan("m", nil)
	other := newStack(t, remote.ServerOptions{Version: "v9.9.9"}, nil)
	other.dir = s.dir
	next := other.start(dir, engine.Purpose{})
	_, diags := next.plan("m", nil, nil)
	s.wantError(diags, "Worker of another version", "has cairn v9.9.9")
	result, diags := next.session.Apply(t.Context(), req, nil)
	s.wantError(diags, "Worker of another version", "Nothing was done")
	if result != nil {
		t.Errorf("got %+v, want no result", result)
	}
	other.wantCreated()
	if found, err := s.start(dir, engine.Purpose{}).session.Abilities().Recoverer.Unfinished(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("unfinished: %+v and %v", found, err)
	}
}

// A plan of another engine is not applied.
func TestOtherEngine(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{"m": `resource "fake_resource" "a" {}`})
	p := s.start(t.TempDir(), engine.Purpose{})
	req := p.mustPlan("m", nil)
	req.Planned.Engine.Version = "0"
	result, diags := p.session.Apply(t.Context(), req, nil)
	s.wantError(diags, "Engine of the plan not found", "made by native 0, and the worker has native 1")
	if result != nil {
		t.Errorf("got %+v, want no result", result)
	}
}

// Work that is asked to stop finishes what it has begun (rule R5), also if somebody waits.
func TestStop(t *testing.T) {
	for name, how := range map[string]engine.Urgency{"gracefully": engine.Gracefully, "now": engine.Now} {
		t.Run(name, func(t *testing.T) {
			u := newUnderWay(t)
			u.must(u.program.session.Stop(t.Context(), u.req.Work, how))
			testenv.AwaitFile(t, u.gate+".stopped")
			u.open(u.gate)
			end := testenv.Receive(t, "the apply ends", u.end)
			u.wantError(end.diags, "Apply stopped", "create fake_computed.third")
			u.wantObjects(end.result.State, "fake_resource.first", "fake_slow.second")
			u.must(u.program.session.Acknowledge(t.Context(), u.req.Work))
			u.wantCreated("create fake_resource", "create fake_slow")
		})
	}
}

// The end of a context asks the worker to stop, and its answer is awaited.
func TestEndOfContext(t *testing.T) {
	u := newUnderWay(t)
	u.open(u.gate)
	u.noErrors("Apply", testenv.Receive(t, "the apply ends", u.end).diags)
	u.must(u.program.session.Acknowledge(t.Context(), u.req.Work))
	gate := u.newGate()
	req := u.program.mustPlan("m", values{"gate": cty.StringVal(gate)})
	ctx, cancel := context.WithCancel(t.Context())
	end := u.program.begin(ctx, req)
	testenv.AwaitFile(t, gate+".reached")
	cancel()
	testenv.AwaitFile(t, gate+".stopped")
	u.open(gate)
	got := testenv.Receive(t, "the apply ends", end)
	u.wantObjects(got.result.State, "fake_resource.first", "fake_slow.second")
	u.must(u.program.session.Acknowledge(t.Context(), req.Work))
}

// Components of one session share processes of providers on a worker, which end when the session is
// idle (rule R8).
func TestWarmProviders(t *testing.T) {
	s := newStack(t, remote.ServerOptions{Idle: time.Hour}, map[string]string{
		"a": `resource "fake_resource" "a" {}`, "b": `resource "fake_resource" "b" {}`,
	})
	p := s.start(t.TempDir(), engine.Purpose{})
	for _, name := range []string{"a", "b"} {
		req := p.mustPlan(name, nil)
		_, diags := p.session.Apply(t.Context(), req, nil)
		s.noErrors("Apply", diags)
		s.must(p.session.Acknowledge(t.Context(), req.Work))
	}
	calls, err := testprovider.ReadCalls(s.calls)
	s.must(err)
	pids := map[int]bool{}
	for _, call := range calls {
		if call.RPC == "ApplyResourceChange" {
			pids[call.PID] = true
		}
	}
	if len(pids) != 1 {
		t.Errorf("%d processes of the provider have applied, want one", len(pids))
	}
}

// A session that is idle is closed, and another one is opened for the next call.
func TestIdle(t *testing.T) {
	closed := make(chan struct{}, 10)
	s := newStack(t, remote.ServerOptions{Idle: time.Millisecond, Open: func(dir string) (engine.Engine, error) {
		e, err := openNative(dir)
		return enginetest.Replaced{Engine: e, Session: func(session engine.Session) engine.Session {
			return closing{session, closed}
		}}, err
	}}, map[string]string{"m": `resource "fake_resource" "a" {}`})
	p := s.start(t.TempDir(), engine.Purpose{})
	for range 2 {
		p.mustPlan("m", nil)
		testenv.Receive(t, "the session is closed", closed)
	}
}

type closing struct {
	engine.Session
	closed chan<- struct{}
}

func (c closing) Close() error {
	err := c.Session.Close()
	c.closed <- struct{}{}
	return err
}

// Components that are in no pool are done here. Without workers, the others fail.
func TestLocal(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{
		"a": `resource "fake_resource" "a" {}`, "b": `resource "fake_resource" "b" {}`,
	})
	p := s.start(t.TempDir(), engine.Purpose{})
	local, err := openNative(t.TempDir())
	s.must(err)
	e := remote.New(remote.Options{
		Local: local,
		Pool: func(addr stackaddrs.AbsComponentInstance, _ map[engine.ProviderSlot]engine.ProviderConfig) (string, hcl.Diagnostics) {
			if addr.Item.Component.Name == "a" {
				return "pool", nil
			}
			return "", nil
		},
	})
	p.end()
	p.session = enginetest.Open(t, e, engine.SessionOptions{StackDir: s.dir})
	_, diags := p.session.Abilities().Preparer.Prepare(t.Context(), &engine.PrepareRequest{
		Modules: []string{filepath.Join(s.dir, "a"), filepath.Join(s.dir, "b")},
	})
	s.noErrors("Prepare", diags)
	if _, diags = p.plan("a", nil, nil); len(diags) != 1 || engine.FaultOf(diags[0]) != remote.CodeNoWorkers {
		t.Errorf("got %v, want that there are no workers", diags)
	}
	req := p.mustPlan("b", nil)
	result, diags := p.session.Apply(t.Context(), req, nil)
	s.noErrors("Apply", diags)
	s.must(p.session.Acknowledge(t.Context(), req.Work))
	s.wantObjects(result.State, "fake_resource.b")
	p.session = nil // which the test closes
}
