// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// delegated returns a request for work that is delegated.
func delegated(t *testing.T, prior engine.State) *engine.ApplyRequest {
	t.Helper()
	addr, err := stackaddrs.ParseAbsComponentInstance("component.a")
	must(t, err)
	return &engine.ApplyRequest{Work: "w1", Component: addr, Planned: &engine.PlanResult{RefreshedState: prior}}
}

// reports has another session do something, and returns all that it reports.
func reports(t *testing.T, do func(*Work)) [][]byte {
	t.Helper()
	var all [][]byte
	worker := New(t.TempDir(), nil)
	worker.Report("w1", func(content []byte) error {
		all = append(all, bytes.Clone(content))
		return nil
	})
	do(worker.Begin("w1", "component.a", engine.Normal, nil))
	if rest := worker.EndReport("w1"); rest != nil {
		all = append(all, rest)
	}
	must(t, worker.Close())
	if n := files(t, worker.dir); n > 0 {
		t.Errorf("the other session has %d files", n)
	}
	return all
}

// Work that another session does is recovered from its reports, each of which counts once, by a
// program that has nothing but the copy of the record.
func TestDelegated(t *testing.T) {
	all := reports(t, func(w *Work) {
		must(t,
			w.Store(object(t, "refreshed", "1")),
			w.Intend(instance("new"), "", engine.ActionCreate), w.Store(object(t, "new", "1")),
			w.Intend(instance("doubtful"), "", engine.ActionCreate), w.Store(object(t, "late", "1")),
		)
	})
	if len(all) != 3 {
		t.Fatalf("got %d reports, want one of each intention with the results before it, and the rest", len(all))
	}
	j := bound(t.TempDir(), purpose)
	var copied []byte
	name, err := j.Record(t.Context(), func(_ context.Context, content []byte) error {
		copied = append(copied, content...)
		return nil
	})
	must(t, err, j.Delegate(t.Context(), delegated(t, document(t, object(t, "kept", "k"))), []byte("place")))
	if !bytes.Contains(copied, []byte("w1")) {
		t.Error("the work is delegated before its record is copied")
	}
	must(t, j.Reported(t.Context(), "w1", all[0]))
	if err := j.Reported(t.Context(), "w1", all[2]); err == nil || !strings.Contains(err.Error(), "after report 2 of w1 comes report 5") {
		t.Errorf("a report is missing: got %v", err)
	}
	must(t, j.Close())

	other := purpose
	other.Serial, other.Recorded, other.Copies = 8, []string{name}, map[string][]byte{name: copied}
	next := bound(t.TempDir(), other)
	unfinished(t, next)
	if about := next.Delegated("w1"); string(about) != "place" {
		t.Errorf("Delegated: got %q", about)
	}
	for _, content := range all {
		must(t, next.Reported(t.Context(), "w1", content))
	}
	must(t, next.Reported(t.Context(), "w1", all[1]))
	if _, err := next.Resume(t.Context(), "w1", 0, nil); err == nil || !strings.Contains(err.Error(), "component.a may go on elsewhere") {
		t.Errorf("Resume of work that goes on: got %v", err)
	}
	next.Settle("w1")
	recovered := resume(t, next, "w1")
	want := document(t, object(t, "kept", "k"), object(t, "refreshed", "1"), object(t, "new", "1"), object(t, "late", "1"))
	if !bytes.Equal(recovered.State, want) || !cmp.Equal(recovered.Doubts, []string{"fake_thing.doubtful"}) || recovered.Serial != 7 ||
		recovered.Lost != "" {
		t.Errorf("Resume: got %+v with the state %s", recovered, recovered.State)
	}
	must(t, next.Acknowledge("w1"))
	if about := next.Delegated("w1"); about != nil {
		t.Errorf("work that is saved is to be asked for at %q", about)
	}
	must(t, next.Close())
}

// Without another intention, a result is reported a moment later, once.
func TestReportedSoon(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reported := make(chan string, 3)
		worker := New(t.TempDir(), nil)
		worker.Report("w1", func(content []byte) error {
			reported <- string(content)
			return nil
		})
		begun := time.Now()
		w := worker.Begin("w1", "component.a", engine.Normal, nil)
		must(t, w.Intend(instance("new"), "", engine.ActionCreate), w.Store(object(t, "new", "1")))
		if first := <-reported; !strings.Contains(first, `"intended"`) || time.Since(begun) > 0 {
			t.Errorf("got %q after %s, want the intention at once", first, time.Since(begun))
		}
		if second := <-reported; !strings.Contains(second, `"stored"`) || time.Since(begun) != reportInterval {
			t.Errorf("got %q after %s, want the result after %s", second, time.Since(begun), reportInterval)
		}
		if rest := worker.EndReport("w1"); rest != nil {
			t.Errorf("the rest is %q, want nothing", rest)
		}
		must(t, worker.Close())
	})
}

// The end of the record is reported, too, also of work that has changed nothing outside. It is kept
// until it is acknowledged.
func TestDelegatedToTheEnd(t *testing.T) {
	all := reports(t, func(w *Work) { must(t, w.Store(object(t, "new", "1")), w.Finish()) })
	j := bound(t.TempDir(), purpose)
	must(t, j.Delegate(t.Context(), delegated(t, nil), []byte("place")))
	for _, content := range all {
		must(t, j.Reported(t.Context(), "w1", content))
	}
	must(t, j.Close())
	next := bound(j.dir, purpose)
	unfinished(t, next)
	if about := next.Delegated("w1"); about != nil {
		t.Errorf("finished work is to be asked for at %q", about)
	}
	recovered := resume(t, next, "w1")
	if !bytes.Equal(recovered.State, document(t, object(t, "new", "1"))) || len(recovered.Diagnostics) > 0 {
		t.Errorf("Resume: got %+v", recovered)
	}
	must(t, next.Acknowledge("w1"), next.Forget(t.Context(), "w1"), next.Close())
	if n := files(t, j.dir); n > 0 {
		t.Errorf("%d files are left", n)
	}
}

// Of work of which nothing was reported, nothing was done, unless reports are lost.
func TestDelegatedWithoutReports(t *testing.T) {
	for _, name := range []string{"at once", "later"} {
		for _, isLost := range []bool{false, true} {
			j := bound(t.TempDir(), purpose)
			must(t, j.Delegate(t.Context(), delegated(t, nil), []byte("place")))
			of := j
			if name == "later" {
				must(t, j.Close())
				of = bound(j.dir, purpose)
				unfinished(t, of)
			}
			if isLost {
				must(t, of.Lose(t.Context(), "w1", "The reports are gone"))
			}
			of.Settle("w1")
			recovered, err := of.Resume(t.Context(), "w1", 0, nil)
			if err != nil || isLost != (recovered != nil && recovered.Lost == "The reports are gone" && recovered.IsDoubtful()) ||
				!isLost && recovered != nil {
				t.Errorf("%s, lost %v: got %+v and %v", name, isLost, recovered, err)
			}
			must(t, of.Close())
			if n := files(t, j.dir); (n > 0) != isLost {
				t.Errorf("%s, lost %v: %d files are left", name, isLost, n)
			}
		}
	}
}

// After a report that is refused, nothing more is begun.
func TestRefusedReport(t *testing.T) {
	refused := errors.New("refused")
	worker := New(t.TempDir(), nil)
	worker.Report("w1", func([]byte) error { return refused })
	w := worker.Begin("w1", "component.a", engine.Normal, nil)
	if err := w.Intend(instance("new"), "", engine.ActionCreate); !errors.Is(err, refused) {
		t.Errorf("Intend: got %v", err)
	}
	if err := w.Intend(instance("other"), "", engine.ActionCreate); !errors.Is(err, refused) {
		t.Errorf("Intend, another one: got %v", err)
	}
	must(t, worker.Close())
}

// A worker has no say in records other than those of its own changes.
func TestStrangeReport(t *testing.T) {
	j := bound(t.TempDir(), purpose)
	must(t, j.Delegate(t.Context(), delegated(t, nil), nil))
	for _, content := range []string{
		`{"kind":"acknowledged","work":"w1","number":1}`, `{"kind":"intended","work":"w2","number":1}`, `{"kind":"inten`,
	} {
		if err := j.Reported(t.Context(), "w1", []byte(content)); err == nil {
			t.Errorf("%s: is recorded", content)
		}
	}
	if err := j.Reported(t.Context(), "w2", nil); !errors.Is(err, engine.ErrUnknownWork) {
		t.Errorf("work of somebody else: got %v", err)
	}
	must(t, j.Close())
}
