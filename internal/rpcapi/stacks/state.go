// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"context"
	"errors"
	"io"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/anypb"

	"github.com/cairnstacks/cairn/internal/rpcapi/handle"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
	"github.com/cairnstacks/cairn/stackruntime/stackstate"
)

// stateHandle is the name in errors of handles of [*openState].
const stateHandle = "stack state"

// openState is a state that a client has sent.
type openState struct {
	records map[string]*anypb.Any // as it was sent
	state   *stackstate.State
}

// OpenState implements [stackspb.StacksServer].
func (s *Service) OpenState(
	stream grpc.ClientStreamingServer[stackspb.OpenStackState_RequestItem, stackspb.OpenStackState_Response],
) error {
	records := map[string]*anypb.Any{}
	for {
		item, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		key, value := item.GetRaw().GetKey(), item.GetRaw().GetValue()
		if _, ok := records[key]; ok {
			return status.Errorf(codes.InvalidArgument, "the state has the key %q twice", key)
		}
		if value == nil {
			return status.Errorf(codes.InvalidArgument, "the state has the key %q without a value", key)
		}
		records[key] = value
	}
	decoded, err := decodeState(records)
	if err != nil {
		return err
	}
	opened := handle.Open(s.handles, &openState{records, decoded})
	return stream.SendAndClose(&stackspb.OpenStackState_Response{StateHandle: opened})
}

// CloseState implements [stackspb.StacksServer].
func (s *Service) CloseState(_ context.Context, req *stackspb.CloseStackState_Request) (*stackspb.CloseStackState_Response, error) {
	if _, err := handle.Close[*openState](s.handles, req.GetStateHandle(), stateHandle); err != nil {
		return nil, err
	}
	return &stackspb.CloseStackState_Response{}, nil
}

// decodeState returns the state that a client has kept.
//
// Errors: InvalidArgument.
func decodeState(raw map[string]*anypb.Any) (*stackstate.State, error) {
	state, err := stackstate.FromElements(raw)
	if err != nil {
		return nil, status.Errorf(codes.InvalidArgument, "the state cannot be used: %s", err)
	}
	return state, nil
}
