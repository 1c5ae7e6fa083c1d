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
//   - O1. Environment variables count as for the engine when it is run in the directory:
//     TF_DATA_DIR and TF_WORKSPACE. Relative paths start there.
//   - O2. A file is read under the lock that the engine has for it, so that no half of a state is
//     read.
//   - O3. Where there is no state yet, it is empty. That is no fault.
package ordinary

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// The environment variables for the places of the engine's files.
const (
	DataDirVariable   = "TF_DATA_DIR"
	WorkspaceVariable = "TF_WORKSPACE"
)

const (
	defaultDataDir       = ".terraform"
	defaultWorkspace     = "default"
	defaultStateFile     = "terraform.tfstate"
	defaultWorkspacesDir = "terraform.tfstate.d"
)

// maxRecord is the largest size of a record of an init. A longer one is a fault.
const maxRecord = 4 << 20

// Directory is a working directory.
type Directory struct {
	Path    string
	Environ []string

	// Pull returns the state of a backend of a type that is not local: the output of the engine when
	// it is asked for the state in a directory.
	Pull func(ctx context.Context, backend, dir string) ([]byte, error)
}

// record is the record of a backend that init makes.
type record struct {
	Type   string `json:"type"`
	Config struct {
		Path         string `json:"path"`
		WorkspaceDir string `json:"workspace_dir"`
	} `json:"config"`
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
	initialized, err := d.record()
	if err != nil {
		return nil, failure.Error("Unreadable backend record",
			"Where the state of the directory %s is cannot be found out: %s. Initialize the directory again.", d.Path, failure.Reason(err))
	}
	if initialized.Type != "local" {
		return d.Pull(ctx, initialized.Type, d.Path)
	}
	workspace, err := d.workspace()
	if err != nil {
		return nil, failure.Error("Unreadable workspace selection", "Which workspace of the directory %s is selected cannot be read: %s.",
			d.Path, failure.Reason(err))
	}
	return readLocked(ctx, d.stateFile(initialized, workspace))
}

// record returns the record of the last init. Without one the backend is local, with the usual
// places.
func (d Directory) record() (record, error) {
	local := record{Type: "local"}
	text, err := readSmall(filepath.Join(d.dataDir(), defaultStateFile))
	if errors.Is(err, fs.ErrNotExist) {
		return local, nil
	}
	if err != nil {
		return record{}, err
	}
	var noted struct {
		Backend *struct {
			Type   string          `json:"type"`
			Config json.RawMessage `json:"config"`
		} `json:"backend"`
	}
	if err := json.Unmarshal(text, &noted); err != nil {
		return record{}, err
	}
	if noted.Backend == nil || noted.Backend.Type == "" {
		return local, nil
	}
	found := record{Type: noted.Backend.Type}
	if found.Type != "local" || len(noted.Backend.Config) == 0 {
		return found, nil // the engine knows the configurations of others
	}
	return found, json.Unmarshal(noted.Backend.Config, &found.Config)
}

func (d Directory) dataDir() string {
	return d.join(cmp.Or(environ.Get(d.Environ, DataDirVariable), defaultDataDir))
}

// workspace returns the name of the selected workspace.
func (d Directory) workspace() (string, error) {
	if name := environ.Get(d.Environ, WorkspaceVariable); name != "" {
		return name, checkWorkspace(name)
	}
	text, err := readSmall(filepath.Join(d.dataDir(), "environment"))
	if errors.Is(err, fs.ErrNotExist) {
		return defaultWorkspace, nil
	}
	if err != nil {
		return "", err
	}
	name := cmp.Or(strings.TrimSpace(string(text)), defaultWorkspace)
	return name, checkWorkspace(name)
}

// checkWorkspace refuses a name that would be more than one step of a path.
func checkWorkspace(name string) error {
	if name != filepath.Base(name) || !filepath.IsLocal(name) || name == "." {
		return fmt.Errorf("%q is not the name of a workspace", name)
	}
	return nil
}

func (d Directory) stateFile(initialized record, workspace string) string {
	if workspace == defaultWorkspace {
		return d.join(cmp.Or(initialized.Config.Path, defaultStateFile))
	}
	return filepath.Join(d.join(cmp.Or(initialized.Config.WorkspaceDir, defaultWorkspacesDir)), workspace, defaultStateFile)
}

// join makes a path of one that is relative to the directory.
func (d Directory) join(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(d.Path, path)
}

func readSmall(path string) ([]byte, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	text, err := io.ReadAll(io.LimitReader(file, maxRecord+1))
	if err == nil && len(text) > maxRecord {
		err = fmt.Errorf("%s is too large", path)
	}
	return text, err
}
