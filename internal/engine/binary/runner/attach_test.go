// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// parentEnv makes the test binary the program that starts a process in the directory named by it,
// and is then killed.
const parentEnv = "CAIRN_RUNNER_TEST_PARENT"

func actAsParent(dir string) {
	c := Command{
		Path: "/bin/sh", Args: []string{"-c", trap}, Dir: filepath.Join(dir, "work"), Env: os.Environ(),
		RunDir: filepath.Join(dir, "run"),
	}
	p, err := Start(c)
	if err == nil {
		_, err = p.Wait(context.Background(), func(ev Event) { fmt.Println(ev.Message) })
	}
	if err != nil {
		panic(err)
	}
}

// orphan starts a process from a parent that is killed, and returns the process's directories.
func orphan(t *testing.T) Command {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c := Command{Dir: filepath.Join(dir, "work"), RunDir: filepath.Join(dir, "run")}
	for _, d := range []string{c.Dir, c.RunDir} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	parent := testenv.Command(t, self)
	parent.Env = append(os.Environ(), parentEnv+"="+dir)
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	var line string
	if _, err := fmt.Fscanln(out, &line); err != nil || line != "ready" {
		t.Errorf("the parent says %q, %v", line, err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := parent.Wait(); err == nil {
		t.Error("the parent was not killed")
	}
	return c
}

func TestAttachAfterParentWasKilled(t *testing.T) {
	c := orphan(t)
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Run().Running() {
		t.Fatal("the process ended with its parent")
	}
	var types []string
	result := wait(t, t.Context(), p, func(ev Event) {
		types = append(types, ev.Type)
		if ev.Message == "ready" {
			letGo(t, c)
		}
	})
	if result.Outcome != OutcomeSucceeded || result.ExitCode != ExitUnknown || result.Interrupted {
		t.Errorf("outcome %s, exit code %d, interrupted %t", result.Outcome, result.ExitCode, result.Interrupted)
	}
	if len(types) != 2 || types[1] != EventChangeSummary {
		t.Errorf("events are %q", types)
	}
}

// forget gives the record of a process the contents that it has while its program is about to start
// it.
func forget(t *testing.T, c Command) {
	t.Helper()
	run, err := ReadRun(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	run.PID, run.Scope, run.ProcessStart, run.ExitCode = 0, "", "", nil
	if err := run.write(); err != nil {
		t.Fatal(err)
	}
}

// Rule 5: the program was killed between starting the process and recording which one that is.
func TestAttachToProcessThatIsNotRecorded(t *testing.T) {
	c := orphan(t)
	forget(t, c)
	if _, err := Start(c); !errors.Is(err, ErrRunning) {
		t.Errorf("second Start in the directory: %v", err)
	}
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if !p.Run().Running() {
		t.Fatal("the process is not seen to be running")
	}
	result := wait(t, t.Context(), p, func(ev Event) {
		if ev.Message == "ready" {
			letGo(t, c)
		}
	})
	if result.Outcome != OutcomeSucceeded || p.Run().Running() {
		t.Errorf("outcome %s, running %t", result.Outcome, p.Run().Running())
	}
}

func TestSignalsToProcessThatIsNotRecorded(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a system that says who has a file open")
	}
	for name, signal := range map[string]func(p *Process) error{"interrupt": (*Process).interrupt, "kill": (*Process).Kill} {
		t.Run(name, func(t *testing.T) {
			c := orphan(t)
			forget(t, c)
			p, err := Attach(c.RunDir)
			if err != nil {
				t.Fatal(err)
			}
			if err := signal(p); err != nil {
				t.Fatal(err)
			}
			result := wait(t, t.Context(), p, func(ev Event) {
				if ev.Message == "interrupted" {
					letGo(t, c)
				}
			})
			want := OutcomeSucceeded
			if name == "kill" {
				want = OutcomeDied
			}
			if result.Outcome != want || result.Interrupted != (name == "interrupt") || p.Run().Running() {
				t.Errorf("outcome %s, interrupted %t, running %t", result.Outcome, result.Interrupted, p.Run().Running())
			}
		})
	}
}

// The program was killed before it started the process that it was about to start.
func TestAttachToProcessThatWasNotStarted(t *testing.T) {
	c := script(t, "exit 0")
	run(t, c, nil)
	forget(t, c)
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if p.Run().Running() {
		t.Error("a process that was not started is running")
	}
	result := wait(t, t.Context(), p, func(ev Event) { t.Errorf("event %s", ev.Raw) })
	if result.Outcome != OutcomeDied {
		t.Errorf("outcome %s, want that it is not known to have done anything", result.Outcome)
	}
}

// The children of a process do not count once the process itself is gone; its group ends with it.
func TestOrphansOfKilledProcess(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs a system that says who has a file open")
	}
	t.Run("recorded", func(t *testing.T) { testOrphans(t, func(Command) {}) })
	t.Run("not recorded", func(t *testing.T) { testOrphans(t, func(c Command) { forget(t, c) }) })
}

func testOrphans(t *testing.T, before func(Command)) {
	t.Helper()
	c := script(t, `exec 9>fifo; (echo >&9; exec sleep 1000) & wait`)
	fifo := filepath.Join(c.Dir, "fifo")
	if err := syscall.Mkfifo(fifo, 0o600); err != nil {
		t.Fatal(err)
	}
	started, err := Start(c)
	if err != nil {
		t.Fatal(err)
	}
	var r *os.File
	testenv.Within(t, "the process opens the pipe", func() { r, err = os.Open(fifo) })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close() //nolint:errcheck // only read
	if err := r.SetReadDeadline(time.Now().Add(testenv.Patience)); err != nil {
		t.Fatal(err)
	}
	if _, err := r.Read(make([]byte, 1)); err != nil { // the child is there
		t.Fatal(err)
	}
	pid := started.Run().PID
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	testenv.Within(t, "the killed process has ended", func() { err = started.cmd.Wait() })
	if err == nil {
		t.Error("the process was not killed")
	}
	before(c)
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if result := wait(t, t.Context(), p, nil); result.Outcome != OutcomeDied {
		t.Errorf("outcome %s", result.Outcome)
	}
	if p.Run().Running() {
		t.Error("the process is running after it was killed")
	}
	if n, err := r.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("Read = %d, %v; want the end of the file", n, err)
	}
}

func TestInterruptAfterParentWasKilled(t *testing.T) {
	c := orphan(t)
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	result := wait(t, ctx, p, func(ev Event) {
		if ev.Message == "interrupted" {
			letGo(t, c)
		}
	})
	if !result.Interrupted || result.Text != "ready\ninterrupted" || result.Outcome != OutcomeSucceeded {
		t.Errorf("interrupted %t, text %q, outcome %s", result.Interrupted, result.Text, result.Outcome)
	}
}

func TestKillAfterParentWasKilled(t *testing.T) {
	c := orphan(t)
	p, err := Attach(c.RunDir)
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Fatal(err)
	}
	started := time.Now()
	result := wait(t, t.Context(), p, nil)
	if result.Outcome != OutcomeDied || p.Run().Running() {
		t.Errorf("outcome %s, running %t after %s", result.Outcome, p.Run().Running(), time.Since(started))
	}
}
