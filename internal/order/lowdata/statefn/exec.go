// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"time"
)

// Runner runs commands.
type Runner interface {
	// Run runs a command to its end, or to that of ctx. An error says that it could not be started, or was ended; that it has
	// another exit code than 0 is none.
	Run(ctx context.Context, command Command) (Output, error)

	// Has tells whether there is a program.
	Has(program string) bool
}

// Command is a program to be run.
type Command struct {
	Args  []string // the program first
	Dir   string
	Env   []string // added to that of this process
	Stdin []byte
}

// Output is what a command has left.
type Output struct {
	Code           int
	Stdout, Stderr string
}

// maxOutput is how much is kept of what a command writes: bytes of each stream.
const maxOutput = 1 << 20

// grace is how long a command may take to end once it is asked to.
const grace = 5 * time.Second

// System runs the commands of this machine.
type System struct{}

var _ Runner = System{}

// Has implements [Runner].
func (System) Has(program string) bool {
	_, err := exec.LookPath(program)
	return err == nil
}

// Run implements [Runner]. When ctx ends, the command is asked to end; after a while it is made to, with all it has started.
func (System) Run(ctx context.Context, command Command) (Output, error) {
	var stdout, stderr limited
	cmd := exec.CommandContext(ctx, command.Args[0], command.Args[1:]...)
	cmd.Dir, cmd.Env = command.Dir, append(os.Environ(), command.Env...)
	cmd.Stdin = bytes.NewReader(command.Stdin)
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = grace
	ownGroup(cmd)
	cmd.Cancel = func() error { return endGroup(cmd, errors.Is(context.Cause(ctx), errTimeout)) }
	err := cmd.Run()
	if ctx.Err() != nil && cmd.Process != nil {
		killGroup(cmd)
	}
	output := Output{Stdout: stdout.String(), Stderr: stderr.String()}
	if cmd.ProcessState != nil {
		output.Code = cmd.ProcessState.ExitCode()
	}
	switch exit := (*exec.ExitError)(nil); {
	case ctx.Err() != nil:
		return output, context.Cause(ctx)
	case errors.Is(err, exec.ErrWaitDelay):
		return output, nil // it has ended; what it left behind holds its output open
	case errors.As(err, &exit) && output.Code >= 0:
		return output, nil
	case err != nil:
		return output, err
	}
	return output, nil
}

var errTimeout = errors.New("it took too long")

// limited keeps the start of what is written.
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

// run runs a command and returns an error also for another exit code than 0, with what the command says.
func (h *Host) run(ctx context.Context, command Command) error {
	output, err := h.runner().Run(ctx, command)
	if err != nil {
		return fmt.Errorf("%s: %w", command.Args[0], err)
	}
	if output.Code != 0 {
		return fmt.Errorf("%s ended with exit code %d%s", strings.Join(command.Args, " "), output.Code, said(output))
	}
	return nil
}

// said returns the end of what a command has written about its failure.
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
