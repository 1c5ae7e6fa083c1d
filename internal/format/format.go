// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package format finds out which format says what stacks there are in a directory, and reads it. The formats themselves are in the packages below.
package format

import (
	"context"
	"errors"
	"slices"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/format/cairnfile"
	"github.com/cairnstacks/cairn/internal/format/terramate"
	"github.com/cairnstacks/cairn/internal/format/terrateam"
)

// The files that say what stacks there are, in the root of a repository; without them directories do.
const (
	File     = cairnfile.FileName
	GateFile = terrateam.ConfigFile
)

// ErrNoGates is returned where nothing says what stacks wait for.
var ErrNoGates = errors.New("there is no file with gates")

// Open reads the workspace file if there is one, else the tree of stacks, else the configuration of gates. The files of the source are there also
// with errors; it is never nil.
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

// OpenWork reads the workspace file if there is one, else the configuration of gates.
//
// Errors: [ErrNoGates].
func OpenWork(ctx context.Context, r fleet.Request, mode rollout.Mode) (*fleet.Work, error) {
	if cairnfile.Exists(r.Root) {
		return cairnfile.OpenWork(ctx, r, mode)
	}
	work, err := terrateam.OpenWork(ctx, r, mode)
	if errors.Is(err, terrateam.ErrNoConfig) {
		err = ErrNoGates
	}
	return work, err
}

// Named returns the directories that rules of the workspace file name; none if there is no such file.
func Named(root string) []fleet.NamedDir {
	if !cairnfile.Exists(root) {
		return nil
	}
	return cairnfile.Named(root)
}

// Both reports whether there are both a workspace file and a configuration of gates, of which the first is used.
func Both(root string) bool { return cairnfile.Exists(root) && terrateam.Exists(root) }

// HasStackBlocks reports whether a tree has stack directories of which a file says that they are.
func HasStackBlocks(root string) bool {
	tree, _ := terramate.Load(root) //nolint:errcheck // whoever uses the tree reports what is wrong with it
	return tree != nil && slices.ContainsFunc(tree.Stacks, func(s *terramate.Stack) bool { return s.Range.Start.Line > 0 })
}
