// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"cmp"
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/gitdiff"
)

// Changes says which stacks and tasks count as modified, and why.
type Changes struct {
	Reasons map[*Leaf][]gitdiff.Reason
	Gone    []gitdiff.Gone // stacks that there were, by the names that they had

	// ByOutputs are the stacks that count as modified only if outputs of others change, with these
	// others.
	ByOutputs map[*Leaf][]*Leaf

	Notes hcl.Diagnostics // warnings: of changes that may be overlooked
}

// Changes finds the stacks and tasks of the workspace file in the directory root that a diff
// affects: by their directories and the modules that these use, by watched files, by changed inputs
// of a run, and by being modified by any of these.
func (m *Model) Changes(ctx context.Context, root string, diff *gitdiff.Diff) (*Changes, error) {
	c := &Changes{Reasons: map[*Leaf][]gitdiff.Reason{}}
	if err := c.addDirectories(ctx, m, root, diff); err != nil {
		return nil, err
	}
	files, err := diff.Below(root)
	if err != nil {
		return nil, err
	}
	for leaf, cause := range m.watching(files) {
		c.add(leaf, gitdiff.Reason{Kind: gitdiff.Watched, Text: cause.Text})
	}
	before, err := m.outlinesBefore(ctx, root, diff)
	if err != nil {
		return nil, err
	}
	c.addDeployments(m, before)
	if err := c.addInputs(ctx, m, root, diff, before); err != nil {
		return nil, err
	}
	own := map[*Leaf]Cause{}
	for leaf, reasons := range c.Reasons {
		own[leaf] = Cause{Text: reasons[0].Text}
	}
	modified := m.modified(own)
	for leaf, cause := range modified {
		if cause.By != nil {
			c.add(leaf, gitdiff.Reason{Kind: gitdiff.ModifiedBy, Text: cause.Text})
		}
	}
	c.ByOutputs = m.onlyByOutputs(own, modified)
	return c, nil
}

func (c *Changes) add(leaf *Leaf, reason gitdiff.Reason) {
	c.Reasons[leaf] = append(c.Reasons[leaf], reason)
}

// addDirectories adds the changes in the directories of stacks, and in the modules that they use. A
// file in a directory belongs to the stacks in it, or in the nearest directory above it that has
// some; the attribute "files" of a stack replaces that.
func (c *Changes) addDirectories(ctx context.Context, m *Model, root string, diff *gitdiff.Diff) error {
	tree := &terramate.Tree{Root: root}
	for _, leaf := range m.Leaves {
		if leaf.Stack != nil {
			tree.Stacks = append(tree.Stacks, &terramate.Stack{Path: path.Join("/", leaf.Stack.Dir)})
		}
	}
	slices.SortFunc(tree.Stacks, func(a, b *terramate.Stack) int { return cmp.Compare(a.Path, b.Path) })
	tree.Stacks = slices.CompactFunc(tree.Stacks, func(a, b *terramate.Stack) bool { return a.Path == b.Path })
	found, err := tree.Changes(ctx, diff)
	if err != nil {
		return err
	}
	c.Notes = found.Notes
	for _, leaf := range m.Leaves {
		if leaf.Stack == nil {
			continue
		}
		i, _ := tree.Index(path.Join("/", leaf.Stack.Dir)) // where it was put
		for _, reason := range found.Reasons[i] {
			if leaf.Stack.Files == nil || reason.Kind != gitdiff.InDirectory {
				c.add(leaf, reason)
			}
		}
	}
	return nil
}

// addInputs adds the stacks for which the workspace file itself says something else than at the
// base, and those that it had then.
func (c *Changes) addInputs(
	ctx context.Context, m *Model, root string, diff *gitdiff.Diff, outlines map[string]*deployconfig.Outline,
) error {
	prefix, err := diff.Prefix(root)
	if err != nil {
		return err
	}
	file := diff.File(path.Join(prefix, FileName))
	if file == nil {
		return nil
	}
	add := func(leaf *Leaf, text string) {
		c.add(leaf, gitdiff.Reason{Kind: gitdiff.Inputs, File: file.Path, Text: text})
	}
	before, err := m.modelBefore(ctx, diff, file, outlines)
	if err != nil {
		for _, leaf := range m.Leaves {
			if leaf.Stack != nil {
				add(leaf, file.Path+" changed, and its earlier text about "+leaf.Name+" is not known: "+strings.TrimSuffix(err.Error(), "."))
			}
		}
		return nil
	}
	inputs := m.compare(before)
	for leaf, cause := range inputs.changed {
		add(leaf, cause.Text)
	}
	for _, gone := range inputs.gone {
		one := gitdiff.Gone{Path: path.Join("/", gone.leaf.Stack.Dir), Name: gone.leaf.Name}
		if gone.renamedTo != nil {
			one.RenamedTo = gone.renamedTo.Name
		}
		c.Gone = append(c.Gone, one)
	}
	return nil
}

// modelBefore is the model of the workspace file at the base, an empty one if the file is new.
// Deployments are those of the base, or the present ones where there is no record of them.
func (m *Model) modelBefore(
	ctx context.Context, diff *gitdiff.Diff, file *gitdiff.File, outlines map[string]*deployconfig.Outline,
) (*Model, error) {
	var src []byte
	if !file.Added && !file.Untracked {
		var err error
		if src, err = diff.Before(ctx, cmp.Or(file.From, file.Path), MaxSize); err != nil {
			return nil, err
		}
	}
	earlier, diags := Parse(FileName, src)
	if diags.HasErrors() {
		return nil, diags
	}
	all := maps.Clone(outlines)
	for _, block := range m.Blocks {
		if dir := block.stackDir(); dir != "" && all[dir] == nil {
			all[dir] = block.outlined()
		}
	}
	if diags := earlier.expandBy(func(s *Stack) *deployconfig.Outline { return all[s.Dir] }); diags.HasErrors() {
		return nil, diags
	}
	model, diags := Resolve(earlier)
	if diags.HasErrors() {
		return nil, diags
	}
	return model, nil
}
