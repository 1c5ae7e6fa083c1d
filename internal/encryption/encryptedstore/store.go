// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

// Package encryptedstore encrypts the records of a state store.
//
// Each deployment has a ring of root keys in a record of its own, which is written in the serial in
// which they are first used. So it is moved, kept and read with the records that are encrypted with
// them, whoever copies these.
//
// Rules:
//
//   - T1. All records of a serial are encrypted with the present key of its ring. Only rekeying
//     makes another key, and with it writes all records anew.
//   - T2. Names of records are replaced by keyed hashes, and are inside of the encrypted values,
//     unless the ring says that they are in clear.
//   - T3. A state in clear is refused where encryption is demanded, and one that is encrypted is
//     read and written as such, whatever is demanded: nobody decrypts it by leaving out a setting.
//     The serials before a state was encrypted are readable as they are.
//   - T4. Operations, times, users, serials, numbers and sizes of records are not encrypted, nor
//     are locks, names of deployments, and the secret by which applies are recognised. Paths of
//     locked parts are as names of records: where these are hidden, each element is encrypted with
//     the present key, and the same text each time. Where encryption is demanded and there is no
//     ring yet, the whole deployment is locked in the place of its parts.
package encryptedstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/cairnstacks/cairn/internal/encryption"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// Mode is how a store treats states in clear, and whether it changes keys.
type Mode string

// The modes.
const (
	Usual   Mode = ""
	Rekey   Mode = "rekey"   // states in clear are read, and each new serial gets a new root key
	Decrypt Mode = "decrypt" // each new serial is written in clear
)

// Store is a state store whose records are encrypted. Made by [New]. It is safe for concurrent use.
type Store struct {
	statestore.Store // in which they are

	keys *encryption.Keyring
	mode Mode

	mu struct {
		sync.Mutex
		known map[string]*sealedState // by deployment: the newest that was read or written
		fresh map[string]*sealedState // by deployment: with the ring for its first serial
	}
}

var _ statestore.Store = (*Store)(nil)

// sealedState is how a state at a serial is encrypted.
type sealedState struct {
	base statestore.Base
	ring *encryption.Ring // nil if it is in clear
	root *encryption.Root
}

// New returns a store that encrypts the records in another one with the keys of a keyring.
func New(in statestore.Store, keys *encryption.Keyring, mode Mode) *Store {
	s := &Store{Store: in, keys: keys, mode: mode}
	s.mu.known, s.mu.fresh = map[string]*sealedState{}, map[string]*sealedState{}
	return s
}

// Read implements [statestore.Store].
func (s *Store) Read(ctx context.Context, deployment string) (*statestore.Snapshot, error) {
	snapshot, err := s.Store.Read(ctx, deployment)
	if err != nil {
		return nil, err
	}
	state, err := s.stateOf(ctx, deployment, snapshot)
	if err != nil {
		return nil, err
	}
	if state.ring == nil && len(snapshot.Records) > 0 && s.keys.Demands() && s.mode == Usual {
		return nil, encryption.ClearState(deployment)
	}
	s.note(deployment, state)
	return snapshot, state.open(deployment, snapshot)
}

// ReadSerial implements [statestore.Store].
func (s *Store) ReadSerial(ctx context.Context, deployment string, serial int64) (*statestore.Snapshot, error) {
	snapshot, err := s.Store.ReadSerial(ctx, deployment, serial)
	if err != nil {
		return nil, err
	}
	state, err := s.formerState(ctx, deployment, snapshot)
	if err != nil {
		return nil, err
	}
	return snapshot, state.open(deployment, snapshot)
}

// History implements [statestore.Store].
func (s *Store) History(ctx context.Context, deployment string) ([]statestore.Version, error) {
	history, err := s.Store.History(ctx, deployment)
	if err != nil || len(history) == 0 {
		return history, err
	}
	newest, err := s.Store.Read(ctx, deployment)
	if err != nil {
		return nil, err
	}
	ring, err := ringOf(deployment, newest)
	if err != nil {
		return nil, err
	}
	for i := range history {
		count(ring, &history[i], -1)
	}
	return history, nil
}

// count adds the ring to the numbers of records of a serial, or takes it away.
func count(ring *encryption.Ring, version *statestore.Version, one int64) {
	if ring == nil || len(ring.Written) == 0 || version.Serial < ring.Written[0] {
		return
	}
	version.Total += one
	if slices.Contains(ring.Written, version.Serial) {
		version.Changed += one
	}
}

// Check implements [statestore.Store].
func (s *Store) Check(ctx context.Context) error {
	names, err := s.Deployments(ctx)
	if err == nil {
		err = s.Store.Check(ctx)
	}
	for _, name := range names {
		if err == nil {
			_, err = s.Read(ctx, name)
		}
	}
	return err
}

// stateOf finds out how a state is encrypted, and unwraps its key.
func (s *Store) stateOf(ctx context.Context, deployment string, snapshot *statestore.Snapshot) (*sealedState, error) {
	ring, err := ringOf(deployment, snapshot)
	state := &sealedState{base: snapshot.Base(), ring: ring}
	if err != nil || ring == nil {
		return state, err
	}
	state.root, err = s.keys.Unwrap(ctx, ring.Present, describe(deployment))
	return state, err
}

// formerState is [Store.stateOf] for any serial: its key may be a former one of the present ring,
// which those who have keys for that can read.
func (s *Store) formerState(ctx context.Context, deployment string, snapshot *statestore.Snapshot) (*sealedState, error) {
	ring, err := ringOf(deployment, snapshot)
	if err != nil || ring == nil {
		return &sealedState{base: snapshot.Base()}, err
	}
	state, err := s.stateOf(ctx, deployment, snapshot)
	if err == nil {
		return state, nil
	}
	newest, readErr := s.Store.Read(ctx, deployment)
	if readErr != nil {
		return nil, readErr
	}
	present, presentErr := s.stateOf(ctx, deployment, newest)
	if presentErr != nil || present.ring == nil {
		return nil, err
	}
	root := present.ring.FormerRoot(present.root, ring.Present.ID)
	if root == nil {
		return nil, err
	}
	return &sealedState{base: snapshot.Base(), ring: ring, root: root}, nil
}

func (s *Store) note(deployment string, state *sealedState) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.mu.known[deployment] = state
}

// at returns how a state at its newest serial is encrypted. It reads that, unless this store has
// read or written it last.
func (s *Store) at(ctx context.Context, deployment string, base statestore.Base) (*sealedState, error) {
	if known := s.lastKnown(deployment); known != nil && known.base == base {
		return known, nil
	}
	if _, err := s.Read(ctx, deployment); err != nil { // also because it may be in clear
		return nil, err
	}
	return s.lastKnown(deployment), nil
}

func describe(deployment string) string {
	return fmt.Sprintf("the state of the deployment %q", deployment)
}

// ringName is the name of the record with the ring. Names of other records begin with the kinds of
// package stackstate, or, if they are hashes, with hiddenPrefix.
const (
	ringName     = "ring"
	hiddenPrefix = "="
)

// ringOf returns the ring among stored records, nil for a state in clear.
func ringOf(deployment string, snapshot *statestore.Snapshot) (*encryption.Ring, error) {
	stored, ok := snapshot.Records[ringName]
	if !ok {
		for name, value := range snapshot.Records {
			if encryption.IsSealed(value) || strings.HasPrefix(name, hiddenPrefix) {
				return nil, encryption.Damaged(describe(deployment))
			}
		}
		return nil, nil //nolint:nilnil // see above
	}
	ring := encryption.ParseRing(stored)
	if ring == nil {
		return nil, encryption.Damaged(describe(deployment))
	}
	return ring, nil
}
