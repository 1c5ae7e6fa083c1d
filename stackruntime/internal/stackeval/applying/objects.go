// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package applying

import (
	"fmt"

	"github.com/cairnstacks/cairn/stackaddrs"
	"github.com/cairnstacks/cairn/stackruntime/engine"
	"github.com/cairnstacks/cairn/stackruntime/tfstate"
)

// Objects are the objects of a component while it is being applied: those of the state before, with
// the changes that the engine has reported since.
type Objects struct {
	Before engine.State

	changes []*engine.ObjectChange // in their order
}

type objectKey struct {
	addr    stackaddrs.ResourceInstance
	deposed stackaddrs.DeposedKey
}

// Change takes note of a change of an object.
func (o *Objects) Change(change *engine.ObjectChange) {
	o.changes = append(o.changes, change)
}

// State returns the newest state. The engine may know more of it than objects, and says so when it
// is done.
func (o *Objects) State() (engine.State, error) {
	before, err := tfstate.Parse(o.Before)
	if err != nil {
		return nil, fmt.Errorf("state before the apply: %w", err)
	}
	changed := make(map[objectKey][]byte, len(o.changes)) // newest entries; nil for a deleted object
	for _, change := range o.changes {
		changed[objectKey{change.Addr, change.Deposed}] = change.Entry
	}
	var entries []tfstate.Entry
	for _, entry := range before.Entries() {
		if _, known := changed[objectKey{entry.Addr, entry.Deposed}]; !known {
			entries = append(entries, entry)
		}
	}
	var reader tfstate.EntryReader
	for key, text := range changed {
		if text == nil {
			continue
		}
		entry, err := reader.Read(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", key.addr, err)
		}
		entries = append(entries, entry)
	}
	after, err := before.WithEntries(entries)
	if err != nil {
		return nil, err
	}
	return after.Bytes(), nil
}
