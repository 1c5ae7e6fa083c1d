// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gone

import (
	"cmp"
	"os"
	"slices"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/localsource"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/order"
	"github.com/cairnstacks/cairn/internal/settings"
)

// key is the identity of a unit: its place, and its choice among the states there.
type key struct {
	dir                   string
	kind                  rollout.Kind
	deployment, workspace string
}

func keyOf(u *rollout.Unit) key {
	k := key{dir: clean(u.Path), kind: u.Kind}
	if u.Kind == rollout.Components {
		k.deployment = deploymentOf(u)
	} else {
		k.workspace = cmp.Or(u.Workspace, rollout.DefaultWorkspace)
	}
	return k
}

func deploymentOf(u *rollout.Unit) string { return cmp.Or(u.Deployment, settings.DefaultDeployment) }

// expand returns a work in which each deployment of a stack is a unit of its own. The units and
// nodes that there were keep their numbers.
func expand(work *rollout.Work) (*rollout.Work, hcl.Diagnostics) {
	expanded := *work
	expanded.Units = slices.Clone(work.Units)
	var diags hcl.Diagnostics
	added := map[int][]int{} // by unit, those for its other deployments
	for i := range work.Units {
		names, moreDiags := deploymentsOf(&work.Units[i])
		if diags = diags.Extend(moreDiags); len(names) == 0 {
			continue
		}
		for j, of := range names {
			one := work.Units[i]
			one.Deployment, one.Env = of, append(slices.Clone(one.Env), env.DeploymentVariable+"="+of)
			if len(names) > 1 {
				one.Name += ":" + of
			}
			if j == 0 {
				expanded.Units[i] = one
				continue
			}
			added[i] = append(added[i], len(expanded.Units))
			expanded.Units = append(expanded.Units, one)
		}
	}
	if len(added) == 0 || diags.HasErrors() {
		return &expanded, diags
	}
	if err := addNodes(&expanded, work, added); err != nil {
		return nil, failure.Diagnostics(err)
	}
	return &expanded, diags
}

// deploymentsOf returns the deployments that a unit stands for without naming one, none if it has
// no named deployments.
func deploymentsOf(u *rollout.Unit) ([]string, hcl.Diagnostics) {
	if u.Kind != rollout.Components || u.Deployment != "" {
		return nil, nil
	}
	config, diags := deployconfig.Load(u.Dir)
	if diags.HasErrors() {
		return nil, hcl.Diagnostics{failure.New("Deployment files unreadable",
			"Which deployments %q had cannot be known, as there are mistakes in its deployment files: %s", u.Name, diags[0].Detail)}
	}
	if config == nil {
		return nil, nil
	}
	return config.Order, nil
}

// addNodes adds the nodes of added units, which wait for the same as those that were there.
func addNodes(expanded, work *rollout.Work, added map[int][]int) error {
	// The nodes of a graph are numbered by their order, and steps, selection and limits
	// refer to the numbers. The present nodes keep theirs, as they are added first.
	var b order.Builder
	expanded.Steps, expanded.Selected = slices.Clone(work.Steps), slices.Clone(work.Selected)
	for n := range work.Graph.Len() {
		node := work.Graph.Node(n)
		if step := work.Steps[n]; step.Phase != "" && len(added[step.Unit]) > 0 {
			node.Name = string(step.Phase) + " " + expanded.Units[step.Unit].Name
		}
		b.Add(node)
	}
	copies := make([][]int, work.Graph.Len()) // by node, for the added units in their order
	for n, step := range work.Steps {
		if step.Phase == "" {
			continue
		}
		for _, unit := range added[step.Unit] {
			node := work.Graph.Node(n)
			node.Name = string(step.Phase) + " " + expanded.Units[unit].Name
			copies[n] = append(copies[n], b.Add(node))
			expanded.Steps = append(expanded.Steps, rollout.Step{Unit: unit, Phase: step.Phase})
			if work.Selected != nil {
				expanded.Selected = append(expanded.Selected, work.Selected[n])
			}
		}
	}
	for _, edge := range work.Graph.Edges() {
		from, to := append([]int{edge.From}, copies[edge.From]...), append([]int{edge.To}, copies[edge.To]...)
		own := work.Steps[edge.From].Phase != "" && work.Steps[edge.To].Phase != "" && work.Steps[edge.From].Unit == work.Steps[edge.To].Unit
		for i := range from {
			for j := range to {
				if own && i != j {
					continue // a plan comes before its own apply only
				}
				edge.From, edge.To = from[i], to[j]
				b.Edge(edge)
			}
		}
	}
	var err error
	if expanded.Graph, err = b.Build(); err != nil {
		return err
	}
	expanded.Limits = slices.Clone(work.Limits)
	for i, limit := range expanded.Limits {
		nodes := slices.Clone(limit.Nodes)
		for _, n := range limit.Nodes {
			nodes = append(nodes, copies[n]...)
		}
		expanded.Limits[i].Nodes = nodes
	}
	expanded.Conditions = nil // destroyed units have none
	return nil
}

// present holds the units that exist.
type present struct {
	units map[key]*rollout.Unit
	dirs  map[string]*directory // in which there is some of it
}

// directory is the configuration in a directory.
type directory struct {
	kind        rollout.Kind // "" without a configuration
	deployments []string     // that are declared
	listed      bool         // it is that of a unit
}

// living returns the units that exist.
func (c *Comparison) living() (*present, hcl.Diagnostics) {
	p := &present{units: map[key]*rollout.Unit{}, dirs: map[string]*directory{}}
	if c.Living == nil {
		return p, nil
	}
	work, diags := expand(c.Living)
	if diags.HasErrors() {
		return p, diags
	}
	for i := range work.Units {
		u := &work.Units[i]
		if u.Task != nil {
			continue
		}
		p.units[keyOf(u)] = u
		at := clean(u.Path)
		if p.dirs[at] == nil {
			p.dirs[at] = lookAt(u.Dir)
			p.dirs[at].kind, p.dirs[at].listed = u.Kind, true
		}
	}
	return p, nil
}

// lookAt finds the configuration in a directory, which need not exist.
func lookAt(dir string) *directory {
	found := &directory{}
	for _, name := range configFiles(dir) {
		if localsource.IsStackFile(name) {
			found.kind = rollout.Components
			break
		}
		found.kind = rollout.Root
	}
	if config, _ := deployconfig.Load(dir); config != nil && found.kind == rollout.Components { //nolint:errcheck // reported elsewhere
		found.deployments = config.Order
	}
	return found
}

// configFiles returns the names of the files in a directory that make it a stack or a root module.
func configFiles(dir string) []string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	var names []string
	for _, entry := range entries {
		if !entry.IsDir() && (localsource.IsStackFile(entry.Name()) || localsource.IsModuleFile(entry.Name())) {
			names = append(names, entry.Name())
		}
	}
	return names
}

func exists(file string) bool {
	_, err := os.Stat(file)
	return err == nil
}
