// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rollout

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/fleet/driver"
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
		if u.Kind != Root || u.Workspace != "" || w.selectsIn(u.Dir) || variable(u, driver.WorkspaceVariable) != "" {
			continue
		}
		if selected := selectedIn(u); selected != "" && selected != DefaultWorkspace {
			return u, selected
		}
	}
	return nil, ""
}

// DefaultWorkspace is the name of the workspace that every root module has.
const DefaultWorkspace = "default"

// selectsIn reports whether a unit selects its workspace in a directory, so that all others must.
func (w *Work) selectsIn(dir string) bool {
	return slices.ContainsFunc(w.Units, func(u Unit) bool { return u.Dir == dir && u.Workspace != "" })
}

// selectedIn returns the workspace that was selected in the directory of a unit, "" if none was or
// if that means something else.
func selectedIn(u *Unit) string {
	data := variable(u, "TF_DATA_DIR")
	if data == "" {
		data = ".terraform"
	}
	if !filepath.IsAbs(data) {
		data = filepath.Join(u.Dir, data)
	}
	name, err := os.ReadFile(filepath.Join(data, "environment"))
	if err != nil {
		return "" // nothing was selected, or the engine will report the mistake
	}
	var initialized struct {
		Backend struct {
			Type string `json:"type"`
		} `json:"backend"`
	}
	if content, err := os.ReadFile(filepath.Join(data, "terraform.tfstate")); err == nil {
		if err := json.Unmarshal(content, &initialized); err != nil {
			return ""
		}
	}
	if slices.Contains([]string{"cloud", "remote"}, initialized.Backend.Type) {
		return ""
	}
	return strings.TrimSpace(string(name))
}

// variable returns a variable of the environment of a unit.
func variable(u *Unit, name string) string {
	if value, set := environ.LookUp(u.Env, name); set {
		return value
	}
	return os.Getenv(name)
}
