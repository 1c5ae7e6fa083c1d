// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"context"
	"os"
	"path"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
)

// fromConfig reads the configuration of gates and selects of it.
func (g *gates) fromConfig(ctx context.Context) error {
	layout, diags, err := terrateam.Load(g.root)
	if err == nil && diags.HasErrors() {
		err = diags
	}
	if err != nil {
		return err
	}
	filter := terrateam.Filter{Below: g.below}
	if filter.TagFilter, err = g.options.tree.tagFilter(); err != nil {
		return err
	}
	if filter.Query, err = tagQuery(g.options.tree.query); err != nil {
		return err
	}
	causes := layout.All("everything is asked for")
	if g.options.tree.changed {
		if g.repository, g.diff, err = g.options.tree.diffOf(ctx, g.root); err != nil {
			return err
		}
		if causes, err = layout.Changed(g.root, g.diff); err != nil {
			return changeProblem(err)
		}
	}
	change := layout.Change(causes, terrateam.ChangeOptions{Destroy: g.mode == rollout.Destroy, Only: layout.Only(filter)})
	work, moreDiags := change.Rollout(terrateam.RolloutOptions{Root: g.root, Name: g.shown})
	if moreDiags.HasErrors() {
		return moreDiags
	}
	g.work = work
	g.diags = diags.Extend(layout.Hidden(os.Environ()))
	if g.mode == rollout.ApplyAll {
		g.diags = g.diags.Extend(change.Unchecked())
	}
	return nil
}

// shown is how users see a directory: relative to the current one.
func (g *gates) shown(dir string) string {
	name := filepath.Join(g.root, filepath.FromSlash(dir))
	if rel, err := filepath.Rel(filepath.FromSlash(g.below), filepath.FromSlash(path.Join("/", dir))); err == nil && g.below != "" {
		name = rel
	}
	return filepath.ToSlash(filepath.Clean(name))
}
