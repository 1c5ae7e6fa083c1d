// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package enginetest

import (
	"errors"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// stop ends work as soon as it begins, which is when it does nothing yet. How much of begun work is
// still done is for each engine to test.
func stop(b *bench) {
	b.module("m", SimpleModule)
	for _, how := range []engine.Urgency{engine.Gracefully, engine.Now} {
		req := b.request("m", simpleInputs("x"))
		req.Work = b.work()
		_, diags := b.session().Plan(b.Context(), req, b.stopAtOnce(req.Work, how))
		b.wantErrors("Plan", diags)

		apply := applyRequest(req, b.plan(req), req.Inputs)
		apply.Work = b.work()
		result, diags := b.session().Apply(b.Context(), apply, b.stopAtOnce(apply.Work, how))
		b.wantErrors("Apply", diags)
		if result != nil {
			b.Errorf("Apply: got %+v, want nothing done", result)
		}
		b.wantUnknownWork(apply.Work)
		b.apply(apply) // with a name of its own
	}
	b.wantUnknownWork(b.work())
}

func (b *bench) stopAtOnce(work engine.WorkID, how engine.Urgency) engine.Observer {
	return func(event engine.Event) {
		if event.Type != engine.WorkBegan {
			b.Errorf("stopped work tells of %s", event.Type)
			return
		}
		if err := b.session().Stop(b.Context(), work, how); err != nil {
			b.Errorf("Stop: %v", err)
		}
	}
}

func (b *bench) wantUnknownWork(work engine.WorkID) {
	b.Helper()
	for _, how := range []engine.Urgency{engine.Gracefully, engine.Now} {
		if err := b.session().Stop(b.Context(), work, how); !errors.Is(err, engine.ErrUnknownWork) {
			b.Errorf("Stop of work that is not done: got %v, want %v", err, engine.ErrUnknownWork)
		}
	}
}
