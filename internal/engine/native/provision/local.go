// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/telemetry"
)

// command is the command of a local-exec provisioner.
type command struct {
	process.Command
	text  string
	quiet bool // the command is not shown
}

// localExec runs a command on this machine.
func (r *Runner) localExec(ctx context.Context, w *work) hcl.Diagnostics {
	c := &command{text: w.args.text("command")}
	if c.text == "" {
		return w.failed("The command must not be empty.")
	}
	if quiet := w.args.GetAttr("quiet"); !quiet.IsNull() {
		c.quiet = quiet.True()
	}
	argv := append(shell(w.args.GetAttr("interpreter")), c.text)
	c.Program, c.Args, c.Dir = argv[0], argv[1:], r.path(w.args.text("working_dir"))
	c.Env = withVariables(telemetry.Environ(ctx, r.Environ), w.args.GetAttr("environment"))
	return c.run(w)
}

// shell returns the program that a command is given to, with its arguments.
func shell(interpreter cty.Value) []string {
	var argv []string
	if !interpreter.IsNull() {
		for _, word := range interpreter.AsValueSlice() {
			if !word.IsNull() {
				argv = append(argv, word.AsString())
			}
		}
	}
	if len(argv) == 0 {
		return slices.Clone(systemShell)
	}
	return argv
}

// withVariables returns the environment with further variables, without those that are null.
func withVariables(environ []string, variables cty.Value) []string {
	all := slices.Clone(environ)
	if variables.IsNull() {
		return all
	}
	for name, value := range variables.AsValueMap() {
		if !value.IsNull() {
			all = append(all, name+"="+value.AsString())
		}
	}
	return all
}

// run runs the command to its end, or until the work is to end.
func (c *command) run(w *work) hcl.Diagnostics {
	if !c.quiet {
		w.say(fmt.Sprintf("Executing: %q", append([]string{c.Program}, c.Args...)))
	}
	c.Stdout, c.Stderr = w.out, w.out

	var running process.Set
	var stopping sync.WaitGroup
	ended := make(chan struct{})
	stopping.Go(func() {
		select {
		case <-w.Stop:
			running.Stop(os.Interrupt, false)
		case <-ended:
		}
	})
	err := running.Run(c.Command)
	close(ended)
	stopping.Wait()
	switch {
	case err == nil:
		return nil
	case c.quiet && !w.args.hidden:
		return w.failed("The command has failed: " + err.Error() + ". Command and output are not shown, since the provisioner is quiet.")
	default:
		return w.commandFailed(fmt.Sprintf("The command %q has failed: %s.", c.text, err))
	}
}
