// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/wire"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// ServerOptions are the parameters of [NewServer].
type ServerOptions struct {
	// Open returns the engine for the files of a stack in a directory.
	Open func(stackDir string) (engine.Engine, error)

	Parallelism int           // of each session; 0 means [engine.DefaultParallelism]
	Idle        time.Duration // after which a session is closed; 0 means [DefaultIdle]

	Version string // of cairn; "" for that of this program
}

// DefaultIdle is how long a session is kept by a worker that nobody asks for anything.
const DefaultIdle = 10 * time.Minute

// Server does the work of a worker. Made by [NewServer], and safe for concurrent use.
type Server struct {
	opts ServerOptions

	mu struct {
		sync.Mutex
		sessions map[sessionKey]*served
	}
}

// sessionKey names a session that is shared by calls (rule R8).
type sessionKey struct{ stackDir, name string }

// served is such a session.
type served struct {
	users int // guarded by the mutex of the server, as is idle
	idle  *time.Timer

	opening  sync.Mutex
	session  engine.Session // nil before it is opened
	prepared []byte         // the last request for it that was met
}

// Task is a call with the files of its stack.
type Task struct {
	Call     Call
	StackDir string // absolute
}

// NewServer returns a server without sessions. The caller closes it.
func NewServer(opts ServerOptions) *Server {
	opts.Version = versionOf(opts.Version)
	if opts.Idle == 0 {
		opts.Idle = DefaultIdle
	}
	s := &Server{opts: opts}
	s.mu.sessions = map[sessionKey]*served{}
	return s
}

// Close closes all sessions. No call may be going on.
func (s *Server) Close() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	var errs []error
	for key, one := range s.mu.sessions {
		errs = append(errs, one.close())
		delete(s.mu.sessions, key)
	}
	return errors.Join(errs...)
}

func (one *served) close() error {
	one.idle.Stop()
	if one.session == nil {
		return nil
	}
	return one.session.Close()
}

// Serve carries out a call and returns its answer, which has the error if it has failed. Stop ends
// when the caller of the call asks for that, and for no other reason; now is closed when somebody
// waits for the end.
//
// The first error of a report that is to be kept is that of all further ones, so that nothing more
// is begun (rule R3).
func (s *Server) Serve(stop context.Context, now <-chan struct{}, task Task, to Reports) ([]byte, error) {
	req, err := decodeRequest(s.opts.Version, task.Call.Request)
	if err != nil {
		return encodeAnswer(&answer{Diags: hcl.Diagnostics{declined(task.Call.Pool, err)}})
	}
	if req, err = below(task.StackDir).request(*req); err != nil {
		return nil, err
	}
	one, err := s.take(stop, sessionKey{task.StackDir, req.Session})
	if err != nil {
		return encodeAnswer(&answer{Diags: failure.Diagnostics(err)})
	}
	defer s.release(sessionKey{task.StackDir, req.Session})
	a, diags := one.prepare(stop, req.Prepare)
	if !diags.HasErrors() {
		a = one.serve(stop, now, req, newReporter(to))
	}
	a.Diags = append(diags, a.Diags...)
	sent, err := from(task.StackDir).answer(*a)
	if err != nil {
		return nil, err
	}
	return encodeAnswer(sent)
}

func encodeAnswer(a *answer) ([]byte, error) { return wire.Encode(a) }

// declined explains why a worker does not do some work.
func declined(pool string, err error) *hcl.Diagnostic {
	if other, ok := errors.AsType[*versionError](err); ok {
		return failure.New("Worker of another version", "A worker of the pool %q has cairn %s, and this is cairn %s. Nothing was done. "+
			"Have workers of the same version.", pool, other.worker, other.made)
	}
	return failure.New("Unreadable request", "A worker of the pool %q cannot read the work: %s. Nothing was done.", pool, err)
}

// take returns a session for one more call.
func (s *Server) take(ctx context.Context, key sessionKey) (*served, error) {
	s.mu.Lock()
	one := s.mu.sessions[key]
	if one == nil {
		one = &served{}
		one.idle = time.AfterFunc(s.opts.Idle, func() { s.expire(key, one) })
		s.mu.sessions[key] = one
	}
	one.users++
	one.idle.Stop()
	s.mu.Unlock()
	one.opening.Lock()
	defer one.opening.Unlock()
	if one.session != nil {
		return one, nil
	}
	opened, err := s.opts.Open(key.stackDir)
	if err == nil {
		one.session, err = opened.Open(context.WithoutCancel(ctx), engine.SessionOptions{StackDir: key.stackDir, Parallelism: s.opts.Parallelism})
	}
	if err != nil {
		s.release(key)
		return nil, fmt.Errorf("the worker has no engine for the work: %w", err)
	}
	return one, nil
}

func (s *Server) release(key sessionKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	one := s.mu.sessions[key]
	if one.users--; one.users == 0 {
		one.idle.Reset(s.opts.Idle)
	}
}

// expire closes a session that nobody has used for some time.
func (s *Server) expire(key sessionKey, one *served) {
	s.mu.Lock()
	expired := one.users == 0 && s.mu.sessions[key] == one
	if expired {
		delete(s.mu.sessions, key)
	}
	s.mu.Unlock()
	if expired {
		_ = one.close() //nolint:errcheck // all results were reported
	}
}

// prepare installs the locked providers, once for each request (rule R1).
func (one *served) prepare(ctx context.Context, req *engine.PrepareRequest) (*answer, hcl.Diagnostics) {
	preparer := one.session.Abilities().Preparer
	if req == nil || preparer == nil {
		return &answer{}, nil
	}
	if req.InstallNothing {
		return &answer{}, hcl.Diagnostics{failure.New("Providers not on worker",
			"The providers are files of the machine that the operation runs on, and a worker has none of these. Nothing was done.")}
	}
	one.opening.Lock()
	defer one.opening.Unlock()
	content, err := wire.Encode(req)
	if err == nil && bytes.Equal(content, one.prepared) {
		return &answer{}, nil
	}
	_, diags := preparer.Prepare(ctx, req)
	if !diags.HasErrors() {
		one.prepared, diags = content, nil // the other machine has the warnings, too
	}
	return &answer{}, diags
}

// serve does the work of a request.
func (one *served) serve(stop context.Context, now <-chan struct{}, req *request, to *reporter) *answer {
	defer to.flush()
	var work engine.WorkID
	a := &answer{}
	do := func() {}
	switch {
	case req.Plan != nil:
		work = req.Plan.Work
		do = func() { a.Plan, a.Diags = one.session.Plan(stop, req.Plan, to.observe) }
	case req.Query != nil:
		querier := one.session.Abilities().Querier
		if querier == nil {
			break
		}
		work = req.Query.Work
		do = func() { a.Query, a.Diags = querier.Query(stop, req.Query, to.observe) }
	case req.Apply != nil:
		work = req.Apply.Work
		do = func() { a.Apply, a.Diags = one.apply(stop, req.Apply, to) }
	}
	ended := make(chan struct{})
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-now:
			_ = one.session.Stop(context.WithoutCancel(stop), work, engine.Now) //nolint:errcheck // it may have ended
		case <-ended:
		}
	})
	defer watch.Wait()
	defer close(ended)
	do()
	return a
}

// apply applies a plan that the engine has made, and reports its record.
func (one *served) apply(stop context.Context, req *engine.ApplyRequest, to *reporter) (*engine.ApplyResult, hcl.Diagnostics) {
	if made := req.Planned.Engine; made != (engine.Info{}) && !one.session.CanApply(made) {
		info := one.session.Info()
		return nil, hcl.Diagnostics{failure.New("Engine of the plan not found",
			"The plan was made by %s %s, and the worker has %s %s. Nothing was done.", made.Name, made.Version, info.Name, info.Version)}
	}
	if delegator := one.session.Abilities().Delegator; delegator != nil {
		delegator.Report(req.Work, to.keep)
		defer func() { to.say(delegator.EndReport(req.Work)) }()
	}
	return one.session.Apply(stop, req, to.observe)
}
