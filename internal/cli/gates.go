// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/changes"
	"github.com/cairnstacks/cairn/internal/order/gated"
	"github.com/cairnstacks/cairn/internal/order/localsource"
	"github.com/cairnstacks/cairn/internal/order/tagquery"
)

// gateOptions choose what goes through the gates, and how.
type gateOptions struct {
	root        string
	changed     bool
	base        string
	query       string
	dryRun      bool
	parallel    int
	allowDirty  bool
	autoApprove bool
	ask         bool
}

// gateMode is one of the commands that go through gates.
type gateMode struct {
	name    string
	apply   bool
	destroy bool
	done    string // what an applied directory is
}

var (
	gatePlan    = gateMode{name: "plan"}
	gateApply   = gateMode{name: "apply", apply: true, done: "applied"}
	gateDestroy = gateMode{name: "destroy", apply: true, destroy: true, done: "destroyed"}
)

func runPlanCommand() *command {
	return gateCommand(gatePlan, "Plans stacks, as far as their gates are open.", `
The gates are those of .terrateam/config.yml. A stack is planned when all that it is to be planned after has nothing to apply. Nothing
is applied, but a workspace that there is not yet is made.`, "cairn run plan\ncairn run plan -changed -base=origin/main -parallel=4")
}

func runApplyCommand() *command {
	return gateCommand(gateApply, "Plans and applies stacks, each as soon as its gates open.", `
The gates are those of .terrateam/config.yml. Before a plan with changes is applied you are asked, unless the stack has auto_apply. After a
failure nothing more is started; what waits for a directory that was not approved stays as it is.`,
		"cairn run apply -changed\ncairn run apply -query='prod and not database' -auto-approve")
}

func runDestroyCommand() *command {
	return gateCommand(gateDestroy, "Destroys what stacks manage, in the reverse order of their gates.",
		"Everything is asked for, also where a stack has auto_apply, unless -auto-approve is given.", "cairn run destroy -query=stack_name:dev")
}

func gateCommand(mode gateMode, summary, long, example string) *command {
	var o gateOptions
	return &command{
		name: mode.name, summary: summary, long: long, example: example,
		flags: func(f *flagSet) {
			o = gateOptions{}
			f.StringVar(&o.root, "root", "", "the repository is in `DIR` (default: the git repository, or the current directory)")
			f.BoolVar(&o.changed, "changed", false, "only what has changed, as git tells, and what that makes modified")
			f.StringVar(&o.base, "base", "", "changed since the work left the commit or branch `REF`, or in a range FROM..TO (default: the default branch)")
			f.StringVar(&o.query, "query", "", "only directories whose tags match `QUERY`, such as \"stack_name:dev and not network\"")
			f.IntVar(&o.parallel, "parallel", 1, "work on `N` directories at the same time; the output of each is shown when it has ended")
			f.BoolVar(&o.dryRun, "dry-run", false, "only show what belongs to the change, why, and in which steps it is done")
			if mode.apply {
				f.BoolVar(&o.autoApprove, "auto-approve", false, "do not ask before applying")
				f.BoolVar(&o.ask, "ask", false, "ask also where a stack has auto_apply")
			}
			f.BoolVar(&o.allowDirty, "allow-dirty", false, "with -changed: also if files are not committed")
			f.engineFlags()
			f.jsonFlag("with -dry-run: write a JSON document")
		},
		run: func(ctx context.Context, s *session, _ []string) (int, error) {
			if s.options.json {
				s.reportDocuments()
			}
			if err := o.check(s); err != nil {
				return 0, err
			}
			g, err := s.openGates(ctx, mode, o)
			if err != nil {
				return 0, err
			}
			switch {
			case o.dryRun && s.options.json:
				return exitOK, g.writeDocument()
			case len(g.change.Stacks) == 0:
				if err := s.report(g.diags); err != nil {
					return 0, err
				}
				s.note("There is nothing to %s: no directory belongs to the change.\n", mode.name)
				return exitOK, nil
			case o.dryRun:
				g.writeSteps()
				return exitOK, s.report(g.diags)
			}
			if err := s.report(g.diags); err != nil {
				return 0, err
			}
			if err := g.checkDirty(ctx); err != nil {
				return 0, err
			}
			return g.run(ctx)
		},
	}
}

func (o *gateOptions) check(s *session) error {
	switch {
	case o.parallel < 1:
		return fail("Wrong option", "The option -parallel is the number of directories to work on at the same time, at least 1.")
	case o.base != "" && !o.changed:
		return fail("Option without another", "The option -base is about what has changed: add -changed.")
	case o.autoApprove && o.ask:
		return fail("Options contradict", "Give only one of -auto-approve and -ask.")
	case s.options.json && !o.dryRun:
		return fail("Option without another", "The option -json is about what would be done: add -dry-run.")
	}
	return nil
}

// gates are a repository with gates, and a change that goes through them.
type gates struct {
	session    *session
	mode       gateMode
	options    gateOptions
	root       string
	below      string // the current directory, from the root; "" if it is not in it
	change     *gated.Change
	repository *changes.Repository // nil if it does not matter what has changed
	diags      hcl.Diagnostics
}

func (s *session) openGates(ctx context.Context, mode gateMode, o gateOptions) (*gates, error) {
	root, below, err := treeRoot(o.root)
	if err != nil {
		return nil, err
	}
	g := &gates{session: s, mode: mode, options: o, root: root, below: below}
	layout, diags, err := gated.Load(root)
	if errors.Is(err, gated.ErrNoConfig) {
		return nil, fail("No gates", "There is no file %s in %s, which says what stacks there are and what they wait for. Add it, or name the repository with -root=DIR.",
			gated.ConfigFile, root)
	}
	if err == nil && diags.HasErrors() {
		err = diags
	}
	if err != nil {
		return nil, err
	}
	g.diags = diags.Extend(layout.Hidden(os.Environ()))
	query, err := tagquery.Parse(o.query)
	if err != nil {
		return nil, hcl.Diagnostics{order.Problem(order.CodeBadTagQuery, nil, "Invalid tag query", "In the option -query=%s %s.", o.query, err)}
	}
	opts := gated.ChangeOptions{Destroy: mode.destroy}
	if o.query != "" {
		opts.Only = func(d int) bool { return layout.Matches(query, d) }
	}
	causes := layout.All("everything is asked for")
	if o.changed {
		if causes, err = g.changedCauses(ctx, layout); err != nil {
			return nil, changeProblem(err)
		}
	}
	g.change = layout.Change(causes, opts)
	return g, nil
}

// changedCauses asks git what has changed. A directory has also changed if a local module has that it uses.
func (g *gates) changedCauses(ctx context.Context, layout *gated.Layout) ([]gated.Cause, error) {
	repository, err := changes.Open(ctx, g.root)
	if err != nil {
		return nil, err
	}
	g.repository = repository
	diff, err := repository.Diff(ctx, g.options.base)
	if err != nil {
		return nil, err
	}
	root, err := filepath.Abs(g.root)
	if err == nil {
		root, err = filepath.EvalSymlinks(root)
	}
	if err != nil {
		return nil, err
	}
	var files []string
	for _, file := range diff.Files {
		for _, name := range []string{file.Path, file.From} {
			rel, err := filepath.Rel(root, filepath.Join(repository.Dir, filepath.FromSlash(name)))
			if name != "" && err == nil && filepath.IsLocal(rel) {
				files = append(files, filepath.ToSlash(rel))
			}
		}
	}
	causes := layout.ByFiles(files)
	for i, d := range layout.Dirspaces {
		if reason := changedModule(root, d.Dir, files); reason != "" && !slices.ContainsFunc(causes, func(c gated.Cause) bool { return c.Dirspace == i }) {
			causes = append(causes, gated.Cause{Dirspace: i, Reason: reason})
		}
	}
	return causes, nil
}

// changedModule says which local module that a directory uses has changed, "" if none has.
func changedModule(root, dir string, files []string) string {
	own := filepath.Join(root, filepath.FromSlash(dir))
	seen := map[string]bool{own: true}
	for queue := []string{own}; len(queue) > 0; queue = queue[1:] {
		calls, err := localsource.In(queue[0])
		if err != nil {
			continue // what is not there calls nothing; the engine says so
		}
		for _, call := range calls {
			rel, err := filepath.Rel(root, call.Dir)
			if seen[call.Dir] || err != nil || !filepath.IsLocal(rel) {
				continue
			}
			seen[call.Dir] = true
			queue = append(queue, call.Dir)
			module := filepath.ToSlash(rel)
			if at := slices.IndexFunc(files, func(file string) bool { return strings.HasPrefix(file, module+"/") }); at >= 0 {
				return fmt.Sprintf("module %s has changed: %s", module, files[at])
			}
		}
	}
	return ""
}

// checkDirty refuses to act on changes that only this working copy has.
func (g *gates) checkDirty(ctx context.Context) error {
	if g.repository == nil || g.options.allowDirty || !g.mode.apply {
		return nil
	}
	return refuseDirty(ctx, g.repository)
}

// dir is the directory of a dirspace.
func (g *gates) dir(dirspace int) string {
	return filepath.Join(g.root, filepath.FromSlash(g.change.Dirspaces[dirspace].Dir))
}

func (g *gates) stackName(dirspace int) string {
	return g.change.Layout.Stacks[g.change.Owner(dirspace)].Name
}
