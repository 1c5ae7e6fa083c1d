// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stackstate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zclconf/go-cty/cty"
	"google.golang.org/protobuf/proto"

	statev1 "github.com/cairnstacks/cairn/proto/cairn/state/v1"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/storedvalue"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// RecordError is the error for a record that cannot be read or made.
type RecordError struct {
	Key string
	Err error
}

func (e *RecordError) Error() string { return fmt.Sprintf("state record %q: %s", e.Key, e.Err) }

// Unwrap returns the reason.
func (e *RecordError) Unwrap() error { return e.Err }

// Records returns the records of the whole state, without the discarded ones.
//
// Errors:
//   - [*RecordError]: a value cannot be stored, which is a bug, or the state of a
//     module is not a state document.
func (s *State) Records() (map[string][]byte, error) {
	return Diff(nil, s)
}

// Diff returns the writes that turn the records of one state into those of another: values by key,
// nil for a record to delete. Either state may be nil, which is the empty state.
//
// The records in before.Discarded are deleted. Errors are those of [State.Records].
func Diff(before, after *State) (map[string][]byte, error) {
	if before == nil {
		before = New()
	}
	if after == nil {
		after = New()
	}
	changes := map[string][]byte{}
	for _, key := range before.Discarded {
		changes[key] = nil
	}
	addRawChanges(changes, before.Preserved, after.Preserved)
	err := errors.Join(
		addValueChanges(changes, InputKind, before.Inputs, after.Inputs),
		addValueChanges(changes, OutputKind, before.Outputs, after.Outputs),
		addComponentChanges(changes, before, after),
	)
	return changes, err
}

// ComponentRecords is [Diff] for one component instance: the writes for its change from before to
// after. Nil stands for an instance that the state does not have.
func ComponentRecords(before, after *Component) (map[string][]byte, error) {
	if before == after {
		return map[string][]byte{}, nil
	}
	sameModule := before != nil && after != nil && before.Addr == after.Addr && bytes.Equal(before.Module, after.Module)
	old, err := encodeComponent(before, sameModule)
	if err != nil {
		return nil, err
	}
	changes, err := encodeComponent(after, sameModule)
	if err != nil {
		return nil, err
	}
	for key, value := range old {
		replacement, ok := changes[key]
		switch {
		case !ok:
			changes[key] = nil
		case bytes.Equal(value, replacement):
			delete(changes, key)
		}
	}
	return changes, nil
}

func addComponentChanges(changes map[string][]byte, before, after *State) error {
	var errs []error
	add := func(before, after *Component) {
		records, err := ComponentRecords(before, after)
		maps.Copy(changes, records)
		if err != nil {
			errs = append(errs, err)
		}
	}
	for addr, c := range after.Components {
		add(before.Components[addr], c)
	}
	for addr, c := range before.Components {
		if _, ok := after.Components[addr]; !ok {
			add(c, nil)
		}
	}
	return joinSorted(errs)
}

func addRawChanges(changes, before, after map[string][]byte) {
	for key, value := range after {
		if old, ok := before[key]; !ok || !bytes.Equal(old, value) {
			changes[key] = value
		}
	}
	for key := range before {
		if _, ok := after[key]; !ok {
			changes[key] = nil
		}
	}
}

func addValueChanges(changes map[string][]byte, kind Kind, before, after map[string]cty.Value) error {
	var errs []error
	for name, v := range after {
		key := Key{Kind: kind, Name: name}.String()
		if old, ok := before[name]; ok && old != cty.NilVal && v != cty.NilVal && old.RawEquals(v) {
			continue
		}
		value, err := encodeRootValue(v)
		if err != nil {
			errs = append(errs, &RecordError{key, err})
			continue
		}
		changes[key] = value
	}
	for name := range before {
		if _, ok := after[name]; !ok {
			changes[Key{Kind: kind, Name: name}.String()] = nil
		}
	}
	return joinSorted(errs)
}

var deterministic = proto.MarshalOptions{Deterministic: true}

func encodeRootValue(v cty.Value) ([]byte, error) {
	stored, err := storedvalue.Encode(v)
	if err != nil {
		return nil, err
	}
	raw, err := deterministic.Marshal(&statev1.RootValue{Value: stored})
	if raw == nil {
		raw = []byte{} // nil would mean that the record is to be deleted
	}
	return raw, err
}

func decodeRootValue(raw []byte) (cty.Value, error) {
	var record statev1.RootValue
	if err := proto.Unmarshal(raw, &record); err != nil {
		return cty.NilVal, err
	}
	if record.GetValue() == nil {
		return cty.NullVal(cty.DynamicPseudoType), nil
	}
	return storedvalue.Decode(record.GetValue())
}

// encodeComponent returns the records of a component instance. The resource
// instance objects are left out if they are known to be unchanged.
func encodeComponent(c *Component, withoutObjects bool) (map[string][]byte, error) {
	if c == nil {
		return map[string][]byte{}, nil
	}
	addr := c.Addr.String()
	key := string(ComponentKind) + addr
	module, err := tfstate.Parse(c.Module)
	if err != nil {
		return nil, &RecordError{key, err}
	}
	value, err := encodeComponentRecord(c, module.Rest())
	if err != nil {
		return nil, &RecordError{key, err}
	}
	records := map[string][]byte{key: value}
	if withoutObjects {
		return records, nil
	}
	for _, entry := range module.Entries() {
		key := resourceKey(addr, entry.Addr.String(), entry.Deposed)
		if _, ok := records[key]; ok {
			return nil, &RecordError{key, errors.New("the object occurs twice in the state of the module")}
		}
		records[key] = entry.AppendJSON(nil)
	}
	return records, nil
}

func encodeComponentRecord(c *Component, rest json.RawMessage) ([]byte, error) {
	inputs, err := storedvalue.EncodeMap(c.Inputs)
	if err != nil {
		return nil, fmt.Errorf("input %w", err)
	}
	outputs, err := storedvalue.EncodeMap(c.Outputs)
	if err != nil {
		return nil, fmt.Errorf("output %w", err)
	}
	raw, err := deterministic.Marshal(&statev1.ComponentInstance{
		Inputs:       inputs,
		Outputs:      outputs,
		Dependencies: componentNames(c.Dependencies),
		Dependents:   componentNames(c.Dependents),
		Module:       rest,
	})
	if raw == nil {
		raw = []byte{}
	}
	return raw, err
}

func componentNames(addrs []stackaddrs.AbsComponent) []string {
	sorted := slices.SortedFunc(slices.Values(addrs), stackaddrs.AbsComponent.Compare)
	names := make([]string, len(sorted))
	for i, addr := range sorted {
		names[i] = addr.String()
	}
	return names
}

// joinSorted joins errors in an order that does not depend on map order.
func joinSorted(errs []error) error {
	slices.SortFunc(errs, func(a, b error) int { return bytes.Compare([]byte(a.Error()), []byte(b.Error())) })
	return errors.Join(errs...)
}
