// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package temporal_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/temporaltest"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/queue/queuetest"
	"github.com/cairnstacks/cairn/internal/workers/queue/temporal"
)

func TestMain(m *testing.M) {
	if address := os.Getenv(workerVariable); address != "" {
		serveForever(address)
		return
	}
	m.Run()
}

// connect returns a queue of a server at an address.
func connect(t testing.TB, address string, opts temporal.Options) *temporal.Queue {
	t.Helper()
	opts.Address, opts.Namespace, opts.Identity = address, temporaltest.Namespace, queuetest.WorkerName
	q, err := temporal.Open(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(q.Close)
	return q
}

func TestContract(t *testing.T) {
	s := temporaltest.Start(t, temporaltest.Memory)
	queuetest.Run(t, func(t testing.TB) queue.Queue { return connect(t, s.Address(), temporal.Options{}) })
}

// Nothing that a handler has to say gets into the database of the cluster (rule Q3).
func TestErrorsAreScrubbed(t *testing.T) {
	t.Parallel()
	database := filepath.Join(t.TempDir(), "temporal.db")
	s := temporaltest.Start(t, database)
	q := connect(t, s.Address(), temporal.Options{})
	secret := "hunter2-of-a-provider"
	task := queuetest.Task()
	w := queuetest.Serve(t, q, task.Line, 1)
	doing := queuetest.Do(t, q, task)
	w.Next().End(fmt.Errorf("%s: %w", secret, &queue.BusyError{Again: time.Millisecond}))
	w.Next().End(errors.New(secret))
	if refused := doing.Refused(queue.RefusedFailed); refused.Worker != queuetest.WorkerName {
		t.Errorf("got the worker %q, want %q", refused.Worker, queuetest.WorkerName)
	}

	s.Kill(t)
	files, err := filepath.Glob(database + "*")
	if err != nil {
		t.Fatal(err)
	}
	var all []byte
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, content...)
	}
	if !bytes.Contains(all, []byte(task.Run)) || !bytes.Contains(all, []byte(queuetest.WorkerName)) {
		t.Errorf("the database in %s has neither the task nor the worker: it is not the one that is in use", files)
	}
	if bytes.Contains(all, []byte(secret)) {
		t.Error("the database has the text of an error")
	}
}

// short is a liveness that ends while a server is away in a test.
const short = 2 * time.Second

// outages are those that a queue has told of.
type outages chan queue.Outage

func (o outages) next(t *testing.T, s *temporaltest.Server, over bool) queue.Outage {
	t.Helper()
	got := testenv.Receive(t, "word of an outage", o)
	if got.Over != over || got.Place != s.Address() || got.Since.IsZero() {
		t.Fatalf("got outage %+v, want one of %s, over: %t", got, s.Address(), over)
	}
	return got
}

// A cluster that is killed in the middle, and runs again, stops nothing (rule Q2, trap S1), and
// delivers the ends of handlers.
func TestServerKilled(t *testing.T) {
	t.Parallel()
	s := temporaltest.Start(t, temporaltest.File)
	outages := make(outages, 10)
	q := connect(t, s.Address(), temporal.Options{Away: func(o queue.Outage) { outages <- o }})
	impatient := connect(t, s.Address(), temporal.Options{Liveness: short})
	runs, ends, outlived := queuetest.Task(), queuetest.Task(), queuetest.Task()
	worker := connect(t, s.Address(), temporal.Options{})
	w := queuetest.Serve(t, worker, runs.Line, 2)
	endsWorker := queuetest.Serve(t, worker, ends.Line, 2)
	outlivedWorker := queuetest.Serve(t, worker, outlived.Line, 2)
	doing, doingEnds, doingOutlived := queuetest.Do(t, q, runs), queuetest.Do(t, q, ends), queuetest.Do(t, impatient, outlived)
	call, ending, first := w.Next(), endsWorker.Next(), outlivedWorker.Next()

	s.Kill(t)
	ending.End(nil)
	stopping := make(chan error, 1)
	go func() { stopping <- q.Stop(t.Context(), queuetest.Task()) }() // waits for the cluster (rule Q4)
	since := outages.next(t, s, false).Since                          // after the liveness of the impatient one, too
	s.Run(t)
	if over := outages.next(t, s, true); !over.Since.Equal(since) {
		t.Errorf("the outage began at %s and ended as one that began at %s", since, over.Since)
	}

	if err := testenv.Receive(t, "end of a task that does not run", stopping); err != nil {
		t.Error(err)
	}
	doingEnds.Ends(nil)
	// The attempt is dead for the cluster, though its handler runs: there is another one (rule Q1).
	second := outlivedWorker.Next()
	first.NotStopped()
	second.NotStopped()
	doingOutlived.Stop()
	second.Stopped()
	second.End(nil)
	doingOutlived.Ends(nil)
	first.NotStopped()
	first.End(nil)

	// The other one goes on as if nothing had been, and is told to stop like all.
	call.NotStopped()
	w.Idle()
	doing.Stop()
	call.Stopped()
	call.End(nil)
	doing.Ends(nil)
	select {
	case more := <-outages:
		t.Errorf("got another outage: %+v", more)
	default:
	}
}

// A cluster that has lost what it knew gets the task again.
func TestServerLost(t *testing.T) {
	t.Parallel()
	s := temporaltest.Start(t, temporaltest.Memory)
	q := connect(t, s.Address(), temporal.Options{})
	task := queuetest.Task()
	w := queuetest.Serve(t, q, task.Line, 2)
	doing := queuetest.Do(t, q, task)
	first := w.Next()
	s.Kill(t)
	s.Run(t)
	second := w.Next()
	if second.Task.ID() != task.ID() {
		t.Errorf("got the task %s, want %s", second.Task.ID(), task.ID())
	}
	first.NotStopped()
	second.NotStopped()
	first.End(nil) // of which the cluster knows nothing any more
	second.End(nil)
	doing.Ends(nil)
}

// Callers and workers may be there before the cluster is.
func TestServerLater(t *testing.T) {
	t.Parallel()
	s := temporaltest.Start(t, temporaltest.Memory)
	s.Kill(t)
	outages := make(outages, 10)
	q := connect(t, s.Address(), temporal.Options{Away: func(o queue.Outage) { outages <- o }})
	task := queuetest.Task()
	w := queuetest.Serve(t, q, task.Line, 1)
	none := queuetest.Serve(t, q, queuetest.Task().Line, 1)
	doing, stopped := queuetest.Do(t, q, task), queuetest.Do(t, q, queuetest.Task())
	if outages.next(t, s, false).Reason == "" { // it refuses connections, or has ended this one
		t.Error("nobody says why it is away")
	}
	stopped.Stop()
	stopped.Ends(queue.ErrStopped)
	none.Drain()
	none.Drained()
	s.Run(t)
	outages.next(t, s, true)
	w.Next().End(nil)
	doing.Ends(nil)
}

// A task that the cluster has got, and of which the caller does not know so, stops when that asks
// for it.
func TestStoppedWhileAsking(t *testing.T) {
	t.Parallel()
	s := temporaltest.Start(t, temporaltest.Memory)
	task := queuetest.Task()
	w := queuetest.Serve(t, connect(t, s.Address(), temporal.Options{}), task.Line, 1)
	p := newProxy(t, s.Address())
	q := connect(t, p.address, temporal.Options{})
	other := queuetest.Do(t, q, task) // opens the connection
	w.Next().End(nil)
	other.Ends(nil)

	p.answers.Lock()
	doing := queuetest.Do(t, q, task)
	call := w.Next()
	doing.Stop()
	p.answers.Unlock()
	call.Stopped()
	call.End(nil)
	doing.Ends(nil)
}

// A cluster that does not answer for a time delays nothing but what it has to do itself.
func TestServerSilent(t *testing.T) {
	t.Parallel()
	p := newProxy(t, temporaltest.Start(t, temporaltest.Memory).Address())
	q := connect(t, p.address, temporal.Options{})
	stops, ends := queuetest.Task(), queuetest.Task()
	w, endsWorker := queuetest.Serve(t, q, stops.Line, 1), queuetest.Serve(t, q, ends.Line, 1)
	doing, doingEnds := queuetest.Do(t, q, stops), queuetest.Do(t, q, ends)
	call, ending := w.Next(), endsWorker.Next()
	p.answers.Lock()
	doing.Stop()
	ending.End(nil)
	endsWorker.Drain()
	call.NotStopped()
	p.answers.Unlock()
	doingEnds.Ends(nil)
	endsWorker.Drained()
	call.Stopped()
	call.End(nil)
	doing.Ends(nil)
}

// workerVariable makes of this program a worker of a cluster at the address that is its value.
const workerVariable = "CAIRN_TEST_WORKER_OF"

const sharedPool = "shared"

// serveForever says when it has got a task, and does not end it.
func serveForever(address string) {
	q, err := temporal.Open(temporal.Options{Address: address, Namespace: temporaltest.Namespace, Identity: "first"})
	if err == nil {
		err = q.Serve(context.Background(), queue.Line{Pool: sharedPool}, 1, func(task queue.Task, _ <-chan struct{}) error {
			fmt.Println(task.ID())
			select {}
		})
	}
	fmt.Println(err)
}

// The task of a worker that was killed is given to another one.
func TestWorkerKilled(t *testing.T) {
	t.Parallel()
	s := temporaltest.Start(t, temporaltest.Memory)
	q := connect(t, s.Address(), temporal.Options{Liveness: short})
	task := queuetest.Task()
	task.Pool = sharedPool
	doing := queuetest.Do(t, q, task)

	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := testenv.Command(t, program)
	cmd.Env = append(os.Environ(), workerVariable+"="+s.Address())
	said, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var line string
	testenv.Within(t, "the first worker has the task", func() { line, err = bufio.NewReader(said).ReadString('\n') })
	if strings.TrimSpace(line) != task.ID() || err != nil && !errors.Is(err, io.EOF) {
		t.Fatalf("the first worker says %q, error %v; want %s", line, err, task.ID())
	}
	w := queuetest.Serve(t, q, queue.Line{Pool: sharedPool}, 1)
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	c := w.Next()
	c.NotStopped()
	c.End(nil)
	doing.Ends(nil)
}
