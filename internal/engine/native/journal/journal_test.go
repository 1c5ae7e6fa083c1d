// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

var purpose = engine.Purpose{Secret: []byte("secret"), Plan: "plan", Serial: 7}

func bound(dir string, purpose engine.Purpose) *Journal {
	j := New(dir)
	j.Bind(purpose)
	return j
}

func instance(name string) stackaddrs.ResourceInstance {
	return stackaddrs.ResourceInstance{Resource: stackaddrs.Resource{Type: "fake_thing", Name: name}}
}

func object(t *testing.T, name, value string) tfstate.Entry {
	t.Helper()
	e, err := tfstate.Object{
		Addr: instance(name), Provider: `provider["example.com/a/fake"]`, Attributes: fmt.Appendf(nil, `{"v":%q}`, value),
	}.Entry()
	if err != nil {
		t.Fatal(err)
	}
	return e
}

func document(t *testing.T, entries ...tfstate.Entry) engine.State {
	t.Helper()
	doc, err := tfstate.New(nil, entries)
	if err != nil {
		t.Fatal(err)
	}
	return doc.Bytes()
}

// kill ends a session as the end of its process does.
func kill(t *testing.T, j *Journal) {
	t.Helper()
	if j.mu.file != nil {
		if err := j.mu.file.os.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

func must(t *testing.T, errs ...error) {
	t.Helper()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
}

func unfinished(t *testing.T, j *Journal) []engine.UnfinishedWork {
	t.Helper()
	found, err := j.Unfinished(t.Context())
	if err != nil {
		t.Fatalf("Unfinished: %v", err)
	}
	return found
}

func resume(t *testing.T, j *Journal, work engine.WorkID) *engine.Recovered {
	t.Helper()
	recovered, err := j.Resume(t.Context(), work, 0, nil)
	if err != nil || recovered == nil {
		t.Fatalf("Resume(%q): got %v and %v", work, recovered, err)
	}
	return recovered
}

// files returns how many journals there are.
func files(t *testing.T, dir string) int {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	return len(found)
}

// A killed session leaves what it has done, and what it was about to do.
func TestKilled(t *testing.T) {
	dir := t.TempDir()
	j := bound(dir, purpose)
	w := j.Begin("w1", "component.a", engine.Normal, document(t, object(t, "old", "0"), object(t, "kept", "k")))
	must(t,
		w.Intend(instance("new"), "", engine.ActionCreate), w.Store(object(t, "new", "1")),
		w.Intend(instance("old"), "", engine.ActionDelete), w.Remove(instance("old"), ""),
		w.Intend(instance("failed"), "", engine.ActionCreate), w.Unchanged(instance("failed"), ""),
		w.Intend(instance("doubtful"), "", engine.ActionCreate),
	)
	kill(t, j)

	next := bound(dir, purpose)
	if kept, err := next.Kept(t.Context(), purpose.Secret); err != nil || !cmp.Equal(kept, []string{"component.a"}) {
		t.Errorf("Kept: got %q and %v, want component.a", kept, err)
	}
	found := unfinished(t, next)
	if len(found) != 1 || found[0].Work != "w1" || found[0].Component != "component.a" || found[0].Foreign {
		t.Fatalf("Unfinished: got %+v, want w1", found)
	}
	recovered := resume(t, next, "w1")
	if want := []string{"fake_thing.doubtful"}; !cmp.Equal(recovered.Doubts, want) || recovered.Plan != "plan" || recovered.Serial != 7 || recovered.Saved {
		t.Errorf("Resume: got %+v, want doubts %q", recovered, want)
	}
	if got, want := string(recovered.State), string(document(t, object(t, "kept", "k"), object(t, "new", "1"))); got != want {
		t.Errorf("Resume: got the state\n%s\nwant\n%s", got, want)
	}
	must(t, next.Acknowledge("w1"), next.MarkSeen(t.Context(), "w1"), next.Close())

	last := bound(dir, purpose)
	unfinished(t, last)
	if again := resume(t, last, "w1"); !again.Saved || !again.Seen || len(again.Doubts) != 1 {
		t.Errorf("after it was acknowledged and seen: got %+v", again)
	}
	must(t, last.Forget(t.Context(), "w1"), last.Close())
	if n := files(t, dir); n != 0 {
		t.Errorf("%d files are left, want none", n)
	}
}

// What changes nothing outside is written only if nobody takes the result.
func TestNothingOutside(t *testing.T) {
	dir := t.TempDir()
	for _, taken := range []bool{true, false} {
		j := bound(dir, purpose)
		must(t, j.Begin("w", "component.a", engine.Normal, nil).Store(object(t, "x", "1")))
		if n := files(t, dir); n != 0 {
			t.Errorf("while it goes on: %d files, want none", n)
		}
		if taken {
			must(t, j.Acknowledge("w"))
		}
		must(t, j.Close())
		if n := files(t, dir); (n == 0) != taken {
			t.Errorf("acknowledged %t: %d files", taken, n)
		}
	}
	next := bound(dir, purpose)
	unfinished(t, next)
	if got := resume(t, next, "w"); string(got.State) != string(document(t, object(t, "x", "1"))) {
		t.Errorf("got %s", got.State)
	}
	must(t, next.Close())
}

// A provider that crashes while its session lives leaves a doubt, although the result is saved.
func TestDoubtOfLivingSession(t *testing.T) {
	dir := t.TempDir()
	j := bound(dir, purpose)
	w := j.Begin("w", "component.a", engine.Normal, nil)
	must(t, w.Intend(instance("x"), "", engine.ActionCreate))
	if got := w.Doubts(); len(got) != 1 || !strings.Contains(got[0].Detail, "\n  create fake_thing.x\n") {
		t.Errorf("Doubts: got %v", got)
	}
	must(t, j.Acknowledge("w"), j.Close())

	next := bound(dir, purpose)
	unfinished(t, next)
	if got := resume(t, next, "w"); !got.Saved || !got.Seen || !cmp.Equal(got.Doubts, []string{"fake_thing.x"}) || len(got.State) > 0 {
		t.Errorf("got %+v", got)
	}
	must(t, next.Close())
}

// A line that is not whole was being written when the program was killed. Anything else is foreign.
func TestDamaged(t *testing.T) {
	tests := map[string]struct {
		damage func(text string) string
		want   int // works
		other  bool
	}{
		"whole":               {damage: func(s string) string { return s }, want: 1},
		"last line torn":      {damage: func(s string) string { return s[:len(s)-9] }, want: 1},
		"first line torn":     {damage: func(s string) string { return s[:20] }, want: 0},
		"changed":             {damage: func(s string) string { return strings.Replace(s, "component.a", "component.b", 1) }, other: true},
		"a line taken away":   {damage: func(s string) string { return s[strings.Index(s, "\n")+1:] }, other: true},
		"a line of somebody":  {damage: func(s string) string { return s + `{"kind":"forgotten","work":"w"}` + "\t00\n" }, other: true},
		"not a journal":       {damage: func(string) string { return "hello\n" }, other: true},
		"nothing was written": {damage: func(string) string { return "" }, want: 0},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			j := bound(dir, purpose)
			w := j.Begin("w", "component.a", engine.Normal, nil)
			must(t, w.Intend(instance("x"), "", engine.ActionCreate), w.Intend(instance("y"), "", engine.ActionCreate))
			path := j.mu.file.os.Name()
			kill(t, j)
			text, err := os.ReadFile(path)
			must(t, err, os.WriteFile(path, []byte(test.damage(string(text))), 0o600))

			next := bound(dir, purpose)
			found := unfinished(t, next)
			if test.other {
				if len(found) != 1 || !found[0].Foreign {
					t.Errorf("got %+v, want foreign work", found)
				}
				return
			}
			if len(found) != test.want {
				t.Errorf("got %+v, want %d", found, test.want)
			}
			must(t, next.Close())
		})
	}
}

// A journal belongs to its session while that lives, and to those who know the secret.
func TestOthers(t *testing.T) {
	dir := t.TempDir()
	j := bound(dir, purpose)
	must(t, j.Begin("w", "component.a", engine.Normal, nil).Intend(instance("x"), "", engine.ActionCreate))
	if found := unfinished(t, bound(dir, purpose)); len(found) != 0 {
		t.Errorf("of a living session: got %+v", found)
	}
	kill(t, j)
	if found := unfinished(t, bound(dir, engine.Purpose{Secret: []byte("other")})); len(found) != 1 || !found[0].Foreign {
		t.Errorf("with another secret: got %+v, want foreign work", found)
	}
	one := bound(dir, purpose)
	if found := unfinished(t, one); len(found) != 1 || found[0].Foreign {
		t.Errorf("got %+v, want one", found)
	}
	must(t, one.Leave(t.Context(), "w"))
	if found := unfinished(t, bound(dir, purpose)); len(found) != 1 {
		t.Errorf("after it was left: got %+v, want one", found)
	}
}

// FuzzRecords checks that whatever lines somebody has signed who knows the secret, there are works of which all can be asked.
func FuzzRecords(f *testing.F) {
	f.Add(`{"kind":"began","work":"w","component":"component.a","state":{"version":4}}` + "\n" + `{"kind":"intended","work":"w","object":"a.b","action":"create"}` + "\n" + `{"kind":"stored","work":"w","object":"a.b","entry":{}}`)
	f.Add(`{"kind":"stored","work":"w"}` + "\n" + `{"kind":"began","work":"w"}` + "\n" + `{"kind":"began","work":"w","state":"x"}` + "\n" + `{"kind":"forgotten","work":"w"}`)
	f.Add(`{"kind":"began","work":"v"}` + "\n" + `{"kind":"began","work":"w"}` + "\n" + `{"kind":"removed","work":"v"}` + "\n" + `{"kind":"acknowledged","work":"w"}`)
	f.Fuzz(func(t *testing.T, text string) {
		signing, signed := &signer{secret: []byte("secret")}, &bytes.Buffer{}
		for line := range strings.SplitSeq(text, "\n") {
			signing.last = signing.sum([]byte(line))
			fmt.Fprintf(signed, "%s\t%x\n", line, signing.last)
		}
		size := int64(signed.Len())
		records, read, err := (&signer{secret: []byte("secret")}).readRecords(signed)
		if err != nil {
			return
		}
		if read != size {
			t.Errorf("%d of %d bytes are read", read, size)
		}
		for _, one := range works(records) {
			one.unfinished("x")
			_ = one.doubts().explain()
			one.replay(0, func(engine.Event) {})
			if recovered, err := one.state(); err == nil && len(recovered) > 0 && !json.Valid(recovered) {
				t.Errorf("the state is no JSON: %s", recovered)
			}
		}
		if _, _, err := (&signer{secret: []byte("another")}).readRecords(strings.NewReader(signed.String())); signed.Len() > 0 && err == nil {
			t.Error("a journal of somebody else is read")
		}
	})
}
