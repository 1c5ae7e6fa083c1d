// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package work_test

import (
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/maintask"
	"github.com/cairnstacks/cairn/stackruntime/internal/stackeval/work"
)

func TestID(t *testing.T) {
	addr, err := stackaddrs.ParseAbsComponentInstance(`component.a["k"]`)
	if err != nil {
		t.Fatal(err)
	}
	if got := work.NewOperation(work.Options{Name: "1"}).Piece(hooks.WorkRest, addr).ID; got != `1/rest/component.a["k"]` {
		t.Errorf("got %s", got)
	}
	a, b := work.NewOperation(work.Options{}), work.NewOperation(work.Options{})
	if a.Piece(hooks.WorkPlan, addr).ID == b.Piece(hooks.WorkPlan, addr).ID {
		t.Error("two operations have the same name")
	}
}

// applied is the piece of work of applying a component.
func applied(t *testing.T) work.Piece {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance("component.a")
	if err != nil {
		t.Fatal(err)
	}
	return work.NewOperation(work.Options{Name: "1"}).Piece(hooks.WorkApply, addr)
}

// The caller of an operation follows a piece of work: the engine gets its context, and it is told
// when the work begins, and with which diagnostics it ends.
func TestWatch(t *testing.T) {
	type key struct{}
	var got []string
	o := work.NewOperation(work.Options{Name: "1", Session: stops{}, Watch: func(
		ctx context.Context, component stackaddrs.AbsComponentInstance, kind hooks.WorkKind,
	) (context.Context, hooks.Work) {
		got = append(got, string(kind)+" "+component.String())
		return context.WithValue(ctx, key{}, "watched"), hooks.Work{
			Began: func() { got = append(got, "began") },
			Ended: func(diags hcl.Diagnostics) { got = append(got, "ended: "+diags.Error()) },
		}
	}})
	run := func(begins bool) {
		o.Run(maintask.Steady(t.Context()), applied(t), func(ctx context.Context, began func() bool) hcl.Diagnostics {
			if ctx.Value(key{}) != "watched" {
				t.Error("the engine has another context")
			}
			if begins {
				began()
			}
			return hcl.Diagnostics{{Severity: hcl.DiagError, Summary: "No", Detail: "no"}}
		})
	}
	run(true)
	run(false)
	want := []string{"apply component.a", "began", "ended: <nil>: No; no", "apply component.a", "ended: <nil>: No; no"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
}

// Work that has not begun when no more may counts for nothing. Work that has goes on.
func TestRun(t *testing.T) {
	piece := applied(t)
	for name, test := range map[string]struct {
		do       func(ctx context.Context, began func() bool, stop, halt func())
		runs, ok bool
	}{
		"begins":                          {func(_ context.Context, began func() bool, _, _ func()) { began() }, true, true},
		"ends without having begun":       {func(context.Context, func() bool, func(), func()) {}, true, true},
		"interrupted before it begins":    {func(_ context.Context, _ func() bool, stop, _ func()) { stop() }, true, false},
		"interrupted when it has begun":   {func(_ context.Context, began func() bool, stop, _ func()) { began(); stop() }, true, true},
		"halted when it has begun":        {func(_ context.Context, began func() bool, _, halt func()) { began(); halt() }, true, true},
		"halted before it begins":         {func(_ context.Context, began func() bool, _, halt func()) { halt(); began() }, true, false},
		"interrupted before it was asked": {nil, false, false},
	} {
		t.Run(name, func(t *testing.T) {
			stopped, stop := context.WithCancel(t.Context())
			defer stop()
			o := work.NewOperation(work.Options{Name: "1", Session: stops{}})
			if test.do == nil {
				stop()
			}
			ran := false
			ok := o.Run(maintask.Steady(stopped), piece, func(ctx context.Context, began func() bool) hcl.Diagnostics {
				ran = true
				test.do(ctx, began, stop, o.Halt)
				if !test.ok {
					<-ctx.Done() // the engine is told to stop
				}
				return nil
			})
			if ran != test.runs || ok != test.ok {
				t.Errorf("ran %t with result %t, want %t with %t", ran, ok, test.runs, test.ok)
			}
		})
	}

	o := work.NewOperation(work.Options{Name: "1"})
	o.Halt()
	if o.Run(maintask.Steady(t.Context()), piece, func(context.Context, func() bool) hcl.Diagnostics {
		t.Error("it begins")
		return nil
	}) {
		t.Error("work begins though nothing more may")
	}
}

// stops is a session that stops work by telling of it.
type stops struct {
	engine.Session
	told chan engine.Urgency // nil for work that it does not know
}

func (s stops) Stop(_ context.Context, _ engine.WorkID, how engine.Urgency) error {
	if s.told == nil {
		return engine.ErrUnknownWork
	}
	s.told <- how
	return nil
}

// Work that has begun is stopped by the engine, first gracefully and then now. Only where that
// fails does its context end.
func TestStop(t *testing.T) {
	piece := applied(t)
	stopped, stop := context.WithCancel(t.Context())
	now, told := make(chan struct{}), make(chan engine.Urgency)
	o := work.NewOperation(work.Options{Name: "1", Session: stops{told: told}, StopNow: now})
	ok := o.Run(maintask.Steady(stopped), piece, func(ctx context.Context, began func() bool) hcl.Diagnostics {
		if !began() {
			t.Error("the work may not begin")
		}
		stop()
		if how := <-told; how != engine.Gracefully {
			t.Errorf("the first time the engine is told %v", how)
		}
		close(now)
		if how := <-told; how != engine.Now {
			t.Errorf("the second time the engine is told %v", how)
		}
		if ctx.Err() != nil {
			t.Error("the context has ended, too")
		}
		return nil
	})
	if !ok {
		t.Error("what has begun counts for nothing")
	}

	stopped, stop = context.WithCancel(t.Context())
	defer stop()
	o = work.NewOperation(work.Options{Name: "1", Session: stops{}})
	o.Run(maintask.Steady(stopped), piece, func(ctx context.Context, began func() bool) hcl.Diagnostics {
		began()
		stop()
		<-ctx.Done()
		return nil
	})
}
