// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/environ"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/module/refs"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A root module can be destroyed although the sources of its inputs are not there (any more):
// objects are destroyed as the state has them. Only the configuration of providers counts, so that
// it must not depend on these inputs. The plan is made with unknown values, and applied with null
// ones, which nothing evaluates.

// planWithout prepares a plan that destroys without the values of some inputs. It reports whether
// there is nothing to destroy.
func (w *Work) planWithout(ctx context.Context) (nothing bool, err error) {
	if len(w.missing()) == 0 {
		return false, nil
	}
	if nothing, err = w.stateIsEmpty(ctx); nothing || err != nil {
		return nothing, err
	}
	w.inputs = slices.DeleteFunc(slices.Clone(w.inputs), func(input Input) bool { // the environment has values to destroy with
		_, given := environ.LookUp(w.opts.Environ, variablePrefix+input.Name)
		return given && !input.Value.IsWhollyKnown()
	})
	missing := w.missing()
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

// missing returns the names of the inputs that are not wholly known.
func (w *Work) missing() []string {
	var names []string
	for _, input := range w.inputs {
		if !input.Value.IsWhollyKnown() {
			names = append(names, input.Name)
		}
	}
	return names
}

// variablePrefix is of variables of the environment that have values of those of the module.
const variablePrefix = "TF_VAR_"

// explainMissing names the values to pass when a root module cannot be destroyed without them.
func (w *Work) explainMissing(err error) error {
	wait, ok := errors.AsType[*WaitError](err)
	if !ok {
		return err
	}
	w.diags = append(w.diags, failure.New("Values for destroying not known",
		"Sources of some inputs of the root module are not there, and it cannot be destroyed without: %s. Nothing was done. "+
			"Set %s in the environment to the value of the last apply.",
		wait.Reason, variablePrefix+strings.Join(w.missing(), ", "+variablePrefix)))
	return &process.ExitError{Code: 1}
}

// stateIsEmpty reports whether the state has neither objects nor outputs.
func (w *Work) stateIsEmpty(ctx context.Context) (bool, error) {
	text, err := w.pullState(ctx)
	if err != nil || len(text) == 0 {
		return err == nil, err
	}
	state, err := tfstate.Parse(text)
	if err != nil {
		return false, nil //nolint:nilerr // the engine reports the mistake in it
	}
	outputs, err := state.Outputs()
	return !state.HasObjects() && len(outputs) == 0 && err == nil, nil
}

// pullState asks the engine for the state, as it is in a file; empty if there is none.
func (w *Work) pullState(ctx context.Context) ([]byte, error) {
	text, err := w.ask(ctx, io.Discard, "state", "pull")
	if _, failed := errors.AsType[*process.ExitError](err); failed {
		w.printed = append(w.printed, failure.New("State not read", "The command state pull has failed."))
	}
	if err != nil {
		return nil, fmt.Errorf("the state cannot be read: %w", err)
	}
	return bytes.TrimSpace(text), nil
}

// dependentProvider returns the place of a provider configuration that may depend on some variables
// of the root module; nil if there is none. Everything that is not easily followed may.
func dependentProvider(tree *module.Tree, variables []string) *hcl.Range {
	for _, dir := range tree.Directories() {
		for _, provider := range dir.Providers {
			if dir == tree.Root.Directory && depends(dir, provider.Refs, variables) || dir != tree.Root.Directory && len(provider.Refs) > 0 {
				return provider.Range.Ptr()
			}
		}
	}
	return nil
}

// depends reports whether references in a root module lead to some of its variables, or to
// something that cannot be followed.
func depends(root *module.Directory, references []refs.Reference, variables []string) bool {
	for ref := range root.Follow(references) {
		name := ref.Subject.Name
		switch ref.Subject.Kind {
		case refs.PathAttr, refs.TerraformOf:
		case refs.Variable:
			if slices.Contains(variables, name) {
				return true
			}
		case refs.Local:
			if root.Locals[name] == nil {
				return true
			}
		default:
			return true
		}
	}
	return false
}
