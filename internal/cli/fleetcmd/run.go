// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/statescmd"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/nearest"
)

// runOptions say how a command is run in stacks.
type runOptions struct {
	tree            treeOptions
	reverse, dryRun bool
	parallelOption  cmdline.Count
	parallel        int
	keepGoing, fast bool
	allowDirty      bool
	report          cmdline.File
	command         []string
	program         string // path of the command's program, or relative to a stack's directory
}

// RunCommand returns the command that runs something in stacks, with those below it.
func RunCommand() *session.Command {
	var o runOptions
	return &session.Command{
		Name:    "run",
		Args:    "-- COMMAND [ARGUMENT...]",
		Summary: "Runs a command in stacks, in their order.",
		Long: `
The command is run in the directory of each selected stack, when all that comes before it is done.
If it fails in one, the stacks after that one are not started, and all others are. With -changed,
nothing may be uncommitted.

An interrupt is passed on to the running commands, and nothing more is started; a second one ends them at once.`,
		Example: "cairn run -- terraform init\ncairn run -failed=report.json -- terraform init\n" +
			"cairn run -changed -parallel=4 -- terraform plan -out=plan\ncairn run -reverse -tags=dev -- terraform destroy",
		MaxArgs:  1 << 30,
		PassesOn: true,
		Flags: func(f *session.Flags) {
			o = runOptions{}
			treeFlags(f, &o.tree)
			pluginFlags(f, &o.tree)
			f.BoolVar(&o.reverse, "reverse", false, "in the reverse order")
			f.Var(&o.parallelOption, "parallel",
				"run in `N` stacks at the same time (default: as a workspace file says, or 1); the output of each is shown when it has ended")
			f.BoolVar(&o.keepGoing, "continue-on-error", false, "after a failure also start the stacks after the failed one")
			f.BoolVar(&o.fast, "fail-fast", false, "after a failure start nothing more")
			f.BoolVar(&o.dryRun, "dry-run", false, "only show which commands would be run where")
			f.BoolVar(&o.allowDirty, "allow-dirty", false, "with -changed: also if files are not committed")
			f.Var(&o.report, "report", "write the results to `FILE`: JSON, or JUnit if its name ends in .xml")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			o.command = args
			if o.tree.plugins.dir != "" {
				return runPlugins(ctx, s, o)
			}
			if err := o.check(); err != nil {
				return 0, err
			}
			src, err := openStacks(ctx, s, o.tree)
			if err != nil {
				return 0, err
			}
			return runStacks(ctx, s, src, o)
		},
		Commands: []*session.Command{
			runPlanCommand(), runApplyCommand(), runDestroyCommand(), runDriftCommand(), statescmd.RunCommand(),
			runListCommand(), runShowCommand(), runAttachCommand(), runApproveCommand(), runCancelCommand(), runRemoveCommand(),
		},
	}
}

func (o *runOptions) check() error {
	if err := o.tree.plugins.alone(); err != nil {
		return err
	}
	if err := o.checkFlags(); err != nil {
		return err
	}
	if len(o.command) == 0 {
		return failure.Error("Missing argument", "The command needs: cairn run -- COMMAND [ARGUMENT...]. Run \"cairn run -h\" for an example.")
	}
	o.program = o.command[0]
	if strings.ContainsRune(o.program, filepath.Separator) {
		return nil
	}
	program, err := exec.LookPath(o.program)
	if err != nil {
		below := []string{"plan", "apply", "destroy", "drift", "states", "list", "show", "attach", "approve", "cancel", "remove"}
		meant := nearest.DidYouMeanBelow("cairn run ", o.program, below)
		if meant == "" {
			meant = " The commands of cairn itself below \"cairn run\" are " + strings.Join(below, ", ") + "."
		}
		return failure.Error("Command not found", "There is no program %q on PATH.%s Nothing was run.", o.program, meant)
	}
	o.program = program
	return nil
}

func (o *runOptions) checkFlags() error {
	o.parallel = max(int(o.parallelOption), 1)
	if o.keepGoing && o.fast {
		return failure.Error("Conflicting options", "Give only one of -continue-on-error and -fail-fast.")
	}
	return nil
}

// refuseDirty refuses to act on changes that only this working copy has, except for those that do
// not matter; nil stands for none.
func refuseDirty(ctx context.Context, repository *gitdiff.Repository, except func(gitdiff.File) bool) error {
	dirty, err := repository.Dirty(ctx)
	if except != nil {
		dirty = slices.DeleteFunc(dirty, except)
	}
	if err != nil || len(dirty) == 0 {
		return err
	}
	const most = 5
	var names []string
	for _, file := range dirty[:min(len(dirty), most)] {
		names = append(names, file.Path)
	}
	if len(dirty) > most {
		names = append(names, "…")
	}
	return failure.Error("Uncommitted files", "There are files that are not committed: %s. Nothing was run. "+
		"Commit them, let git ignore them, or give -allow-dirty to run on them as they are.", strings.Join(names, ", "))
}

// commandLine shows a command as a shell would take it.
func commandLine(words []string) string {
	quoted := make([]string, len(words))
	for i, word := range words {
		quoted[i] = word
		if word == "" || strings.ContainsFunc(word, func(r rune) bool { return !strings.ContainsRune(plainLetters, r) }) {
			quoted[i] = cmdline.ShellQuote(word)
		}
	}
	return strings.Join(quoted, " ")
}

const plainLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_=./:,+@%"
