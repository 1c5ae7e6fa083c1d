// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package varset

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"testing"

	"filippo.io/age"
	"filippo.io/age/armor"
)

// encrypted returns a text encrypted with age, in armor if that is asked for.
func encrypted(t *testing.T, text string, armored bool, recipient age.Recipient) string {
	t.Helper()
	var content bytes.Buffer
	var to io.WriteCloser = struct {
		io.Writer
		io.Closer
	}{&content, io.NopCloser(nil)}
	if armored {
		to = armor.NewWriter(&content)
	}
	w, err := age.Encrypt(to, recipient)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := to.Close(); err != nil {
		t.Fatal(err)
	}
	return content.String()
}

func newIdentity(t *testing.T) *age.X25519Identity {
	t.Helper()
	identity, err := age.GenerateX25519Identity()
	if err != nil {
		t.Fatal(err)
	}
	return identity
}

func TestAge(t *testing.T) {
	own, other := newIdentity(t), newIdentity(t)
	plain := "password = \"" + secret + "\"\n"
	binary := encrypted(t, plain, false, own.Recipient())
	for name, test := range map[string]struct {
		content, settings string
		environ           []string
		want              string
	}{
		"binary":                  {content: binary, settings: `key_file = "keys.txt"`},
		"armor":                   {content: "\n" + encrypted(t, plain, true, own.Recipient()), settings: `key_file = "keys.txt"`},
		"file in the environment": {content: binary, environ: []string{"SOPS_AGE_KEY_FILE=keys.txt"}},
		"keys in the environment": {content: binary, environ: []string{"SOPS_AGE_KEY=" + other.String() + "\n" + own.String()}},
		"no key": {content: binary, want: "Missing age key; The file x.tfvars.age is encrypted with age. " +
			"Name a file with the key: by key_file in this block, or by SOPS_AGE_KEY_FILE"},
		"another key": {
			content: binary, environ: []string{"SOPS_AGE_KEY=" + other.String()},
			want: "Variable set not decrypted; The file x.tfvars.age is encrypted with age for other " +
				"keys than those in the environment variable SOPS_AGE_KEY.",
		},
		"no keys in it": {
			content: binary,
			environ: []string{"SOPS_AGE_KEY=" + secret},
			want:    "Unusable age key; In the environment variable SOPS_AGE_KEY are no keys of age.",
		},
		"no such file": {
			content:  binary,
			settings: `key_file = "nowhere"`,
			want:     "Unusable age key; The file of keys nowhere cannot be read: no such file",
		},
		"damaged": {
			content:  binary[:len(binary)-1] + string([]byte{binary[len(binary)-1] ^ 1}),
			settings: `key_file = "keys.txt"`,
			want:     "Variable set not decrypted; The file x.tfvars.age is encrypted with age, and damaged.",
		},
		"cut off":       {content: binary[:len(binary)-20], settings: `key_file = "keys.txt"`, want: "and damaged."},
		"intro only":    {content: ageIntro, settings: `key_file = "keys.txt"`, want: "and damaged."},
		"damaged armor": {content: armor.Header + "\nx", settings: `key_file = "keys.txt"`, want: "and damaged."},
		"no HCL in it": {
			content:  encrypted(t, secret, false, own.Recipient()),
			settings: `key_file = "keys.txt"`,
			want:     "x.tfvars.age: line 1: it is not written as a list",
		},
		"too large in it": {
			content:  encrypted(t, string(make([]byte, maxSize+1)), false, own.Recipient()),
			settings: `key_file = "keys.txt"`,
			want:     "Variable set too large",
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "x.tfvars.age"), test.content, 0o644)
			write(t, filepath.Join(dir, "keys.txt"), "# public key: "+own.Recipient().String()+"\n"+own.String()+"\n", 0o600)
			sets := openIn(t, dir, "varset \"s\" {\nfile = \"x.tfvars.age\"\n"+test.settings+"\n}", test.environ...)
			got, err := sets.Read(t.Context(), "", "s", "terraform")
			if test.want != "" {
				wantError(t, err, "cairn.hcl:1,1-11", test.want)
				return
			}
			if err != nil || got["password"].Value.AsString() != secret || !got["password"].Sensitive {
				t.Errorf("Read() = %v, %v, want the password", got, err)
			}
			if warnings := Warnings(sets); len(warnings) > 0 { // others may read an encrypted file
				t.Errorf("warnings: %v", warnings)
			}
		})
	}
}

// A key that others may read is warned of.
func TestReadableKeys(t *testing.T) {
	own, dir := newIdentity(t), t.TempDir()
	write(t, filepath.Join(dir, "x.env.age"), encrypted(t, "A=1", false, own.Recipient()), 0o644)
	write(t, filepath.Join(dir, "keys.txt"), own.String(), 0o644)
	sets := openIn(t, dir, "varset \"s\" {\nfile = \"x.env.age\"\nkey_file = \"keys.txt\"\n}")
	if _, err := sets.Read(t.Context(), "", "s", "env"); err != nil {
		t.Fatal(err)
	}
	if warnings := Warnings(sets); len(warnings) != 1 || warnings[0].Summary != "Secrets readable by others" {
		t.Errorf("warnings: %v, want one about the key", warnings)
	}
}

// Files with the metadata of sops are handed to that program, which writes JSON. Here it is a
// script that checks how it is called.
func TestSops(t *testing.T) {
	needsShell(t)
	program := `#!/bin/sh
[ "$*" = "--decrypt --input-type $WANT --output-type json $PWD/$FILE" ] || { echo "called with $*" >&2; exit 9; }
[ "$SOPS_AGE_KEY_FILE" = "$PWD/keys.txt" ] || { echo "the key is $SOPS_AGE_KEY_FILE" >&2; exit 8; }
[ -z "$FAIL" ] || { echo "Failed to get the data key of ` + secret + `" >&2; echo ` + secret + `; exit 128; }
echo '{"password": "` + secret + `"}'
`
	for file, test := range map[string]struct{ content, want string }{
		"x.json": {`{"password": "ENC[AES256_GCM,data:x]", "sops": {"mac": "ENC[x]", "version": "3.9.0"}}`, "json"},
		"x.yaml": {"password: ENC[AES256_GCM,data:x]\nsops:\n    mac: ENC[x]\n", "yaml"},
		"x.env":  {"password=ENC[AES256_GCM,data:x]\nsops_mac=ENC[x]\nsops_version=3.9.0\n", "dotenv"},
	} {
		t.Run(file, func(t *testing.T) {
			dir, bin := t.TempDir(), t.TempDir()
			write(t, filepath.Join(dir, file), test.content, 0o644)
			block := "varset \"s\" {\nfile = \"" + file + "\"\nkey_file = \"keys.txt\"\n}"
			environ := []string{"PATH=" + os.Getenv("PATH"), "WANT=" + test.want, "FILE=" + file}
			t.Setenv("PATH", bin)
			_, err := openIn(t, dir, block, environ...).Read(t.Context(), "", "s", "env")
			wantError(t, err, "cairn.hcl:1,1-11", "Missing program sops; The file "+file+" is encrypted with sops, which is not on PATH.")
			write(t, filepath.Join(bin, "sops"), program, 0o700)
			sets := openIn(t, dir, block, environ...)
			got, err := sets.Read(t.Context(), "", "s", "env")
			if err != nil || len(got) != 1 || got["password"].Value.AsString() != secret {
				t.Errorf("Read() = %v, %v, want what sops writes", got, err)
			}
			if warnings := Warnings(sets); len(warnings) > 0 {
				t.Errorf("warnings: %v", warnings)
			}
			_, err = openIn(t, dir, block, append(environ, "FAIL=1")...).Read(t.Context(), "", "s", "env")
			wantError(t, err, "cairn.hcl:1,1-11", "Variable set not decrypted; The command "+filepath.Join(bin, "sops")+
				", which is to decrypt the file "+file+
				", failed: exit code 128. It says:\nFailed to get the data key of (sensitive value)")
		})
	}
}
