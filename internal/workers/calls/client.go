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
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/telemetry"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/internal/workers/envelope"
	"github.com/cairnstacks/cairn/internal/workers/queue"
	"github.com/cairnstacks/cairn/internal/workers/records"
)

// Client calls workers for a run. Its fields are not changed while it is used. It is safe for
// concurrent use.
type Client struct {
	Queue   queue.Queue
	Records records.Store
	Key     envelope.RunKey
	Pools   map[string]envelope.PoolRecipient // by name
	Run     string
	Version string // of this program

	// Waiting is called with a call that no worker has taken for a while, once. It may be nil.
	Waiting func(Call)

	// Again says that the run was begun by another process, so that calls may have been answered.
	Again bool

	idle idleCalls
}

// Call is a call of a handler on some worker of a pool.
type Call struct {
	Name  string // unique in the run, and the same for the same work
	Pool  string
	Kind  string // of the handler
	Parts bool   // it is part of other work, as in [queue.Line]

	// Changes says that it may change something (rule C5).
	Changes bool

	Body []byte
}

// Reports receives the reports of an attempt in their order, some at a time. When another attempt
// takes the place of the first one, its reports begin anew.
type Reports func(attempt int, reports [][]byte)

// Answer is the answer of a handler.
type Answer struct {
	Body         []byte
	Worker       string
	Began, Ended time.Time
}

// validity is how long a worker may begin a task after it was signed. Work that waits longer for a
// worker is signed again when somebody attaches to the run.
const validity = 30 * 24 * time.Hour

// Do carries out a call, or joins it, and returns its answer. The reports are complete by then.
// Ending ctx asks the handler to stop; Do goes on to wait for the answer.
//
// Errors:
//   - [queue.ErrStopped]: it was asked to stop before any worker had begun.
//   - [*queue.RefusedError]: the worker does not take the call.
//   - [*FailedError]: the handler has failed.
//   - [ErrLost]: the worker of a call that nobody may do again.
func (c *Client) Do(ctx context.Context, call Call, said Reports) (Answer, error) {
	if said == nil {
		said = func(int, [][]byte) {}
	}
	at := folder(c.Run, call.Name)
	follow := &following{client: c, call: call, at: at, said: said}
	if c.Again {
		found, err := c.answer(ctx, call, at)
		if !errors.Is(err, records.ErrMissing) {
			return follow.finish(ctx, found, stoppedEarly(ctx, err))
		}
	}
	task, err := c.ask(ctx, call, at)
	if err != nil {
		return Answer{}, stoppedEarly(ctx, err)
	}
	return c.await(ctx, task, follow)
}

// TakeOver waits for the answer of a call that another program may have made. It is never begun
// (rule C6).
//
// Errors: those of Do, and:
//   - [ErrNotBegun]
//   - [ErrForgotten]
func (c *Client) TakeOver(ctx context.Context, call Call, said Reports) (Answer, error) {
	at := folder(c.Run, call.Name)
	follow := &following{client: c, call: call, at: at, said: said}
	found, err := c.answer(ctx, call, at)
	if !errors.Is(err, records.ErrMissing) {
		return follow.finish(ctx, found, err)
	}
	if _, err := c.Records.Get(ctx, beginning(c.Run)); errors.Is(err, records.ErrMissing) {
		return Answer{}, ErrForgotten
	} else if err != nil {
		return Answer{}, err
	}
	text, err := json.Marshal(Attempt{Began: time.Now().UTC(), Withdrawn: true})
	if err != nil {
		return Answer{}, err
	}
	err = c.Records.Put(ctx, at+takenRecord(1), text)
	if err == nil {
		return Answer{}, ErrNotBegun
	}
	if !errors.Is(err, records.ErrExists) {
		return Answer{}, err
	}
	first, err := readAttempt(ctx, c.Records, at+takenRecord(1))
	if err != nil {
		return Answer{}, err
	}
	if first.Withdrawn {
		return Answer{}, ErrNotBegun
	}
	sealed, err := c.Records.Get(ctx, at+requestName)
	if err != nil {
		return Answer{}, err
	}
	task, err := c.task(call, sealed)
	if err != nil {
		return Answer{}, err
	}
	return c.await(ctx, task, follow)
}

// Begin records that the run has begun, for who takes over its calls, or removes old runs.
func (c *Client) Begin(ctx context.Context) error {
	text, err := time.Now().UTC().MarshalText()
	if err != nil {
		return err
	}
	err = c.Records.Put(ctx, beginning(c.Run), text)
	if errors.Is(err, records.ErrExists) {
		return nil
	}
	return err
}

// await waits for the answer of a task.
func (c *Client) await(ctx context.Context, task queue.Task, follow *following) (Answer, error) {
	// The answer may be there before the queue says so, as while that is away.
	doing, done := context.WithCancelCause(ctx)
	ended := make(chan struct{})
	stopped := make(chan struct{})
	go func() {
		defer close(stopped)
		if follow.until(context.WithoutCancel(ctx), ended) {
			done(queue.ErrAnswered)
		}
	}()
	err := c.Queue.Do(doing, task)
	close(ended)
	<-stopped
	done(nil)
	if err != nil && !errors.Is(err, queue.ErrStopped) {
		return Answer{}, err
	}
	waiting := context.WithoutCancel(ctx)
	found, missing := c.answer(waiting, follow.call, follow.at)
	switch {
	case !errors.Is(missing, records.ErrMissing):
		return follow.finish(waiting, found, missing)
	case err == nil:
		return Answer{}, ErrNoAnswer
	}
	return c.abandoned(waiting, follow)
}

// stoppedEarly returns [queue.ErrStopped] for an error that comes from the end of ctx.
func stoppedEarly(ctx context.Context, err error) error {
	if err != nil && ctx.Err() != nil {
		return queue.ErrStopped
	}
	return err
}

// abandoned waits for the answer of a call that the queue has given up, as it does with one that is
// to stop and whose worker has lost the way to the queue. That may go on, and is waited for while
// it gives signs of life, if it changes something.
func (c *Client) abandoned(ctx context.Context, follow *following) (Answer, error) {
	ticker := time.NewTicker(reportTime)
	defer ticker.Stop()
	known, since := 0, time.Now()
	for {
		names, err := c.Records.List(ctx, follow.at)
		if err != nil {
			return Answer{}, err
		}
		if slices.Contains(names, follow.at+answerName) {
			found, err := c.answer(ctx, follow.call, follow.at)
			return follow.finish(ctx, found, err)
		}
		if len(names) != known {
			known, since = len(names), time.Now()
		}
		last, err := c.lastAttempt(ctx, follow.at, names)
		switch {
		case err != nil:
			return Answer{}, err
		case last == nil || last.Withdrawn:
			return Answer{}, queue.ErrStopped
		case !follow.call.Changes || time.Since(since) > deathTime:
			return Answer{}, &FailedError{last.Worker, "it has begun, and has not said how it has ended since it was asked to stop"}
		}
		<-ticker.C
	}
}

// lastAttempt returns the last one at a call with some records, nil if there is none.
func (c *Client) lastAttempt(ctx context.Context, at string, names []string) (*Attempt, error) {
	var last string
	for _, name := range names { // which are sorted
		if strings.HasPrefix(name, at+takenFolder) {
			last = name
		}
	}
	if last == "" {
		return nil, nil //nolint:nilnil // see above
	}
	attempt, err := readAttempt(ctx, c.Records, last)
	return &attempt, err
}

// ask records the request of a call, unless it was asked for before, and returns its task.
func (c *Client) ask(ctx context.Context, call Call, at string) (queue.Task, error) {
	to, ok := c.Pools[call.Pool]
	if !ok {
		return queue.Task{}, fmt.Errorf("there is no pool %q", call.Pool)
	}
	body, err := wire.Encode(request{Kind: call.Kind, Trace: telemetry.Carried(ctx), Body: call.Body})
	if err != nil {
		return queue.Task{}, err
	}
	sealed, err := envelope.Seal(at+requestName, body, to)
	if err != nil {
		return queue.Task{}, err
	}
	err = c.Records.Put(ctx, at+requestName, sealed)
	if errors.Is(err, records.ErrExists) {
		sealed, err = c.Records.Get(ctx, at+requestName)
	}
	if err != nil {
		return queue.Task{}, err
	}
	return c.task(call, sealed)
}

// task returns the task of a call with a sealed request.
func (c *Client) task(call Call, sealed []byte) (queue.Task, error) {
	sum := sha256.Sum256(sealed)
	task := queue.Task{
		Run: c.Run, Call: call.Name, Line: queue.Line{Pool: call.Pool, Parts: call.Parts}, Changes: call.Changes,
		Version: c.Version, Digest: hex.EncodeToString(sum[:]),
		Expires: time.Now().Add(validity).UTC().Truncate(time.Second),
	}
	message, err := task.Signed()
	task.Signature = c.Key.Sign(message)
	return task, err
}

// answer reads the answer of a call.
//
// Errors: [records.ErrMissing].
func (c *Client) answer(ctx context.Context, call Call, at string) (*answer, error) {
	sealed, err := c.Records.Get(ctx, at+answerName)
	if err != nil {
		return nil, err
	}
	text, err := c.Key.OpenResult(at+answerName, sealed, c.Pools[call.Pool])
	if err != nil {
		return nil, err
	}
	found := &answer{}
	return found, wire.Decode(text, found)
}

// StopNow says that somebody waits for the end of a call that was asked to stop.
func (c *Client) StopNow(ctx context.Context, call string) error {
	err := c.Records.Put(ctx, folder(c.Run, call)+nowName, []byte("now"))
	if errors.Is(err, records.ErrExists) {
		return nil
	}
	return err
}

// Stop asks a call to stop that was asked for before, perhaps by another process, and waits for its
// end.
func (c *Client) Stop(ctx context.Context, call, pool string) error {
	return c.Queue.Stop(ctx, queue.Task{Run: c.Run, Call: call, Line: queue.Line{Pool: pool}})
}

// following passes on the reports of a call.
type following struct {
	client *Client
	call   Call
	at     string
	said   Reports

	look *time.Timer // until the next one at the records
	soon bool        // the look is to be soon, of a call that no worker has taken

	attempt, chunk int // of the last record that was passed on
}

// reportTime is the time between looks at the reports of a call, and until the first one: most
// calls are answered before.
const reportTime = time.Second

// waitTime is how long a call waits for a worker until somebody is told.
const waitTime = 10 * time.Second

// until passes on reports as they come, until ended is closed or the answer is there, which it
// reports. That the records cannot be read is no reason to end the work: the answer leads to them
// once more.
func (f *following) until(ctx context.Context, ended <-chan struct{}) (answered bool) {
	f.look = time.NewTimer(reportTime)
	defer f.look.Stop()
	began, told := time.Now(), f.client.Waiting == nil
	defer f.client.idle.next(f.call.Pool)
	defer f.client.idle.remove(f)
	for {
		select {
		case <-ended:
			return false
		case <-f.look.C:
		}
		names, err := f.client.Records.List(ctx, f.at)
		if err != nil {
			f.look.Reset(reportTime)
			continue
		}
		if slices.Contains(names, f.at+answerName) {
			return true // by which the rest is read
		}
		taken := slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(name, f.at+takenFolder) })
		f.pass(ctx, names)
		if taken {
			f.client.idle.remove(f)
			f.look.Reset(reportTime)
			continue
		}
		waited := time.Since(began)
		if !told && waited >= waitTime {
			f.client.Waiting(f.call)
			told = true
		}
		most := mostIdle
		if !told {
			most = waitTime - waited
		}
		f.client.idle.wait(f, most)
	}
}

// pass passes on the reports in those of some records that have any, unless that was done, or they
// are of an attempt in whose place there is another one. After an error, they are read later, with
// all others.
func (f *following) pass(ctx context.Context, names []string) {
	byAttempt := map[int]int{} // the last of its records
	for _, name := range names {
		said, ok := strings.CutPrefix(name, f.at+saidFolder)
		var attempt, chunk int
		if _, err := fmt.Sscanf(said, "%d/%d", &attempt, &chunk); ok && err == nil {
			byAttempt[attempt] = max(byAttempt[attempt], chunk)
		}
	}
	for _, attempt := range slices.Sorted(maps.Keys(byAttempt)) {
		if attempt < f.attempt {
			continue
		}
		reports, err := f.upTo(ctx, attempt, byAttempt[attempt])
		f.tell(attempt, reports)
		if err != nil {
			return
		}
	}
}

// upTo returns the reports in the records of an attempt up to one of them that were not passed on.
// After an error they are those before it.
func (f *following) upTo(ctx context.Context, attempt, last int) (reports [][]byte, err error) {
	if attempt != f.attempt {
		f.attempt, f.chunk = attempt, 0
	}
	var names []string
	for chunk := f.chunk + 1; chunk <= last; chunk++ {
		names = append(names, f.at+saidRecord(attempt, chunk))
	}
	if len(names) == 0 {
		return nil, nil
	}
	contents, err := f.client.Records.GetAll(ctx, names)
	if err != nil {
		return nil, err
	}
	for i, sealed := range contents {
		if string(sealed) != closed { // by which a worker is lost, and others come after it
			text, err := f.client.Key.OpenResult(names[i], sealed, f.client.Pools[f.call.Pool])
			if err != nil {
				return reports, err
			}
			var more [][]byte
			if err := wire.Decode(text, &more); err != nil {
				return reports, err
			}
			reports = append(reports, more...)
		}
		f.chunk++
	}
	return reports, nil
}

// tell passes on reports, if there are any.
func (f *following) tell(attempt int, reports [][]byte) {
	if len(reports) > 0 {
		f.said(attempt, reports)
	}
}

// finish passes on the remaining reports of the attempt that has given the answer.
func (f *following) finish(ctx context.Context, found *answer, err error) (Answer, error) {
	if err != nil {
		return Answer{}, err
	}
	reports, err := f.upTo(ctx, found.Attempt, found.Chunks)
	if err != nil {
		f.tell(found.Attempt, reports)
		return Answer{}, fmt.Errorf("a report of the worker %s cannot be had from the records of the run: %w", found.Worker, err)
	}
	f.tell(found.Attempt, append(reports, found.Tail...))
	if found.Lost {
		return Answer{}, ErrLost
	}
	if found.Failure != "" {
		return Answer{}, &FailedError{found.Worker, found.Failure}
	}
	return Answer{found.Body, found.Worker, found.Began, found.Ended}, nil
}
