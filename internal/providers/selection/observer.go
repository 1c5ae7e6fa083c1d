// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package selection

import (
	"sync"

	"github.com/cairnstacks/cairn/internal/providers/release"
	"github.com/cairnstacks/cairn/internal/providers/source"
)

// Observer is told which packages are fetched, and how far that is. Nil observes nothing. It is
// called by several goroutines: [OneAtATime] is for those that cannot have that.
type Observer func(Event)

// Event is about the package of a release for a platform.
type Event struct {
	release.ID
	Platform release.Platform
	Location string // of the package
	Stage    Stage

	Done, Total int64          // bytes, if it is arriving; the total is -1 if nobody knows it
	Signed      *source.Signed // if it was fetched; nil without a signature
}

// Stage is how far the fetching of a package is.
type Stage int

// The stages, in their order. Some of a package may be missing: all but the first after an error,
// and those in between if it is not far away.
const (
	Begun Stage = iota
	Arriving
	Fetched
)

func (o Observer) send(found *source.Package, event Event) {
	if o != nil {
		event.ID, event.Platform, event.Location = found.ID, found.Platform, found.Location()
		o(event)
	}
}

// Begin reports that a package is fetched. It returns a function for reports about how much has
// arrived.
func (o Observer) Begin(found *source.Package) (progress func(done, total int64)) {
	o.send(found, Event{Stage: Begun})
	return func(done, total int64) { o.send(found, Event{Stage: Arriving, Done: done, Total: total}) }
}

// End says that a package was fetched.
func (o Observer) End(found *source.Package) {
	o.send(found, Event{Stage: Fetched, Signed: found.Signed})
}

// OneAtATime returns an observer that calls another one once at a time.
func OneAtATime(o Observer) Observer {
	if o == nil {
		return nil
	}
	var mu sync.Mutex
	return func(event Event) {
		mu.Lock()
		defer mu.Unlock()
		o(event)
	}
}
