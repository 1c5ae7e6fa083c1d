// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package provision

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"strconv"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/native/provision/remote"
)

// Where scripts are put on other machines.
const (
	scriptPath        = "/tmp/terraform_%RAND%.sh"
	scriptPathWindows = "C:/windows/temp/terraform_%RAND%.cmd"
)

// script is a script for another machine: lines, or a file.
type script struct {
	name  string // in messages
	lines string
	file  string // "" for lines
}

// remoteExec runs scripts on another machine.
func (r *Runner) remoteExec(ctx context.Context, w *work) hcl.Diagnostics {
	scripts, problem := r.scripts(w.args)
	if problem != "" {
		return w.failed(problem)
	}
	c, diags := r.connection(ctx, w)
	if diags.HasErrors() {
		return diags
	}
	return append(diags, c.use(ctx, w, func(m *remote.Machine) hcl.Diagnostics {
		for _, s := range scripts {
			if err := c.run(ctx, w, m, s); err != nil {
				return w.scriptFailed(ctx, c, s, err)
			}
		}
		return nil
	})...)
}

// scripts returns the scripts to run, or the problem of the arguments.
func (r *Runner) scripts(args arguments) ([]script, string) {
	var scripts []script
	given := 0
	if list := args.GetAttr("inline"); !list.IsNull() {
		given++
		lines := strings.Join(texts(list), "\n") + "\n"
		if !strings.HasPrefix(lines, "#!") {
			lines = "#!/bin/sh\n" + lines
		}
		scripts = append(scripts, script{name: "inline", lines: lines})
	}
	if file := args.GetAttr("script"); !file.IsNull() {
		given++
		scripts = append(scripts, script{name: file.AsString(), file: r.fileOf(file.AsString())})
	}
	if list := args.GetAttr("scripts"); !list.IsNull() {
		given++
		for _, file := range texts(list) {
			scripts = append(scripts, script{name: file, file: r.fileOf(file)})
		}
	}
	for _, name := range []string{"inline", "scripts"} {
		if list := args.GetAttr(name); !list.IsNull() && len(texts(list)) < list.LengthInt() {
			return nil, "An element of the argument " + name + " is null."
		}
	}
	if given != 1 {
		return nil, "One of the arguments inline, script and scripts is to be set, and only one."
	}
	return scripts, ""
}

func (w *work) scriptFailed(ctx context.Context, c *connection, s script, err error) hcl.Diagnostics {
	if _, ended := errors.AsType[*remote.ExitError](err); !ended && ctx.Err() == nil {
		return w.commandFailed(c.withoutSecrets(fmt.Sprintf("The script %q could not be run on %s: %s.", s.name, c.name(), err)))
	}
	return w.commandFailed(c.withoutSecrets(fmt.Sprintf("The script %q on %s has failed: %s.", s.name, c.name(), err)))
}

// run copies a script to the machine, runs it and removes it.
func (c *connection) run(ctx context.Context, w *work, m *remote.Machine, s script) error {
	f := remote.File{Size: int64(len(s.lines)), Content: strings.NewReader(s.lines)}
	if s.file != "" {
		opened, err := remote.Open(s.file, s.name)
		if err != nil {
			return err
		}
		defer opened.Close()
		f = opened.File
	}
	target := c.scriptTarget()
	if err := c.copyFile(ctx, m, f, target, 0o700); err != nil {
		return err
	}
	command, remove := "chmod 0700 "+shellWord(target)+" && "+shellWord(target), "rm -f "+shellWord(target)
	if c.windows {
		command, remove = cmdWord(target), "del "+cmdWord(strings.ReplaceAll(target, "/", `\`))
	}
	err := m.Run(ctx, command, w.out)
	if removing := m.Run(context.WithoutCancel(ctx), remove, &output{req: w.ProvisionRequest, hidden: true}); removing != nil && err == nil {
		w.say(c.withoutSecrets("The script " + target + " could not be removed: " + removing.Error()))
	}
	return err
}

// scriptTarget returns the path of a script on the machine.
func (c *connection) scriptTarget() string {
	target := c.text("script_path")
	switch {
	case target != "":
	case c.windows:
		target = scriptPathWindows
	default:
		target = scriptPath
	}
	target = strings.ReplaceAll(target, "%RAND%", strconv.FormatUint(rand.Uint64(), 10)) //nolint:gosec // the generator cannot be predicted
	if c.windows {
		return strings.ReplaceAll(target, `\`, "/")
	}
	if !strings.Contains(target, "/") { // which the shell would look for in its path
		return "./" + target
	}
	return path.Clean(target)
}
