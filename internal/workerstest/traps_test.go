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
	"github.com/cairnstacks/cairn/internal/testprovider"
)

// trapCluster has two workers of one pool, and a repository of one stack whose objects are made one
// after the other.
type trapCluster struct {
	*cluster
	dir   string // of the repository
	calls string // file with the calls of the provider
	made  int    // stacks
}

func newTrapCluster(t *testing.T) *trapCluster {
	calls := filepath.Join(t.TempDir(), "calls")
	c := &trapCluster{calls: calls, cluster: newCluster(t, clusterOptions{
		queue: temporaltest.File, records: inObjects, environ: []string{testprovider.CallsVariable + "=" + calls},
	})}
	c.dir = filepath.Join(c.cluster.dir, "repository")
	if out, err := testenv.Command(t, testenv.Git(t), "init", "--quiet", c.dir).CombinedOutput(); err != nil {
		t.Fatalf("git init: %v\n%s", err, out)
	}
	for range 2 {
		c.addWorker(defaultPool)
	}
	return c
}

// during runs a subtest.
func (c *trapCluster) during(name string, do func(t *testing.T)) {
	whole := c.T
	defer func() { c.T = whole }()
	whole.Run(name, func(t *testing.T) {
		c.T = t
		do(t)
	})
}

// apply begins to apply a new stack with so many objects, each of which takes a time, and returns
// once the first one is made.
func (c *trapCluster) apply(number int, each time.Duration) *process {
	c.Helper()
	c.write(number, each, "")
	begun := c.creates()
	p := c.startRun()
	testenv.Within(c, "an object is made", func() {
		for c.creates() == begun {
			select {
			case <-p.ended:
				c.Fatalf("the run has ended early:\n%s", p.output(c))
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	return p
}

// startRun begins to apply the stack that was written last.
func (c *trapCluster) startRun() *process {
	return c.start(c.user, c.dir, []string{"run", "apply", "-auto-approve", "-no-color"}, "CAIRN_RUN_KEY="+c.keyFile("run"))
}

// write writes a new stack with so many objects, each of which takes a time, and arguments of the
// stack in the workspace file.
func (c *trapCluster) write(number int, each time.Duration, arguments string) {
	c.Helper()
	c.made++
	name := fmt.Sprintf("stack%d", c.made)
	var module strings.Builder
	module.WriteString("terraform {\n  required_providers {\n    fake = { source = \"cairnstacks/fake\" }\n  }\n}\n")
	for i := range number {
		after := ""
		if i > 0 {
			after = fmt.Sprintf("fake_slow.r%d", i-1)
		}
		fmt.Fprintf(&module, "resource \"fake_slow\" \"r%d\" {\n  value        = \"%s-%d\"\n  create_delay = %q\n  depends_on   = [%s]\n}\n",
			i, name, i, each, after)
	}
	writeFile(c, filepath.Join(c.dir, name, "main.tfcomponent.hcl"), `
required_providers {
  fake = { source = "cairnstacks/fake", version = "~> 1.0" }
}
provider "fake" "main" {}
component "main" {
  source    = "./main"
  providers = { fake = provider.fake.main }
}
`)
	writeFile(c, filepath.Join(c.dir, name, "main", "main.tf"), module.String())
	writeFile(c, filepath.Join(c.dir, "cairn.workspace.hcl"), fmt.Sprintf("stack %q {\n  path = %[1]q\n%s}\n", name, arguments))
}

// creates returns the number of objects that providers were asked to make.
func (c *trapCluster) creates() int {
	calls, err := testprovider.ReadCalls(c.calls)
	if err != nil {
		c.Fatal(err)
	}
	count := 0
	for _, call := range calls {
		if call.RPC == "ApplyResourceChange" && call.Action == "create" && !call.Finished {
			count++
		}
	}
	return count
}

// at returns the worker that applies, and the other one.
func (c *trapCluster) at(p *process) (applying, other *worker) {
	c.Helper()
	shown, err := c.answer(c.dir, "run", "show", announcedIn(c, p))
	if err != nil {
		c.Fatal(err)
	}
	for i, w := range c.workers {
		if strings.Contains(shown, "apply by "+w.name+" since") {
			return w, c.workers[1-i]
		}
	}
	c.Fatalf("nobody applies:\n%s", shown)
	return nil, nil
}

func announcedIn(t testing.TB, p *process) string {
	t.Helper()
	found := announced.FindStringSubmatch(p.output(t))
	if found == nil {
		t.Fatalf("no run is announced:\n%s", p.output(t))
	}
	return found[1]
}

// succeeds fails unless a run succeeds, with all of the objects made once.
func (c *trapCluster) succeeds(p *process, creates int) {
	c.Helper()
	testenv.Receive(c, "end of the run", p.ended)
	if p.code() != 0 {
		c.Errorf("the run has ended with exit code %d:\n%s", p.code(), p.output(c))
	}
	if got := c.creates(); got != creates {
		c.Errorf("the providers were asked to make %d objects in all, want %d", got, creates)
	}
	if strings.Contains(p.output(c), "nterrupt") {
		c.Errorf("something was interrupted:\n%s", p.output(c))
	}
}

// The traps of queues and locks that end healthy work, or do it twice.
func TestTraps(t *testing.T) {
	t.Parallel()
	c := newTrapCluster(t)
	// S1: what ends the context of a task, other than the wish to stop it, does not interrupt it.
	c.during("S1: the queue is away during an apply", func(t *testing.T) {
		before := c.creates()
		p := c.apply(4, 2*time.Second)
		c.temporal.Kill(t)
		time.Sleep(liveness + time.Second)
		c.temporal.Run(t)
		c.succeeds(p, before+4)
	})
	// S2: signs of life that are not delivered do not keep the lock from being renewed.
	c.during("S2: signs of life are held up during an apply", func(t *testing.T) {
		before := c.creates()
		p := c.apply(6, 2*time.Second)
		w, _ := c.at(p)
		w.queue.freeze()
		time.Sleep(leaseTime + time.Second)
		w.queue.heal()
		c.succeeds(p, before+6)
	})
	// S3: the wish to stop reaches the worker with the next sign of life, and once.
	c.during("S3: an interrupt reaches the worker soon", func(t *testing.T) {
		before := c.creates()
		p := c.apply(10, time.Second)
		begun := time.Now()
		if err := p.signal(syscall.SIGINT); err != nil {
			t.Fatal(err)
		}
		testenv.Receive(t, "end of the run", p.ended)
		if took := time.Since(begun); took > 6*time.Second {
			t.Errorf("the run has ended %s after it was interrupted", took)
		}
		if made := c.creates() - before; made == 10 || p.code() == 0 {
			t.Errorf("%d of 10 objects were made, and the exit code is %d:\n%s", made, p.code(), p.output(t))
		}
		state, err := c.answer(filepath.Join(c.dir, fmt.Sprintf("stack%d", c.made)), "show", "-json")
		if err != nil {
			t.Fatal(err)
		}
		for id, address := range objects(t, c.store) {
			if strings.HasPrefix(address, fmt.Sprintf("stack%d-", c.made)) && !strings.Contains(state, id) {
				t.Errorf("%s (%s) is not in the state", address, id)
			}
		}
	})
	// S4: the end of an apply is recorded as soon as that is possible.
	c.during("S4: states and records are away as an apply ends", func(t *testing.T) {
		before := c.creates()
		p := c.apply(1, 2*time.Second)
		c.objects.Kill(t)
		c.postgres.Stop(t, syscall.SIGQUIT)
		time.Sleep(leaseTime)
		c.postgres.Run(t)
		time.Sleep(time.Second)
		c.objects.Run(t)
		c.succeeds(p, before+1)
	})
	// S5: a queue that comes back at the same address goes on at once.
	c.during("S5: the queue is killed and comes back", func(t *testing.T) {
		before := c.creates()
		c.temporal.Restart(t)
		begun := time.Now()
		p := c.apply(1, 10*time.Millisecond)
		c.succeeds(p, before+1)
		if took := time.Since(begun); took > 20*time.Second {
			t.Errorf("a run has taken %s after the queue was killed", took)
		}
	})
	c.during("W3: nobody works for a pool", func(t *testing.T) {
		before := c.creates()
		c.write(1, 10*time.Millisecond, fmt.Sprintf("  tags = [%q]\n", otherPool))
		p := c.startRun()
		waits := fmt.Sprintf("stack%d waits for a worker of the pool %s.", c.made, otherPool)
		testenv.Within(t, "the run says that it waits", func() {
			for !strings.Contains(p.output(t), waits) {
				time.Sleep(50 * time.Millisecond)
			}
		})
		shown, err := c.answer(c.dir, "run", "show", announcedIn(t, p))
		if want := "plan waits for a worker of the pool " + otherPool; err != nil || !strings.Contains(shown, want) {
			t.Errorf("the run is shown as\n%s%v\nwant %q", shown, err, want)
		}
		c.addWorker(otherPool)
		c.succeeds(p, before+1)
	})
}
