// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package page

import (
	"context"
	"net/http"
	"net/url"
	"sync"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/overview"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/page/model"
)

// approvals are the applies that pages have asked for. The zero value is of no use.
type approvals struct {
	turn    chan struct{} // held by the apply that is asked for, or goes on
	running sync.WaitGroup

	mu struct {
		sync.Mutex
		ctx   context.Context //nolint:containedctx // of the server, whose end interrupts applies
		texts map[string]string
	}
}

func newApprovals() *approvals {
	a := &approvals{turn: make(chan struct{}, 1)}
	a.mu.ctx, a.mu.texts = context.Background(), map[string]string{}
	return a
}

func (a *approvals) serve(ctx context.Context) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.ctx = ctx //nolint:fatcontext // it takes the place of the other one
}

func (a *approvals) wait() { a.running.Wait() }

// text says how the approval of a unit's plan stands, "" if nobody has asked for it.
func (a *approvals) text(unit string) string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.mu.texts[unit]
}

func (a *approvals) set(unit, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.mu.texts[unit] = text
}

// start does the work of an approval until it ends, unless another one is at work.
func (a *approvals) start(unit string, do func(ctx context.Context)) bool {
	select {
	case a.turn <- struct{}{}:
	default:
		return false
	}
	a.mu.Lock()
	ctx := a.mu.ctx
	a.mu.Unlock()
	a.set(unit, "The plan is looked at.")
	a.running.Go(func() {
		defer func() { <-a.turn }()
		do(ctx)
	})
	return true
}

// approve begins to apply the plan of a unit that waits, which the terminal may have to allow. The
// page of its progress shows how it goes on.
func (s *Server) approve(w http.ResponseWriter, r *http.Request) {
	u, err := s.opts.Repository.Unit(r.Context(), r.PostFormValue("unit"))
	if err != nil || u.Waiting == nil {
		http.Error(w, "There is no plan that waits.", http.StatusNotFound)
		return
	}
	plan := r.PostFormValue("plan")
	started := s.approvals.start(u.Name, func(ctx context.Context) { s.apply(ctx, u, plan) })
	if !started {
		http.Error(w, "Another plan is being approved. Wait until it was applied.", http.StatusConflict)
		return
	}
	http.Redirect(w, r, "/progress?"+url.Values{"unit": {u.Name}}.Encode(), http.StatusSeeOther)
}

func (s *Server) apply(ctx context.Context, u overview.Unit, plan string) {
	err := s.opts.Approve(ctx, Approval{
		Unit: u, Plan: plan,
		Asking:   func() { s.approvals.set(u.Name, "Somebody has to allow it on the terminal that serves this page.") },
		Applying: func() { s.approvals.set(u.Name, "The plan is being applied.") },
	})
	text := "The plan was applied."
	if err != nil {
		text = "The plan was not applied: " + failure.Reason(err)
		for _, diag := range operation.Diagnostics(err) {
			text = "The plan was not applied: " + diag.Summary + ". " + diag.Detail
			break
		}
	}
	s.approvals.set(u.Name, model.Text(text))
	s.opts.Repository.Forget()
}
