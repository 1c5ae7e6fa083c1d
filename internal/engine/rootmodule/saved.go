// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rootmodule

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/internal/initdir"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// The plan file of a root module with inputs that were not known is a zip with the engine's plan
// file and the data for applying it.
const (
	latchedVersion = 1
	latchedMeta    = "cairn-root.json"
	latchedFile    = "engine.tfplan"
)

// latchedPlan is the plan of a root module with inputs that were not known.
type latchedPlan struct {
	Version int               `json:"version"`
	Dir     string            `json:"dir,omitempty"` // of the module, if its state is in a file, whose place the engine's plan says
	Shape   *workcopy.Shape   `json:"shape"`
	Inputs  map[string][]byte `json:"inputs"` // those that were not wholly known, as MessagePack with type

	File []byte `json:"-"` // the engine's plan
}

// readLatchedPlan reads such a file; false if it is another one.
func readLatchedPlan(text []byte) (*latchedPlan, bool) {
	archive, err := zip.NewReader(bytes.NewReader(text), int64(len(text)))
	if err != nil {
		return nil, false
	}
	plan := &latchedPlan{}
	meta, err := member(archive, latchedMeta)
	if err != nil || json.Unmarshal(meta, plan) != nil || plan.Shape == nil {
		return nil, false
	}
	plan.File, err = member(archive, latchedFile)
	return plan, err == nil
}

// member reads a file of an archive, whose size in the directory of the archive may be a lie.
func member(archive *zip.Reader, name string) ([]byte, error) {
	file, err := archive.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return io.ReadAll(file)
}

func (p *latchedPlan) inputs() (map[string]cty.Value, error) {
	values := map[string]cty.Value{}
	for name, text := range p.Inputs {
		value, err := safevalue.Unmarshal(text, cty.DynamicPseudoType)
		if err != nil {
			return nil, fmt.Errorf("input %q: %w", name, err)
		}
		values[name] = value
	}
	return values, nil
}

// saveLatched saves the plan that the engine has just made in a working copy.
func (w *Work) saveLatched() error {
	file, err := os.ReadFile(w.enginePlan())
	if err != nil {
		return err
	}
	backend, err := w.backend()
	if err != nil {
		return err
	}
	plan := latchedPlan{Version: latchedVersion, Shape: w.latch.copy.Shape, Inputs: map[string][]byte{}}
	if backend.Type == initdir.LocalBackend {
		plan.Dir = w.opts.Dir
	}
	for name, value := range w.latch.planned {
		if plan.Inputs[name], err = ctymsgpack.Marshal(value, cty.DynamicPseudoType); err != nil {
			return fmt.Errorf("saving input %q: %w", name, err)
		}
	}
	meta, err := json.Marshal(plan)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, one := range []struct {
		name    string
		content []byte
	}{{latchedMeta, meta}, {latchedFile, file}} {
		to, err := archive.CreateHeader(&zip.FileHeader{Name: one.name, Method: zip.Store}) // the engine's file is compressed
		if err == nil {
			_, err = to.Write(one.content)
		}
		if err != nil {
			return err
		}
	}
	if err := archive.Close(); err != nil {
		return err
	}
	return os.WriteFile(w.opts.PlanFile, out.Bytes(), 0o600)
}

// ErrNotPlan says that a file is not the plan of a root module, or that only its engine can read
// it.
var ErrNotPlan = errors.New("it is no plan of a root module, or one that only its engine can read")

// SavedPlan is the plan of a root module as its file has it.
type SavedPlan struct {
	*stackplan.Plan // as that of a stack with nothing but the module

	// Private says that only the schemas of its providers tell which of its values are sensitive.
	Private bool
}

// ReadPlan reads the plan of a root module, without its engine and its providers.
//
// Errors: [ErrNotPlan].
func ReadPlan(text []byte) (SavedPlan, error) {
	latched, isLatched := readLatchedPlan(text)
	if isLatched {
		text = latched.File
	}
	plan, err := decodePlan(text, isLatched)
	if err != nil {
		return SavedPlan{}, ErrNotPlan
	}
	return plan, nil
}
