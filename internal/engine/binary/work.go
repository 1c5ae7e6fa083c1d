// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"context"

	"github.com/cairnstacks/cairn/internal/engine/binary/rundir"
	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// Stop implements [engine.Session]. The process of an apply is only interrupted, since results that
// it has not written yet would be lost with it.
func (e *Session) Stop(_ context.Context, work engine.WorkID, how engine.Urgency) error {
	return e.works.Stop(work, how)
}

// killNow has a process that changes nothing killed if the work has to end now.
func killNow(work *engine.Work, process *runner.Process) {
	work.OnNow(func() { _ = process.Kill() }) //nolint:errcheck // the waiting caller sees whether the process has ended
}

// keptRun is the directory of an apply of which it is not known whether its result is safe.
type keptRun struct {
	dir     *rundir.Dir
	release func() error // removes it, or the files that nobody needs any more
}

// keep keeps a directory until the work is acknowledged.
func (e *Session) keep(work engine.WorkID, kept keptRun) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.mu.kept[work] = kept
}

// Acknowledge implements [engine.Session].
func (e *Session) Acknowledge(_ context.Context, work engine.WorkID) error {
	e.mu.Lock()
	kept, ok := e.mu.kept[work]
	delete(e.mu.kept, work)
	e.mu.Unlock()
	if ok {
		return kept.release()
	}
	if left, err := e.left(work); err == nil {
		return left.markSaved()
	}
	return nil
}
