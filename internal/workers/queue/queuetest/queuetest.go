// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package queuetest has the contract of a [queue.Queue] as tests, which every kind of queue passes.
package queuetest

import (
	"context"
	"crypto/rand"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/workers/queue"
)

// Run runs the contract. Open connects to the same place each time, as different programs do, and
// closes the connection when the test ends.
func Run(t *testing.T, open func(testing.TB) queue.Queue) {
	for name, test := range map[string]func(*place){
		"a task reaches a handler once":             (*place).testOnce,
		"an ID that has ended is begun anew":        (*place).testAnew,
		"equal IDs are joined":                      (*place).testJoined,
		"stop reaches the handler":                  (*place).testStop,
		"stopped before there is a worker":          (*place).testStoppedEarly,
		"stopped before it was asked for":           (*place).testStoppedBefore,
		"somebody else stops it":                    (*place).testStopByOthers,
		"somebody else stops it before it begins":   (*place).testStopWaiting,
		"somebody else stops nothing":               (*place).testStopNothing,
		"a caller that has the answer goes":         (*place).testAnswered,
		"a busy task is delivered again":            (*place).testBusy,
		"a refused task ends":                       (*place).testRefused,
		"any other error is a refusal":              (*place).testFailed,
		"pools do not take each other's tasks":      (*place).testPools,
		"parts wait in a line of their own":         (*place).testParts,
		"as many as there are slots":                (*place).testSlots,
		"a worker that drains ends what it has":     (*place).testDrain,
		"a worker that has drained takes no more":   (*place).testDrained,
		"a worker that drains passes on the stop":   (*place).testStopWhileDraining,
		"a worker that has nothing to do ends soon": (*place).testNothingToDo,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(&place{T: t, open: open})
		})
	}
}

// place is a queue as a test has it.
type place struct {
	*testing.T
	open func(testing.TB) queue.Queue
}

// Task returns a task of a run and a pool of its own.
func Task() queue.Task {
	unique := rand.Text()
	return queue.Task{
		Run: unique, Call: "deep/call", Line: queue.Line{Pool: unique}, Version: "1", Digest: "00",
		Expires:   time.Now().Add(time.Hour).UTC().Truncate(time.Second),
		Signature: []byte{0, 1, 0xff},
	}
}

// Doing is a task that was asked for.
type Doing struct {
	t     testing.TB
	stop  context.CancelCauseFunc
	ended chan error
}

// Do asks for a task. The test waits for its end.
func Do(t testing.TB, q queue.Queue, task queue.Task) *Doing {
	ctx, stop := context.WithCancelCause(context.WithoutCancel(t.Context()))
	d := &Doing{t, stop, make(chan error, 1)}
	go func() { d.ended <- q.Do(ctx, task) }() // is received by End, or ends with the test
	t.Cleanup(d.Stop)
	return d
}

// Stop asks the handler to stop.
func (d *Doing) Stop() { d.stop(nil) }

// Answered ends the wait of a caller that has the answer.
func (d *Doing) Answered() { d.stop(queue.ErrAnswered) }

// End waits for the end of the task and returns its error.
func (d *Doing) End() error {
	d.t.Helper()
	return testenv.Receive(d.t, "the end of the task", d.ended)
}

// Ends fails the test if the task does not end with an error.
func (d *Doing) Ends(want error) {
	d.t.Helper()
	if err := d.End(); !errors.Is(err, want) {
		d.t.Errorf("Do: got error %v, want %v", err, want)
	}
}

// Refused fails the test if the task does not end with a refusal, and returns that.
func (d *Doing) Refused(want queue.Refusal) *queue.RefusedError {
	d.t.Helper()
	err := d.End()
	refused, ok := errors.AsType[*queue.RefusedError](err)
	if !ok || refused.Reason != want {
		d.t.Fatalf("Do: got error %v, want the refusal %s", err, want)
	}
	return refused
}

// Worker serves a pool with a handler that a test steers.
type Worker struct {
	t       testing.TB
	drain   context.CancelFunc
	drained chan error
	calls   chan *Call
}

// Call is a call of the handler. It returns as the test says.
type Call struct {
	t    testing.TB
	Task queue.Task
	stop <-chan struct{}
	end  chan error
}

// Serve serves a line until the test ends.
func Serve(t testing.TB, q queue.Queue, line queue.Line, slots int) *Worker {
	ctx, drain := context.WithCancel(context.WithoutCancel(t.Context()))
	w := &Worker{t, drain, make(chan error, 1), make(chan *Call, 100)}
	over := make(chan struct{}) // for calls that the test has not ended
	go func() {
		w.drained <- q.Serve(ctx, line, slots, func(task queue.Task, stop <-chan struct{}) error {
			c := &Call{t, task, stop, make(chan error, 1)}
			w.calls <- c
			select {
			case err := <-c.end:
				return err
			case <-over:
				return nil
			}
		})
	}()
	t.Cleanup(func() {
		close(over)
		drain()
		w.Drained()
	})
	return w
}

// Drain begins to drain.
func (w *Worker) Drain() { w.drain() }

// Drained waits until the worker has ended.
func (w *Worker) Drained() {
	w.t.Helper()
	err := testenv.Receive(w.t, "the end of the worker", w.drained)
	if err != nil {
		w.t.Errorf("Serve: got error %v", err)
	}
	w.drained <- nil // for whoever asks again
}

// Drains fails the test if the worker has ended.
func (w *Worker) Drains() {
	w.t.Helper()
	select {
	case err := <-w.drained:
		w.t.Fatalf("Serve has returned with a call that runs, error %v", err)
	default:
	}
}

// Next waits for the next call.
func (w *Worker) Next() *Call {
	w.t.Helper()
	return testenv.Receive(w.t, "a call of the handler", w.calls)
}

// Idle fails the test if there is a call that was not waited for.
func (w *Worker) Idle() {
	w.t.Helper()
	select {
	case c := <-w.calls:
		w.t.Errorf("the handler was called again, for %s", c.Task.ID())
	default:
	}
}

// End has the handler return.
func (c *Call) End(err error) { c.end <- err }

// Stopped waits until the handler is told to stop.
func (c *Call) Stopped() {
	c.t.Helper()
	testenv.Receive(c.t, "the wish to stop", c.stop)
}

// NotStopped fails the test if the handler was told to stop.
func (c *Call) NotStopped() {
	c.t.Helper()
	select {
	case <-c.stop:
		c.t.Errorf("the handler of %s was told to stop", c.Task.ID())
	default:
	}
}

func (p *place) testOnce() {
	task := Task()
	doing := Do(p, p.open(p), task)
	w := Serve(p, p.open(p), task.Line, 2)
	c := w.Next()
	want, err := task.Signed()
	if err != nil {
		p.Fatal(err)
	}
	if got, err := c.Task.Signed(); err != nil || string(got) != string(want) || string(c.Task.Signature) != string(task.Signature) {
		p.Errorf("the handler got %+v, error %v; want %+v", c.Task, err, task)
	}
	c.NotStopped()
	c.End(nil)
	doing.Ends(nil)
	w.Idle()
}

func (p *place) testAnew() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	for range 2 {
		doing := Do(p, q, task)
		w.Next().End(nil)
		doing.Ends(nil)
	}
}

func (p *place) testJoined() {
	task := Task()
	w := Serve(p, p.open(p), task.Line, 2)
	first := Do(p, p.open(p), task)
	c := w.Next()
	q := p.open(p)
	for {
		second := Do(p, q, task)
		p.passes(q)
		second.Stop()
		select {
		case <-c.stop:
			c.End(nil)
			first.Ends(nil)
			second.Ends(nil)
			w.Idle()
			return
		case err := <-second.ended: // it was stopped before it had joined
			if !errors.Is(err, queue.ErrStopped) {
				p.Fatalf("Do: got error %v, want %v", err, queue.ErrStopped)
			}
		case <-time.After(testenv.Patience):
			p.Fatal("waited in vain for the wish to stop, or the end")
		}
	}
}

// cancelLatency is the time in which the wish to stop reaches a handler (trap S3). It is for a
// machine with much else to do: the usual time is a second.
const cancelLatency = 15 * time.Second

func (p *place) testStop() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	doing := Do(p, q, task)
	c := w.Next()
	asked := time.Now()
	doing.Stop()
	c.Stopped()
	if took := time.Since(asked); took > cancelLatency {
		p.Errorf("the wish to stop took %s, want %s at most", took, cancelLatency)
	}
	select {
	case err := <-doing.ended:
		p.Fatalf("Do has returned before the handler, error %v", err)
	default:
	}
	c.End(nil)
	doing.Ends(nil)
}

func (p *place) testStoppedEarly() {
	task, q := Task(), p.open(p)
	doing, other := Do(p, q, task), Task()
	// The other task, which is asked for later, shows that there was time for the first one to arrive.
	w := Serve(p, q, other.Line, 1)
	after := Do(p, q, other)
	w.Next().End(nil)
	after.Ends(nil)
	doing.Stop()
	doing.Ends(queue.ErrStopped)

	w = Serve(p, q, task.Line, 1)
	again := Do(p, q, task)
	c := w.Next()
	c.NotStopped()
	c.End(nil)
	again.Ends(nil)
	w.Idle()
}

func (p *place) testStoppedBefore() {
	task, q := Task(), p.open(p)
	ctx, stop := context.WithCancel(p.Context())
	stop()
	if err := q.Do(ctx, task); !errors.Is(err, queue.ErrStopped) {
		p.Errorf("Do: got error %v, want %v", err, queue.ErrStopped)
	}
	w := Serve(p, q, task.Line, 1)
	other := task
	other.Call = "other"
	doing := Do(p, q, other)
	c := w.Next()
	if c.Task.Call != other.Call {
		p.Errorf("the task was begun that was stopped before")
	}
	c.End(nil)
	doing.Ends(nil)
}

func (p *place) testAnswered() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	first := Do(p, q, task)
	c := w.Next()
	second := Do(p, q, task)
	first.Answered()
	second.Answered()
	first.Ends(nil)
	second.Ends(nil)
	p.passes(q)
	c.NotStopped()
	c.End(nil)
	w.Idle()
}

func (p *place) testStopByOthers() {
	task := Task()
	w := Serve(p, p.open(p), task.Line, 1)
	doing := Do(p, p.open(p), task)
	c := w.Next()
	q, stopping := p.open(p), make(chan error, 1)
	go func() { stopping <- q.Stop(context.WithoutCancel(p.Context()), task) }() // is received below
	c.Stopped()
	p.passes(q)
	select {
	case err := <-stopping:
		p.Fatalf("Stop has returned before the handler, error %v", err)
	default:
	}
	c.End(nil)
	doing.Ends(nil)
	if err := testenv.Receive(p, "the end of Stop", stopping); err != nil {
		p.Errorf("Stop: got error %v", err)
	}
}

func (p *place) testStopWaiting() {
	task, q := Task(), p.open(p)
	doing := Do(p, q, task)
	testenv.Within(p, "a task that waits is stopped", func() {
		for len(doing.ended) == 0 { // it may be asked for later than it is stopped
			if err := q.Stop(p.Context(), task); err != nil {
				p.Fatalf("Stop: got error %v", err)
			}
		}
	})
	doing.Ends(queue.ErrStopped)
}

func (p *place) testStopNothing() {
	task, q := Task(), p.open(p)
	if err := q.Stop(p.Context(), task); err != nil {
		p.Errorf("Stop: got error %v", err)
	}
	w := Serve(p, q, task.Line, 1)
	doing := Do(p, q, task)
	c := w.Next()
	c.NotStopped()
	c.End(nil)
	doing.Ends(nil)
	if err := q.Stop(p.Context(), task); err != nil {
		p.Errorf("Stop of a task that has ended: got error %v", err)
	}
}

func (p *place) testBusy() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	doing := Do(p, q, task)
	again := 300 * time.Millisecond
	busy := time.Now()
	w.Next().End(&queue.BusyError{Again: again})
	c := w.Next()
	if took := time.Since(busy); took < again {
		p.Errorf("delivered again after %s, want %s at least", took, again)
	}
	c.NotStopped()
	c.End(nil)
	doing.Ends(nil)
}

func (p *place) testRefused() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	for _, reason := range []queue.Refusal{queue.RefusedSignature, queue.RefusedPool} {
		doing := Do(p, q, task)
		w.Next().End(&queue.RefusedError{Reason: reason, Worker: WorkerName})
		if refused := doing.Refused(reason); refused.Worker != WorkerName {
			p.Errorf("got the worker %q, want %q", refused.Worker, WorkerName)
		}
	}
	w.Idle()
}

// WorkerName is the name of who serves, where a queue is opened with one.
const WorkerName = "worker-of-test"

func (p *place) testFailed() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	doing := Do(p, q, task)
	w.Next().End(errors.New("hidden text"))
	if text := doing.Refused(queue.RefusedFailed).Error(); text != (&queue.RefusedError{Reason: queue.RefusedFailed}).Error() {
		p.Errorf("got the error %q, want nothing of the text", text)
	}
	w.Idle()
}

func (p *place) testPools() {
	one, other, q := Task(), Task(), p.open(p)
	w := Serve(p, q, one.Line, 4)
	waiting := Do(p, q, other)
	for range 3 {
		doing := Do(p, q, one)
		c := w.Next()
		if c.Task.Pool != one.Pool {
			p.Errorf("a worker of %s got a task of %s", one.Pool, c.Task.Pool)
		}
		c.End(nil)
		doing.Ends(nil)
	}
	w.Idle()
	Serve(p, q, other.Line, 1).Next().End(nil)
	waiting.Ends(nil)
}

func (p *place) testParts() {
	work, q := Task(), p.open(p)
	part := work
	part.Call, part.Parts = "part", true
	w := Serve(p, q, work.Line, 1)
	doing := Do(p, q, work)
	c := w.Next()
	parts := Do(p, q, part)
	w.Idle()
	Serve(p, q, part.Line, 1).Next().End(nil) // while the work has the slot of the other line
	parts.Ends(nil)
	c.End(nil)
	doing.Ends(nil)
}

func (p *place) testSlots() {
	const slots, all = 2, 5
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, slots)
	var doing []*Doing
	for i := range all {
		each := task
		each.Call = string(rune('a' + i))
		doing = append(doing, Do(p, q, each))
	}
	var running []*Call
	for range slots {
		running = append(running, w.Next())
	}
	for range all - slots {
		w.Idle()
		running[0].End(nil)
		running = append(running[1:], w.Next())
	}
	w.Idle()
	for _, c := range running {
		c.End(nil)
	}
	for _, d := range doing {
		d.Ends(nil)
	}
}

func (p *place) testDrain() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 2)
	doing := Do(p, q, task)
	c := w.Next()
	w.Drain()
	p.passes(q)
	w.Drains()
	c.NotStopped()
	c.End(nil)
	doing.Ends(nil)
	w.Drained()
}

// passes waits until a task has been done by a worker of its own: time in which something else
// could have happened that must not.
func (p *place) passes(q queue.Queue) {
	p.Helper()
	other := Task()
	var serving sync.WaitGroup
	ctx, drain := context.WithCancel(p.Context())
	defer serving.Wait()
	defer drain()
	serving.Go(func() {
		if err := q.Serve(ctx, other.Line, 1, func(queue.Task, <-chan struct{}) error { return nil }); err != nil {
			p.Errorf("Serve: got error %v", err)
		}
	})
	Do(p, q, other).Ends(nil)
}

func (p *place) testDrained() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	doing := Do(p, q, task)
	w.Next().End(nil)
	doing.Ends(nil)
	w.Drain()
	w.Drained()
	waiting := Do(p, q, task)
	p.passes(q)
	w.Idle()
	Serve(p, q, task.Line, 1).Next().End(nil)
	waiting.Ends(nil)
}

func (p *place) testStopWhileDraining() {
	task, q := Task(), p.open(p)
	w := Serve(p, q, task.Line, 1)
	doing := Do(p, q, task)
	c := w.Next()
	w.Drain()
	doing.Stop()
	c.Stopped()
	w.Drains()
	c.End(nil)
	doing.Ends(nil)
	w.Drained()
}

func (p *place) testNothingToDo() {
	w := Serve(p, p.open(p), Task().Line, 3)
	w.Drain()
	w.Drained()
}
