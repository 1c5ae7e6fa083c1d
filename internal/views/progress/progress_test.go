// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package progress

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/cairnstacks/cairn/internal/views/live"
	"github.com/cairnstacks/cairn/internal/views/textstyle"
	"github.com/cairnstacks/cairn/internal/views/viewtest"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/hooks"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

func TestLines(t *testing.T) {
	var b strings.Builder
	l := NewLines(&b, LinesOptions{})
	h := l.Hooks("apply")
	db, app, net := viewtest.Instance(t, "component.db"), viewtest.Instance(t, `component.app["a"]`), viewtest.Instance(t, "component.net")
	h.ComponentStatus(db, hooks.Pending)
	h.ComponentStatus(db, hooks.Planning)
	h.ComponentEvent(db, engine.Event{Type: engine.RefreshStart, Resource: "thing.x", IDKey: "id", IDValue: "7"})
	h.ComponentEvent(db, engine.Event{Type: engine.RefreshComplete, Resource: "thing.x", IDKey: "id", IDValue: "7"})
	h.ComponentEvent(db, engine.Event{Type: engine.PlannedChange, Resource: "thing.x", Action: "update"})
	h.ComponentPlanned(viewtest.Created(t))
	h.ComponentStatus(app, hooks.Planned)
	h.ComponentPlanned(viewtest.Unchanged(t))
	h.ComponentStatus(net, hooks.Planned)
	h.ComponentStatus(db, hooks.Applying)
	h.ComponentEvent(db, engine.Event{Type: engine.ApplyStart, Resource: "terraform_data.x", Action: "create"})
	h.ComponentEvent(db, engine.Event{Type: engine.ApplyProgress, Resource: "terraform_data.x", Action: "create", Elapsed: 70 * time.Second})
	h.ComponentEvent(db, engine.Event{
		Type:     engine.ApplyProgress,
		Resource: "terraform_data.y",
		Action:   "delete",
		IDKey:    "id",
		IDValue:  "8",
		Elapsed:  10 * time.Second,
	})
	h.ComponentEvent(db, engine.Event{
		Type:     engine.ProvisionProgress,
		Resource: "terraform_data.x",
		Message:  "terraform_data.x: (local-exec): one\ntwo\x1b[2J",
	})
	h.ComponentEvent(db, engine.Event{
		Type:     engine.ApplyComplete,
		Resource: "terraform_data.x",
		Action:   "create",
		IDKey:    "id",
		IDValue:  "1",
		Elapsed:  time.Second,
	})
	h.ComponentEvent(db, engine.Event{Type: engine.ApplyErrored, Resource: "terraform_data.y", Action: "delete"})
	h.ComponentApplied(db, stackplan.Counts{Add: 1})
	h.ComponentStatus(db, hooks.Applied)
	h.ComponentApplied(net, stackplan.Counts{})
	h.ComponentStatus(net, hooks.Applied)
	h.ComponentStatus(app, hooks.Skipped)
	h.ComponentStatus(app, hooks.Deferred)
	h.ComponentStatus(app, hooks.Failed)
	if err := l.Err(); err != nil {
		t.Fatal(err)
	}
	viewtest.Golden(t, "lines.txt", b.String())
}

// In a log of CI, only changes count.
func TestConciseLines(t *testing.T) {
	var b strings.Builder
	h := NewLines(&b, LinesOptions{Concise: true}).Hooks("apply")
	db, net := viewtest.Instance(t, "component.db"), viewtest.Instance(t, "component.net")
	for _, component := range []stackaddrs.AbsComponentInstance{db, net} {
		h.ComponentStatus(component, hooks.Planning)
		h.ComponentEvent(component, engine.Event{Type: engine.RefreshStart, Resource: "thing.x"})
		h.ComponentEvent(component, engine.Event{Type: engine.ApplyStart, Resource: "data.thing.x", Action: "read"})
		h.ComponentEvent(component, engine.Event{Type: engine.ApplyComplete, Resource: "data.thing.x", Action: "read"})
	}
	h.ComponentPlanned(viewtest.Created(t))
	h.ComponentStatus(viewtest.Created(t).Addr, hooks.Planned)
	h.ComponentPlanned(viewtest.Unchanged(t))
	h.ComponentStatus(viewtest.Unchanged(t).Addr, hooks.Planned)
	for _, component := range []stackaddrs.AbsComponentInstance{db, net} {
		h.ComponentStatus(component, hooks.Applying)
		h.ComponentEvent(component, engine.Event{Type: engine.ApplyStart, Resource: "data.thing.x", Action: "read"})
	}
	h.ComponentEvent(db, engine.Event{Type: engine.ApplyStart, Resource: "thing.x", Action: "create"})
	h.ComponentApplied(db, stackplan.Counts{Add: 1})
	h.ComponentStatus(db, hooks.Applied)
	h.ComponentApplied(net, stackplan.Counts{})
	h.ComponentStatus(net, hooks.Applied)
	viewtest.Golden(t, "lines-concise.txt", b.String())
}

func TestLinesOfComponentsWithNothingToDo(t *testing.T) {
	net, late, bad := viewtest.Instance(t, "component.net"), viewtest.Instance(t, "component.late"), viewtest.Instance(t, "component.bad")
	var b strings.Builder
	h := NewLines(&b, LinesOptions{}).Hooks("apply")
	for _, addr := range []stackaddrs.AbsComponentInstance{net, late, bad} {
		h.ComponentStatus(addr, hooks.Pending)
		h.ComponentStatus(addr, hooks.Applying)
		h.ComponentEvent(addr, engine.Event{Type: engine.RefreshComplete, Resource: "thing.x"})
	}
	h.ComponentApplied(net, stackplan.Counts{})
	h.ComponentStatus(net, hooks.Applied)
	h.ComponentStatus(late, hooks.Deferred)
	h.ComponentStatus(bad, hooks.Failed)
	want := "component.net: Applied: no changes to resources\ncomponent.late: Deferred\ncomponent.bad: Failed\n"
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestLiveOfADeferredComponent(t *testing.T) {
	screen, late := viewtest.NewScreen(t, 80), viewtest.Instance(t, "component.late")
	display := NewLive(screen, LiveOptions{Operation: "apply", Size: func() live.Size { return size(80, 24) }})
	display.During(func() {
		h := display.Hooks()
		h.ComponentStatus(late, hooks.Applying)
		h.ComponentStatus(late, hooks.Deferred)
	})
	if got, want := strings.TrimSpace(screen.Text()), "- component.late: Deferred"; got != want {
		t.Errorf("the screen shows %q, want %q", got, want)
	}
}

type brokenWriter struct{ calls int }

func (w *brokenWriter) Write([]byte) (int, error) {
	w.calls++
	return 0, errors.New("broken pipe")
}

func TestAfterAFailedWrite(t *testing.T) {
	db := viewtest.Instance(t, "component.db")
	w := &brokenWriter{}
	l := NewLines(w, LinesOptions{})
	for range 3 {
		l.Hooks("apply").ComponentStatus(db, hooks.Applied)
	}
	if l.Err() == nil || w.calls != 1 {
		t.Errorf("Lines: error %v after %d calls of Write, want an error after 1", l.Err(), w.calls)
	}
	w = &brokenWriter{}
	display := NewLive(w, LiveOptions{Operation: "apply", Size: func() live.Size { return size(80, 24) }})
	display.During(func() { display.Hooks().ComponentStatus(db, hooks.Applying) })
	if display.Err() == nil || w.calls != 1 {
		t.Errorf("Live: error %v after %d calls of Write, want an error after 1", display.Err(), w.calls)
	}
}

var start = time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)

// busyModel has components in every status.
func busyModel() *Model {
	m := &Model{Operation: "apply", Started: start, Components: map[string]*Component{
		"component.done":     {Status: hooks.Applied},
		"component.planned":  {Status: hooks.Planned},
		"component.pending":  {Status: hooks.Pending},
		"component.failed":   {Status: hooks.Failed},
		"component.skipped":  {Status: hooks.Skipped},
		"component.deferred": {Status: hooks.Deferred},
	}}
	for i := range 12 {
		addr := fmt.Sprintf("stack.region[\"eu\"].component.db[%d]", i)
		m.Components[addr] = &Component{
			Status:  hooks.Applying,
			Since:   start.Add(time.Duration(i) * time.Second),
			Current: fmt.Sprintf("terraform_data.x[%d]: Creating...", i),
		}
	}
	m.Components["component.日本語"] = &Component{Status: hooks.Applying, Since: start}
	return m
}

func TestFrame(t *testing.T) {
	now := start.Add(65*time.Second + 900*time.Millisecond)
	for _, at := range []live.Size{size(100, 40), size(60, 12), size(30, 6), size(12, 4), size(80, 3)} {
		t.Run(fmt.Sprintf("%dx%d", at.Width, at.Height), func(t *testing.T) {
			plain := strings.Join(busyModel().Frame(now, at, textstyle.Style{}), "\n") + "\n"
			viewtest.Golden(t, fmt.Sprintf("frame-%dx%d.txt", at.Width, at.Height), plain)
			colored := strings.Join(busyModel().Frame(now, at, textstyle.Style{Color: true}), "\n") + "\n"
			if got := ansi.Strip(colored); got != plain {
				t.Errorf("without its colours the frame differs from the plain one:\n%s", got)
			}
		})
	}
}

func TestFrameFits(t *testing.T) {
	for _, width := range []int{0, 1, 3, 4, 5, 8, 13, 20, 31, 47, 60, 79, 100, 200} {
		for _, height := range []int{0, 1, 2, 3, 4, 7, 10, 25, 60} {
			lines := busyModel().Frame(start.Add(time.Hour), size(width, height), textstyle.Style{Color: true})
			if len(lines) > max(height/2, 1) {
				t.Fatalf("%d lines on a terminal of height %d", len(lines), height)
			}
			for _, line := range lines {
				if w := ansi.StringWidth(line); w >= width {
					t.Fatalf("a line of width %d on a terminal of width %d: %q", w, width, line)
				}
			}
		}
	}
}

func TestFrameOfPlan(t *testing.T) {
	tests := map[string]struct {
		statuses []hooks.Status
		want     string
	}{
		"nothing yet": {nil, "Planning ░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0/0 · 0s"},
		"half":        {[]hooks.Status{hooks.Planned, hooks.Pending}, "Planning ████████████████████░░░░░░░░░░░░░░░░░░░░ 1/2 · 1 waiting · 0s"},
		"failed": {
			[]hooks.Status{hooks.Failed, hooks.Pending, hooks.Deferred},
			"Planning ██████████████████████████░░░░░░░░░░░░░░ 2/3 · 1 waiting · 1 deferred · 1 failed · 0s",
		},
		"all": {[]hooks.Status{hooks.Planned}, "Planning ████████████████████████████████████████ 1/1 · 0s"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			m := &Model{Operation: "plan", Started: start, Components: map[string]*Component{}}
			for i, status := range test.statuses {
				m.component(fmt.Sprint(i)).Status = status
			}
			if got := strings.Join(m.Frame(start, size(120, 20), textstyle.Style{}), "\n"); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
		})
	}
}

func size(width, height int) live.Size { return live.Size{Width: width, Height: height} }

// frameInterval is the time between frames of a display.
const frameInterval = 100 * time.Millisecond

// passTime lets virtual time pass.
func passTime(d time.Duration) {
	<-time.After(d)
}

func TestLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := viewtest.NewScreen(t, 60)
		display := NewLive(screen, LiveOptions{
			Operation: "apply", Size: func() live.Size { return size(60, 24) },
		})
		h := display.Hooks()
		db, net := viewtest.Instance(t, "component.db"), viewtest.Instance(t, "component.net")
		check := func(what, want string) {
			t.Helper()
			passTime(frameInterval + time.Millisecond) // virtual time: the next frame is drawn
			synctest.Wait()
			if got := screen.Text(); got != strings.TrimPrefix(want, "\n") {
				t.Errorf("%s: the screen shows\n%s\nwant%s", what, got, want)
			}
		}
		display.Print("Before.\n")
		display.During(func() {
			h.ComponentExpanded(stackaddrs.ComponentOf(db), []stackaddrs.AbsComponentInstance{db})
			h.ComponentExpanded(stackaddrs.ComponentOf(net), []stackaddrs.AbsComponentInstance{net})
			h.ComponentStatus(db, hooks.Pending)
			h.ComponentStatus(net, hooks.Applying)
			check("running", `
Before.
  component.net     0s  Applying...
Applying ░░░░░░░░░░░░░░░░░ 0/2 · 1 running · 1 waiting · 0s`)
			if screen.CursorVisible() {
				t.Error("the cursor can be seen")
			}

			passTime(10 * time.Second)
			h.ComponentEvent(net, engine.Event{Type: engine.ApplyStart, Resource: "thing.x", Action: "create"})
			h.ComponentStatus(db, hooks.Applying)
			check("both running", `
Before.
  component.net    10s  thing.x: Creating...
  component.db      0s  Applying...
Applying ░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 0/2 · 2 running · 10s`)

			h.ComponentEvent(net, engine.Event{Type: engine.ApplyComplete, Resource: "thing.x", Action: "create", Elapsed: time.Second})
			h.ComponentEvent(db, engine.Event{Type: engine.ApplyErrored, Resource: "thing.y", Action: "update"})
			h.ComponentApplied(net, stackplan.Counts{Add: 1, Change: 2, Remove: 3})
			h.ComponentStatus(net, hooks.Applied)
			display.Print("one\ntwo")
			check("one done", `
Before.
✗ component.db: thing.y: Modification failed after 0s
✓ component.net: Applied: 1 added, 2 changed, 3 destroyed
  (10s)
one
two
  component.db     0s  thing.y: Modification failed after …
Applying ██████████████░░░░░░░░░░░░░░ 1/2 · 1 running · 10s`)

			h.ComponentStatus(db, hooks.Failed)
		})
		if got, want := screen.Text(), "two\n✗ component.db: Failed"; !strings.HasSuffix(got, want) {
			t.Errorf("afterwards the screen shows\n%s\nwant an end of\n%s", got, want)
		}
		if !screen.CursorVisible() {
			t.Error("the cursor stays hidden")
		}
	})
}

func TestLiveIsGoneAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := viewtest.NewScreen(t, 60)
		display := NewLive(screen, LiveOptions{Operation: "plan", Size: func() live.Size { return size(60, 24) }})
		db := viewtest.Instance(t, "component.db")
		func() {
			defer func() {
				if recover() == nil {
					t.Error("the panic is lost")
				}
			}()
			display.During(func() {
				display.Hooks().ComponentStatus(db, hooks.Planning)
				passTime(time.Second)
				synctest.Wait()
				display.Hooks().ComponentStatus(db, hooks.Failed)
				panic("work failed")
			})
		}()
		display.Restore()
		display.Print("After.")
		if got, want := screen.Text(), "✗ component.db: Failed (1s)\nAfter."; got != want {
			t.Errorf("the screen shows\n%s\nwant\n%s", got, want)
		}
		if !screen.CursorVisible() {
			t.Error("the cursor stays hidden")
		}
	})
}

func TestLiveDrawsOnlyWhatChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		screen := viewtest.NewScreen(t, 60)
		display := NewLive(screen, LiveOptions{Operation: "plan", Size: func() live.Size { return size(60, 24) }})
		db := viewtest.Instance(t, "component.db")
		display.During(func() {
			display.Hooks().ComponentStatus(db, hooks.Planning)
			passTime(frameInterval * 3 / 2)
			synctest.Wait()
			before := screen.Writes()
			for range 1000 {
				display.Hooks().ComponentEvent(db, engine.Event{Type: engine.RefreshStart, Resource: "thing.x"})
			}
			passTime(frameInterval * 5)
			synctest.Wait()
			if got := screen.Writes() - before; got != 1 {
				t.Errorf("%d writes for 1000 events with one result in half a second, want 1", got)
			}
		})
	})
}

func TestLiveFromManyGoroutines(t *testing.T) {
	screen := viewtest.NewScreen(t, 80)
	display := NewLive(screen, LiveOptions{Operation: "apply", Size: func() live.Size { return size(80, 24) }})
	h := display.Hooks()
	display.During(func() {
		var all sync.WaitGroup
		for i := range 20 {
			addr := viewtest.Instance(t, fmt.Sprintf("component.c[%d]", i))
			all.Go(func() {
				h.ComponentStatus(addr, hooks.Applying)
				h.ComponentEvent(addr, engine.Event{Type: engine.ApplyStart, Resource: "x"})
				h.ComponentStatus(addr, hooks.Applied)
			})
		}
		all.Wait()
	})
	if got := strings.Count(screen.Text(), "✓ component.c["); got != 20 {
		t.Errorf("%d components are done on the screen, want 20:\n%s", got, screen.Text())
	}
}
