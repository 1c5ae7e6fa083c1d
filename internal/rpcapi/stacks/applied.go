// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zclconf/go-cty/cty"

	"github.com/cairnstacks/cairn/internal/rpcapi/wire"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime"
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// stateDescriber returns the messages for changes of the state: one for each record, those of
// resource instance objects before that of their component instance.
type stateDescriber struct {
	types *resourceTypes
	moved map[string]bool // keys of objects that the plan moves in their components
}

// stateDescription is the readable form of a record, for people and other programs.
type stateDescription = stackspb.AppliedChange_ChangeDescription

// describe returns the messages of a change. Of a component instance that has ended, all records
// are sent, whether they have changed or not.
func (d *stateDescriber) describe(ctx context.Context, change stackruntime.StateChange) ([]*stackspb.AppliedChange, error) {
	records, err := change.Records()
	if err != nil {
		return nil, err
	}
	components := map[stackaddrs.AbsComponentInstance]*stackstate.Component{}
	moved := map[string]bool{}
	for _, renaming := range change.Renamed {
		components[renaming.After.Addr] = renaming.After
		if renaming.Before.Addr == renaming.After.Addr {
			continue
		}
		if err := addMoved(moved, renaming.Before); err != nil {
			return nil, err
		}
	}
	if change.After != nil {
		components[change.After.Addr] = change.After
	}
	if change.After != nil && !change.Interim {
		if err := addAll(records, change.After); err != nil {
			return nil, err
		}
	}
	values := recordValues{components: components, inputs: change.Inputs, outputs: change.Outputs, interim: change.Interim}
	var messages []*stackspb.AppliedChange
	for _, key := range sortedKeys(records) {
		message, err := d.record(ctx, key, records[key], moved[key] || d.moved[key], values)
		if err != nil {
			return nil, fmt.Errorf("record %s: %w", key, err)
		}
		messages = append(messages, message)
	}
	return messages, nil
}

// recordValues are the values that records are made of.
type recordValues struct {
	components      map[stackaddrs.AbsComponentInstance]*stackstate.Component
	inputs, outputs map[string]cty.Value
	interim         bool
}

// addAll adds the records of a component instance that have not changed.
func addAll(records map[string][]byte, c *stackstate.Component) error {
	all, err := stackstate.ComponentRecords(nil, c)
	if err != nil {
		return err
	}
	for key, record := range all {
		if _, ok := records[key]; !ok {
			records[key] = record
		}
	}
	return nil
}

// addMoved adds the keys of the records of a component instance that has another address now.
func addMoved(moved map[string]bool, before *stackstate.Component) error {
	records, err := stackstate.ComponentRecords(nil, before)
	for key := range records {
		moved[key] = true
	}
	return err
}

// movedResources returns the keys of the objects that have other addresses in their components
// after a plan.
func movedResources(plan *stackplan.Plan) map[string]bool {
	moved := map[string]bool{}
	for _, c := range plan.Components {
		for _, change := range c.Changes {
			if change.IsMove() {
				key := stackstate.Key{Kind: stackstate.ResourceKind, Component: c.Addr, Resource: change.PreviousAddr, Deposed: change.Deposed}
				moved[key.String()] = true
			}
		}
	}
	return moved
}

// record returns the message of a record; nil is one that is removed.
func (d *stateDescriber) record(
	ctx context.Context, key string, record []byte, moved bool, values recordValues,
) (*stackspb.AppliedChange, error) {
	raw, described := &stackspb.AppliedChange_RawChange{Key: key}, &stateDescription{Key: key}
	message := &stackspb.AppliedChange{Raw: []*stackspb.AppliedChange_RawChange{raw}, Descriptions: []*stateDescription{described}}
	switch {
	case record == nil && moved:
		described.Description = &stackspb.AppliedChange_ChangeDescription_Moved{Moved: &stackspb.AppliedChange_Nothing{}}
		return message, nil
	case record == nil:
		described.Description = &stackspb.AppliedChange_ChangeDescription_Deleted{Deleted: &stackspb.AppliedChange_Nothing{}}
		return message, nil
	}
	var err error
	if raw.Value, err = stackstate.EncodeElement(key, record); err != nil {
		return nil, err
	}
	return message, d.fill(ctx, described, record, values)
}

// fill describes the content of a record.
func (d *stateDescriber) fill(ctx context.Context, described *stateDescription, record []byte, values recordValues) error {
	key, err := stackstate.ParseKey(described.GetKey())
	if err != nil {
		return err
	}
	switch key.Kind {
	case stackstate.ComponentKind:
		described.Description, err = componentDescription(values.components[key.Component])
	case stackstate.ResourceKind:
		described.Description, err = d.resourceDescription(ctx, key, record, values.interim)
	case stackstate.InputKind:
		value, err := wire.Value(withoutUnknown(values.inputs[key.Name]))
		described.Description = &stackspb.AppliedChange_ChangeDescription_InputVariable{
			InputVariable: &stackspb.AppliedChange_InputVariable{Name: key.Name, NewValue: value},
		}
		return err
	case stackstate.OutputKind:
		value, err := wire.Value(withoutUnknown(values.outputs[key.Name]))
		described.Description = &stackspb.AppliedChange_ChangeDescription_OutputValue{
			OutputValue: &stackspb.AppliedChange_OutputValue{Name: key.Name, NewValue: value},
		}
		return err
	}
	return err
}

func componentDescription(c *stackstate.Component) (*stackspb.AppliedChange_ChangeDescription_ComponentInstance, error) {
	known := make(map[string]cty.Value, len(c.Outputs))
	for name, value := range c.Outputs {
		known[name] = withoutUnknown(value)
	}
	outputs, err := wire.Values(known)
	return &stackspb.AppliedChange_ChangeDescription_ComponentInstance{ComponentInstance: &stackspb.AppliedChange_ComponentInstance{
		ComponentAddr: wire.ComponentAddress(stackaddrs.ComponentOf(c.Addr)), ComponentInstanceAddr: c.Addr.String(), OutputValues: outputs,
	}}, err
}

// withoutUnknown replaces values that an apply that failed has left unknown: clients know of no
// such values in applied changes.
func withoutUnknown(value cty.Value) cty.Value {
	if value == cty.NilVal || value.IsWhollyKnown() {
		return value
	}
	bare, paths := value.UnmarkDeepWithPaths()
	return cty.UnknownAsNull(bare).MarkWithPaths(paths)
}

func (d *stateDescriber) resourceDescription(
	ctx context.Context, key stackstate.Key, record []byte, interim bool,
) (*stackspb.AppliedChange_ChangeDescription_ResourceInstance, error) {
	var reader tfstate.EntryReader
	entry, err := reader.Read(record)
	if err != nil {
		return nil, err
	}
	object, err := entry.Object()
	if err != nil {
		return nil, err
	}
	provider, err := stackaddrs.ParseProvider(object.ProviderName())
	if err != nil {
		return nil, err
	}
	value, err := d.objectValue(ctx, provider, object)
	return &stackspb.AppliedChange_ChangeDescription_ResourceInstance{ResourceInstance: &stackspb.AppliedChange_ResourceInstance{
		Addr:         wire.ResourceObject(key.Component, key.Resource.String(), key.Deposed),
		NewValue:     value,
		ResourceMode: wire.ResourceMode(key.Resource.Resource.Mode),
		ResourceType: key.Resource.Resource.Type,
		ProviderAddr: provider.String(),
		Interim:      interim,
	}}, err
}

// objectValue returns the value of an object by the type of its resource, if it conforms to that:
// an object that was not applied may be of another version.
func (d *stateDescriber) objectValue(
	ctx context.Context, provider stackaddrs.Provider, object tfstate.Object,
) (*stackspb.DynamicValue, error) {
	ty := d.types.of(ctx, provider, object.Addr.Resource)
	value, err := object.Value(ty)
	if err != nil {
		ty = cty.NilType
		if value, err = object.Value(ty); err != nil {
			return nil, err
		}
	}
	return encodeObject(value, ty)
}

// sortedKeys returns the keys of records in the order in which they are sent.
func sortedKeys(records map[string][]byte) []string {
	last := func(key string) int {
		if strings.HasPrefix(key, string(stackstate.ComponentKind)) {
			return 1
		}
		return 0
	}
	return slices.SortedFunc(maps.Keys(records), func(a, b string) int { return cmp.Or(last(a)-last(b), strings.Compare(a, b)) })
}
