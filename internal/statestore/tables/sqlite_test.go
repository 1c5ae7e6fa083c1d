// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// newFile returns a path for a state in a directory of its own.
func newFile(t *testing.T) string {
	return filepath.Join(t.TempDir(), "cairn.state.db")
}

// rawSQL changes a file behind the store's back.
func rawSQL(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range statements {
		if _, err := db.Exec(s); err != nil {
			t.Fatalf("%s: %v", s, err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}

// wantProblem fails unless err is a StoreError of one kind that names the path
// and a remedy.
func wantProblem(t *testing.T, call string, err error, want statestore.Problem, path string) {
	t.Helper()
	e, ok := errors.AsType[*statestore.StoreError](err)
	if !ok {
		t.Errorf("%s: error %v, want a StoreError of kind %q", call, err, want)
		return
	}
	if e.Problem != want || e.Location != path || e.Remedy == "" || !strings.Contains(err.Error(), path) {
		t.Errorf("%s: kind %q at %q, want %q at %q with a remedy:\n%s", call, e.Problem, e.Location, want, path, err)
	}
}

func TestOpenLocation(t *testing.T) {
	directory := t.TempDir()
	t.Chdir(directory)
	for location, want := range map[string]string{
		"state.db":                        filepath.Join(directory, "state.db"),
		"sqlite://state.db":               filepath.Join(directory, "state.db"),
		"sqlite://" + directory + "/x.db": filepath.Join(directory, "x.db"),
		"a b?c#d%20&mode=memory.db":       filepath.Join(directory, "a b?c#d%20&mode=memory.db"),
		":memory:":                        filepath.Join(directory, ":memory:"),
		"file:x":                          filepath.Join(directory, "file:x"),
	} {
		s := openStore(t, location)
		t.Chdir(t.TempDir()) // the path was fixed by Open
		storetest.Apply(t, s, map[string][]byte{"a": []byte("1")})
		other := openStore(t, want)
		storetest.WantRecords(t, storetest.MustRead(t, other, "default"), map[string]string{"a": "1"})
		if err := errors.Join(s.Close(), other.Close()); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(want); err != nil {
			t.Errorf("Open(%q) made no file at %q: %v", location, want, err)
		}
		t.Chdir(directory)
	}
	for _, location := range []string{"", "sqlite://", "mysql://host/db", "https://x/y", "a\x00b"} {
		_, err := Open(location, nil, statestore.Options{})
		wantProblem(t, "Open", err, statestore.ProblemURL, location)
	}
}

// Rule S7.
func TestReadingCreatesNothing(t *testing.T) {
	path := newFile(t)
	storetest.NothingStored(t, storetest.NewPlace(path, open))
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != 0 {
		t.Errorf("reading left %v, %v; want nothing", entries, err)
	}
}

func TestFilesArePrivate(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("SKIPPED: no file modes on Windows")
	}
	path := newFile(t)
	s := openStore(t, path)
	lock := storetest.MustLock(t, s, "default")
	storetest.MustWrite(t, storetest.MustBegin(t, lock, statestore.Base{}), map[string][]byte{"secret": []byte("x")})
	names := []string{"", "-wal", "-shm"}
	for _, suffix := range names {
		info, err := os.Stat(path + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if got := info.Mode().Perm(); got != 0o600 {
			t.Errorf("cairn.state.db%s has mode %o, want 600", suffix, got)
		}
	}
	entries, err := os.ReadDir(filepath.Dir(path))
	if err != nil || len(entries) != len(names) {
		t.Errorf("the directory holds %v, %v; want the three files", entries, err)
	}
}

func TestPragmas(t *testing.T) {
	s := newSQLiteStore(newFile(t))
	defer s.Close() //nolint:errcheck // nothing stored
	storetest.MustLock(t, s, "default")
	db, err := s.open(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "busy_timeout": "5000", "trusted_schema": "0",
	} {
		var got string
		if err := db.QueryRow("PRAGMA " + pragma).Scan(&got); err != nil || got != want {
			t.Errorf("%s is %q, %v; want %q", pragma, got, err, want)
		}
	}
}

// filled makes a state with enough records to spread over many pages, and returns these.
func filled(t *testing.T, path string) map[string][]byte {
	t.Helper()
	s := newSQLiteStore(path)
	records := map[string][]byte{}
	for i := range 300 {
		records["key-"+string(rune('a'+i%26))+strings.Repeat("x", i)] = bytes.Repeat([]byte{byte(i)}, 200+i)
	}
	storetest.Apply(t, s, records)
	storetest.Apply(t, s, map[string][]byte{"one": []byte("more")})
	records["one"] = []byte("more")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	return records
}

// use calls everything a command would, until something fails.
func use(t *testing.T, s statestore.Store) (map[string][]byte, error) {
	t.Helper()
	if err := s.Check(t.Context()); err != nil {
		return nil, err
	}
	lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{Operation: "test"})
	if err != nil {
		return nil, err
	}
	snapshot, err := s.Read(t.Context(), "default")
	if err != nil {
		return nil, err
	}
	if _, err := s.ReadSerial(t.Context(), "default", 1); err != nil {
		return nil, err
	}
	return snapshot.Records, lock.Unlock(t.Context())
}

func TestDamagedFile(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	tests := map[string]struct {
		damage func(content []byte) []byte
		want   statestore.Problem
	}{
		"empty":                {func([]byte) []byte { return nil }, statestore.ProblemNotState},
		"text":                 {func([]byte) []byte { return []byte("{\"version\": 4}\n") }, statestore.ProblemNotState},
		"long text":            {func([]byte) []byte { return bytes.Repeat([]byte("terraform "), 5000) }, statestore.ProblemNotState},
		"header overwritten":   {func(b []byte) []byte { copy(b, strings.Repeat("\x00", 100)); return b }, statestore.ProblemNotState},
		"only its first bytes": {func(b []byte) []byte { return b[:50] }, statestore.ProblemCorrupt},
		"only its first page":  {func(b []byte) []byte { return b[:4096] }, statestore.ProblemCorrupt},
		"cut in half":          {func(b []byte) []byte { return b[:len(b)/2/4096*4096] }, statestore.ProblemCorrupt},
		"cut within a page":    {func(b []byte) []byte { return b[:len(b)-1000] }, statestore.ProblemCorrupt},
		"table of tables":      {func(b []byte) []byte { copy(b[100:], strings.Repeat("\xff", 3900)); return b }, statestore.ProblemCorrupt},
		"pages zeroed":         {func(b []byte) []byte { clear(b[4096*3:]); return b }, statestore.ProblemCorrupt},
		"one bit in a value": {func(b []byte) []byte {
			b[bytes.Index(b, bytes.Repeat([]byte{100}, 200))+50] ^= 1
			return b
		}, statestore.ProblemCorrupt},
		"one bit in a key": {func(b []byte) []byte {
			b[bytes.Index(b, []byte("key-"+"w"+strings.Repeat("x", 100)))+50] ^= 1
			return b
		}, statestore.ProblemCorrupt},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			want := filled(t, path)
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			damaged := test.damage(content)
			if err := os.WriteFile(path, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			s := openStore(t, path)
			_, err = use(t, s)
			wantProblem(t, "use", err, test.want, path)
			// Where Check complains of something that Read has no need of, Read
			// may succeed, but only with the right state.
			if got, err := s.Read(t.Context(), "default"); err != nil {
				wantProblem(t, "Read", err, test.want, path)
			} else if changes := statestore.Changes(got.Records, want); len(changes) != 0 {
				t.Errorf("Read returns another state without an error: %d records differ", len(changes))
			}
			after, err := os.ReadFile(path)
			if err != nil || !bytes.Equal(after, damaged) {
				t.Errorf("the damaged file was changed (%v)", err)
			}
		})
	}
}

func TestMissingRecordIsNoticed(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	for name, statement := range map[string]string{
		"record":        `DELETE FROM cairn_record WHERE state_key = CAST('one' AS BLOB)`,
		"end of record": `UPDATE cairn_record SET valid_to = 2 WHERE state_key = CAST('one' AS BLOB)`,
		"version":       `DELETE FROM cairn_version WHERE serial = 2`,
		"tables":        `DROP TABLE cairn_record`,
		"format":        `DELETE FROM cairn_schema`,
		"old format":    `UPDATE cairn_schema SET version = 0`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			filled(t, path)
			rawSQL(t, path, statement)
			s := openStore(t, path)
			_, err := s.Read(t.Context(), "default")
			wantProblem(t, "Read", err, statestore.ProblemCorrupt, path)
			wantProblem(t, "Check", s.Check(t.Context()), statestore.ProblemCorrupt, path)
		})
	}

	t.Run("in an older serial", func(t *testing.T) {
		path := newFile(t)
		filled(t, path)
		s := openStore(t, path)
		storetest.Apply(t, s, map[string][]byte{"one": nil})
		rawSQL(t, path, `DELETE FROM cairn_record WHERE state_key = CAST('one' AS BLOB)`)
		storetest.MustRead(t, s, "default")
		_, err := s.ReadSerial(t.Context(), "default", 2)
		wantProblem(t, "ReadSerial", err, statestore.ProblemCorrupt, path)
		wantProblem(t, "Check", s.Check(t.Context()), statestore.ProblemCorrupt, path)
	})
}

func TestForeignFiles(t *testing.T) {
	for name, test := range map[string]struct {
		make func(t *testing.T, path string)
		want statestore.Problem
	}{
		"another program's database": {
			func(t *testing.T, path string) { rawSQL(t, path, `CREATE TABLE people (name TEXT)`) }, statestore.ProblemNotState,
		},
		"database without tables": {
			func(t *testing.T, path string) { rawSQL(t, path, `PRAGMA user_version = 1`) }, statestore.ProblemNotState,
		},
		"newer format": {
			func(t *testing.T, path string) {
				filled(t, path)
				rawSQL(t, path, fmt.Sprintf(`UPDATE cairn_schema SET version = %d`, movedVersion+1))
			}, statestore.ProblemNewer,
		},
		"directory": {
			func(t *testing.T, path string) {
				if err := os.Mkdir(path, 0o700); err != nil {
					t.Fatal(err)
				}
			}, statestore.ProblemNotState,
		},
		"log without its file": {
			func(t *testing.T, path string) {
				if err := os.WriteFile(path+"-wal", []byte("log"), 0o600); err != nil {
					t.Fatal(err)
				}
			}, statestore.ProblemCorrupt,
		},
		"symbolic link in a cycle": {
			func(t *testing.T, path string) {
				if err := os.Symlink(path, path); err != nil {
					t.Fatal(err)
				}
			}, statestore.ProblemAccess,
		},
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			test.make(t, path)
			before := directoryContent(t, filepath.Dir(path))
			s := openStore(t, path)
			_, readErr := s.Read(t.Context(), "default")
			wantProblem(t, "Read", readErr, test.want, path)
			_, lockErr := s.Lock(t.Context(), "default", statestore.LockRequest{})
			wantProblem(t, "Lock", lockErr, test.want, path)
			wantProblem(t, "ForceUnlock", s.ForceUnlock(t.Context(), "default", "x"), test.want, path)
			if after := directoryContent(t, filepath.Dir(path)); after != before {
				t.Errorf("something was changed: %s\nbefore: %s", after, before)
			}
		})
	}
}

// directoryContent describes the files of a directory.
func directoryContent(t *testing.T, directory string) string {
	t.Helper()
	entries, err := os.ReadDir(directory)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	for _, e := range entries {
		content, err := os.ReadFile(filepath.Join(directory, e.Name()))
		if err != nil {
			content = []byte("unreadable")
		}
		b.WriteString(e.Name() + ":" + string(content) + "\n")
	}
	return b.String()
}

func TestSymbolicLink(t *testing.T) {
	target := newFile(t)
	want := filled(t, target)
	link := newFile(t)
	if err := os.Symlink(target, link); err != nil {
		t.Skipf("SKIPPED: no symbolic links here: %v", err)
	}
	s := openStore(t, link)
	storetest.Apply(t, s, map[string][]byte{"one": []byte("through the link")})
	want["one"] = []byte("through the link")
	if changes := statestore.Changes(storetest.MustRead(t, openStore(t, target), "default").Records, want); len(changes) != 0 {
		t.Errorf("%d records differ", len(changes))
	}

	nowhere := newFile(t)
	if err := os.Symlink(target+".gone", nowhere); err != nil {
		t.Fatal(err)
	}
	_, err := openStore(t, nowhere).Lock(t.Context(), "default", statestore.LockRequest{})
	wantProblem(t, "Lock", err, statestore.ProblemAccess, nowhere)
}

func TestMissingDirectory(t *testing.T) {
	root := t.TempDir()
	if err := os.WriteFile(filepath.Join(root, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(root, "no", "state.db"), filepath.Join(root, "file", "state.db")} {
		s := openStore(t, path)
		_, err := s.Read(t.Context(), "default")
		wantProblem(t, "Read", err, statestore.ProblemNoDirectory, path)
		_, err = s.Lock(t.Context(), "default", statestore.LockRequest{})
		wantProblem(t, "Lock", err, statestore.ProblemNoDirectory, path)
	}
}

// A writer whose file is taken away must not write on into nowhere.
func TestFileReplaced(t *testing.T) {
	path := newFile(t)
	s := newSQLiteStore(path)
	defer s.Close() //nolint:errcheck // its file is gone
	lock := storetest.MustLock(t, s, "default")
	w := storetest.MustBegin(t, lock, statestore.Base{})
	storetest.MustWrite(t, w, map[string][]byte{"a": []byte("1")})
	for _, suffix := range []string{"", "-wal", "-shm"} {
		if err := os.Rename(path+suffix, path+".moved"+suffix); err != nil {
			t.Fatal(err)
		}
	}
	err := w.Write(t.Context(), map[string][]byte{"a": []byte("2")})
	if !storetest.IsError[*statestore.StoreError](err) {
		t.Errorf("Write to a file that was moved away: error %v, want a StoreError", err)
	}
	filled(t, path)
	err = w.Write(t.Context(), map[string][]byte{"a": []byte("2")})
	wantProblem(t, "Write", err, statestore.ProblemReplaced, path)
	_, err = s.Read(t.Context(), "default")
	wantProblem(t, "Read", err, statestore.ProblemReplaced, path)
}

func TestBusy(t *testing.T) {
	path := newFile(t)
	filled(t, path)
	other, err := sql.Open("sqlite", path+"?_txlock=immediate")
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close() //nolint:errcheck // only read
	tx, err := other.Begin()
	if err != nil {
		t.Fatal(err)
	}

	s := newSQLiteStore(path)
	s.busyTimeout = 20 * time.Millisecond
	defer s.Close() //nolint:errcheck // reported by other tests
	_, err = s.Lock(t.Context(), "default", statestore.LockRequest{})
	wantProblem(t, "Lock", err, statestore.ProblemBusy, path)
	storetest.MustRead(t, s, "default") // which needs no turn
	if err := tx.Rollback(); err != nil {
		t.Fatal(err)
	}
	storetest.MustUnlock(t, storetest.MustLock(t, s, "default"))
}

// alterLock makes the lock of the default deployment one that another process took.
func alterLock(t *testing.T, path string, change func(*statestore.LockInfo)) {
	t.Helper()
	s := newSQLiteStore(path)
	err := s.write(t.Context(), func(ctx context.Context, tx *transaction) error {
		d, err := s.findDeployment(ctx, tx, "default")
		if err != nil {
			return err
		}
		holder := &d.holders[0]
		change(holder)
		_, err = tx.ExecContext(ctx, `UPDATE cairn_holder SET host = $1, pid = $2, process_scope = $3, process_start = $4`,
			holder.Host, holder.PID, holder.Identity.Scope, holder.Identity.Start)
		return errors.Join(err, sealDeployment(ctx, tx, d))
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
}

// A lock whose holder this process cannot see is never taken over (rule S4).
func TestLockOfUnseenHolder(t *testing.T) {
	for name, change := range map[string]func(*statestore.LockInfo){
		"another machine": func(i *statestore.LockInfo) { i.Identity.Scope, i.Host = "linux another", "elsewhere" },
		"another boot": func(i *statestore.LockInfo) {
			i.Identity.Scope = strings.Replace(i.Identity.Scope, "linux ", "linux 0", 1)
		},
		"unknown system": func(i *statestore.LockInfo) { i.Identity.Scope = "" },
		"unknown start":  func(i *statestore.LockInfo) { i.Identity.Start = "" },
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			s := openStore(t, path)
			lock := storetest.MustLock(t, s, "default")
			alterLock(t, path, func(i *statestore.LockInfo) {
				change(i)
				// A number that no process has, except where the start is in doubt.
				if name != "unknown start" {
					i.PID = 99999999
				}
			})
			_, err := s.Lock(t.Context(), "default", statestore.LockRequest{})
			locked, ok := errors.AsType[*statestore.LockedError](err)
			if !ok || locked.Running {
				t.Fatalf("Lock: error %v, want a LockedError that does not claim to see the holder", err)
			}
			if !strings.Contains(err.Error(), "remove its lock "+lock.ID()) {
				t.Errorf("message does not name the lock: %s", err)
			}
			if err := s.ForceUnlock(t.Context(), "default", lock.ID()); err != nil {
				t.Fatal(err)
			}
			storetest.MustUnlock(t, storetest.MustLock(t, s, "default"))
		})
	}
}

// The number of a dead holder was given to a new process.
func TestLockOfReusedProcessNumber(t *testing.T) {
	if statestore.CurrentProcess().Scope == "" {
		t.Skip("SKIPPED: this system cannot tell whether another process is dead")
	}
	path := newFile(t)
	s := openStore(t, path)
	lock := storetest.MustLock(t, s, "default")
	alterLock(t, path, func(i *statestore.LockInfo) { i.Identity.Start = "1" })
	if from := storetest.Displaced(storetest.MustLock(t, s, "default")); from == nil || from.ID != lock.ID() {
		t.Errorf("taken from %+v, want lock %s", from, lock.ID())
	}
}

// Writing one record touches neither the other records nor many pages (rule S5).
func TestWriteCostIsConstant(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	size := func(records int) int64 {
		path := newFile(t)
		s := openStore(t, path)
		many := map[string][]byte{}
		for i := range records {
			many[benchmarkKey(i)] = bytes.Repeat([]byte{1}, 500)
		}
		storetest.Apply(t, s, many)
		rawSQL(t, path, `PRAGMA wal_checkpoint(TRUNCATE)`)
		lock := storetest.MustLock(t, s, "default")
		w := storetest.MustBegin(t, lock, storetest.MustRead(t, s, "default").Base())
		before, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		storetest.MustWrite(t, w, map[string][]byte{benchmarkKey(records / 2): []byte("new")})
		after, err := os.Stat(path + "-wal")
		if err != nil {
			t.Fatal(err)
		}
		return after.Size() - before.Size()
	}
	small, large := size(100), size(5000)
	t.Logf("one write is %d bytes with 100 records, %d bytes with 5000", small, large)
	if small <= 0 || large > small+4*4200 {
		t.Errorf("one write is %d bytes with 100 records, %d with 5000; want about the same", small, large)
	}
}

// The draft of a process that is killed while it makes a state is removed by the next one that
// writes.
func TestDraftsAreRemoved(t *testing.T) {
	path := newFile(t)
	directory := filepath.Dir(path)
	me, dead := statestore.CurrentProcess(), statestore.CurrentProcess()
	if me.Scope == "" {
		t.Skip("SKIPPED: this system cannot tell whether another process is dead")
	}
	dead.PID = 99999999
	prefix := filepath.Join(directory, newSQLiteStore(path).draftPrefix())
	for name, stays := range map[string]bool{
		prefix + draftSuffix(dead):                           false,
		prefix + draftSuffix(dead) + "-journal":              false,
		prefix + draftSuffix(me):                             true,
		prefix + "99999999_1_0_OFANOTHERMACHINE":             true,
		prefix + "NAMEDASBEFORE":                             true,
		filepath.Join(directory, ".other.db.new-99999999_x"): true,
	} {
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		for _, what := range []string{"made", "used"} { // the state, by the lock
			storetest.MustUnlock(t, storetest.MustLock(t, openStore(t, path), "default"))
			if _, err := os.Lstat(name); (err == nil) != stays {
				t.Errorf("%s, when a state was %s: %v, want it to stay: %t", filepath.Base(name), what, err, stays)
			}
		}
		if !stays {
			continue
		}
		old := time.Now().Add(-2 * draftLifetime)
		if err := os.Chtimes(name, old, old); err != nil {
			t.Fatal(err)
		}
		storetest.MustUnlock(t, storetest.MustLock(t, openStore(t, path), "default"))
		if _, err := os.Lstat(name); (err == nil) != strings.Contains(name, ".other.db") {
			t.Errorf("%s after a long time: %v", filepath.Base(name), err)
		}
	}
}
