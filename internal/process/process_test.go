// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build unix

package process

import (
	"bufio"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// start runs a shell script in a set, and returns the lines that it prints and how it ended.
func start(t *testing.T, set *Set, script string) (lines *bufio.Scanner, ended <-chan error) {
	t.Helper()
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends with the command
		err := set.Run(Command{
			Program: "/bin/sh",
			Args:    []string{"-c", script},
			Stdout:  in,
			Stderr:  in,
			Dir:     t.TempDir(),
			Timeout: testenv.Patience,
		})
		done <- err
		_ = in.Close()
	}()
	return bufio.NewScanner(out), done
}

// next waits for a line.
func next(t *testing.T, lines *bufio.Scanner, want string) {
	t.Helper()
	if !lines.Scan() || lines.Text() != want {
		t.Fatalf("printed %q, want %q", lines.Text(), want)
	}
}

func drain(lines *bufio.Scanner) {
	for lines.Scan() {
	}
}

func TestExitCodes(t *testing.T) {
	for script, want := range map[string]string{
		"exit 0":        "",
		"exit 7":        "exit code 7",
		"kill -KILL $$": "ended by signal: killed",
	} {
		lines, ended := start(t, &Set{}, script)
		drain(lines)
		err := <-ended
		got := ""
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%s: %q, want %q", script, got, want)
		}
	}
	err := (&Set{}).Run(Command{Program: "/no/such/program"})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a program that is not there: %v, want that it does not exist", err)
	}
}

// A signal reaches the children of a command, too, and nothing is started after it.
func TestStop(t *testing.T) {
	set := &Set{}
	lines, ended := start(t, set, `
trap 'echo outer; wait; exit 3' TERM
sh -c 'trap "echo inner; exit" TERM; sleep 1000 & echo ready; wait' &
wait`)
	next(t, lines, "ready")
	set.Stop(syscall.SIGTERM, true)
	got := map[string]bool{}
	for lines.Scan() {
		got[lines.Text()] = true
	}
	if !got["inner"] || !got["outer"] {
		t.Errorf("the signal has reached %v, want inner and outer", got)
	}
	if exit, ok := errors.AsType[*ExitError](<-ended); !ok || exit.Code != 3 {
		t.Errorf("exit code %v, want 3", exit)
	}
	if err := set.Run(Command{Program: "/bin/true"}); !errors.Is(err, ErrStopped) {
		t.Errorf("after Stop: %v, want ErrStopped", err)
	}
}

// A command that ignores signals is ended with all that it has started.
func TestKill(t *testing.T) {
	set := &Set{}
	lines, ended := start(t, set, `
trap '' INT TERM
sh -c 'sleep 1000 & echo ready; wait' &
wait`)
	next(t, lines, "ready")
	set.Stop(syscall.SIGTERM, false)
	set.Kill()
	drain(lines) // ends when nothing holds the pipe any more
	if err := <-ended; err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("ended with %v, want that it was killed", err)
	}
}

// A command in the foreground gets the interrupts of the terminal by itself.
func TestForeground(t *testing.T) {
	set := &Set{}
	out, in := io.Pipe()
	done := make(chan error, 1)
	go func() { // ends with the command
		done <- set.Run(Command{
			Program: "/bin/sh", Stdout: in, Foreground: true, Timeout: testenv.Patience,
			Args: []string{"-c", `trap 'echo interrupted' INT; trap 'exit 4' TERM; echo ready; while :; do :; done`},
		})
		_ = in.Close()
	}()
	lines := bufio.NewScanner(out)
	next(t, lines, "ready")
	set.Stop(os.Interrupt, true)
	set.Stop(syscall.SIGTERM, false)
	for lines.Scan() {
		t.Errorf("printed %q", lines.Text())
	}
	if exit, ok := errors.AsType[*ExitError](<-done); !ok || exit.Code != 4 {
		t.Errorf("exit code %v, want 4", exit)
	}
}

// The reasons why a command cannot be started are told apart: the program, its interpreter, the
// directory.
func TestCommandsThatCannotBeStarted(t *testing.T) {
	dir := t.TempDir()
	for name, content := range map[string]string{"plain": "x", "script": "#!/nowhere/sh\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(filepath.Join(dir, "script"), 0o700); err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Command{
		"./missing: no such file or directory":                              {Program: "./missing", Dir: dir},
		"./plain: permission denied":                                        {Program: "./plain", Dir: dir},
		"./script: its interpreter is not there: no such file or directory": {Program: "./script", Dir: dir},
		"its directory " + filepath.Join(dir, "gone") + " is not there":     {Program: "/bin/sh", Dir: filepath.Join(dir, "gone")},
		"its directory " + filepath.Join(dir, "plain") + " is not there":    {Program: "/bin/sh", Dir: filepath.Join(dir, "plain")},
	} {
		if err := new(Set).Run(c); err == nil || err.Error() != want {
			t.Errorf("%s in %s: %v, want %s", c.Program, c.Dir, err, want)
		}
	}
}
