// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"github.com/cairnstacks/cairn/internal/engine/native/resource"
	"github.com/cairnstacks/cairn/internal/engine/native/state"
	"github.com/cairnstacks/cairn/internal/failure"
	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// store writes an object to the state.
func (a *applier) store(t *resource.Target, o *resource.Object, deposed stackaddrs.DeposedKey) bool {
	entry, err := t.Entry(o, deposed)
	if err != nil {
		return a.eval.Diagnostics.AddTo(t.Address, failure.New("Unstorable object", "%s.", err))
	}
	a.now.Set(entry)
	return a.pass(t.Addr, deposed, &entry)
}

// remove removes an object from the state.
func (a *applier) remove(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) bool {
	a.now.Remove(addr, deposed)
	return a.pass(addr, deposed, nil)
}

// pass passes on the new state entry of an object (rule A2). The entry is nil if the object is
// gone.
func (a *applier) pass(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey, entry *tfstate.Entry) bool {
	var err error
	switch {
	case a.Journal == nil:
	case entry != nil:
		err = a.Journal.Store(*entry)
	default:
		err = a.Journal.Remove(addr, deposed)
	}
	if a.Observe != nil {
		change := &engine.ObjectChange{Addr: addr, Deposed: deposed}
		if entry != nil {
			change.Entry = entry.AppendJSON(nil)
		}
		a.observe(engine.Event{Type: engine.ObjectChanged, Object: change})
	}
	return a.recorded(addr, err)
}

// unchanged says that there is the same object as before a provider was asked to change it.
func (a *applier) unchanged(addr stackaddrs.ResourceInstance, deposed stackaddrs.DeposedKey) {
	if a.Journal != nil {
		a.recorded(addr, a.Journal.Unchanged(addr, deposed))
	}
}

// recorded reports the error of the journal, if there is one.
func (a *applier) recorded(addr stackaddrs.ResourceInstance, err error) bool {
	return err == nil || a.eval.Diagnostics.AddTo(addr.String(), failure.New("Unusable apply journal",
		"The work on %s could not be recorded: %s.", addr, err))
}

// announce passes on the differences between the state of the plan and the one before it.
func (a *applier) announce() {
	if a.Journal == nil && a.Observe == nil || string(a.PriorState) == string(a.Planned.RefreshedState) {
		return
	}
	prior, err := state.Read(a.PriorState)
	if err != nil {
		return // the unreadable state is replaced as a whole
	}
	for _, entry := range a.before.Document().Entries() {
		known := prior.Object(entry.Addr, entry.Deposed)
		if known == nil || !known.Entry.Equal(entry) {
			a.pass(entry.Addr, entry.Deposed, &entry)
		}
	}
	for _, entry := range prior.Document().Entries() {
		if a.before.Object(entry.Addr, entry.Deposed) == nil {
			a.pass(entry.Addr, entry.Deposed, nil)
		}
	}
}
