// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"cmp"
	"path/filepath"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/env"
)

// checkState refuses a unit whose state would be a file in the files of the run (rule M5).
func (w *unitWork) checkState() error {
	u := w.unit()
	file, remedy := "", ""
	var err error
	if u.Kind == rollout.Components {
		file = w.stackState(&u)
		remedy = "Keep it where all workers reach it, by a block state \"postgres\" or state \"objects\" in cairn.hcl of the stack, " +
			"or by CAIRN_STATE in the environment of the workers."
	} else {
		file, err = rootState(&u)
		remedy = "Give the module a backend that all workers reach: one on a server, " +
			"or backend \"local\" with the absolute path of a file that they share."
	}
	if err != nil {
		return w.refuse(hcl.Diagnostics{failure.New("Unknown place of the state",
			"Where the state of %s is cannot be known: %s. Nothing was done.", u.Name, failure.Reason(err))})
	}
	if file == "" || !isIn(file, w.top) {
		return nil
	}
	shown := file
	if rel, err := filepath.Rel(w.top, file); err == nil {
		shown = filepath.ToSlash(rel)
	}
	return w.refuse(hcl.Diagnostics{failure.New("State on one machine",
		"The state of %s would be the file %s among the files of the run, which each worker has for itself and may remove. "+
			"Nothing was done. %s", u.Name, shown, remedy)})
}

// stackState returns the file with the state of a stack; "" for none, or if the work on it will
// report a mistake.
func (w *unitWork) stackState(u *rollout.Unit) string {
	options := w.stackOptions()
	options.Env.Dir, options.Env.Environ, options.Engine.ChangesNothing = u.Dir, rollout.Environment(u), true
	stack := operation.Open(options)
	defer stack.Close() //nolint:errcheck // nothing was opened
	file := stack.States().File()
	if file == "" {
		return ""
	}
	return env.Absolute(file)
}

// rootState returns the file with the state of a root module; "" for none.
func rootState(u *rollout.Unit) (string, error) {
	written, err := rootmodule.ReadWritten(u.Dir, u.Dir)
	if err != nil || written.Local == nil {
		return "", err
	}
	environment := rollout.Environment(u)
	workspace := cmp.Or(u.Workspace, environ.Get(environment, initdir.WorkspaceVariable), rollout.DefaultWorkspace)
	return env.Absolute(written.Local.Of(workspace)), nil
}

// isIn reports whether a file, which need not exist, is in a directory, with links followed as far
// as there is something.
func isIn(file, dir string) bool {
	dir = env.Absolute(dir)
	at := filepath.Dir(file)
	if resolved, err := filepath.EvalSymlinks(at); err == nil {
		at = resolved
		if resolved, err := filepath.EvalSymlinks(dir); err == nil {
			dir = resolved
		}
	}
	rel, err := filepath.Rel(dir, at)
	return err == nil && filepath.IsLocal(rel)
}
