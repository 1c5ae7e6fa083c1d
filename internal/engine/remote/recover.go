// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/cairnstacks/cairn/stackruntime/engine"
)

// recoverer recovers work of pools besides that of the local session, which has the records of
// both.
type recoverer struct {
	engine.Recoverer
	session *Session
}

// about returns the place of unfinished work in a pool; nil for other work.
func (r recoverer) about(work engine.WorkID) (*place, error) {
	if r.session.abilities.Delegator == nil {
		return nil, nil
	}
	content := r.session.abilities.Delegator.Delegated(work)
	if content == nil {
		return nil, nil
	}
	var about place
	if err := json.Unmarshal(content, &about); err != nil {
		return nil, fmt.Errorf("the record of %s has an unknown place: %w", work, err)
	}
	return &about, nil
}

// Unfinished implements [engine.Recoverer]. Whether work in a pool goes on shows when it is
// resumed.
func (r recoverer) Unfinished(ctx context.Context) ([]engine.UnfinishedWork, error) {
	found, err := r.Recoverer.Unfinished(ctx)
	for i := range found {
		about, placeErr := r.about(found[i].Work)
		err = errors.Join(err, placeErr)
		found[i].Running = found[i].Running || about != nil
	}
	return found, err
}

// Resume implements [engine.Recoverer]. A call that another program has made is taken over (rule
// R2), and its reports complete the record, by which the local session returns the result.
func (r recoverer) Resume(
	ctx context.Context, work engine.WorkID, after engine.Position, observe engine.Observer,
) (*engine.Recovered, error) {
	about, err := r.about(work)
	if err != nil {
		return nil, err
	}
	if about == nil {
		return r.Recoverer.Resume(ctx, work, after, observe)
	}
	a, err := r.takeOver(ctx, work, about)
	if err != nil {
		return nil, fmt.Errorf("an earlier apply is being done in the pool %q: %w", about.Pool, err)
	}
	r.session.abilities.Delegator.Settle(work)
	recovered, err := r.Recoverer.Resume(ctx, work, after, observe)
	if recovered != nil && a != nil {
		recovered.Diagnostics = recovered.Diagnostics.Extend(a.Diags)
	}
	return recovered, err
}

// takeOver waits for the end of a call, and completes the record with its reports. The answer is
// nil if there will be none.
func (r recoverer) takeOver(ctx context.Context, work engine.WorkID, about *place) (*answer, error) {
	s := r.session
	if s.opts.Transport == nil {
		return nil, errors.New("no workers are configured, of which it could be had")
	}
	ctx, picked := s.works.PickUp(ctx, work)
	defer picked.End()
	s.stopNow(ctx, picked, about.Call)
	kept := context.WithoutCancel(ctx)
	a, err := s.call(ctx, Call{Name: about.Call, Pool: about.Pool, Changes: true}, nil, func(content []byte) error {
		return s.abilities.Delegator.Reported(kept, work, content)
	})
	switch {
	case errors.Is(err, errNotRecorded):
		return nil, err
	case errors.Is(err, ErrForgotten):
		reason := fmt.Sprintf("The reports of its worker in the pool %q are not kept any more", about.Pool)
		return nil, s.abilities.Delegator.Lose(kept, work, reason)
	case errors.Is(err, ErrNotBegun), errors.Is(err, ErrWorkerLost):
		return nil, nil
	}
	return a, err
}
