// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package gone

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/hashicorp/hcl/v2/hclwrite"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/engine/rootmodule"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/rollout"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/internal/operation"
	"github.com/cairnstacks/cairn/internal/operation/engines"
	"github.com/cairnstacks/cairn/internal/operation/env"
	"github.com/cairnstacks/cairn/internal/operation/planfile"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// location is where the state of a unit is.
type location struct {
	name string // that only the same state has; "" if that is not known
	file string // absolute path, "" if it is in none

	// key is what a store that has the states of many stacks would keep this one under, if settings
	// name that; "" otherwise. Other machines may have such a store where this one has files.
	key string

	backend *initdir.Local // of a root module whose state is in a file
}

// stateOf returns the location of a unit's state: the state of a unit of the base is where it was.
func stateOf(u *rollout.Unit) (location, hcl.Diagnostics) {
	if u.Kind == rollout.Components {
		return stackState(u)
	}
	return rootState(u)
}

func home(u *rollout.Unit) string { return cmp.Or(u.Home, u.Dir) }

func open(u *rollout.Unit) *operation.Stack {
	return operation.Open(operation.Options{
		Env:    env.Options{Dir: u.Dir, Home: u.Home, Environ: rollout.Environment(u)},
		Engine: engines.Request{ChangesNothing: true},
	})
}

func stackState(u *rollout.Unit) (location, hcl.Diagnostics) {
	found, err := rollout.StateOf(u)
	return location{name: found.Name, file: found.File, key: found.Key}, failure.Diagnostics(err)
}

// rootState follows from the text alone, since the directory was never initialized here. A path
// that is not written out stops everything: the wrong state could be destroyed.
func rootState(u *rollout.Unit) (location, hcl.Diagnostics) {
	written, err := rootmodule.ReadWritten(u.Dir, home(u))
	if unclear, ok := errors.AsType[*rootmodule.NotWrittenError](err); ok {
		return location{}, hcl.Diagnostics{failure.New("Unknown place of the state",
			"Where the state of %q is cannot be known: %s. Nothing was destroyed.", u.Name, unclear)}
	}
	if err != nil {
		return location{}, failure.Diagnostics(err)
	}
	workspace := cmp.Or(u.Workspace, rollout.DefaultWorkspace)
	if written.Local == nil {
		block := written.Block
		settings := describe(block.Body)
		if settings == "" {
			return location{}, nil // they are given elsewhere
		}
		return location{name: fmt.Sprintf("%s %v %s %s", block.Type, block.Labels, settings, workspace)}, nil
	}
	file := planfile.StatePlace(written.Local.Of(workspace))
	return location{name: "root " + file, file: file, backend: written.Local}, nil
}

// describe returns the arguments of a block in a form that is the same for equal ones; "" for none.
func describe(body hcl.Body) string {
	attributes, _ := body.JustAttributes() //nolint:errcheck // blocks are described below
	var texts []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		value, _ := attributes[name].Expr.Value(nil) //nolint:errcheck // unknown values are equal to others
		texts = append(texts, fmt.Sprintf("%s=%#v", name, value))
	}
	if native, ok := body.(*hclsyntax.Body); ok {
		for _, block := range native.Blocks {
			texts = append(texts, fmt.Sprintf("%s %q {%s}", block.Type, block.Labels, describe(block.Body)))
		}
	}
	return strings.Join(texts, " ")
}

// overrideFile points the copy of a root module to the original state. Engines let files of such
// names take precedence.
const overrideFile = "cairn_state_override.tf"

// keepRootStates lets the copies of root modules find their states, also of those that only values
// are from.
func (f *finder) keepRootStates() hcl.Diagnostics {
	done := map[string]bool{}
	for i := range f.work.Units {
		u := &f.work.Units[i]
		if u.Kind != rollout.Root || done[u.Dir] {
			continue
		}
		done[u.Dir] = true
		state, diags := rootState(u)
		if diags.HasErrors() || state.backend == nil {
			continue // it was reported if it matters
		}
		file := hclwrite.NewEmptyFile()
		backend := file.Body().AppendNewBlock("terraform", nil).Body().AppendNewBlock("backend", []string{"local"}).Body()
		backend.SetAttributeValue("path", cty.StringVal(state.backend.File))
		backend.SetAttributeValue("workspace_dir", cty.StringVal(state.backend.Workspaces))
		if err := f.write(filepath.Join(u.Dir, overrideFile), file.Bytes()); err != nil {
			return failure.Diagnostics(fmt.Errorf("the copy of %s: %w", u.Name, err))
		}
	}
	return nil
}

// write writes a file of the copy in place of one that the commit may have there, which could be a
// link.
func (f *finder) write(path string, content []byte) error {
	root, err := os.OpenRoot(f.Exported)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // the file was closed
	name, err := filepath.Rel(f.Exported, path)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	return errors.Join(err, file.Close())
}

// complete adds to the exported files what the work on units takes from where they were, and moves
// all of them there (rule G4).
func (f *finder) complete() hcl.Diagnostics {
	for i := range f.work.Units {
		u := &f.work.Units[i]
		u.Home = ""
		for j, file := range u.VarFiles {
			rel, inRoot := below(f.Root, file)
			if _, inCopy := below(f.Exported, file); inCopy || !inRoot {
				continue // the work on the unit says that others cannot have it
			}
			content, err := os.ReadFile(file)
			if u.VarFiles[j] = filepath.Join(f.Exported, rel); err == nil {
				err = f.write(u.VarFiles[j], content)
			}
			if err != nil {
				return hcl.Diagnostics{failure.New("Values not readable",
					"The values of variables of %q in %s cannot be brought to workers: %s. Nothing was destroyed.", u.Name, file, failure.Reason(err))}
			}
		}
	}
	return nil
}

// below returns the path of a file in a directory, and whether it is there.
func below(dir, file string) (rel string, ok bool) {
	rel, err := filepath.Rel(dir, file)
	return rel, err == nil && filepath.IsLocal(rel)
}

// hasState reports whether there is something to destroy, and says so if there is nothing.
func (f *finder) hasState(ctx context.Context, u *rollout.Unit, state location) (bool, hcl.Diagnostics) {
	if state.file == "" || f.Elsewhere {
		return true, nil // the plan says it
	}
	_, err := os.Stat(state.file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return false, hcl.Diagnostics{failure.Warning(summaryNoState, "%q has no state: there is no file %s. "+
			"If something was applied, the state was deleted with the directory, and nothing can be destroyed: "+
			"put the file back, as from a backup, and run this again. Its objects can also be destroyed by hand.", u.Name, state.file)}
	case err != nil:
		return false, failure.Diagnostics(fmt.Errorf("the state of %s: %w", u.Name, err))
	}
	empty, err := isEmpty(ctx, u, state)
	if err != nil {
		return false, hcl.Diagnostics{failure.New("Unreadable state",
			"The state of %q in %s cannot be read: %s. Nothing was destroyed.", u.Name, state.file, failure.Reason(err))}
	}
	if empty {
		return false, hcl.Diagnostics{failure.Warning(summaryEmpty,
			"The state of %q in %s has nothing that could be destroyed.", u.Name, state.file)}
	}
	return true, nil
}

func isEmpty(ctx context.Context, u *rollout.Unit, state location) (bool, error) {
	if u.Kind == rollout.Root {
		text, err := os.ReadFile(state.file)
		if err != nil {
			return false, err
		}
		objects, err := tfstate.ParseObjects(text)
		return err == nil && len(objects) == 0 && !strings.Contains(string(text), "encrypted_data"), nil
	}
	if unfinished(u) {
		return false, nil
	}
	stack := open(u)
	defer stack.Close() //nolint:errcheck // nothing was written
	stored, err := stack.States().Read(ctx)
	if err != nil {
		return false, failure.AsError(operation.Diagnostics(err))
	}
	return len(stored.State.Components) == 0, nil
}

// unfinished reports whether there may be results of an apply that was cut off, which are in no
// state yet.
func unfinished(u *rollout.Unit) bool {
	for _, dir := range []string{"runs", filepath.Join("deployments", deploymentOf(u), "runs")} {
		if hasFile(filepath.Join(home(u), env.WorkDir, dir)) {
			return true
		}
	}
	return false
}

// hasFile reports whether there is anything but directories below a directory: an engine keeps
// those in which it writes down its applies.
func hasFile(dir string) bool {
	found := false
	_ = filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error { //nolint:errcheck // where there is none, nothing is left
		if err == nil && !entry.IsDir() {
			found = true
			return fs.SkipAll
		}
		return nil
	})
	return found
}
