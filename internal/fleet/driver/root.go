// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"context"
	"errors"
	"os"
	"slices"
	"sync"

	"github.com/cairnstacks/cairn/internal/engine/binary/planfile"
	"github.com/cairnstacks/cairn/internal/engine/toolchain/cliconfig"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Roots are what all root modules of a run have in common.
type Roots struct {
	Engine  string   // path of terraform or tofu
	Options []string // of all commands but those about workspaces

	// SharedCache says that providers are installed into a cache of all directories, also if nothing in the environment says so.
	SharedCache bool

	Processes *process.Set

	installing sync.Mutex // held while providers are installed into a cache
}

// RootOptions say which root module is worked on, and how.
type RootOptions struct {
	Dir       string
	Environ   []string
	VarFiles  []string
	Workspace string // that is to be selected; "" leaves selected what is
	PlanFile  string // which holds secrets

	Output func() Output
}

// Root works on a root module in one of its workspaces, by terraform or tofu.
type Root struct {
	*Roots
	opts RootOptions

	keepsOutputs bool // the plan is known to leave all outputs as they are
}

var _ Driver = (*Root)(nil)

// NewRoot returns a driver of a root module.
func NewRoot(roots *Roots, opts RootOptions) *Root { return &Root{Roots: roots, opts: opts} }

// exitChanges is the exit code of plans with changes.
const exitChanges = 2

// Plan implements [Driver].
func (r *Root) Plan(_ context.Context, req PlanRequest) (Plan, error) {
	plan := []string{"plan", "-input=false", "-detailed-exitcode", "-out=" + r.opts.PlanFile}
	if req.Destroy {
		plan = append(plan, "-destroy")
	}
	commands := [][]string{append(plan, r.varFiles()...)}
	if !req.Again {
		commands = slices.Concat([][]string{{"init", "-input=false"}}, r.selectWorkspace(), commands)
	}
	err := r.commands(planPhase, commands)
	if isExit(err, exitChanges) {
		plan := Plan{Changes: true, Complete: true}
		plan.Counts, r.keepsOutputs = readPlan(r.opts.PlanFile)
		return plan, nil
	}
	return Plan{}, err
}

// readPlan returns what a saved plan would do, and whether it is known to leave all outputs as they are. Nothing is known of a file that only its
// engine can read, since it is encrypted.
func readPlan(file string) (counts *stackplan.Counts, keepsOutputs bool) {
	plan, err := planfile.ReadFile(file, planfile.Options{})
	if err != nil {
		return nil, false
	}
	counts = &stackplan.Counts{}
	for _, change := range plan.ResourceChanges {
		*counts = counts.Plus(stackplan.CountChange(change))
	}
	for _, output := range plan.Outputs {
		if !output.After.RawEquals(output.Before) {
			return counts, false
		}
	}
	return counts, true
}

// Show implements [Driver]. The file knows its workspace; selecting it could disturb another unit that is at work in the directory.
func (r *Root) Show(context.Context) error {
	return r.commands(planPhase, [][]string{{"show", r.opts.PlanFile}})
}

// Apply implements [Driver].
func (r *Root) Apply(_ context.Context, req ApplyRequest) (Applied, error) {
	phase := applyPhase
	if req.Destroy {
		phase = destroyPhase
	}
	apply := append([]string{"apply", "-input=false"}, r.varFiles()...) // for ephemeral variables, which no plan holds
	if err := r.commands(phase, append(r.selectWorkspace(), append(apply, r.opts.PlanFile))); err != nil {
		return Applied{}, err
	}
	return Applied{OutputsChanged: !r.keepsOutputs}, nil
}

func (r *Root) varFiles() []string {
	var options []string
	for _, name := range r.opts.VarFiles {
		options = append(options, "-var-file="+name)
	}
	return options
}

func (r *Root) selectWorkspace() [][]string {
	if r.opts.Workspace == "" {
		return nil
	}
	return [][]string{{"workspace", "select", "-or-create=true", r.opts.Workspace}}
}

// commands runs the commands of a phase one after the other, up to the first that fails.
func (r *Root) commands(phase string, commands [][]string) error {
	out := r.opts.Output()
	out.Phase(phase)
	stdout, stderr := out.Writers()
	var err error
	for _, args := range commands {
		command := process.Command{Program: r.Engine, Args: r.withOptions(args), Dir: r.opts.Dir, Env: r.opts.Environ, Stdout: stdout, Stderr: stderr}
		says := &errorLines{to: stderr}
		if _, isTerminal := stderr.(*os.File); !isTerminal { // what is there is for people, and just above the summary
			command.Stderr = says
		}
		if err = r.command(args[0], command); err != nil {
			if _, ok := errors.AsType[*process.ExitError](err); ok && says.first != "" && !isExit(err, exitChanges) {
				err = &programError{err, says.first}
			}
			break
		}
	}
	lost := out.Close()
	if lost != nil && isExit(err, exitChanges) {
		err = nil
	}
	return withLost(err, lost)
}

// command runs a command. In a cache of providers that several share, terraform can install for one at a time only.
func (r *Root) command(name string, command process.Command) error {
	if name == "init" && (r.SharedCache || environ.Get(r.opts.Environ, cliconfig.CacheVariable) != "") {
		r.installing.Lock()
		defer r.installing.Unlock()
	}
	return r.Processes.Run(command)
}

// withOptions adds those that stand behind the name of a command.
func (r *Root) withOptions(args []string) []string {
	if args[0] == "workspace" {
		return args // its subcommands know no such options
	}
	return slices.Insert(slices.Clone(args), 1, r.Options...)
}
