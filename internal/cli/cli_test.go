// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"go.uber.org/goleak"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/states"
	"github.com/cairnstacks/cairn/internal/stacktest"
	"github.com/cairnstacks/cairn/stackruntime/engine/memengine"
)

// stack is a stack in a directory of its own, which is the current one.
type stack struct {
	t      *testing.T
	before func(context.Context, memengine.Call) error
}

// newStack writes the files of an archive to a new directory and goes there.
func newStack(t *testing.T, archive string) *stack {
	t.Helper()
	t.Cleanup(func() { goleak.VerifyNone(t) })
	dir := t.TempDir()
	for _, f := range txtar.Parse([]byte(archive)).Files {
		name := filepath.Join(dir, filepath.FromSlash(f.Name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, name := range []string{env.StateVariable, engines.Variable} {
		t.Setenv(name, "")
	}
	return &stack{t: t}
}

// result is the output of a command, and its exit code.
type result struct {
	status   int
	out, err string
}

func (s *stack) dependencies() session.Dependencies {
	return session.Dependencies{Engine: stacktest.NewMemory(s.t, ".cairn", memengine.Options{Before: s.before})}
}

func (s *stack) run(args ...string) result {
	s.t.Helper()
	return s.runContext(s.t.Context(), args...)
}

func (s *stack) runContext(ctx context.Context, args ...string) result {
	s.t.Helper()
	var out, err bytes.Buffer
	status := run(ctx, args, session.Streams{In: strings.NewReader(""), Out: &out, Err: &err}, s.dependencies())
	return result{status, out.String(), err.String()}
}

// mustRun runs a command that must succeed, and returns its output.
func (s *stack) mustRun(args ...string) string {
	s.t.Helper()
	r := s.run(args...)
	if r.status != cmdline.ExitOK {
		s.t.Fatalf("cairn %s: exit code %d\n%s%s", strings.Join(args, " "), r.status, r.out, r.err)
	}
	return r.out
}

const chainArchive = `
-- main.tfcomponent.hcl --
component "a" {
  source = "./m"
  inputs = { value = "start" }
}

component "b" {
  source = "./m"
  inputs = { value = component.a.value }
}

component "c" {
  source = "./m"
  inputs = { value = component.b.value }
}

locals {
  both = { first = component.a.value, last = component.c.value }
}

output "value" {
  type  = string
  value = component.c.value
}
-- m/main.tf --
variable "value" {
  type = string
}

resource "terraform_data" "x" {
  input = var.value
}

output "value" {
  value = terraform_data.x.output
}
`

func TestApplyAndDestroyInMemory(t *testing.T) {
	s := newStack(t, chainArchive)
	s.mustRun("plan", "-out=p")
	if _, err := os.Stat(states.Default); err == nil {
		t.Error("planning has made a state")
	}
	s.mustRun("apply", "p")
	if got, want := s.mustRun("output", "-raw", "value"), "start"; got != want {
		t.Errorf("output: got %q, want %q", got, want)
	}
	if r := s.run("plan", "-detailed-exitcode"); r.status != cmdline.ExitOK {
		t.Errorf("second plan: exit code %d\n%s", r.status, r.out)
	}
	s.mustRun("destroy", "-auto-approve")
	if got := s.mustRun("state", "list"); got != "" {
		t.Errorf("state after destroy:\n%s", got)
	}
	if r := s.run("plan", "-detailed-exitcode"); r.status != cmdline.ExitChanges {
		t.Errorf("plan after destroy: exit code %d, want %d", r.status, cmdline.ExitChanges)
	}
}

// An interrupt between two components: the first one is saved, nothing more is begun.
func TestApplyInterrupted(t *testing.T) {
	s := newStack(t, chainArchive)
	ctx, cancel := context.WithCancelCause(t.Context())
	s.before = func(_ context.Context, call memengine.Call) error {
		if call.Operation == memengine.Apply && call.Component.String() == "component.b" {
			cancel(operation.ErrInterrupted)
			return errors.New("stopped on request")
		}
		return nil
	}
	r := s.runContext(ctx, "apply", "-auto-approve")
	if r.status != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", r.status, cmdline.ExitError)
	}
	if want := "Apply interrupted. Resources: 1 added"; !strings.Contains(r.out, want) {
		t.Errorf("output lacks %q:\n%s", want, r.out)
	}
	s.before = nil
	if got := s.mustRun("state", "list"); !strings.Contains(got, "component.a.terraform_data.x") || strings.Contains(got, "component.c.") {
		t.Errorf("state after the interrupt:\n%s", got)
	}
	s.mustRun("apply", "-auto-approve")
	if r := s.run("plan", "-detailed-exitcode"); r.status != cmdline.ExitOK {
		t.Errorf("plan after all: exit code %d\n%s", r.status, r.out)
	}
}

// The state lock is held from reading the state to the end, and given back after every outcome.
func TestLockIsGivenBack(t *testing.T) {
	s := newStack(t, chainArchive)
	s.before = func(_ context.Context, call memengine.Call) error {
		if call.Operation == memengine.Apply {
			return errors.New("no")
		}
		return nil
	}
	for _, failing := range []struct {
		args   []string
		status int
	}{
		{[]string{"apply", "-auto-approve"}, cmdline.ExitError},
		{[]string{"apply"}, cmdline.ExitApproval}, // nobody answers
		{[]string{"state", "rm", "component.nothing"}, cmdline.ExitError},
	} {
		if r := s.run(failing.args...); r.status != failing.status {
			t.Errorf("cairn %s: exit code %d", strings.Join(failing.args, " "), r.status)
		}
	}
	s.before = nil
	s.mustRun("apply", "-auto-approve")
}
