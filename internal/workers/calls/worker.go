// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package calls

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

// Worker carries out calls of one pool. Its fields are not changed while it is used.
type Worker struct {
	Records  records.Store
	Key      envelope.PoolKey
	Trusted  envelope.RunPublic // of who may start work
	Version  string
	Self     Attempt // whose time is set for each attempt
	Handlers map[string]Handler

	// Death is the time without a sign of life after which a worker is lost; 0 stands for a minute.
	Death time.Duration

	mu struct {
		sync.Mutex
		running map[string]*running // by the ID of the task
	}
}

// Work is a call as its handler has it.
type Work struct {
	Run, Call string
	Changes   bool // as in [Call]
	Body      []byte

	// Before are the attempts of other processes that have left no answer (rule C2). Of a call that
	// may change something, their workers are lost (rule C5).
	Before []Attempt

	Stop <-chan struct{} // closed when the caller asks to stop
	Now  <-chan struct{} // closed when somebody waits for the end

	// Say reports something to the caller soon. Keep does so as well, and returns when that is
	// recorded, with all that was said before.
	Say  func(content []byte)
	Keep func(ctx context.Context, content []byte) error
}

// Handler carries out a call, and returns its answer. Ctx does not end.
//
// Errors: [*queue.BusyError], without an answer; [ErrLost] and others, which reach the caller as
// [*FailedError].
type Handler func(ctx context.Context, work *Work) ([]byte, error)

// safely carries out a call whose handler may have a bug, which is to end no other one.
func (h Handler) safely(ctx context.Context, work *Work) (body []byte, err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("the worker has failed: %v. This is a bug in cairn; please report it\n%s", problem, debug.Stack())
		}
	}()
	return h(ctx, work)
}

// running is a call that this process carries out.
type running struct {
	stop  chan struct{}
	ask   func() // closes stop, once
	ended chan struct{}
	err   error // once it has ended
}

// Serve takes calls from the lines of a queue until ctx ends, so many of each line at the same
// time, and returns when those that have begun are answered.
func (w *Worker) Serve(ctx context.Context, from queue.Queue, slots int) error {
	serving, serves := errgroup.WithContext(ctx)
	for _, line := range queue.Lines(w.Self.Pool) {
		serving.Go(func() error {
			return from.Serve(serves, line, slots, func(task queue.Task, stop <-chan struct{}) error {
				return w.take(context.WithoutCancel(ctx), task, stop)
			})
		})
	}
	return serving.Wait()
}

// Running returns the number of calls that this process carries out.
func (w *Worker) Running() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.mu.running)
}

// StopAll asks all calls that this process carries out to stop.
func (w *Worker) StopAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, r := range w.mu.running {
		r.ask()
	}
}

// Fetch returns the content of a record that is sealed for the pool.
func (w *Worker) Fetch(ctx context.Context, record string) ([]byte, error) {
	sealed, err := w.Records.Get(ctx, record)
	if err != nil {
		return nil, err
	}
	return w.Key.Open(record, sealed)
}

// take carries out the call of a task, or joins it: a queue delivers a task again that it believes
// to be dead, also to the process in which it runs.
func (w *Worker) take(ctx context.Context, task queue.Task, stop <-chan struct{}) error {
	if err := w.check(task); err != nil {
		return err
	}
	w.mu.Lock()
	if w.mu.running == nil {
		w.mu.running = map[string]*running{}
	}
	r, joined := w.mu.running[task.ID()]
	if !joined {
		stopped := make(chan struct{})
		r = &running{stop: stopped, ask: sync.OnceFunc(func() { close(stopped) }), ended: make(chan struct{})}
		w.mu.running[task.ID()] = r
	}
	w.mu.Unlock()
	if !joined {
		go func() {
			r.err = w.carryOut(ctx, task, r)
			w.mu.Lock()
			delete(w.mu.running, task.ID())
			w.mu.Unlock()
			close(r.ended)
		}()
	}
	select {
	case <-r.ended:
		return r.err
	case <-stop:
		r.ask()
	}
	<-r.ended
	return r.err
}

// check refuses a task that this worker may not take (rule C3).
func (w *Worker) check(task queue.Task) error {
	message, err := task.Signed()
	switch {
	case err != nil || task.Pool != w.Self.Pool || !w.Trusted.Verify(message, task.Signature):
		return w.refuse(queue.RefusedSignature)
	case task.Version != w.Version:
		return w.refuse(queue.RefusedVersion)
	case time.Now().After(task.Expires):
		return w.refuse(queue.RefusedExpired)
	}
	return nil
}

func (w *Worker) refuse(reason queue.Refusal) error {
	return &queue.RefusedError{Reason: reason, Worker: w.Self.Worker}
}

// carryOut makes an attempt at a call, and records its answer.
func (w *Worker) carryOut(ctx context.Context, task queue.Task, r *running) error {
	at := folder(task.Run, task.Call)
	asked, err := w.request(ctx, task, at)
	if err != nil {
		return err
	}
	handle, ok := w.Handlers[asked.Kind]
	if !ok {
		return w.refuse(queue.RefusedVersion)
	}
	attempt, before, err := w.begin(ctx, at, task.Changes)
	switch {
	case err != nil:
		return w.again(err)
	case attempt == 0:
		return nil // it is answered (rule C1), or withdrawn (rule C6)
	}
	reports := &reporter{worker: w, at: at, attempt: attempt}
	over := make(chan struct{})
	var around sync.WaitGroup
	now := make(chan struct{})
	around.Go(func() { reports.until(ctx, over) })
	if task.Changes {
		around.Go(func() { w.live(ctx, at, attempt, over) })
	}
	around.Go(func() { w.waitForNow(ctx, at, r.stop, over, now) })
	began := time.Now().UTC()
	traced, span := telemetry.Received(ctx, asked.Trace, w.Self.Pool)
	body, err := handle.safely(traced, &Work{
		Run: task.Run, Call: task.Call, Changes: task.Changes, Body: asked.Body, Before: before, Stop: r.stop, Now: now,
		Say: reports.say, Keep: reports.keep,
	})
	close(over)
	around.Wait()
	if err != nil {
		span.Fail("failed")
	}
	span.End()
	if _, busy := errors.AsType[*queue.BusyError](err); busy {
		return err
	}
	given := answer{Attempt: attempt, Worker: w.Self.Worker, Began: began, Ended: time.Now().UTC(), Body: body}
	if err != nil {
		given.Body, given.Failure = nil, err.Error()
	}
	w.untilRecorded(func() error { return reports.settle(ctx) })
	given.Chunks, given.Tail = reports.rest()
	if errors.Is(err, ErrLost) {
		w.untilRecorded(func() (err error) {
			given.Attempt, given.Lost, given.Tail = 1, true, nil // what the first one has reported is all that there is
			given.Chunks, err = w.closeReports(ctx, at, 1)
			return err
		})
	}
	w.untilRecorded(func() error { return w.put(ctx, at+answerName, given) })
	return nil
}

// untilRecorded records something that nobody else can, as the outcome of an apply, however long
// the records are away. Meanwhile the call goes on for its queue.
func (w *Worker) untilRecorded(record func() error) {
	for record() != nil {
		<-time.After(patience)
	}
}

// patience is the time after which a call is delivered again when the records are away.
const patience = 5 * time.Second

// again has a call delivered again after an error of the records.
func (w *Worker) again(err error) error {
	if err == nil {
		return nil
	}
	if busy, ok := errors.AsType[*queue.BusyError](err); ok {
		return busy
	}
	return &queue.BusyError{Again: patience}
}

// begin records an attempt at a call, and returns its number and the attempts of other processes
// before it. The number is 0 if there is nothing to do any more.
func (w *Worker) begin(ctx context.Context, at string, changes bool) (attempt int, before []Attempt, err error) {
	last := w.Self
	for attempt = 1; ; attempt++ {
		self := w.Self
		self.Began = time.Now().UTC()
		text, err := json.Marshal(self)
		if err != nil {
			return 0, nil, err
		}
		if changes && last.Process != w.Self.Process {
			if err := w.loseBefore(ctx, at, attempt-1); err != nil {
				return 0, nil, err
			}
		}
		err = w.Records.Put(ctx, at+takenRecord(attempt), text)
		if err == nil {
			return attempt, before, nil
		}
		if !errors.Is(err, records.ErrExists) {
			return 0, nil, err
		}
		if attempt == 1 {
			_, err := w.Records.Get(ctx, at+answerName)
			if !errors.Is(err, records.ErrMissing) {
				return 0, nil, err
			}
		}
		last, err = readAttempt(ctx, w.Records, at+takenRecord(attempt))
		if err != nil || last.Withdrawn {
			return 0, nil, err
		}
		// One of this process that has begun is answered. This one was recorded with an error, or its
		// handler was busy.
		if last.Process != w.Self.Process {
			before = append(before, last)
		}
	}
}

// The times of lost workers.
var (
	signTime  = 15 * time.Second // between signs of life of a worker
	deathTime = time.Minute      // without a sign of life, after which a worker is lost
)

// Hasten has workers lost sooner, after a time without a sign of life. It is for tests of many
// processes: all of them call it, before anything else.
func Hasten(death time.Duration) { signTime, deathTime = death/4, death }

// live gives signs of life of an attempt until it is over.
func (w *Worker) live(ctx context.Context, at string, attempt int, over <-chan struct{}) {
	ticker := time.NewTicker(signTime)
	defer ticker.Stop()
	for sign := 1; ; {
		select {
		case <-over:
			return
		case <-ticker.C:
		}
		if err := w.Records.Put(ctx, at+aliveRecord(attempt, sign), []byte("alive")); err == nil {
			sign++
		}
	}
}

// loseBefore closes the attempt of a worker that is lost (rule C5). It is busy while that may not
// be so.
//
// Machines have clocks of their own, and records no times: so who has doubts records them with the
// number of signs that there were, and a worker is lost when these doubts are old and there were no
// more signs.
func (w *Worker) loseBefore(ctx context.Context, at string, attempt int) error {
	signs, err := w.Records.List(ctx, fmt.Sprintf("%s%s%04d/", at, aliveFolder, attempt))
	if err != nil {
		return err
	}
	name := at + doubtRecord(attempt, len(signs))
	text, err := json.Marshal(time.Now().UTC())
	if err != nil {
		return err
	}
	err = w.Records.Put(ctx, name, text)
	if err == nil {
		return &queue.BusyError{Again: patience}
	}
	if !errors.Is(err, records.ErrExists) {
		return err
	}
	content, err := w.Records.Get(ctx, name)
	if err != nil {
		return err
	}
	var since time.Time
	if err := json.Unmarshal(content, &since); err != nil {
		return err
	}
	if time.Since(since) < w.deathTime() {
		return &queue.BusyError{Again: patience}
	}
	_, err = w.closeReports(ctx, at, attempt)
	return err
}

// deathTime is the time without a sign of life after which a worker is lost.
func (w *Worker) deathTime() time.Duration {
	if w.Death > 0 {
		return w.Death
	}
	return deathTime
}

// closed is in place of the next report of an attempt whose worker is lost.
const closed = "closed"

// closeReports records something in the place of the next report of an attempt, so that its worker
// cannot. It returns the number of records with reports.
func (w *Worker) closeReports(ctx context.Context, at string, attempt int) (chunks int, err error) {
	said, err := w.Records.List(ctx, fmt.Sprintf("%s%s%04d/", at, saidFolder, attempt))
	if err != nil {
		return 0, err
	}
	for chunk := max(len(said), 1); ; chunk++ {
		err := w.Records.Put(ctx, at+saidRecord(attempt, chunk), []byte(closed)) // equal content counts as this one
		if !errors.Is(err, records.ErrExists) {
			return chunk - 1, err
		}
	}
}

func readAttempt(ctx context.Context, store records.Store, name string) (Attempt, error) {
	var found Attempt
	text, err := store.Get(ctx, name)
	if err == nil {
		err = json.Unmarshal(text, &found)
	}
	return found, err
}

// request reads the request of a call.
func (w *Worker) request(ctx context.Context, task queue.Task, at string) (*request, error) {
	sealed, err := w.Records.Get(ctx, at+requestName)
	if err != nil && !errors.Is(err, records.ErrMissing) {
		return nil, w.again(err)
	}
	sum := sha256.Sum256(sealed)
	if hex.EncodeToString(sum[:]) != task.Digest {
		return nil, w.refuse(queue.RefusedRequest)
	}
	text, err := w.Key.Open(at+requestName, sealed)
	if err != nil {
		return nil, w.refuse(queue.RefusedPool)
	}
	asked := &request{}
	if err := wire.Decode(text, asked); err != nil {
		return nil, w.refuse(queue.RefusedVersion)
	}
	return asked, nil
}

// put seals and records something for the caller. One that is there counts.
func (w *Worker) put(ctx context.Context, name string, content any) error {
	sealed, err := w.seal(name, content)
	if err != nil {
		return err
	}
	err = w.Records.Put(ctx, name, sealed)
	if errors.Is(err, records.ErrExists) {
		return nil
	}
	return err
}

func (w *Worker) seal(name string, content any) ([]byte, error) {
	text, err := wire.Encode(content)
	if err != nil {
		return nil, err
	}
	return w.Key.SealResult(name, text, w.Trusted)
}

// waitForNow closes now when somebody waits for the end of a call that was asked to stop.
func (w *Worker) waitForNow(ctx context.Context, at string, stop, over <-chan struct{}, now chan<- struct{}) {
	select {
	case <-over:
		return
	case <-stop:
	}
	ticker := time.NewTicker(reportTime)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
			if _, err := w.Records.Get(ctx, at+nowName); err == nil {
				close(now)
				return
			}
		}
	}
}

// reporter records the reports of an attempt.
type reporter struct {
	worker  *Worker
	at      string
	attempt int

	sending struct {
		sync.Mutex // held while reports are recorded, in their order

		// Sealed are reports that may have been recorded although an error says otherwise: so they are
		// tried again as they are. With others in their place, the attempt is closed.
		sealed []byte
		closed error
	}
	mu struct {
		sync.Mutex
		unsent [][]byte
		chunks int
	}
}

func (r *reporter) say(content []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.mu.unsent = append(r.mu.unsent, content)
}

func (r *reporter) keep(ctx context.Context, content []byte) error {
	r.say(content)
	return r.send(ctx)
}

// until records what was said from time to time.
func (r *reporter) until(ctx context.Context, over <-chan struct{}) {
	ticker := time.NewTicker(reportTime)
	defer ticker.Stop()
	for {
		select {
		case <-over:
			return
		case <-ticker.C:
			_ = r.send(ctx) //nolint:errcheck // it is tried again, and the answer has the rest
		}
	}
}

// send records what was said and not yet recorded.
func (r *reporter) send(ctx context.Context) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.sending.sealed != nil {
		if err := r.record(ctx); err != nil {
			return err
		}
	}
	r.mu.Lock()
	reports, chunk := r.mu.unsent, r.mu.chunks+1
	r.mu.unsent = nil
	r.mu.Unlock()
	if len(reports) == 0 {
		return r.sending.closed
	}
	sealed, err := r.worker.seal(r.at+saidRecord(r.attempt, chunk), reports)
	if err != nil {
		return err
	}
	r.sending.sealed = sealed
	return r.record(ctx)
}

// record records sealed reports as the next ones. The caller has the lock.
func (r *reporter) record(ctx context.Context) error {
	if r.sending.closed != nil {
		return r.sending.closed
	}
	r.mu.Lock()
	chunk := r.mu.chunks + 1
	r.mu.Unlock()
	err := r.worker.Records.Put(ctx, r.at+saidRecord(r.attempt, chunk), r.sending.sealed)
	if errors.Is(err, records.ErrExists) { // with another content
		r.sending.closed = errors.New("this worker was taken for lost, and others go on")
		return r.sending.closed
	}
	if err != nil {
		return fmt.Errorf("reporting to the caller: %w", err)
	}
	r.sending.sealed = nil
	r.mu.Lock()
	r.mu.chunks = chunk
	r.mu.Unlock()
	return nil
}

// settle records the reports that may have been recorded already. Those of an attempt that is
// closed are dropped.
func (r *reporter) settle(ctx context.Context) error {
	r.sending.Lock()
	defer r.sending.Unlock()
	if r.sending.sealed == nil || r.sending.closed != nil {
		return nil
	}
	if err := r.record(ctx); r.sending.closed == nil {
		return err
	}
	return nil
}

// rest returns the number of records with reports, and the other reports.
func (r *reporter) rest() (chunks int, tail [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.mu.chunks, r.mu.unsent
}
