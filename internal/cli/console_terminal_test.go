// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package cli

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/testenv"
)

const (
	keyCtrlC = "\x03"
	keyCtrlD = "\x04"
	keyTab   = "\t"
	keyUp    = "\x1b[A"
)

// startConsole starts the console of a stack with a few variables, on a terminal. Its history is
// kept in historyDir.
func startConsole(t *testing.T, historyDir string, environ ...string) *terminal {
	t.Helper()
	testenv.Engine(t)
	dir := t.TempDir()
	const config = `
required_providers {}

variable "name" {
  type    = string
  default = "x"
}

variable "number" {
  type    = number
  default = 1
}
`
	if err := os.WriteFile(filepath.Join(dir, "main.tfcomponent.hcl"), []byte(config), 0o644); err != nil {
		t.Fatal(err)
	}
	environ = append([]string{"XDG_STATE_HOME=" + historyDir}, environ...)
	term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 60}, environ, "-chdir="+dir, "console")
	term.waitFor("Type an expression", "\n>")
	return term
}

func TestConsoleOnTerminal(t *testing.T) {
	history := t.TempDir()
	term := startConsole(t, history)
	term.typeText("1 + 2\r")
	term.waitFor("\n3\n>")
	term.typeText("forgotten")
	term.waitFor("> forgotten")
	term.typeText(keyCtrlC)
	term.waitFor("> forgotten^C\n>")
	term.typeText("[1,\r2,\r")
	term.waitFor("> [1,\n. 2,\n.")
	term.typeText("unfinished")
	term.waitFor(". unfinished")
	term.typeText(keyCtrlC) // drops all lines of it
	term.waitFor(". unfinished^C\n>")
	term.typeText("[\r5]\r")
	term.waitFor("> [\n. 5]\n[\n  5,\n]\n>")
	term.typeText("var.na" + keyTab)
	term.waitFor("> var.name")
	term.typeText("\r")
	term.waitFor("> var.name\n\"x\"\n>")
	term.typeText("var.n" + keyTab + keyTab)
	term.waitFor("var.name var.number\n> var.n")
	term.typeText(keyCtrlC)
	term.waitFor("> var.n^C\n>")
	term.typeText("nonsense\r")
	term.waitUntil("the error is shown and the prompt is back", func() bool {
		text := term.text()
		return strings.Contains(text, "on <console> line 1") && strings.HasSuffix(text, "\n>")
	})
	term.typeText(keyUp + keyUp)
	term.waitFor("\n> var.name\n")
	term.typeText(keyCtrlC)
	term.waitUntil("the prompt is back", func() bool { return strings.HasSuffix(term.text(), "^C\n>") })
	term.typeText(keyCtrlD)
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	if lines := strings.Count(term.text(), "\n"); lines > 30 {
		t.Errorf("there are %d lines on the screen:\n%s", lines, term.text())
	}

	term = startConsole(t, history)
	term.typeText(keyUp)
	term.waitFor("\n> nonsense")
	term.typeText(keyCtrlC + "exit\r")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	info, err := os.Stat(filepath.Join(history, "cairn", "console_history"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode != 0o600 {
		t.Errorf("the history has mode %v, and may hold secrets", mode)
	}
}

// Nobody types any more: Ctrl-D after half an expression, and a signal, end the console.
func TestConsoleEndsOnTerminal(t *testing.T) {
	t.Run("half an expression", func(t *testing.T) {
		term := startConsole(t, t.TempDir())
		term.typeText("[1,\r")
		term.waitFor("> [1,\n.")
		term.typeText(keyCtrlD)
		if code := term.end(); code != cmdline.ExitOK {
			t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
		}
	})
	t.Run("signal", func(t *testing.T) {
		term := startConsole(t, t.TempDir())
		if err := term.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if code := term.end(); code != cmdline.ExitError {
			t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
		}
	})
	t.Run("dumb terminal", func(t *testing.T) {
		term := startConsole(t, t.TempDir(), "TERM=dumb")
		term.typeText("1 + 2\r")
		term.waitFor("\n3\n>")
		term.typeText(keyCtrlC)
		if code := term.end(); code != cmdline.ExitError {
			t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
		}
	})
}
