// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package journal

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

func newKeys(t *testing.T, variable string) *encryption.Keyring {
	t.Helper()
	keys, err := encryption.Open(nil, []string{settings.EncryptionVariable + "=" + variable}, ".")
	must(t, err)
	return keys
}

func newKey(t *testing.T) string {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	must(t, err)
	return identity.String()
}

// Where encryption is demanded, a journal has nothing in clear but its beginning; it is read and
// gone on with by those who have a key, and is no damage to others.
func TestSealed(t *testing.T) {
	dir := t.TempDir()
	key := newKey(t)
	sealed := func(variable string) *Journal {
		j := New(dir, newKeys(t, variable))
		j.Bind(purpose)
		return j
	}
	j := sealed(key)
	w := j.Begin("w1", "component.a", engine.Normal, document(t, object(t, "kept", "planted secret")))
	must(t, w.Intend(instance("new"), "", engine.ActionCreate), w.Store(object(t, "new", "planted secret")),
		w.Intend(instance("doubtful"), "", engine.ActionCreate))
	kill(t, j)
	checkNothingClear(t, dir)

	for variable, want := range map[string]fault.Code{newKey(t): encryption.CodeWrongKey, "": encryption.CodeMissingKey} {
		stranger := sealed(variable)
		if _, err := stranger.Unfinished(t.Context()); encryption.CodeOf(err) != want {
			t.Errorf("Unfinished: got %v, want %s", err, want)
		}
		if _, err := stranger.Kept(t.Context(), purpose.Secret); encryption.CodeOf(err) != want {
			t.Errorf("Kept: got %v, want %s", err, want)
		}
		must(t, stranger.Close())
	}

	next := sealed(key)
	if found := unfinished(t, next); len(found) != 1 || found[0].Component != "component.a" {
		t.Fatalf("Unfinished: got %+v", found)
	}
	recovered := resume(t, next, "w1")
	want := document(t, object(t, "kept", "planted secret"), object(t, "new", "planted secret"))
	if !bytes.Equal(recovered.State, want) || len(recovered.Doubts) != 1 {
		t.Errorf("Resume: got %+v", recovered)
	}
	must(t, next.Acknowledge("w1"), next.MarkSeen(t.Context(), "w1"), next.Close())
	checkNothingClear(t, dir)
	last := sealed(key)
	unfinished(t, last)
	if again := resume(t, last, "w1"); !again.Saved || !again.Seen {
		t.Errorf("after it was acknowledged and seen: got %+v", again)
	}
	must(t, last.Forget(t.Context(), "w1"), last.Close())
}

func checkNothingClear(t *testing.T, dir string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*"))
	must(t, err)
	if len(files) != 1 {
		t.Fatalf("files %q, want one", files)
	}
	content, err := os.ReadFile(files[0])
	must(t, err)
	for _, text := range []string{"planted secret", "component.a", "fake_thing", string(intended)} {
		if bytes.Contains(content, []byte(text)) {
			t.Errorf("the journal has %q in clear", text)
		}
	}
}

// A journal in clear is refused where encryption is demanded.
func TestClearJournal(t *testing.T) {
	dir := t.TempDir()
	j := bound(dir, purpose)
	w := j.Begin("w1", "component.a", engine.Normal, nil)
	must(t, w.Intend(instance("new"), "", engine.ActionCreate))
	kill(t, j)
	next := New(dir, newKeys(t, newKey(t)))
	next.Bind(purpose)
	if _, err := next.Unfinished(t.Context()); encryption.CodeOf(err) != encryption.CodeClear {
		t.Errorf("Unfinished: got %v", err)
	}
}
