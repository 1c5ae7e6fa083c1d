// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package run

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/states/schedule"
)

func TestCommands(t *testing.T) {
	dir := t.TempDir()
	touched := filepath.Join(dir, "touched")
	host := &Host{}
	one(t, host, fmt.Sprintf("touch %s: {cmd.run: []}", touched), true, schedule.Changed)
	if _, err := os.Stat(touched); !os.IsNotExist(err) {
		t.Fatalf("test mode has run the command: %v", err)
	}
	result := one(t, host, fmt.Sprintf("x: {cmd.run: [{name: 'pwd; echo $WORD >&2; cat'}, {cwd: %s}, "+
		"{env: [{WORD: hello}]}, {stdin: in}]}", dir), false, schedule.Changed)
	wantChanges(t, result, fmt.Sprintf(`{"retcode":0,"stdout":"%s\nin","stderr":"hello\n"}`, dir))
	result = one(t, host, "x: {cmd.run: [{name: 'echo why >&2; exit 3'}]}", false, schedule.Failed)
	if want := "The command ended with exit code 3:\nwhy"; result.Comment != want {
		t.Errorf("comment %q, want %q", result.Comment, want)
	}
	wantChanges(t, one(t, host, "x: {cmd.run: [{name: 'echo secret'}, {hide_output: true}]}", false, schedule.Changed),
		`{"retcode":0,"stdout":"","stderr":""}`)
	for args, want := range map[string]schedule.Status{
		"unless: 'true'":                                  schedule.OK,
		"unless: 'false'":                                 schedule.Changed,
		"unless: ['true','false']":                        schedule.Changed,
		"onlyif: 'true'":                                  schedule.Changed,
		"onlyif: ['true','false']":                        schedule.OK,
		"creates: /":                                      schedule.OK,
		"creates: [/, " + touched + "]":                   schedule.Changed,
		"onlyif: 'test $V = 1', env: {V: 1}":              schedule.Changed,
		"onlyif: 'test -e none', cwd: " + dir:             schedule.OK,
		"shell: /bin/false":                               schedule.Failed,
		"cwd: " + filepath.Join(dir, "none"):              schedule.Failed,
		"unless: 'true', onlyif: 'true', creates: /nope/": schedule.OK,
	} {
		t.Run(args, func(t *testing.T) {
			list := "{" + strings.ReplaceAll(args, "', ", "'}, {") + "}"
			one(t, host, "'true': {cmd.run: ["+list+"]}", false, want)
		})
	}
	t.Run("cmd.wait", func(t *testing.T) {
		src := "a: {cmd.wait: [{name: touch %s}, {watch: [b]}]}\nb: {test.%s: []}\n"
		apply(t, host, fmt.Sprintf(src, touched, "nop"), false)
		if _, err := os.Stat(touched); !os.IsNotExist(err) {
			t.Fatalf("it was run though nothing has changed: %v", err)
		}
		apply(t, host, fmt.Sprintf(src, touched, "succeed_with_changes"), false)
		if _, err := os.Stat(touched); err != nil {
			t.Errorf("it was not run: %v", err)
		}
	})
}

// TestCommandsThatDoNotEnd are ended with all that they have started, also if they ignore signals.
func TestCommandsThatDoNotEnd(t *testing.T) {
	started := time.Now()
	result := one(t, &Host{},
		"x: {cmd.run: [{name: 'trap \"\" TERM INT; sleep 100 & wait; sleep 100'}, {timeout: 0.2}]}", false, schedule.Failed)
	if want := "The command was ended: after 0.2 seconds it was still running."; result.Comment != want {
		t.Errorf("comment %q, want %q", result.Comment, want)
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

// TestCommandsThatCannotStart name their missing prerequisites, and have no exit code.
func TestCommandsThatCannotStart(t *testing.T) {
	dir := t.TempDir()
	for args, want := range map[string]string{
		"cwd: " + dir + "/none":   "The command cannot be run: its directory " + dir + "/none is not there.",
		"shell: " + dir + "/none": "The command cannot be run: " + dir + "/none: no such file or directory.",
	} {
		result := one(t, &Host{}, "'true': {cmd.run: [{"+args+"}]}", false, schedule.Failed)
		if result.Comment != want {
			t.Errorf("comment %q, want %q", result.Comment, want)
		}
		wantChanges(t, result, "{}")
	}
}

// TestCommandThatLeavesSomethingBehind has ended in time, though its child process has not.
func TestCommandThatLeavesSomethingBehind(t *testing.T) {
	result := one(t, &Host{}, "x: {cmd.run: [{name: 'sleep 2 & echo started'}, {timeout: 1}]}", false, schedule.Changed)
	wantChanges(t, result, `{"retcode":0,"stdout":"started\n","stderr":""}`)
}

func program(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func TestPrograms(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "my.echo", `read line; printf '{"result": true, "changes": {"read": %s}, "comment": "done"}' "$line"`)
	program(t, dir, "my.would", `echo '{"result": null, "comment": "would"}'`)
	program(t, dir, "my.no", `echo '{"result": false, "changes": {}, "comment": "no"}'`)
	program(t, dir, "my.crash", `echo broken >&2; exit 7`)
	program(t, dir, "my.noise", `echo hello`)
	program(t, dir, "my.more", `echo '{"result": true} {}'`)
	program(t, dir, "my.flood", `yes | head -c 3000000`)
	program(t, dir, "my.silent", `cat >/dev/null`)
	program(t, dir, "my.list", `echo '[1]'`)
	program(t, dir, "my.number", `echo '{"result": true, "comment": 1}'`)
	if err := os.WriteFile(filepath.Join(dir, "my.lost"), []byte("#!/nowhere/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	program(t, dir, "my.mod_watch", `echo '{"result": true, "changes": {"reacted": true}}'`)
	program(t, dir, "pkg.installed", `echo '{"result": true, "comment": "mine"}'`)
	host := &Host{Folder: dir}

	result := one(t, host, "x: {my.echo: [{word: yes}, {list: [1, b]}, {unless: 'false'}]}", false, schedule.Changed)
	wantChanges(t, result, `{"read":{"function":"my.echo","id":"x","sls":"s","name":"x","args":{"word":true,"list":[1,"b"]},"test":false}}`)
	one(t, host, "x: {my.would: []}", true, schedule.Changed)
	for state, want := range map[string]string{
		"my.would": "\"result\" must be true or false", "my.no": "no", "my.crash": "exit code 7:\nbroken", "my.noise": "not one JSON object",
		"my.more": "something follows", "my.flood": "it is longer than 1048576 bytes",
		"my.silent": "nothing was written", "my.list": "it is of type array", "my.number": `"comment" is of type number`,
		"my.lost": "cannot be run: " + filepath.Join(dir, "my.lost") + ": its interpreter is not there",
	} {
		if result := one(t, host, "x: {"+state+": []}", false, schedule.Failed); !strings.Contains(result.Comment, want) {
			t.Errorf("%s: comment %q, want %q in it", state, result.Comment, want)
		}
	}
	results := apply(t, host, "x: {my.echo: [{watch: [y]}]}\ny: {test.succeed_with_changes: []}", false)
	if got := results[1].Changes.Get("reacted"); got != true {
		t.Errorf("the reaction is missing: %v", results[1])
	}
	if result := one(t, host, "curl: {pkg.installed: [anything: 1]}", false, schedule.OK); result.Comment != "mine" {
		t.Errorf("the program of the user does not come first: %q", result.Comment)
	}
}

// TestUnknownPrograms says why a file is not a program, and which program may be meant.
func TestUnknownPrograms(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "my.own", "")
	if err := os.WriteFile(filepath.Join(dir, "my.text"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(dir, "my.dir"), 0o700); err != nil {
		t.Fatal(err)
	}
	for state, want := range map[string]string{
		"my.text": "the file of that name in the folder " + dir + " cannot be executed: change that with chmod +x.",
		"my.dir":  "the file of that name in the folder " + dir + " is not a file.",
		"my.onw":  `Did you mean "my.own"?`,
		"cmd.rnu": `Did you mean "cmd.run"?`,
	} {
		diags := (&Host{Folder: dir}).Check(compileText(t, "x: {"+state+": []}").Calls)
		if len(diags) != 1 || !strings.Contains(diags[0].Detail, want) {
			t.Errorf("%s: %v, want %q in it", state, diags, want)
		}
	}
	diags := (&Host{}).Check(compileText(t, "x: {cmd.run: [{nam: y}]}").Calls)
	if len(diags) != 1 || !strings.Contains(diags[0].Detail, `Did you mean "name"?`) {
		t.Errorf("%v, want a hint at the name", diags)
	}
}

func TestFailedCommandHasChangedSomething(t *testing.T) {
	results := apply(t, &Host{}, "x: {cmd.wait: [{name: echo reaction}, {listen: [y]}]}\ny: {cmd.run: [{name: exit 3}]}", false)
	if got, want := results[0].Status, schedule.Changed; got != want {
		t.Errorf("what listens to the command: %s, want %s (%s)", got, want, results[0].Comment)
	}
	if got, want := results[1].Status, schedule.Failed; got != want {
		t.Errorf("the command: %s, want %s", got, want)
	}
}
