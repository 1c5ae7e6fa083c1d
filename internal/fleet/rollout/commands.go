// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"context"
	"errors"
	"os"
	"slices"

	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/process"
)

// exitChanges is the exit code of plans with changes.
const exitChanges = 2

// plan makes a plan, keeps it, and tells whether it has changes.
func (r *run) plan(unit int) (changes bool, err error) {
	u := &r.Units[unit]
	err = r.commands(unit, string(Plan), r.planCommands(u, r.planFile(unit)))
	return r.planned(unit, err)
}

// planned says by the end of a plan whether it has changes, and takes notice of what it leaves to a later one.
func (r *run) planned(unit int, end error) (changes bool, err error) {
	if !hasChanges(end) {
		return false, end
	}
	plan := &r.outcome[unit].plan
	*plan = PlanFile{Complete: true, Counts: r.outcome[unit].says.counts()}
	if r.Units[unit].Kind == Components && r.options.ReadPlan != nil {
		*plan, err = r.options.ReadPlan(r.planFile(unit))
	}
	return true, err
}

// planCommands are the commands that make a plan: the last one exits with [exitChanges] if there are changes.
func (r *run) planCommands(u *Unit, file string) [][]string {
	plan := []string{"plan", "-input=false", "-detailed-exitcode", "-out=" + file}
	if r.options.Mode == Destroy {
		plan = append(plan, "-destroy")
	}
	plan = append(plan, varFiles(u)...)
	if u.Kind == Components {
		return [][]string{{"init"}, plan}
	}
	return append([][]string{{"init", "-input=false"}}, append(r.selectWorkspace(u), plan)...)
}

func (r *run) applyCommands(u *Unit, file string) [][]string {
	apply := append([]string{"apply", "-input=false"}, varFiles(u)...) // for ephemeral variables, which no plan holds
	return append(r.selectWorkspace(u), append(apply, file))
}

// show prints the plan of a unit, as other output may have been printed since it was made.
func (r *run) show(unit int) error {
	u := &r.Units[unit]
	if r.options.Last() == u.Name {
		return nil
	}
	// The file knows its workspace; selecting it could disturb another unit that is at work in the directory.
	return r.commands(unit, string(Plan), [][]string{{"show", r.planFile(unit)}})
}

func varFiles(u *Unit) []string {
	var options []string
	for _, name := range u.VarFiles {
		options = append(options, "-var-file="+name)
	}
	return options
}

// selectWorkspace selects the workspace of a root module. The default one is what there is, unless another unit selects something else
// in the directory.
func (r *run) selectWorkspace(u *Unit) [][]string {
	workspace := u.Workspace
	if workspace == "" {
		if u.Kind == Components || !r.selectsIn(u.Dir) {
			return nil
		}
		workspace = DefaultWorkspace
	}
	return [][]string{{"workspace", "select", "-or-create=true", workspace}}
}

// commands runs the commands of a phase one after the other, up to the first that fails. Errors: [*lostOutput] only if all have done their work.
func (r *run) commands(unit int, phase string, commands [][]string) error {
	u := &r.Units[unit]
	out := r.options.Output(u.Name)
	out.Phase(phase)
	stdout, stderr := out.Writers()
	var err error
	for _, args := range commands {
		command := process.Command{Program: r.options.Engine, Args: r.withOptions(u, args), Dir: u.Dir, Env: environment(u), Stdout: stdout, Stderr: stderr}
		if u.Kind == Components {
			command.Program = r.options.Cairn
		} else if args[0] == "plan" {
			says := &r.outcome[unit].says
			*says = planLines{to: stdout}
			command.Stdout = says
		}
		says := &errorLines{to: stderr}
		if _, isTerminal := stderr.(*os.File); !isTerminal { // what is there is for people, and just above the summary
			command.Stderr = says
		}
		if err = r.command(u, args[0], command); err != nil {
			if _, ok := errors.AsType[*process.ExitError](err); ok && says.first != "" && !hasChanges(err) {
				err = &programError{err, says.first}
			}
			break
		}
	}
	if lost := out.Close(); lost != nil && (err == nil || hasChanges(err)) {
		err = &lostOutput{lost}
	}
	return err
}

// hasChanges tells whether a plan has ended well, with changes.
func hasChanges(end error) bool {
	exit, ok := errors.AsType[*process.ExitError](end)
	return ok && exit.Code == exitChanges
}

// lostOutput says that nobody can see what was done.
type lostOutput struct{ err error }

func (e *lostOutput) Error() string { return e.err.Error() }
func (e *lostOutput) Unwrap() error { return e.err }

// command runs a command. In a cache of providers that several share, terraform can install for one at a time only.
func (r *run) command(u *Unit, name string, command process.Command) error {
	if name == "init" && (r.options.SharedCache || variable(u, cliconfig.CacheVariable) != "") {
		r.installing.Lock()
		defer r.installing.Unlock()
	}
	return r.options.Processes.Run(command)
}

// withOptions adds those that stand behind the name of a command.
func (r *run) withOptions(u *Unit, args []string) []string {
	options := r.options.EngineOptions
	switch {
	case u.Kind == Components:
		options = r.options.CairnOptions
	case args[0] == "workspace":
		return args // its subcommands know no such options
	}
	if u.Kind == Components && args[0] == "show" {
		return args // a plan is shown without an engine
	}
	return slices.Insert(slices.Clone(args), 1, options...)
}

// environment is that of this program with what the unit adds. Paths for engines mean what they mean here, not in the directory of the unit.
func environment(u *Unit) []string {
	env := os.Environ()
	if here, err := os.Getwd(); err == nil { // without a working directory the command says so itself
		env = cliconfig.AbsolutePaths(env, here)
	}
	env = append(env, "TF_IN_AUTOMATION=1")
	env = append(env, u.Env...)
	if u.Workspace != "" {
		env = append(env, "TF_WORKSPACE=") // which would forbid to select one
	}
	return env
}

// Job is what is run for a task in a directory. The reaction is a part of it only if the task reacts.
func (t *Task) Job(dir string, env []string, reacts bool) process.Job {
	command := func(words []string) process.Command {
		return process.Command{Program: words[0], Args: words[1:], Dir: dir, Env: env, Timeout: t.Timeout}
	}
	job := process.Job{Command: command(t.Command), Retries: t.Retries, Interval: t.Interval}
	if reacts && t.Reaction != nil {
		reaction := command(t.Reaction)
		job.Reaction = &reaction
	}
	return job
}

// task runs the command of a task.
func (r *run) task(ctx context.Context, u *Unit, reacts bool) error {
	job := u.Task.Job(u.Dir, append(os.Environ(), u.Env...), reacts)
	out := r.options.Output(u.Name)
	job.Stdout, job.Stderr = out.Writers()
	err := r.options.Processes.RunJob(ctx, job)
	return errors.Join(err, out.Close())
}
