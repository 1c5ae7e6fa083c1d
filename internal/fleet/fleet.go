// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package fleet is about many stacks: their list, their order, and the selected ones among them.
//
// The packages of formats answer a [Request] with a [Source], which is the same for all of them, or
// with [Work] for a rollout. A caller that lists stacks, shows their order or runs something in
// them needs to know no format.
package fleet

import (
	"context"
	"path"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/tagquery"
	"github.com/cairnstacks/cairn/internal/workers/config"
)

// Place is where stacks are, and where the user is.
type Place struct {
	Root  string // directory of the repository or tree, relative to the current one where it can be
	Below string // the current directory, from the root, with a slash at the beginning; "" if it is not in it
}

// Shown returns how users see a directory, which is a path from the root: relative to the current
// directory.
func (p Place) Shown(dir string) string {
	if p.Below != "" {
		if rel, err := filepath.Rel(filepath.FromSlash(p.Below), filepath.FromSlash(path.Join("/", dir))); err == nil {
			return filepath.ToSlash(rel)
		}
	}
	return filepath.ToSlash(filepath.Join(p.Root, filepath.FromSlash(dir)))
}

// Request holds the selection and the options for reading a format.
type Request struct {
	Place
	tagquery.TagFilter
	Query tagquery.Query
	Asked *tagquery.Asked // records the subjects of both; nil if that does not matter

	Changed bool   // only changed units
	Base    string // since when; see [gitdiff.Repository.Diff]

	// Names are those of the units that are asked for, wherever they are; nil for all. NamesFrom is
	// the source of the names, in words that begin a sentence.
	Names     []string
	NamesFrom string

	Along Along // additions of the graph to that selection

	Phases bool // plans and applies are to be nodes of their own, where the format knows them
}

// Matches returns a function that reports whether the query matches a unit, by its number. All
// units are to be given, also those that are left out for other reasons: a name that any unit has
// was not mistyped.
func (r *Request) Matches(units []tagquery.Subject) func(unit int) bool {
	r.Asked.Look(r.Query, r.Tags, units)
	return func(unit int) bool { return r.Query.Match(units[unit]) }
}

// Diff asks git for the changes. It is nil if they do not matter.
//
// Errors: those of [gitdiff.Open] and [gitdiff.Repository.Diff].
func (r *Request) Diff(ctx context.Context) (*Changes, error) {
	if !r.Changed {
		return nil, nil
	}
	repository, err := gitdiff.Open(ctx, r.Root)
	if err != nil {
		return nil, err
	}
	diff, err := repository.Diff(ctx, r.Base)
	if err != nil {
		return nil, err
	}
	return &Changes{Diff: diff, Repository: repository}, nil
}

// Changes are the changes in a repository.
type Changes struct {
	*gitdiff.Diff
	Repository *gitdiff.Repository
	Gone       []gitdiff.Gone // stacks of the base that do not exist any more
}

// Unit is a stack, a root module in one of its workspaces, or a task.
type Unit struct {
	Name string // as users see it
	Kind rollout.Kind

	Path      string // of its directory from the root, with slashes and one at the beginning
	Directory string // the same as users see it
	Dir       string // where programs run

	ID, Title, Description string // as they are written; each may be ""
	Tags                   []string
	Groups                 []string // that hold it
	Deployment, Workspace  string   // "" for the default ones

	Env  []string      // NAME=VALUE, besides the environment of this process
	Task *rollout.Task // of a task

	Reasons []gitdiff.Reason // why it counts as changed
	Wanted  string           // why it is selected although filters leave it out

	// Of an addition of the graph: the unit by which it is reached, and where that is written.
	By   *Unit
	ByAt order.Place
}

// Source holds the units of a format, and the selected ones among them. It does not change.
type Source struct {
	Place
	What     string         // the word for its units
	Units    []*Unit        // in the order in which they are listed
	Selected map[*Unit]bool // of them
	Changes  *Changes       // nil if changes do not matter

	Order      *Order          // nil if there is none, as of cycles
	OrderDiags hcl.Diagnostics // errors or warnings about the order
	Diags      hcl.Diagnostics // other warnings
	Files      map[string]*hcl.File

	// Work has the units that must not share states when commands are run in them. Nil if that does
	// not matter.
	Work *rollout.Work

	// GroupNames are names that users may take for those of units.
	GroupNames []string

	// Empty says that there is nothing of any format.
	Empty bool
}

// Order is the order of units, as a graph of steps.
type Order struct {
	Graph    *order.Graph
	Rule     order.Rule
	Steps    []Step // by node
	Selected order.Selection
	Groups   []Group
	Phased   bool // plans and applies are nodes of their own
	Kinds    bool // steps are of different kinds, as pictures show

	Parallel int // how many steps may run at once as the format says; 0 if it does not
	Limits   []order.Limit

	Conditions rollout.Conditions // nil if edges say everything
}

// Step is the meaning of a node of an order.
type Step struct {
	Unit  *Unit         // nil at points where others meet, and for hidden units
	Name  string        // of the node, as users see it
	Phase rollout.Phase // "" for all of the unit
}

// Group is a set of nodes that belong together in an order.
type Group struct {
	Name  string
	Nodes []int
}

// Listed returns the selected units as they are listed.
func (s *Source) Listed() []*Unit {
	return slices.DeleteFunc(slices.Clone(s.Units), func(u *Unit) bool { return !s.Selected[u] })
}

// Sequence returns the selected units in the order in which they are run.
func (o *Order) Sequence() []*Unit {
	var units []*Unit
	for _, n := range o.Graph.Sequence(o.Rule, o.Selected) {
		units = append(units, o.Steps[n].Unit)
	}
	return units
}

// NamedDir is a directory that a rule of a workspace file names.
type NamedDir struct {
	Dir   string // from the root
	By    string // the name of the block with the rule
	Text  string // as it is written
	Range hcl.Range
}

// Work holds a format's units and steps for a rollout.
type Work struct {
	*rollout.Work
	Parallel int      // how many units may be worked on at once as the format says; 0 if it does not
	Changes  *Changes // nil if changes do not matter
	Diags    hcl.Diagnostics

	Workers *config.Config // nil if the format names none
}
