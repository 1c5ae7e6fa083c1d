// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package terrateam

import (
	"maps"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/problem"
)

// RolloutOptions say where a change is to be done.
type RolloutOptions struct {
	Root string                  // directory of the repository
	Name func(dir string) string // name of a directory for users; nil for its path from the root
}

// Rollout returns a change as work to be done.
//
// Errors: stacks that cannot have the workspaces that are configured.
func (c *Change) Rollout(o RolloutOptions) (*rollout.Work, hcl.Diagnostics) {
	work := &rollout.Work{Graph: c.graph.Graph}
	var diags hcl.Diagnostics
	units := map[int]int{} // by dirspace
	for _, s := range c.Stacks {
		for _, d := range s.Dirspaces {
			unit := c.unit(d, o)
			if unit.Kind == rollout.Components && unit.Workspace != "" {
				diags = diags.Append(problem.New(problem.BadValue, nil, "Workspace for a stack",
					"The directory %s has the workspace %q in %s, but also files *.tfcomponent.hcl: such stacks have no workspaces. "+
						"Nothing was run. Remove the workspace, or make a directory for each.", unit.Dir, unit.Workspace, ConfigFile))
			}
			units[d.Dirspace] = len(work.Units)
			work.Units = append(work.Units, unit)
		}
	}
	if diags.HasErrors() {
		return nil, diags
	}
	for n, w := range c.graph.work {
		step := rollout.Step{}
		if !c.graph.Node(n).Anchor {
			step = rollout.Step{Unit: units[w.Dirspace], Phase: rollout.Phase(w.Action.String())}
		}
		work.Steps = append(work.Steps, step)
	}
	return work, nil
}

func (c *Change) unit(d ModifiedDirspace, o RolloutOptions) rollout.Unit {
	in, owner := c.Dirspaces[d.Dirspace], c.owner[d.Dirspace]
	unit := rollout.Unit{
		Name: in.Dir, Stack: c.Layout.Stacks[owner].Name, Kind: c.kind(d.Dirspace),
		Dir: filepath.Join(o.Root, filepath.FromSlash(in.Dir)), Path: in.Dir,
		AutoApply: c.AutoApply(owner), Tags: c.Tags(d.Dirspace), Reasons: []string{d.Reason},
	}
	if o.Name != nil {
		unit.Name = o.Name(in.Dir)
	}
	if q := c.Requirements(d.Dirspace); q != nil {
		unit.Requirements = q.Names
	}
	if in.Workspace != rollout.DefaultWorkspace {
		unit.Workspace = in.Workspace
		unit.Name += " (" + in.Workspace + ")"
	}
	variables := c.Variables(owner)
	for _, name := range slices.Sorted(maps.Keys(variables)) { // line B-13
		unit.Env = append(unit.Env, name+"="+variables[name])
	}
	return unit
}
