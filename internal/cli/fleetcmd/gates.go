// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/reportfile"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/cli/stackcmd"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/planset"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/once"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/settings"
	"github.com/cairnstacks/cairn/internal/show"
	"github.com/cairnstacks/cairn/internal/show/timeline"
	"github.com/cairnstacks/cairn/internal/views/markdown"
)

// gateOptions choose the units that go through the gates, and how they do.
type gateOptions struct {
	tree           treeOptions
	dryRun         bool
	parallelOption cmdline.Count
	allowDirty     bool
	autoApprove    bool
	ask            bool
	acceptRecovery bool
	maxRounds      cmdline.Count
	report         cmdline.File
	markdown       stackcmd.MarkdownFlags
	inMarkdown     markdown.Options // that these ask for
	concise        bool
	detailed       bool     // exit with 2 if there are changes
	out            string   // directory of the set of plans that is saved
	set            string   // that of the one that is applied
	kept           *keptSet // which that is a copy of; nil for none
	sameTree       bool     // only where git has the files that it was made from
	attached       *team    // of a run that another process has begun; nil for a new run
}

func runPlanCommand() *session.Command {
	return gateCommand(rollout.PlanOnly, "Plans stacks, those of a workspace file all together.", `
The stacks of cairn.workspace.hcl are planned in their order. Values from another stack are unknown
where they are known only after its apply. Those of .terrateam/config.yml are planned as far as
their gates are open: when all that they are to be planned after has nothing to apply. Nothing is
applied and no task is run, but a workspace that there is not yet is made.`,
		"cairn run plan\ncairn run plan -out=plans\ncairn run plan -changed -base=origin/main -parallel=4")
}

func runApplyCommand() *session.Command {
	return gateCommand(rollout.ApplyAll, "Plans and applies stacks, each as soon as its gates open.", `
The gates are those of cairn.workspace.hcl, with its tasks, or .terrateam/config.yml. Before a plan
with changes is applied you are asked, unless the stack has auto_apply. After a failure nothing more
is started; stacks that wait for one that was not approved stay as they are.

With DIR, which "run plan -out=DIR" has saved, exactly its plans are applied, without being asked.
If one of them does not fit any more, nothing is done. A stack that fails leaves those after it as
they are; when the cause is repaired, the same command goes on with the rest. With run:ID, the plans
are those that "run plan -out=run:" has kept with a run on workers.`,
		"cairn run apply -changed\ncairn run apply -query='prod and not database' -auto-approve\n"+
			"cairn run apply -failed=report.json -report=report.json\ncairn run apply plans")
}

func runDestroyCommand() *session.Command {
	return gateCommand(rollout.Destroy, "Destroys the objects of stacks, in the reverse order of their gates.", `
Everything is asked for, also where a stack has auto_apply, unless -auto-approve is given. No task is run.

With -gone, only stacks, deployments, root modules and workspaces that existed at the commit -base
and do not any more are destroyed, with their configuration from git. Those that were renamed, have
no state, or are still needed are named and left alone.`,
		"cairn run destroy -query=stack_name:dev\ncairn run destroy -gone -base=HEAD~1")
}

func gateCommand(mode rollout.Mode, summary, long, example string) *session.Command {
	var o gateOptions
	command := &session.Command{
		Name: string(mode), Summary: summary, Long: long, Example: example,
		Flags: func(f *session.Flags) {
			o = gateOptions{}
			treeFlags(f, &o.tree)
			f.Var(&o.parallelOption, "parallel",
				"work on `N` directories at the same time (default: as a workspace file says, or 1); the output of each is shown when it has ended")
			f.BoolVar(&o.dryRun, "dry-run", false, "only show which stacks belong to the change, why, and in which steps it is done")
			if mode == rollout.PlanOnly {
				f.BoolVar(&o.detailed, "detailed-exitcode", false, "exit with 2 when there are changes, 0 when there are none")
				f.StringVar(&o.out, "out", "",
					"save all plans in `DIR`, for \"cairn run apply DIR\"; they hold secrets. On workers, run: keeps them with the run")
			} else {
				f.BoolVar(&o.autoApprove, "auto-approve", false, "do not ask before applying")
				f.BoolVar(&o.ask, "ask", false, "ask also where a stack has auto_apply")
				if mode == rollout.ApplyAll {
					f.BoolVar(&o.sameTree, "same-tree", false,
						"of DIR: only where the commit that is checked out has all files as the one that was planned, as after a merge")
				}
				o.maxRounds = operation.DefaultRounds
				f.Var(&o.maxRounds, "max-rounds",
					fmt.Sprintf("plan and apply a stack at most `N` times while changes are deferred (default: %d)", operation.DefaultRounds))
			}
			stackcmd.ConciseFlag(f, &o.concise)
			f.BoolVar(&o.acceptRecovery, "accept-recovery", false, "go on although applies of stacks that were cut off may have made changes "+
				"that the states do not show, if an earlier command has named them")
			if mode == rollout.Destroy {
				f.BoolVar(&o.tree.gone, "gone", false,
					"only stacks that existed at the commit of -base and do not any more, with their configuration from git")
			}
			f.BoolVar(&o.allowDirty, "allow-dirty", false, "with -changed or -gone: also if files are not committed")
			f.Var(&o.report, "report", "write the results to `FILE`: JSON, JUnit if its name ends in .xml, or Markdown if in .md")
			o.markdown.Add(f)
			session.EngineFlags(f)
			session.JSONFlag(f, "with -dry-run: write a JSON document")
		},
		Run: func(ctx context.Context, s *session.Session, args []string) (int, error) {
			if s.Options.JSON {
				s.ReportDocuments()
			}
			if len(args) > 0 {
				o.set = args[0]
			}
			err := o.check(s)
			if err == nil {
				o.inMarkdown, err = o.markdown.Options("cairn run " + string(mode))
			}
			if err != nil {
				return 0, err
			}
			if o.tree.gone {
				return destroyGone(ctx, s, o)
			}
			if strings.HasPrefix(o.set, session.OfRun) {
				closeSet, err := o.openKeptSet(ctx, s)
				if err != nil {
					return 0, err
				}
				defer closeSet()
			}
			if o.set != "" {
				unlock, err := planset.Lock(o.set)
				if err != nil {
					return 0, err
				}
				defer unlock()
			}
			g, err := openGates(ctx, s, mode, o)
			if err != nil {
				return 0, err
			}
			return g.command(ctx)
		},
	}
	if mode == rollout.ApplyAll {
		command.Args, command.MaxArgs = "[DIR|run:ID]", 1
	}
	return command
}

func (o *gateOptions) check(s *session.Session) error {
	if o.tree.gone {
		return o.checkGone(s)
	}
	return o.checkOthers(s)
}

func (o *gateOptions) checkOthers(s *session.Session) error {
	switch {
	case o.autoApprove && o.ask:
		return failure.Error("Conflicting options", "Give only one of -auto-approve and -ask.")
	case o.set != "" && (o.ask || o.dryRun || o.tree.selects()):
		return failure.Error("Conflicting options",
			"A saved set decides which plans are applied, and how. Leave out options that choose stacks, -ask and -dry-run.")
	case o.sameTree && o.set == "":
		return failure.Error("Missing argument", "The option -same-tree is about a saved set. Name its directory.")
	case o.dryRun && o.detailed:
		return failure.Error("Conflicting options",
			"With -dry-run nothing is planned, so that -detailed-exitcode has nothing to report. Leave one of them out.")
	case s.Options.JSON && !o.dryRun:
		return failure.Error("Missing required option", "The option -json is for dry runs: add -dry-run.")
	}
	return o.checkOut()
}

// checkOut checks the place where plans are to be saved.
func (o *gateOptions) checkOut() error {
	switch {
	case o.out != "" && o.dryRun:
		return failure.Error("Conflicting options", "With -dry-run nothing is planned, so that -out has nothing to save. Leave one of them out.")
	case strings.HasPrefix(o.out, session.OfRun) && !o.keepsWithRun():
		return failure.Error("Invalid value",
			"The option -out takes a directory, or %s alone: the run gets its ID when it begins.", session.OfRun)
	}
	return nil
}

// gates are a run of units through their gates.
type gates struct {
	fleet.Place
	session    *session.Session
	mode       rollout.Mode
	options    gateOptions
	parallel   int
	work       *rollout.Work
	changes    *fleet.Changes // nil if changes do not matter
	diags      hcl.Diagnostics
	output     *show.Output                         // while it runs
	unanswered bool                                 // the input has ended: no question can be answered any more
	inFlight   stackcmd.PartViews                   // stacks that are being worked on
	planning   planSummaries                        // planned changes, for a report
	recorders  once.Map[string, *timeline.Recorder] // of the work on the components of units, by their names
	saving     *savingSet                           // nil if plans are not saved
	applying   *planset.Applying                    // nil if no saved plans are applied
	team       *team                                // workers that do the work; nil for this process
	gone       *goneRun                             // nil unless the run destroys stacks that are gone
	consents                                        // questions asked and their answers
}

// openGates reads the work from the file that declares the dependencies of stacks.
func openGates(ctx context.Context, s *session.Session, mode rollout.Mode, o gateOptions) (*gates, error) {
	request, err := o.tree.request()
	if err != nil {
		return nil, err
	}
	if format.Both(request.Root) {
		s.Note("There are both %s and %s: the former is used.\n", format.File, format.GateFile)
	}
	if o.attached != nil {
		request.Names, request.NamesFrom = o.attached.chosen(), "The run "+o.attached.run
	}
	applying, err := openSet(ctx, s, &request, &o)
	if err != nil {
		return nil, err
	}
	work, err := format.OpenWork(ctx, request, mode)
	if errors.Is(err, format.ErrNoStacks) {
		return nil, nothingToRun(request.Root)
	}
	if err != nil {
		return nil, changeProblem(err)
	}
	g := &gates{
		Place: request.Place, session: s, mode: mode, options: o, work: work.Work, changes: work.Changes, diags: work.Diags,
		parallel: int(o.parallelOption), applying: applying,
	}
	if o.out != "" && (!g.work.PlansAhead || !format.HasFile(request.Root)) {
		return nil, failure.Error("No workspace file",
			"Only stacks of a file %s are planned all together, so that their plans can be saved as a set. Leave -out away.", format.File)
	}
	if err := g.openTeam(work.Workers); err != nil {
		return nil, err
	}
	g.chooseParallel(work.Parallel)
	return g, nil
}

// chooseParallel chooses how many units are worked on at once where no option says that. Declared
// is what a workspace file says, 0 for nothing.
func (g *gates) chooseParallel(declared int) {
	switch {
	case g.parallel > 0:
	case declared > 0:
		g.parallel = declared
	case g.team != nil:
		g.parallel = parallelOnWorkers
	default:
		g.parallel = 1
	}
}

// files is the directory with the configuration of the units: the root, or its counterpart from
// git.
func (g *gates) files() string {
	if g.gone != nil {
		return g.gone.root
	}
	return g.Root
}

// nothingToRun is the error for a tree without stacks.
func nothingToRun(root string) error {
	return failure.Error("No stacks", "There is no stack in %s and below, and neither a file %[2]s nor %[3]s that lists any. "+
		"Name the repository with -root=DIR, or add one: "+
		"\"cairn order convert -from=roots > %[2]s\" writes it for all directories with a "+
		"root module.", shownDir(root), format.File, format.GateFile)
}

// checkStates refuses stacks that share a state, as each would change the objects that the other
// one has planned for, and those in a state that is not theirs.
func checkStates(work *rollout.Work, elsewhere bool) error {
	switch one, other := work.SharingState(elsewhere); {
	case one == nil:
	case one.Dir == other.Dir:
		return failure.Error("State shared by two stacks",
			"The stacks %q and %q are both in %s, with the same state: applying one of them would change the objects of the other one. "+
				"Nothing was run. Give each a deployment (a stack of the Terraform Stacks language) or a workspace (a plain root module) of its own.",
			one.Name, other.Name, other.Path)
	default:
		return failure.Error("State shared by two stacks",
			"The stacks %q, in %s, and %q, in %s, have the same state: applying one of them would change the objects of the other one. "+
				"Nothing was run. Give each a name of its own in %s, and a place of states that has those of many stacks: "+
				"%s with a file or with the parameter \"schema\" names one state for all.",
			one.Name, one.Path, other.Name, other.Path, settings.File, env.StateVariable)
	}
	if u, selected := work.OtherWorkspace(); u != nil {
		return failure.Error("Unexpected workspace selected",
			"In %s the workspace %q is selected, but nothing says that %q is meant to be in it. Nothing was run. "+
				"Name it as the workspace of that in the configuration, "+
				"or go back to the default one: \"terraform workspace select default\" in this directory, or the same with tofu.",
			u.Path, selected, u.Name)
	}
	return nil
}

// command carries out the command.
func (g *gates) command(ctx context.Context) (int, error) {
	s := g.session
	if err := checkStates(g.work, g.team != nil); err != nil {
		return 0, err
	}
	if g.options.dryRun && s.Options.JSON {
		return cmdline.ExitOK, g.writeDocument()
	}
	if err := s.Report(g.diags); err != nil {
		return 0, err
	}
	switch {
	case len(g.work.Chosen()) == 0:
		s.Note("There is nothing to %s: %s\n", g.mode, g.options.tree.nothing(""))
		if g.options.dryRun {
			return cmdline.ExitOK, nil
		}
		return cmdline.ExitOK, reportfile.Write(g.options.report, g.report(nil), reportfile.ForAll)
	case g.options.dryRun:
		g.writeSteps()
		return cmdline.ExitOK, nil
	}
	if err := g.checkDirty(ctx); err != nil {
		return 0, err
	}
	return g.run(ctx)
}

// checkDirty refuses to act on changes that only this working copy has.
func (g *gates) checkDirty(ctx context.Context) error {
	if g.changes == nil || g.options.allowDirty || g.mode == rollout.PlanOnly {
		return nil
	}
	var except func(gitdiff.File) bool
	if g.gone != nil {
		except = g.gone.found.LeftBehind
	}
	return refuseDirty(ctx, g.changes.Repository, except)
}
