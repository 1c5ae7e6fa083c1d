// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption_test

import (
	"bytes"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"filippo.io/age"
	"golang.org/x/crypto/ssh"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/stackruntime/fault"
)

const secret = "planted secret 4711"

func newIdentity(t testing.TB) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

// open returns the keyring of an environment variable, and of a block if there is one.
func open(t testing.TB, block *settings.Encryption, variable string, more ...string) *encryption.Keyring {
	t.Helper()
	environ := append(os.Environ(), append(more, settings.EncryptionVariable+"="+variable)...)
	keys, err := encryption.Open(block, environ, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return keys
}

func writeFile(t *testing.T, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(path, []byte(content), 0o700); err != nil { //nolint:gosec // some are programs
		t.Fatal(err)
	}
	return path
}

// Each kind of key decrypts what it has encrypted; others do not, and say so.
func TestKinds(t *testing.T) {
	one, other := newIdentity(t), newIdentity(t)
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		t.Fatal(err)
	}
	public, err := ssh.NewPublicKey(private.Public())
	if err != nil {
		t.Fatal(err)
	}
	sshKey := writeFile(t, string(pem.EncodeToMemory(block)))
	keysBlock := func(keys settings.Keys) *settings.Encryption { return &settings.Encryption{Keys: keys} }
	tests := map[string]struct {
		writes, reads *encryption.Keyring
	}{
		"age identity":  {open(t, nil, one.String()), open(t, nil, "age:"+one.String())},
		"identity file": {open(t, nil, writeFile(t, "# key\n"+one.String()+"\n")), open(t, nil, one.String())},
		"recipients": {
			open(t, keysBlock(settings.Keys{Recipients: []string{one.Recipient().String(), other.Recipient().String()}}), one.String()),
			open(t, nil, other.String()),
		},
		"ssh": {
			open(t, keysBlock(settings.Keys{Recipients: []string{string(ssh.MarshalAuthorizedKey(public))}, IdentityFile: sshKey}), ""),
			open(t, nil, sshKey),
		},
		"passphrase": {
			open(t, keysBlock(settings.Keys{PassphraseVariable: "CAIRN_ENCRYPTION_WORDS"}), "", "CAIRN_ENCRYPTION_WORDS=correct horse battery"),
			open(t, nil, "passphrase:correct horse battery"),
		},
		"several kinds": {open(t, nil, one.String()+"; passphrase:correct horse battery"), open(t, nil, one.String())},
		"former key": {
			open(t, nil, one.String()),
			open(t, &settings.Encryption{Former: []settings.Keys{{IdentityFile: writeFile(t, one.String())}}}, other.String()),
		},
	}
	if runtime.GOOS != "windows" {
		// A program that turns the text around.
		program := writeFile(t, "#!/bin/sh\nread text\nprintf '%s\\n' \"$text\" | rev\n")
		keys := settings.Keys{Command: []string{program}}
		tests["command"] = struct{ writes, reads *encryption.Keyring }{open(t, keysBlock(keys), ""), open(t, keysBlock(keys), "")}
	}
	stranger := open(t, nil, newIdentity(t).String())
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			file, err := test.writes.SealFile(t.Context(), encryption.PlanFile, []byte(secret))
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(file, []byte(secret)) {
				t.Error("the file has the secret in clear")
			}
			if got, err := test.reads.OpenFile(t.Context(), encryption.PlanFile, "the file", file); err != nil || string(got) != secret {
				t.Errorf("OpenFile = %q, %v", got, err)
			}
			_, err = stranger.OpenFile(t.Context(), encryption.PlanFile, "the file", file)
			checkCode(t, err, encryption.CodeWrongKey)
			_, err = (*encryption.Keyring)(nil).OpenFile(t.Context(), encryption.PlanFile, "the file", file)
			checkCode(t, err, encryption.CodeMissingKey)
			_, err = test.reads.OpenFile(t.Context(), encryption.JournalFile, "the file", file)
			checkCode(t, err, encryption.CodeDamaged) // a file of another kind
			_, err = test.reads.OpenFile(t.Context(), encryption.PlanFile, "the file", []byte(secret))
			checkCode(t, err, encryption.CodeClear)
		})
	}
}

func checkCode(t *testing.T, err error, want fault.Code) {
	t.Helper()
	if got := encryption.CodeOf(err); got != want {
		t.Errorf("error of code %q, want %q: %v", got, want, failure.Diagnostics(err))
	}
	if strings.Contains(failure.Diagnostics(err).Error(), "AGE-SECRET-KEY-1") {
		t.Errorf("a message has a key: %v", err)
	}
}

// Damage to any byte, and a cut anywhere, is damage, with the right key and with a wrong one (rule
// E2).
func TestDamage(t *testing.T) {
	right := open(t, nil, newIdentity(t).String())
	file, err := right.SealFile(t.Context(), encryption.PlanFile, []byte(secret))
	if err != nil {
		t.Fatal(err)
	}
	wrong := open(t, nil, newIdentity(t).String())
	for at := range file {
		damaged := slices.Clone(file)
		damaged[at] ^= 0x10
		for _, keys := range []*encryption.Keyring{right, wrong, nil} {
			_, err := keys.OpenFile(t.Context(), encryption.PlanFile, "the file", damaged)
			checkCode(t, err, encryption.CodeDamaged)
		}
	}
	for size := 30; size < len(file); size++ {
		_, err := wrong.OpenFile(t.Context(), encryption.PlanFile, "the file", file[:size])
		checkCode(t, err, encryption.CodeDamaged)
	}
}

// What the operating system or a user gets wrong is an error that says so, without the secret.
func TestUnusable(t *testing.T) {
	identity := newIdentity(t)
	missing := settings.Keys{PassphraseVariable: "CAIRN_ENCRYPTION_NONE"}
	tests := map[string]struct {
		block    *settings.Encryption
		variable string
		want     fault.Code
	}{
		"no such file":         {nil, "no-such-file", encryption.CodeMissingKey},
		"no keys":              {nil, "file:" + writeFile(t, "AGE-SECRET-KEY-1OOPS\n"), encryption.CodeKeyFailed},
		"passphrase too short": {nil, "passphrase:short", encryption.CodeKeyFailed},
		"variable not there":   {&settings.Encryption{Keys: missing}, "", encryption.CodeMissingKey},
		"recipients alone":     {nil, identity.Recipient().String(), encryption.CodeWrongKey},
		"no such command": {
			&settings.Encryption{Keys: settings.Keys{Command: []string{"./no-such-program"}}}, "", encryption.CodeKeyFailed,
		},
		"no such service":       {nil, "nosuch://key", encryption.CodeKeyFailed},
		"recipient of nobody":   {nil, "", ""},
		"identity in its place": {nil, identity.String() + ";age1oops", encryption.CodeKeyFailed},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			keys, err := encryption.Open(test.block, []string{settings.EncryptionVariable + "=" + test.variable}, t.TempDir())
			if err == nil {
				_, err = keys.ForFiles(t.Context())
			}
			checkCode(t, err, test.want)
		})
	}
}

// Without anything that demands it, nothing is encrypted.
func TestClear(t *testing.T) {
	keys := open(t, nil, "")
	file, err := keys.SealFile(t.Context(), encryption.PlanFile, []byte("{}"))
	if err != nil || string(file) != "{}" {
		t.Errorf("SealFile = %q, %v", file, err)
	}
	if content, err := keys.OpenFile(t.Context(), encryption.PlanFile, "the file", file); err != nil || string(content) != "{}" {
		t.Errorf("OpenFile = %q, %v", content, err)
	}
}

// A former root key is found in each later ring.
func TestRing(t *testing.T) {
	keys := open(t, nil, newIdentity(t).String())
	first, firstRoot, err := keys.NewRing(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	ring, root := first, firstRoot
	for range 3 {
		if ring, root, err = keys.NewRing(t.Context(), ring, root); err != nil {
			t.Fatal(err)
		}
	}
	stored, err := ring.Encode()
	if err != nil {
		t.Fatal(err)
	}
	again := encryption.ParseRing(stored)
	if again == nil || len(again.Former) != 3 {
		t.Fatalf("ParseRing = %+v", again)
	}
	value := firstRoot.Seal("place", []byte(secret))
	former := again.FormerRoot(root, firstRoot.ID())
	if former == nil {
		t.Fatal("the first root key is not there")
	}
	if got, ok := former.Open("place", value); !ok || string(got) != secret {
		t.Errorf("Open = %q, %t", got, ok)
	}
	if _, ok := root.Open("place", value); ok {
		t.Error("another root key opens it")
	}
	for at := range stored {
		damaged := slices.Clone(stored)
		damaged[at] ^= 1
		if encryption.ParseRing(damaged) != nil {
			t.Errorf("byte %d changed, and the ring is believed", at)
		}
	}
}

// Equal content has equal bytes in one place, and others elsewhere (rules E3 and E4).
func TestSeal(t *testing.T) {
	_, root, err := open(t, nil, newIdentity(t).String()).NewRing(t.Context(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, content := range []string{"", secret} {
		one, two, elsewhere := root.Seal("a", []byte(content)), root.Seal("a", []byte(content)), root.Seal("b", []byte(content))
		if !bytes.Equal(one, two) || bytes.Equal(one, elsewhere) {
			t.Errorf("%q: %x, %x, %x", content, one, two, elsewhere)
		}
		if got, ok := root.Open("a", one); !ok || got == nil || string(got) != content {
			t.Errorf("Open = %q, %t", got, ok)
		}
		for at := range one {
			damaged := slices.Clone(one)
			damaged[at] ^= 1
			if _, ok := root.Open("a", damaged); ok {
				t.Errorf("byte %d changed, and the content is believed", at)
			}
		}
	}
}

func BenchmarkSeal(b *testing.B) {
	_, root, err := open(b, nil, newIdentity(b).String()).NewRing(b.Context(), nil, nil)
	if err != nil {
		b.Fatal(err)
	}
	content := bytes.Repeat([]byte("x"), 1000)
	sealed := root.Seal("place", content)
	b.Run("seal", func(b *testing.B) {
		for b.Loop() {
			root.Seal("place", content)
		}
	})
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			root.Open("place", sealed)
		}
	})
}
