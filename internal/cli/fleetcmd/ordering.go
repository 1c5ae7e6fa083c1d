// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/format"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/order"

	orderproblem "github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/show"
)

// ordering is an order and the details that can be shown of it, whatever the format in which it is
// described.
type ordering struct {
	graph    *order.Graph
	rule     order.Rule
	selected order.Selection
	name     func(node int) string
	find     func(name string) (int, error)
	diags    hcl.Diagnostics // warnings

	source *fleet.Source // nil for tasks of plugins

	repository *gitdiff.Repository // nil if changes do not matter

	groups []show.Group
	kind   func(node int) show.Kind // nil if there is only one
}

func (o *ordering) view(transitive bool) show.View {
	return show.View{Graph: o.graph, Selected: o.selected, Rule: o.rule, Name: o.name, Transitive: transitive, Groups: o.groups, Kind: o.kind}
}

// openOrdering reads plugins if the options name them, else stacks.
func openOrdering(ctx context.Context, s *session.Session, options treeOptions) (*ordering, error) {
	if options.plugins.dir != "" {
		if options.phases {
			return nil, noPhases()
		}
		if options.selects() {
			return nil, selectsNoTasks()
		}
		return openPlugins(options.plugins)
	}
	if err := options.plugins.alone(); err != nil {
		return nil, err
	}
	src, err := openStacks(ctx, s, options)
	if err != nil {
		return nil, err
	}
	if options.phases && (src.Order == nil || !src.Order.Phased) {
		return nil, noPhases()
	}
	return orderingOf(src)
}

// orderingOf returns the order of the units of a source.
//
// Errors: those of the source and of its order.
func orderingOf(src *fleet.Source) (*ordering, error) {
	diags := append(src.Diags[:len(src.Diags):len(src.Diags)], src.OrderDiags...)
	of := src.Order
	if of == nil {
		return nil, diags
	}
	o := &ordering{
		graph: of.Graph, rule: of.Rule, selected: of.Selected, name: func(n int) string { return of.Steps[n].Name },
		find: findUnit(src), diags: diags, source: src,
	}
	if src.Changes != nil {
		o.repository = src.Changes.Repository
	}
	for _, group := range of.Groups {
		o.groups = append(o.groups, show.Group(group))
	}
	if of.Kinds {
		o.kind = func(n int) show.Kind { return kindOf(of.Steps[n]) }
	}
	return o, nil
}

// kindOf is the kind of a step in pictures.
func kindOf(step fleet.Step) show.Kind {
	switch {
	case step.Unit == nil:
		return ""
	case step.Unit.Task != nil:
		return show.TaskKind
	case step.Phase != "":
		return show.Kind(step.Phase)
	}
	return show.StackKind
}

// findUnit finds the nodes of units by their names, by their directories from here or from the
// root, and by their ids.
func findUnit(src *fleet.Source) func(name string) (int, error) {
	steps := src.Order.Steps
	f := finder{
		what:        src.What,
		names:       make([]string, len(steps)),
		dirs:        make([]string, len(steps)),
		deployments: make([]string, len(steps)),
		below:       src.Below,
	}
	for n, step := range steps {
		if step.Unit == nil {
			continue
		}
		f.names[n] = step.Unit.Name
		if step.Unit.ID != "" {
			if f.ids == nil {
				f.ids = make([]string, len(steps))
			}
			f.ids[n] = step.Unit.ID
			if step.Unit.Deployment != "" { // of which others have the same
				f.ids[n] = deployconfig.NodeName(step.Unit.ID, step.Unit.Deployment)
			}
		}
		if step.Unit.Task == nil {
			f.dirs[n] = step.Unit.Path
			if step.Unit.Deployment != "" {
				f.deployments[n] = deployconfig.NodeName(step.Unit.Path, step.Unit.Deployment)
			}
		}
	}
	f.several = slices.Concat(src.GroupNames, severalNames(src))
	return func(name string) (int, error) {
		if names := deploymentsOf(src, name); len(names) > 0 {
			return 0, hcl.Diagnostics{
				orderproblem.New(orderproblem.UnknownRef, nil, "Several deployments",
					"The stack %q has several deployments: name one of %s.", name, strings.Join(names, ", ")),
			}
		}
		if slices.Contains(src.GroupNames, name) {
			return 0, hcl.Diagnostics{
				orderproblem.New(orderproblem.UnknownRef, nil, "Group in place of a stack",
					"%q is a group. Name a stack or task in it, or that waits for it.", name),
			}
		}
		return f.find(name)
	}
}

// deploymentsOf returns the names of the deployments of a stack of that name, if it has several.
func deploymentsOf(src *fleet.Source, stack string) []string {
	var names []string
	for _, unit := range src.Units {
		if unit.Deployment != "" && unit.Name == deployconfig.NodeName(stack, unit.Deployment) {
			names = append(names, unit.Name)
		}
	}
	return names
}

// severalNames returns the names of stacks with several deployments.
func severalNames(src *fleet.Source) []string {
	var names []string
	for _, unit := range src.Units {
		if stack, isNode := strings.CutSuffix(unit.Name, deployconfig.NodeName("", unit.Deployment)); isNode && unit.Deployment != "" &&
			!slices.Contains(names, stack) {
			names = append(names, stack)
		}
	}
	return names
}

func noPhases() error {
	return failure.Error("No phases", "The option -phases is for stacks of a file %s, which are planned and applied, "+
		"and there is no such file. Leave the option out.", format.File)
}

// finder finds nodes by the names that users give them. The positions in its slices are numbers of
// nodes.
type finder struct {
	what  string   // noun for a node in messages
	names []string // "" for nodes without one
	dirs  []string // with a slash at the beginning; "" for nodes without one
	ids   []string
	below string // base of relative directories, from the root; "" for the root

	deployments []string // the same with a deployment; "" for nodes that are none
	several     []string // other names that stand for several, which find does not know
}

// find returns the node with a name; without one that in a directory, from here or from the root,
// if there is only one; else that with an id.
func (f finder) find(name string) (int, error) {
	if i := slices.Index(f.names, name); i >= 0 && name != "" {
		return i, nil
	}
	here, top := path.Join("/", f.below, filepath.ToSlash(name)), path.Join("/", filepath.ToSlash(name))
	if path.IsAbs(name) {
		here = top
	}
	for _, dir := range []string{here, top} {
		switch in := f.in(dir); len(in) {
		case 0:
		case 1:
			return in[0], nil
		default:
			var names []string
			for _, i := range in {
				names = append(names, f.names[i])
			}
			return 0, hcl.Diagnostics{
				orderproblem.New(orderproblem.UnknownRef, nil, "Ambiguous directory",
					"There are several in %q: name one of %s.", name, strings.Join(names, ", ")),
			}
		}
	}
	if i := slices.Index(f.ids, name); i >= 0 && name != "" {
		return i, nil
	}
	all := ""
	if f.dirs != nil {
		all = " Run \"cairn list\" for all."
	}
	return 0, hcl.Diagnostics{orderproblem.New(orderproblem.UnknownRef, nil, "No such "+f.what, "There is no %s %q.%s%s",
		f.what, name, nearest.DidYouMean(name, slices.Concat(f.names, f.ids, f.several)), all)}
}

// in returns the nodes in a directory.
func (f finder) in(dir string) []int {
	var found []int
	for i := range f.dirs {
		if (f.dirs[i] == dir || f.deployments != nil && f.deployments[i] == dir) && f.names[i] != "" {
			found = append(found, i)
		}
	}
	return found
}
