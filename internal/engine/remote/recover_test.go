// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// gated makes three objects one after the other, the second of which waits at a gate.
const gated = `
variable "gate" { type = string }
resource "fake_resource" "first" {}
resource "fake_slow" "second" {
  create_gate = var.gate
  ignore_stop = true
  value       = fake_resource.first.id
}
resource "fake_computed" "third" { value = fake_slow.second.id }
output "third" { value = fake_computed.third.id }
`

// underWay is an apply of the gated module that waits at the gate.
type underWay struct {
	*stack
	program *program
	gate    string
	req     *engine.ApplyRequest
	end     <-chan applied

	journal string // the name of the record
	copies  struct {
		sync.Mutex
		content []byte // of the record, as it is kept with the state
	}
}

func (u *underWay) keep(_ context.Context, content []byte) error {
	u.copies.Lock()
	defer u.copies.Unlock()
	u.copies.content = append(u.copies.content, content...)
	return nil
}

// copied returns the copy of the record.
func (u *underWay) copied() []byte {
	u.copies.Lock()
	defer u.copies.Unlock()
	return slices.Clone(u.copies.content)
}

// purpose is that of a program on another machine, which has the state only.
func (u *underWay) purpose() engine.Purpose {
	return engine.Purpose{Serial: 8, Recorded: []string{u.journal}, Copies: map[string][]byte{u.journal: u.copied()}}
}

func newUnderWay(t *testing.T) *underWay {
	t.Helper()
	u := &underWay{stack: newStack(t, remote.ServerOptions{}, map[string]string{"m": gated})}
	u.gate = u.newGate()
	u.program = u.start(t.TempDir(), engine.Purpose{Plan: "plan", Serial: 7})
	var err error
	u.journal, err = u.program.session.Abilities().Recoverer.Record(t.Context(), u.keep)
	u.must(err)
	u.req = u.program.mustPlan("m", values{"gate": cty.StringVal(u.gate)})
	u.end = u.program.begin(context.Background(), u.req)
	testenv.AwaitFile(t, u.gate+".reached")
	return u
}

// another starts a program on another machine, which has the state only.
func (u *underWay) another() engine.Recoverer {
	u.Helper()
	next := u.start(u.TempDir(), u.purpose())
	return next.session.Abilities().Recoverer
}

// resume resumes the apply, which is all that is unfinished.
func (u *underWay) resume(recoverer engine.Recoverer) *engine.Recovered {
	u.Helper()
	found, err := recoverer.Unfinished(u.Context())
	u.must(err)
	if len(found) != 1 || found[0].Work != u.req.Work || found[0].Component != "component.m" || !found[0].Running {
		u.Fatalf("unfinished: %+v, want the apply, which goes on", found)
	}
	var recovered *engine.Recovered
	testenv.Within(u, "the apply is recovered", func() {
		recovered, err = recoverer.Resume(u.Context(), u.req.Work, 0, nil)
	})
	u.must(err)
	return recovered
}

func (u *underWay) wantBegunOnce() {
	u.Helper()
	if begun := u.workers.Begun(string(u.req.Work)); begun != 1 {
		u.Errorf("the apply was begun %d times", begun)
	}
}

// A program that dies while a worker applies leaves a record, by which another one, on another
// machine, takes the apply over (rule R2). Nothing is begun twice, and nothing is lost.
func TestTakeOver(t *testing.T) {
	u := newUnderWay(t)
	u.program.die()
	next := u.another()
	u.open(u.gate)
	recovered := u.resume(next)
	u.wantObjects(recovered.State, "fake_computed.third", "fake_resource.first", "fake_slow.second")
	if recovered.Saved || recovered.IsDoubtful() || recovered.Plan != "plan" || recovered.Serial != 7 || recovered.Diagnostics.HasErrors() {
		t.Errorf("recovered: %+v", recovered)
	}
	u.wantCreated("create fake_resource", "create fake_slow", "create fake_computed")
	u.wantBegunOnce()
}

// A program that takes an apply over can stop it (rule R5).
func TestStopAfterTakeOver(t *testing.T) {
	u := newUnderWay(t)
	u.program.die()
	next := u.start(t.TempDir(), u.purpose())
	next.running.Go(func() {
		testenv.AwaitFile(t, u.gate+".stopped")
		u.open(u.gate)
	})
	next.running.Go(func() {
		testenv.Await(t, "the work is picked up", func() bool {
			return next.session.Stop(context.Background(), u.req.Work, engine.Gracefully) == nil
		})
	})
	recovered := u.resume(next.session.Abilities().Recoverer)
	next.running.Wait()
	u.wantObjects(recovered.State, "fake_resource.first", "fake_slow.second")
	if recovered.IsDoubtful() {
		t.Errorf("recovered: %+v", recovered)
	}
	u.wantError(recovered.Diagnostics, "Apply stopped", "create fake_computed.third")
	u.wantCreated("create fake_resource", "create fake_slow")
}

// The reports of a worker that is lost are the result; its doubts are named, and it begins nothing
// more (rules R3 and R4).
func TestWorkerLost(t *testing.T) {
	u := newUnderWay(t)
	u.workers.Lose(string(u.req.Work))
	end := testenv.Receive(t, "the apply ends", u.end)
	u.open(u.gate) // for the lost worker, which goes on
	u.workers.Wait()
	u.wantError(end.diags, "Worker lost", `pool "pool"`)
	u.wantError(end.diags, "Unknown outcome of changes", "create fake_slow.second")
	u.wantInDoubt(end.diags, "fake_slow.second")
	if end.result == nil {
		t.Fatal("the apply has no result")
	}
	u.wantObjects(end.result.State, "fake_resource.first")
	if third := end.result.Outputs["third"]; third.IsKnown() || third.Type() != cty.String {
		t.Errorf("output: got %#v, want an unknown string", third)
	}
	u.must(u.program.session.Acknowledge(t.Context(), u.req.Work))
	u.wantCreated("create fake_resource", "create fake_slow")
	u.wantBegunOnce()
}

func (s *stack) wantInDoubt(diags hcl.Diagnostics, want ...string) {
	s.Helper()
	var got []string
	for _, diag := range diags {
		if data, ok := hcl.DiagnosticExtra[*engine.DiagnosticData](diag); ok {
			got = append(got, data.InDoubt...)
		}
	}
	if !cmp.Equal(got, want) {
		s.Errorf("in doubt: %q, want %q", got, want)
	}
}

// A worker and the program that waits for it may both be lost.
func TestWorkerLostWithProgram(t *testing.T) {
	u := newUnderWay(t)
	u.program.die()
	u.workers.Lose(string(u.req.Work))
	u.open(u.gate)
	u.workers.Wait()
	recovered := u.resume(u.another())
	u.wantObjects(recovered.State, "fake_resource.first")
	if !cmp.Equal(recovered.Doubts, []string{"fake_slow.second"}) || recovered.Saved || recovered.Lost != "" {
		t.Errorf("recovered: %+v", recovered)
	}
	u.wantError(recovered.Diagnostics, "Component partly applied", "")
	u.wantCreated("create fake_resource", "create fake_slow")
}

// Where the transport has forgotten a call, more may have been done than is recorded.
func TestForgottenCall(t *testing.T) {
	u := newUnderWay(t)
	testenv.Await(t, "the reports are copied", func() bool { return bytes.Contains(u.copied(), []byte("fake_slow.second")) })
	u.program.die()
	u.workers.Forget(string(u.req.Work))
	u.open(u.gate)
	recovered := u.resume(u.another())
	u.wantObjects(recovered.State, "fake_resource.first")
	if !recovered.IsDoubtful() || !strings.Contains(recovered.Lost, `pool "pool"`) {
		t.Errorf("recovered: %+v", recovered)
	}
}

// broken is a transport of which nothing can be had.
type broken struct{}

var errBroken = errors.New("the server cannot be reached")

func (broken) Call(context.Context, remote.Call, func([][]byte)) ([]byte, error) {
	return nil, errBroken
}
func (broken) StopNow(context.Context, string) error { return errBroken }

// While the transport cannot be asked, work stays unfinished, for another program.
func TestTakeOverLater(t *testing.T) {
	u := newUnderWay(t)
	u.program.die()
	u.open(u.gate)
	dir := t.TempDir()
	for name, transport := range map[string]remote.Transport{"broken": broken{}, "none": nil} {
		local, err := openNative(dir)
		u.must(err)
		session, err := remote.New(remote.Options{Local: local, Pool: everything, Transport: transport}).Open(
			t.Context(), engine.SessionOptions{StackDir: u.dir})
		u.must(err)
		recoverer := session.Abilities().Recoverer
		purpose := u.purpose()
		purpose.Secret = secret
		recoverer.Bind(purpose)
		_, err = recoverer.Unfinished(t.Context())
		u.must(err)
		if recovered, err := recoverer.Resume(t.Context(), u.req.Work, 0, nil); err == nil {
			t.Errorf("%s: got %+v, want an error", name, recovered)
		}
		u.must(session.Close())
	}
	recovered := u.resume(u.start(dir, u.purpose()).session.Abilities().Recoverer)
	u.wantObjects(recovered.State, "fake_computed.third", "fake_resource.first", "fake_slow.second")
	u.wantCreated("create fake_resource", "create fake_slow", "create fake_computed")
}

// An apply that was recorded, and whose program died before it made the call, is never begun.
func TestNeverBegun(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{"m": `resource "fake_resource" "a" {}`})
	dir := t.TempDir()
	p := s.start(dir, engine.Purpose{})
	req := p.mustPlan("m", nil)
	p.transport.Die() // which ends the goroutine of the call before it is made
	testenv.Receive(t, "the program dies", func() <-chan struct{} {
		ended := make(chan struct{})
		p.running.Go(func() {
			defer close(ended)
			_, diags := p.session.Apply(t.Context(), req, nil)
			t.Errorf("the dead program goes on, with %v", diags)
		})
		return ended
	}())
	p.end()
	next := s.start(dir, engine.Purpose{})
	recoverer := next.session.Abilities().Recoverer
	found, err := recoverer.Unfinished(t.Context())
	s.must(err)
	if len(found) != 1 || !found[0].Running {
		t.Fatalf("unfinished: %+v", found)
	}
	if recovered, err := recoverer.Resume(t.Context(), req.Work, 0, nil); err != nil || recovered != nil {
		t.Errorf("Resume: got %+v and %v, want that nothing was done", recovered, err)
	}
	// The call of the dead program may be on its way.
	late := remote.Call{Name: string(req.Work), Changes: true, Request: []byte("late")}
	if _, err := next.transport.Call(t.Context(), late, nil); err == nil {
		t.Error("the call is made after the work was forgotten")
	}
	s.wantCreated()
}

// What this program cannot record stops the worker; the answer has the whole state.
func TestRecordFails(t *testing.T) {
	s := newStack(t, remote.ServerOptions{}, map[string]string{"m": gated})
	gate := s.newGate()
	p := s.start(t.TempDir(), engine.Purpose{})
	var full bool
	_, err := p.session.Abilities().Recoverer.Record(t.Context(), func(_ context.Context, content []byte) error {
		if full = full || strings.Contains(string(content), "fake_slow.second"); full {
			return context.DeadlineExceeded
		}
		return nil
	})
	s.must(err)
	req := p.mustPlan("m", values{"gate": cty.StringVal(gate)})
	end := p.begin(context.Background(), req)
	testenv.AwaitFile(t, gate+".reached")
	testenv.Receive(t, "the worker is asked to stop", s.workers.Stopped(string(req.Work)))
	s.open(gate)
	got := testenv.Receive(t, "the apply ends", end)
	s.wantError(got.diags, "Result not recorded", "")
	if !strings.Contains(string(got.result.State), `"fake_slow"`) {
		t.Errorf("the state lacks what could not be recorded: %s", got.result.State)
	}
	s.must(p.session.Acknowledge(t.Context(), req.Work))
}
