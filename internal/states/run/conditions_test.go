// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package run

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"testing/fstest"
	"time"

	"github.com/cairnstacks/cairn/internal/states/schedule"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// comment fails the test unless the comment of a result has a text.
func wantComment(t *testing.T, result schedule.Result, want string) {
	t.Helper()
	if !strings.Contains(result.Comment, want) {
		t.Errorf("comment %q, want %q in it", result.Comment, want)
	}
}

// TestConditionsOfAllFunctions has a function of each module: a call held back by a condition is
// neither made, nor does it react.
func TestConditionsOfAllFunctions(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	program(t, dir, "my.fn", "touch "+file+"; echo '{\"result\": true}'")
	program(t, dir, "my.mod_watch", "touch "+file+"; echo '{\"result\": true}'")
	for _, state := range []string{
		"cmd.run: [{name: touch " + file + "}, %s]", "cmd.wait: [{name: touch " + file + "}, %s]",
		"file.managed: [{name: " + file + "}, {contents: x}, %s]",
		"pkg.installed: [{name: curl}, %s]", "service.running: [{name: httpd}, %s]", "my.fn: [%s]", "test.succeed_with_changes: [%s]",
	} {
		for _, condition := range []string{"{onlyif: 'false'}", "{unless: ['true']}", "{creates: /}"} {
			for _, kind := range []string{"watch", "listen"} {
				src := "x: {" + fmt.Sprintf(state, condition+", {"+kind+": [y]}") + "}\ny: {test.succeed_with_changes: []}\n"
				t.Run(src, func(t *testing.T) {
					runner := &script{answers: map[string]Output{"/bin/sh -c false": {Code: 1}}}
					host := &Host{Folder: dir}
					if !strings.Contains(state, "my.") && !strings.Contains(state, file) {
						host.Runner = runner
					}
					for _, result := range apply(t, host, src, false) {
						if result.Call.ID == "x" && result.Status != schedule.OK {
							t.Errorf("status %s (%s)", result.Status, result.Comment)
						}
					}
					if _, err := os.Stat(file); !os.IsNotExist(err) {
						t.Errorf("it was made: %v", err)
					}
					for _, line := range runner.log {
						if !strings.HasPrefix(line, "/bin/sh -c ") {
							t.Errorf("%s was run", line)
						}
					}
				})
			}
		}
	}
}

func TestCheckCommand(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "my.fn", `read line; echo "{\"result\": true, \"comment\": \"$(echo "$line" | tr -d '"{}')\"}"`)
	host := &Host{Folder: dir}
	wantComment(t, one(t, host, "x: {cmd.run: [{name: 'true'}, {check_cmd: ['true', 'exit 3']}]}", false, schedule.Failed),
		"The command was run.\nThe command \"exit 3\" of \"check_cmd\" does not succeed.")
	wantComment(t, one(t, host, "x: {cmd.run: [{name: 'exit 4'}, {check_cmd: 'true'}]}", false, schedule.Changed),
		"exit code 4.\nBut \"check_cmd\" succeeds, and that counts.")
	one(t, host, "x: {test.fail_without_changes: [{check_cmd: 'true'}]}", false, schedule.OK)
	one(t, host, "x: {test.succeed_without_changes: [{check_cmd: 'false'}]}", false, schedule.Failed)
	one(t, host, "x: {test.succeed_with_changes: [{check_cmd: 'false'}]}", true, schedule.Changed) // it is not run in test mode
	one(t, host, "x: {test.succeed_with_changes: [{check_cmd: 'false'}, {onlyif: 'false'}]}", false, schedule.OK)
	wantComment(t, one(t, host, "x: {my.fn: [{a: b}, {check_cmd: 'true'}, {timeout: 5}]}", false, schedule.OK), "args:a:b,test:false")
	one(t, host, "x: {my.fn: [{check_cmd: 'false'}]}", false, schedule.Failed)
}

func TestProgramThatDoesNotEnd(t *testing.T) {
	dir := t.TempDir()
	program(t, dir, "my.fn", "exec sleep 100")
	wantComment(t, one(t, &Host{Folder: dir}, "x: {my.fn: [{timeout: 0.2}]}", false, schedule.Failed),
		"was ended: after 0.2 seconds it was still running.")
}

// TestListeningCommand runs a command in its turn, and once more at the end of the run, if
// something has changed that it listens to. TestGentleCommands may end by themselves the steps they
// have begun.
func TestGentleCommands(t *testing.T) {
	saved := patience
	t.Cleanup(func() { patience = saved })
	run := func(line string) (Output, error) {
		ctx, cancel := context.WithTimeoutCause(t.Context(), 200*time.Millisecond, errTimeout)
		defer cancel()
		return System{}.Run(ctx, Command{Args: []string{"/bin/sh", "-c", line}, Gentle: true})
	}
	if output, err := run("trap '' INT; sleep 1; echo done"); err != nil || output.Stdout != "done\n" {
		t.Errorf("one that goes on: %+v, %v", output, err)
	}
	started := time.Now()
	output, err := run("trap 'echo interrupted; exit 1' INT; for i in 1 2 3 4 5 6 7 8 9; do sleep 1; done")
	if !errors.Is(err, errTimeout) || output.Stdout != "interrupted\n" {
		t.Errorf("one that ends: %+v, %v", output, err)
	}
	patience = 100 * time.Millisecond
	if output, err := run("trap '' INT TERM; sleep 100 & sleep 100"); !errors.Is(err, errTimeout) {
		t.Errorf("one that does neither: %+v, %v", output, err)
	}
	if took := time.Since(started); took > time.Minute {
		t.Errorf("it took %s", took)
	}
}

func TestListeningCommand(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	for state, want := range map[string]string{"succeed_with_changes": "x\nz\nx\n", "nop": "x\nz\n"} {
		src := fmt.Sprintf("x: {cmd.run: [{name: echo x >>%[1]s}, {listen: [y]}]}\ny: {test.%[2]s: []}\n"+
			"z: {cmd.run: [{name: echo z >>%[1]s}]}\n", log, state)
		results := apply(t, &Host{}, src, false)
		if got := content(t, log); got != want {
			t.Errorf("%s: commands were run as %q, want %q", state, got, want)
		}
		if got := strings.Contains(results[0].Comment, "At the end of the run: "); got != (state != "nop") {
			t.Errorf("%s: comment %q", state, results[0].Comment)
		}
		if err := os.Remove(log); err != nil {
			t.Fatal(err)
		}
	}
}

func TestStatefulCommands(t *testing.T) {
	tests := map[string]struct {
		name, more string
		test       bool
		status     schedule.Status
		comment    string
		changes    string
	}{
		"says nothing": {
			name:    "true",
			status:  schedule.OK,
			comment: "The command says nothing, so that nothing has changed.",
			changes: `{"retcode":0,"stdout":"","stderr":""}`,
		},
		"has changed": {
			name:    `echo working; echo; echo "changed=yes comment=\"it is 'done'\" n=1"`,
			status:  schedule.Changed,
			comment: "it is 'done'",
			changes: `"n":"1"}`,
		},
		"has not changed": {name: "echo changed=no", status: schedule.OK, comment: "The command was run.", changes: `"stderr":""}`},
		"as JSON": {
			name:    `echo '{"changed": true, "comment": "as JSON", "list": [1]}'`,
			status:  schedule.Changed,
			comment: "as JSON",
			changes: `"list":[1]}`,
		},
		"JSON, not changed": {name: `echo '{"changed": "No"}'`, status: schedule.OK, comment: "The command was run.", changes: `"stderr":""}`},
		"no pairs": {
			name:    "echo all is well",
			status:  schedule.Failed,
			comment: `"all" is not KEY=VALUE`,
			changes: `"stdout":"all is well\n"`,
		},
		"no word on changes": {name: "echo comment=x", status: schedule.Failed, comment: "it must be yes or no", changes: "{}"},
		"open quote": {
			name:    `echo "changed=yes comment='x"`,
			status:  schedule.Failed,
			comment: "a quote is not closed",
			changes: "stdout",
		},
		"broken JSON": {name: `echo '{"changed": '`, status: schedule.Failed, comment: "says nothing about its state", changes: "stdout"},
		"too long": {
			name:    "yes a=b | head -c 2000000; echo changed=yes",
			status:  schedule.Failed,
			comment: "it is longer than 1048576 bytes",
			changes: "stdout",
		},
		"fails": {name: "echo changed=no; exit 2", status: schedule.Failed, comment: "exit code 2", changes: `"retcode":2`},
		"hidden": {
			name:    "echo changed=yes",
			more:    ", {hide_output: true}",
			status:  schedule.Changed,
			comment: "The command was run.",
			changes: `"stdout":""`,
		},
		"in test mode": {
			name:    "exit 1",
			test:    true,
			status:  schedule.Changed,
			comment: "The command would be run.",
			changes: `{"command":"exit 1"}`,
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			src := fmt.Sprintf("x: {cmd.run: [{name: %q}, {stateful: true}%s]}", test.name, test.more)
			result := one(t, &Host{}, src, test.test, test.status)
			wantComment(t, result, test.comment)
			if got := changes(t, result); !strings.Contains(got, test.changes) {
				t.Errorf("changes %s, want %s in them", got, test.changes)
			}
		})
	}
	for question, want := range map[string]schedule.Status{
		"echo changed=no":  schedule.OK,
		"echo changed=yes": schedule.Changed,
		"exit 1":           schedule.Failed,
		"echo x":           schedule.Failed,
	} {
		src := fmt.Sprintf("x: {cmd.run: [{name: 'exit 1'}, {stateful: [{test_name: %s}]}]}", question)
		one(t, &Host{}, src, true, want)
	}
}

// TestHiddenOutput is not repeated by a reader that cannot make sense of it.
func TestHiddenOutput(t *testing.T) {
	file := filepath.Join(t.TempDir(), "commands")
	src := fmt.Sprintf("x: {cmd.run: [{name: . %[1]s}, {stateful: [{test_name: . %[1]s}]}, {hide_output: true}]}", file)
	for _, commands := range []string{"echo s3cret", "echo changed=s3cret", "echo {s3cret", "echo s3cret; exit 1", "echo s3cret >&2; exit 1"} {
		write(t, file, commands)
		for _, test := range []bool{true, false} {
			result := one(t, &Host{}, src, test, schedule.Failed)
			if text := result.Comment + changes(t, result); strings.Contains(text, "s3cret") || strings.Contains(text, "'s'") {
				t.Errorf("in test mode %t, the output of %q is in the result: %s", test, commands, text)
			}
		}
	}
}

func TestCommandArguments(t *testing.T) {
	dir := t.TempDir()
	made := filepath.Join(dir, "made")
	one(t, &Host{}, fmt.Sprintf("x: {cmd.run: [{name: touch %s}, {umask: 077}]}", made), false, schedule.Changed)
	if info, err := os.Stat(made); err != nil || info.Mode() != 0o600 {
		t.Errorf("got %v, %v", info, err)
	}
	one(t, &Host{}, "x: {cmd.run: [{name: exit 3}, {success_retcodes: [2, 3]}]}", false, schedule.Changed)
	one(t, &Host{}, "x: {cmd.run: [{name: exit 4}, {success_retcodes: [2, 3]}]}", false, schedule.Failed)
	wantComment(t, one(t, &Host{}, "x: {cmd.run: [{name: id}, {runas: no-such-user-here}]}", false, schedule.Failed),
		`there is no user "no-such-user-here"`)
}

// TestWhatCommandsLack: test mode names the missing prerequisites of commands. One that another
// call may bring is not a failure.
func TestWhatCommandsLack(t *testing.T) {
	dir := t.TempDir()
	file, none := filepath.Join(dir, "file"), filepath.Join(dir, "none")
	write(t, file, "")
	for args, want := range map[string]string{
		"cwd: " + dir:  "The command would be run.",
		"cwd: " + none: "The command would be run. But there is no directory " + none + " yet.",
		"cwd: " + filepath.Join(file, "x"): "The command would be run. " +
			"But there is no directory " + filepath.Join(file, "x") + " yet.",
		"cwd: " + file:                "The command would be run. But " + file + " is not a directory yet.",
		"shell: " + none:              "The command would be run. But there is no program " + none + " yet.",
		"shell: no-such-program-here": "The command would be run. But there is no program no-such-program-here yet.",
		"shell: bin/x":                "The command would be run.", // in a directory to come
		"shell: x-none}, {cwd: " + none: "The command would be run. " +
			"But there is no directory " + none + ", and there is no program x-none yet.",
		"cwd: " + none + "}, {onlyif: x":                "The command would be run. But there is no directory " + none + " yet.",
		"cwd: " + none + "}, {unless: x":                "The command would be run. But there is no directory " + none + " yet.",
		"cwd: " + none + "}, {stateful: [test_name: x]": "The command would be run. But there is no directory " + none + " yet.",
	} {
		result := one(t, &Host{}, "x: {cmd.run: [{"+args+"}]}", true, schedule.Changed)
		if result.Comment != want {
			t.Errorf("%s: comment %q, want %q", args, result.Comment, want)
		}
	}
	one(t, &Host{}, "x: {cmd.run: [{cwd: "+none+"}, {creates: /}]}", true, schedule.OK)
	never := &Host{Runner: &script{refuses: errors.New("only root can")}}
	wantComment(t, one(t, never, "x: {cmd.run: [{runas: x}]}", true, schedule.Failed), "The command cannot be run: only root can.")
	later := apply(t, &Host{Runner: &script{lacks: "there is no user"}},
		"x: {cmd.wait: [{watch: [y]}]}\ny: {test.succeed_with_changes: []}", true)
	wantComment(t, later[1], "The command would be run. But there is no user yet.")

	// The directory is there when its turn comes.
	src := fmt.Sprintf("%[1]s: {file.directory: []}\nx: {cmd.run: [{name: pwd}, {cwd: %[1]s}, {onlyif: 'true'}]}\n", none)
	for _, test := range []bool{true, false} {
		for _, result := range apply(t, &Host{}, src, test) {
			if result.Status != schedule.Changed {
				t.Errorf("test mode %t: %s is %s (%s)", test, result.Call, result.Status, result.Comment)
			}
		}
	}
}

// TestCheckUser distinguishes faults that another call may change, that root could, and that none
// can.
func TestCheckUser(t *testing.T) {
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	number, err := strconv.Atoi(self.Uid)
	if err != nil {
		t.Fatal(err)
	}
	const root, nobodyHere = 0, 4321
	for _, test := range []struct {
		name    string
		euid    int
		want    string
		mayCome bool
	}{
		{name: "", euid: nobodyHere},
		{name: self.Username, euid: number},
		{name: self.Username, euid: root},
		{name: self.Username, euid: nobodyHere, want: "only root can run commands as another user, here " + self.Username},
		{name: "no-such-user-here", euid: root, want: `there is no user "no-such-user-here"`, mayCome: true},
		{name: "no-such-user-here", euid: nobodyHere, want: `there is no user "no-such-user-here"`},
	} {
		err := checkUser(test.name, test.euid)
		got := ""
		if err != nil {
			got = err.Error()
		}
		if _, mayCome := errors.AsType[*unknownUserError](err); got != test.want || mayCome != test.mayCome {
			t.Errorf("%q as %d: %q, which may come: %t; want %q, %t", test.name, test.euid, got, mayCome, test.want, test.mayCome)
		}
	}

	src := "x: {cmd.run: [{runas: no-such-user-here}, {cwd: /no-such-directory}]}"
	if number == root {
		wantComment(t, one(t, &Host{}, src, true, schedule.Changed),
			`The command would be run. But there is no user "no-such-user-here", and there is no directory /no-such-directory yet.`)
	} else {
		wantComment(t, one(t, &Host{}, src, true, schedule.Failed), `The command cannot be run: there is no user "no-such-user-here".`)
	}
}

func TestCommandOfAnotherUser(t *testing.T) {
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	result := one(t, &Host{}, "x: {cmd.run: [{name: id -u}, {runas: "+self.Username+"}]}", false, schedule.Changed) // needs no rights
	if got, want := result.Changes.Get("stdout"), self.Uid+"\n"; got != want {
		t.Errorf("got %q, want %q (%s)", got, want, result.Comment)
	}

	testenv.Root(t)
	result = one(t, &Host{}, "x: {cmd.run: [{name: 'id -un; echo $USER $LOGNAME'}, {runas: daemon}, "+
		"{onlyif: 'test $(id -un) = daemon'}, {check_cmd: 'test $(id -u) != 0'}]}",
		false, schedule.Changed)
	if got, want := result.Changes.Get("stdout"), "daemon\ndaemon daemon\n"; got != want { //nolint:dupword // one of each variable
		t.Errorf("got %q, want %q (%s)", got, want, result.Comment)
	}
}

// TestBecome makes commands those of a user, with all groups, in the user's home if there is one.
func TestBecome(t *testing.T) {
	self, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	groups, err := self.GroupIds()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	for _, test := range []struct{ home, given, want string }{
		{home, "", home}, {filepath.Join(home, "none"), "", "/"}, {home, "/usr", "/usr"},
	} {
		found := *self
		found.HomeDir = test.home
		cmd := &exec.Cmd{SysProcAttr: &syscall.SysProcAttr{}, Dir: test.given}
		if err := become(cmd, &found); err != nil {
			t.Fatal(err)
		}
		credential := cmd.SysProcAttr.Credential
		got := fmt.Sprint(credential.Uid, credential.Gid, credential.Groups, credential.NoSetGroups)
		if want := fmt.Sprint(self.Uid, " ", self.Gid, " ", groups, " false"); got != want {
			t.Errorf("user and groups %s, want %s", got, want)
		}
		if got, want := strings.Join(cmd.Env, " "), fmt.Sprintf("HOME=%s USER=%[2]s LOGNAME=%[2]s", test.home, self.Username); got != want {
			t.Errorf("environment %q, want %q", got, want)
		}
		if cmd.Dir != test.want {
			t.Errorf("home %s and directory %q: it runs in %q, want %q", test.home, test.given, cmd.Dir, test.want)
		}
	}
}

func TestScript(t *testing.T) {
	host := &Host{
		Files: fstest.MapFS{"web/hello.sh": {Data: []byte("#!/bin/sh\necho \"$1-$2-$WORD in $(basename \"$0\")\"; dirname \"$0\"; id -un\n")}},
	}
	state := func(args string) string {
		return "x: {cmd.script: [{source: 'salt://web/hello.sh'}, {args: \"a 'b c'\"}, {env: [WORD: w]}" + args + "]}"
	}
	wantChanges(t, one(t, host, state(""), true, schedule.Changed), `{"command":"x"}`)
	result := one(t, host, state(""), false, schedule.Changed)
	lines := strings.Split(fmt.Sprint(result.Changes.Get("stdout")), "\n")
	if lines[0] != "a-b c-w in hello.sh" {
		t.Errorf("got %q", lines)
	}
	if _, err := os.Lstat(lines[1]); !os.IsNotExist(err) {
		t.Errorf("the copy is still there: %v", err)
	}
	one(t, host, "'salt://web/hello.sh': {cmd.script: [creates: /]}", false, schedule.OK)
	for _, test := range []bool{true, false} {
		wantComment(t, one(t, host, "'salt://web/none.sh': cmd.script", test, schedule.Failed),
			`the source "salt://web/none.sh" cannot be read: file does not exist.`)
	}
	testenv.Root(t)
	result = one(t, host, state(", {runas: daemon}"), false, schedule.Changed)
	if lines := strings.Split(fmt.Sprint(result.Changes.Get("stdout")), "\n"); lines[2] != "daemon" {
		t.Errorf("got %q", lines)
	}
}

// FuzzSplitWords checks that words which are quoted as for a shell are read as they were.
func FuzzSplitWords(f *testing.F) {
	f.Add("changed=yes", "comment=it's \"done\"")
	f.Add("a\\b", "")
	f.Fuzz(func(t *testing.T, first, second string) {
		first, second = strings.ToValidUTF8(first, ""), strings.ToValidUTF8(second, "")
		quote := func(word string) string { return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'" }
		words, err := splitWords(quote(first) + " \t" + quote(second))
		if err != nil || len(words) != 2 || words[0] != first || words[1] != second {
			t.Errorf("%q and %q are read as %q, %v", first, second, words, err)
		}
	})
}

// TestProgramsAtTheSameTime are written while others are started, and run at once.
func TestProgramsAtTheSameTime(t *testing.T) {
	dir := t.TempDir()
	host := &Host{Files: fstest.MapFS{"s": {Data: []byte("#!/bin/sh\n")}}}
	var src strings.Builder
	for n := range 200 {
		fmt.Fprintf(&src, "script %d: {cmd.script: [source: s, parallel: true]}\n", n)
		path := filepath.Join(dir, strconv.Itoa(n))
		fmt.Fprintf(&src, "%s: {file.managed: [source: s, mode: 755, parallel: true], cmd.run: [parallel: true, require: [file: %[1]s]]}\n", path)
	}
	for _, result := range schedule.Run(t.Context(), compileText(t, src.String()), schedule.Options{Functions: host, Parallel: 8}) {
		if result.Status != schedule.Changed {
			t.Fatalf("%s is %s: %s", result.Call, result.Status, result.Comment)
		}
	}
}
