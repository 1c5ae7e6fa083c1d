// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"bytes"
	"maps"
	"strings"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	"github.com/cairnstacks/cairn/internal/failure"
	valuev1 "github.com/cairnstacks/cairn/proto/cairn/value/v1"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
)

// The records of the state of a deployment besides those of its components: published values of the
// stack, and stable values of stores. Their kinds are such that versions which do not know them
// keep them.
const (
	publishedKind = "pubL" // before the name of a published value; alone, before nothing, a publicationRecord
	stableKind    = "stbL" // before the reference to a stable value
)

func unreadableKept(key string, err error) error {
	return failure.Error("Unreadable state", "The record %q of the state cannot be understood: %s.", key, err)
}

// Stable returns the stable values of stores, by their references.
func (t *Stored) Stable() (map[string]cty.Value, error) {
	stable := map[string]cty.Value{}
	for key, raw := range t.Records {
		if name, ok := strings.CutPrefix(key, stableKind); ok {
			value, err := decodeKept(raw)
			if err != nil {
				return nil, unreadableKept(key, err)
			}
			stable[name] = value
		}
	}
	return stable, nil
}

// StableRecords returns the changes of records that keep stable values, by their references. Those
// that are kept already stay.
func (t *Stored) StableRecords(stable map[string]cty.Value) (map[string][]byte, error) {
	changes := map[string][]byte{}
	err := addKept(changes, stableKind, stable)
	maps.DeleteFunc(changes, func(key string, raw []byte) bool { return bytes.Equal(t.Records[key], raw) })
	return changes, err
}

func addKept(changes map[string][]byte, kind string, values map[string]cty.Value) error {
	for name, value := range values {
		stored, err := storedvalue.Encode(value)
		if err != nil {
			return err
		}
		raw, err := proto.MarshalOptions{Deterministic: true}.Marshal(stored)
		if err != nil {
			return err
		}
		changes[kind+name] = append([]byte{}, raw...) // nil would remove the record
	}
	return nil
}

func decodeKept(raw []byte) (cty.Value, error) {
	var stored valuev1.DynamicValue
	if err := proto.Unmarshal(raw, &stored); err != nil {
		return cty.NilVal, err
	}
	return storedvalue.Decode(&stored)
}
