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
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/hashicorp/hcl/v2"
	"github.com/zclconf/go-cty/cty"
	ctyjson "github.com/zclconf/go-cty/cty/json"

	"github.com/cairnstacks/cairn/internal/fleet/wiring"
	"github.com/cairnstacks/cairn/internal/module"
	"github.com/cairnstacks/cairn/internal/nearest"
	"github.com/cairnstacks/cairn/internal/problem"
	"github.com/cairnstacks/cairn/internal/process"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
)

// inputsFile is the file with values of variables that the module has from others. It may hold
// secrets.
func (r *Root) inputsFile() string { return filepath.Join(r.opts.RunDir, "inputs.tfvars.json") }

// takeInputs keeps values of variables, and writes them for the engine.
func (w *rootWork) takeInputs(inputs func() ([]wiring.Value, hcl.Diagnostics)) error {
	if inputs == nil {
		return nil
	}
	values, diags := inputs()
	if !diags.HasErrors() {
		diags = diags.Extend(w.checkInputs(values))
	}
	w.diags = append(w.diags, diags...)
	if diags.HasErrors() {
		return &process.ExitError{Code: 1}
	}
	w.inputs = values
	return w.writeInputs()
}

// checkInputs checks values for mistakes that no engine would report at their places: undeclared
// variables, and sensitive values that would not stay so.
func (w *rootWork) checkInputs(values []wiring.Value) hcl.Diagnostics {
	tree, _ := module.NewLoader(module.OptionsOf(w.Info, w.opts.Dir, nil)).Load(w.opts.Dir) //nolint:errcheck // the engine reports mistakes
	if tree == nil || tree.Module == nil {
		return nil
	}
	declared := tree.Module.Variables
	var diags hcl.Diagnostics
	for _, value := range values {
		variable := declared[value.Name]
		switch {
		case variable == nil:
			diags = diags.Append(problem.New(problem.UnknownRef, &value.Range, "Value for undeclared variable", "The root module declares no variable %q.%s",
				value.Name, nearest.DidYouMean(value.Name, slices.Sorted(maps.Keys(declared)))))
		case marks.Contains(value.Value, marks.Sensitive) && !variable.Sensitive && !variable.Ephemeral:
			diags = diags.Append(problem.New(problem.BadValue, &value.Range, "Sensitive value for another variable",
				"The value is sensitive, and the variable %q of the root module is not, so that its engine would show it. Declare the variable with sensitive = true.", value.Name))
		}
	}
	return diags
}

func (w *rootWork) writeInputs() error {
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

// Outputs implements [Driver].
func (r *Root) Outputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	if err := stopped(ctx); err != nil {
		return nil, false, err
	}
	work := &rootWork{Root: r, view: silent{}}
	if outputs, found, err = work.readOutputs(ctx); err == nil {
		return outputs, found, nil
	}
	if err := work.initialize(ctx); err != nil { // which is not done first: others may be at work in the directory
		return nil, false, work.withReason(err)
	}
	outputs, found, err = work.readOutputs(ctx)
	return outputs, found, work.withReason(err)
}

func (w *rootWork) readOutputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	if exists, err := w.nameWorkspace(ctx); err != nil || !exists {
		return nil, false, err
	}
	return w.storedOutputs(ctx)
}

// withReason adds the first error that a command has reported to how it ended.
func (w *rootWork) withReason(err error) error {
	if exit, ok := errors.AsType[*process.ExitError](err); ok {
		return &Failure{Diagnostics: append(w.diags, w.unsaid...), End: exit}
	}
	return err
}

// storedOutputs asks the engine for the outputs in the state. Sensitive ones are among them, so
// that none of its output is shown.
func (w *rootWork) storedOutputs(ctx context.Context) (outputs map[string]cty.Value, found bool, err error) {
	if err := stopped(ctx); err != nil {
		return nil, false, err
	}
	var stdout, stderr bytes.Buffer
	err = w.Processes.Run(process.Command{
		Program: w.Engine, Args: []string{"output", "-json"}, Dir: w.opts.Dir, Env: w.opts.Environ, Stdout: &stdout, Stderr: &stderr,
	})
	if err != nil {
		return nil, false, fmt.Errorf("the outputs in the state cannot be read: %w", err)
	}
	var read map[string]struct {
		Sensitive bool            `json:"sensitive"`
		Type      json.RawMessage `json:"type"`
		Value     json.RawMessage `json:"value"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &read); err != nil {
		return nil, false, errors.New("the outputs that the engine writes are not understood")
	}
	outputs = map[string]cty.Value{}
	for name, output := range read {
		ty, err := ctyjson.UnmarshalType(output.Type)
		if err != nil {
			return nil, false, fmt.Errorf("the type of the output %q is not understood", name)
		}
		value, err := ctyjson.Unmarshal(output.Value, ty)
		if err != nil {
			return nil, false, fmt.Errorf("the value of the output %q is not understood", name)
		}
		if output.Sensitive {
			value = value.Mark(marks.Sensitive)
		}
		outputs[name] = value
	}
	return outputs, len(outputs) > 0, nil
}

// silent is a view of work that nobody is to see.
type silent struct{ RootView }

func (silent) Writers() (stdout, stderr io.Writer) { return io.Discard, io.Discard }
func (silent) Event(engine.Event)                  {}
