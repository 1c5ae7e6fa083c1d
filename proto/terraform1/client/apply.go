// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package client

import (
	"context"
	"errors"
	"io"
	"maps"
	"slices"

	stackspb "github.com/cairnstacks/cairn/proto/terraform1/stacks"
)

// ApplyOptions are the parameters of [Stack.Apply]. Callbacks may be nil.
type ApplyOptions struct {
	// Inputs has the values of ephemeral variables, which no plan has. Others may be repeated.
	Inputs map[string]Input

	// Change is called with each change of the state after it was merged, so that the state can be
	// stored at once: it survives a crash then. After an error no further changes are begun.
	Change     func(*stackspb.AppliedChange) error
	Diagnostic func(Diagnostic)
	Progress   func(*stackspb.StackChangeProgress)

	// Other gets all other events: results of policies, and events of later versions.
	Other func(*stackspb.ApplyStackChanges_Event)
}

// Apply applies a plan of the stack, and merges the results into a state, change by change. The
// state should be the one that was planned with, and is nobody else's meanwhile.
//
// When ctx ends, or a callback fails, no further changes are begun, here and in all other
// operations of the process: see [Client.Stop]. Apply returns when those that were begun have
// ended.
//
// The diagnostics are all of the server's. Errors: [*DiagnosticsError] if there are errors among
// them; the changes that were made are in the state, then and in any other case.
func (s *Stack) Apply(ctx context.Context, plan *Plan, state *State, opts ApplyOptions) (Diagnostics, error) {
	if !plan.Applyable() {
		return nil, errors.New("applying: the plan cannot be applied")
	}
	request, err := s.applyRequest(ctx, plan, state, opts)
	if err != nil {
		return nil, err
	}
	a := &applying{
		// If it fails, the process is gone, and the stream says so.
		stop:  func() { _ = s.client.Stop(context.WithoutCancel(ctx)) }, //nolint:errcheck // see above
		ended: func() error { return context.Cause(ctx) }, state: state, opts: opts,
	}
	defer context.AfterFunc(ctx, a.stop)()
	stream, err := s.client.stacks.ApplyStackChanges(context.WithoutCancel(ctx), request)
	if err != nil {
		return nil, wrap("applying", err)
	}
	for {
		event, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return a.diags, a.result()
		} else if err != nil {
			return a.diags, errors.Join(wrap("applying", err), a.result())
		}
		a.take(event)
	}
}

// applyRequest opens the plan: applying takes its handle, even if that fails.
func (s *Stack) applyRequest(ctx context.Context, plan *Plan, state *State,
	opts ApplyOptions,
) (*stackspb.ApplyStackChanges_Request, error) {
	inputs, err := encodeInputs(opts.Inputs)
	if err != nil {
		return nil, err
	}
	handle, err := s.client.openPlan(ctx, plan)
	return &stackspb.ApplyStackChanges_Request{
		PlanHandle: handle, StackConfigHandle: s.config, DependencyLocksHandle: s.locks, ProviderCacheHandle: s.cache, InputValues: inputs,
		KnownDescriptionKeys: slices.Sorted(maps.Keys(state.Descriptions)),
	}, err
}

func (c *Client) openPlan(ctx context.Context, plan *Plan) (int64, error) {
	ctx, cancel := context.WithCancel(ctx) // ends a stream that was not sent to its end
	defer cancel()
	stream, err := c.stacks.OpenPlan(ctx)
	if err != nil {
		return 0, wrap("opening the plan", err)
	}
	for _, raw := range plan.Raw() {
		if stream.Send(&stackspb.OpenStackPlan_RequestItem{Raw: raw}) != nil {
			break // receiving says why
		}
	}
	response, err := stream.CloseAndRecv()
	return response.GetPlanHandle(), wrap("opening the plan", err)
}

// applying is an apply that runs.
type applying struct {
	stop    func()       // asks the server to begin nothing more
	ended   func() error // returns why the caller wants no more, or nil
	state   *State
	opts    ApplyOptions
	diags   Diagnostics
	failure error // of the first callback that failed
	begun   bool
}

func (a *applying) take(event *stackspb.ApplyStackChanges_Event) {
	if !a.begun && a.ended() != nil {
		a.stop() // again: the server may not have known the operation before
	}
	a.begun = true
	switch kind := event.GetEvent().(type) {
	case *stackspb.ApplyStackChanges_Event_AppliedChange:
		a.state.Merge(kind.AppliedChange)
		a.changed(kind.AppliedChange)
	case *stackspb.ApplyStackChanges_Event_Diagnostic:
		diagnostic := newDiagnostic(kind.Diagnostic)
		a.diags = append(a.diags, diagnostic)
		call(a.opts.Diagnostic, diagnostic)
	case *stackspb.ApplyStackChanges_Event_Progress:
		call(a.opts.Progress, kind.Progress)
	default:
		call(a.opts.Other, event)
	}
}

// changed tells the caller about a change. If its state cannot be stored any more, there should be
// no further ones.
func (a *applying) changed(change *stackspb.AppliedChange) {
	if a.opts.Change == nil {
		return
	}
	if err := a.opts.Change(change); err != nil && a.failure == nil {
		a.failure = err
		a.stop()
	}
}

// result returns the error of an apply that has ended. One that was stopped has diagnostics, too.
func (a *applying) result() error {
	err := a.diags.err()
	if err != nil {
		err = errors.Join(err, a.ended())
	}
	return errors.Join(err, a.failure)
}
