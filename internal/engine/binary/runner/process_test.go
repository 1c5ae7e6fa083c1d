// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(parentEnv); dir != "" {
		actAsParent(dir)
		return
	}
	testenv.ResetSignals()
	goleak.VerifyTestMain(m)
}

// script is a command that runs a shell script.
func script(t *testing.T, text string) Command {
	t.Helper()
	return Command{Path: "/bin/sh", Args: []string{"-c", text}, Dir: t.TempDir(), Env: os.Environ(), RunDir: t.TempDir()}
}

// run starts a command and waits for it.
func run(t *testing.T, c Command, onEvent func(Event)) *Result {
	t.Helper()
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	return wait(t, t.Context(), p, onEvent)
}

func wait(t *testing.T, ctx context.Context, p *Process, onEvent func(Event)) *Result {
	t.Helper()
	limit := time.AfterFunc(testenv.Patience, func() {
		t.Errorf("the process has not ended after %s, and is killed", testenv.Patience)
		_ = p.Kill() // Wait reports the outcome
	})
	defer limit.Stop()
	result, err := p.Wait(ctx, onEvent)
	if err != nil {
		t.Fatal(err)
	}
	return result
}

func TestRunDeliversEverything(t *testing.T) {
	c := script(t, `
echo '{"type":"version","terraform":"1.0.0"}'
echo 'not an event'
printf '{"type":"log","@mess'
echo 'crash' >&2
printf 'age":"in two parts"}\n'
echo '{"type":"diagnostic","diagnostic":{"severity":"warning","summary":"w"}}'
printf '{"type":"diagnostic","diagnostic":{"severity":"error","summary":"e","detail":"d","address":"a.b",'
printf '"range":{"filename":"main.tf","start":{"line":3,"column":4,"byte":30},"end":{"line":3,"column":9,"byte":35}},'
printf '"snippet":{"context":"x","code":"y","start_line":3,"values":[{"traversal":"var.a","statement":"is 1"}]}}}\n'
printf '{"type":"log","@message":"no end of line"}'
exit 1`)
	var types []string
	var messages []string
	result := run(t, c, func(ev Event) {
		types = append(types, ev.Type)
		messages = append(messages, ev.Message)
	})
	if got, want := strings.Join(types, ","), "version,,log,diagnostic,diagnostic,log"; got != want {
		t.Errorf("types are %q, want %q", got, want)
	}
	if messages[2] != "in two parts" || messages[5] != "no end of line" {
		t.Errorf("messages are %q", messages)
	}
	if result.Outcome != OutcomeFailed || result.ExitCode != 1 || result.Interrupted {
		t.Errorf("outcome %s, exit code %d, interrupted %t", result.Outcome, result.ExitCode, result.Interrupted)
	}
	if result.Text != "not an event" || result.Stderr != "crash\n" {
		t.Errorf("text %q, stderr %q", result.Text, result.Stderr)
	}
	if len(result.Diagnostics) != 2 || !result.HasErrors() {
		t.Fatalf("diagnostics are %+v", result.Diagnostics)
	}
	d := result.Diagnostics[1]
	if d.Address != "a.b" || d.Range.End.Byte != 35 || d.Snippet.Values[0].Statement != "is 1" {
		t.Errorf("diagnostic is %+v", d)
	}
}

func TestRunFilesArePrivate(t *testing.T) {
	c := script(t, "exit 0")
	for _, name := range []string{EventsFile, StderrFile} { // as an earlier run might have left them
		if err := os.WriteFile(filepath.Join(c.RunDir, name), []byte("old\n"), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	result := run(t, c, nil)
	if result.Outcome != OutcomeSucceeded || result.Text != "" {
		t.Errorf("outcome %s, text %q", result.Outcome, result.Text)
	}
	for _, name := range []string{EventsFile, StderrFile, runFile, aliveFile} {
		info, err := os.Stat(filepath.Join(c.RunDir, name))
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o600 {
			t.Errorf("%s has mode %s", name, info.Mode())
		}
	}
}

func TestExitCodes(t *testing.T) {
	for text, want := range map[string]struct {
		outcome  Outcome
		exitCode int
	}{
		"exit 0":                      {OutcomeSucceeded, 0},
		"exit 2":                      {OutcomeFailed, 2},
		"exit 2 # -detailed-exitcode": {OutcomeFailed, 2}, // not an argument of its own
		"kill -9 $$":                  {OutcomeDied, ExitUnknown},
	} {
		result := run(t, script(t, text), nil)
		if result.Outcome != want.outcome || result.ExitCode != want.exitCode {
			t.Errorf("%q: outcome %s, exit code %d; want %s, %d", text, result.Outcome, result.ExitCode, want.outcome, want.exitCode)
		}
	}
	c := script(t, "exit 2")
	c.Args = append(c.Args, "-detailed-exitcode")
	if result := run(t, c, nil); result.Outcome != OutcomeSucceeded || result.ExitCode != 2 {
		t.Errorf("with -detailed-exitcode: outcome %s, exit code %d", result.Outcome, result.ExitCode)
	}
}

func TestStartFails(t *testing.T) {
	c := script(t, "exit 0")
	c.Path = filepath.Join(c.Dir, "none")
	if _, err := Start(c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Start of a missing binary: %v", err)
	}
	if _, err := Attach(c.RunDir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Attach where nothing was started: %v", err)
	}
	c.RunDir = filepath.Join(c.Dir, "none")
	if _, err := Start(c); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("Start without a directory: %v", err)
	}
}

// trap is a script that counts interrupts, says when it is ready, and goes on until it had one and
// was let go.
const trap = `
trap 'echo interrupted' INT
echo ready
while [ ! -e go ]; do sleep 0.01; done
echo '{"type":"change_summary","changes":{"operation":"apply"}}'
exit 0`

func TestInterruptOnce(t *testing.T) {
	c := script(t, trap)
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Start(c); !errors.Is(err, ErrRunning) {
		t.Errorf("second Start in the directory: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	result := wait(t, ctx, p, func(ev Event) {
		switch ev.Message {
		case "ready":
			cancel()
		case "interrupted":
			// A caller that asks again, in this program or the next, must not get a second signal through.
			other, err := Attach(c.RunDir)
			if err != nil {
				t.Error(err)
			} else if err := errors.Join(p.interrupt(), other.interrupt()); err != nil {
				t.Error(err)
			}
			letGo(t, c)
		}
	})
	if result.Text != "ready\ninterrupted" {
		t.Errorf("text is %q", result.Text)
	}
	if !result.Interrupted || result.Outcome != OutcomeSucceeded || result.ExitCode != 0 {
		t.Errorf("interrupted %t, outcome %s, exit code %d", result.Interrupted, result.Outcome, result.ExitCode)
	}
}

func letGo(t *testing.T, c Command) {
	if err := os.WriteFile(filepath.Join(c.Dir, "go"), nil, 0o600); err != nil {
		t.Error(err)
	}
}

// TestKillEndsTheGroup has the process start a child that keeps the write end of a fifo open:
// reading from it ends when both are gone.
func TestKillEndsTheGroup(t *testing.T) {
	c := script(t, `exec 3>fifo; sleep 1000 & echo ready; wait`)
	fifo := filepath.Join(c.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	r, err := os.Open(fifo)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	result := wait(t, t.Context(), p, func(ev Event) {
		if err := p.Kill(); err != nil {
			t.Error(err)
		}
	})
	if result.Outcome != OutcomeDied || result.ExitCode != ExitUnknown {
		t.Errorf("outcome %s, exit code %d", result.Outcome, result.ExitCode)
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("Read = %d, %v; want the end of the file", n, err)
	}
	if err := p.Kill(); err != nil {
		t.Errorf("Kill after the end: %v", err)
	}
}

func TestAttachToFinished(t *testing.T) {
	c := script(t, `echo '{"type":"log","@message":"hello"}'; exit 7`)
	run(t, c, nil)
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	var events int
	result := wait(t, t.Context(), p, func(Event) { events++ })
	if events != 1 || result.ExitCode != 7 || result.Outcome != OutcomeFailed {
		t.Errorf("%d events, exit code %d, outcome %s", events, result.ExitCode, result.Outcome)
	}
}

// TestConcludeFromEvents is about processes whose end nobody saw.
func TestConcludeFromEvents(t *testing.T) {
	plan, apply := []string{"-chdir=x", "plan", "-json"}, []string{"apply", "-json"}
	for name, c := range map[string]struct {
		args   []string
		result Result
		want   Outcome
	}{
		"planned":            {plan, Result{Summary: &ChangeSummary{Operation: "plan"}}, OutcomeSucceeded},
		"applied":            {apply, Result{Summary: &ChangeSummary{Operation: "apply"}}, OutcomeSucceeded},
		"destroyed":          {apply, Result{Summary: &ChangeSummary{Operation: "destroy"}}, OutcomeSucceeded},
		"apply that planned": {apply, Result{Summary: &ChangeSummary{Operation: "plan"}}, OutcomeDied},
		"nothing":            {apply, Result{}, OutcomeDied},
		"warning only":       {apply, Result{Diagnostics: []diagnostic.Diagnostic{{Severity: "warning"}}}, OutcomeDied},
		"error":              {apply, Result{Diagnostics: []diagnostic.Diagnostic{{Severity: "error"}}}, OutcomeFailed},
		"error after a summary": {plan, Result{
			Summary:     &ChangeSummary{Operation: "plan"},
			Diagnostics: []diagnostic.Diagnostic{{Severity: "error"}},
		}, OutcomeFailed},
	} {
		c.result.conclude(Run{Args: c.args})
		if c.result.Outcome != c.want || c.result.ExitCode != ExitUnknown {
			t.Errorf("%s: outcome %s, exit code %d; want %s", name, c.result.Outcome, c.result.ExitCode, c.want)
		}
	}
}

func TestRunTellsProcessesApart(t *testing.T) {
	start, alive := processStart(os.Getpid())
	if !alive {
		t.Fatal("this process is not alive")
	}
	self := Run{PID: os.Getpid(), ProcessStart: start}
	if !self.Running() {
		t.Error("this process is not running")
	}
	if start != "" {
		other := self
		other.ProcessStart = "1" + start
		if other.Running() {
			t.Error("a process with another start is running")
		}
	}
	zero := 0
	self.ExitCode = &zero
	if self.Running() {
		t.Error("a process with an exit code is running")
	}
}

// TestWaitAddsNoDelay compares with the delay of the pauses between two looks at the file.
func TestWaitAddsNoDelay(t *testing.T) {
	fastest := time.Hour
	for range 5 {
		c := script(t, "sleep 0.25")
		started := time.Now()
		run(t, c, nil)
		fastest = min(fastest, time.Since(started))
	}
	// The pause is at its longest by then.
	if limit := 250*time.Millisecond + maxPause*3/4; fastest > limit {
		t.Errorf("a process of 250 ms took %s at best, want less than %s", fastest, limit)
	}
}

// The lines that a process writes to standard error can be followed, empty ones included, and are
// in the result as well.
func TestFollowStderr(t *testing.T) {
	c := script(t, `printf 'first\n\n' >&2; echo '{"type":"log"}'; printf 'last' >&2; kill -KILL $$`)
	var lines []string
	c.OnStderr = func(line []byte) { lines = append(lines, string(line)) }
	result := run(t, c, nil)
	if got, want := strings.Join(lines, "|"), "first||last"; got != want {
		t.Errorf("lines are %q, want %q", got, want)
	}
	if result.Stderr != "first\n\nlast" || result.Ended != "signal: killed" || result.ExitCode != ExitUnknown {
		t.Errorf("standard error %q, ended by %q, exit code %d", result.Stderr, result.Ended, result.ExitCode)
	}
}
