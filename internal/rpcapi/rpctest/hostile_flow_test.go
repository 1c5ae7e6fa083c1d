// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpctest

import (
	"context"
	"slices"
	"time"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/anypb"

	terraform1 "github.com/cairnstacks/cairn/proto/terraform1"
	dependenciespb "github.com/cairnstacks/cairn/proto/terraform1/dependencies"
	setuppb "github.com/cairnstacks/cairn/proto/terraform1/setup"
	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// flow plans and applies a stack as clients do, but may damage the plan and the state on their way,
// and go away in between.
func (h *hostile) flow(g *generator) {
	ctx, cancel := context.WithTimeout(h.t.Context(), 6*callPatience)
	defer cancel()
	if g.IntN(4) == 0 {
		time.AfterFunc(time.Duration(g.IntN(2000))*time.Millisecond, cancel)
	}
	if g.IntN(4) == 0 {
		time.AfterFunc(time.Duration(g.IntN(2000))*time.Millisecond, func() {
			_, _ = h.setup.Stop(context.WithoutCancel(ctx), &setuppb.Stop_Request{})
		})
	}
	config, err := h.flowConfig(ctx)
	if err != nil {
		h.judge("opening the stack", err)
		return
	}
	planned, err := h.flowPlan(ctx, &stackspb.PlanStackChanges_Request{StackConfigHandle: config})
	h.judge("planning", err)
	state := rawState{}
	for _, event := range h.flowApply(ctx, config, g.damaged(rawPlan(planned))) {
		state.merge(event.GetAppliedChange())
	}
	for key, value := range state {
		if g.IntN(4) == 0 {
			state[key] = g.damagedElement(value)
		}
	}
	//nolint:staticcheck // deprecated
	_, err = h.flowPlan(ctx, &stackspb.PlanStackChanges_Request{StackConfigHandle: config, PreviousState: state})
	h.judge("planning again", err)
}

func (h *hostile) flowConfig(ctx context.Context) (int64, error) {
	h.calls.Add(2)
	bundle, err := h.dependencies.OpenSourceBundle(ctx, &dependenciespb.OpenSourceBundle_Request{LocalPath: "sources"})
	if err != nil {
		return 0, err
	}
	h.keep(bundle.ProtoReflect())
	config, err := h.stacks.OpenStackConfiguration(ctx, &stackspb.OpenStackConfiguration_Request{
		SourceBundleHandle: bundle.GetSourceBundleHandle(), SourceAddress: &terraform1.SourceAddress{Source: "./stack"},
	})
	if err != nil {
		return 0, err
	}
	h.keep(config.ProtoReflect())
	return config.GetStackConfigHandle(), nil
}

func (h *hostile) flowPlan(ctx context.Context, request *stackspb.PlanStackChanges_Request) ([]*stackspb.PlanStackChanges_Event, error) {
	h.calls.Add(1)
	stream, err := h.stacks.PlanStackChanges(ctx, request)
	if err != nil {
		return nil, err
	}
	return receiveAll(stream.Recv)
}

func (h *hostile) flowApply(ctx context.Context, config int64, raw []*anypb.Any) []*stackspb.ApplyStackChanges_Event {
	h.calls.Add(1)
	stream, err := h.stacks.ApplyStackChanges(ctx, &stackspb.ApplyStackChanges_Request{
		StackConfigHandle: config, PlannedChanges: raw, //nolint:staticcheck // deprecated, and still offered
	})
	var events []*stackspb.ApplyStackChanges_Event
	if err == nil {
		events, err = receiveAll(stream.Recv)
	}
	h.judge("applying", err)
	return events
}

// damaged returns a plan that may have been damaged.
func (g *generator) damaged(raw []*anypb.Any) []*anypb.Any {
	raw = slices.Clone(raw)
	for range g.IntN(3) {
		if len(raw) == 0 {
			return raw
		}
		i, j := g.IntN(len(raw)), g.IntN(len(raw))
		switch g.IntN(4) {
		case 0:
			raw = slices.Delete(raw, i, i+1)
		case 1:
			raw = append(raw, raw[i])
		case 2:
			raw[i], raw[j] = raw[j], raw[i]
		case 3:
			raw[i] = g.damagedElement(raw[i])
		}
	}
	return raw
}

// damagedElement returns an element with some other bytes.
func (g *generator) damagedElement(element *anypb.Any) *anypb.Any {
	element = proto.CloneOf(element)
	switch value := element.GetValue(); {
	case len(value) == 0:
		element.Value = g.bytes().([]byte)
	case g.IntN(4) == 0:
		element.Value = value[:g.IntN(len(value))]
	default:
		for range 1 + g.IntN(4) {
			value[g.IntN(len(value))] = byte(g.Uint32())
		}
	}
	return element
}
