// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/views/valuediff"
)

const (
	consolePrompt         = "> "
	consoleContinued      = ". "
	consoleHistoryEntries = 1000
)

const consoleHelp = `Type an expression, like var.x, component.x.output or [for k, v in component.x : v.output].
Brackets that are open continue it on the next line. Tab completes names, the arrow keys recall what was typed
before, Ctrl-C drops the line, and exit or Ctrl-D ends.
`

// converse evaluates what someone types.
func (c *console) converse(ctx context.Context) error {
	in, ok := c.streams.In.(*os.File)
	if !ok {
		return errors.New("standard input is not a terminal")
	}
	keys := &keyReader{in: in}
	terminal := term.NewTerminal(struct {
		io.Reader
		io.Writer
	}{keys, c.streams.Out}, consolePrompt)
	history := openHistory()
	terminal.History = history
	completer := &completer{console: c, terminal: terminal}
	terminal.AutoCompleteCallback = func(line string, pos int, key rune) (string, int, bool) {
		return completer.complete(ctx, line, pos, key)
	}
	c.stdout("Evaluates expressions against the state. Type help for help, exit to end.\n")
	var pending string
	for {
		terminal.SetPrompt(consolePrompt)
		if pending != "" {
			terminal.SetPrompt(consoleContinued)
		}
		line, err := c.readTerminalLine(in, terminal)
		switch {
		case errors.Is(err, io.EOF) && keys.last == ctrlC:
			c.stdout("\n")
			pending = ""
			continue
		case errors.Is(err, io.EOF):
			c.stdout("\n")
			return history.save()
		case err != nil && !errors.Is(err, term.ErrPasteIndicator):
			return errors.Join(err, history.save())
		}
		pending += line + "\n"
		if isOpen(pending) {
			continue
		}
		source := strings.TrimSpace(pending)
		pending = ""
		switch {
		case source == "":
		case isExit(source):
			return history.save()
		case source == "help":
			c.stdout("%s", consoleHelp)
		default:
			if _, err := c.evaluateOnce(ctx, source); err != nil {
				return errors.Join(err, history.save())
			}
		}
	}
}

// readTerminalLine reads a line. The terminal is as usual before and after.
func (c *console) readTerminalLine(in *os.File, terminal *term.Terminal) (string, error) {
	fd := int(in.Fd())
	usual, err := term.MakeRaw(fd)
	if err != nil {
		return "", err
	}
	if width, height, err := term.GetSize(fd); err == nil && width > 0 {
		if err := terminal.SetSize(width, height); err != nil {
			return "", errors.Join(err, term.Restore(fd, usual))
		}
	}
	if c.canRedraw() {
		terminal.SetBracketedPasteMode(true)
		defer terminal.SetBracketedPasteMode(false)
	}
	line, err := terminal.ReadLine()
	return line, errors.Join(err, term.Restore(fd, usual))
}

// keyReader remembers the last byte that was read, to tell Ctrl-C from Ctrl-D: both end a line.
type keyReader struct {
	in   io.Reader
	last byte
}

const ctrlC = 3

// Read implements [io.Reader].
func (r *keyReader) Read(p []byte) (int, error) {
	n, err := r.in.Read(p)
	if n > 0 {
		r.last = p[n-1]
	}
	return n, err
}

// consoleHistory are lines typed before, oldest first, kept in a file. It implements [term.History].
type consoleHistory struct {
	path  string // empty if there is no place for it
	lines []string
}

func openHistory() *consoleHistory {
	h := &consoleHistory{path: historyPath()}
	if h.path == "" {
		return h
	}
	if content, err := os.ReadFile(h.path); err == nil {
		for line := range strings.Lines(string(content)) {
			h.Add(strings.TrimRight(line, "\r\n"))
		}
	}
	return h
}

// historyPath is where programs keep such things, or empty.
func historyPath() string {
	dir := os.Getenv("XDG_STATE_HOME")
	if dir == "" {
		home, err := os.UserHomeDir()
		if err != nil {
			return ""
		}
		dir = filepath.Join(home, ".local", "state")
	}
	return filepath.Join(dir, "cairn", "console_history")
}

// Add implements [term.History].
func (h *consoleHistory) Add(line string) {
	if line == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if excess := len(h.lines) - consoleHistoryEntries; excess > 0 {
		h.lines = slices.Delete(h.lines, 0, excess)
	}
}

// Len implements [term.History].
func (h *consoleHistory) Len() int { return len(h.lines) }

// At implements [term.History]: 0 is the newest.
func (h *consoleHistory) At(i int) string { return h.lines[len(h.lines)-1-i] }

// save writes the history; what someone typed may be a secret.
func (h *consoleHistory) save() error {
	if h.path == "" || len(h.lines) == 0 {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(h.path, []byte(strings.Join(h.lines, "\n")+"\n"), 0o600)
}

// completer completes names in the console.
type completer struct {
	console  *console
	terminal *term.Terminal
}

func (c *completer) complete(ctx context.Context, line string, pos int, key rune) (string, int, bool) {
	if key != '\t' {
		return "", 0, false
	}
	start := nameStart(line[:pos])
	typed := line[start:pos]
	candidates := c.console.candidates(ctx, typed)
	if len(candidates) == 0 {
		return line, pos, true
	}
	completed := commonPrefix(candidates)
	if completed == typed && len(candidates) > 1 {
		// Writing fails when the terminal is gone, which the next read finds out.
		_, _ = c.terminal.Write([]byte(strings.Join(candidates, "  ") + "\n")) //nolint:errcheck // see above
		return line, pos, true
	}
	return line[:start] + completed + line[pos:], start + len(completed), true
}

// nameStart returns where the reference begins that a line ends with.
func nameStart(line string) int {
	depth := 0
	for i := len(line) - 1; i >= 0; i-- {
		switch ch := line[i]; {
		case ch == ']':
			depth++
		case ch == '[' && depth == 0:
			return i + 1
		case ch == '[':
			depth--
		case depth > 0, isNameByte(ch), ch == '.':
		default:
			return i + 1
		}
	}
	return 0
}

func isNameByte(ch byte) bool {
	return ch == '_' || ch == '-' || ch >= '0' && ch <= '9' || ch >= 'a' && ch <= 'z' || ch >= 'A' && ch <= 'Z'
}

// candidates are the references that begin with what was typed, sorted.
func (c *console) candidates(ctx context.Context, typed string) []string {
	var all []string
	before := typed[:strings.LastIndex(typed, ".")+1]
	if strings.Count(before, ".") >= 2 {
		all = c.attributes(ctx, strings.TrimSuffix(before, "."))
	} else {
		all = c.names()
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, typed) })
	return sortedSet(all)
}

// names are the references to all that is declared.
func (c *console) names() []string {
	var names []string
	for name := range c.stack.Variables {
		names = append(names, "var."+name)
	}
	for name := range c.stack.Locals {
		names = append(names, "local."+name)
	}
	for name := range c.stack.Components {
		names = append(names, "component."+name)
	}
	for name := range c.stack.Calls {
		names = append(names, "stack."+name)
	}
	for ref := range c.stack.Providers {
		names = append(names, ref.String())
	}
	return names
}

// attributes are those of the value of an expression, with the expression before them.
func (c *console) attributes(ctx context.Context, source string) []string {
	value, diags := c.value(ctx, source)
	if diags.HasErrors() {
		return nil
	}
	value, _ = value.Unmark()
	ty := value.Type()
	var names []string
	switch {
	case ty.IsObjectType():
		for name := range ty.AttributeTypes() {
			names = append(names, source+"."+name)
		}
	case ty.IsMapType() && value.IsKnown() && !value.IsNull():
		for key := range value.AsValueMap() {
			names = append(names, source+"["+valuediff.Quote(key)+"]")
		}
	}
	return names
}

func commonPrefix(names []string) string {
	prefix := names[0]
	for _, name := range names[1:] {
		for !strings.HasPrefix(name, prefix) {
			prefix = prefix[:len(prefix)-1]
		}
	}
	return prefix
}
