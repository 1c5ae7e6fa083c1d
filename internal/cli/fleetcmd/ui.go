// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/page"
	"github.com/cairnstacks/cairn/internal/page/reading"
	"github.com/cairnstacks/cairn/internal/safetext"
)

// uiOptions are those of the page.
type uiOptions struct {
	tree         treeOptions
	address      string
	open         bool
	allowApprove bool
}

// UICommand returns the command that serves the page.
func UICommand() *session.Command {
	var o uiOptions
	return &session.Command{
		Name:    "ui",
		Args:    "[PLAN...]",
		Summary: "Serves a page with stacks, plans, progress and history to the browser on this machine.",
		Long: `
The address that is printed has a token: only who has it sees the page, and no other machine reaches it. The page shows what
"cairn status" shows, the components of each stack, plans that wait for approval and those in the given files, sets of plans that
"cairn run plan -out=DIR" has saved in the given directories or in "plans" at the top of the repository, what goes on in a
deployment, its history, and since when attributes have their values. Sensitive values stay in this process. Somebody at this
terminal has to allow it before a plan is applied that was approved on the page.`,
		Example: "cairn ui -open\ncairn ui stack.plan\ncairn ui plans\ncairn ui -addr=127.0.0.1:8080 -tags=prod",
		MaxArgs: 16,
		Flags: func(f *session.Flags) {
			o = uiOptions{}
			treeFlags(f, &o.tree)
			f.StringVar(&o.address, "addr", "127.0.0.1:0", "listen at `HOST:PORT` of this machine alone; port 0 is a free one")
			f.BoolVar(&o.open, "open", false, "open a browser")
			f.BoolVar(&o.allowApprove, "allow-approve", false, "apply plans that are approved on the page without asking here")
		},
		Interruptible: true,
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			return serveUI(ctx, s, o, args)
		},
	}
}

func serveUI(ctx context.Context, s *session.Session, o uiOptions, plans []string) (int, error) {
	if _, err := openStacks(ctx, s, o.tree); err != nil { // before anybody opens a browser
		return 0, err
	}
	var files, sets []string
	for _, plan := range plans {
		absolute, err := filepath.Abs(plan)
		if err != nil {
			return 0, err
		}
		switch info, err := os.Stat(absolute); {
		case errors.Is(err, fs.ErrNotExist):
			return 0, failure.Error("Plan not found", "There is no file with a plan, and no directory with a set of plans, at %s.", plan)
		case err == nil && info.IsDir():
			sets = append(sets, absolute)
		default:
			files = append(files, absolute)
		}
	}
	approver := &pageApprover{session: s, ask: !o.allowApprove}
	ctx, stop := s.Interruptible(ctx, session.InFlight{Begun: approver.views.Begun, Lost: approver.views.Lost})
	defer stop()
	server, err := page.Listen(ctx, page.Options{
		Address: o.address, Log: s.Log, Approve: approver.approve,
		Repository: reading.New(reading.Options{
			List: func(ctx context.Context) (*fleet.Source, error) {
				quiet := session.New(session.Streams{}, s.Deps) // whose sources nobody else reads at the same time
				return openStacks(ctx, quiet, o.tree)
			},
			Stack: operation.Options{StopNow: s.StopNow}, PlanFiles: files, Sets: sets,
		}),
	})
	if errors.Is(err, page.ErrNotLoopback) {
		return 0, failure.Error("Address not of this machine", "The option -addr=%s: %s.", o.address, failure.Reason(err))
	}
	if err != nil {
		return 0, failure.Error("Address not available", "The page cannot be served at %s: %s.", o.address, failure.Reason(err))
	}
	s.Print("%s\n", server.URL())
	s.Note("Open this address in a browser on this machine. Ctrl-C ends the page.\n")
	if o.open {
		if err := openBrowser(ctx, server.URL()); err != nil {
			s.NoteLine("No browser can be opened: %s", failure.Reason(err))
		}
	}
	return cmdline.ExitOK, server.Serve(ctx)
}

// openBrowser opens an address in the usual browser.
func openBrowser(ctx context.Context, address string) error {
	command := []string{"xdg-open"}
	switch runtime.GOOS {
	case "darwin":
		command = []string{"open"}
	case "windows":
		command = []string{"rundll32", "url.dll,FileProtocolHandler"}
	}
	browser := exec.CommandContext(context.WithoutCancel(ctx), command[0], append(command[1:], address)...) //nolint:gosec // our own address
	if err := browser.Start(); err != nil {
		return err
	}
	return browser.Process.Release()
}

// pageApprover applies plans that somebody has approved on the page.
type pageApprover struct {
	session *session.Session
	ask     bool // also here
	views   stackcmd.PartViews
}

func (a *pageApprover) approve(ctx context.Context, approval page.Approval) (err error) {
	s, u := a.session, approval.Unit
	options := operation.Options{
		Env: env.Options{Dir: u.Dir, Environ: u.Environ, Deployment: u.Deployment}, Engine: s.EngineRequest(), StopNow: s.StopNow,
	}
	part := s.Part(u.Name, s.Streams, &options)
	view := a.views.Open(part, u.Name, "apply", stackcmd.ShownConcisely(false), nil)
	stack := operation.Open(options)
	view.Opened(stack)
	defer func() {
		part.Close()
		err = errors.Join(err, view.Close())
	}()
	plan, made, err := stack.ReadPlan(ctx, u.Waiting.File)
	if err != nil {
		return err
	}
	if made.Identity != approval.Plan {
		return failure.Error("Another plan", "The plan was replaced since the page was loaded. Look at it again.")
	}
	s.Print("\n")
	s.Line("Somebody has approved the plan of %s on the page.", u.Name)
	if err := view.Plan(plan); err != nil {
		return err
	}
	if a.ask {
		approval.Asking()
		answer, err := s.Ask(ctx, "Apply it? Only \"yes\" will be accepted to confirm: ", false)
		switch {
		case err != nil:
			return failure.Error("Approval needed", "Nobody has allowed it on the terminal of cairn ui: %s.", failure.Reason(err))
		case strings.TrimSpace(answer) != "yes":
			return failure.Error("Approval refused", "It was not allowed on the terminal of cairn ui.")
		}
	}
	approval.Applying()
	request := operation.Request{Version: session.Version(), Approval: operation.Approval{ApprovedBy: operation.ByPage}}
	diags := stack.ApplySaved(ctx, plan, made, request, view.Caller())
	if err := view.Report(diags); err != nil {
		return err
	}
	if diags.HasErrors() {
		return diags
	}
	s.NoteLine("The plan of %s was applied.", safetext.Name(u.Name))
	return nil
}
