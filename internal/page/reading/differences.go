// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package reading

import (
	"fmt"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/document/stateobject"
	"github.com/cairnstacks/cairn/internal/page/model"
	"github.com/cairnstacks/cairn/internal/views/valuediff"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// differences compares the objects and the outputs of two states, by their records.
func differences(before, after map[string][]byte) ([]model.Difference, error) {
	var all []model.Difference
	for _, text := range changedKeys(before, after) {
		key, err := stackstate.ParseKey(text)
		if err != nil || key.Kind != stackstate.ComponentKind && key.Kind != stackstate.ResourceKind {
			continue // of an operation, or of a root value
		}
		d := model.Difference{Address: key.Component.String()}
		if key.Kind == stackstate.ResourceKind {
			d.Address += "." + key.Resource.String()
			if key.Deposed != "" {
				d.Address += " (deposed object " + string(key.Deposed) + ")"
			}
		}
		if d.Values.Before, err = valueOf(key, before[text]); err == nil {
			d.Values.After, err = valueOf(key, after[text])
		}
		if err != nil {
			return nil, fmt.Errorf("the record of %s is not understood: %w", d.Address, err)
		}
		all = append(all, d)
	}
	return all, nil
}

// valueOf returns the attributes of an object, or the outputs of a component; nil for no record.
func valueOf(key stackstate.Key, record []byte) (*valuediff.Value, error) {
	if record == nil {
		return nil, nil //nolint:nilnil // see above
	}
	if key.Kind == stackstate.ComponentKind {
		state, err := stackstate.FromRecords(map[string][]byte{key.String(): record})
		if err != nil {
			return nil, err
		}
		return valuediff.FromResource(cty.ObjectVal(state.Components[key.Component].Outputs)), nil
	}
	var reader tfstate.EntryReader
	entry, err := reader.Read(record)
	if err != nil {
		return nil, err
	}
	object, err := entry.Object()
	if err != nil {
		return nil, err
	}
	attributes, err := stateobject.Decode(object)
	if err != nil {
		return nil, err
	}
	return valuediff.FromJSON(attributes.Values, attributes.Sensitive), nil
}
