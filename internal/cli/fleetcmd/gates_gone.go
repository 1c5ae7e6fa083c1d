// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/gone"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/hclsource"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/safefile"
	"github.com/cairnstacks/cairn/internal/tempdir"
	"github.com/cairnstacks/cairn/internal/workers/config"
)

// goneRun is the part of a run that only a run has which destroys stacks that are gone. Its methods
// do nothing for nil.
type goneRun struct {
	dir     string // temporary, with the configuration from git
	root    string // in it, the counterpart of the repository's root
	base    string // the commit, as it was named
	unwatch func() // ends the handling of interrupts before the run

	found *gone.Gone
}

// checkGone checks the options of such a run.
func (o *gateOptions) checkGone(s *session.Session) error {
	switch {
	case o.tree.base == "":
		return failure.Error("Missing required option",
			"The option -gone needs -base=REF, the branch, tag or commit to look for deleted stacks in, as in -base=HEAD~1.")
	case strings.Contains(o.tree.base, ".."):
		return failure.Error("Range as base",
			"The option -gone compares one commit with the working tree: name only the first of the range %s.", o.tree.base)
	case o.tree.changed:
		return failure.Error("Conflicting options", "Give only one of -changed and -gone: deleted stacks have changed.")
	case o.tree.along.Any():
		return failure.Error("Conflicting options",
			"With -gone, nothing is destroyed that is still there: leave out -with-dependents and -with-dependencies.")
	}
	return o.checkOthers(s)
}

// destroyGone destroys the stacks that are gone.
func destroyGone(ctx context.Context, s *session.Session, o gateOptions) (code int, err error) {
	dir, err := tempdir.Kind{Prefix: "cairn-gone-", Log: s.Log}.Replace() // which only this user can read
	if err != nil {
		return 0, failure.Error("Temporary directory not available",
			"The configuration from git is kept in a temporary directory, and it cannot be made: %s.", failure.Reason(err))
	}
	run := &goneRun{dir: filepath.Join(dir.Path, "base"), base: o.tree.base}
	if err := os.Mkdir(run.dir, 0o700); err != nil {
		return 0, err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	run.unwatch = sync.OnceFunc(s.WatchInterrupts(session.InterruptActions{
		First:  func(os.Signal) { cancel(operation.ErrInterrupted) },
		Second: func() {}, // git ends by itself
		Third:  true,
		Begun:  func() bool { return false },
	}))
	defer func() {
		run.watched()
		cancel(context.Canceled)
		if removeErr := dir.Remove(); removeErr != nil && err == nil {
			err = failure.Error("Temporary directory not removed", "The configuration from git is "+
				"left in %s: %s.", dir.Path, failure.Reason(removeErr))
		}
	}()
	g, err := openGone(ctx, s, o, run)
	if errors.Is(err, operation.ErrInterrupted) {
		return 0, failure.Error("Operation interrupted", "The search for deleted stacks was not finished. Nothing was done.")
	}
	if err != nil {
		return 0, err
	}
	return g.command(ctx)
}

// baseName is the commit with which the units are compared; "" for none.
func (r *goneRun) baseName() string {
	if r == nil {
		return ""
	}
	return r.base
}

// watched says that interrupts are handled by the run from now on.
func (r *goneRun) watched() {
	if r != nil {
		r.unwatch()
	}
}

// tidy removes the directories created for units whose own did not exist, once nothing in them is
// needed any more.
func (r *goneRun) tidy(ends []rollout.End) {
	if r == nil {
		return
	}
	for _, end := range ends {
		dirs := r.found.Missing[end.Unit]
		if len(dirs) == 0 || !end.Done {
			continue
		}
		_ = os.RemoveAll(filepath.Join(dirs[0], env.WorkDir)) //nolint:errcheck // caches, which git ignores
		for _, dir := range dirs {
			_ = os.Remove(dir) //nolint:errcheck // one that is not empty stays
		}
	}
}

// openGone finds the stacks that are gone.
func openGone(ctx context.Context, s *session.Session, o gateOptions, run *goneRun) (*gates, error) {
	request, err := o.tree.request()
	if err != nil {
		return nil, err
	}
	living, err := format.OpenWork(ctx, fleet.Request{Place: fleet.Place{Root: request.Root}}, rollout.Destroy)
	if errors.Is(err, format.ErrNoStacks) {
		living, err = &fleet.Work{}, nil
	}
	if err != nil {
		return nil, changeProblem(err)
	}
	g := &gates{
		Place: request.Place, session: s, mode: rollout.Destroy, options: o, parallel: int(o.parallelOption), gone: run,
	}
	if err := g.openTeam(living.Workers); err != nil { // where they are now: not all that the base says may count still
		return nil, err
	}
	repository, err := gitdiff.Open(ctx, request.Root)
	if problem, ok := errors.AsType[*gitdiff.Problem](err); ok && problem.Code == gitdiff.CodeNoRepository {
		problem.Code = "" // whose remedy is to do without git
	}
	if err != nil {
		return nil, changeProblem(err)
	}
	repository.AllRenames = true // one that is overlooked is destroyed
	diff, err := repository.Diff(ctx, o.tree.base)
	if err != nil {
		return nil, changeProblem(err)
	}
	comparison := gone.Comparison{Living: living.Work, Diff: diff, Elsewhere: g.team != nil, Named: format.Named(request.Root)}
	if comparison.Root, err = filepath.Abs(request.Root); err != nil {
		return nil, err
	}
	if comparison.Exported, err = export(ctx, diff, run.dir, comparison.Root); err != nil {
		return nil, err
	}
	run.root = comparison.Exported
	before := request
	before.Root, before.Base = comparison.Exported, ""
	base, err := format.OpenWork(ctx, before, rollout.Destroy)
	if errors.Is(err, format.ErrNoStacks) {
		return nil, failure.Error("No stacks at the base", "At %s there is no stack, and neither a file %s nor %s that lists "+
			"any. Name a base that has one.", o.tree.base, format.File, format.GateFile)
	}
	if err != nil {
		return nil, run.named(s, o.tree.base, err)
	}
	if err := g.checkWorkers(base.Workers); err != nil {
		return nil, err
	}
	comparison.Base = base.Work
	found, diags := gone.Find(ctx, comparison)
	if diags.HasErrors() {
		return nil, run.named(s, o.tree.base, diags)
	}
	run.found = found
	g.work, g.changes = found.Work, &fleet.Changes{Diff: diff, Repository: repository}
	g.diags = failure.Diagnostics(run.named(s, o.tree.base, base.Diags)).Extend(diags)
	g.chooseParallel(base.Parallel)
	return g, nil
}

// checkWorkers refuses to work here where workers did it at the base, and the file is gone that
// says where they are: the states are theirs.
func (g *gates) checkWorkers(before *config.Config) error {
	if g.team != nil || before == nil || format.HasFile(g.Root) {
		return nil
	}
	if found, err := g.session.Workers(before); found == nil || err != nil {
		return err // somebody wants it here
	}
	return failure.Error("No workers", "At %s workers did the work, and there is no %s any more that says where they are. "+
		"Name a file with the block %q in %s, or have the work done here: %[4]s=none. Nothing was destroyed.",
		g.gone.base, format.File, config.BlockType, config.Variable)
}

// openGoneAgain goes on with a run that destroys stacks which are gone, with the files of that run.
func openGoneAgain(ctx context.Context, s *session.Session, o gateOptions) (*gates, error) {
	request, err := o.tree.request()
	if err != nil {
		return nil, err
	}
	exported, err := format.OpenWork(ctx, request, rollout.Destroy)
	if err != nil {
		return nil, changeProblem(err)
	}
	work, diags := gone.Again(exported.Work, o.attached.chosen(), o.attached.record.Options.Gone)
	if diags.HasErrors() {
		return nil, diags
	}
	g := &gates{
		Place: request.Place, session: s, mode: rollout.Destroy, options: o, parallel: int(o.parallelOption),
		work: work, diags: exported.Diags.Extend(diags),
	}
	return g, g.openTeam(nil)
}

// export writes the files of the base into a directory, and returns the counterpart of the root in
// it.
func export(ctx context.Context, diff *gitdiff.Diff, dir, root string) (string, error) {
	prefix, err := diff.Prefix(root)
	if err != nil {
		return "", err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", err
	}
	if err := diff.Export(ctx, dir); err != nil {
		if ctx.Err() != nil {
			return "", context.Cause(ctx)
		}
		return "", failure.Error("Base not readable",
			"The files of the commit %s cannot be written to a temporary directory: %s. Nothing was destroyed.", diff.Base, failure.Reason(err))
	}
	// As in the repository itself: modules reach no files above this directory, and programs that
	// files name were not named by the user.
	if err := os.Mkdir(filepath.Join(dir, ".git"), 0o700); err != nil {
		return "", err
	}
	exported := filepath.Join(dir, filepath.FromSlash(prefix))
	return exported, os.MkdirAll(exported, 0o700)
}

// named gives files of the base names that say so, in place of temporary ones.
func (r *goneRun) named(s *session.Session, base string, err error) error {
	diags, ok := errors.AsType[hcl.Diagnostics](err)
	if !ok || len(diags) == 0 {
		return err
	}
	dir := r.dir
	if resolved, err := filepath.EvalSymlinks(dir); err == nil {
		dir = resolved
	}
	name := func(at *hcl.Range) *hcl.Range {
		if at == nil {
			return nil
		}
		rel, err := filepath.Rel(dir, at.Filename)
		if err != nil || !filepath.IsLocal(rel) {
			return at
		}
		renamed := *at
		renamed.Filename = base + ":" + filepath.ToSlash(rel)
		if src, err := safefile.Read(os.DirFS(filepath.Dir(at.Filename)), filepath.Base(at.Filename), hclsource.MaxSize); err == nil {
			s.Files[renamed.Filename] = &hcl.File{Bytes: src}
		}
		return &renamed
	}
	var renamed hcl.Diagnostics
	for _, diag := range diags {
		one := *diag
		one.Subject, one.Context = name(diag.Subject), name(diag.Context)
		renamed = append(renamed, &one)
	}
	return renamed
}
