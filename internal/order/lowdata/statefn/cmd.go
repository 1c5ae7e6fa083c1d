// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statefn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/cairnstacks/cairn/internal/order/lowdata"
)

func commandFunctions() map[string]*function {
	args := map[string]kind{
		"cwd": text, "env": environment, "timeout": seconds, "shell": text, "stdin": text, "hide_output": boolean,
	}
	run := func(ctx context.Context, c *call) lowdata.Outcome { return c.command(ctx) }
	return map[string]*function{
		"cmd.run": {args: args, check: checkCommand, call: run},
		"cmd.wait": {
			args: args, check: checkCommand, react: run,
			call: func(context.Context, *call) lowdata.Outcome {
				return lowdata.Outcome{Comment: "Runs only if something changes that it watches."}
			},
		},
	}
}

// conditions are arguments of all functions: whether there is anything to do.
var conditions = map[string]kind{"unless": texts, "onlyif": texts, "creates": texts}

func checkCommand(c *call) error {
	if cwd := c.text("cwd"); c.given("cwd") && !filepath.IsAbs(cwd) {
		return fmt.Errorf("the directory %q is not absolute", cwd)
	}
	return nil
}

func (c *call) shell() string {
	if shell := c.text("shell"); shell != "" {
		return shell
	}
	return "/bin/sh"
}

// limit returns ctx with the timeout of a call.
func (c *call) limit(ctx context.Context) (context.Context, context.CancelFunc) {
	number, ok := asNumber(c.Args.Get("timeout"))
	if !ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, time.Duration(number*float64(time.Second)), errTimeout)
}

func (c *call) command(ctx context.Context) lowdata.Outcome {
	changes := &lowdata.Map{}
	if c.Test {
		changes.Set("command", c.Name)
		return lowdata.Outcome{Changed: true, Changes: changes, Comment: "The command would be run."}
	}
	limited, cancel := c.limit(ctx)
	defer cancel()
	output, err := c.host.runner().Run(limited, Command{
		Args: []string{c.shell(), "-c", c.Name}, Dir: c.text("cwd"), Env: c.environment(), Stdin: []byte(c.text("stdin")),
	})
	changes.Set("retcode", int64(output.Code))
	if c.boolean("hide_output", false) {
		output.Stdout, output.Stderr = "", ""
	}
	changes.Set("stdout", output.Stdout)
	changes.Set("stderr", output.Stderr)
	switch {
	case errors.Is(err, errTimeout):
		return lowdata.Outcome{Failed: true, Changes: changes, Comment: fmt.Sprintf("The command was ended: after %s seconds it was still running.", c.text("timeout"))}
	case err != nil:
		return lowdata.Outcome{Failed: true, Changes: changes, Comment: fmt.Sprintf("The command was ended or could not be run: %s.", err)}
	case output.Code != 0:
		return lowdata.Outcome{Failed: true, Changes: changes, Comment: fmt.Sprintf("The command ended with exit code %d%s", output.Code, said(output))}
	}
	return lowdata.Outcome{Changed: true, Changes: changes, Comment: "The command was run."}
}

// needed checks the conditions of a call and returns why it is not needed, "" if it is.
func (c *call) needed(ctx context.Context) (string, error) {
	if files := c.texts("creates"); len(files) > 0 {
		there, err := allExist(files)
		if err != nil || there {
			return "All that it creates is there.", err
		}
	}
	for _, command := range c.texts("onlyif") {
		holds, err := c.holds(ctx, command)
		if err != nil || !holds {
			return "The condition \"onlyif\" does not hold.", err
		}
	}
	unless := c.texts("unless")
	for _, command := range unless {
		holds, err := c.holds(ctx, command)
		if err != nil || !holds {
			return "", err
		}
	}
	if len(unless) > 0 {
		return "The condition \"unless\" holds.", nil
	}
	return "", nil
}

func allExist(files []string) (bool, error) {
	for _, file := range files {
		_, err := os.Lstat(file)
		if errors.Is(err, fs.ErrNotExist) {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// holds tells whether a command succeeds.
func (c *call) holds(ctx context.Context, command string) (bool, error) {
	limited, cancel := c.limit(ctx)
	defer cancel()
	output, err := c.host.runner().Run(limited, Command{Args: []string{c.shell(), "-c", command}, Dir: c.text("cwd"), Env: c.environment()})
	if err != nil {
		return false, fmt.Errorf("the condition %q cannot be checked: %w", command, err)
	}
	return output.Code == 0, nil
}
