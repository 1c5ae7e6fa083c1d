// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package servercmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strconv"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/registry"
	"github.com/cairnstacks/cairn/internal/rpcapi"
	"github.com/cairnstacks/cairn/internal/rpcapi/stacksplugin"
)

// StacksCommand returns the command that runs the plugin of terraform's stacks command.
func StacksCommand() *session.Command {
	var cacheDir string
	return &session.Command{
		Name:    "stacks",
		Args:    "[ARGUMENT...]",
		Summary: "Runs the plugin of terraform's stacks command, with cairn as its runtime.",
		Long: `
The plugin is the program tfstacks, which terraform fetches the first time that "terraform stacks"
is run; TF_STACKS_PLUGIN_DEV_OVERRIDE names another one. It gets the arguments as they are. It works
on stacks with cairn; for the platform it needs a token, from the CLI configuration, or in
TF_STACKS_TOKEN for the host in TF_STACKS_HOSTNAME.

The exit code is that of the plugin; 98 if it could not be started, 99 if it is not such a plugin.`,
		Example:       "cairn stacks validate\ncairn stacks -plugin-cache-dir=plugins list -json",
		MaxArgs:       1 << 30,
		PassesOn:      true,
		Interruptible: true,
		Foreign:       true,
		Flags: func(f *session.Flags) {
			f.StringVar(&cacheDir, "plugin-cache-dir", "", "the `DIRECTORY` in which terraform keeps the plugin")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			ctx, stop := s.Interruptible(ctx, session.InFlight{
				Begun: func() bool { return true }, // nobody knows of the plugin
				Lost:  func() string { return "The plugin is asked to end." },
			})
			defer stop()
			return runPlugin(ctx, s, cacheDir, args)
		},
	}
}

func runPlugin(ctx context.Context, s *session.Session, cacheDir string, args []string) (int, error) {
	env := os.Environ()
	program, err := stacksplugin.Find(env, cacheDir)
	if err != nil {
		remedy := "Check the path in " + stacksplugin.OverrideVariable + "."
		if errors.Is(err, fs.ErrNotExist) {
			remedy = "Run \"terraform stacks -help\" once, which fetches it, or set " + stacksplugin.OverrideVariable + " to its path."
		}
		s.Fail(failure.Error("Plugin not found", "The plugin for stacks cannot be run: %s. %s", failure.Reason(err), remedy))
		return stacksplugin.ExitNotStarted, nil
	}
	platform, err := stacksplugin.Platform(ctx, env, registry.New(nil, env))
	if err != nil {
		s.Fail(failure.Error("Unknown platform", "It is not known which platform the plugin works with: %s.", err))
		return stacksplugin.ExitNotStarted, nil
	}
	if platform["terraform-binary-path"], err = os.Executable(); err != nil {
		return 0, err
	}
	platform["terminal-width"] = strconv.Itoa(session.TerminalSize(s.Streams.Out).Width)
	server := rpcapi.New(rpcapi.Options{Version: session.Version(), Environ: env, Log: s.Log, Stderr: s.Streams.Err, NoHandshake: true})
	defer server.Close() //nolint:errcheck // its files on the disk are temporary
	plugin := &stacksplugin.Plugin{
		Program: program, Environ: env, Args: args, Metadata: platform, Server: server, Stdout: s.Streams.Out, Stderr: s.Streams.Err, Log: s.Log,
	}
	code, err := plugin.Run(ctx)
	if err != nil {
		s.Fail(failure.Error("Failed plugin", "The plugin for stacks has not done its work: %s.", err))
	}
	return code, nil
}
