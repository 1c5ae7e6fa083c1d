// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package runner

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

// parentEnv makes the test binary the program that starts a process in the directory named by it, and is then killed.
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
	parent := exec.Command(self)
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
