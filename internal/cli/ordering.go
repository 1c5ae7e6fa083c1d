// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	orderproblem "github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/show"
)

// ordering is what can be shown of an order, whatever the format in which it is described.
type ordering struct {
	graph    *order.Graph
	rule     order.Rule
	selected order.Selection
	name     func(node int) string
	find     func(name string) (int, error)
	diags    hcl.Diagnostics // warnings

	repository *gitdiff.Repository // nil if it does not matter what has changed

	groups []show.Group
	kind   func(node int) show.Kind // nil if there is only one
}

func (o *ordering) view(transitive bool) show.View {
	return show.View{Graph: o.graph, Selected: o.selected, Rule: o.rule, Name: o.name, Transitive: transitive, Groups: o.groups, Kind: o.kind}
}

// openOrdering reads plugins if the options name them, else what there are of stacks.
func (s *session) openOrdering(ctx context.Context, options treeOptions) (*ordering, error) {
	if options.plugins.dir != "" {
		if options.phases {
			return nil, noPhases()
		}
		return s.openPlugins(options.plugins)
	}
	if err := options.plugins.alone(); err != nil {
		return nil, err
	}
	opened, err := s.openStacks(ctx, options)
	if err != nil {
		return nil, err
	}
	return opened.ordered()
}

func noPhases() error {
	return fail("No phases", "The option -phases is about stacks of a file %s, which are planned and applied; here is none. Leave it out.", cairnfile.FileName)
}

// finder finds nodes by what users call them. The positions in its slices are numbers of nodes.
type finder struct {
	what  string   // what there is
	names []string // "" for what has none
	dirs  []string // with a slash at the beginning; "" for what is in none
	ids   []string
	below string // what directories are relative to, from the root; "" for the root
}

// find returns the node with a name; without one that in a directory, from here or from the root, if there is only one; else that with an id.
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
			return 0, hcl.Diagnostics{orderproblem.New(orderproblem.UnknownRef, nil, "Directory of several", "There are several in %q: name one of %s.", name, strings.Join(names, ", "))}
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
		f.what, name, didYouMean(name, slices.Concat(f.names, f.ids), ""), all)}
}

// in returns what is in a directory.
func (f finder) in(dir string) []int {
	var found []int
	for i := range f.dirs {
		if f.dirs[i] == dir && f.names[i] != "" {
			found = append(found, i)
		}
	}
	return found
}
