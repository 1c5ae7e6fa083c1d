// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tables

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/testenv"
	"github.com/cairnstacks/cairn/internal/testenv/storetest"
)

// A state is never taken for one that was not made yet because its entry is not
// found: one bit in the index of the deployments was enough for that.
func TestUnfoundDeploymentIsDamage(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	path := newFile(t)
	want := filled(t, path)
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var found int
	for at := range content {
		if !bytes.HasPrefix(content[at:], []byte("default")) {
			continue
		}
		damaged := bytes.Clone(content)
		damaged[at] ^= 1
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			t.Fatal(err)
		}
		s := openStore(t, path)
		got, err := s.Read(t.Context(), "default")
		if err != nil {
			wantProblem(t, "Read", err, statestore.ProblemCorrupt, path)
			found++
			_, err := s.Lock(t.Context(), "default", statestore.LockRequest{})
			wantProblem(t, "Lock", err, statestore.ProblemCorrupt, path)
		} else if changes := statestore.Changes(got.Records, want); len(changes) != 0 {
			t.Errorf("one bit in byte %d: %d records differ", at, len(changes))
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if found < 10 {
		t.Errorf("only %d damages were noticed", found)
	}

	for name, statement := range map[string]string{
		"entry is missing":            `DELETE FROM cairn_deployment`,
		"entry says nothing is there": `UPDATE cairn_deployment SET lineage = '', serial = 0`,
		"entry has another name":      `UPDATE cairn_deployment SET name = 'defaulu'`,
		"entry is an older one":       `UPDATE cairn_deployment SET serial = 1`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			filled(t, path)
			rawSQL(t, path, statement)
			s := openStore(t, path)
			_, err := s.Read(t.Context(), "default")
			wantProblem(t, "Read", err, statestore.ProblemCorrupt, path)
			_, err = s.Lock(t.Context(), "default", statestore.LockRequest{})
			wantProblem(t, "Lock", err, statestore.ProblemCorrupt, path)
			_, err = s.Read(t.Context(), "another")
			wantProblem(t, "Read of a deployment without a state", err, statestore.ProblemCorrupt, path)
		})
	}
}

// mustSecret returns the secret of the deployment that a lock is of.
func mustSecret(t *testing.T, lock statestore.Lock) []byte {
	t.Helper()
	secret, err := lock.Secret(t.Context())
	if err != nil || len(secret) == 0 {
		t.Fatalf("Secret: %q, %v", secret, err)
	}
	return secret
}

// By its secret a state knows its applies: with another one, or none, it would not recover them.
func TestSecretIsSealed(t *testing.T) {
	for name, statement := range map[string]string{
		"another":               `UPDATE cairn_secret SET secret = CAST('another' AS BLOB)`,
		"of another deployment": `UPDATE cairn_secret SET deployment = 'defaulu'`,
		"missing":               `DELETE FROM cairn_secret`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			filled(t, path)
			s := newSQLiteStore(path)
			lock := storetest.MustLock(t, s, "default")
			secret := mustSecret(t, lock)
			storetest.MustUnlock(t, lock)
			if again, err := s.Secret(t.Context(), "default"); err != nil || !bytes.Equal(again, secret) {
				t.Errorf("Secret: %q, %v, want %q", again, err, secret)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			rawSQL(t, path, `PRAGMA foreign_keys = OFF`, statement)
			s = newSQLiteStore(path)
			defer s.Close() //nolint:errcheck // it was only read
			_, err := s.Secret(t.Context(), "default")
			wantProblem(t, "Secret", err, statestore.ProblemCorrupt, path)
			_, err = s.Lock(t.Context(), "default", statestore.LockRequest{})
			wantProblem(t, "Lock", err, statestore.ProblemCorrupt, path)
		})
	}
}

// formerLocks are the statements that put the table of locks in the place of that of holders, as it
// was in former versions.
func formerLocks() []string {
	const columns = "deployment, id, epoch, operation, owner, host, pid, process_scope, process_start, started, seen, lease_until"
	return []string{
		createFormerLocks,
		"INSERT INTO cairn_lock (" + columns + ") SELECT " + columns + " FROM cairn_holder",
		"DROP TABLE cairn_holder",
	}
}

// makeFormer makes a file one of an older version of the format.
func makeFormer(t *testing.T, path string, version int64) {
	t.Helper()
	s := newSQLiteStore(path)
	err := s.write(t.Context(), func(ctx context.Context, tx *transaction) error {
		d, err := s.findDeployment(ctx, tx, "default")
		if err != nil {
			return err
		}
		tx.version = version
		if err := sealDeployment(ctx, tx, d); err != nil {
			return err
		}
		_, err = tx.ExecContext(ctx, updateSchema, version)
		return err
	})
	if err := errors.Join(err, s.Close()); err != nil {
		t.Fatal(err)
	}
	rawSQL(t, path, formerLocks()...)
	if version == 1 {
		rawSQL(t, path, `DROP TABLE cairn_seal`)
	}
}

// The holders of all locks are sealed: with fewer, or with other parts, two would change the same.
func TestHoldersAreSealed(t *testing.T) {
	for name, statement := range map[string]string{
		"other parts":      `UPDATE cairn_holder SET parts = replace(parts, '"a"', '"b"') WHERE epoch = (SELECT min(epoch) FROM cairn_holder)`,
		"shared part":      `UPDATE cairn_holder SET parts = replace(parts, ',"exclusive":true', '')`,
		"no parts":         `UPDATE cairn_holder SET parts = '[]' WHERE epoch = (SELECT min(epoch) FROM cairn_holder)`,
		"unreadable parts": `UPDATE cairn_holder SET parts = '[' WHERE epoch = (SELECT min(epoch) FROM cairn_holder)`,
		"missing":          `DELETE FROM cairn_holder WHERE epoch = (SELECT min(epoch) FROM cairn_holder)`,
		"none left":        `DELETE FROM cairn_holder`,
		"another one": `INSERT INTO cairn_holder SELECT deployment, 'another', 99, parts, operation, owner, host,
			pid, process_scope, process_start, started, seen, NULL FROM cairn_holder ORDER BY epoch LIMIT 1`,
		"another epoch":         `UPDATE cairn_holder SET epoch = 99 WHERE epoch = (SELECT min(epoch) FROM cairn_holder)`,
		"of another deployment": `UPDATE cairn_holder SET deployment = 'another' WHERE epoch = (SELECT min(epoch) FROM cairn_holder)`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			filled(t, path)
			s := newSQLiteStore(path)
			for _, part := range []string{"a", "c"} {
				if _, err := s.Lock(t.Context(), "default", statestore.LockRequest{
					Operation: "test", Parts: []statestore.Part{{Path: []string{part}, Exclusive: true}},
				}); err != nil {
					t.Fatal(err)
				}
			}
			if err := errors.Join(s.Check(t.Context()), s.Close()); err != nil {
				t.Fatal(err)
			}
			rawSQL(t, path, `PRAGMA foreign_keys = OFF`, statement)
			s = newSQLiteStore(path)
			defer s.Close() //nolint:errcheck // it was only read
			_, err := s.Holders(t.Context(), "default")
			wantProblem(t, "Holders", err, statestore.ProblemCorrupt, path)
			_, err = s.Lock(t.Context(), "default", statestore.LockRequest{Parts: []statestore.Part{{Path: []string{"d"}}}})
			wantProblem(t, "Lock", err, statestore.ProblemCorrupt, path)
			wantProblem(t, "Check", s.Check(t.Context()), statestore.ProblemCorrupt, path)
		})
	}
}

// Whoever had a lock of a former version has the whole deployment, before and after the table of
// locks is replaced.
func TestLockOfFormerFormat(t *testing.T) {
	for version := int64(1); version < formerMovedVersion; version++ {
		t.Run(fmt.Sprint(version), func(t *testing.T) {
			path := newFile(t)
			records := filled(t, path)
			s := newSQLiteStore(path)
			lock := storetest.MustLock(t, s, "default")
			want, err := s.Holders(t.Context(), "default")
			if err := errors.Join(err, s.Close()); err != nil {
				t.Fatal(err)
			}
			makeFormer(t, path, version)
			wantHolders := func(s statestore.Store) {
				t.Helper()
				holders, err := s.Holders(t.Context(), "default")
				all, err2 := s.Locks(t.Context())
				diff := cmp.Diff([][]statestore.LockInfo{want, want}, [][]statestore.LockInfo{holders, all})
				if diff != "" || err != nil || err2 != nil {
					t.Errorf("Holders and Locks: errors %v and %v (-want +got):\n%s", err, err2, diff)
				}
				_, err = s.Lock(t.Context(), "default", statestore.LockRequest{Parts: []statestore.Part{{Path: []string{"a"}}}})
				if locked, ok := errors.AsType[*statestore.LockedError](err); !ok || locked.Holder.ID != lock.ID() || !locked.Part.Exclusive {
					t.Errorf("Lock: error %v, want a LockedError with lock %s of the whole", err, lock.ID())
				}
			}
			former := openStore(t, path)
			wantHolders(former)
			if err := former.Check(t.Context()); err != nil {
				t.Error(err)
			}
			storetest.MustUnlock(t, storetest.MustLock(t, former, "another")) // brings the file into the present format
			wantHolders(former)
			wantHolders(openStore(t, path))
			if err := former.ForceUnlock(t.Context(), "default", lock.ID()); err != nil {
				t.Error(err)
			}
			storetest.MustUnlock(t, storetest.MustLock(t, former, "default"))
			if changes := statestore.Changes(storetest.MustRead(t, former, "default").Records, records); len(changes) != 0 {
				t.Errorf("%d records differ", len(changes))
			}
			if err := openStore(t, path).Check(t.Context()); err != nil {
				t.Error(err)
			}
		})
	}
}

// States that were moved when the format was a former one are known to be.
func TestMovedInFormerFormat(t *testing.T) {
	path := newFile(t)
	filled(t, path)
	makeFormer(t, path, 3)
	rawSQL(t, path, createMoved, `INSERT INTO cairn_moved VALUES ('elsewhere', 0)`,
		fmt.Sprintf(`UPDATE cairn_schema SET version = %d`, formerMovedVersion))
	s := openStore(t, path)
	_, err := s.Read(t.Context(), "default")
	wantProblem(t, "Read", err, statestore.ProblemMoved, path)
	_, err = s.Lock(t.Context(), "default", statestore.LockRequest{})
	wantProblem(t, "Lock", err, statestore.ProblemMoved, path)
}

// In version 2 the table of secrets was made when it was first needed.
func TestSecretOfFormerFormat(t *testing.T) {
	for name, statement := range map[string]string{
		"table":    strings.Replace(createSecrets, "TABLE", "TABLE IF NOT EXISTS", 1),
		"no table": `SELECT 1`,
	} {
		t.Run(name, func(t *testing.T) {
			path := newFile(t)
			filled(t, path)
			makeFormer(t, path, 2)
			rawSQL(t, path, `DROP TABLE cairn_secret`, statement)
			var want []byte
			if name == "table" {
				want = []byte("known")
				rawSQL(t, path, `INSERT INTO cairn_secret VALUES ('default', CAST('known' AS BLOB))`)
			}
			s := openStore(t, path)
			if got, err := s.Secret(t.Context(), "default"); err != nil || !bytes.Equal(got, want) {
				t.Errorf("Secret: %q, %v, want %q", got, err, want)
			}
			lock := storetest.MustLock(t, s, "default")
			if got := mustSecret(t, lock); want != nil && !bytes.Equal(got, want) {
				t.Errorf("Secret after the lock: %q, want %q", got, want)
			}
			storetest.MustUnlock(t, lock)
			if err := openStore(t, path).Check(t.Context()); err != nil {
				t.Error(err)
			}
			rawSQL(t, path, `UPDATE cairn_secret SET secret = CAST('another' AS BLOB)`)
			_, err := s.Secret(t.Context(), "default")
			wantProblem(t, "Secret", err, statestore.ProblemCorrupt, path)
		})
	}
}

// A state of version 1 is read as it is, checked as a whole, and brought into
// the present format by the first lock.
func TestFormerFormat(t *testing.T) {
	testenv.SkipUnderRace(t, "does one thing at a time")
	former := func(t *testing.T, statements ...string) (path string, want map[string][]byte) {
		t.Helper()
		path = newFile(t)
		want = filled(t, path)
		makeFormer(t, path, 1)
		rawSQL(t, path, append([]string{`DROP TABLE cairn_secret`}, statements...)...)
		return path, want
	}
	path, want := former(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	if changes := statestore.Changes(storetest.MustRead(t, s, "default").Records, want); len(changes) != 0 {
		t.Errorf("%d records differ", len(changes))
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("reading has changed the file (%v)", err)
	}
	storetest.Apply(t, s, map[string][]byte{"one": nil, "two": []byte("2")})
	delete(want, "one")
	want["two"] = []byte("2")
	other := openStore(t, path)
	if changes := statestore.Changes(storetest.MustRead(t, other, "default").Records, want); len(changes) != 0 {
		t.Errorf("after an apply %d records differ", len(changes))
	}
	if err := other.Check(t.Context()); err != nil {
		t.Error(err)
	}
	rawSQL(t, path, `UPDATE cairn_version SET finished = NULL WHERE serial = 1`)
	_, err = other.History(t.Context(), "default")
	wantProblem(t, "History", err, statestore.ProblemCorrupt, path)

	for name, statement := range map[string]string{
		"record":     `DELETE FROM cairn_record WHERE state_key = CAST('one' AS BLOB)`,
		"version":    `DELETE FROM cairn_version WHERE serial = 2`,
		"deployment": `DELETE FROM cairn_deployment`,
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := former(t, statement)
			s := openStore(t, path)
			_, err := s.Read(t.Context(), "default")
			wantProblem(t, "Read", err, statestore.ProblemCorrupt, path)
			_, err = s.Lock(t.Context(), "default", statestore.LockRequest{})
			wantProblem(t, "Lock", err, statestore.ProblemCorrupt, path)
		})
	}
}
