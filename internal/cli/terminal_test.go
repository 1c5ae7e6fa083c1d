// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux || darwin

package cli

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/creack/pty"
	"github.com/hinshun/vt10x"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// terminal is a pseudo-terminal in which cairn runs, with its screen.
type terminal struct {
	t       *testing.T
	file    *os.File
	cmd     *exec.Cmd
	screen  vt10x.Terminal
	changed chan struct{} // after something was written; closed at the end

	mu struct {
		sync.Mutex
		written bytes.Buffer // everything
	}
}

// startOnTerminal starts cairn on a terminal of a size, with more environment variables.
func startOnTerminal(t *testing.T, size pty.Winsize, environ []string, args ...string) *terminal {
	t.Helper()
	return startProgramOnTerminal(t, size, environ, "cairn", args...)
}

// startProgramOnTerminal starts one of the programs of [TestMain].
func startProgramOnTerminal(t *testing.T, size pty.Winsize, environ []string, program string, args ...string) *terminal {
	t.Helper()
	term := &terminal{t: t, changed: make(chan struct{}, 1), screen: vt10x.New(vt10x.WithSize(int(size.Cols), int(size.Rows)))}
	term.cmd = testenv.Command(t, program, args...)
	for _, variable := range os.Environ() {
		if name, _, _ := strings.Cut(variable, "="); name != "CI" && name != "NO_COLOR" {
			term.cmd.Env = append(term.cmd.Env, variable)
		}
	}
	term.cmd.Env = append(append(term.cmd.Env, "TERM=xterm-256color"), environ...)
	file, err := pty.StartWithSize(term.cmd, &size)
	if err != nil {
		t.Fatal(err)
	}
	term.file = file
	var reading sync.WaitGroup
	reading.Go(term.read)
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		_ = term.cmd.Wait() // an error if the test has waited for it, too
		_ = file.Close()
		reading.Wait()
	})
	return term
}

func (term *terminal) read() {
	defer close(term.changed)
	chunk := make([]byte, 4096)
	begun := 0 // bytes of a character whose end was not read yet
	for {
		n, err := term.file.Read(chunk[begun:])
		if err != nil {
			return // the program has ended
		}
		term.mu.Lock()
		term.mu.written.Write(chunk[begun : begun+n])
		term.mu.Unlock()
		whole := wholeRunes(chunk[:begun+n])
		if _, err := term.screen.Write(chunk[:whole]); err != nil {
			return
		}
		begun = copy(chunk, chunk[whole:begun+n])
		select {
		case term.changed <- struct{}{}:
		default:
		}
	}
}

// wholeRunes returns the length of text without a last character that is cut off: the screen would
// lose it.
func wholeRunes(text []byte) int {
	for n := 1; n < utf8.UTFMax && n <= len(text); n++ {
		if tail := text[len(text)-n:]; utf8.RuneStart(tail[0]) {
			if !utf8.FullRune(tail) {
				return len(text) - n
			}
			break
		}
	}
	return len(text)
}

var (
	duration = regexp.MustCompile(`\b(\d+m)?\d+s\b`)
	long     = regexp.MustCompile(` \((\d+m)?\d+s\)`)
)

// text returns the contents of the screen, with all durations as 0s, and without durations in
// parentheses, which only long steps have.
func (term *terminal) text() string {
	var lines []string
	for line := range strings.Lines(term.screen.String()) {
		lines = append(lines, strings.TrimRight(line, " \n"))
	}
	text := long.ReplaceAllString(strings.TrimRight(strings.Join(lines, "\n"), "\n"), "")
	return duration.ReplaceAllString(text, "0s")
}

func (term *terminal) cursorVisible() bool {
	term.screen.Lock()
	defer term.screen.Unlock()
	return term.screen.CursorVisible()
}

// waitFor waits until all of these are on the screen.
func (term *terminal) waitFor(wants ...string) {
	term.t.Helper()
	term.waitUntil(fmt.Sprintf("all of %q is on the screen", wants), func() bool {
		text := term.text()
		return !slices.ContainsFunc(wants, func(want string) bool { return !strings.Contains(text, want) })
	})
}

// waitUntil waits for output on the terminal to make something true.
func (term *terminal) waitUntil(what string, isTrue func() bool) {
	term.t.Helper()
	timeout := time.After(time.Minute)
	for !isTrue() {
		select {
		case _, ok := <-term.changed:
			if !ok && !isTrue() {
				term.t.Fatalf("the program has ended before %s:\n%s", what, term.text())
			}
		case <-timeout:
			term.t.Fatalf("it does not happen that %s:\n%s", what, term.text())
		}
	}
}

// end waits for the end of the program and returns its exit code.
func (term *terminal) end() int {
	term.t.Helper()
	timeout := time.After(time.Minute)
	for open := true; open; {
		select {
		case _, open = <-term.changed:
		case <-timeout:
			term.t.Fatalf("the program does not end; on the screen is\n%s", term.text())
		}
	}
	_ = term.cmd.Wait() // the exit code says it
	if !term.cursorVisible() {
		term.t.Error("the cursor stays hidden")
	}
	return term.cmd.ProcessState.ExitCode()
}

func (term *terminal) typeText(text string) {
	term.t.Helper()
	if _, err := term.file.WriteString(text); err != nil {
		term.t.Fatal(err)
	}
}

func (term *terminal) resize(size pty.Winsize) {
	term.t.Helper()
	term.screen.Resize(int(size.Cols), int(size.Rows))
	if err := pty.Setsize(term.file, &size); err != nil {
		term.t.Fatal(err)
	}
}

// written returns all that was written to the terminal.
func (term *terminal) written() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return term.mu.written.String()
}

func (term *terminal) check(want string) {
	term.t.Helper()
	if got := "\n" + term.text(); got != want {
		term.t.Errorf("the screen shows%s\nwant%s", got, want)
	}
}
