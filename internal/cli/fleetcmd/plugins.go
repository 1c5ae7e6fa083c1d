// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package fleetcmd

import (
	"context"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/cli/cmdline"
	"github.com/cairnstacks/cairn/internal/cli/session"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/format/plugintasks"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
)

// pluginOptions choose tasks of plugins.
type pluginOptions struct {
	dir     string
	roles   cmdline.List
	lenient bool
	lint    string
}

func pluginFlags(f *session.Flags, o *treeOptions) {
	f.StringVar(&o.plugins.dir, "plugins", "", "instead of stacks, the tasks of the plugins in `DIR`, each a directory with a file tasks.yaml")
	f.Var(&o.plugins.roles, "role", "with -plugins: only tasks of the role `NAME`; may be repeated")
	f.BoolVar(&o.plugins.lenient, "lenient", false, "with -plugins: take numbers of stages that are none as 0")
	f.StringVar(&o.plugins.lint, "lint", "", "with -plugins: warn of numbers in reserved ranges, as of the `original|final` convention")
}

// alone checks that nothing is asked of plugins where there are none.
func (o *pluginOptions) alone() error {
	if len(o.roles) > 0 || o.lenient || o.lint != "" {
		return failure.Error("Missing required option", "The options -role, -lenient and -lint are about tasks of plugins: add -plugins=DIR.")
	}
	return nil
}

// loadPlugins returns the tasks of plugins in order, the selected ones, and warnings.
func loadPlugins(o pluginOptions) ([]*plugintasks.Task, order.Selection, hcl.Diagnostics, error) {
	mode := plugintasks.Strict
	if o.lenient {
		mode = plugintasks.Lenient
	}
	tasks, diags := plugintasks.Load(o.dir, mode)
	if diags.HasErrors() {
		return nil, nil, nil, diags
	}
	switch o.lint {
	case "":
	case "original":
		diags = diags.Extend(plugintasks.Lint(tasks, plugintasks.Original))
	case "final":
		diags = diags.Extend(plugintasks.Lint(tasks, plugintasks.Final))
	default:
		return nil, nil, nil, failure.Error("Unknown convention",
			"There is no convention %q of ranges. Use -lint=original or -lint=final.", o.lint)
	}
	diags = diags.Extend(plugintasks.CheckRoles(o.dir, tasks, o.roles))
	selected := make(order.Selection, len(tasks))
	for i, task := range tasks {
		selected[i] = task.HasRole(o.roles)
	}
	return tasks, selected, diags, nil
}

func selectsNoTasks() error {
	return failure.Error("Conflicting options", "The options -changed, -base, -tags, -no-tags, -query, -failed, "+
		"-with-dependents and -with-dependencies are about stacks. Tasks of plugins are selected by -role.")
}

func openPlugins(options pluginOptions) (*ordering, error) {
	tasks, selected, diags, err := loadPlugins(options)
	if err != nil {
		return nil, err
	}
	names := make([]string, len(tasks))
	for i, task := range tasks {
		names[i] = task.Name()
	}
	graph := plugintasks.Graph(tasks)
	return &ordering{
		graph:    graph,
		rule:     plugintasks.Rule,
		selected: selected,
		name:     func(i int) string { return names[i] },
		find:     finder{what: "task", names: names}.find,
		diags:    diags,
	}, nil
}

// runPlugins runs the shell tasks of plugins.
func runPlugins(ctx context.Context, s *session.Session, options runOptions) (int, error) {
	if err := options.checkFlags(); err != nil {
		return 0, err
	}
	switch t := options.tree; {
	case len(options.command) > 0:
		return 0, failure.Error("Too many arguments",
			"Tasks of plugins have commands of their own: leave out the command %q.", commandLine(options.command))
	case options.reverse:
		return 0, failure.Error("Conflicting options", "Tasks of plugins have no reverse order. Leave out -reverse.")
	case t.selects():
		return 0, selectsNoTasks()
	}
	tasks, selected, diags, err := loadPlugins(options.tree.plugins)
	if err != nil {
		return 0, err
	}
	graph := plugintasks.Graph(tasks)
	o := &ordering{graph: graph, rule: plugintasks.Rule, selected: selected, name: func(n int) string { return tasks[n].Name() }, diags: diags}
	decide := func(n int, _ func(int) order.Result) order.Result {
		if tasks[n].Type == plugintasks.Shell {
			return order.Result{}
		}
		return order.Result{
			State: order.Passed,
			Err:   fmt.Errorf("cairn runs tasks of type shell only; carry out this %s task in another way", tasks[n].Type),
		}
	}
	return runNodes(ctx, s, o, options, order.RunOptions{Parallel: options.parallel, Decide: decide}, func(n int) nodeWork {
		task := tasks[n]
		if task.Type != plugintasks.Shell {
			return nodeWork{shown: []string{string(task.Type) + ",", "not", "run", "by", "cairn"}}
		}
		return nodeWork{
			shown: []string{"/bin/sh", "-c", task.Command},
			Job: process.Job{
				Command: process.Command{Program: "/bin/sh", Args: []string{"-c", task.Command}, Dir: task.Dir, Timeout: task.Timeout},
			},
		}
	})
}
