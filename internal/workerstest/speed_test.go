// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
)

// The stacks of the measurement, each of so many objects that are made one after the other.
const (
	speedStacks  = 40
	speedObjects = 20
	speedTime    = 200 * time.Millisecond // that an object takes
)

// The figures of docs/performance.md. They are measured when somebody asks for it: a machine that
// does something else at the same time shows others.
func TestSpeed(t *testing.T) {
	if !*speedFlag {
		t.Skip("measured by: go test ./internal/workerstest -run TestSpeed -speed -v")
	}
	alone, aloneCost := measure(t, 0)
	one, oneCost := measure(t, 1)
	four, fourCost := measure(t, 4)
	each := func(cost time.Duration) float64 { return (cost - aloneCost).Seconds() * 1000 / speedStacks }
	t.Logf("%d stacks of %d objects, %s each: without workers, 4 at the same time: %.1f s, %.1f s of processor time; "+
		"one worker of 4 slots: %.1f s; four of them: %.1f s, %.1f times as fast; processor time of a unit beyond that without workers: "+
		"%.1f ms with one worker, %.1f ms with four", speedStacks, speedObjects, speedTime,
		alone.Seconds(), aloneCost.Seconds(), one.Seconds(), four.Seconds(), one.Seconds()/four.Seconds(), each(oneCost), each(fourCost))
}

// measure has stacks applied by so many workers, none for the run itself, and returns the time that
// this takes, and the processor time of all programs but the servers.
func measure(t *testing.T, workers int) (wall, processor time.Duration) {
	t.Helper()
	c := newCluster(t, clusterOptions{queue: temporaltest.Memory, records: inPostgres, slots: 4})
	dir := filepath.Join(c.dir, "repository")
	if out, err := testenv.Command(t, testenv.Git(t), "init", "--quiet", dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	var module, workspace strings.Builder
	module.WriteString("terraform {\n  required_providers {\n    fake = { source = \"cairnstacks/fake\" }\n  }\n}\n")
	for i := range speedObjects {
		after := ""
		if i > 0 {
			after = fmt.Sprintf("fake_slow.r%d", i-1)
		}
		fmt.Fprintf(&module, "resource \"fake_slow\" \"r%d\" {\n  create_delay = %q\n  depends_on   = [%s]\n}\n", i, speedTime, after)
	}
	for i := range speedStacks {
		name := fmt.Sprintf("s%02d", i)
		writeFile(t, filepath.Join(dir, name, "main.tfcomponent.hcl"), speedStack)
		writeFile(t, filepath.Join(dir, name, "main", "main.tf"), module.String())
		fmt.Fprintf(&workspace, "stack %q {\n  path = %[1]q\n}\n", name)
	}
	writeFile(t, filepath.Join(dir, "cairn.workspace.hcl"), workspace.String())
	args := []string{"run", "apply", "-auto-approve", "-no-color"}
	env := []string{"CAIRN_RUN_KEY=" + c.keyFile("run")}
	if workers == 0 {
		args, env = append(args, "-parallel=4"), append(env, "CAIRN_WORKERS=none")
	}
	for range workers {
		c.addWorker(defaultPool)
	}
	for _, w := range c.workers {
		testenv.Within(t, "a worker serves", func() {
			for !strings.Contains(w.output(t), "Working for the pool") {
				time.Sleep(10 * time.Millisecond)
			}
		})
	}
	begun := time.Now()
	p := c.start(c.user, dir, args, env...)
	<-p.ended
	wall = time.Since(begun)
	if p.code() != 0 || len(objects(t, c.store)) != speedStacks*speedObjects {
		t.Fatalf("the run has ended with exit code %d:\n%s", p.code(), p.output(t))
	}
	processor = p.processorTime()
	for _, w := range c.workers {
		if err := w.signal(syscall.SIGTERM); err != nil {
			t.Error(err)
		}
		testenv.Receive(t, "end of a worker", w.ended)
		processor += w.processorTime()
	}
	return wall, processor
}

const speedStack = `
required_providers {
  fake = { source = "cairnstacks/fake", version = "~> 1.0" }
}
provider "fake" "main" {}
component "main" {
  source    = "./main"
  providers = { fake = provider.fake.main }
}
`
