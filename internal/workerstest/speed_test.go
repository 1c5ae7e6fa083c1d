// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// The sizes of the measurements. Objects take speedTime each, one after the other.
const (
	speedTime       = 200 * time.Millisecond
	speedStacks     = 40
	speedObjects    = 20  // of a stack
	speedComponents = 300 // which have nothing to do with each other
	speedParts      = 5   // objects of a component
	speedSlots      = 2   // of a worker: the processors of one machine are for all of them
)

// sample is what is applied.
type sample struct {
	write    func(t *testing.T, dir string, onWorkers bool)
	dir      string   // below that of the repository
	command  []string // without plan or apply
	parallel string   // option for the number of parts at the same time
	parts    int      // which workers do
	objects  int
}

// The figures of docs/performance.md. They are measured when somebody asks for it: a machine that
// does something else at the same time shows others.
func TestSpeed(t *testing.T) {
	if !*speedFlag {
		t.Skip("measured by: go test ./internal/workerstest -run TestSpeed -speed -v")
	}
	for name, s := range map[string]sample{
		"stacks": {
			write: speedRepository, command: []string{"run"}, parallel: "-parallel",
			parts: speedStacks, objects: speedStacks * speedObjects,
		},
		"components": {
			write: speedStack, dir: "stack", parallel: "-parallelism",
			parts: speedComponents, objects: speedComponents * speedParts,
		},
	} {
		t.Run(name, func(t *testing.T) {
			var wall, processor, more [2]time.Duration
			for i, workers := range []int{1, 4} {
				// As many at the same time without workers: that makes a difference to processor time.
				_, alone := measure(t, s, 0, workers*speedSlots)
				wall[i], processor[i] = measure(t, s, workers, 32)
				more[i] = (processor[i] - alone) / time.Duration(s.parts)
			}
			t.Logf("%d %s, %d objects of %s: one worker of %d slots: %.1f s; four of them: %.1f s, %.1f times as fast; "+
				"processor time of cairn for each beyond that without workers: %s with one worker, %s with four", s.parts, name, s.objects,
				speedTime, speedSlots, wall[0].Seconds(), wall[1].Seconds(), wall[0].Seconds()/wall[1].Seconds(), more[0], more[1])
		})
	}
}

// measure has a sample applied by so many workers, none for the program itself, so many parts at
// the same time, and returns the time that this takes, and the processor time of the program and
// the workers. Their providers, which do the same in all cases, are no part of it, nor is the first
// work of workers, which have planned the sample before.
func measure(t *testing.T, s sample, workers, parallel int) (wall, processor time.Duration) {
	t.Helper()
	c := newCluster(t, clusterOptions{queue: temporaltest.Memory, records: inPostgres, slots: speedSlots})
	dir := filepath.Join(c.dir, "repository")
	if out, err := testenv.Command(t, testenv.Git(t), "init", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	s.write(t, dir, workers > 0)
	options, env := []string{fmt.Sprintf("%s=%d", s.parallel, parallel)}, []string{"CAIRN_RUN_KEY=" + c.keyFile("run")}
	if workers == 0 {
		env = append(env, "CAIRN_WORKERS=none")
	}
	for range workers {
		c.addWorker(defaultPool)
	}
	for _, w := range c.workers {
		testenv.Within(t, "a worker serves", func() {
			for !strings.Contains(w.output(t), serves) {
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	run := func(args ...string) *process {
		p := c.start(c.user, filepath.Join(dir, s.dir), slices.Concat(s.command, args, options), env...)
		<-p.ended
		if p.code() != 0 || p.ownError != nil {
			t.Fatalf("the program has ended with exit code %d, error %v:\n%s", p.code(), p.ownError, p.output(t))
		}
		return p
	}
	run("plan")
	started := time.Duration(0) // processor time of workers before
	for _, w := range c.workers {
		used, err := ownTime(w.cmd.Process.Pid)
		if err != nil {
			t.Fatal(err)
		}
		started += used
	}
	begun := time.Now()
	p := run("apply", "-auto-approve", "-no-color")
	wall = time.Since(begun)
	if made := len(objects(t, c.store)); made != s.objects {
		t.Fatalf("there are %d objects, want %d", made, s.objects)
	}
	processor = p.own - started
	for _, w := range c.workers {
		if err := w.signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		testenv.Receive(t, "end of a worker", w.ended)
		if w.ownError != nil {
			t.Error(w.ownError)
		}
		processor += w.own
	}
	t.Logf("%d workers, %d at the same time: %s, %s of processor time, of which the program has used %s, "+
		"besides the start and first work of workers, %s",
		workers, parallel, wall, processor, p.own, started)
	return wall, processor
}

// ownTimeAtEnd waits for the end of a process of this one, and returns the processor time that it
// has used: once it is waited for by other means, that of its children is in it.
func ownTimeAtEnd(pid int) (time.Duration, error) {
	err := error(unix.EINTR)
	for errors.Is(err, unix.EINTR) {
		err = unix.Waitid(unix.P_PID, pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
	}
	if err != nil {
		return 0, err
	}
	return ownTime(pid)
}

// ownTime returns the processor time that a process has used so far, without that of its children.
// It may have ended, if nobody has waited for it.
func ownTime(pid int) (time.Duration, error) {
	content, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(content), ") ") // after the name of the program
	fields := strings.Fields(rest)
	ticks := 0
	for _, field := range fields[11:13] { // of this process, for itself and in the system
		count, err := strconv.Atoi(field)
		if err != nil {
			return 0, err
		}
		ticks += count
	}
	return time.Duration(ticks) * 10 * time.Millisecond, nil // on all architectures that Go knows
}

const speedProvider = "terraform {\n  required_providers {\n    fake = { source = \"cairnstacks/fake\" }\n  }\n}\n"

const speedComponent = `
component %q {
  source    = "./main"
  providers = { fake = provider.fake.main }
}
`

const speedHead = `
required_providers {
  fake = { source = "cairnstacks/fake", version = "~> 1.0" }
}
provider "fake" "main" {}
`

// speedModule returns a module of so many objects.
func speedModule(objects int) string {
	var module strings.Builder
	module.WriteString(speedProvider)
	for i := range objects {
		after := ""
		if i > 0 {
			after = fmt.Sprintf("fake_slow.r%d", i-1)
		}
		fmt.Fprintf(&module, "resource \"fake_slow\" \"r%d\" {\n  create_delay = %q\n  depends_on   = [%s]\n}\n", i, speedTime, after)
	}
	return module.String()
}

// speedRepository writes stacks of one component each.
func speedRepository(t *testing.T, dir string, _ bool) {
	t.Helper()
	var workspace strings.Builder
	module := speedModule(speedObjects)
	for i := range speedStacks {
		name := fmt.Sprintf("s%02d", i)
		writeFile(t, filepath.Join(dir, name, "main.tfcomponent.hcl"), speedHead+fmt.Sprintf(speedComponent, "main"))
		writeFile(t, filepath.Join(dir, name, "main", "main.tf"), module)
		fmt.Fprintf(&workspace, "stack %q {\n  path = %[1]q\n}\n", name)
	}
	writeFile(t, filepath.Join(dir, "cairn.workspace.hcl"), workspace.String())
}

// speedStack writes one stack, whose components are all in a pool if workers do the work.
func speedStack(t *testing.T, dir string, onWorkers bool) {
	t.Helper()
	var stack strings.Builder
	stack.WriteString(speedHead)
	var pool []string
	for i := range speedComponents {
		name := fmt.Sprintf("c%03d", i)
		fmt.Fprintf(&stack, speedComponent, name)
		pool = append(pool, fmt.Sprintf("%q", "component."+name))
	}
	writeFile(t, filepath.Join(dir, "stack", "main.tfcomponent.hcl"), stack.String())
	writeFile(t, filepath.Join(dir, "stack", "main", "main.tf"), speedModule(speedParts))
	if !onWorkers {
		return
	}
	writeFile(t, filepath.Join(dir, "stack", "cairn.hcl"),
		fmt.Sprintf("pool %q {\n  components = [%s]\n}\n", defaultPool, strings.Join(pool, ", ")))
}
