// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// kill is a kind of kill.
type kill struct {
	name string
	kill func(l *life, run *running) bool // reports whether there was something to kill

	orderly bool // cairn ends by itself, once it has begun anything
	engine  bool // kills processes of the engine
}

var kinds = []kill{
	{name: "cairn", kill: func(_ *life, run *running) bool { return run.signal(syscall.SIGKILL) }},
	{name: "tree", kill: func(l *life, run *running) bool { return l.killTree(run) }},
	{name: "cairn, then engine", engine: true, kill: func(l *life, run *running) bool {
		killed := run.signal(syscall.SIGKILL)
		time.Sleep(l.upTo(100 * time.Millisecond))
		l.killOne(l.engine.programs...)
		return killed
	}},
	{name: "engine", engine: true, orderly: true, kill: func(l *life, _ *running) bool { return l.killOne(l.engine.programs...) }},
	{name: "provider", orderly: true, kill: func(l *life, _ *running) bool { return l.killOne("terraform-provider-fake") }},
	{name: "SIGINT", orderly: true, kill: func(_ *life, run *running) bool { return run.signal(syscall.SIGINT) }},
	{name: "SIGTERM", orderly: true, kill: func(_ *life, run *running) bool { return run.signal(syscall.SIGTERM) }},
	{name: "SIGHUP", orderly: true, kill: func(_ *life, run *running) bool { return run.signal(syscall.SIGHUP) }},
	{name: "SIGINT, then cairn", kill: func(l *life, run *running) bool {
		interrupted := run.signal(syscall.SIGINT)
		time.Sleep(l.upTo(50 * time.Millisecond))
		return run.signal(syscall.SIGKILL) || interrupted
	}},
}

// signal sends a signal to cairn, and reports whether it was still there.
func (r *running) signal(signal syscall.Signal) bool {
	select {
	case <-r.ended:
		return false
	default:
		return syscall.Kill(r.pid, signal) == nil
	}
}

// killTree kills cairn and all processes that it has started.
func (l *life) killTree(run *running) bool {
	killed := run.signal(syscall.SIGKILL)
	limit := time.Now().Add(testenv.Patience)
	for len(processes(l.dir, "")) > 0 {
		if l.killAll(); time.Now().After(limit) {
			l.fatalf("killed processes are still there after %s", testenv.Patience)
		}
	}
	return killed
}

// loseMachine kills all, and what is not in the state is gone with the machine.
func (l *life) loseMachine(run *running) bool {
	killed := l.killTree(run)
	if killed {
		clear(l.written)
		if err := os.RemoveAll(filepath.Join(l.dir, ".cairn")); err != nil {
			l.Error(err)
		}
	}
	return killed
}

// killOne kills one of the life's processes of these programs.
func (l *life) killOne(programs ...string) bool {
	var pids []int
	for _, program := range programs {
		pids = append(pids, processes(l.dir, program)...)
	}
	return len(pids) > 0 && syscall.Kill(pids[l.random.IntN(len(pids))], syscall.SIGKILL) == nil
}

// killed runs a command and kills something at a random moment.
func (l *life) killed(command string) result {
	kinds := l.engine.kinds()
	if l.database != nil && l.database.restart != nil {
		kinds = append(kinds, kill{name: "database", kill: func(l *life, _ *running) bool { return l.database.kill() }})
	}
	if l.database != nil {
		kinds = append(kinds, kill{name: "machine", kill: func(l *life, run *running) bool { return l.loseMachine(run) }})
	}
	kind := kinds[l.random.IntN(len(kinds))]
	reached := l.moment()
	done := l.run(command, func(run *running) {
		for {
			select {
			case <-run.ended:
				return // before the kill
			default:
			}
			if !reached() {
				time.Sleep(time.Millisecond) // as precise as it need be
				continue
			}
			if kind.kill(l, run) {
				l.note("kill: %s", kind.name)
				l.made++
				l.sum.kill(kind.name)
				return
			}
			time.Sleep(time.Millisecond)
		}
	})
	if done.code < 0 && kind.orderly && done.stdout+done.stderr != "" {
		l.fatalf("ended by %s", kind.name)
	}
	return done
}

func (l *life) upTo(d time.Duration) time.Duration { return time.Duration(l.random.Int64N(int64(d))) }

// moment returns a function that reports whether the moment for a kill has come: any time, or
// shortly after a process is about to be started, or after something has been made or deleted.
func (l *life) moment() func() bool {
	var at time.Time
	after := func(delay time.Duration, happened func() bool) func() bool {
		return func() bool {
			if at.IsZero() && happened() {
				at = time.Now().Add(delay)
			}
			return !at.IsZero() && !time.Now().Before(at)
		}
	}
	changed := func(pattern string, delay time.Duration) func() bool {
		before := modified(pattern)
		return after(delay, func() bool { return modified(pattern) != before })
	}
	switch l.random.IntN(4) {
	case 0:
		return changed(filepath.Join(l.dir, l.engine.records), l.upTo(20*time.Millisecond))
	case 1:
		return changed(filepath.Join(l.store.Dir, "*.json"), l.upTo(100*time.Millisecond))
	case 2:
		return changed(filepath.Join(l.dir, l.engine.records), l.upTo(500*time.Millisecond))
	default:
		return after(l.upTo(l.typical), func() bool { return true })
	}
}

// modified returns a number that changes with the files of a pattern.
func modified(pattern string) (sum int64) {
	files, err := filepath.Glob(pattern)
	if err != nil {
		return 0
	}
	for _, file := range files {
		if info, err := os.Stat(file); err == nil {
			sum += info.ModTime().UnixNano()
		}
	}
	return sum
}
