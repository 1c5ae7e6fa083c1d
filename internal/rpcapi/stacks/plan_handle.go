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
	"github.com/cairnstacks/cairn/stackruntime/stackplan"
)

// planHandle is the name in errors of handles of [*openPlan].
const planHandle = "stack plan"

// openPlan is a plan that a client has sent.
type openPlan struct {
	plan  *stackplan.Plan
	made  stackplan.FileContext
	prior *openState // with which it was made
}

// OpenPlan implements [stackspb.StacksServer].
func (s *Service) OpenPlan(stream grpc.ClientStreamingServer[stackspb.OpenStackPlan_RequestItem, stackspb.OpenStackPlan_Response]) error {
	var reader stackplan.ElementReader
	for {
		item, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := reader.Add(item.GetRaw()); err != nil {
			return unusablePlan(err)
		}
	}
	opened, err := s.decodePlan(&reader)
	if err != nil {
		return err
	}
	return stream.SendAndClose(&stackspb.OpenStackPlan_Response{PlanHandle: handle.Open(s.handles, opened)})
}

// ClosePlan implements [stackspb.StacksServer].
func (s *Service) ClosePlan(_ context.Context, req *stackspb.CloseStackPlan_Request) (*stackspb.CloseStackPlan_Response, error) {
	if _, err := handle.Close[*openPlan](s.handles, req.GetPlanHandle(), planHandle); err != nil {
		return nil, err
	}
	return &stackspb.CloseStackPlan_Response{}, nil
}

// decodePlan returns the plan whose elements were read.
//
// Errors: InvalidArgument.
func (s *Service) decodePlan(reader *stackplan.ElementReader) (*openPlan, error) {
	plan, made, err := reader.Plan()
	if err != nil {
		return nil, unusablePlan(err)
	}
	if made.CairnVersion != s.opts.Version {
		return nil, status.Errorf(codes.InvalidArgument, "the plan was made by version %s of cairn, and this is version %s",
			made.CairnVersion, s.opts.Version)
	}
	state, err := decodeState(reader.Prior())
	if err != nil {
		return nil, err
	}
	return &openPlan{plan, made, &openState{reader.Prior(), state}}, nil
}

// takePlan returns the plan that a request has, or names. The handle of that is closed, whatever
// becomes of the request.
func (s *Service) takePlan(req *stackspb.ApplyStackChanges_Request) (*openPlan, error) {
	inline := req.GetPlannedChanges() //nolint:staticcheck // former clients send it
	var opened *openPlan
	if req.GetPlanHandle() != 0 {
		var err error
		if opened, err = handle.Close[*openPlan](s.handles, req.GetPlanHandle(), planHandle); err != nil {
			return nil, err
		}
	}
	switch {
	case opened != nil && len(inline) > 0:
		return nil, status.Error(codes.InvalidArgument, "the request has both a handle of a plan and a plan")
	case opened != nil:
		return opened, nil
	case len(inline) == 0:
		return nil, status.Error(codes.InvalidArgument, "the request has no plan")
	}
	return s.readPlan(inline)
}

func (s *Service) readPlan(elements []*anypb.Any) (*openPlan, error) {
	var reader stackplan.ElementReader
	for _, element := range elements {
		if err := reader.Add(element); err != nil {
			return nil, unusablePlan(err)
		}
	}
	return s.decodePlan(&reader)
}

func unusablePlan(err error) error {
	return status.Errorf(codes.InvalidArgument, "the plan cannot be used: %s", err)
}
