// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/testenv"
)

// stackDirs makes directories with stacks, each with a pipe "go", and returns the directory above.
// In "b<a" b is after a.
func stackDirs(t *testing.T, stacks ...string) string {
	t.Helper()
	root := t.TempDir()
	for _, stack := range stacks {
		name, before, _ := strings.Cut(stack, "<")
		config := "stack {}\n"
		if before != "" {
			config = fmt.Sprintf("stack {\n  after = [%q]\n}\n", "../"+before)
		}
		if err := os.MkdirAll(filepath.Join(root, name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(root, name, "stack.tm.hcl"), []byte(config), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := syscall.Mkfifo(filepath.Join(root, name, "go"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

// letGo lets the command go on that waits for the pipe of a stack.
func letGo(t *testing.T, root, stack string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(root, stack, "go"), []byte("now\n"), 0o600); err != nil {
		t.Fatal(err)
	}
}

// naughty prints control sequences that would destroy the table if they came through, and waits.
const naughty = `
printf '\033[32mgreen\033[0m and \033[2J\033[H\033[5Aevil\n'
printf 'first\rsecond\tof two\n'
printf 'Not a whole line'
read x < go
printf '\ndone: %s\n' "$x"
test ! -e bad`

func TestRunTable(t *testing.T) {
	root := stackDirs(t, "a", "b", "c<a", "d<b")
	if err := os.WriteFile(filepath.Join(root, "b", "bad"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 80}, nil, "-chdir="+root, "run", "-parallel=2", "--", "sh", "-c", naughty)
	term.waitFor("  a     0s  Not a whole line\n", "  b     0s  Not a whole line\n", " 0/4 · 2 running · 2 waiting · 0s")
	if term.cursorVisible() {
		t.Error("the cursor is visible below the table")
	}
	term.resize(pty.Winsize{Rows: 40, Cols: 26})
	term.waitFor("  a     0s  Not a whole …\n", "Running 0/4 · 2 running …")
	term.resize(pty.Winsize{Rows: 40, Cols: 80})
	term.waitFor(" 0/4 · 2 running · 2 waiting · 0s")

	letGo(t, root, "b")
	term.waitFor("✗ b: exit code 1\n", " 2/4 · 1 running · 1 waiting · 1 skipped · 1 failed")
	letGo(t, root, "a")
	term.waitFor("✓ a\n", "  c     0s  Not a whole line\n", " 3/4 · 1 running · 1 skipped · 1 failed")
	letGo(t, root, "c")
	if code := term.end(); code != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
	}
	output := func(name string) string {
		return strings.ReplaceAll(`
NAME | green and evil
NAME | second      of two
NAME | Not a whole line
NAME | done: now`, "NAME", name)
	}
	term.check(output("b") + "\n✗ b: exit code 1" + output("a") + "\n✓ a" + output("c") + "\n✓ c" + `

ok           a
failed       b  (exit code 1)
ok           c
skipped      d  (because b failed)

2 ok, 1 failed, 1 skipped.`)
}

func TestRunTableInterrupted(t *testing.T) {
	root := stackDirs(t, "a", "b", "c<a")
	term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 150}, nil, "-chdir="+root, "run", "-parallel=2", "--", "sh", "-c",
		"echo begun; read x < go")
	term.waitFor("  a     0s  begun\n", "  b     0s  begun\n")
	term.typeText("\x03")
	if code := term.end(); code != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
	}
	text := term.text()
	for _, want := range []string{
		"\nInterrupted. Nothing more is started; waiting for running operations. Interrupt once more to end them at once.\n",
		"\na | begun\n", "\nb | begun\n", "✗ a: ended by signal: interrupt", "skipped      c  (because a failed)\n\n0 ok, 2 failed, 1 skipped.",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the screen does not have %q:\n%s", want, text)
		}
	}
	for _, left := range []string{"Running", "running ·", "^C"} {
		if strings.Contains(text, left) {
			t.Errorf("%q is left on the screen:\n%s", left, text)
		}
	}
}

// Commands that run one at a time have the terminal for themselves.
func TestRunAsksOnTerminal(t *testing.T) {
	root := stackDirs(t, "a", "b")
	term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 80}, nil, "-chdir="+root, "run", "--",
		"sh", "-c", `test -t 0 && test -t 1 && test -t 2 || exit 1; printf 'Name? '; read name; echo "Hello $name"`)
	term.waitFor("Name?")
	term.typeText("Ada\n")
	term.waitFor("Hello Ada\n", "2 of 2\nName?")
	term.typeText("Grace\n")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	term.check(`
a  1 of 2
Name? Ada
Hello Ada

b  2 of 2
Name? Grace
Hello Grace

ok           a
ok           b

2 ok.`)
}

// Where nobody wants a moving table, there are plain lines.
func TestRunPlainOnTerminal(t *testing.T) {
	for name, environ := range map[string][]string{
		"NO_COLOR": {"NO_COLOR=1"}, "dumb": {"TERM=dumb"}, "CI": {"CI=true"}, "option": nil,
	} {
		t.Run(name, func(t *testing.T) {
			root := stackDirs(t, "a", "b")
			args := []string{"-chdir=" + root, "run", "-parallel=2", "--", "sh", "-c", "echo begun"}
			if environ == nil {
				args = append([]string{"-no-color"}, args...)
			}
			term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 80}, environ, args...)
			if code := term.end(); code != cmdline.ExitOK {
				t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
			}
			if strings.Contains(term.written(), "\x1b") {
				t.Errorf("there are escape sequences in %q", term.written())
			}
			if !strings.Contains(term.text(), "a | begun\n") || !strings.Contains(term.text(), "b | begun\n") {
				t.Errorf("the screen shows\n%s", term.text())
			}
		})
	}
}

// A question takes the place of the table, and units that end meanwhile are shown after it.
func TestRunApplyAsksOnTerminal(t *testing.T) {
	testenv.Engine(t)
	root := t.TempDir()
	files := map[string]string{
		cairnfile.FileName: `
stack "dev" {
  path       = "dev"
  auto_apply = true
}
stack "prod" {
  path       = "prod"
  plan_after = ["dev"]
}
task "tell" {
  command = ["sh", "-c", "echo told; read x < go"]
  after   = ["prod"]
}
`,
		"dev/main.tf":  `resource "terraform_data" "x" {}`,
		"prod/main.tf": `resource "terraform_data" "x" {}`,
	}
	for name, content := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := syscall.Mkfifo(filepath.Join(root, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	empty := filepath.Join(t.TempDir(), "empty.tfrc")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	term := startOnTerminal(t, pty.Winsize{Rows: 200, Cols: 100}, []string{"TF_CLI_CONFIG_FILE=" + empty, "CHECKPOINT_DISABLE=1"},
		"-chdir="+root, "run", "apply", "-root=.")
	term.waitFor("✓ dev: applied (1 added, 0 changed, 0 destroyed)\n", "Apply prod? Only \"yes\" is accepted:")
	if text := term.text(); strings.Contains(text, "Applying ") || !term.cursorVisible() {
		t.Errorf("during the question the screen shows\n%s", text)
	}
	term.typeText("yes\n")
	term.waitFor("✓ prod: applied (1 added, 0 changed, 0 destroyed)\n", "  tell     0s  told\nApplying ", " 2/3 · 1 running · 0s")
	letGo(t, root, ".")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
	if text, want := term.text(), "accepted: yes\n"; !strings.Contains(text, want) || strings.Contains(text, "running") {
		t.Errorf("afterwards the screen shows\n%s", text)
	}
	const want = "tell | told\n✓ tell: ran\n\n" +
		"applied  dev  (1 added, 0 changed, 0 destroyed)\napplied  prod  (1 added, 0 changed, 0 destroyed)\nran      tell\n\n" +
		"2 applied, 1 ran. Resources: 2 added, 0 changed, 0 destroyed."
	if text := term.text(); !strings.HasSuffix(text, want) {
		t.Errorf("the screen shows\n%s\nwant an end of\n%s", text, want)
	}
}

func TestRunStatesOnTerminal(t *testing.T) {
	root := t.TempDir()
	sls := `
slow:
  cmd.run:
    - name: read x < go
    - cwd: ` + root + `
after:
  test.fail_without_changes:
    - require: [{cmd: slow}]
`
	if err := os.WriteFile(filepath.Join(root, "web.sls"), []byte(sls), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mkfifo(filepath.Join(root, "go"), 0o600); err != nil {
		t.Fatal(err)
	}
	term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 80}, nil, "run", "states", "-output=terse", root, "web")
	term.waitFor("  slow (cmd.run)     0s\nRunning ", " 0/2 · 1 running · 1 waiting · 0s")
	letGo(t, root, ".")
	if code := term.end(); code != cmdline.ExitError {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitError)
	}
	if text := term.text(); !strings.HasPrefix(text, "changed       slow (cmd.run)") || !strings.HasSuffix(text, "\n\n1 changed, 1 failed.") {
		t.Errorf("afterwards the screen shows\n%s", text)
	}
}

// Ctrl-Z leaves the terminal to the shell, and fg brings the table back.
func TestRunTableStopped(t *testing.T) {
	root := stackDirs(t, "a", "b")
	term := startOnTerminal(t, pty.Winsize{Rows: 40, Cols: 80}, nil, "-chdir="+root, "run", "-parallel=2", "--", "sh", "-c",
		"echo begun; read x < go")
	term.waitFor("  a     0s  begun\n", "  b     0s  begun\n")
	process := term.cmd.Process
	if err := process.Signal(syscall.SIGTSTP); err != nil {
		t.Fatal(err)
	}
	var status syscall.WaitStatus
	if _, err := syscall.Wait4(process.Pid, &status, syscall.WUNTRACED, nil); err != nil || !status.Stopped() {
		t.Fatalf("the process is not stopped: %v, %v", status, err)
	}
	term.waitUntil("the table is gone and the cursor is back", func() bool { return term.text() == "" && term.cursorVisible() })
	if err := process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	term.waitFor("  a     0s  begun\n", "  b     0s  begun\n")
	letGo(t, root, "a")
	letGo(t, root, "b")
	if code := term.end(); code != cmdline.ExitOK {
		t.Errorf("exit code %d, want %d", code, cmdline.ExitOK)
	}
}

// A panic in the work on a node, which runs in a goroutine of its own, leaves the terminal as it
// was.
func TestPanicOnTerminal(t *testing.T) {
	term := startProgramOnTerminal(t, pty.Winsize{Rows: 200, Cols: 100}, nil, "panics-in-run")
	if code := term.end(); code == cmdline.ExitOK {
		t.Error("the program has ended well")
	}
	if text := term.text(); !strings.Contains(text, "panicked (work failed)") || strings.Contains(text, "Running") {
		t.Errorf("the screen shows\n%s", text)
	}
	if !strings.HasPrefix(term.text(), "node | printed before\n") {
		t.Errorf("what was printed before is lost:\n%s", term.text())
	}
}
