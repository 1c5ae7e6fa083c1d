// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package secretoutput runs programs whose output is secret, such as those that print tokens. The
// messages of such a program about its failure can be shown: its output is hidden there, and so is
// all that looks like a JWT.
package secretoutput

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"regexp"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/redact"
)

const (
	usualTime = time.Minute
	maxSaid   = 4 << 10 // bytes that are kept of standard error
)

// ErrTooLong is of programs that print more than they may.
var ErrTooLong = errors.New("it prints too much")

// FailedError says how a program has failed.
type FailedError struct {
	Err  error
	said string
}

func (e *FailedError) Error() string { return e.Err.Error() + "." + e.Said() }

// Unwrap returns how it ended.
func (e *FailedError) Unwrap() error { return e.Err }

// Said returns the text on its standard error, as a sentence with a space before it; "" for none.
func (e *FailedError) Said() string {
	if e.said == "" {
		return ""
	}
	return " It says:\n" + e.said
}

// Command is a program to be run.
type Command struct {
	Command []string // path, or path relative to Dir, or name; and arguments
	Dir     string
	Env     []string
	Timeout time.Duration // 0 for a minute
	Input   []byte        // on standard input, at most as much as a pipe takes, 4 KiB; nil for none
	Limit   int           // bytes of output
}

// Run runs a program to its end, and returns its output. The program is ended, with all that it has
// started, when ctx ends.
//
// Errors:
//   - the cause of the end of ctx
//   - [ErrTooLong]
//   - [*FailedError] otherwise
func Run(ctx context.Context, c Command) ([]byte, error) {
	var set process.Set
	defer context.AfterFunc(ctx, set.Kill)()
	stdout, stderr := limited{limit: c.Limit}, limited{limit: maxSaid}
	stdin, err := input(c.Input)
	if err != nil {
		return nil, &FailedError{err, ""}
	}
	err = set.Run(process.Command{
		Program: c.Command[0], Args: c.Command[1:], Dir: c.Dir, Env: c.Env, Timeout: cmp.Or(c.Timeout, usualTime), Stdout: &stdout,
		Stderr: &stderr, Stdin: stdin,
	})
	if stdin != nil {
		err = errors.Join(err, stdin.Close())
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		return nil, &FailedError{err, said(&stderr, stdout.Bytes(), c.Input)}
	case stdout.Len() > c.Limit:
		return nil, ErrTooLong
	}
	return stdout.Bytes(), nil
}

// input returns the end of a pipe from which a content is read, nil for none.
func input(content []byte) (*os.File, error) {
	if content == nil {
		return nil, nil //nolint:nilnil // see above
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	_, err = w.Write(content) // does not wait for a reader, as it is not much
	if err = errors.Join(err, w.Close()); err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return r, nil
}

// limited keeps the first bytes that are written to it, and no more than limit and one.
type limited struct {
	bytes.Buffer

	limit int
}

// Write implements [io.Writer]. Bytes beyond the limit are dropped: a program that could not write
// would fail for another reason than its own.
func (l *limited) Write(p []byte) (int, error) {
	if room := l.limit + 1 - l.Len(); room > 0 {
		_, _ = l.Buffer.Write(p[:min(room, len(p))])
	}
	return len(p), nil
}

// anyToken matches texts that look like a JWT, of which the middle part begins as that of an object
// in JSON does.
var anyToken = regexp.MustCompile(`[A-Za-z0-9_-]+\.ey[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]*)?`)

// said is the text on the standard error of a program, without the program's output and input.
func said(stderr *limited, stdout, stdin []byte) string {
	text := stderr.String()
	cut := len(text) > maxSaid
	if cut { // not within a secret, of which the rest would not be found
		text = text[:strings.LastIndexAny(text, " \n")+1]
	}
	var hidden redact.Set
	var printed any
	if json.Unmarshal(stdout, &printed) == nil {
		hide(&hidden, printed)
	}
	for line := range strings.Lines(string(stdout) + "\n" + string(stdin)) {
		hidden.AddString(strings.TrimSpace(line))
	}
	text = strings.TrimSpace(strings.ToValidUTF8(hidden.Text(anyToken.ReplaceAllString(text, redact.Hidden)), "\ufffd"))
	if cut {
		text += " …"
	}
	return text
}

// hide hides all texts in a value decoded from JSON.
func hide(hidden *redact.Set, printed any) {
	switch printed := printed.(type) {
	case string:
		hidden.AddString(printed)
	case []any:
		for _, element := range printed {
			hide(hidden, element)
		}
	case map[string]any:
		for _, value := range printed {
			hide(hidden, value)
		}
	}
}
