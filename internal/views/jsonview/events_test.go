// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package jsonview

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/diagnostic"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// clock returns a clock that goes on by a second at each look.
func clock() func() time.Time {
	now := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	return func() time.Time {
		now = now.Add(time.Second)
		return now
	}
}

// feed sends an event of every kind.
func feed(t *testing.T, e *Events) {
	t.Helper()
	h := e.Hooks("apply")
	db := viewtest.Instance(t, `component.db["a"]`)
	e.Version("1.2.3", engine.Info{Name: "terraform", Version: "1.11.4"},
		engine.Reason{Code: engine.ReasonUsual, Text: "Nobody has named an engine."})
	for _, status := range []hooks.Status{hooks.Pending, hooks.Planning} {
		h.ComponentStatus(db, status)
	}
	h.ComponentEvent(db, engine.Event{Type: engine.RefreshStart, Raw: json.RawMessage(
		`{"@level":"info","@message":"x: Refreshing state...","@timestamp":"2026-01-01T00:00:00Z","hook":{"id_value":"<1>"},"type":"refresh_start"}`,
	)})
	h.ComponentEvent(db, engine.Event{Type: engine.PlannedChange, Resource: "thing.x", Action: "create"})
	h.ComponentPlanned(viewtest.Created(t))
	h.ComponentStatus(db, hooks.Applying)
	h.ComponentEvent(db, engine.Event{Type: engine.ApplyStart, Resource: "thing.x", Action: "create", Raw: json.RawMessage("no JSON")})
	h.ComponentEvent(db, engine.Event{
		Type: engine.ApplyComplete, Resource: "thing.x", Action: "create", IDKey: "id", IDValue: "7", Elapsed: 1500 * time.Millisecond,
	})
	h.ComponentEvent(db, engine.Event{Type: engine.ApplyErrored, Resource: "thing.y", Action: "delete", Elapsed: time.Minute})
	h.ComponentChecks(db, nil)
	h.ComponentChecks(db, []engine.CheckResult{
		{Kind: engine.CheckBlock, Address: "check.c", Status: engine.CheckFail},
		{Kind: engine.CheckVariable, Address: "var.v", Status: engine.CheckPass},
	})
	h.ComponentApplied(db, stackplan.Counts{Add: 1, Move: 2})
	h.ComponentStatus(db, hooks.Failed)
	e.Diagnostic(db.String(), diagnostic.New(&hcl.Diagnostic{Severity: hcl.DiagError, Summary: "It failed", Detail: "Because."},
		diagnostic.Sources{}))
	e.Diagnostic("", diagnostic.New(&hcl.Diagnostic{Severity: hcl.DiagWarning, Summary: "Careful"}, diagnostic.Sources{}))
	e.OutputChanges(viewtest.Plan(t).Outputs)
	e.ChangeSummary("plan", stackplan.Counts{Add: 1, Defer: 1})
	e.ChangeSummary("destroy", stackplan.Counts{Remove: 3})
	e.Outputs(viewtest.State(t).Outputs)
	e.Resuming(1, 2, 5)
}

func TestEvents(t *testing.T) {
	var b strings.Builder
	e := NewEvents(&b, clock())
	feed(t, e)
	if err := e.Err(); err != nil {
		t.Fatal(err)
	}
	viewtest.Golden(t, "events.jsonl", b.String())
	for _, secret := range viewtest.Secrets() {
		if strings.Contains(b.String(), secret) {
			t.Errorf("%q is shown", secret)
		}
	}
}

func TestEventsFromManyGoroutines(t *testing.T) {
	var b strings.Builder
	e := NewEvents(&b, nil)
	h := e.Hooks("apply")
	var all sync.WaitGroup
	for i := range 20 {
		addr := viewtest.Instance(t, fmt.Sprintf("component.c[%d]", i))
		all.Go(func() {
			for range 20 {
				h.ComponentStatus(addr, hooks.Applying)
				h.ComponentEvent(addr, engine.Event{Type: engine.ApplyStart, Resource: strings.Repeat("x", 1000)})
			}
		})
	}
	all.Wait()
	lines := strings.Split(strings.TrimSpace(b.String()), "\n")
	if len(lines) != 800 {
		t.Errorf("%d lines, want 800", len(lines))
	}
	for _, line := range lines {
		if !json.Valid([]byte(line)) {
			t.Fatalf("not JSON: %s", line)
		}
	}
}

type brokenWriter struct{ calls int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, errors.New("broken pipe")
}

func TestEventsAfterAFailedWrite(t *testing.T) {
	w := &brokenWriter{}
	e := NewEvents(w, clock())
	feed(t, e)
	if e.Err() == nil || w.calls != 1 {
		t.Errorf("error %v after %d calls of Write, want an error after 1", e.Err(), w.calls)
	}
}

func TestMoved(t *testing.T) {
	former, now := viewtest.Instance(t, "component.net"), viewtest.Instance(t, `component.net["a"]`)
	var b strings.Builder
	NewEvents(&b, nil).Moved([]stackaddrs.Rename{{From: former, To: now}})
	var event map[string]any
	if err := json.Unmarshal([]byte(b.String()), &event); err != nil {
		t.Fatal(err)
	}
	if event["type"] != "component_moved" || event["component"] != now.String() || event["previous_address"] != former.String() {
		t.Errorf("event: %v", event)
	}
}
