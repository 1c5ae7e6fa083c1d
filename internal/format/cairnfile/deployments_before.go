// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cairnfile

import (
	"cmp"
	"context"
	"path"
	"path/filepath"

	"github.com/cairnstacks/cairn/internal/deployments/deployconfig"
	"github.com/cairnstacks/cairn/internal/gitdiff"
	"github.com/cairnstacks/cairn/internal/hclsource"
)

// outlinesBefore returns the deployments at the base, by directory, as far as they differ from the
// present ones.
func (m *Model) outlinesBefore(ctx context.Context, root string, diff *gitdiff.Diff) (map[string]*deployconfig.Outline, error) {
	now := map[string]*deployconfig.Outline{}
	for _, block := range m.Blocks {
		if dir := block.stackDir(); dir != "" {
			now[dir] = block.outlined()
		}
	}
	prefix, err := diff.Prefix(root)
	if err != nil {
		return nil, err
	}
	type change struct{ dir, name, before string }
	var changes []change
	var files []string
	// A renamed file counts in two directories: in one it is gone, in the other it is new. Only the
	// name that git knows at the base has an earlier text.
	for _, file := range diff.Files {
		for _, at := range []string{file.Path, file.From} {
			below, ok := gitdiff.FromRoot(prefix, at)
			if !ok || at == "" || !deployconfig.IsDeployFile(at) {
				continue
			}
			dir := cmp.Or(path.Dir(below)[1:], ".") // that of a stack now or then
			one := change{dir: dir, name: path.Base(at)}
			if existed := !file.Added && !file.Untracked; at == file.From || existed && file.From == "" {
				one.before = at
				files = append(files, at)
			}
			changes = append(changes, one)
		}
	}
	if len(changes) == 0 {
		return map[string]*deployconfig.Outline{}, nil
	}
	sources, err := diff.ContentsBefore(ctx, files, hclsource.MaxSize)
	if err != nil {
		return nil, err
	}
	// The directory at the base is the present one with the changed files put back, as git hands out
	// single files and the unchanged ones are read already. All changed files go first: one may have
	// taken the name of another.
	texts := map[string]map[string][]byte{}
	for _, c := range changes {
		if texts[c.dir] == nil {
			texts[c.dir] = map[string][]byte{}
			if now[c.dir] != nil {
				for name, file := range now[c.dir].Files {
					texts[c.dir][filepath.Base(name)] = file.Bytes
				}
			}
		}
		delete(texts[c.dir], c.name)
	}
	for _, c := range changes {
		if src, ok := sources[c.before]; ok {
			texts[c.dir][c.name] = src
		}
	}
	before := map[string]*deployconfig.Outline{}
	for dir, ofDir := range texts {
		before[dir], _ = deployconfig.NewOutline(ofDir) //nolint:errcheck // the readable part of it is enough
	}
	return before, nil
}

// outlined returns the deployments of a stack; nil if it has no deployment files.
func (b *Block) outlined() *deployconfig.Outline {
	if b.Several != nil {
		return b.Several.Outline
	}
	return b.Stack.outline
}

// addDeployments adds the deployments that stacks had as nodes of their own, and have no more.
func (c *Changes) addDeployments(m *Model, before map[string]*deployconfig.Outline) {
	for _, block := range m.Blocks {
		had := before[block.stackDir()]
		if had == nil || len(had.Deployments) < 2 || block.Several == nil && (block.Stack == nil || block.Stack.Deployment != "") {
			continue
		}
		for _, name := range had.Names() {
			gone := gitdiff.Gone{Path: path.Join("/", block.stackDir()), Name: deployconfig.NodeName(block.Name, name)}
			if block.Several == nil && name == block.Stack.only {
				gone.RenamedTo = block.Name
			} else if block.Several != nil && block.Several.Outline.Deployment(name) != nil {
				continue
			}
			c.Gone = append(c.Gone, gone)
		}
	}
}
