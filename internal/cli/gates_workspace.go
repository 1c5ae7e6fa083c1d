// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
)

// fromWorkspace reads the workspace file and selects of it.
func (g *gates) fromWorkspace(ctx context.Context) error {
	w, err := g.session.openWorkspace(ctx, g.place, g.options.tree, func(m *cairnfile.Model) (*cairnfile.Graph, hcl.Diagnostics) {
		if g.mode == rollout.Destroy {
			return m.DestroyGraph()
		}
		return m.Graph(true)
	})
	if err != nil {
		return err
	}
	g.diags = w.diags
	g.repository = w.repository
	if g.options.parallelOption == 0 {
		g.parallel = max(w.Model.Parallel, 1)
	}
	options := cairnfile.RolloutOptions{
		Root: w.absolute, Selected: w.selected.Leaves, Tasks: g.mode == rollout.ApplyAll,
		Reasons: func(leaf *cairnfile.Leaf) []string {
			if w.changes == nil {
				return []string{"everything is asked for"}
			}
			return w.selected.Why(leaf)
		},
	}
	if w.changes != nil {
		options.ByOutputs = w.changes.ByOutputs
	}
	g.work = w.Rollout(options)
	return nil
}
