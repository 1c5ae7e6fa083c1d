// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package withheld finds the values that no text may show (rule E4 of package engine) in the data
// of engines: states and planned changes.
package withheld

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/redact"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// AddStored is [AddState] for a state that was not parsed.
func AddStored(set *redact.Set, state engine.State) {
	if doc, err := tfstate.Parse(state); err == nil { // else reading it for its content reports the error
		AddState(set, doc)
	}
}

// AddState adds the sensitive values of a state.
func AddState(set *redact.Set, state *tfstate.Document) {
	objects, err := state.Objects()
	if err != nil {
		return
	}
	for _, object := range objects {
		var paths [][]struct {
			Value json.RawMessage `json:"value"`
		}
		if json.Unmarshal(object.SensitiveAttributes, &paths) != nil || len(paths) == 0 {
			continue
		}
		attributes := decodeValue(object.Attributes)
		for _, path := range paths {
			part := attributes
			for _, step := range path {
				part = stepInto(part, decodeValue(step.Value))
			}
			addStrings(set, part)
		}
	}
}

func decodeValue(data []byte) any {
	decoder := json.NewDecoder(bytes.NewReader(data))
	decoder.UseNumber()
	var value any
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// stepInto returns a part of a value in a state. Where a step leads nowhere, as into a set, that is
// the whole.
func stepInto(value, step any) any {
	if index, ok := step.(map[string]any); ok { // with its type
		step = index["value"]
	}
	switch container := value.(type) {
	case map[string]any:
		if part, ok := container[fmt.Sprint(step)]; ok {
			return part
		}
		if inner, ok := container["value"]; ok && container["type"] != nil { // of an attribute of any type
			return stepInto(inner, step)
		}
	case []any:
		number, ok := step.(json.Number)
		if i, err := number.Int64(); ok && err == nil && i >= 0 && i < int64(len(container)) {
			return container[i]
		}
	}
	return value
}

// AddChanges adds the sensitive values of planned changes.
func AddChanges(set *redact.Set, changes []*engine.Change) {
	for _, change := range changes {
		set.AddMarked(change.Before)
		set.AddMarked(change.After)
	}
}

func addStrings(set *redact.Set, value any) {
	switch value := value.(type) {
	case string:
		set.AddString(value)
	case map[string]any:
		for _, part := range value {
			addStrings(set, part)
		}
	case []any:
		for _, part := range value {
			addStrings(set, part)
		}
	}
}

// Diagnostics returns copies of diagnostics whose texts have no secrets of a set. Their data is
// replaced by the result of the function data.
func Diagnostics(diags hcl.Diagnostics, set *redact.Set, data func(*engine.DiagnosticData) *engine.DiagnosticData) hcl.Diagnostics {
	hidden := make(hcl.Diagnostics, len(diags))
	for i, diag := range diags {
		copied := *diag
		address := ""
		if known, ok := diag.Extra.(*engine.DiagnosticData); ok {
			address = known.Resource
			copied.Extra = data(known)
		}
		copied.Summary, copied.Detail = set.Text(diag.Summary, address), set.Text(diag.Detail, address)
		hidden[i] = &copied
	}
	return hidden
}
