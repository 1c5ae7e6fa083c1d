// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package binary

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/engine/binary/statewatch"
	"github.com/cairnstacks/cairn/internal/engine/toolchain"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// slowModule creates one object, then waits at a gate.
const slowModule = fakeRequired + `
variable "gate" { type = string }
resource "fake_resource" "first" { value = "done" }
resource "fake_slow" "second" {
  create_gate = var.gate
  depends_on  = [fake_resource.first]
}
resource "fake_resource" "third" {
  value      = "later"
  depends_on = [fake_slow.second]
}
output "third" { value = fake_resource.third.value }
`

// eventually waits until done is true, or ctx ends.
func eventually(ctx context.Context, done func() bool) bool {
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for !done() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return false
		}
	}
	return true
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// waitFor waits until a file exists.
func waitFor(t *testing.T, path string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	if !eventually(ctx, func() bool { return exists(path) }) {
		t.Fatalf("%s did not appear", path)
	}
}

func touch(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) slowRequest(gate string) *engine.PlanRequest {
	req := b.request(map[string]cty.Value{"gate": cty.StringVal(gate)})
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	return req
}

// Trap 8: a failed resource leaves a state with all the others.
func TestFailedResourceLeavesPartialState(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": fakeRequired + `
resource "fake_resource" "good" { value = "done" }
resource "fake_failing" "bad" {
  fail_apply = true
  depends_on = [fake_resource.good]
}
output "good" { value = fake_resource.good.value }
output "bad" { value = fake_failing.bad.id }
`})
	req := b.request(nil)
	req.Providers = map[engine.ProviderSlot]engine.ProviderConfig{fakeSlot: b.config(nil)}
	plan := b.plan(req)
	var changes int
	apply := applyRequest(req, plan.Plan, nil)
	b.observe = func(ev engine.Event) {
		if ev.Type == engine.ObjectChanged {
			changes++
		}
	}
	result, diags := b.tryApply(context.Background(), apply)
	if !diags.HasErrors() || result == nil {
		t.Fatalf("Apply: got %v, %v, want a partial result and errors", result, diags)
	}
	if changes == 0 {
		t.Error("no change of an object was reported")
	}
	if subject := diags[0].Subject; subject == nil || subject.Filename != "mod/main.tf" {
		t.Errorf("error at %v, want it in mod/main.tf", subject)
	}
	if bad := result.Outputs["bad"]; bad.IsKnown() {
		t.Errorf("output bad: got %#v, want unknown", bad)
	}
	b.acknowledge()
	req.PriorState = result.State
	want := map[string]string{"fake_resource.good": "no-op ", "fake_failing.bad": "create "}
	for address, action := range actions(b.plan(req)) {
		if action != want[address] {
			t.Errorf("next plan: %s is %q, want %q", address, action, want[address])
		}
	}
}

// Trap 8: one interrupt; running changes are finished, the rest is not begun, the state is whole.
func TestInterruptedApply(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": slowModule})
	gate := filepath.Join(t.TempDir(), "gate")
	req := b.slowRequest(gate)
	plan := b.plan(req)
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	var waiter sync.WaitGroup
	waiter.Go(func() {
		eventually(ctx, func() bool { return exists(gate + ".reached") })
		cancel()
	})
	defer waiter.Wait()
	defer cancel()
	result, diags := b.tryApply(ctx, applyRequest(req, plan.Plan, req.Inputs))
	if !diags.HasErrors() || result == nil {
		t.Fatalf("Apply: got %v, %v, want a partial result and errors", result, diags)
	}
	if !bytes.Contains(result.State, []byte(`"name": "first"`)) || bytes.Contains(result.State, []byte(`"name": "third"`)) {
		t.Errorf("state: got %s, want the first object and not the third", result.State)
	}
	b.acknowledge()
}

// TestMainApply is not a test: it is the program that the next tests kill.
func TestMainApply(t *testing.T) {
	stack := os.Getenv("CAIRN_TEST_APPLY")
	if stack == "" {
		t.Skip("only run by other tests")
	}
	b := newBenchAt(t, stack, nil)
	req := b.slowRequest(os.Getenv("CAIRN_TEST_GATE"))
	plan := b.plan(req)
	fmt.Println("planned")
	_, diags := b.tryApply(context.Background(), applyRequest(req, plan.Plan, req.Inputs))
	b.noErrors("Apply", diags)
}

// killedApply starts an apply in another program and kills that with SIGKILL when the gate is
// reached.
func killedApply(t *testing.T, b *bench, gate string) {
	t.Helper()
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, executable, "-test.run=^TestMainApply$")
	cmd.Env = append(os.Environ(), "CAIRN_TEST_APPLY="+b.stack, "CAIRN_TEST_GATE="+gate)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); !strings.HasPrefix(line, "planned") {
		t.Fatalf("other program: %q, %v", line, err)
	}
	waitFor(t, gate+".reached")
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
}

// newCutOffBench returns a bench with an apply of slowModule whose program was killed, and the gate
// that its engine waits at.
func newCutOffBench(t *testing.T) (b *bench, gate string) {
	t.Helper()
	b = newFakeBench(t, map[string]string{"mod/main.tf": slowModule})
	gate = filepath.Join(t.TempDir(), "gate")
	killedApply(t, b, gate)
	return b, gate
}

// recoverAll recovers an apply of slowModule that came to its end after its program was killed, and
// leaves nothing behind.
func (b *bench) recoverAll() *pickedUp {
	b.t.Helper()
	one := b.recover()
	if one.Diagnostics.HasErrors() {
		b.t.Errorf("Recover: got %v, want no errors", one.Diagnostics)
	}
	for _, name := range []string{`"first"`, `"second"`, `"third"`} {
		if !bytes.Contains(one.State, []byte(name)) {
			b.t.Errorf("recovered state lacks %s", name)
		}
	}
	if err := one.forget(); err != nil {
		b.t.Error(err)
	}
	b.noRuns()
	return one
}

// pickedUp is an apply that a session has picked up.
type pickedUp struct {
	*engine.Recovered
	session *Session
}

func (p *pickedUp) forget() error { return p.session.Forget(context.Background(), p.Work) }
func (p *pickedUp) leave() error  { return p.session.Leave(context.Background(), p.Work) }

func (p *pickedUp) dir() *rundir.Dir { return p.session.mu.left[p.Work].dir }

func (p *pickedUp) markSeen() error { return p.session.MarkSeen(context.Background(), p.Work) }

func (p *pickedUp) markSaved() error {
	p.Saved = true
	return p.session.Acknowledge(context.Background(), p.Work)
}

func (b *bench) recover() *pickedUp {
	b.t.Helper()
	recovered, err := b.recoverWork()
	if err != nil || len(recovered) != 1 {
		b.t.Fatalf("Resume: got %v, %v, want one result", recovered, err)
	}
	if got := recovered[0].Component; got != component.String() {
		b.t.Errorf("Resume: got component %s, want %s", got, component)
	}
	return recovered[0]
}

// recoverWork picks up all work that is not of others.
func (b *bench) recoverWork() ([]*pickedUp, error) {
	b.t.Helper()
	unfinished, err := b.engine.Unfinished(context.Background())
	var picked []*pickedUp
	for _, work := range unfinished {
		if work.Foreign {
			continue
		}
		recovered, resumeErr := b.engine.Resume(context.Background(), work.Work, 0, b.observe)
		err = errors.Join(err, resumeErr)
		if recovered != nil {
			picked = append(picked, &pickedUp{recovered, b.engine})
		}
	}
	return picked, err
}

// Trap 8: our program is killed; the engine's process goes on, and the next program gets all of its
// state.
func TestRecoverWaitsForRunningProcess(t *testing.T) {
	b, gate := newCutOffBench(t)

	// Nothing may be done with the component meanwhile.
	_, diags := b.tryPlan(context.Background(), b.slowRequest(gate))
	if !diags.HasErrors() || !strings.Contains(diags[0].Detail, "recover") {
		t.Errorf("Plan: got %v, want that recovery comes first", diags)
	}
	touch(t, gate)
	one := b.recoverAll()
	req := b.slowRequest(gate)
	req.PriorState = one.State
	for address, action := range actions(b.plan(req)) {
		if action != "no-op " {
			t.Errorf("next plan: %s is %q, want no-op", address, action)
		}
	}
}

// editRun changes the record of the process of the only run there is.
func editRun(t *testing.T, b *bench, edit func(run map[string]any)) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(b.stack, ".cairn", "runs", "*", "run.json"))
	if err != nil || len(files) != 1 {
		t.Fatalf("records: %v, %v", files, err)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	var run map[string]any
	if err := json.Unmarshal(data, &run); err != nil {
		t.Fatal(err)
	}
	edit(run)
	if data, err = json.Marshal(run); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files[0], data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Our program is killed between starting the engine's process and recording which one that is. It
// is waited for all the same.
func TestRecoverWaitsForProcessThatIsNotRecorded(t *testing.T) {
	b, gate := newCutOffBench(t)
	editRun(t, b, func(run map[string]any) {
		run["pid"] = 0
		delete(run, "process_start")
		delete(run, "scope")
	})
	touch(t, gate)
	b.recoverAll()
}

// A directory with a state that somebody has written is never removed, whatever is recorded about a
// process.
func TestRecoverStateWithoutRecordOfProcess(t *testing.T) {
	b, gate := newCutOffBench(t)
	touch(t, gate)
	dir := endOfProcess(t, b)
	if err := os.Remove(filepath.Join(dir, "run.json")); err != nil {
		t.Fatal(err)
	}
	one := b.recover()
	if !bytes.Contains(one.State, []byte(`"third"`)) {
		t.Errorf("recovered state: got %s, want the whole one", one.State)
	}
	if err := one.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// Our program is killed when it was about to start the engine's process: there is nothing to
// recover, and nothing in the way.
func TestRecoverWhatWasNotStarted(t *testing.T) {
	for _, left := range []string{"record of the apply", "record of the process"} {
		t.Run(left, func(t *testing.T) {
			b := newFakeBench(t, map[string]string{"mod/main.tf": slowModule})
			dir, err := rundir.New(b.engine.runsDir, component.String())
			if err != nil {
				t.Fatal(err)
			}
			if err := os.Mkdir(dir.File(rundir.TreeDir), 0o700); err != nil {
				t.Fatal(err)
			}
			if _, err := statewatch.Begin(dir, "", &tfstate.Document{}, nil); err != nil {
				t.Fatal(err)
			}
			if err := dir.BeginApply(b.engine.sign(rundir.Record{Component: component.String(), Root: rundir.TreeDir})); err != nil {
				t.Fatal(err)
			}
			if left == "record of the process" {
				for name, content := range map[string]string{runner.EventsFile: "", runner.StderrFile: "", "alive": "", "run.json": `{"pid": 0}`} {
					if err := os.WriteFile(dir.File(name), []byte(content), 0o600); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err := dir.Close(); err != nil {
				t.Fatal(err)
			}
			if recovered, err := b.recoverWork(); err != nil || len(recovered) != 0 {
				t.Errorf("Recover: got %v, %v, want nothing", recovered, err)
			}
			b.noRuns()
		})
	}
}

// Trap 8: both programs are killed; changes that were finished before are in the state.
func TestRecoverAfterBothWereKilled(t *testing.T) {
	b, gate := newCutOffBench(t)
	killProcess(t, b)

	one := b.recover()
	if !one.Diagnostics.HasErrors() {
		t.Error("Recover reported no error")
	}
	// tofu writes the state from time to time only. Missing objects are then named.
	named := false
	for _, diag := range one.Diagnostics {
		named = named || strings.Contains(diag.Detail, "fake_resource.first")
	}
	if !named && !bytes.Contains(one.State, []byte(`"first"`)) {
		t.Errorf("recovered state: got %s and %v, want the first object in one of them", one.State, one.Diagnostics)
	}
	if !slices.Contains(one.Doubts, "fake_slow.second") || slices.Contains(one.Doubts, "fake_resource.third") {
		t.Errorf("Recover: in doubt is %q, want what was begun", one.Doubts)
	}
	if err := one.leave(); err != nil {
		t.Error(err)
	}
	one = b.recover() // it was kept
	if err := one.markSaved(); err != nil {
		t.Error(err)
	}

	// The component can be used again, and the messages are repeated until that was done.
	req := b.slowRequest(gate)
	req.PriorState = one.State
	b.plan(req)
	if err := one.leave(); err != nil {
		t.Error(err)
	}
	again := b.recover()
	if !again.Saved || len(again.State) > 0 || !slices.Equal(again.Doubts, one.Doubts) {
		t.Errorf("Recover: saved %t, state %s, in doubt %q; want what was said before", again.Saved, again.State, again.Doubts)
	}
	if diff := cmp.Diff(one.Diagnostics, again.Diagnostics, cmpopts.IgnoreFields(hcl.Diagnostic{}, "Extra")); diff != "" {
		t.Errorf("diagnostics (-first +again):\n%s", diff)
	}

	// That doubts were shown is known to later programs, and not before.
	if err := errors.Join(again.markSeen(), again.leave()); err != nil || again.Seen {
		t.Errorf("MarkSeen: %v, seen %t by an earlier program", err, again.Seen)
	}
	again = b.recover()
	if !again.Seen {
		t.Error("Recover: what was shown is not known to be")
	}
	if err := again.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// A program that is killed while it makes room for the next run has said nothing yet, and is in
// nobody's way.
func TestRecoverHalfRetired(t *testing.T) {
	b, gate := newCutOffBench(t)
	killProcess(t, b)
	one := b.recover()
	before := one.dir().Path()
	if err := one.markSaved(); err != nil {
		t.Fatal(err)
	}
	touch(t, one.dir().File(rundir.GoodFile))
	touch(t, one.dir().File(".new-1")) // of a program that was killed while it wrote a copy
	if err := errors.Join(os.Rename(one.dir().Path(), before), one.leave()); err != nil {
		t.Fatal(err)
	}
	again := b.recover()
	if !again.Saved {
		t.Error("the state that was saved would be saved again")
	}
	for _, name := range []string{rundir.GoodFile, ".new-1", rundir.TreeDir} {
		if exists(again.dir().File(name)) {
			t.Errorf("%s, which has secrets in it, was left behind", name)
		}
	}
	b.plan(b.slowRequest(gate))
	if err := again.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// Only the engine is killed: the changes that it had begun are named, and reported again to the
// next program.
func TestKilledEngineLeavesDoubts(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": slowModule})
	gate := filepath.Join(t.TempDir(), "gate")
	req := b.slowRequest(gate)
	plan := b.plan(req)
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	var killer sync.WaitGroup
	killer.Go(func() {
		if eventually(ctx, func() bool { return exists(gate + ".reached") }) {
			killProcess(t, b)
		}
	})
	_, diags := b.tryApply(ctx, applyRequest(req, plan.Plan, req.Inputs))
	killer.Wait()
	if !slices.ContainsFunc(diags, func(diag *hcl.Diagnostic) bool { return strings.Contains(diag.Detail, "create fake_slow.second") }) {
		t.Errorf("Apply: got %v, want that the object is named", diags)
	}
	b.acknowledgeLast()
	said := b.recover()
	if !said.Saved || !said.Seen || !slices.Contains(said.Doubts, "fake_slow.second") {
		t.Errorf("Recover: saved %t, seen %t, in doubt %q", said.Saved, said.Seen, said.Doubts)
	}
	if err := said.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// The program ended after the apply, but before the state was saved.
func TestRecoverStateThatWasNotSaved(t *testing.T) {
	b := newFakeBench(t, map[string]string{"mod/main.tf": slowModule})
	gate := filepath.Join(t.TempDir(), "gate")
	touch(t, gate)
	executable, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, executable, "-test.run=^TestMainApply$")
	cmd.Env = append(os.Environ(), "CAIRN_TEST_APPLY="+b.stack, "CAIRN_TEST_GATE="+gate)
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("other program: %v: %s", err, out)
	}
	one := b.recover()
	if one.Diagnostics.HasErrors() || !bytes.Contains(one.State, []byte(`"name": "third"`)) {
		t.Errorf("Recover: got %v and %s, want the whole state", one.Diagnostics, one.State)
	}
	if err := one.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// killProcess kills the engine's process of the only run there is.
func killProcess(t *testing.T, b *bench) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(b.stack, ".cairn", "runs", "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("runs: %v, %v", dirs, err)
	}
	run, err := runner.ReadRun(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(-run.PID, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	return endOfProcess(t, b)
}

// endOfProcess waits for the end of the process of the only run there is, and returns the run's
// directory.
func endOfProcess(t *testing.T, b *bench) string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join(b.stack, ".cairn", "runs", "*"))
	if err != nil || len(dirs) != 1 {
		t.Fatalf("runs: %v, %v", dirs, err)
	}
	run, err := runner.ReadRun(dirs[0])
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), testenv.Patience)
	defer cancel()
	if !eventually(ctx, func() bool { return !run.Running() }) {
		t.Fatal("the process doesn't end")
	}
	return dirs[0]
}

// Trap 8: a state file of 0 bytes is not taken for an empty state. Objects that the newest copy
// does not have are named.
func TestEmptyStateFileAfterKill(t *testing.T) {
	older := []byte(`{"version":4,"terraform_version":"1.11.4","serial":1,"lineage":"0","outputs":{},"resources":[]}`)
	for name, test := range map[string]struct {
		copied  func(newest []byte) []byte
		missing bool
	}{
		"copy is up to date": {func(newest []byte) []byte { return newest }, false},
		"copy is older":      {func([]byte) []byte { return older }, true},
	} {
		t.Run(name, func(t *testing.T) {
			b := newFakeBench(t, map[string]string{"mod/main.tf": slowModule})
			gate := filepath.Join(t.TempDir(), "gate")
			killedApply(t, b, gate)
			dir := killProcess(t, b)

			data, err := os.ReadFile(filepath.Join(dir, rundir.RecordFile))
			if err != nil {
				t.Fatal(err)
			}
			var record rundir.Record
			if err := json.Unmarshal(data, &record); err != nil {
				t.Fatal(err)
			}
			state := filepath.Join(dir, record.Root, "terraform.tfstate")
			newest, err := os.ReadFile(state)
			if err != nil {
				t.Fatal(err)
			}
			good := test.copied(newest)
			if err := os.WriteFile(filepath.Join(dir, rundir.GoodFile), good, 0o600); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(state, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			one := b.recover()
			if !bytes.Equal(one.State, good) {
				t.Errorf("recovered state: got %s, want the newest good copy", one.State)
			}
			var damage string
			for _, diag := range one.Diagnostics {
				if diag.Summary == "Damaged component state" {
					damage = diag.Detail
				}
			}
			// The file of tofu, which it writes each 20 seconds, does not have the object yet.
			missing := test.missing || b.engine.Info().Name == toolchain.Tofu
			if damage == "" || strings.Contains(damage, "fake_resource.first") != missing {
				t.Errorf("Recover: got %q of the damage; want some, and the object named: %v", damage, missing)
			}
			if err := one.forget(); err != nil {
				t.Error(err)
			}
		})
	}
}

// An apply that was not begun with the state is neither taken into it nor touched: neither the
// record nor the files next to it.
func TestRecoverOnlyWhatTheStateKnows(t *testing.T) {
	b, gate := newCutOffBench(t)
	b.engine.Bind(engine.Purpose{Secret: []byte("of another state")})
	unfinished, err := b.engine.Unfinished(context.Background()) // does not wait for the process either
	if err != nil || len(unfinished) != 1 || !unfinished[0].Foreign || unfinished[0].Component != component.String() {
		t.Fatalf("Unfinished: got %+v, %v, want work of others", unfinished, err)
	}
	if _, err := b.engine.Resume(context.Background(), unfinished[0].Work, 0, nil); !errors.Is(err, engine.ErrUnknownWork) {
		t.Errorf("Resume: got %v, want that there is no such work", err)
	}
	touch(t, gate)
	b.engine.Bind(engine.Purpose{})
	if err := b.recover().forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// Another program knows work by its name, and can read its events again from any position.
func TestEventsAreReadAgain(t *testing.T) {
	b, gate := newCutOffBench(t)
	touch(t, gate)
	var events []engine.Event
	b.observe = func(ev engine.Event) { events = append(events, ev) }
	one := b.recover()
	if !strings.HasPrefix(string(one.Work), "work ") {
		t.Errorf("the work is named %q, want the name that it was begun with", one.Work)
	}
	all := events
	if len(all) < 6 {
		t.Fatalf("got %d events, want the beginnings and ends of three changes", len(all))
	}
	if err := one.leave(); err != nil {
		t.Fatal(err)
	}
	if _, err := b.engine.Unfinished(context.Background()); err != nil {
		t.Fatal(err)
	}
	events = nil
	if _, err := b.engine.Resume(context.Background(), one.Work, all[2].Position, b.observe); err != nil {
		t.Fatal(err)
	}
	if len(events) != len(all)-3 || events[0].Position != all[3].Position || events[0].Resource != all[3].Resource {
		t.Errorf("from the fourth event: got %+v, want %+v", events, all[3:])
	}
	if err := one.forget(); err != nil {
		t.Error(err)
	}
	b.noRuns()
}

// A link in place of a directory leads to files that are not ours.
func TestRunDirectoryIsNoLink(t *testing.T) {
	for _, link := range []string{".cairn/runs", ".cairn/runs/" + rundir.Slug(component.String())} {
		t.Run(filepath.Base(link), func(t *testing.T) {
			b := newFakeBench(t, map[string]string{"mod/main.tf": slowModule, "precious/work/file": ""})
			req := b.slowRequest("gate")
			err := errors.Join(os.RemoveAll(filepath.Join(b.stack, link)), os.MkdirAll(filepath.Dir(filepath.Join(b.stack, link)), 0o700))
			if err != nil {
				t.Fatal(err)
			}
			testenv.Symlink(t, filepath.Join(b.stack, "precious"), filepath.Join(b.stack, link))
			if _, err := b.recoverWork(); err != nil && filepath.Base(link) != "runs" {
				t.Errorf("Recover: %v", err)
			}
			_, diags := b.tryPlan(context.Background(), req)
			if !diags.HasErrors() || !strings.Contains(diags[0].Detail, "symbolic link") {
				t.Errorf("Plan: got %v, want that a link is refused", diags)
			}
			if files, err := filepath.Glob(filepath.Join(b.stack, "precious", "*", "*")); err != nil || len(files) != 1 {
				t.Errorf("of what the link leads to, there is %q, %v", files, err)
			}
		})
	}
}

func TestRecoverWithoutRuns(t *testing.T) {
	testenv.CLIConfig(t, "")
	b := newBenchAt(t, t.TempDir(), nil)
	if recovered, err := b.recoverWork(); err != nil || len(recovered) != 0 {
		t.Errorf("Recover: got %v, %v, want nothing", recovered, err)
	}
}
