// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package soak_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// losses are damages to a journal that a power cut may leave, and worse ones.
var losses = []struct {
	name string
	lose func(l *life, path string, content []byte) error
}{
	{"nothing", func(*life, string, []byte) error { return nil }},
	{"missing", func(_ *life, path string, _ []byte) error { return os.Remove(path) }},
	{"emptied", func(_ *life, path string, _ []byte) error { return os.Truncate(path, 0) }},
	{"zeroed", func(_ *life, path string, content []byte) error {
		return os.WriteFile(path, make([]byte, len(content)), 0o600)
	}},
	{"cut", func(l *life, path string, content []byte) error {
		return os.Truncate(path, l.random.Int64N(used(content)+1))
	}},
	{"zeros from somewhere on", func(l *life, path string, content []byte) error {
		from := l.random.Int64N(used(content))
		return os.WriteFile(path, append(content[:from:from], make([]byte, int64(len(content))-from)...), 0o600)
	}},
	{"a byte changed", func(l *life, path string, content []byte) error {
		content[l.random.Int64N(used(content))] ^= 0x20
		return os.WriteFile(path, content, 0o600)
	}},
}

// used returns how much of a journal is not padding.
func used(content []byte) int64 {
	return max(1, int64(len(strings.TrimRight(string(content), "\r"))))
}

// The machine loses power while something is applied: all processes are gone, and the journal is
// damaged. Nothing is made twice without a stop: a command that succeeds leaves just the wanted
// objects, and one that fails for a lost journal is followed by a user who compares everything.
func TestPowerCuts(t *testing.T) {
	config := testenv.CLIConfigFile(t, testenv.FakeProviderMirror(t))
	for i := range modulesEngines {
		if engine := &modulesEngines[i]; engine.name == "native" {
			sum := &tally{}
			sum.mu.left, sum.mu.counts = *cutsFlag, map[string]int{}
			opts := lifeOptions{engine: engine, setting: engine.setting(t), config: config, sum: sum, seed: *seedFlag, cuts: true}
			if opts.seed != 0 {
				newLife(t, opts).liveWithoutPower()
				t.Log(sum)
				return
			}
			opts.seed = testenv.Seed(t)
			liveAll(t, opts)
		}
	}
}

func (l *life) liveWithoutPower() {
	l.next()
	start := time.Now()
	l.settle("apply")
	l.typical = time.Since(start)
	l.check(wanted(l.generation))
	for range l.kills(killsPerLife) {
		l.next()
		l.cutPower()
		l.settleAfterCut()
		l.check(wanted(l.generation))
	}
	l.settle("destroy")
	l.check(nil)
}

// settleAfterCut applies until that succeeds. A journal that the state does not know of yet is of
// an apply that had begun nothing, and if nobody can read whose it is, the user deletes it as the
// message says. Objects are compared after that as ever.
func (l *life) settleAfterCut() {
	for range 6 {
		done := l.run("apply", nil)
		if done.code == 0 {
			return
		}
		if !strings.Contains(done.stderr, "Unknown apply in working directory") {
			continue
		}
		files, err := filepath.Glob(filepath.Join(l.dir, l.engine.records))
		if err != nil {
			l.Fatal(err)
		}
		for _, path := range files {
			l.note("deleted: %s", filepath.Base(path))
			if err := os.Remove(path); err != nil {
				l.Fatal(err)
			}
		}
	}
	l.fatalf("apply does not succeed")
}

// cutPower begins an apply, ends all of its processes at once, and damages the journal.
func (l *life) cutPower() {
	records := filepath.Join(l.dir, l.engine.records)
	before, made := modified(records), modified(filepath.Join(l.store.Dir, "*.json"))
	delay := l.upTo(200 * time.Millisecond)
	var at time.Time
	l.run("apply", func(run *running) {
		for {
			select {
			case <-run.ended:
				return
			case <-time.After(time.Millisecond):
			}
			if at.IsZero() && modified(records) != before && (l.seed%2 == 0 || modified(filepath.Join(l.store.Dir, "*.json")) != made) {
				at = time.Now().Add(delay)
			}
			if !at.IsZero() && time.Now().After(at) && run.signal(syscall.SIGKILL) {
				l.killAll()
				return
			}
		}
	})
	l.killAll()
	files, err := filepath.Glob(records)
	if err != nil {
		l.Fatal(err)
	}
	for _, path := range files {
		content, err := os.ReadFile(path)
		if err != nil {
			l.Fatal(err)
		}
		loss := losses[l.random.IntN(len(losses))]
		if err := loss.lose(l, path, content); err != nil {
			l.Fatal(err)
		}
		l.note("power cut: %s: %s", filepath.Base(path), loss.name)
		l.made++
		l.sum.kill(fmt.Sprintf("the power: journal %s", loss.name))
		clear(l.written) // the journal has lost its content
	}
}
