// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// unprivileged makes a child obey file permissions, which root does not.
func unprivileged(t *testing.T, directory string) func(*exec.Cmd) {
	return func(cmd *exec.Cmd) {
		if os.Geteuid() != 0 {
			return
		}
		// The go command keeps test binaries where only root gets at them.
		binary := filepath.Join(directory, "child")
		if err := copyFile(cmd.Path, binary); err != nil {
			t.Fatal(err)
		}
		const nobody = 65534
		cmd.Path = binary
		cmd.Dir = directory
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: nobody, Gid: nobody}}
	}
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer in.Close()                                                      //nolint:errcheck // only read
	out, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755) //nolint:gosec // for the child to run
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}

// openDirectory returns a directory that everyone may enter.
func openDirectory(t *testing.T) string {
	t.Helper()
	directory := t.TempDir()
	chmod(t, 0o755, directory, filepath.Dir(directory))
	return directory
}

func chmod(t *testing.T, mode os.FileMode, paths ...string) {
	t.Helper()
	for _, path := range paths {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
	}
}

// childReadOnly says how reading, locking and unlocking go.
func childReadOnly(open storetest.Opener, location string) error {
	ctx := context.Background()
	s, err := open(location)
	if err != nil {
		return err
	}
	say := func(call string, err error) {
		problem := statestore.Problem("ok")
		if err != nil {
			problem = "other error"
		}
		if e, ok := errors.AsType[*statestore.StoreError](err); ok {
			problem = e.Problem
		}
		fmt.Printf("%s|%s|%v\n", call, problem, err)
	}
	snapshot, err := s.Read(ctx, "default")
	say("Read", err)
	if err == nil {
		// A killed writer may have stored more than the 5 it reported.
		fmt.Printf("records|%d|serial %d\n", min(len(snapshot.Records), 306), snapshot.Serial)
	}
	say("Check", s.Check(ctx))
	_, err = s.Lock(ctx, "default", statestore.LockRequest{})
	say("Lock", err)
	say("ForceUnlock", s.ForceUnlock(ctx, "default", "x"))
	return s.Close()
}

// leaveLog has a process write 5 records and be killed, so that they are in
// the log only.
func leaveLog(t *testing.T, path string) {
	t.Helper()
	c := storetest.StartChild(t, "write", path)
	for range 5 {
		c.Line(t)
	}
	c.Kill(t)
	if info, err := os.Stat(path + "-wal"); err != nil || info.Size() == 0 {
		t.Fatalf("no log is left (%v)", err)
	}
}

func TestReadOnly(t *testing.T) {
	const readable = "Read|ok records|301 Check|ok"
	for name, test := range map[string]struct {
		prepare func(t *testing.T, path string)
		want    string
		say     string // part of Lock's message
	}{
		"file": {
			func(t *testing.T, path string) {
				chmod(t, 0o444, path)
				chmod(t, 0o777, filepath.Dir(path))
			},
			readable + " Lock|read-only ForceUnlock|read-only", "the file is read-only for",
		},
		"directory": {
			func(t *testing.T, path string) {
				chmod(t, 0o666, path)
				chmod(t, 0o555, filepath.Dir(path))
			},
			readable + " Lock|read-only ForceUnlock|read-only", "is read-only for",
		},
		"file and directory": {
			func(t *testing.T, path string) {
				chmod(t, 0o444, path)
				chmod(t, 0o555, filepath.Dir(path))
			},
			readable + " Lock|read-only ForceUnlock|read-only", "the file is read-only for",
		},
		"log of a killed process": {
			func(t *testing.T, path string) {
				leaveLog(t, path)
				chmod(t, 0o444, path, path+"-wal", path+"-shm")
				chmod(t, 0o555, filepath.Dir(path))
			},
			"Read|ok records|306 Check|ok Lock|read-only ForceUnlock|read-only", "the file is read-only for",
		},
		// Not even SQLite can read it now, and without the log it would be an
		// older state.
		"log without its index": {
			func(t *testing.T, path string) {
				leaveLog(t, path)
				if err := os.Remove(path + "-shm"); err != nil {
					t.Fatal(err)
				}
				chmod(t, 0o444, path, path+"-wal")
				chmod(t, 0o555, filepath.Dir(path))
			},
			"Read|read-only Check|read-only Lock|read-only ForceUnlock|read-only", "the file is read-only for",
		},
		"file that may not be read": {
			func(t *testing.T, path string) {
				chmod(t, 0o000, path)
				chmod(t, 0o755, filepath.Dir(path))
			},
			"Read|no access Check|no access Lock|no access ForceUnlock|no access", "may not be read by",
		},
		"no file yet": {
			func(t *testing.T, path string) {
				if err := os.Remove(path); err != nil {
					t.Fatal(err)
				}
				chmod(t, 0o555, filepath.Dir(path))
			},
			"Read|ok records|0 Check|ok Lock|read-only ForceUnlock|other error", "cannot be made",
		},
		"directory that may not be entered": {
			func(t *testing.T, path string) { chmod(t, 0o000, filepath.Dir(path)) },
			"Read|no access Check|no access Lock|no access ForceUnlock|no access", "permission",
		},
	} {
		t.Run(name, func(t *testing.T) {
			outer := openDirectory(t)
			directory := filepath.Join(outer, "stack")
			if err := os.Mkdir(directory, 0o700); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(directory, "cairn.state.db")
			filled(t, path)
			test.prepare(t, path)
			info, err := os.Stat(directory)
			if err != nil {
				t.Fatal(err)
			}
			chmod(t, 0o700, directory)
			before, err := os.ReadDir(directory)
			if err != nil {
				t.Fatal(err)
			}
			chmod(t, info.Mode().Perm(), directory)

			c := storetest.StartChild(t, "readonly", path, unprivileged(t, outer))
			var got []string
			for c.Out.Scan() {
				t.Log(c.Out.Text())
				fields := strings.SplitN(c.Out.Text(), "|", 3)
				got = append(got, fields[0]+"|"+fields[1])
				if fields[0] == "Lock" && !strings.Contains(fields[2], test.say) {
					t.Errorf("Lock's message does not say %q: %s", test.say, fields[2])
				}
			}
			if err := c.Cmd.Wait(); err != nil {
				t.Errorf("child: %v", err)
			}
			if got := strings.Join(got, " "); got != test.want {
				t.Errorf("got  %s\nwant %s", got, test.want)
			}
			chmod(t, 0o700, directory)
			after, err := os.ReadDir(directory)
			if err != nil || len(after) != len(before) {
				t.Errorf("the child left %v, %v", after, err)
			}
		})
	}
}

// A disk that is full refuses the write, and keeps all that was stored.
func TestDiskFull(t *testing.T) {
	directory := t.TempDir()
	testenv.SmallDisk(t, directory, 1<<20)
	path := filepath.Join(directory, "cairn.state.db")
	s := newSQLiteStore(path)
	defer s.Close() //nolint:errcheck // may not be able to tidy up on a full disk
	lock := storetest.MustLock(t, s, "default")
	w := storetest.MustBegin(t, lock, statestore.Base{})
	want := map[string]string{}
	var err error
	for i := 0; err == nil && i < 1000; i++ {
		key := fmt.Sprint("key", i)
		value := strings.Repeat(key, 2000)
		if err = w.Write(t.Context(), map[string][]byte{key: []byte(value)}); err == nil {
			want[key] = value
		}
	}
	wantProblem(t, "Write", err, statestore.ProblemFull, path)
	if len(want) < 10 {
		t.Errorf("the disk was full after %d records", len(want))
	}
	storetest.WantRecords(t, storetest.MustRead(t, s, "default"), want)
	if err := s.Check(t.Context()); err != nil {
		t.Errorf("Check on a full disk: %v", err)
	}
	other := newSQLiteStore(path)
	storetest.WantRecords(t, storetest.MustRead(t, other, "default"), want)
	if err := other.Close(); err != nil {
		t.Error(err)
	}

	// With space the same writer goes on.
	testenv.SmallDisk(t, directory, 4<<20)
	storetest.MustWrite(t, w, map[string][]byte{"more": []byte("x")})
	want["more"] = "x"
	storetest.WantRecords(t, storetest.MustRead(t, s, "default"), want)

	t.Run("from the beginning", func(t *testing.T) {
		fill(t, filepath.Join(directory, "filler"))
		path := filepath.Join(directory, "another.db")
		s := openStore(t, path)
		_, err := s.Lock(t.Context(), "default", statestore.LockRequest{})
		wantProblem(t, "Lock", err, statestore.ProblemFull, path)
		if _, err := os.Lstat(path); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file was made on the full disk (%v)", err)
		}
		if drafts, err := filepath.Glob(filepath.Join(directory, ".*")); err != nil || len(drafts) != 0 {
			t.Errorf("left behind: %v, %v", drafts, err)
		}
		storetest.MustRead(t, s, "default")
	})
}

// However little space is left, a state is made whole or not at all.
func TestDiskFullWhileMaking(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	const size = 512 << 10
	directory := t.TempDir()
	testenv.SmallDisk(t, directory, size)
	path := filepath.Join(directory, "cairn.state.db")
	filler := filepath.Join(directory, "filler")
	var made, refused int
	for free := 0; free <= 240<<10; free += 4096 {
		if err := os.WriteFile(filler, bytes.Repeat([]byte{1}, size-free), 0o600); err != nil {
			t.Fatal(err)
		}
		s := newSQLiteStore(path)
		lock, err := s.Lock(t.Context(), "default", statestore.LockRequest{})
		if err != nil {
			refused++
			wantProblem(t, "Lock", err, statestore.ProblemFull, path)
		} else {
			made++
			if err := lock.Unlock(t.Context()); err != nil {
				wantProblem(t, "Unlock", err, statestore.ProblemFull, path)
			}
		}
		if err := s.Close(); err != nil {
			t.Errorf("%d bytes free: Close: %v", free, err)
		}
		if drafts, err := filepath.Glob(filepath.Join(directory, ".*")); err != nil || len(drafts) != 0 {
			t.Errorf("%d bytes free: left behind: %v, %v", free, drafts, err)
		}
		if err := os.Remove(filler); err != nil {
			t.Fatal(err)
		}
		s = newSQLiteStore(path)
		if lock != nil {
			if err := s.ForceUnlock(t.Context(), "default", lock.ID()); err != nil && !storetest.IsError[*statestore.LockIDError](err) {
				t.Errorf("%d bytes free: ForceUnlock: %v", free, err)
			}
		}
		storetest.Apply(t, s, map[string][]byte{"a": []byte("1")})
		if err := errors.Join(s.Check(t.Context()), s.Close(), os.Remove(path)); err != nil {
			t.Errorf("%d bytes free: %v", free, err)
		}
	}
	t.Logf("made %d times, refused %d times", made, refused)
	if made < 5 || refused < 5 {
		t.Errorf("made %d times, refused %d times", made, refused)
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, path string) {
	t.Helper()
	filler, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	for err == nil {
		_, err = filler.Write(bytes.Repeat([]byte{1}, 4096))
	}
	if err := filler.Close(); err != nil {
		t.Fatal(err)
	}
}
