// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package auto

import (
	"context"
	"errors"

	"github.com/hashicorp/hcl/v2"

	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// begin waits until a piece of work may begin (rule A4). The observer that is returned is for the
// session that does it.
func (s *Session) begin(ctx context.Context, id engine.WorkID, observe engine.Observer, owner engine.Session) (
	_ context.Context, _ *engine.Work, passOn engine.Observer, _ error,
) {
	s.mu.Lock()
	s.mu.owners[id] = owner
	s.mu.Unlock()
	return s.works.BeginIn(ctx, id, observe, owner)
}

func notBegun(err error) hcl.Diagnostics {
	return hcl.Diagnostics{failure.New("Interrupted work", "It was stopped before it began: %s.", err)}
}

// Plan implements [engine.Session].
func (s *Session) Plan(ctx context.Context, req *engine.PlanRequest, observe engine.Observer) (*engine.PlanResult, hcl.Diagnostics) {
	chosen := s.chooseFor(ctx, req.ModuleDir, req.PriorState)
	if chosen.session == nil {
		return nil, chosen.diags
	}
	ctx, work, passOn, err := s.begin(ctx, req.Work, observe, chosen.session)
	if err != nil {
		return nil, notBegun(err)
	}
	defer work.End()
	result, diags := chosen.session.Plan(ctx, req, passOn)
	if result != nil {
		result.Reason = chosen.reason
	}
	return result, diags
}

// Apply implements [engine.Session]: by the engine that made the plan (rule A1).
func (s *Session) Apply(ctx context.Context, req *engine.ApplyRequest, observe engine.Observer) (*engine.ApplyResult, hcl.Diagnostics) {
	chosen, diags := s.maker(ctx, req)
	if chosen == nil {
		return nil, diags
	}
	ctx, work, passOn, err := s.begin(ctx, req.Work, observe, chosen)
	if err != nil {
		return nil, notBegun(err)
	}
	defer work.End()
	return chosen.Apply(ctx, req, passOn)
}

// maker returns the session of the engine that made a plan; where that is not said, the one that
// would make it now.
func (s *Session) maker(ctx context.Context, req *engine.ApplyRequest) (engine.Session, hcl.Diagnostics) {
	made := req.Planned.Engine
	switch made {
	case s.native.Info():
		return s.native, nil
	case engine.Info{}:
		chosen := s.chooseFor(ctx, req.ModuleDir, req.PriorState)
		return chosen.session, chosen.diags
	}
	binary, err := s.binary(ctx)
	if err != nil {
		return nil, hcl.Diagnostics{failure.With(faultOf(err), failure.New("Engine of the plan not found",
			"The plan was made by %s %s, which cannot be used. %s", made.Name, made.Version, reason(err)))}
	}
	return binary, nil
}

// Stop implements [engine.Session].
func (s *Session) Stop(ctx context.Context, id engine.WorkID, how engine.Urgency) error {
	err := s.works.Stop(id, how)
	if owner := s.owner(id); errors.Is(err, engine.ErrUnknownWork) && owner != nil { // work that was picked up
		return owner.Stop(ctx, id, how)
	}
	return err
}

// owner returns the session that does a piece of work, or nil.
func (s *Session) owner(id engine.WorkID) engine.Session {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.owners[id]
}

// Acknowledge implements [engine.Session].
func (s *Session) Acknowledge(ctx context.Context, id engine.WorkID) error {
	if owner := s.owner(id); owner != nil {
		return owner.Acknowledge(ctx, id)
	}
	var errs error
	for _, one := range s.opened() { // nothing is kept of it, or somebody else's name for it
		errs = errors.Join(errs, one.Acknowledge(ctx, id))
	}
	return errs
}
