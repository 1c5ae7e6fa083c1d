// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"slices"

	"github.com/cairnstacks/cairn/internal/statestore"
	"github.com/cairnstacks/cairn/stackaddrs"
)

// Lock is the lock of a state, or of parts of it. Nil is none.
type Lock struct {
	statestore.Lock

	parts []statestore.Part // none stands for the whole
}

// locked returns the locked parts, none for the whole, and for no lock: whoever only reads a state
// is concerned with all of it.
func (l *Lock) locked() []statestore.Part {
	if l == nil {
		return nil
	}
	return l.parts
}

// Name names the lock, as was recorded when it was taken; "" for none. No other lock has that name.
func (l *Lock) Name() string {
	if l == nil {
		return ""
	}
	return l.ID()
}

// Displaced names the locks of programs that had died, which were removed for this one.
func (l *Lock) Displaced() []string {
	if l == nil {
		return nil
	}
	var names []string
	for _, holder := range l.TakenFrom() {
		names = append(names, holder.ID)
	}
	return names
}

// Concerns reports whether a component instance is of the locked parts. All are for no lock.
func (l *Lock) Concerns(addr stackaddrs.AbsComponentInstance) bool {
	return conflict(l.locked(), []statestore.Part{Instance(addr, true)})
}

// MayChange reports whether the lock is one for changing some component instances.
func (l *Lock) MayChange(addrs ...stackaddrs.AbsComponentInstance) bool {
	return l != nil && !slices.ContainsFunc(addrs, func(addr stackaddrs.AbsComponentInstance) bool {
		return !conflict(l.parts, []statestore.Part{Instance(addr, false)})
	})
}

// ToChange returns the parts of another lock, in the place of this one, for changing component
// instances as well.
func (l *Lock) ToChange(addrs ...stackaddrs.AbsComponentInstance) []statestore.Part {
	if l.Alone() {
		return nil
	}
	parts := slices.Clone(l.parts)
	for _, addr := range addrs {
		parts = append(parts, Instance(addr, true))
	}
	return parts
}

// Alone reports whether nobody else changes other parts of the state meanwhile.
func (l *Lock) Alone() bool { return hasWhole(l.locked()) }
