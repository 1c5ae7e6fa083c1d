// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"errors"
	"os"
	"path"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/gitdiff"

	orderproblem "github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/tagquery"
)

// openStacks reads the stacks to list, to put in order and to run commands in, whatever their
// format, with the selection among them.
func openStacks(ctx context.Context, s *session.Session, o treeOptions) (*fleet.Source, error) {
	request, err := o.request()
	if err != nil {
		return nil, err
	}
	src, err := format.Open(ctx, request)
	for name, file := range src.Files {
		s.Files[name] = file
	}
	if err != nil {
		return nil, changeProblem(err)
	}
	if src.Empty {
		src.Diags = src.Diags.Append(noStacks(request.Root))
	}
	return src, nil
}

// noStacks explains that a tree has no stacks.
func noStacks(root string) *hcl.Diagnostic {
	return failure.Warning("No stacks",
		"There is no stack in %s: no directory with files *.tfcomponent.hcl, or with a stack block in *.tm.hcl or *.tsk.hcl. "+
			"Plain root modules are named in a file %s; \"cairn order convert -from=roots > %[2]s\" writes one.", shownDir(root), format.File)
}

// treeOptions choose stacks of a tree.
type treeOptions struct {
	root         string
	tags, noTags cmdline.List
	query        string
	asked        *tagquery.Asked // collects the tags there are, if any were asked for; nil collects nothing
	changed      bool
	base         string
	gone         bool // only stacks that were at the base and are gone
	phases       bool // of a workspace file, planning and applying on their own
	along        fleet.Along
	failed       cmdline.File // report of an earlier run

	plugins pluginOptions
}

func treeFlags(f *session.Flags, o *treeOptions) {
	*o = treeOptions{asked: &tagquery.Asked{}}
	rootFlag(f, o)
	f.Var(&o.tags, "tags", "only stacks whose tags match `QUERY`: a:b for both, a,b for one of them; may be repeated for alternatives")
	f.Var(&o.noTags, "no-tags", "no stacks whose tags match `QUERY`")
	f.StringVar(&o.query, "query", "",
		"only stacks and tasks with tags that match `QUERY` with and, or, not: \"prod and not dir:live/prod/db\"; "+
			"kind:stack, kind:terraform and kind:task are tags, too")
	f.BoolVar(&o.changed, "changed", false, "only stacks that have changed according to git")
	f.Var(&o.failed, "failed", "only stacks that failed or were not begun in an earlier run, by its report in `FILE`")
	f.BoolVar(&o.along.Dependents, "with-dependents", false, "also all dependents of the stacks selected otherwise, wherever they are")
	f.BoolVar(&o.along.Dependencies, "with-dependencies", false, "also all dependencies of the stacks selected otherwise, wherever they are")
	f.StringVar(&o.base, "base", "",
		"changed since the work left the commit or branch `REF`, or in a range FROM..TO (default: the default branch)")
}

// selects reports whether an option narrows or widens the selection.
func (o *treeOptions) selects() bool {
	return o.changed || o.base != "" || len(o.tags) > 0 || len(o.noTags) > 0 || o.query != "" || o.failed != "" || o.along.Any()
}

func rootFlag(f *session.Flags, o *treeOptions) {
	f.StringVar(&o.root, "root", "", "the tree of stacks is in `DIR` (default: the git repository, or the current directory)")
}

// shownDir is a directory as messages name it: "." says nothing.
func shownDir(dir string) string {
	if abs, err := filepath.Abs(dir); err == nil {
		return abs
	}
	return dir
}

// request turns the options into a request to a format.
func (o *treeOptions) request() (fleet.Request, error) {
	r := fleet.Request{Changed: o.changed, Base: o.base, Phases: o.phases, Along: o.along, Asked: o.asked}
	var err error
	if r.Place, err = o.place(); err != nil {
		return r, err
	}
	if r.TagFilter, err = o.tagFilter(); err != nil {
		return r, err
	}
	if r.Query, err = tagQuery(o.query); err != nil || o.failed == "" {
		return r, err
	}
	r.NamesFrom = "The report " + string(o.failed)
	r.Names, err = unfinished(string(o.failed))
	return r, err
}

// place finds the root that the options mean.
func (o *treeOptions) place() (fleet.Place, error) {
	if o.base != "" && !o.changed && !o.gone {
		return fleet.Place{}, failure.Error("Missing required option", "The option -base goes with -changed: add -changed.")
	}
	current, err := os.Getwd()
	if err != nil {
		return fleet.Place{}, err
	}
	at := fleet.Place{Root: o.root}
	if at.Root == "" {
		top := repositoryTop(current)
		if at.Root, err = filepath.Rel(current, top); err != nil {
			return fleet.Place{}, err
		}
	} else if info, err := os.Stat(at.Root); err != nil || !info.IsDir() {
		return fleet.Place{}, failure.Error("Unusable directory", "The option -root names no directory: %s.", at.Root)
	}
	abs, err := filepath.Abs(at.Root)
	if err != nil {
		return fleet.Place{}, err
	}
	if rel, err := filepath.Rel(abs, current); err == nil && filepath.IsLocal(rel) {
		at.Below = path.Join("/", filepath.ToSlash(rel))
	}
	return at, nil
}

// repositoryTop returns the directory above, or the one itself, that has a repository; without one
// the directory itself.
func repositoryTop(dir string) string {
	for at := dir; ; at = filepath.Dir(at) {
		if _, err := os.Lstat(filepath.Join(at, ".git")); err == nil {
			return at
		}
		if at == filepath.Dir(at) {
			return dir
		}
	}
}

// nothing says that nothing is selected, in a clause that ends a sentence, and suggests tags that
// may have been meant. The time since something would have had to change may be empty.
func (o *treeOptions) nothing(since string) string {
	return "nothing " + o.chosen() + since + "." + o.asked.DidYouMean()
}

// chosen names the option that may have left out everything.
func (o *treeOptions) chosen() string {
	switch {
	case o.gone:
		return "that is selected was there at " + o.base + ", is not any more, and has something in its state"
	case o.changed:
		return "that is selected has changed"
	case o.failed != "":
		return "that is selected has failed or was left out, by the report " + string(o.failed)
	}
	return "is selected"
}

func tagQuery(text string) (tagquery.Query, error) {
	query, err := tagquery.Parse(text)
	if err != nil {
		return query, hcl.Diagnostics{
			orderproblem.New(orderproblem.BadTagQuery, nil, "Invalid tag query",
				"The option -query=%s is not a query of tags: %s.", commandLine([]string{text}), err),
		}
	}
	return query, nil
}

// tagFilter is the filter of the options -tags and -no-tags.
func (o *treeOptions) tagFilter() (filter tagquery.TagFilter, err error) {
	if filter.Tags, err = tagQueries("-tags", o.tags); err != nil {
		return filter, err
	}
	filter.NoTags, err = tagQueries("-no-tags", o.noTags)
	return filter, err
}

func tagQueries(option string, texts []string) ([]tagquery.Terms, error) {
	var queries []tagquery.Terms
	for _, text := range texts {
		query, err := tagquery.ParseTerms(text)
		if err != nil {
			return nil, hcl.Diagnostics{
				orderproblem.New(orderproblem.BadTagQuery, nil, "Invalid tag query", "The option %s=%s is not a query of tags: %s.", option, text, err),
			}
		}
		queries = append(queries, query)
	}
	return queries, nil
}

// changeProblem makes a diagnostic of an error of change detection.
func changeProblem(err error) error {
	if p, ok := errors.AsType[*gitdiff.Problem](err); ok {
		return hcl.Diagnostics{failure.With(p.Code, failure.New(p.Summary, "%s", p.Detail))}
	}
	return err
}
