// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/anypb"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// Description describes a part of a state.
type Description = stackspb.AppliedChange_ChangeDescription

// State is the state of a stack. The zero value is that of a stack of which nothing exists.
type State struct {
	Raw          map[string]*anypb.Any   // the records that the server reads, by keys that mean nothing to others
	Descriptions map[string]*Description // the readable form, by such keys
}

// Merge takes over a change.
func (s *State) Merge(change *stackspb.AppliedChange) {
	if s.Raw == nil {
		s.Raw = map[string]*anypb.Any{}
	}
	if s.Descriptions == nil {
		s.Descriptions = map[string]*Description{}
	}
	for _, raw := range change.GetRaw() {
		if raw.GetValue() == nil {
			delete(s.Raw, raw.GetKey())
		} else {
			s.Raw[raw.GetKey()] = raw.GetValue()
		}
	}
	for _, description := range change.GetDescriptions() {
		if describes(description) {
			s.Descriptions[description.GetKey()] = description
		} else {
			delete(s.Descriptions, description.GetKey())
		}
	}
}

// describes reports whether a description is to be kept. One of a kind that is not known is.
func describes(description *Description) bool {
	switch description.GetDescription().(type) {
	case *stackspb.AppliedChange_ChangeDescription_Deleted, *stackspb.AppliedChange_ChangeDescription_Moved:
		return false
	case nil:
		return len(description.ProtoReflect().GetUnknown()) > 0
	}
	return true
}

// Outputs returns the outputs of the stack.
func (s *State) Outputs() (map[string]Value, error) {
	outputs := map[string]Value{}
	for _, description := range s.Descriptions {
		output := description.GetOutputValue()
		if output == nil {
			continue
		}
		value, err := DecodeValue(output.GetNewValue())
		if err != nil {
			return nil, fmt.Errorf("output %q: %w", output.GetName(), err)
		}
		outputs[output.GetName()] = value
	}
	return outputs, nil
}

func (c *Client) openState(ctx context.Context, state *State) (int64, error) {
	ctx, cancel := context.WithCancel(ctx) // ends a stream that was not sent to its end
	defer cancel()
	stream, err := c.stacks.OpenState(ctx)
	if err != nil {
		return 0, wrap("opening the state", err)
	}
	for _, key := range slices.Sorted(maps.Keys(state.Raw)) {
		item := &stackspb.OpenStackState_RequestItem{Raw: &stackspb.AppliedChange_RawChange{Key: key, Value: state.Raw[key]}}
		if stream.Send(item) != nil {
			break // receiving says why
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetStateHandle(), wrap("opening the state", err)
}

func (c *Client) closeState(handle int64) error {
	return closing("the state", func(ctx context.Context) error {
		_, err := c.stacks.CloseState(ctx, &stackspb.CloseStackState_Request{StateHandle: handle})
		return err
	})
}
