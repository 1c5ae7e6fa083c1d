// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/engine/binary/runner"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// inputsFile is the file with values of variables that the module has from others. It may hold
// secrets.
func (s *Session) inputsFile() string { return filepath.Join(s.opts.RunDir, "inputs.tfvars.json") }

// SetInputs keeps values of variables for all that follows, and writes them for the engine.
func (w *Work) SetInputs(values []Input) error {
	diags := w.checkInputs(values)
	w.diags = append(w.diags, diags...)
	if diags.HasErrors() {
		return &process.ExitError{Code: 1}
	}
	w.inputs = values
	return w.writeInputs()
}

// checkInputs checks values for mistakes that no engine would report at their places: undeclared
// variables, and sensitive values that would not stay so.
func (w *Work) checkInputs(values []Input) hcl.Diagnostics {
	tree := load(w.engine.Info, w.opts.Dir, nil)
	if tree == nil || tree.Module == nil {
		return nil
	}
	declared := tree.Module.Variables
	var diags hcl.Diagnostics
	for _, value := range values {
		variable := declared[value.Name]
		switch {
		case variable == nil:
			diags = diags.Append(problem.New(problem.UnknownRef, &value.Range, "Value for undeclared variable",
				"The root module declares no variable %q.%s",
				value.Name, nearest.DidYouMean(value.Name, slices.Sorted(maps.Keys(declared)))))
		case marks.Contains(value.Value, marks.Sensitive) && !variable.Sensitive && !variable.Ephemeral:
			diags = diags.Append(problem.New(problem.BadValue, &value.Range, "Sensitive value for another variable",
				"The value is sensitive, and the variable %q of the root module is not, so that its engine would show it. "+
					"Declare the variable with sensitive = true.", value.Name))
		}
	}
	return diags
}

func (w *Work) writeInputs() error {
	if len(w.inputs) == 0 {
		return nil
	}
	texts := map[string]json.RawMessage{}
	for _, input := range w.inputs {
		value, _ := input.Value.UnmarkDeep()
		if !value.IsWhollyKnown() { // it comes through a latch
			continue
		}
		text, err := ctyjson.Marshal(value, value.Type())
		if err != nil {
			return fmt.Errorf("writing the value of %s: %w", input.Name, err)
		}
		texts[input.Name] = text
	}
	content, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(w.opts.RunDir, 0o700); err != nil {
		return fmt.Errorf("making a directory for values of variables: %w", err)
	}
	return os.WriteFile(w.inputsFile(), content, 0o600)
}

// Outputs returns those of the last apply, and false if there are none. Sensitive ones are among
// them, so that none of the engine's output is shown.
func (w *Work) Outputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	if outputs, found, err = w.readOutputs(ctx); err == nil {
		return outputs, found, nil
	}
	if err := w.initialize(ctx); err != nil { // which is not done first: others may be at work in the directory
		return nil, false, err
	}
	return w.readOutputs(ctx)
}

func (w *Work) readOutputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	if exists, err := w.nameWorkspace(ctx); err != nil || !exists {
		return nil, false, err
	}
	return w.StoredOutputs(ctx)
}

// StoredOutputs asks the engine for the outputs in the state of the workspace that was worked on
// last. Sensitive ones are among them.
func (w *Work) StoredOutputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	text, err := w.ask(ctx, io.Discard, "output", "-json")
	if err != nil {
		return nil, false, fmt.Errorf("the outputs in the state cannot be read: %w", err)
	}
	var read map[string]runner.Output
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, false, errors.New("the outputs that the engine writes are not understood")
	}
	outputs = map[string]cty.Value{}
	for name, output := range read {
		value, err := decodeOutput(output)
		if err != nil {
			return nil, false, fmt.Errorf("the output %q is not understood", name)
		}
		if output.Sensitive {
			value = value.Mark(marks.Sensitive)
		}
		outputs[name] = value
	}
	return outputs, len(outputs) > 0, nil
}
