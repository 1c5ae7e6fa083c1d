// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/order/render"
	"github.com/cairnstacks/cairn/internal/order/stage"
)

// ordering is what can be shown of an order, whatever the format in which it is described.
type ordering struct {
	graph    *order.Graph
	rule     order.Rule
	selected order.Selection
	name     func(node int) string
	find     func(name string) (int, error)
	diags    hcl.Diagnostics // warnings
}

func (o *ordering) view(transitive bool) render.View {
	return render.View{Graph: o.graph, Selected: o.selected, Rule: o.rule, Name: o.name, Transitive: transitive}
}

// openOrdering reads plugins if the options name them, else the workspace file if there is one, else the tree of stacks.
func (s *session) openOrdering(ctx context.Context, options treeOptions) (*ordering, error) {
	if options.plugins.dir != "" {
		return s.openPlugins(options.plugins)
	}
	if err := options.plugins.alone(); err != nil {
		return nil, err
	}
	if work, err := s.openWorkspace(ctx, options); err != nil {
		return nil, err
	} else if work != nil {
		return &work.ordering, nil
	}
	tree, err := s.openTree(ctx, options)
	if err != nil {
		return nil, err
	}
	if err := tree.order(); err != nil {
		return nil, err
	}
	return &ordering{tree.graph, order.ByQueue, tree.selected.Selection, tree.name, tree.find, tree.diags}, nil
}

// pluginOptions choose tasks of plugins.
type pluginOptions struct {
	dir     string
	roles   listValue
	lenient bool
	lint    string
}

func (f *flagSet) pluginFlags(o *treeOptions) {
	f.StringVar(&o.plugins.dir, "plugins", "", "instead of stacks, the tasks of the plugins in `DIR`, each a directory with a file tasks.yaml")
	f.Var(&o.plugins.roles, "role", "with -plugins: only tasks of the role `NAME`; may be repeated")
	f.BoolVar(&o.plugins.lenient, "lenient", false, "with -plugins: take numbers of stages that are none as 0")
	f.StringVar(&o.plugins.lint, "lint", "", "with -plugins: warn of numbers in reserved ranges, as of the `original|final` convention")
}

// alone checks that nothing is asked of plugins where there are none.
func (o *pluginOptions) alone() error {
	if len(o.roles) > 0 || o.lenient || o.lint != "" {
		return fail("Option without another", "The options -role, -lenient and -lint are about tasks of plugins: add -plugins=DIR.")
	}
	return nil
}

// loadPlugins returns the tasks of plugins in order, the selected ones, and warnings.
func loadPlugins(o pluginOptions) ([]*stage.Task, order.Selection, hcl.Diagnostics, error) {
	mode := stage.Strict
	if o.lenient {
		mode = stage.Lenient
	}
	tasks, diags := stage.Load(o.dir, mode)
	if diags.HasErrors() {
		return nil, nil, nil, diags
	}
	switch o.lint {
	case "":
	case "original":
		diags = diags.Extend(stage.Lint(tasks, stage.Original))
	case "final":
		diags = diags.Extend(stage.Lint(tasks, stage.Final))
	default:
		return nil, nil, nil, fail("Unknown convention", "There is no convention %q of ranges. Use -lint=original or -lint=final.", o.lint)
	}
	selected := make(order.Selection, len(tasks))
	for i, task := range tasks {
		selected[i] = task.HasRole(o.roles)
	}
	return tasks, selected, diags, nil
}

func (s *session) openPlugins(options pluginOptions) (*ordering, error) {
	tasks, selected, diags, err := loadPlugins(options)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = task.Name()
	}
	graph := stage.Graph(tasks)
	return &ordering{graph, order.ByQueue, selected, func(i int) string { return names[i] }, finder("task", names), diags}, nil
}

// finder finds names of a list, whose positions are numbers of nodes.
func finder(what string, names []string) func(string) (int, error) {
	return func(name string) (int, error) {
		if i := slices.Index(names, name); i >= 0 && name != "" {
			return i, nil
		}
		return 0, hcl.Diagnostics{order.Problem(order.CodeUnknownRef, nil, "No such "+what, "There is no %s %q.%s", what, name, didYouMean(name, names, ""))}
	}
}
