// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/cairnstacks/cairn/internal/testenv"
)

func TestProcessIdentity(t *testing.T) {
	me := CurrentProcess()
	if me.Scope == "" || me.Start == "" {
		t.Skipf("SKIPPED: /proc does not say: %+v", me)
	}
	with := func(change func(*ProcessIdentity)) ProcessIdentity {
		p := me
		change(&p)
		return p
	}
	for name, test := range map[string]struct {
		process ProcessIdentity
		want    string
	}{
		"this process":      {me, ProcessRunning},
		"no process":        {with(func(p *ProcessIdentity) { p.PID = 1 << 30 }), ProcessGone},
		"impossible number": {with(func(p *ProcessIdentity) { p.PID = 0 }), ProcessGone},
		"another start":     {with(func(p *ProcessIdentity) { p.Start = "1" }), ProcessGone},
		"unknown start":     {with(func(p *ProcessIdentity) { p.Start = "" }), ProcessUnknown},
		"another machine":   {with(func(p *ProcessIdentity) { p.Scope += "x"; p.PID = 1 << 30 }), ProcessUnknown},
		"unknown machine":   {with(func(p *ProcessIdentity) { p.Scope = ""; p.PID = 1 << 30 }), ProcessUnknown},
		"nothing is known":  {ProcessIdentity{}, ProcessUnknown},
	} {
		if got := test.process.Status(); got != test.want {
			t.Errorf("%s: status %q, want %q", name, got, test.want)
		}
	}
}

// A process that has ended but is still in the table, because its parent has
// not asked for its exit code, holds no lock.
func TestZombieIsDead(t *testing.T) {
	child := testenv.Command(t, "sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	pid := child.Process.Pid
	start, _ := processStart(pid)
	p := ProcessIdentity{Scope: processScope(), PID: pid, Start: start}
	if p.Scope == "" || start == "" {
		t.Skip("SKIPPED: /proc does not say")
	}
	if got := p.Status(); got != ProcessRunning {
		t.Errorf("running child: status %q, want %q", got, ProcessRunning)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Wait until it has ended, but leave it in the table.
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.Status(); got != ProcessGone {
		t.Errorf("ended child: status %q, want %q", got, ProcessGone)
	}
}
