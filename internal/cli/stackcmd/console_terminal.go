// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackcmd

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"

	"github.com/peterh/liner"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
)

const (
	consolePrompt    = "> "
	consoleContinued = ". "
)

const consoleHelp = `Type an expression, like var.x, component.x.output or [for k, v in component.x : v.output].
Brackets that are open continue it on the next line. Tab completes names, the arrow keys recall earlier lines,
Ctrl-R searches them, Ctrl-C drops the current line, and exit or Ctrl-D ends.
`

// converse evaluates the lines that someone types, until they end it or a signal does.
func (c *console) converse(ctx context.Context) (int, error) {
	ctx, stop := signal.NotifyContext(ctx, session.InterruptSignals()...) // Ctrl-C is a key while a line is typed
	defer stop()

	editor := liner.NewLiner()
	defer editor.Close() //nolint:errcheck // the terminal is gone if it cannot be restored
	editor.SetCtrlCAborts(true)
	editor.SetMultiLineMode(true)
	editor.SetBeep(false)
	editor.SetTabCompletionStyle(liner.TabPrints)
	editor.SetWordCompleter(func(line string, pos int) (head string, completions []string, tail string) {
		return c.complete(ctx, line, pos)
	})
	readHistory(editor)

	c.Print("Type an expression, \"help\" or \"exit\".\n")
	err := c.evaluateTyped(ctx, editor)
	if err := saveHistory(editor); err != nil {
		return 0, err
	}
	if errors.Is(err, context.Canceled) {
		return cmdline.ExitError, nil // the sender of the signal knows
	}
	return cmdline.ExitOK, err
}

// evaluateTyped evaluates lines until there are no more.
func (c *console) evaluateTyped(ctx context.Context, editor *liner.State) error {
	var pending string
	for {
		prompt := consolePrompt
		if pending != "" {
			prompt = consoleContinued
		}
		line, err := readLine(ctx, editor, prompt)
		switch {
		case errors.Is(err, liner.ErrPromptAborted): // Ctrl-C
			pending = ""
			continue
		case errors.Is(err, io.EOF):
			c.Print("\n")
			return nil
		case err != nil:
			return err
		}
		if strings.TrimSpace(line) != "" {
			editor.AppendHistory(line)
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
			return nil
		case source == "help":
			c.Say("%s", consoleHelp)
		default:
			if _, err := c.evaluateOnce(ctx, source); err != nil {
				return err
			}
		}
	}
}

// readLine reads a line that someone types, unless ctx ends first.
func readLine(ctx context.Context, editor *liner.State, prompt string) (string, error) {
	typed, ok := session.AwaitAnswer(ctx, func() (string, error) { return editor.Prompt(prompt) })
	if !ok {
		return "", ctx.Err()
	}
	return typed.Text, typed.Err
}

// readHistory gives an editor the lines that were typed before. Without a file there are none.
func readHistory(editor *liner.State) {
	content, err := os.ReadFile(historyPath())
	if err != nil {
		return
	}
	for line := range strings.Lines(string(content)) {
		editor.AppendHistory(strings.TrimRight(line, "\r\n"))
	}
}

// historyPath is the usual path of such a file, or empty.
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

// saveHistory writes the history of an editor; a typed line may hold a secret.
func saveHistory(editor *liner.State) error {
	path := historyPath()
	var lines bytes.Buffer
	if n, err := editor.WriteHistory(&lines); n == 0 || path == "" {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	return os.WriteFile(path, lines.Bytes(), 0o600)
}

// complete returns the completions of the name before a position, which is counted in characters.
func (c *console) complete(ctx context.Context, line string, pos int) (head string, completions []string, tail string) {
	characters := []rune(line)
	before := string(characters[:pos])
	start := nameStart(before)
	return before[:start], c.candidates(ctx, before[start:]), string(characters[pos:])
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

// candidates are the references that begin with the typed text, sorted.
func (c *console) candidates(ctx context.Context, typed string) []string {
	var all []string
	before := typed[:strings.LastIndex(typed, ".")+1]
	if strings.Count(before, ".") >= 2 {
		all = c.attributes(ctx, strings.TrimSuffix(before, "."))
	} else {
		all = c.names()
	}
	all = slices.DeleteFunc(all, func(name string) bool { return !strings.HasPrefix(name, typed) })
	slices.Sort(all)
	return slices.Compact(all)
}

// names are the references to all that is declared.
func (c *console) names() []string {
	var names []string
	for name := range c.inspection.Stack.Variables {
		names = append(names, "var."+name)
	}
	for name := range c.inspection.Stack.Locals {
		names = append(names, "local."+name)
	}
	for name := range c.inspection.Stack.Components {
		names = append(names, "component."+name)
	}
	for name := range c.inspection.Stack.Calls {
		names = append(names, "stack."+name)
	}
	for ref := range c.inspection.Stack.Providers {
		names = append(names, ref.String())
	}
	return names
}

// attributes are those of the value of an expression, with the expression before them.
func (c *console) attributes(ctx context.Context, source string) []string {
	value, diags := c.inspection.Eval(ctx, source)
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
