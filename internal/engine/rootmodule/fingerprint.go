// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"context"
	"errors"

	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Fingerprint identifies the sources of a plan of a root module: plans with the same fingerprint
// are made of the same.
type Fingerprint struct {
	Engine string // name and version
	Config string // hash of the files of the module and of those that it uses from local directories

	StateFile string // "" if the state is in none, or if that is not known
	Lineage   string // "" if there is no state yet
	Serial    uint64
}

// Fingerprint returns that of now. The module is initialized for that.
func (w *Work) Fingerprint(ctx context.Context) (made Fingerprint, err error) {
	if err := w.prepare(ctx); err != nil {
		return made, err
	}
	made.Engine = w.engine.Info.Name + " " + w.engine.Info.Version
	if made.Config, err = HashConfig(w.engine.Info, w.opts.Dir); err != nil {
		return made, err
	}
	made.StateFile, _ = w.localState() //nolint:errcheck // it is not known then
	text, err := w.pullState(ctx)
	if err != nil || len(text) == 0 {
		return made, err
	}
	state, err := tfstate.Parse(text)
	if err != nil {
		return made, errors.New("the state that the engine writes is not understood")
	}
	made.Lineage, made.Serial = state.Lineage(), state.Serial()
	return made, nil
}

// HashConfig identifies the files of a root module and of the modules that it calls from local
// directories, as an engine reads them.
func HashConfig(info engine.Info, dir string) (string, error) {
	dirs := []string{dir}
	if tree := load(info, dir, nil); tree != nil {
		for _, directory := range tree.Directories() {
			dirs = append(dirs, directory.Dir)
		}
	}
	files, err := stackplan.HashConfig(stackplan.ConfigSources{Base: dir, ModuleDirs: dirs})
	if err != nil {
		return "", err
	}
	return files.Hash(), nil
}
