// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/cairnstacks/cairn/internal/process"
)

// Runner runs commands.
type Runner interface {
	// Run runs a command to its end, or to that of ctx. An error says that it could not be started, or
	// was ended; that it has another exit code than 0 is none.
	Run(ctx context.Context, command Command) (Output, error)

	// Has reports whether there is a program.
	Has(program string) bool

	// Lacks returns the missing prerequisites of a command, such as its user or its program, which may
	// be there later; "" if there are none.
	//
	// An error says why the command can never be started.
	Lacks(command Command) (missing string, err error)
}

// Command is a program to be run.
type Command struct {
	Args  []string // the program first
	Dir   string
	Env   []string // added to that of this process
	User  string   // as whom it is run; "" for the user of this process
	Stdin []byte

	// Gentle asks the command itself by an interrupt to end, and leaves it and all that it has started
	// alone for [patience] then. It is for commands that know when they can end without leaving half
	// of their work.
	Gentle bool
}

// Output is the result of a command: its exit code and its output.
type Output struct {
	Code           int
	Stdout, Stderr string
	Cut            bool // Stdout is only the start
}

// startError is why a command was not even started.
type startError struct{ error }

func (e *startError) Unwrap() error { return e.error }

// maxOutput is how much is kept of the output of a command: bytes of each stream.
const maxOutput = 1 << 20

// grace is how long a command may take to end once it is asked to.
const grace = 5 * time.Second

// patience is how long a gentle command may take to end.
var patience = 5 * time.Minute // shorter in tests

// System runs the commands of this machine.
type System struct{}

var _ Runner = System{}

// Has implements [Runner].
func (System) Has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Lacks implements [Runner].
func (System) Lacks(command Command) (string, error) {
	var missing []string
	err := checkUser(command.User, newOwner().uid)
	if unknown, ok := errors.AsType[*unknownUserError](err); ok {
		missing = append(missing, unknown.Error())
	} else if err != nil {
		return "", err
	}
	if dir := command.Dir; dir != "" {
		switch info, err := os.Stat(dir); {
		case isMissing(err):
			missing = append(missing, "there is no directory "+dir)
		case err == nil && !info.IsDir():
			missing = append(missing, dir+" is not a directory")
		}
	}
	program := command.Args[0]
	if isRelative := filepath.Base(program) != program && !filepath.IsAbs(program); !isRelative { // to a directory that is not there
		if _, err := exec.LookPath(program); err != nil {
			missing = append(missing, "there is no program "+program)
		}
	}
	return strings.Join(missing, ", and "), nil
}

// unknownUserError is that there is no user, whom a command could be run as if there was.
type unknownUserError struct{ name string }

func (e *unknownUserError) Error() string { return fmt.Sprintf("there is no user %q", e.name) }

// Run implements [Runner]. When ctx ends, the command is asked to end; after a while it is made to,
// with all it has started.
func (System) Run(ctx context.Context, command Command) (Output, error) {
	var stdout, stderr limited
	life, end := ctx, func(error) {}
	if command.Gentle {
		life, end = context.WithCancelCause(context.WithoutCancel(ctx))
		defer end(nil)
	}
	cmd := exec.CommandContext(life, command.Args[0], command.Args[1:]...)
	cmd.Dir, cmd.Env = command.Dir, os.Environ()
	if err := runAs(cmd, command.User); err != nil {
		return Output{}, &startError{err}
	}
	cmd.Env = append(cmd.Env, command.Env...)
	cmd.Stdin = bytes.NewReader(command.Stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = grace
	ended := false // by ctx: a command that has come to its own end is left alone, even if others still hold its output open
	cmd.Cancel = func() error {
		err := endGroup(cmd, errors.Is(context.Cause(life), errTimeout))
		ended = err == nil
		return err
	}
	if err := ctx.Err(); err != nil {
		return Output{}, context.Cause(ctx)
	}
	if err := cmd.Start(); err != nil {
		if ctx.Err() != nil {
			return Output{}, context.Cause(ctx)
		}
		return Output{}, &startError{process.StartError(cmd, err)}
	}
	if command.Gentle {
		most := patience
		stop := context.AfterFunc(ctx, func() {
			_ = cmd.Process.Signal(os.Interrupt) //nolint:errcheck // it may have ended
			time.AfterFunc(most, func() { end(context.Cause(ctx)) })
		})
		defer stop()
	}
	err := cmd.Wait()
	ended = ended || command.Gentle && ctx.Err() != nil && !cmd.ProcessState.Success()
	if ended {
		killGroup(cmd)
	}
	// A command that a signal has ended has the exit code -1, which is an error. All other codes are
	// answers, of conditions as well.
	output := Output{Code: cmd.ProcessState.ExitCode(), Stdout: stdout.String(), Stderr: stderr.String(), Cut: stdout.more}
	switch exit := (*exec.ExitError)(nil); {
	case ended:
		return output, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return output, nil // it has ended; processes that it left behind hold its output open
	case errors.As(err, &exit) && output.Code >= 0:
		return output, nil
	case err != nil:
		return output, err
	}
	return output, nil
}

// withoutStarts calls write, which writes a program and closes it, while no process is started. One
// that is started meanwhile has a copy of the open files until it is a program itself, and a file
// that anybody has open for writing is too busy to be run.
func withoutStarts(write func() error) error {
	syscall.ForkLock.RLock()
	defer syscall.ForkLock.RUnlock()
	return write()
}

// limited keeps the start of the written bytes.
type limited struct {
	kept bytes.Buffer
	more bool
}

func (l *limited) Write(p []byte) (int, error) {
	room := maxOutput - l.kept.Len()
	if len(p) > room {
		l.more = true
	}
	l.kept.Write(p[:min(room, len(p))])
	return len(p), nil
}

func (l *limited) String() string {
	text := strings.ToValidUTF8(l.kept.String(), "\ufffd")
	if l.more {
		text += fmt.Sprintf("\n(more than %d bytes)", maxOutput)
	}
	return text
}

func (h *Host) runner() Runner {
	if h.Runner == nil {
		return System{}
	}
	return h.Runner
}

// run runs a command and returns an error also for another exit code than 0, with the command's
// message.
func (h *Host) run(ctx context.Context, command Command) error {
	output, err := h.runner().Run(ctx, command)
	return failure(command, output, err)
}

// failure returns an error if a command has not ended with the exit code 0.
func failure(command Command, output Output, err error) error {
	_, notStarted := errors.AsType[*startError](err)
	switch line, last := strings.Join(command.Args, " "), strings.TrimSuffix(said(output), "."); {
	case notStarted:
		return fmt.Errorf("the command \"%s\" cannot be run: %w", line, err)
	case errors.Is(err, errTimeout):
		return fmt.Errorf("the command \"%s\" was ended, for it took longer than the \"timeout\" of the call%s", line, last)
	case err != nil:
		return fmt.Errorf("the command \"%s\" was ended, %w%s", line, err, last)
	case output.Code != 0:
		return fmt.Errorf("the command \"%s\" ended with exit code %d%s", line, output.Code, last)
	}
	return nil
}

// said returns the end of a command's message about its failure.
func said(output Output) string {
	const lines = 10
	text := strings.TrimSpace(output.Stderr)
	if text == "" {
		text = strings.TrimSpace(output.Stdout)
	}
	if text == "" {
		return "."
	}
	all := strings.Split(text, "\n")
	return ":\n" + strings.Join(all[max(0, len(all)-lines):], "\n")
}
