// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"os"
	"slices"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/initdir"
)

// OtherWorkspace returns a chosen root module that is to be worked on in its default workspace
// while another one is selected in its directory, as by somebody's hand or by an earlier run, and
// the name of that. Nil if there is none.
//
// A workspace chosen in TF_WORKSPACE, and backends that give workspaces a meaning of their own, are
// left alone.
func (w *Work) OtherWorkspace() (u *Unit, selected string) {
	for _, n := range w.Chosen() {
		u := &w.Units[n]
		if u.Kind != Root || u.Workspace != "" || w.selectsIn(u.Dir) {
			continue
		}
		if selected := selectedIn(u); selected != "" && selected != DefaultWorkspace {
			return u, selected
		}
	}
	return nil, ""
}

// DefaultWorkspace is the name of the workspace that every root module has.
const DefaultWorkspace = initdir.DefaultWorkspace

// selectsIn reports whether a unit selects its workspace in a directory, so that all others must.
func (w *Work) selectsIn(dir string) bool {
	return slices.ContainsFunc(w.Units, func(u Unit) bool { return u.Dir == dir && u.Workspace != "" })
}

// selectedIn returns the workspace that was selected in the directory of a unit and that commands
// work on there; "" if there is none or if that means something else.
func selectedIn(u *Unit) string {
	dir := initdir.Dir{Path: u.Dir, Environ: slices.Concat(os.Environ(), u.Env)}
	if environ.Get(dir.Environ, initdir.WorkspaceVariable) != "" {
		return ""
	}
	name, err := dir.Selected()
	if err != nil {
		return "" // the engine will report the mistake
	}
	backend, err := dir.Backend()
	if err != nil || slices.Contains([]string{"cloud", "remote"}, backend.Type) {
		return ""
	}
	return name
}
