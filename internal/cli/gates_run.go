// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/gated"
	"github.com/cairnstacks/cairn/internal/order/process"
	"github.com/cairnstacks/cairn/internal/order/render"
)

// The reasons why a plan is not applied that are no failures.
var (
	errNotApproved = errors.New("not approved")
	errNotAsked    = errors.New("has changes to apply") // a mode that only plans
)

// gateRun is the run of a change through its gates.
type gateRun struct {
	*gates
	processes *process.Set
	output    *render.Output
	plans     string // directory of plan files
	cairn     string // this program
	engine    string // terraform or tofu; "" if all directories are stacks
	fail      context.CancelFunc
	outcome   []gateOutcome // by dirspace

	asking sync.Mutex // held while a question waits for its answer
}

// gateOutcome is what is known of a dirspace. It belongs to the action that runs.
type gateOutcome struct {
	stack   bool // the directory has a stack of the Terraform Stacks language
	changes bool // the plan has some
}

func (g *gates) run(ctx context.Context) (int, error) {
	r := &gateRun{
		gates: g, processes: &process.Set{}, outcome: make([]gateOutcome, len(g.change.Dirspaces)),
		output: render.NewOutput(g.session.streams.Out, g.session.streams.Err, g.options.parallel > 1),
	}
	if err := r.prepare(ctx); err != nil {
		return 0, err
	}
	var err error
	if r.plans, err = os.MkdirTemp("", "cairn-run-"); err != nil {
		return 0, fail("Plans cannot be saved", "Plans are kept in a temporary directory until they are applied, and there is none: %s.", reason(err))
	}
	defer os.RemoveAll(r.plans) //nolint:errcheck // what is left in a temporary directory is removed by its owner

	ctx, stop := g.session.forwardInterrupts(ctx, r.processes, false)
	defer stop()
	ctx, r.fail = context.WithCancel(ctx)
	defer r.fail()
	results := g.change.Run(ctx, order.RunOptions{Parallel: g.options.parallel}, r.do)
	return r.summarize(results), nil
}

// prepare finds the programs that are needed.
func (r *gateRun) prepare(ctx context.Context) error {
	roots := false
	for _, s := range r.change.Stacks {
		for _, d := range s.Dirspaces {
			isStack, err := hasStack(r.dir(d.Dirspace))
			if err != nil {
				return err
			}
			r.outcome[d.Dirspace].stack = isStack
			roots = roots || !isStack
			if w := r.change.Dirspaces[d.Dirspace].Workspace; isStack && w != gated.DefaultWorkspace {
				return fail("Stack with a workspace", "The directory %s has the workspace %q in %s, but also files *.tfcomponent.hcl: such stacks have no workspaces. "+
					"Nothing was run. Remove the workspace, or make a directory for each.", r.dir(d.Dirspace), w, gated.ConfigFile)
			}
		}
	}
	var err error
	if r.cairn, err = os.Executable(); err != nil || !roots {
		return err
	}
	search, err := r.session.engineSearch()
	if err != nil {
		return err
	}
	found, err := search.Find(ctx)
	if err != nil {
		return r.session.engineProblem(err)
	}
	r.engine, err = filepath.Abs(found.Path)
	return err
}

// hasStack tells whether a directory is one of the Terraform Stacks language, rather than of a root module.
func hasStack(dir string) (bool, error) {
	entries, err := os.ReadDir(dir)
	return slices.ContainsFunc(entries, func(entry fs.DirEntry) bool {
		return strings.HasSuffix(entry.Name(), ".tfcomponent.hcl") || strings.HasSuffix(entry.Name(), ".tfcomponent.json")
	}), err
}

// do does one action on one dirspace.
func (r *gateRun) do(ctx context.Context, w gated.Work) error {
	var err error
	switch {
	case w.Action == gated.Plan:
		err = r.plan(w.Dirspace)
	case !r.outcome[w.Dirspace].changes:
		return nil // completely applied already
	case !r.mode.apply:
		return errNotAsked
	default:
		err = r.apply(ctx, w.Dirspace)
	}
	switch {
	case errors.Is(err, process.ErrStopped):
		return order.ErrNotStarted
	case err != nil && !errors.Is(err, errNotApproved):
		r.fail() // nothing more is started after a failure
	}
	return err
}

func (r *gateRun) planFile(dirspace int) string {
	return filepath.Join(r.plans, fmt.Sprintf("%d.plan", dirspace))
}

// plan makes a plan and keeps it.
func (r *gateRun) plan(dirspace int) error {
	args := []string{"plan", "-input=false", "-detailed-exitcode", "-out=" + r.planFile(dirspace)}
	if r.mode.destroy {
		args = append(args, "-destroy")
	}
	err := r.commands(dirspace, args)
	if exit, ok := errors.AsType[*process.ExitError](err); ok && exit.Code == exitChanges {
		r.outcome[dirspace].changes = true
		return nil
	}
	return err
}

// apply applies a plan once it is approved.
func (r *gateRun) apply(ctx context.Context, dirspace int) error {
	if !r.options.autoApprove && (r.options.ask || r.mode.destroy || !r.change.AutoApply(r.change.Owner(dirspace))) {
		if err := r.approve(ctx, dirspace); err != nil {
			return err
		}
	}
	return r.commands(dirspace, []string{"apply", "-input=false", r.planFile(dirspace)})
}

func (r *gateRun) approve(ctx context.Context, dirspace int) error {
	r.asking.Lock()
	defer r.asking.Unlock()
	if ctx.Err() != nil {
		return process.ErrStopped
	}
	answer, err := r.session.ask(ctx, fmt.Sprintf("\n%s %s, in stack %s? Only \"yes\" is accepted: ",
		upperFirst(r.mode.name), r.name(dirspace), r.stackName(dirspace)), false)
	r.session.note("\n")
	switch {
	case ctx.Err() != nil:
		return process.ErrStopped
	case err != nil && !errors.Is(err, errNoAnswer):
		return err
	case answer != "yes":
		return errNotApproved
	}
	return nil
}

// commands runs the commands that prepare the directory, and then one more.
func (r *gateRun) commands(dirspace int, last []string) error {
	out := r.output.Node(r.name(dirspace))
	err := r.inDirectory(dirspace, out, last)
	if closeErr := out.Close(); err == nil {
		err = closeErr
	}
	return err
}

func (r *gateRun) inDirectory(dirspace int, out *render.NodeOutput, last []string) error {
	if last[0] == "plan" {
		if err := r.command(dirspace, out, "init", "-input=false"); err != nil {
			return err
		}
	}
	if w := r.change.Dirspaces[dirspace].Workspace; w != gated.DefaultWorkspace {
		if err := r.command(dirspace, out, "workspace", "select", "-or-create=true", w); err != nil {
			return err
		}
	}
	return r.command(dirspace, out, last...)
}

// command runs the engine in the directory of a root module, or cairn in that of a stack.
func (r *gateRun) command(dirspace int, out *render.NodeOutput, args ...string) error {
	program := r.engine
	if r.outcome[dirspace].stack {
		program = r.cairn
		args = r.stackArguments(args)
	} else if !r.session.viewOptions(r.session.streams.Out).Color {
		args = slices.Insert(args, 1, "-no-color")
		if args[0] == "workspace" {
			args = slices.Delete(args, 1, 2) // its subcommands know no such option
		}
	}
	return r.processes.Run(process.Command{
		Program: program, Args: args, Dir: r.dir(dirspace), Env: r.environment(dirspace), Stdout: out.Out, Stderr: out.Err,
	})
}

func (r *gateRun) stackArguments(args []string) []string {
	args = slices.DeleteFunc(args, func(arg string) bool { return args[0] == "init" && arg == "-input=false" })
	engine := r.session.options.engine
	if engine == "" {
		return args
	}
	if strings.ContainsRune(engine, filepath.Separator) {
		if abs, err := filepath.Abs(engine); err == nil {
			engine = abs
		}
	}
	return slices.Insert(args, 1, "-engine="+engine)
}

// environment is that of cairn with the variables of the stack (line B-13).
func (r *gateRun) environment(dirspace int) []string {
	environ := os.Environ()
	variables := r.change.Variables(r.change.Owner(dirspace))
	for _, name := range slices.Sorted(maps.Keys(variables)) {
		environ = append(environ, name+"="+variables[name])
	}
	return append(environ, "TF_IN_AUTOMATION=1")
}

// name is how users see a dirspace: its directory relative to the current one, with its workspace.
func (g *gates) name(dirspace int) string {
	d := g.change.Dirspaces[dirspace]
	dir := filepath.Clean(g.dir(dirspace))
	if rel, err := filepath.Rel(filepath.FromSlash(g.below), filepath.FromSlash(path.Join("/", d.Dir))); err == nil && g.below != "" {
		dir = rel
	}
	dir = filepath.ToSlash(dir)
	if d.Workspace != gated.DefaultWorkspace {
		return dir + " (" + d.Workspace + ")"
	}
	return dir
}
