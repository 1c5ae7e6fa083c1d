// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package remotetest has workers in the process of a test, and a transport to them that keeps all
// rules of [remote.Transport]. Programs and workers can be made to die.
package remotetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"

	"github.com/cairnstacks/cairn/internal/engine/remote"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// Workers are the workers of all pools, with the data of the transport. It outlives programs.
type Workers struct {
	t      testing.TB
	server *remote.Server
	works  sync.WaitGroup

	mu struct {
		sync.Mutex
		calls map[string]*call
	}
}

// call is a call that was made, or will never be.
type call struct {
	begun   int // how often
	reports [][]byte
	answer  []byte
	err     error // in the place of the answer
	ended   bool

	stop    context.CancelFunc
	stopped <-chan struct{}
	now     chan struct{}
	changed chan struct{} // closed with the next change
}

// New returns workers with a server, which is closed after the test.
func New(t testing.TB, opts remote.ServerOptions) *Workers {
	w := &Workers{t: t, server: remote.NewServer(opts)}
	w.mu.calls = map[string]*call{}
	t.Cleanup(func() {
		testenv.Within(t, "all workers have ended", w.works.Wait)
		if err := w.server.Close(); err != nil {
			t.Errorf("closing the sessions of workers: %v", err)
		}
	})
	return w
}

// Lose has the worker of a call be lost, as its transport sees it: it goes on, and none of its
// reports is accepted any more. The worker of a call that may be begun again is another one then.
func (w *Workers) Lose(name string) {
	w.change(name, func(c *call) { c.ended, c.err = true, remote.ErrWorkerLost })
}

// Forget has the transport lose all that it keeps of a call.
func (w *Workers) Forget(name string) {
	w.change(name, func(c *call) { c.ended, c.err, c.reports = true, remote.ErrForgotten, nil })
}

// Wait waits until all workers have ended their work, the lost ones as well.
func (w *Workers) Wait() { w.works.Wait() }

// Stopped returns a channel that is closed when the worker of a call is asked to stop, or has
// ended.
func (w *Workers) Stopped(name string) <-chan struct{} {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.mu.calls[name].stopped
}

// Begun returns how often calls were begun.
func (w *Workers) Begun(name string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.mu.calls[name]; c != nil {
		return c.begun
	}
	return 0
}

func (w *Workers) change(name string, do func(*call)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	c := w.mu.calls[name]
	if c == nil {
		w.t.Errorf("there is no call %q", name)
		return
	}
	do(c)
	close(c.changed)
	c.changed = make(chan struct{})
}

// Program is the transport of a program that works on a stack. Made by [Workers.Program].
type Program struct {
	workers  *Workers
	stackDir string
	sources  string // the directory of workers for the same stack
	dead     chan struct{}
}

var _ remote.Transport = (*Program)(nil)

// Program returns the transport of a program. Workers get the files in its directory that they
// don't have yet, before each call.
func (w *Workers) Program(stackDir string) *Program {
	return &Program{workers: w, stackDir: stackDir, sources: filepath.Join(w.t.TempDir(), "stack"), dead: make(chan struct{})}
}

// send copies the files of the stack that workers don't have, without the working directory.
func (p *Program) send() error {
	return filepath.WalkDir(p.stackDir, func(path string, entry fs.DirEntry, err error) error {
		relative, relErr := filepath.Rel(p.stackDir, path)
		if err = errors.Join(err, relErr); err != nil {
			return err
		}
		sent := filepath.Join(p.sources, relative)
		_, statErr := os.Stat(sent)
		switch {
		case entry.IsDir() && entry.Name() == ".cairn":
			return fs.SkipDir
		case entry.IsDir():
			return os.MkdirAll(sent, 0o700)
		case statErr == nil:
			return nil
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		return os.WriteFile(sent, content, 0o600)
	})
}

// Die ends all goroutines that wait for calls, and passes on nothing more.
func (p *Program) Die() { close(p.dead) }

// Call implements [remote.Transport].
func (p *Program) Call(ctx context.Context, asked remote.Call, pass func([][]byte)) ([]byte, error) {
	p.live()
	c := p.workers.callFor(p, asked)
	defer context.AfterFunc(ctx, func() { c.stop() })()
	for next := 0; ; {
		p.workers.mu.Lock()
		reports := slices.Clone(c.reports[min(next, len(c.reports)):])
		ended, answer, err, changed := c.ended, c.answer, c.err, c.changed
		p.workers.mu.Unlock()
		p.live()
		if pass != nil && len(reports) > 0 {
			pass(reports)
		}
		next += len(reports)
		switch {
		case len(reports) > 0:
		case ended:
			p.live()
			return answer, err
		default:
			select {
			case <-changed:
			case <-p.dead:
				p.live()
			}
		}
	}
}

// live ends the goroutine if the program is dead.
func (p *Program) live() {
	select {
	case <-p.dead:
		runtime.Goexit() //nolint:forbidigo // as the end of the process does, nobody learns of it
	default:
	}
}

// StopNow implements [remote.Transport].
func (p *Program) StopNow(_ context.Context, name string) error {
	p.workers.mu.Lock()
	defer p.workers.mu.Unlock()
	if c := p.workers.mu.calls[name]; c != nil && !c.ended {
		c.stop()
		select {
		case <-c.now:
		default:
			close(c.now)
		}
	}
	return nil
}

// callFor returns a call that was made, or makes it.
func (w *Workers) callFor(p *Program, asked remote.Call) *call {
	w.mu.Lock()
	defer w.mu.Unlock()
	if c := w.mu.calls[asked.Name]; c != nil {
		return c
	}
	stop, cancel := context.WithCancel(context.Background())
	c := &call{stop: cancel, stopped: stop.Done(), now: make(chan struct{}), changed: make(chan struct{})}
	w.mu.calls[asked.Name] = c
	if asked.Request == nil {
		cancel()
		c.ended, c.err = true, remote.ErrNotBegun
		return c
	}
	c.begun++
	if err := p.send(); err != nil {
		w.t.Error(err)
	}
	w.works.Go(func() {
		defer cancel()
		answer, err := w.server.Serve(stop, c.now, remote.Task{Call: asked, StackDir: p.sources}, remote.Reports{
			Say:  func(report []byte) { _ = w.keep(asked.Name, report) }, //nolint:errcheck // the next one that is kept fails
			Keep: func(report []byte) error { return w.keep(asked.Name, report) },
		})
		w.change(asked.Name, func(c *call) {
			if !c.ended {
				c.ended, c.answer, c.err = true, answer, err
			}
		})
	})
	return c
}

// keep keeps a report, unless the worker is lost.
func (w *Workers) keep(name string, report []byte) error {
	err := errors.New("the transport takes no reports of a worker that is lost")
	w.change(name, func(c *call) {
		if !c.ended {
			c.reports = append(c.reports, slices.Clone(report))
			err = nil
		}
	})
	return err
}
