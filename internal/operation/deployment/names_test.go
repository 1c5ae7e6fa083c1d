// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package deployment

import (
	"strings"
	"testing"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// taken is a lock that was taken from another holder, if there was one.
type taken struct {
	statestore.Lock
	from []statestore.LockInfo
}

func (taken) ID() string                         { return "this" }
func (l taken) TakenFrom() []statestore.LockInfo { return l.from }

// A state knows by which lock it is locked, and which one was taken over for that.
func TestLockNames(t *testing.T) {
	for name, test := range map[string]struct {
		stored        Stored
		id, displaced string
	}{
		"not locked": {Stored{}, "", ""},
		"locked":     {Stored{lock: &Lock{Lock: taken{}}}, "this", ""},
		"taken over": {Stored{lock: &Lock{Lock: taken{from: []statestore.LockInfo{{ID: "that"}}}}}, "this", "that"},
	} {
		lock := test.stored.Lock()
		if id, displaced := lock.Name(), strings.Join(lock.Displaced(), " "); id != test.id || displaced != test.displaced {
			t.Errorf("%s: got %q and %q, want %q and %q", name, id, displaced, test.id, test.displaced)
		}
	}
}
