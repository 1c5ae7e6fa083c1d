// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package binary

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/zclconf/go-cty/cty"
	ctymsgpack "github.com/zclconf/go-cty/cty/msgpack"

	"github.com/cairnstacks/cairn/internal/engine/binary/workcopy"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/marks"
	"github.com/cairnstacks/cairn/stackruntime/safevalue"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// A stored plan is a zip with the engine's plan file and the facts that applying it needs.
const (
	containerVersion = 1
	containerMeta    = "cairn.json"
	containerPlan    = "engine.tfplan"
)

// storedPlan is the contents of [engine.PlanResult.Plan].
type storedPlan struct {
	meta planMeta
	file []byte // the engine's plan file
}

type planMeta struct {
	Version    int              `json:"version"`
	Engine     engine.Info      `json:"engine"`
	Component  string           `json:"component"`
	Mode       string           `json:"mode"`
	ModuleHash string           `json:"module_hash"`
	Timestamp  time.Time        `json:"timestamp"`
	Prior      tfstate.Identity `json:"prior_state"`
	Shape      *workcopy.Shape  `json:"shape"`

	// Inputs are the planned values of the variables that are not ephemeral, as MessagePack with type.
	Inputs map[string][]byte `json:"inputs,omitempty"`

	// Partial is set if the plan is for the plannable part of the module. Outputs are then those that
	// the engine will not compute, since they don't depend on the resources that it applies.
	Partial bool                    `json:"partial,omitempty"`
	Outputs map[string]storedOutput `json:"outputs,omitempty"`
}

// storedOutput is an output that was known while planning.
type storedOutput struct {
	Value     []byte `json:"value"` // MessagePack with type
	Sensitive bool   `json:"sensitive,omitempty"`
}

func encodeOutputs(outputs map[string]cty.Value) (map[string]storedOutput, error) {
	stored := make(map[string]storedOutput, len(outputs))
	for name, value := range outputs {
		data, err := encodeInput(value)
		if err != nil {
			return nil, fmt.Errorf("storing output %q: %w", name, err)
		}
		stored[name] = storedOutput{data, marks.Contains(value, marks.Sensitive)}
	}
	return stored, nil
}

// output returns the known value of an output that the engine doesn't compute, or an unknown one.
func (m *planMeta) output(name string, sensitive bool) (cty.Value, error) {
	stored, ok := m.Outputs[name]
	if !ok {
		return markOutput(cty.DynamicVal, sensitive), nil
	}
	value, err := decodeInput(stored.Value)
	if err != nil {
		return cty.NilVal, fmt.Errorf("output %q in the plan: %w", name, err)
	}
	return markOutput(value, sensitive || stored.Sensitive), nil
}

// encodeInput stores a planned input without its marks.
func encodeInput(value cty.Value) ([]byte, error) {
	bare, _ := value.UnmarkDeep()
	return ctymsgpack.Marshal(bare, cty.DynamicPseudoType)
}

func decodeInput(data []byte) (cty.Value, error) {
	return safevalue.Unmarshal(data, cty.DynamicPseudoType)
}

func (p *storedPlan) encode() ([]byte, error) {
	meta, err := json.Marshal(p.meta)
	if err != nil {
		return nil, fmt.Errorf("storing a plan: %w", err)
	}
	var out bytes.Buffer
	archive := zip.NewWriter(&out)
	for _, member := range []struct {
		name    string
		content []byte
	}{{containerMeta, meta}, {containerPlan, p.file}} {
		// The engine's plan file is compressed already.
		w, err := archive.CreateHeader(&zip.FileHeader{Name: member.name, Method: zip.Store})
		if err != nil {
			return nil, fmt.Errorf("storing a plan: %w", err)
		}
		if _, err := w.Write(member.content); err != nil {
			return nil, fmt.Errorf("storing a plan: %w", err)
		}
	}
	if err := archive.Close(); err != nil {
		return nil, fmt.Errorf("storing a plan: %w", err)
	}
	return out.Bytes(), nil
}

// errNotPlan says that the bytes are not a plan of ours.
var errNotPlan = errors.New("the plan of the component is damaged, or was made by another program")

func decodePlan(data []byte) (*storedPlan, error) {
	archive, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, errNotPlan
	}
	plan := &storedPlan{}
	meta, err := readMember(archive, containerMeta)
	if err != nil {
		return nil, errNotPlan
	}
	if err := json.Unmarshal(meta, &plan.meta); err != nil {
		return nil, errNotPlan
	}
	if plan.meta.Version != containerVersion || plan.meta.Shape == nil {
		return nil, errNotPlan
	}
	if plan.file, err = readMember(archive, containerPlan); err != nil {
		return nil, errNotPlan
	}
	return plan, nil
}

func readMember(archive *zip.Reader, name string) ([]byte, error) {
	file, err := archive.Open(name)
	if err != nil {
		return nil, err
	}
	defer file.Close() //nolint:errcheck // only read
	return io.ReadAll(file)
}
