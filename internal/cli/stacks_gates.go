// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/internal/show"
)

// ordering is the order of directories, or with phases of their plans and applies.
func (g *gates) ordering(phases bool) *ordering {
	w := g.work
	o := &ordering{graph: w.Graph, rule: w.Rule, diags: g.diags, repository: g.repository, selected: make(order.Selection, w.Graph.Len())}
	names := make([]string, w.Graph.Len())
	groups := map[string]int{}
	for n, step := range w.Steps {
		if step.Phase == "" {
			names[n] = w.Graph.Node(n).Name
			continue
		}
		if !phases && step.Phase == rollout.Plan {
			continue
		}
		unit := &w.Units[step.Unit]
		o.selected[n], names[n] = w.Selected.Has(n), unit.Name
		if phases {
			names[n] = string(step.Phase) + " " + unit.Name
		}
		at, known := groups[unit.Stack]
		if !known {
			at = len(o.groups)
			groups[unit.Stack] = at
			o.groups = append(o.groups, show.Group{Name: unit.Stack})
		}
		o.groups[at].Nodes = append(o.groups[at].Nodes, n)
	}
	o.name = func(n int) string { return names[n] }
	f := finder{what: "directory", names: make([]string, len(names)), dirs: make([]string, len(names)), below: g.below}
	for n, step := range w.Steps {
		if o.selected[n] {
			f.names[n], f.dirs[n] = names[n], path.Join("/", w.Units[step.Unit].Path)
		}
	}
	o.find = f.find
	if phases {
		o.kind = func(n int) show.Kind { return show.Kind(w.Steps[n].Phase) }
	}
	return o
}

func (g *gates) ordered() (*ordering, error) { return g.ordering(g.options.tree.phases), nil }

func (g *gates) listed(inOrder bool) (listing, error) {
	var units []*rollout.Unit
	if inOrder {
		o := g.ordering(false)
		for _, n := range o.graph.Sequence(o.rule, o.selected) {
			units = append(units, &g.work.Units[g.work.Steps[n].Unit])
		}
	} else {
		for _, unit := range g.work.Chosen() {
			units = append(units, &g.work.Units[unit])
		}
		slices.SortFunc(units, func(a, b *rollout.Unit) int {
			return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Workspace, b.Workspace))
		})
	}
	l := listing{diags: g.diags}
	if g.diff != nil {
		l.base = baseOf(g.diff)
	}
	for _, u := range units {
		listed := listedStack{
			shown: u.Name,
			Path:  path.Join("/", u.Path), Directory: g.shown(u.Path), Name: u.Stack, Tags: append([]string{}, u.Tags...),
			Type: string(u.Kind), Workspace: u.Workspace,
		}
		if g.diff != nil {
			for _, reason := range u.Reasons {
				listed.Reasons = append(listed.Reasons, gitdiff.Reason{Kind: gitdiff.Gate, Text: reason})
			}
		}
		l.stacks = append(l.stacks, listed)
	}
	return l, nil
}

// runIn runs a command in the directories of gated stacks.
func (g *gates) runIn(ctx context.Context, options runOptions) (int, error) {
	if err := g.checkStates(); err != nil {
		return 0, err
	}
	o := g.ordering(false)
	if options.reverse {
		o.graph = o.graph.Reverse()
	}
	return g.session.runNodes(ctx, o, options, order.RunOptions{Parallel: options.parallel, Limits: g.work.AllLimits()}, func(n int) nodeWork {
		u := &g.work.Units[g.work.Steps[n].Unit]
		env := append(append(os.Environ(), u.Env...), "CAIRN_STACK="+u.Stack)
		if u.Workspace != "" {
			env = append(env, "TF_WORKSPACE="+u.Workspace)
		}
		command := process.Command{Program: options.program, Args: options.command[1:], Dir: u.Dir, Env: env}
		return nodeWork{shown: options.command, Job: process.Job{Command: command}}
	})
}
