// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package overview

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/cairnstacks/cairn/internal/fleet"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// readRoot looks at the state of a root module, if that is in a file: other backends are known to
// their engine only, and asking that would run it (rule V1).
func readRoot(unit *fleet.Unit) Unit {
	u := newUnit(unit, nameOf(unit), "")
	u.Declared = true
	dir := initdir.Dir{Path: unit.Dir, Environ: environment(unit)}
	backend, err := dir.Backend()
	if err != nil {
		u.Err = err
		return u
	}
	if backend.Type != initdir.LocalBackend {
		u.Place = backend.Type
		u.State.Unread = fmt.Sprintf("the backend %q is not asked", backend.Type)
		return u
	}
	workspace := unit.Workspace
	if workspace == "" {
		if workspace, err = dir.Workspace(); err != nil {
			u.Err = err
			return u
		}
	}
	u.Place = dir.Local(backend.Text("path"), backend.Text("workspace_dir")).Of(cmp.Or(workspace, rollout.DefaultWorkspace))
	u.State, u.Err = readFile(u.Place)
	return u
}

// readFile reads the state in a file, whose time is the only one that there is.
func readFile(name string) (State, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return State{Known: true}, nil
	}
	if err != nil {
		return State{}, err
	}
	info, err := os.Stat(name)
	if err != nil {
		return State{}, err
	}
	document, err := tfstate.Parse(text)
	if err != nil {
		return State{}, fmt.Errorf("the state in %s is not understood: %w", name, err)
	}
	if !document.HasObjects() && document.Serial() == 0 && document.Lineage() == "" {
		return State{Unread: "the state is empty, or encrypted"}, nil
	}
	state := State{Known: true, Lineage: document.Lineage()}
	serial := int64(document.Serial()) //nolint:gosec // no state has so many
	state.Last = statestore.Version{Serial: serial, Started: info.ModTime(), Finished: info.ModTime()}
	state.Objects = len(document.Entries())
	return state, nil
}
