// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/native/applying"
	"github.com/cairnstacks/cairn/internal/engine/native/body"
	"github.com/cairnstacks/cairn/internal/engine/native/validate"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// Runner runs provisioners.
type Runner struct {
	// Dir is the directory that relative paths start from, and that commands run in unless they name another one.
	Dir string

	// Environ is the environment of commands.
	Environ []string
}

var _ applying.Provisioners = (*Runner)(nil)

var localExec = sync.OnceValue(func() *body.Decoder { return body.NewDecoder(validate.Provisioners["local-exec"]) })

// Provision implements [applying.Provisioners], for local-exec.
func (r *Runner) Provision(ctx context.Context, req *applying.ProvisionRequest) hcl.Diagnostics {
	scope, ok := req.Module.Scope(ctx, req.Config.Refs, req.Place)
	if !ok {
		return failed(req, "It was not run, because something that its arguments refer to is not there.")
	}
	args, diags := localExec().Decode(req.Config.Body, scope)
	if diags.HasErrors() {
		return diags
	}
	command, problem := r.command(args)
	if problem != "" {
		return append(diags, failed(req, problem)...)
	}
	return append(diags, command.run(req)...)
}

func failed(req *applying.ProvisionRequest, detail string) hcl.Diagnostics {
	return hcl.Diagnostics{{
		Severity: hcl.DiagError, Summary: "Failed provisioner", Detail: detail, Subject: req.Config.Range.Ptr(),
		Extra: &engine.DiagnosticData{Resource: req.Place.Resource},
	}}
}

// command is what a local-exec provisioner runs.
type command struct {
	process.Command
	text   string
	hidden bool // nothing of it is shown
	quiet  bool // what is run is not shown
}

// command returns what the arguments ask for, or what is wrong with them.
func (r *Runner) command(args cty.Value) (*command, string) {
	c := &command{hidden: marks.Contains(args, marks.Sensitive) || marks.Contains(args, marks.Ephemeral)}
	bare, _ := args.UnmarkDeep()
	if !bare.IsWhollyKnown() {
		return nil, "An argument depends on a value that is not known."
	}
	text := func(name string) string {
		if value := bare.GetAttr(name); !value.IsNull() {
			return value.AsString()
		}
		return ""
	}
	if c.text = text("command"); c.text == "" {
		return nil, "The command must not be empty."
	}
	if quiet := bare.GetAttr("quiet"); !quiet.IsNull() {
		c.quiet = quiet.True()
	}
	argv := append(shell(bare.GetAttr("interpreter")), c.text)
	c.Program, c.Args = argv[0], argv[1:]
	if c.Dir = text("working_dir"); !filepath.IsAbs(c.Dir) {
		c.Dir = filepath.Join(r.Dir, c.Dir)
	}
	c.Env = withVariables(r.Environ, bare.GetAttr("environment"))
	return c, ""
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
func (c *command) run(req *applying.ProvisionRequest) hcl.Diagnostics {
	out := &output{req: req, hidden: c.hidden}
	observe := func(kind engine.EventType) {
		req.Observe.Observe(engine.Event{Type: kind, Resource: req.Place.Resource})
	}
	observe(engine.ProvisionStart)
	switch {
	case c.hidden:
		out.say("(output hidden, because of a sensitive or ephemeral argument)")
	case !c.quiet:
		out.say(fmt.Sprintf("Executing: %q", append([]string{c.Program}, c.Args...)))
	}
	c.Stdout, c.Stderr = out, out

	var running process.Set
	var stopping sync.WaitGroup
	ended := make(chan struct{})
	stopping.Go(func() {
		select {
		case <-req.Stop:
			running.Stop(os.Interrupt, false)
		case <-ended:
		}
	})
	err := running.Run(c.Command)
	close(ended)
	stopping.Wait()
	out.end()
	if err == nil {
		observe(engine.ProvisionComplete)
		return nil
	}
	observe(engine.ProvisionErrored)
	if c.hidden || c.quiet {
		return failed(req, "The command has failed: "+err.Error()+". Command and output are not shown, since the provisioner has sensitive or ephemeral arguments, or is quiet.")
	}
	return failed(req, fmt.Sprintf("The command %q has failed: %s. It has written:\n\n%s", c.text, err, strings.TrimSpace(out.tail())))
}
