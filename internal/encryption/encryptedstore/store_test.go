// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"
	"github.com/google/go-cmp/cmp"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/encryption/encryptedstore"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/internal/statestore/locations"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

const (
	secret     = "planted secret 4711"
	deployment = "default"
)

// stores opens stores on one file.
type stores struct {
	testing.TB

	path string
}

func newStores(t testing.TB) stores {
	t.Helper()
	return stores{t, filepath.Join(t.TempDir(), "state.db")}
}

func newKey(t testing.TB) string {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity.String()
}

func (s stores) raw() statestore.Store {
	s.Helper()
	store, err := locations.Open(s.path, nil, statestore.Options{})
	if err != nil {
		s.Fatal(err)
	}
	s.Cleanup(func() { _ = store.Close() })
	return store
}

func (s stores) open(variable string, mode encryptedstore.Mode) statestore.Store {
	s.Helper()
	keys, err := encryption.Open(nil, []string{settings.EncryptionVariable + "=" + variable}, ".")
	if err != nil {
		s.Fatal(err)
	}
	return encryptedstore.New(s.raw(), keys, mode)
}

// write writes changes in a serial of their own, as an operation does.
func write(t testing.TB, store statestore.Store, first, then map[string][]byte) error {
	t.Helper()
	ctx := t.Context()
	lock, err := store.Lock(ctx, deployment, statestore.LockRequest{Operation: "test", Reserve: true})
	if err != nil {
		return err
	}
	snapshot, err := store.Read(ctx, deployment)
	var writer statestore.Writer
	if err == nil {
		writer, err = lock.Begin(ctx, snapshot.Base(), "test", first)
	}
	if err == nil && then != nil {
		err = writer.Write(ctx, then)
	}
	if err == nil {
		err = writer.Commit(ctx)
	}
	return errors.Join(err, lock.Unlock(ctx))
}

func mustWrite(t testing.TB, store statestore.Store, first, then map[string][]byte) {
	t.Helper()
	if err := write(t, store, first, then); err != nil {
		t.Fatal(err)
	}
}

func checkRecords(t testing.TB, store statestore.Store, want map[string][]byte) {
	t.Helper()
	snapshot, err := store.Read(t.Context(), deployment)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, snapshot.Records); diff != "" {
		t.Errorf("records (-want +got):\n%s", diff)
	}
}

func checkCode(t testing.TB, err error, want fault.Code) {
	t.Helper()
	if got := encryption.CodeOf(err); got != want {
		t.Errorf("error of code %q, want %q: %v", got, want, err)
	}
}

// checkNoSecret looks for a text in all files of the store.
func (s stores) checkNoSecret(text string) {
	s.Helper()
	files, err := filepath.Glob(s.path + "*")
	if err != nil || len(files) == 0 {
		s.Fatal(files, err)
	}
	for _, name := range files {
		content, err := os.ReadFile(name)
		if err != nil {
			s.Fatal(err)
		}
		if bytes.Contains(content, []byte(text)) {
			s.Errorf("%s has %q in clear", filepath.Base(name), text)
		}
	}
}

func TestRecords(t *testing.T) {
	s := newStores(t)
	key := newKey(t)
	first := map[string][]byte{"CMPTcomponent.db": []byte(secret), "empty": {}, "deleted": []byte("x")}
	mustWrite(t, s.open(key, encryptedstore.Usual), first, map[string][]byte{"RSRCcomponent.db.x": []byte("y" + secret), "deleted": nil})
	want := map[string][]byte{"CMPTcomponent.db": []byte(secret), "empty": {}, "RSRCcomponent.db.x": []byte("y" + secret)}
	checkRecords(t, s.open(key, encryptedstore.Usual), want)
	s.checkNoSecret(secret)
	s.checkNoSecret("component.db")

	// Another process writes the same once more, and nothing is stored.
	again := s.open(key, encryptedstore.Usual)
	mustWrite(t, again, want, nil)
	checkRecords(t, again, want)
	history, err := again.History(t.Context(), deployment)
	if err != nil || len(history) != 2 || history[1].Changed != 0 {
		t.Errorf("history %+v, %v, want a second serial without changes", history, err)
	}
	old, err := again.ReadSerial(t.Context(), deployment, 1)
	if err != nil || !maps.EqualFunc(old.Records, want, bytes.Equal) {
		t.Errorf("ReadSerial = %v, %v", old, err)
	}
	if err := again.Check(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestKeys(t *testing.T) {
	s := newStores(t)
	mustWrite(t, s.open(newKey(t), encryptedstore.Usual), map[string][]byte{"a": []byte(secret)}, nil)
	for variable, want := range map[string]fault.Code{newKey(t): encryption.CodeWrongKey, "": encryption.CodeMissingKey} {
		store := s.open(variable, encryptedstore.Usual)
		_, err := store.Read(t.Context(), deployment)
		checkCode(t, err, want)
		checkCode(t, write(t, store, map[string][]byte{"a": []byte("b")}, nil), want)
		_, err = store.ReadSerial(t.Context(), deployment, 1)
		checkCode(t, err, want)
	}
	if serials, err := s.raw().History(t.Context(), deployment); err != nil || len(serials) != 1 {
		t.Errorf("history %v, %v, want one serial", serials, err)
	}
	// Keys that cannot encrypt fail before a lock is taken.
	unusable := newStores(t).open("no-such-file", encryptedstore.Usual)
	checkCode(t, write(t, unusable, map[string][]byte{"a": []byte("b")}, nil), encryption.CodeMissingKey)
}

// A state in clear is refused (rule T3), and encrypted by a rekey; then nothing of the newest
// serial is in clear, and the old one is readable.
func TestClearState(t *testing.T) {
	s := newStores(t)
	key := newKey(t)
	records := map[string][]byte{"a": []byte("b"), "CMPTx": []byte(secret)}
	mustWrite(t, s.open("", encryptedstore.Usual), records, nil)
	demanding := s.open(key, encryptedstore.Usual)
	_, err := demanding.Read(t.Context(), deployment)
	checkCode(t, err, encryption.CodeClearState)
	checkCode(t, write(t, demanding, map[string][]byte{"a": []byte("c")}, nil), encryption.CodeClearState)

	mustWrite(t, s.open(key, encryptedstore.Rekey), records, nil)
	checkRecords(t, demanding, records)
	for name, value := range storedRecords(t, s.raw()) {
		if records[name] != nil || strings.Contains(string(value), secret) {
			t.Errorf("the record %q is in clear: %q", name, value)
		}
	}
	old, err := demanding.ReadSerial(t.Context(), deployment, 1)
	if err != nil || !maps.EqualFunc(old.Records, records, bytes.Equal) {
		t.Errorf("ReadSerial = %v, %v", old, err)
	}

	mustWrite(t, s.open(key, encryptedstore.Decrypt), records, nil)
	checkRecords(t, s.open("", encryptedstore.Usual), records)
	if diff := cmp.Diff(records, storedRecords(t, s.raw())); diff != "" {
		t.Errorf("records in clear (-want +got):\n%s", diff)
	}

	// Changes before, while and after it was encrypted are those of one record.
	mustWrite(t, s.open("", encryptedstore.Usual), map[string][]byte{"a": []byte("c")}, nil)
	checkRevisions(t, s.open("", encryptedstore.Usual), "CMPTx", statestore.Revisions{{Serial: 1, Value: []byte(secret)}}, key)
	mustWrite(t, s.open(key, encryptedstore.Rekey), map[string][]byte{"a": []byte("d")}, nil)
	checkRevisions(t, s.open(key, encryptedstore.Usual), "a", statestore.Revisions{
		{Serial: 1, Value: []byte("b")}, {Serial: 4, Value: []byte("c")}, {Serial: 5, Value: []byte("d")},
	}, "")
}

// checkRevisions looks at the revisions of a record. Without another key that it was encrypted with
// at a time, they cannot be read.
func checkRevisions(t testing.TB, store statestore.Store, key string, want statestore.Revisions, missing string) {
	t.Helper()
	got, err := store.Revisions(t.Context(), deployment, []string{key})
	if missing != "" {
		checkCode(t, err, encryption.CodeMissingKey)
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string]statestore.Revisions{key: want}, got); diff != "" {
		t.Errorf("revisions (-want +got):\n%s", diff)
	}
}

func storedRecords(t testing.TB, store statestore.Store) map[string][]byte {
	t.Helper()
	snapshot, err := store.Read(t.Context(), deployment)
	if err != nil {
		t.Fatal(err)
	}
	return snapshot.Records
}

// After a rekey, the new key reads all serials, and the old one reads those before it. A process
// that has both reads at any time.
func TestRekey(t *testing.T) {
	s := newStores(t)
	before, after := newKey(t), newKey(t)
	records := map[string][]byte{"a": []byte("1"), "b": []byte("2")}
	mustWrite(t, s.open(before, encryptedstore.Usual), records, nil)
	both := s.open(after+";"+before, encryptedstore.Usual)
	checkRecords(t, both, records)

	// What rotates has the old key as a former one: the new state is wrapped for the new key alone.
	keys, err := encryption.Open(&settings.Encryption{
		Keys:   settings.Keys{IdentityFile: s.file(after)},
		Former: []settings.Keys{{IdentityFile: s.file(before)}},
	}, nil, ".")
	if err != nil {
		t.Fatal(err)
	}
	mustWrite(t, encryptedstore.New(s.raw(), keys, encryptedstore.Rekey), records, nil)
	checkRecords(t, both, records)
	onlyNew, onlyOld := s.open(after, encryptedstore.Usual), s.open(before, encryptedstore.Usual)
	checkRecords(t, onlyNew, records)
	_, err = onlyOld.Read(t.Context(), deployment)
	checkCode(t, err, encryption.CodeWrongKey)
	for name, store := range map[string]statestore.Store{"new": onlyNew, "old": onlyOld, "both": both} {
		old, err := store.ReadSerial(t.Context(), deployment, 1)
		if err != nil || !maps.EqualFunc(old.Records, records, bytes.Equal) {
			t.Errorf("%s key: ReadSerial = %v, %v", name, old, err)
		}
	}
	mustWrite(t, onlyNew, map[string][]byte{"a": nil}, map[string][]byte{"c": []byte("3")})
	checkRecords(t, both, map[string][]byte{"b": []byte("2"), "c": []byte("3")})
	for _, store := range []statestore.Store{onlyNew, both} {
		checkRevisions(t, store, "a", statestore.Revisions{{Serial: 1, Value: []byte("1")}, {Serial: 3}}, "")
		checkRevisions(t, store, "b", statestore.Revisions{{Serial: 1, Value: []byte("2")}}, "")
	}
}

func (s stores) file(content string) string {
	s.Helper()
	path := filepath.Join(s.TempDir(), "key")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		s.Fatal(err)
	}
	return path
}

func TestClearMetadata(t *testing.T) {
	s := newStores(t)
	key := newKey(t)
	mustWrite(t, s.open(key+";metadata=clear", encryptedstore.Usual), map[string][]byte{"CMPTcomponent.db": []byte(secret)}, nil)
	stored := storedRecords(t, s.raw())
	if stored["CMPTcomponent.db"] == nil {
		t.Errorf("the name is not in clear: %q", stored)
	}
	s.checkNoSecret(secret)
	checkRecords(t, s.open(key, encryptedstore.Usual), map[string][]byte{"CMPTcomponent.db": []byte(secret)})
}

// A record in the place of another one, without its ring, or with a damaged one, is damage,
// whatever the keys.
func TestDamage(t *testing.T) {
	key := newKey(t)
	change := map[string]func(names []string, stored map[string][]byte) map[string][]byte{
		"swapped": func(names []string, stored map[string][]byte) map[string][]byte {
			return map[string][]byte{names[0]: stored[names[1]], names[1]: stored[names[0]]}
		},
		"changed": func(names []string, stored map[string][]byte) map[string][]byte {
			stored[names[0]][30] ^= 1
			return map[string][]byte{names[0]: stored[names[0]]}
		},
		"in clear": func(names []string, _ map[string][]byte) map[string][]byte {
			return map[string][]byte{names[0]: []byte("x")}
		},
		"no ring": func([]string, map[string][]byte) map[string][]byte { return map[string][]byte{"ring": nil} },
		"other ring": func(_ []string, stored map[string][]byte) map[string][]byte {
			stored["ring"][100] ^= 1
			return map[string][]byte{"ring": stored["ring"]}
		},
	}
	for name, change := range change {
		t.Run(name, func(t *testing.T) {
			s := newStores(t)
			mustWrite(t, s.open(key, encryptedstore.Usual), map[string][]byte{"a": []byte("1"), "b": []byte("2")}, nil)
			stored := storedRecords(t, s.raw())
			var names []string
			for name := range stored {
				if name != "ring" {
					names = append(names, name)
				}
			}
			mustWrite(t, s.raw(), change(names, stored), nil)
			_, err := s.open(key, encryptedstore.Usual).Read(t.Context(), deployment)
			checkCode(t, err, encryption.CodeDamaged)
			if strings.Contains(name, "ring") {
				_, err = s.open(newKey(t), encryptedstore.Usual).Read(t.Context(), deployment)
				checkCode(t, err, encryption.CodeDamaged)
			}
		})
	}
}

// A migration copies what is encrypted as it is, without keys.
func TestMigration(t *testing.T) {
	from, to := newStores(t), newStores(t)
	key := newKey(t)
	records := map[string][]byte{"a": []byte(secret)}
	mustWrite(t, from.open(key, encryptedstore.Usual), records, nil)
	mustWrite(t, from.open(key, encryptedstore.Rekey), records, nil)
	m := statestore.Migration{From: from.raw(), To: to.raw(), Location: to.path}
	if _, err := m.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	checkRecords(t, to.open(key, encryptedstore.Usual), records)
	old, err := to.open(key, encryptedstore.Usual).ReadSerial(t.Context(), deployment, 1)
	if err != nil || string(old.Records["a"]) != secret {
		t.Errorf("ReadSerial = %v, %v", old, err)
	}
}

func BenchmarkStore(b *testing.B) {
	records := map[string][]byte{}
	for i := range 10_000 {
		records[fmt.Sprintf("RSRCcomponent.c.test_object.o[%d]", i)] = bytes.Repeat([]byte{byte(i)}, 1000)
	}
	for name, key := range map[string]string{"clear": "", "sealed": newKey(b)} {
		b.Run(name+"/write", func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := newStores(b)
				store := s.open(key, encryptedstore.Usual)
				b.StartTimer()
				mustWrite(b, store, records, nil)
			}
		})
		b.Run(name+"/read", func(b *testing.B) {
			s := newStores(b)
			store := s.open(key, encryptedstore.Usual)
			mustWrite(b, store, records, nil)
			for b.Loop() {
				if _, err := store.Read(context.Background(), deployment); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
