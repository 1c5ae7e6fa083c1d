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
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/process"
)

// A root module can be destroyed although the sources of its inputs are not there (any more):
// objects are destroyed as the state has them. Only the configuration of providers counts, so that
// it must not depend on these inputs. The plan is made with unknown values, and applied with null
// ones, which nothing evaluates.

// planWithout prepares a plan that destroys without the values of some inputs. It reports whether
// there is nothing to destroy.
func (w *rootWork) planWithout(ctx context.Context) (nothing bool, err error) {
	var missing []string
	for _, input := range w.inputs {
		if !input.Value.IsWhollyKnown() {
			missing = append(missing, input.Name)
		}
	}
	if len(missing) == 0 {
		return false, nil
	}
	if nothing, err = w.stateIsEmpty(ctx); nothing || err != nil {
		return nothing, err
	}
	given := slices.DeleteFunc(slices.Clone(missing), func(name string) bool {
		return !slices.ContainsFunc(w.opts.Environ, func(entry string) bool { return strings.HasPrefix(entry, variablePrefix+name+"=") })
	})
	if len(given) > 0 { // the environment has values to destroy with
		w.inputs = slices.DeleteFunc(slices.Clone(w.inputs), func(input wiring.Value) bool { return slices.Contains(given, input.Name) })
		missing = slices.DeleteFunc(missing, func(name string) bool { return slices.Contains(given, name) })
	}
	if len(missing) == 0 {
		return false, nil
	}
	tree, err := w.latchable()
	if err == nil {
		if at := dependentProvider(tree, missing); at != nil {
			err = waitFor("the provider configuration at %s:%d may depend on it", at.Filename, at.Start.Line)
		}
	}
	return false, w.explainMissing(err)
}

// variablePrefix is of variables of the environment that have values of those of the module.
const variablePrefix = "TF_VAR_"

// explainMissing names the values to pass when a root module cannot be destroyed without them.
func (w *rootWork) explainMissing(err error) error {
	wait, ok := errors.AsType[*WaitError](err)
	if !ok {
		return err
	}
	var missing []string
	for _, input := range w.inputs {
		if !input.Value.IsWhollyKnown() {
			missing = append(missing, variablePrefix+input.Name)
		}
	}
	w.diags = append(w.diags, failure.New("Values for destroying not known",
		"Sources of some inputs of the root module are not there, and it cannot be destroyed without: %s. Nothing was done. Set %s in the "+
			"environment to the value of the last apply.",
		wait.Reason, strings.Join(missing, ", ")))
	return &process.ExitError{Code: 1}
}

// stateIsEmpty reports whether the state has neither objects nor outputs.
func (w *rootWork) stateIsEmpty(ctx context.Context) (bool, error) {
	if err := stopped(ctx); err != nil {
		return false, err
	}
	var stdout bytes.Buffer
	err := w.Processes.Run(process.Command{
		Program: w.Engine, Args: []string{"state", "pull"}, Dir: w.opts.Dir, Env: w.opts.Environ, Stdout: &stdout, Stderr: io.Discard,
	})
	if err != nil {
		return false, fmt.Errorf("the state cannot be read: %w", err)
	}
	if len(bytes.TrimSpace(stdout.Bytes())) == 0 {
		return true, nil
	}
	var state struct {
		Version   int
		Resources []json.RawMessage
		Outputs   map[string]json.RawMessage
	}
	if err := json.Unmarshal(stdout.Bytes(), &state); err != nil || state.Version != 4 {
		return false, nil //nolint:nilerr // the engine reports the mistake in it
	}
	return len(state.Resources)+len(state.Outputs) == 0, nil
}

// withNulls returns a value with nulls in place of its unknown parts.
func withNulls(value cty.Value) (cty.Value, error) {
	return cty.Transform(value, func(_ cty.Path, v cty.Value) (cty.Value, error) {
		if !v.IsKnown() {
			return cty.NullVal(v.Type()), nil
		}
		return v, nil
	})
}

// dependentProvider returns the place of a provider configuration that may depend on some variables
// of the root module; nil if there is none. Everything that is not easily followed may.
func dependentProvider(tree *module.Tree, variables []string) *hcl.Range {
	for _, dir := range tree.Directories() {
		for _, provider := range dir.Providers {
			f := following{root: tree.Root, variables: variables, done: map[string]bool{}}
			if dir == tree.Root.Directory && f.depend(provider.Refs) || dir != tree.Root.Directory && len(provider.Refs) > 0 {
				return provider.Range.Ptr()
			}
		}
	}
	return nil
}

// following follows references in a root module to its variables.
type following struct {
	root      *module.Node
	variables []string
	done      map[string]bool // local values
}

// depend reports whether references lead to the variables, or to something that cannot be followed.
func (f *following) depend(references []refs.Reference) bool {
	return slices.ContainsFunc(references, func(ref refs.Reference) bool {
		name := ref.Subject.Name
		switch ref.Subject.Kind {
		case refs.PathAttr, refs.TerraformOf:
			return false
		case refs.Variable:
			return slices.Contains(f.variables, name)
		case refs.Local:
			if f.done[name] {
				return false
			}
			f.done[name] = true
			local := f.root.Locals[name]
			return local == nil || f.depend(local.Value.Refs)
		}
		return true
	})
}
