// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryptedstore

import (
	"context"
	"encoding/base64"
	"errors"
	"slices"
	"strings"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// lockParts takes a lock of parts, whose paths are encrypted with the present root key if names of
// records are (rule T4). While it is held, that key stays: rekeying locks the whole deployment. So
// the key with which the paths were encrypted is the one of whoever has another lock of parts.
func (s *Store) lockParts(ctx context.Context, deployment string, request statestore.LockRequest) (*lock, error) {
	parts := request.Parts
	state, err := s.latest(ctx, deployment)
	if err != nil {
		return nil, err
	}
	var from []statestore.LockInfo
	for {
		request.Parts = state.sealParts(deployment, parts)
		if state.ring == nil && s.keys.Demands() {
			request.Parts = nil // there is no key for the paths yet, and they may not be in clear
		}
		taken, err := s.Store.Lock(ctx, deployment, request)
		if err != nil {
			return nil, err
		}
		from = append(from, taken.TakenFrom()...)
		made := &lock{Lock: taken, store: s, deployment: deployment, takenFrom: from}
		if len(request.Parts) == 0 {
			return made, nil
		}
		now, err := s.newest(ctx, deployment)
		if err == nil && state.sealsLike(now) {
			return made, nil
		}
		// The key was exchanged before the lock was taken: holders of the same parts have other paths.
		if err := errors.Join(err, taken.Unlock(ctx)); err != nil {
			return nil, err
		}
		state = now
	}
}

// latest returns how the state is encrypted as far as this store knows, which may be out of date.
func (s *Store) latest(ctx context.Context, deployment string) (*sealedState, error) {
	known := s.lastKnown(deployment)
	if known != nil && (known.ring != nil || !s.keys.Demands()) { // else the whole would be locked
		return known, nil
	}
	return s.newest(ctx, deployment)
}

// newest returns how the state is encrypted.
func (s *Store) newest(ctx context.Context, deployment string) (*sealedState, error) {
	newest, err := s.Newest(ctx)
	if err != nil || newest[deployment].Serial == 0 {
		return &sealedState{}, err
	}
	return s.at(ctx, deployment, newest[deployment].Base)
}

func (s *Store) lastKnown(deployment string) *sealedState {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.mu.known[deployment]
}

// sealsLike reports whether the paths of parts are encrypted in the same way.
func (t *sealedState) sealsLike(other *sealedState) bool {
	if !t.hidesNames() || !other.hidesNames() {
		return t.hidesNames() == other.hidesNames()
	}
	return t.root.ID() == other.root.ID()
}

// hidesNames reports whether names are encrypted (rule T2).
func (t *sealedState) hidesNames() bool {
	return t.ring != nil && t.ring.Names == encryption.HiddenNames
}

// sealParts encrypts the elements of paths. The same one gives the same text (rule E4 of package
// encryption), which the store below compares.
func (t *sealedState) sealParts(deployment string, parts []statestore.Part) []statestore.Part {
	if !t.hidesNames() {
		return parts
	}
	return mapElements(parts, func(element string) string {
		sealed := t.root.Seal(partPlace(deployment), []byte(element))
		return hiddenPrefix + base64.RawURLEncoding.EncodeToString(sealed)
	})
}

// openParts is the inverse of sealParts. Elements for which the key is not known are shortened, as
// they mean nothing to a reader: no key service is asked for them.
func (s *Store) openParts(deployment string, parts []statestore.Part) []statestore.Part {
	known := s.lastKnown(deployment)
	return mapElements(parts, func(element string) string {
		text, hidden := strings.CutPrefix(element, hiddenPrefix)
		sealed, err := base64.RawURLEncoding.DecodeString(text)
		if !hidden || err != nil || !encryption.IsSealed(sealed) {
			return element
		}
		if known != nil && known.root != nil {
			if plain, ok := known.root.Open(partPlace(deployment), sealed); ok {
				return string(plain)
			}
		}
		return hiddenPrefix + ellipsis + text[len(text)-shortened:] // all begin alike
	})
}

const (
	ellipsis  = "…"
	shortened = 8 // is the length of what is left of the text of an element without its key
)

// partPlace is the place of an element of a path, wherever in which path it is.
func partPlace(deployment string) string { return "part\x00" + deployment }

// mapElements returns parts with other elements in their paths.
func mapElements(parts []statestore.Part, change func(element string) string) []statestore.Part {
	changed := slices.Clone(parts)
	for i, part := range parts {
		changed[i].Path = slices.Clone(part.Path)
		for j, element := range part.Path {
			changed[i].Path[j] = change(element)
		}
	}
	return changed
}

// openHolders decrypts the paths in place.
func (s *Store) openHolders(holders []statestore.LockInfo) []statestore.LockInfo {
	for i, holder := range holders {
		holders[i].Parts = s.openParts(holder.Deployment, holder.Parts)
	}
	return holders
}

// openLocked decrypts the paths in the error about a lock that is in the way.
func (s *Store) openLocked(err error) error {
	if locked, ok := errors.AsType[*statestore.LockedError](err); ok {
		locked.Holder.Parts = s.openParts(locked.Holder.Deployment, locked.Holder.Parts)
		locked.Part = s.openParts(locked.Holder.Deployment, []statestore.Part{locked.Part})[0]
	}
	return err
}

// Holders implements [statestore.Store].
func (s *Store) Holders(ctx context.Context, deployment string) ([]statestore.LockInfo, error) {
	holders, err := s.Store.Holders(ctx, deployment)
	return s.openHolders(holders), err
}

// Locks implements [statestore.Store].
func (s *Store) Locks(ctx context.Context) ([]statestore.LockInfo, error) {
	locks, err := s.Store.Locks(ctx)
	return s.openHolders(locks), err
}

// TakenFrom implements [statestore.Lock].
func (l *lock) TakenFrom() []statestore.LockInfo {
	return l.store.openHolders(slices.Clone(l.takenFrom))
}
