// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"io"

	"google.golang.org/protobuf/types/known/anypb"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// Mode is the kind of a plan.
type Mode = stackspb.PlanMode

// The modes of plans.
const (
	ModeNormal      = stackspb.PlanMode_NORMAL
	ModeRefreshOnly = stackspb.PlanMode_REFRESH_ONLY
	ModeDestroy     = stackspb.PlanMode_DESTROY
)

// PlanOptions are the parameters of [Stack.Plan]. Callbacks may be nil.
type PlanOptions struct {
	Mode   Mode
	Prior  *State // nil stands for no state
	Inputs map[string]Input

	Change     func(*stackspb.PlannedChange)
	Diagnostic func(Diagnostic)
	Progress   func(*stackspb.StackChangeProgress)

	// Other gets all other events: results of policies, and events of later versions.
	Other func(*stackspb.PlanStackChanges_Event)
}

// Plan is the result of [Stack.Plan]. It has all that [Stack.Apply] needs, in this or in another
// process of a server of the same version.
type Plan struct {
	Mode        Mode
	Changes     []*stackspb.PlannedChange // all, in their order
	Diagnostics Diagnostics               // not in files
}

// Applyable reports whether the plan may be applied: the server has said so, and nothing was wrong.
func (p *Plan) Applyable() bool {
	applyable := false
	for _, change := range p.Changes {
		for _, description := range change.GetDescriptions() {
			if verdict, ok := description.GetDescription().(*stackspb.PlannedChange_ChangeDescription_PlanApplyable); ok {
				applyable = verdict.PlanApplyable
			}
		}
	}
	return applyable && !p.Diagnostics.HasErrors()
}

// Raw returns the elements of the plan that the server reads.
func (p *Plan) Raw() []*anypb.Any {
	var raw []*anypb.Any
	for _, change := range p.Changes {
		raw = append(raw, change.GetRaw()...)
	}
	return raw
}

// Plan plans changes of the stack. When ctx ends, the plan is given up.
//
// Faults of the configuration or the world are in the diagnostics of the plan, which cannot be
// applied then.
func (s *Stack) Plan(ctx context.Context, opts PlanOptions) (plan *Plan, err error) {
	request, err := s.planRequest(opts)
	if err != nil {
		return nil, err
	}
	if opts.Prior != nil && len(opts.Prior.Raw) > 0 {
		if request.PreviousStateHandle, err = s.client.openState(ctx, opts.Prior); err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, s.client.closeState(request.GetPreviousStateHandle())) }()
	}
	ctx, cancel := context.WithCancel(ctx) // ends a stream that is not read to its end
	defer cancel()
	stream, err := s.client.stacks.PlanStackChanges(ctx, request)
	if err != nil {
		return nil, wrap("planning", err)
	}
	plan = &Plan{Mode: opts.Mode}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return plan, nil
		} else if err != nil {
			return nil, wrap("planning", err)
		}
		plan.take(event, opts)
	}
}

func (s *Stack) planRequest(opts PlanOptions) (*stackspb.PlanStackChanges_Request, error) {
	inputs, err := encodeInputs(opts.Inputs)
	return &stackspb.PlanStackChanges_Request{
		PlanMode: opts.Mode, StackConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache, InputValues: inputs,
	}, err
}

func (p *Plan) take(event *stackspb.PlanStackChanges_Event, opts PlanOptions) {
	switch kind := event.GetEvent().(type) {
	case *stackspb.PlanStackChanges_Event_PlannedChange:
		p.Changes = append(p.Changes, kind.PlannedChange)
		call(opts.Change, kind.PlannedChange)
	case *stackspb.PlanStackChanges_Event_Diagnostic:
		diagnostic := newDiagnostic(kind.Diagnostic)
		p.Diagnostics = append(p.Diagnostics, diagnostic)
		call(opts.Diagnostic, diagnostic)
	case *stackspb.PlanStackChanges_Event_Progress:
		call(opts.Progress, kind.Progress)
	default:
		call(opts.Other, event)
	}
}

// call calls a callback if there is one.
func call[T any](callback func(T), value T) {
	if callback != nil {
		callback(value)
	}
}
