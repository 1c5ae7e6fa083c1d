// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package statestore

import (
	"maps"
	"sync"
)

// Batches gather the changes of calls that come while another one is on its way to the store: they
// wait together, and are then stored at once. The zero value has none.
type Batches struct {
	mu   sync.Mutex
	next *batch // joined by new calls; nil if nobody waits
}

// batch has the changes of several calls that are stored together.
type batch struct {
	changes []map[string][]byte // in the order of the calls
	stored  chan struct{}       // closed when err is set
	err     error
}

// Write has changes stored, by this call or by another one. Turn has room for one element, which is
// in it while something is stored; store is called with that. Of the changes of several calls to a
// record, the last counts: within a serial, only the last value is kept.
func (b *Batches) Write(turn chan struct{}, changes map[string][]byte, store func(map[string][]byte) error) error {
	mine := b.join(changes)
	select {
	case <-mine.stored: // by the holder of the turn
		return mine.err
	case turn <- struct{}{}:
	}
	defer func() { <-turn }()
	if b.leave(mine) {
		mine.err = store(merged(mine.changes))
		close(mine.stored)
	}
	return mine.err
}

// join adds changes to the batch that goes next.
func (b *Batches) join(changes map[string][]byte) *batch {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next == nil {
		b.next = &batch{stored: make(chan struct{})}
	}
	b.next.changes = append(b.next.changes, changes)
	return b.next
}

// leave closes a batch to further calls. It reports false if another call did, which then also has
// stored it.
func (b *Batches) leave(mine *batch) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.next != mine {
		return false
	}
	b.next = nil
	return true
}

func merged(changes []map[string][]byte) map[string][]byte {
	if len(changes) == 1 {
		return changes[0]
	}
	all := map[string][]byte{}
	for _, one := range changes {
		maps.Copy(all, one)
	}
	return all
}
