// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package format finds the format in which a directory lists its stacks, and reads it. The formats
// themselves are in the packages below.
package format

import (
	"context"
	"errors"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/convert"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
)

// The files that list the stacks of a repository, in its root; without them directories do.
const (
	File     = cairnfile.FileName
	GateFile = terrateam.ConfigFile
)

// ErrNoStacks is returned where there are no stacks, and no file that names any.
var ErrNoStacks = errors.New("there are no stacks")

// Open reads the workspace file if there is one, else the tree of stacks, else the configuration of
// gates. The files of the source are there also with errors; it is never nil.
func Open(ctx context.Context, r fleet.Request) (*fleet.Source, error) {
	if cairnfile.Exists(r.Root) {
		return orNone(cairnfile.Open(ctx, r))
	}
	tree, diags := terramate.Load(r.Root)
	if diags.HasErrors() {
		return &fleet.Source{Files: tree.Files}, diags
	}
	if len(tree.Stacks) == 0 && terrateam.Exists(r.Root) {
		return orNone(terrateam.Open(ctx, r))
	}
	src, err := tree.Source(ctx, r)
	if err != nil {
		return &fleet.Source{Files: tree.Files}, err
	}
	src.Diags = append(diags, src.Diags...)
	src.Empty = len(tree.Stacks) == 0
	return src, nil
}

func orNone(src *fleet.Source, err error) (*fleet.Source, error) {
	if src == nil {
		src = &fleet.Source{}
	}
	return src, err
}

// OpenWork reads the workspace file if there is one, else the configuration of gates, else the tree
// of stacks.
//
// Errors: [ErrNoStacks].
func OpenWork(ctx context.Context, r fleet.Request, mode rollout.Mode) (*fleet.Work, error) {
	if cairnfile.Exists(r.Root) {
		return cairnfile.OpenWork(ctx, r, mode)
	}
	work, err := terrateam.OpenWork(ctx, r, mode)
	if errors.Is(err, terrateam.ErrNoConfig) {
		return treeWork(ctx, r, mode)
	}
	return work, err
}

// treeWork reads the tree of stacks by an equivalent workspace file: without one, directories name
// the stacks.
func treeWork(ctx context.Context, r fleet.Request, mode rollout.Mode) (*fleet.Work, error) {
	tree, diags := terramate.Load(r.Root)
	if diags.HasErrors() {
		return nil, diags
	}
	if len(tree.Stacks) == 0 {
		return nil, ErrNoStacks
	}
	if _, diags := tree.Graph(); diags.HasErrors() {
		return nil, diags
	}
	written := convert.FromDirs(tree)
	for _, lost := range written.Lost {
		if lost.Order {
			return nil, failure.Error("Order not known", "The order of the stack directories cannot be kept in a run: %s\n\nAdd a file "+
				"%s that says it.", lost, File)
		}
	}
	return cairnfile.OpenWorkOf(ctx, r, mode, written.Text())
}

// Named returns the directories that rules of the workspace file name; none if there is no such
// file.
func Named(root string) []fleet.NamedDir {
	if !cairnfile.Exists(root) {
		return nil
	}
	return cairnfile.Named(root)
}

// HasFile reports whether there is a workspace file.
func HasFile(root string) bool { return cairnfile.Exists(root) }

// Both reports whether there are both a workspace file and a configuration of gates, of which the
// first is used.
func Both(root string) bool { return cairnfile.Exists(root) && terrateam.Exists(root) }
