// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"time"

	"github.com/cairnstacks/cairn/internal/objectstore"
	"github.com/cairnstacks/cairn/internal/statestore"
)

// place is the part of a bucket that has the states of one stack.
type place struct {
	address
	*objectstore.Client
	prefix string        // of names, with a slash at its end if it is not empty
	keeps  time.Duration // the age up to which entries stay
}

func newPlace(a address, reach *statestore.Reach, opts statestore.Options) *place {
	p := &place{address: a, Client: objectstore.NewClient(a.Address, reach, opts.Away), prefix: a.folder(), keeps: youngest}
	if opts.Traceless { // for whoever peeks, such as an editor, shows something else then
		p.Patience.AtMost = 0
	}
	return p
}

// now returns the time of the service.
func (p *place) now(ctx context.Context) (time.Time, error) {
	name := p.prefix + "clocks/" + rand.Text()
	if err := p.Create(ctx, name, nil); err != nil && !errors.Is(err, objectstore.ErrExists) {
		return time.Time{}, err
	}
	at, err := p.Modified(ctx, name)
	return at, errors.Join(err, p.Remove(ctx, name))
}

// corrupt returns the error about damage.
func (p *place) corrupt(what string) error {
	return &statestore.StoreError{
		Location: p.Shown, Problem: statestore.ProblemCorrupt, Detail: "is damaged: " + what,
		Remedy: "keep a copy of " + p.Shown + ", then restore the objects from a version or a backup",
	}
}

// unreadable returns the error of an object that cannot be understood.
func (p *place) unreadable(object string, err error) error {
	switch {
	case errors.Is(err, errNewer):
		return &statestore.StoreError{
			Location: p.Shown, Problem: statestore.ProblemNewer, Detail: "was written by a newer cairn: " + object + " is not known here",
			Remedy: "use a newer cairn",
		}
	case errors.Is(err, errOlder):
		return &statestore.StoreError{
			Location: p.Shown, Problem: statestore.ProblemNotState,
			Detail: "was written by a cairn from before the first release: the format of " + object + " is not known here",
			Remedy: "use a location where nothing is stored yet",
		}
	case errors.Is(err, errDamaged):
		return p.corrupt(object + " has changed since it was written")
	default:
		return p.corrupt(err.Error())
	}
}

// movedTo returns the error of states that were moved.
func (p *place) movedTo(location string, at time.Time) error {
	return statestore.MovedError(p.Shown, location, at)
}

// escape makes a name of a folder of a text.
func escape(text string) string {
	escaped := url.PathEscape(text)
	if strings.Trim(escaped, ".") == "" { // a parent directory
		return strings.ReplaceAll(escaped, ".", "%2E")
	}
	return escaped
}

// unescape is the inverse of escape. Others give themselves.
func unescape(name string) string {
	if text, err := url.PathUnescape(name); err == nil {
		return text
	}
	return name
}
