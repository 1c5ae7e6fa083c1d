// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"bytes"
	"os"
	"testing"
)

// A state is never taken for one that was not made yet because its entry is not
// found: one bit in the index of the deployments was enough for that.
func TestUnfoundDeploymentIsDamage(t *testing.T) {
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
			wantProblem(t, "Read", err, ProblemCorrupt, path)
			found++
			_, err := s.Lock(t.Context(), "default", LockRequest{})
			wantProblem(t, "Lock", err, ProblemCorrupt, path)
		} else if changes := Changes(got.Records, want); len(changes) != 0 {
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
			wantProblem(t, "Read", err, ProblemCorrupt, path)
			_, err = s.Lock(t.Context(), "default", LockRequest{})
			wantProblem(t, "Lock", err, ProblemCorrupt, path)
			_, err = s.Read(t.Context(), "another")
			wantProblem(t, "Read of a deployment without a state", err, ProblemCorrupt, path)
		})
	}
}

// A state of version 1 is read as it is, checked as a whole, and brought into
// the present format by the first lock.
func TestFormerFormat(t *testing.T) {
	former := func(t *testing.T, statements ...string) (path string, want map[string][]byte) {
		t.Helper()
		path = newFile(t)
		want = filled(t, path)
		rawSQL(t, path, append([]string{`DROP TABLE cairn_seal`, `UPDATE cairn_schema SET version = 1`}, statements...)...)
		return path, want
	}
	path, want := former(t)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	s := openStore(t, path)
	if changes := Changes(mustRead(t, s, "default").Records, want); len(changes) != 0 {
		t.Errorf("%d records differ", len(changes))
	}
	if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
		t.Errorf("reading has changed the file (%v)", err)
	}
	apply(t, s, map[string][]byte{"one": nil, "two": []byte("2")})
	delete(want, "one")
	want["two"] = []byte("2")
	other := openStore(t, path)
	if changes := Changes(mustRead(t, other, "default").Records, want); len(changes) != 0 {
		t.Errorf("after an apply %d records differ", len(changes))
	}
	if err := other.Check(t.Context()); err != nil {
		t.Error(err)
	}
	rawSQL(t, path, `UPDATE cairn_version SET finished = NULL WHERE serial = 1`)
	_, err = other.History(t.Context(), "default")
	wantProblem(t, "History", err, ProblemCorrupt, path)

	for name, statement := range map[string]string{
		"record":     `DELETE FROM cairn_record WHERE state_key = CAST('one' AS BLOB)`,
		"version":    `DELETE FROM cairn_version WHERE serial = 2`,
		"deployment": `DELETE FROM cairn_deployment`,
	} {
		t.Run(name, func(t *testing.T) {
			path, _ := former(t, statement)
			s := openStore(t, path)
			_, err := s.Read(t.Context(), "default")
			wantProblem(t, "Read", err, ProblemCorrupt, path)
			_, err = s.Lock(t.Context(), "default", LockRequest{})
			wantProblem(t, "Lock", err, ProblemCorrupt, path)
		})
	}
}
