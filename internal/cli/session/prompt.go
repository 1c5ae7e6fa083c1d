// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/typeexpr"
	"github.com/zclconf/go-cty/cty"
	"golang.org/x/term"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/variables"
	"github.com/cairnstacks/cairn/stackruntime/stackconfig"
)

// ErrNoAnswer is the error of an input that ended instead of giving an answer.
var ErrNoAnswer = errors.New("there was no answer")

// answersPerVariable bounds how often the value of a variable is asked for.
const answersPerVariable = 3

// AskValue asks for the value of a variable that must have one and has none, until there is one
// that fits, but not forever: a program may give the answers.
func (s *Session) AskValue(ctx context.Context, declared *stackconfig.InputVariable) (cty.Value, hcl.Diagnostics) {
	s.Note("var.%s\n", declared.Name)
	if declared.Description != "" {
		s.Note("  %s\n", strings.ReplaceAll(strings.TrimSpace(declared.Description), "\n", "\n  "))
	}
	if constraint := declared.Type.Constraint; !constraint.IsPrimitiveType() {
		s.Note("  Write it as in a variables file: its type is %s.\n", typeexpr.TypeString(constraint))
	}
	for attempt := 1; ; attempt++ {
		text, err := s.Ask(ctx, "\n  Enter a value: ", variables.IsSecret(declared))
		if err != nil {
			return cty.NilVal, hcl.Diagnostics{failure.New("Value needed for variable", "Variable var.%s has no value: %s.", declared.Name, err)}
		}
		s.Note("\n")
		value, diags := variables.Parse(declared, text, "value entered for var."+declared.Name, s.Files)
		if !diags.HasErrors() || attempt == answersPerVariable {
			return value, diags
		}
		if err := s.Report(diags); err != nil {
			return cty.NilVal, operation.Diagnostics(err)
		}
	}
}

// Ask reads one line. A secret does not appear on a terminal. A display there is cleared for the
// time of the question.
func (s *Session) Ask(ctx context.Context, question string, secret bool) (string, error) {
	if live := s.live.Load(); live != nil {
		defer live.Suspend()()
	}
	s.prompt(question)
	restore := s.keepTerminal()
	given, ok := AwaitAnswer(ctx, func() (string, error) { return s.readLine(secret) })
	if !ok {
		restore()
		s.prompt("\n")
		return "", context.Cause(ctx)
	}
	return given.Text, given.Err
}

// Answer is a line that someone has typed, or why there is none.
type Answer struct {
	Text string
	Err  error
}

// AwaitAnswer returns the result of read, and false if ctx ends first. Then read goes on until the
// process ends.
func AwaitAnswer(ctx context.Context, read func() (string, error)) (Answer, bool) {
	answers := make(chan Answer, 1)
	go func() {
		text, err := read()
		answers <- Answer{text, err}
	}()
	select {
	case <-ctx.Done():
		return Answer{}, false
	case given := <-answers:
		return given, true
	}
}

// prompt writes to the person who is asked, at once.
func (s *Session) prompt(text string) {
	fmt.Fprint(s.Streams.Err, fold(s.Streams.Err, text))
}

// keepTerminal returns a function that restores the mode of the terminal, for a question that is
// left unanswered.
func (s *Session) keepTerminal() (restore func()) {
	file, ok := s.Streams.In.(*os.File)
	if !ok {
		return func() {}
	}
	usual, err := term.GetState(int(file.Fd()))
	if err != nil {
		return func() {} // no terminal
	}
	return func() {
		if err := term.Restore(int(file.Fd()), usual); err != nil {
			s.Note("The terminal cannot be restored: %s.\n", err)
		}
	}
}

func (s *Session) readLine(secret bool) (string, error) {
	if file, ok := s.Streams.In.(*os.File); ok && secret && term.IsTerminal(int(file.Fd())) {
		text, err := term.ReadPassword(int(file.Fd()))
		s.prompt("\n")
		return string(text), err
	}
	if s.input == nil {
		s.input = bufio.NewReader(s.Streams.In)
	}
	text, err := s.input.ReadString('\n')
	if errors.Is(err, io.EOF) && text == "" {
		return "", ErrNoAnswer
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return "", fmt.Errorf("reading an answer: %w", err)
	}
	return strings.TrimRight(text, "\r\n"), nil
}
