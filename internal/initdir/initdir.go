// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package initdir reads the records that terraform or tofu leaves in a directory: the backend of
// its last init, the selected workspace, and where the states of the local backend are by these.
//
// Environment variables count as for the engine when it is run in the directory: [DataDirVariable]
// and [WorkspaceVariable]. Relative paths start there.
package initdir

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/safefile"
)

// The environment variables for the places of the engine's files. WorkspaceVariable names a
// workspace to all commands of an engine, whichever one is selected.
const (
	DataDirVariable   = "TF_DATA_DIR"
	WorkspaceVariable = "TF_WORKSPACE"
)

// DataDir is the name of the directory that init installs to, unless [DataDirVariable] is another
// one.
const DataDir = ".terraform"

// DefaultWorkspace is the name of the workspace that every directory has.
const DefaultWorkspace = "default"

// LocalBackend is the type of backends whose states are files.
const LocalBackend = "local"

// stateFile is the name of the file with the record of a backend, and that of a state.
const stateFile = "terraform.tfstate"

// maxRecord is the largest size of a record. A longer one is an error.
const maxRecord = 4 << 20

// Dir is a directory in which an engine is run.
type Dir struct {
	Path    string
	Environ []string
}

// DataDir returns the directory in which init installs providers and modules.
func (d Dir) DataDir() string {
	return d.join(cmp.Or(environ.Get(d.Environ, DataDirVariable), DataDir))
}

// ManifestIn returns the file in a data directory that says where modules are installed.
func ManifestIn(dataDir string) string { return filepath.Join(dataDir, "modules", "modules.json") }

func (d Dir) join(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.Path, path)
}

// Backend is a backend as the last init has recorded it.
type Backend struct {
	Type   string         `json:"type"`
	Config map[string]any `json:"config"` // as decoded from JSON; arguments that are not given are null
}

// Backend returns the backend of the last init. Without one it is the local one, with its usual
// places.
//
// Errors: the record cannot be read.
func (d Dir) Backend() (Backend, error) {
	text, err := readSmall(filepath.Join(d.DataDir(), stateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return Backend{Type: LocalBackend}, nil
	}
	if err != nil {
		return Backend{}, err
	}
	var recorded struct {
		Backend Backend `json:"backend"`
	}
	if err := json.Unmarshal(text, &recorded); err != nil {
		return Backend{}, fmt.Errorf("the record of init is not understood: %w", err)
	}
	if recorded.Backend.Type == "" {
		return Backend{Type: LocalBackend}, nil
	}
	return recorded.Backend, nil
}

// Text returns an argument; "" if it is not given, or is no text.
func (b Backend) Text(argument string) string {
	text, _ := b.Config[argument].(string)
	return text
}

// Selected returns the name of the selected workspace; "" if none was selected.
func (d Dir) Selected() (string, error) {
	text, err := readSmall(filepath.Join(d.DataDir(), "environment"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return strings.TrimSpace(string(text)), err
}

// Workspace returns the name of the workspace that commands of the engine work on.
//
// Errors: the selection cannot be read; the name is none of a workspace, as more than one step of a
// path.
func (d Dir) Workspace() (name string, err error) {
	if name = environ.Get(d.Environ, WorkspaceVariable); name == "" {
		if name, err = d.Selected(); err != nil {
			return "", err
		}
	}
	name = cmp.Or(name, DefaultWorkspace)
	if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
		return "", fmt.Errorf("%q is not the name of a workspace", name)
	}
	return name, nil
}

// Local is the places of the states of a local backend: the file of the default workspace, and the
// directory with those of others.
type Local struct{ File, Workspaces string }

// Local returns the places for the arguments of a local backend; "" for one that is not given.
func (d Dir) Local(path, workspaceDir string) Local {
	return Local{d.join(cmp.Or(path, stateFile)), d.join(cmp.Or(workspaceDir, "terraform.tfstate.d"))}
}

// Of returns the file with the state of a workspace.
func (l Local) Of(workspace string) string {
	if workspace == DefaultWorkspace {
		return l.File
	}
	return filepath.Join(l.Workspaces, workspace, stateFile)
}

func readSmall(path string) ([]byte, error) {
	text, err := safefile.Read(safefile.OS{}, path, maxRecord)
	if err == nil && len(text) > maxRecord {
		err = fmt.Errorf("%s is too large", path)
	}
	return text, err
}
