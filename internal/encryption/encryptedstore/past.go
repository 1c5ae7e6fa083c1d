// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore

import (
	"context"
	"math"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// era are serials that are encrypted with one key: those from one serial on, up to another one.
type era struct {
	state    *sealedState
	from, to int64
}

// Revisions implements [statestore.Store]. By rule T1 a record that is hidden has another name with
// each key, and is written anew with it.
func (s *Store) Revisions(ctx context.Context, deployment string, keys []string) (map[string]statestore.Revisions, error) {
	eras, err := s.eras(ctx, deployment)
	if err != nil {
		return nil, err
	}
	var names []string
	for _, e := range eras {
		for _, key := range keys {
			names = append(names, e.state.storedName(key))
		}
	}
	stored, err := s.Store.Revisions(ctx, deployment, names)
	if err != nil {
		return nil, err
	}
	past := map[string]statestore.Revisions{}
	for _, key := range keys {
		of, err := plainRevisions(deployment, key, eras, stored)
		if err != nil {
			return nil, err
		}
		if len(of) > 0 {
			past[key] = of
		}
	}
	return past, nil
}

// plainRevisions returns the revisions of a record in clear.
func plainRevisions(
	deployment, key string, eras []era, stored map[string]statestore.Revisions,
) (of statestore.Revisions, err error) {
	for _, e := range eras {
		name := e.state.storedName(key)
		for _, revision := range stored[name] {
			if revision.Serial < e.from || revision.Serial >= e.to {
				continue // of another era in which names are in clear
			}
			if revision.Value != nil && e.state.ring != nil {
				plain, whole := e.state.openRecord(deployment, pair{name, revision.Value})
				if !whole || plain.name != key {
					return nil, encryption.Damaged(describe(deployment))
				}
				revision.Value = append([]byte{}, plain.value...)
			}
			of.Add(revision)
		}
	}
	return of, nil
}

// storedName is the name of a record in the store below.
func (t *sealedState) storedName(name string) string {
	if t.ring == nil {
		return name
	}
	return t.sealRecord("", pair{name: name}).name
}

// eras finds out how the serials of a deployment are encrypted, by the revisions of its ring.
func (s *Store) eras(ctx context.Context, deployment string) ([]era, error) {
	rings, err := s.Store.Revisions(ctx, deployment, []string{ringName})
	if err != nil {
		return nil, err
	}
	eras := []era{{state: &sealedState{}, to: math.MaxInt64}}
	for _, revision := range rings[ringName] {
		snapshot := &statestore.Snapshot{Records: map[string][]byte{}}
		if revision.Value != nil {
			snapshot.Records[ringName] = revision.Value
		}
		state, err := s.formerState(ctx, deployment, snapshot)
		if err != nil {
			return nil, err
		}
		eras[len(eras)-1].to = revision.Serial
		eras = append(eras, era{state, revision.Serial, math.MaxInt64})
	}
	if last := eras[len(eras)-1]; last.state.ring == nil && s.keys.Demands() && s.mode == Usual {
		newest, err := s.Newest(ctx)
		if err != nil {
			return nil, err
		}
		if newest[deployment].Serial > 0 {
			return nil, encryption.ClearState(deployment)
		}
	}
	return eras, nil
}
