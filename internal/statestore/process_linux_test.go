// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"testing"

	"golang.org/x/sys/unix"
)

func TestProcessIdentity(t *testing.T) {
	me := currentProcess()
	if me.scope == "" || me.start == "" {
		t.Skipf("SKIPPED: /proc does not say: %+v", me)
	}
	with := func(change func(*processIdentity)) processIdentity {
		p := me
		change(&p)
		return p
	}
	for name, test := range map[string]struct {
		process processIdentity
		want    liveness
	}{
		"this process":      {me, livenessRunning},
		"no process":        {with(func(p *processIdentity) { p.pid = 1 << 30 }), livenessDead},
		"impossible number": {with(func(p *processIdentity) { p.pid = 0 }), livenessDead},
		"another start":     {with(func(p *processIdentity) { p.start = "1" }), livenessDead},
		"unknown start":     {with(func(p *processIdentity) { p.start = "" }), livenessUnknown},
		"another machine":   {with(func(p *processIdentity) { p.scope += "x"; p.pid = 1 << 30 }), livenessUnknown},
		"unknown machine":   {with(func(p *processIdentity) { p.scope = ""; p.pid = 1 << 30 }), livenessUnknown},
		"nothing is known":  {processIdentity{}, livenessUnknown},
	} {
		if got := test.process.liveness(); got != test.want {
			t.Errorf("%s: liveness %d, want %d", name, got, test.want)
		}
	}
}

// A process that has ended but is still in the table, because its parent has
// not asked for its exit code, holds no lock.
func TestZombieIsDead(t *testing.T) {
	c := startChild(t, "hold", t.TempDir()+"/cairn.state.db")
	c.line(t)
	pid := c.cmd.Process.Pid
	start, _ := processStart(pid)
	p := processIdentity{scope: processScope(), pid: pid, start: start}
	if p.scope == "" || start == "" {
		t.Skip("SKIPPED: /proc does not say")
	}
	if got := p.liveness(); got != livenessRunning {
		t.Errorf("running child: liveness %d, want %d", got, livenessRunning)
	}
	if err := c.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	// Wait until it has ended, but leave it in the table.
	var info unix.Siginfo
	if err := unix.Waitid(unix.P_PID, pid, &info, unix.WEXITED|unix.WNOWAIT, nil); err != nil {
		t.Fatal(err)
	}
	if got := p.liveness(); got != livenessDead {
		t.Errorf("ended child: liveness %d, want %d", got, livenessDead)
	}
}
