// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package encryption

import (
	"context"
	"encoding/json"

	"github.com/cairnstacks/cairn/internal/sealed"
)

// ringKind begins the ring of a state.
const ringKind = "cairn encryption ring 1"

// Ring has the root keys of a state: the present one wrapped for the keys that decrypt it, and
// former ones, by which older serials are encrypted, encrypted with the present one.
type Ring struct {
	Present Wrapped  `json:"present"`
	Former  []Former `json:"former,omitempty"`

	// Names is how names of records are written.
	Names string `json:"names"`

	// Written are the serials in which a ring was written, of which the first is the first encrypted
	// one: the ring is no record of those who use the store, and does not count.
	Written []int64 `json:"written"`
}

// The values of [Ring.Names].
const (
	HiddenNames = "hidden" // by [Root.Name]
	ClearNames  = "clear"
)

// Former is a former root key.
type Former struct {
	ID  string `json:"id"`
	Key []byte `json:"key"`
}

const formerPlace = "former root key"

// NewRing makes the ring of a new root key. Before is the ring before it, nil for none, whose
// present key is given.
func (k *Keyring) NewRing(ctx context.Context, before *Ring, present *Root) (*Ring, *Root, error) {
	root, err := k.NewRoot(ctx)
	if err != nil {
		return nil, nil, err
	}
	ring := &Ring{Present: root.wrapped, Names: HiddenNames}
	if k.ClearMetadata() {
		ring.Names = ClearNames
	}
	if before == nil {
		return ring, root, nil
	}
	ring.Former = append(ring.Former, Former{present.ID(), root.Seal(formerPlace, present.key)})
	for _, former := range before.Former {
		if key, ok := present.Open(formerPlace, former.Key); ok {
			ring.Former = append(ring.Former, Former{former.ID, root.Seal(formerPlace, key)})
		}
	}
	return ring, root, nil
}

// Encode returns the ring as it is stored.
func (r *Ring) Encode() ([]byte, error) {
	text, err := json.Marshal(r)
	if err != nil {
		return nil, err
	}
	return sealed.Seal(ringKind, text), nil
}

// ParseRing reads a ring. It returns nil for one that is damaged.
func ParseRing(stored []byte) *Ring {
	text, whole := sealed.Open(ringKind, stored)
	var ring Ring
	if !whole || json.Unmarshal(text, &ring) != nil || ring.Names != HiddenNames && ring.Names != ClearNames {
		return nil
	}
	return &ring
}

// FormerRoot returns a former root key of the ring whose present key this is, nil if it is not
// there.
func (r *Ring) FormerRoot(present *Root, id string) *Root {
	for _, former := range r.Former {
		if former.ID != id {
			continue
		}
		if key, ok := present.Open(formerPlace, former.Key); ok && len(key) == keySize {
			root := newRoot(key)
			root.wrapped.ID = id
			return root
		}
	}
	return nil
}
