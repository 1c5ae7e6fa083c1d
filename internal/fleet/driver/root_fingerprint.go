// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// Fingerprint identifies the sources of a plan of a root module: plans with the same fingerprint
// are made of the same.
type Fingerprint struct {
	Engine string // name and version
	Config string // hash of the files of the module and of those that it uses from local directories
	State  planfile.StateVersion
}

// Fingerprint returns that of now. The module is initialized for that.
func (r *Root) Fingerprint(ctx context.Context) (Fingerprint, error) {
	if err := stopped(ctx); err != nil {
		return Fingerprint{}, err
	}
	work := &rootWork{Root: r, view: silent{}}
	if err := work.prepare(ctx); err != nil {
		return Fingerprint{}, work.withReason(err)
	}
	made := Fingerprint{Engine: r.Info.Name + " " + r.Info.Version}
	var err error
	if made.Config, err = work.configHash(); err != nil {
		return made, err
	}
	made.State, err = work.stateVersion()
	return made, err
}

func (w *rootWork) configHash() (string, error) {
	loader := module.NewLoader(module.OptionsOf(w.Info, w.opts.Dir, nil))
	tree, _ := loader.Load(w.opts.Dir) //nolint:errcheck // the engine has reported the mistakes in it
	dirs := []string{w.opts.Dir}
	if tree != nil {
		for _, directory := range tree.Directories() {
			dirs = append(dirs, directory.Dir)
		}
	}
	files, err := stackplan.HashConfig(stackplan.ConfigSources{Base: w.opts.Dir, ModuleDirs: dirs})
	if err != nil {
		return "", err
	}
	return files.Hash(), nil
}

// stateVersion asks the engine for the state, of which nothing else is kept.
func (w *rootWork) stateVersion() (planfile.StateVersion, error) {
	file, _ := w.localState() //nolint:errcheck // it is not known then, as for a backend that keeps the state elsewhere
	version := planfile.StateVersion{File: planfile.StatePlace(file)}
	var stdout bytes.Buffer
	err := w.Processes.Run(process.Command{
		Program: w.Engine, Args: []string{"state", "pull"}, Dir: w.opts.Dir, Env: w.opts.Environ, Stdout: &stdout, Stderr: io.Discard,
	})
	if err != nil {
		return version, fmt.Errorf("the state cannot be read: %w", err)
	}
	if len(bytes.TrimSpace(stdout.Bytes())) == 0 {
		return version, nil
	}
	var state struct {
		Lineage string `json:"lineage"`
		Serial  uint64 `json:"serial"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &state); err != nil {
		return version, errors.New("the state that the engine writes is not understood")
	}
	version.Lineage, version.Serial = state.Lineage, state.Serial
	return version, nil
}
