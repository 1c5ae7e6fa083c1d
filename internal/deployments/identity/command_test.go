// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package identity

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestTokenFromCommand(t *testing.T) {
	for name, test := range map[string]struct{ script, settings, want string }{
		"good":   {script: `cat token`},
		"talks":  {script: `echo fetching >&2; cat token`},
		"empty":  {script: "", want: "Unusable identity token; The token \"aws\" is to come from the command ./token.sh, which has none."},
		"no JWT": {script: "echo your token is; cat token", want: "it is not a JWT"},
		"fails": {script: "echo not logged in >&2; exit 4", want: "Identity command failed; The command ./token.sh, " +
			"which is to print the token \"aws\", failed: exit code 4. It says:\nnot logged in"},
		"reveals": {script: "echo got $(cat token) >&2; echo a second line >&2; exit 1", want: "It says:\ngot (sensitive value)\na second line"},
		"reveals what it prints": {
			script: "echo some-opaque-" + signature + "; echo it was some-opaque-" + signature + " >&2; exit 1",
			want:   "It says:\nit was (sensitive value)",
		},
		"talks much": {
			script: "i=0; while [ $i -lt 300 ]; do echo got $(cat token) >&2; i=$((i+1)); done; exit 1",
			want:   "It says:\ngot (sensitive value)\ngot (sensitive value)",
		},
		"endless": {
			script: "yes " + signature + " | head -c 300000",
			want:   "Unusable identity token; The command ./token.sh prints more than 65536 bytes",
		},
		"slow":      {script: "cat token; sleep 1000", settings: "timeout = \"1s\"", want: "failed: ended after its timeout of 1s."},
		"killed":    {script: "kill -KILL $$", want: "failed: ended by signal: killed."},
		"not there": {script: "", settings: "", want: "failed: "},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "token"), valid(t), 0o600)
			if name != "not there" {
				write(t, filepath.Join(dir, "token.sh"), "#!/bin/sh\n"+test.script+"\n", 0o700)
			}
			source := openIn(t, dir, "identity \"command\" {\ncommand = [\"./token.sh\"]\n"+test.settings+"\n}", "PATH="+os.Getenv("PATH"))
			got, err := source.Token(t.Context(), "aws", usualClaims())
			if test.want != "" {
				wantError(t, err, "cairn.hcl:1,1-19", test.want)
			} else if err != nil || got != valid(t) {
				t.Errorf("Token() = %q, %v, want the token", got, err)
			}
		})
	}
}

// A command is told the purpose of the token, and not by its arguments.
func TestClaimsOfCommand(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token"), token(t, map[string]any{"aud": []string{"a", "b"}, "exp": noon.Unix() + 1}), 0o600)
	write(t, filepath.Join(dir, "token.sh"), "#!/bin/sh\nenv > seen\necho \"$@\" > args\ncat token\n", 0o700)
	source := openIn(t, dir, "identity \"command\" {\ncommand = [\"./token.sh\", \"one\"]\nproject = \"shop\"\n}",
		"PATH="+os.Getenv("PATH"), "OTHER=1")
	claims := usualClaims()
	claims.Audience, claims.Lifetime = []string{"a", "b"}, 90*time.Second
	if _, err := source.Token(t.Context(), "aws", claims); err != nil {
		t.Fatal(err)
	}
	seen, err := os.ReadFile(filepath.Join(dir, "seen"))
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"CAIRN_TOKEN_AUDIENCE=a\nb\n", "CAIRN_TOKEN_NAME=aws\n", "CAIRN_TOKEN_ORGANIZATION=default\n",
		"CAIRN_TOKEN_PROJECT=shop\n", "CAIRN_TOKEN_STACK=network\n", "CAIRN_TOKEN_DEPLOYMENT=prod\n",
		"CAIRN_TOKEN_OPERATION=plan\n", "CAIRN_TOKEN_PLAN_ID=plan-1\n", "CAIRN_TOKEN_LIFETIME=90\n", "OTHER=1\n",
	}
	for _, variable := range want {
		if !strings.Contains(string(seen), variable) {
			t.Errorf("the environment has no %q:\n%s", variable, seen)
		}
	}
	if args, err := os.ReadFile(filepath.Join(dir, "args")); err != nil || string(args) != "one\n" {
		t.Errorf("arguments %q, %v, want what the settings say", args, err)
	}
}

// When the operation ends, so does the command, with all that it has started.
func TestInterruptedCommand(t *testing.T) {
	dir := t.TempDir()
	started := filepath.Join(dir, "started")
	if err := syscall.Mkfifo(started, 0o600); err != nil {
		t.Skip(err)
	}
	write(t, filepath.Join(dir, "token.sh"), "#!/bin/sh\necho now > started\nsleep 1000\n", 0o700)
	ctx, cancel := context.WithCancel(t.Context())
	read := make(chan error, 1)
	go func() { // ends when the command has written
		_, err := os.ReadFile(started)
		cancel()
		read <- err
	}()
	_, err := openIn(t, dir, `identity "command" { command = ["./token.sh"] }`, "PATH="+os.Getenv("PATH")).Token(ctx, "aws", usualClaims())
	wantError(t, err, "cairn.hcl:1,1-19", "Operation interrupted; The command ./token.sh, which gets the token \"aws\", was ended.")
	if err := <-read; err != nil {
		t.Error(err)
	}
}

// Opening a source runs and reads nothing (rule I1).
func TestOpenIsLazy(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "token.sh"), "#!/bin/sh\necho > ran\n", 0o700)
	before, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	openIn(t, dir, "identity \"command\" { command = [\"./token.sh\"] }\nidentity \"key\" {\n"+
		"tokens = [\"a\"]\npath = \"nowhere\"\nissuer = \"https://x.example.com\"\n}")
	after, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(len(before)+1, len(after)); diff != "" { // with the settings
		t.Errorf("files (-want +got):\n%s", diff)
	}
}
