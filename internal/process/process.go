// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package process runs commands that can be interrupted and ended together with all that they have
// started.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"time"
)

// ErrStopped is returned for commands that were not started, because the set was stopped before.
var ErrStopped = errors.New("not started: interrupted before")

// afterEnd is how long output is read of processes that a command has left running when it has
// ended itself.
const afterEnd = 2 * time.Second

// Command is a program to be run.
type Command struct {
	Program string   // path, or a path relative to Dir
	Args    []string // without the name of the program
	Dir     string
	Env     []string // nil stands for the environment of this process

	// Timeout is how long the command may run before it is ended, with all that it has started. 0
	// stands for any time.
	Timeout time.Duration

	Stdin          *os.File // nil for none
	Stdout, Stderr io.Writer

	// Foreground leaves the command in the process group of this program, so that it can read from the
	// terminal. It gets the interrupts of the terminal by itself then, and only its own process is
	// ended by [Set.Kill].
	Foreground bool
}

// Set is the commands that run. The zero value is empty. It is safe for concurrent use.
type Set struct {
	mu struct {
		sync.Mutex
		running map[*exec.Cmd]bool // whether it is in the foreground
		guests  map[Guest]bool
		stopped bool
	}
}

// Guest is a process that is started and followed elsewhere. Its follower asks it to stop, too.
type Guest interface {
	// Kill ends it, with all that it has started.
	Kill() error
}

// Run runs a command to its end.
//
// Errors:
//   - [ErrStopped]
//   - [*TimeoutError] if it was ended because it took too long
//   - [*ExitError] if it ended with another exit code than 0, or by a signal
//   - those of starting it
func (s *Set) Run(c Command) error {
	cmd := exec.Command(c.Program, c.Args...) //nolint:noctx // the set ends it, with all that it has started
	cmd.Dir, cmd.Env = c.Dir, c.Env
	cmd.Stdout, cmd.Stderr = c.Stdout, c.Stderr
	if c.Stdin != nil {
		cmd.Stdin = c.Stdin
	}
	cmd.WaitDelay = afterEnd
	if !c.Foreground {
		inOwnGroup(cmd)
	}
	if err := s.start(cmd, c.Foreground); err != nil {
		return err
	}
	timedOut := s.endAfter(c.Timeout, cmd)
	err := cmd.Wait()
	s.mu.Lock()
	delete(s.mu.running, cmd)
	s.mu.Unlock()
	if timedOut() {
		return &TimeoutError{c.Timeout}
	}
	return asExit(err)
}

// endAfter ends a command that runs longer. The result stops that, and reports whether it has come
// to it.
func (s *Set) endAfter(timeout time.Duration, cmd *exec.Cmd) (stop func() bool) {
	if timeout <= 0 {
		return func() bool { return false }
	}
	ended := false
	timer := time.AfterFunc(timeout, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if foreground, running := s.mu.running[cmd]; running {
			ended = true
			send(cmd, os.Kill, foreground)
		}
	})
	return func() bool {
		timer.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		return ended
	}
}

func (s *Set) start(cmd *exec.Cmd, foreground bool) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopped {
		return ErrStopped
	}
	if err := cmd.Start(); err != nil {
		return StartError(cmd, err)
	}
	if s.mu.running == nil {
		s.mu.running = map[*exec.Cmd]bool{}
	}
	s.mu.running[cmd] = foreground
	return nil
}

// Stopped returns [ErrStopped] if a context has ended, so that nothing is to be begun any more.
func Stopped(ctx context.Context) error {
	if ctx.Err() != nil {
		return ErrStopped
	}
	return nil
}

// Enter starts a process that is followed elsewhere, and has it ended by [Set.Kill] until leave is
// called. [Set.Stop] starts none either, and leaves it to the follower of the process to ask it to
// stop.
//
// Errors: [ErrStopped], and those of start.
func (s *Set) Enter(start func() (Guest, error)) (leave func(), err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.mu.stopped {
		return nil, ErrStopped
	}
	guest, err := start()
	if err != nil {
		return nil, err
	}
	if s.mu.guests == nil {
		s.mu.guests = map[Guest]bool{}
	}
	s.mu.guests[guest] = true
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.mu.guests, guest)
	}, nil
}

// StartError returns the reason why a command could not be started. Of the system's errors, one and
// the same is of programs, of their interpreters and of directories.
func StartError(cmd *exec.Cmd, err error) error {
	if info, statErr := os.Stat(cmd.Dir); cmd.Dir != "" && (statErr != nil || !info.IsDir()) {
		return fmt.Errorf("its directory %s is not there", cmd.Dir)
	}
	program := cmd.Path
	if !filepath.IsAbs(program) {
		program = filepath.Join(cmd.Dir, program)
	}
	if _, statErr := os.Stat(program); statErr == nil && errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: its interpreter is not there: %w", cmd.Path, unwrapPath(err))
	}
	return fmt.Errorf("%s: %w", cmd.Path, unwrapPath(err))
}

func unwrapPath(err error) error {
	if pathError, ok := errors.AsType[*fs.PathError](err); ok {
		return pathError.Err
	}
	return err
}

// Busy reports whether anything runs.
func (s *Set) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.mu.running)+len(s.mu.guests) > 0
}

// Used reports whether anything was ever started.
func (s *Set) Used() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.running != nil || s.mu.guests != nil
}

// Stop starts nothing more and passes a signal on to all that runs. FromTerminal says that commands
// in the foreground have the signal already.
func (s *Set) Stop(signal os.Signal, fromTerminal bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.stopped = true
	for cmd, foreground := range s.mu.running {
		if !foreground || !fromTerminal {
			send(cmd, signal, foreground)
		}
	}
}

// Kill starts nothing more and ends all that runs.
func (s *Set) Kill() {
	s.Stop(os.Kill, false)
	s.mu.Lock()
	defer s.mu.Unlock()
	for guest := range s.mu.guests {
		_ = guest.Kill() //nolint:errcheck // it may have ended already
	}
}

// ExitError says how a command ended.
type ExitError struct {
	Code int // -1 if it was ended by a signal
	how  string
}

// NewExitError returns the end of a process as an error: an exit code, or if that is negative the
// description of the system, such as "signal: killed".
func NewExitError(code int, how string) *ExitError { return &ExitError{code, how} }

// How says how the program ended that was ended by a signal.
func (e *ExitError) How() string { return e.how }

func (e *ExitError) Error() string {
	if e.Code >= 0 {
		return fmt.Sprintf("exit code %d", e.Code)
	}
	return "ended by " + e.how
}

// TimeoutError says that a command was ended because it took too long.
type TimeoutError struct{ Timeout time.Duration }

func (e *TimeoutError) Error() string { return fmt.Sprintf("ended after its timeout of %s", e.Timeout) }

func asExit(err error) error {
	if errors.Is(err, exec.ErrWaitDelay) {
		return nil // the command has ended well; its remains are its own business
	}
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	return &ExitError{exit.ExitCode(), exit.String()}
}
