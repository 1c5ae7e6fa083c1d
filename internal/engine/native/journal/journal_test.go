// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

var purpose = engine.Purpose{Secret: []byte("secret"), Plan: "plan", Serial: 7}

func bound(dir string, purpose engine.Purpose) *Journal {
	j := New(dir, nil)
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

// A killed session leaves its finished changes, and its intentions.
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
	if want := []string{"fake_thing.doubtful"}; !cmp.Equal(recovered.Doubts, want) ||
		recovered.Plan != "plan" || recovered.Serial != 7 || recovered.Saved {
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

// Work that changes nothing outside is written only if nobody takes the result.
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

// A line that is not whole was being written when the program was killed. With anything else that
// is missing or was changed, something is lost, which stays in doubt until somebody has seen it. A
// file that does not begin as a journal is foreign, unless the state knows of it.
func TestDamaged(t *testing.T) {
	const none, foreign, lost, empty = "none", "foreign", "lost", "empty"
	pad := func(s string) string { return s + strings.Repeat(string(padding), 100) }
	cut := func(s string, n int) string { return s[:n] }
	lines := func(s string) string { return strings.TrimRight(s, string(padding)) }
	tests := map[string]struct {
		damage func(text string) string
		works  int    // that are found besides
		want   string // where the state knows of the journal
		other  string // where it does not
	}{
		"whole":           {damage: func(s string) string { return s }, works: 1},
		"last line torn":  {damage: func(s string) string { return pad(cut(lines(s), len(lines(s))-9)) }, works: 1},
		"first line torn": {damage: func(s string) string { return pad(cut(s, 20)) }, want: lost, other: none},
		"cut within a line": {
			damage: func(s string) string { return cut(lines(s), len(lines(s))-9) },
			works:  1,
			want:   lost,
			other:  lost,
		},
		"cut after a line":          {damage: lines, works: 1, want: lost, other: lost},
		"cut after the first line":  {damage: func(s string) string { return cut(s, strings.Index(s, "\n")+1) }, want: lost, other: lost},
		"cut within the first line": {damage: func(s string) string { return cut(s, 20) }, want: lost, other: empty},
		"emptied":                   {damage: func(string) string { return "" }, want: lost, other: none},
		"zeroed":                    {damage: func(s string) string { return strings.Repeat("\x00", len(s)) }, want: lost, other: empty},
		"zeros in the first line": {
			damage: func(s string) string { return cut(s, 20) + strings.Repeat("\x00", len(s)-20) },
			want:   lost,
			other:  empty,
		},
		"zeros at the end": {
			damage: func(s string) string { return lines(s) + strings.Repeat("\x00", len(s)-len(lines(s))) },
			works:  1,
			want:   lost,
			other:  lost,
		},
		"zeros in the last line": {
			damage: func(s string) string { return pad(cut(lines(s), len(lines(s))-9) + "\x00\x00") },
			works:  1,
			want:   lost,
			other:  lost,
		},
		"a block that was not": {damage: func(s string) string { return pad(pad(lines(s)) + "x") }, works: 1, want: lost, other: lost},
		"changed": {
			damage: func(s string) string { return strings.Replace(s, "component.a", "component.b", 1) },
			want:   lost,
			other:  lost,
		},
		"a line taken away": {damage: func(s string) string { return s[strings.Index(s, "\n")+1:] }, want: lost, other: foreign},
		"a line of somebody": {
			damage: func(s string) string { return pad(lines(s) + `{"kind":"forgotten","work":"w"}` + "\t00\n") },
			works:  1,
			want:   lost,
			other:  lost,
		},
		"not a journal":              {damage: func(string) string { return "hello\n" }, want: lost, other: foreign},
		"nothing but what is padded": {damage: func(string) string { return pad("") }, want: lost, other: none},
	}
	for name, test := range tests {
		for _, known := range []bool{true, false} {
			t.Run(fmt.Sprintf("%s, known %t", name, known), func(t *testing.T) {
				dir := t.TempDir()
				j := bound(dir, purpose)
				recorded, err := j.Record(t.Context(), nil)
				must(t, err)
				w := j.Begin("w", "component.a", engine.Normal, nil)
				must(t, w.Intend(instance("x"), "", engine.ActionCreate), w.Intend(instance("y"), "", engine.ActionCreate))
				kill(t, j)
				path := filepath.Join(dir, recorded)
				text, err := os.ReadFile(path)
				must(t, err, os.WriteFile(path, []byte(test.damage(string(text))), 0o600))

				of, want := purpose, test.other
				if known {
					of.Recorded, want = []string{recorded}, test.want
				}
				next := bound(dir, of)
				found := unfinished(t, next)
				switch want {
				case empty:
					checkEmpty(t, next, path)
				case foreign:
					if len(found) != 1 || !found[0].Foreign {
						t.Errorf("got %+v, want foreign work", found)
					}
					return
				case lost:
					if len(found) != test.works+1 {
						t.Fatalf("got %+v, want %d besides what is lost", found, test.works)
					}
					checkLost(t, dir, next, recorded, test.works)
				default:
					if len(found) != test.works {
						t.Errorf("got %+v, want %d", found, test.works)
					}
					must(t, next.Close())
				}
			})
		}
	}
}

// checkEmpty checks that a file without a whole line stays for a user to look at, unless the
// program has died that had just made it.
func checkEmpty(t *testing.T, j *Journal, path string) {
	t.Helper()
	if found := unfinished(t, j); len(found) != 1 || !found[0].Foreign || !found[0].Empty || found[0].Place != path {
		t.Errorf("got %+v, want empty foreign work", found)
	}
	after := purpose
	after.CutOff = []string{"lock"}
	j.Bind(after)
	if found := unfinished(t, j); len(found) != 1 || found[0].Foreign || !found[0].Empty || found[0].Place != path {
		t.Errorf("with a lock that was taken over: got %+v, want empty work", found)
	}
	if found := unfinished(t, j); len(found) != 0 {
		t.Errorf("the second time: got %+v, want none", found)
	}
	must(t, j.Close())
}

// checkLost checks that lost work stays in doubt until it was seen and forgotten, and that the rest
// is incomplete.
func checkLost(t *testing.T, dir string, j *Journal, recorded string, works int) {
	t.Helper()
	work := engine.WorkID("journal/" + recorded)
	if got := resume(t, j, work); !got.Saved || got.Seen || !got.IsDoubtful() || !strings.Contains(got.Lost, recorded) {
		t.Errorf("what is lost: got %+v", got)
	}
	if works > 0 {
		if got := resume(t, j, "w"); !got.Incomplete || len(got.Doubts) == 0 {
			t.Errorf("what is not lost: got %+v", got)
		}
		must(t, j.Acknowledge("w"), j.Forget(t.Context(), "w"))
	}
	if again := unfinished(t, j); len(again) > 0 {
		t.Errorf("once more: got %+v", again)
	}
	must(t, j.MarkSeen(t.Context(), work), j.Close())

	next := bound(dir, purpose)
	unfinished(t, next)
	if got := resume(t, next, work); !got.Seen {
		t.Errorf("after it was seen: got %+v", got)
	}
	must(t, next.Forget(t.Context(), work), next.Close())
	if n := files(t, dir); n != 0 {
		t.Errorf("%d files are left, want none", n)
	}
}

// A journal that the state knows of, and that is missing, is lost. One that is there stays until
// the state does not know of it.
func TestRecorded(t *testing.T) {
	dir := t.TempDir()
	missing := purpose
	missing.Recorded = []string{"gone.journal"}
	j := bound(dir, missing)
	if found := unfinished(t, j); len(found) != 1 {
		t.Fatalf("got %+v, want what is lost", found)
	}
	checkLost(t, dir, j, "gone.journal", 0)

	j = bound(dir, purpose)
	recorded, err := j.Record(t.Context(), nil)
	must(t, err)
	kill(t, j)
	others := bound(dir, engine.Purpose{Secret: purpose.Secret, Others: []string{recorded}})
	if found := unfinished(t, others); len(found) > 0 {
		t.Errorf("got %+v of another operation", found)
	}
	must(t, others.Close())
	for _, known := range [][]string{{recorded}, nil} {
		next := bound(dir, engine.Purpose{Secret: purpose.Secret, Recorded: []string{recorded}})
		if found := unfinished(t, next); len(found) > 0 {
			t.Errorf("got %+v, want nothing", found)
		}
		next.Bind(engine.Purpose{Secret: purpose.Secret, Recorded: known})
		must(t, next.Close())
		if n := files(t, dir); (n == 1) != (known != nil) {
			t.Errorf("%d files, known %q", n, known)
		}
	}
}

// A file that is continued after a kill, or that grows beyond its padding, is read again.
func TestGoingOn(t *testing.T) {
	dir := t.TempDir()
	j := bound(dir, purpose)
	w := j.Begin("w", "component.a", engine.Normal, nil)
	var group sync.WaitGroup
	for i := range 200 {
		group.Go(func() {
			name := fmt.Sprintf("x%d", i)
			if err := errors.Join(w.Intend(instance(name), "", engine.ActionCreate),
				w.Store(object(t, name, strings.Repeat("v", 1000)))); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	path := j.mu.file.os.Name()
	kill(t, j)
	text, err := os.ReadFile(path)
	must(t, err)
	must(t, os.WriteFile(path, append(bytes.TrimRight(text, string(padding)), "{torn\r\r"...), 0o600))

	next := bound(dir, purpose)
	unfinished(t, next)
	if got := resume(t, next, "w"); len(got.Doubts) > 0 || bytes.Count(got.State, []byte("fake_thing")) != 200 {
		t.Errorf("got %d bytes of state, and doubts %q", len(got.State), got.Doubts)
	}
	must(t, next.Acknowledge("w"), next.Close())
	last := bound(dir, purpose)
	if found := unfinished(t, last); len(found) != 0 {
		t.Errorf("after it was acknowledged: got %+v", found)
	}
}

// BenchmarkIntend measures intentions of several components at a time, as they wait for the disk.
func BenchmarkIntend(b *testing.B) {
	for _, tasks := range []int{1, 10, 100} {
		b.Run(fmt.Sprint("tasks=", tasks), func(b *testing.B) {
			j := bound(b.TempDir(), purpose)
			var group sync.WaitGroup
			for task := range tasks {
				w := j.Begin(engine.WorkID(fmt.Sprint(task)), "component.a", engine.Normal, nil)
				group.Go(func() {
					for range b.N/tasks + 1 {
						if err := errors.Join(w.Intend(instance("x"), "", engine.ActionCreate), w.Remove(instance("x"), "")); err != nil {
							b.Error(err)
						}
					}
				})
			}
			group.Wait()
			if err := j.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// A journal belongs to its session while that lives, and to programs that know the secret.
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

// FuzzRecords checks that any lines signed with the secret give works of which all can be asked.
func FuzzRecords(f *testing.F) {
	f.Add(`{"kind":"began","work":"w","component":"component.a","state":{"version":4}}` + "\n" +
		`{"kind":"intended","work":"w","object":"a.b","action":"create"}` + "\n" + `{"kind":"stored","work":"w","object":"a.b","entry":{}}`)
	f.Add(`{"kind":"stored","work":"w"}` + "\n" + `{"kind":"began","work":"w"}` + "\n" + `{"kind":"began","work":"w","state":"x"}` + "\n" +
		`{"kind":"forgotten","work":"w"}`)
	f.Add(`{"kind":"began","work":"v"}` + "\n" + `{"kind":"began","work":"w"}` + "\n" + `{"kind":"removed","work":"v"}` + "\n" +
		`{"kind":"acknowledged","work":"w"}`)
	f.Fuzz(func(t *testing.T, text string) {
		signing, signed := &signer{secret: []byte("secret")}, &bytes.Buffer{}
		for line := range strings.SplitSeq(text, "\n") {
			signing.last = signing.sum([]byte(line))
			fmt.Fprintf(signed, "%s\t%x\n", line, signing.last)
		}
		size := int64(signed.Len())
		signed.WriteByte(padding)
		content, err := (&signer{secret: []byte("secret")}).read(t.Context(), bytes.NewReader(signed.Bytes()), journalKeys{})
		if err != nil {
			return
		}
		if content.size != size || content.damage != "" {
			t.Errorf("%d of %d bytes are read, and the file %s", content.size, size, content.damage)
		}
		for _, one := range works(content.records) {
			one.unfinished("x")
			_ = one.doubts().explain()
			one.replay(0, func(engine.Event) {})
			if recovered, err := one.state(); err == nil && len(recovered) > 0 && !json.Valid(recovered) {
				t.Errorf("the state is no JSON: %s", recovered)
			}
		}
		if _, err := (&signer{secret: []byte("another")}).read(t.Context(), signed, journalKeys{}); size > 0 && err == nil {
			t.Error("a journal of somebody else is read")
		}
	})
}

// A journal that is lost with its directory is made again from the copy that somebody has kept.
// What was not copied may have been more.
func TestCopies(t *testing.T) {
	isLost := func(found []engine.UnfinishedWork) bool {
		return slices.ContainsFunc(found, func(work engine.UnfinishedWork) bool { return strings.HasPrefix(string(work.Work), "journal/") })
	}
	for name, test := range map[string]struct {
		damage func([]byte) []byte
		doubts []string
		lost   bool
	}{
		"whole":            {damage: func(copied []byte) []byte { return copied }, doubts: []string{"fake_thing.y"}},
		"in part":          {damage: func(copied []byte) []byte { return copied[:len(copied)-3] }},
		"of another state": {damage: func(copied []byte) []byte { return append([]byte("x"), copied...) }, lost: true},
		"missing":          {damage: func([]byte) []byte { return nil }, lost: true},
		"changed": {damage: func(copied []byte) []byte {
			return bytes.Replace(copied, []byte("component.a"), []byte("component.b"), 1)
		}, lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := bound(t.TempDir(), purpose)
			var copied []byte
			recorded, err := j.Record(t.Context(), func(_ context.Context, content []byte) error {
				copied = append(copied, content...)
				return nil
			})
			must(t, err)
			w := j.Begin("w", "component.a", engine.Normal, nil)
			must(t, w.Intend(instance("x"), "", engine.ActionCreate), w.Store(object(t, "x", "v")), w.Intend(instance("y"), "", engine.ActionCreate))
			kill(t, j)

			dir := filepath.Join(t.TempDir(), "runs") // of another machine
			of := purpose
			of.Recorded, of.Copies = []string{recorded}, map[string][]byte{recorded: test.damage(copied)}
			for range 2 { // it may be killed, too
				next := bound(dir, of)
				found := unfinished(t, next)
				if isLost(found) != test.lost {
					t.Fatalf("got %+v, lost: %t", found, test.lost)
				}
				if test.lost {
					return
				}
				got := resume(t, next, "w")
				if !slices.Equal(got.Doubts, test.doubts) || !bytes.Contains(got.State, []byte(`"x"`)) || !got.Incomplete {
					t.Errorf("got doubts %q, state %s, incomplete %t", got.Doubts, got.State, got.Incomplete)
				}
				must(t, next.Leave(t.Context(), "w"))
			}
		})
	}
}

// Nothing is done whose intention has no copy. A copy that has failed is made with the next one.
func TestCopyFails(t *testing.T) {
	j := bound(t.TempDir(), purpose)
	var copied []byte
	broken, result := true, make(chan struct{})
	_, err := j.Record(t.Context(), func(_ context.Context, content []byte) error {
		if broken {
			return errors.New("broken")
		}
		if copied = append(copied, content...); bytes.Count(copied, []byte("\n")) == 5 {
			close(result)
		}
		return nil
	})
	must(t, err)
	w := j.Begin("w", "component.a", engine.Normal, nil)
	if err := w.Intend(instance("x"), "", engine.ActionCreate); err == nil || !strings.Contains(err.Error(), "broken") {
		t.Errorf("Intend = %v, want the error of the copy", err)
	}
	broken = false
	must(t, w.Intend(instance("y"), "", engine.ActionCreate))
	if n := bytes.Count(copied, []byte("\n")); n != 4 {
		t.Errorf("%d lines were copied, want those of the file, of the work, and of two intentions", n)
	}
	must(t, w.Unchanged(instance("y"), ""))
	testenv.Receive(t, "a result is copied", result)
	must(t, j.Close())
}
