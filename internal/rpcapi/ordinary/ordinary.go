// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package ordinary reads the state of an ordinary working directory of terraform or tofu, where its
// last init says that it is.
//
// States of the local backend are files, which are read here. States of other backends come from
// the engine.
//
// Rules:
//
//   - O1. Environment variables count as for the engine when it is run in the directory (package
//     initdir). Relative paths start there.
//   - O2. A file is read under the lock that the engine has for it, so that no half of a state is
//     read.
//   - O3. Where there is no state yet, it is empty. That is no fault.
package ordinary

import (
	"context"
	"os"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Directory is a working directory.
type Directory struct {
	Path    string
	Environ []string

	// Pull returns the state of a backend of a type that is not local: the output of the engine when
	// it is asked for the state in a directory.
	Pull func(ctx context.Context, backend, dir string) ([]byte, error)
}

// Read returns the state of the selected workspace. With errors it is empty.
func (d Directory) Read(ctx context.Context) (*tfstate.Document, hcl.Diagnostics) {
	text, err := d.read(ctx)
	if err != nil {
		return &tfstate.Document{}, failure.Diagnostics(err)
	}
	doc, err := tfstate.Parse(text)
	if err != nil {
		return &tfstate.Document{}, failure.Diagnostics(failure.Error("Unreadable state",
			"The state of the directory %s cannot be used: %s. Only states of terraform 0.12 and newer can be read, and no encrypted ones.",
			d.Path, err))
	}
	return doc, nil
}

func (d Directory) read(ctx context.Context) ([]byte, error) {
	if info, err := os.Stat(d.Path); err != nil || !info.IsDir() {
		return nil, failure.Error("No such working directory", "There is no directory %s from which a state could be read.", d.Path)
	}
	dir := initdir.Dir{Path: d.Path, Environ: d.Environ}
	backend, err := dir.Backend()
	if err != nil {
		return nil, failure.Error("Unreadable backend record",
			"Where the state of the directory %s is cannot be found out: %s. Initialize the directory again.", d.Path, failure.Reason(err))
	}
	if backend.Type != initdir.LocalBackend {
		return d.Pull(ctx, backend.Type, d.Path)
	}
	workspace, err := dir.Workspace()
	if err != nil {
		return nil, failure.Error("Unreadable workspace selection", "Which workspace of the directory %s is selected cannot be read: %s.",
			d.Path, failure.Reason(err))
	}
	return readLocked(ctx, dir.Local(backend.Text("path"), backend.Text("workspace_dir")).Of(workspace))
}
