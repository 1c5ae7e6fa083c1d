// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objects

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// place is the part of a bucket that has the states of one stack. A call waits for a service that
// is away, for a while.
type place struct {
	address
	prefix   string // of names, with a slash at its end if it is not empty
	patience *statestore.Patience
	keeps    time.Duration // the age up to which entries stay

	mu struct {
		sync.Mutex
		bucket bucket // nil until first used
	}
}

// fault is a fault of a service, for people.
type fault struct {
	problem        statestore.Problem
	detail, remedy string
}

// requestTime is how long the answer to a request may take.
const requestTime = 30 * time.Second

func newPlace(a address, reach *statestore.Reach, opts statestore.Options) *place {
	p := &place{address: a, prefix: a.folder(), keeps: youngest}
	p.patience = &statestore.Patience{
		Server: reach, Location: a.shown, AtMost: statestore.UsualPatience, Away: opts.Away, IsLost: p.isLost, Reason: reason,
	}
	if opts.Traceless { // for whoever peeks, such as an editor, shows something else then
		p.patience.AtMost = 0
	}
	return p
}

// opened returns the bucket, which is connected to with the first request.
func (p *place) opened(ctx context.Context) (bucket, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.bucket != nil {
		return p.mu.bucket, nil
	}
	b, err := openBucket(ctx, p.address)
	if err != nil {
		return nil, err
	}
	p.mu.bucket = b
	return b, nil
}

func (p *place) close() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.bucket == nil {
		return nil
	}
	err := p.mu.bucket.close()
	p.mu.bucket = nil
	return err
}

// request makes a request, again while the service is away.
func (p *place) request(ctx context.Context, do func(context.Context, bucket) error) error {
	if ctx.Err() != nil { // a directory does not look
		return context.Cause(ctx)
	}
	err := p.patience.Call(ctx, func() error {
		b, err := p.opened(ctx)
		if err != nil {
			return err
		}
		within, cancel := context.WithTimeout(ctx, requestTime)
		defer cancel()
		err = do(within, b)
		if err == nil || !p.isLost(err) {
			p.patience.Server.Reached()
		}
		return err
	}, nil)
	return p.explain(ctx, err)
}

// isLost reports whether the service is away, perhaps for a moment.
func (p *place) isLost(err error) bool {
	if isAnswer(err) {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mu.bucket != nil && p.mu.bucket.problem(err) == fault{}
}

// isAnswer reports whether an error is one of our own.
func isAnswer(err error) bool {
	return errors.Is(err, errExists) || errors.Is(err, errMissing) || errors.As(err, new(*statestore.StoreError))
}

func (p *place) explain(ctx context.Context, err error) error {
	if err == nil || isAnswer(err) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := fault{statestore.ProblemURL, "cannot be opened", "correct the location: " + forms}
	if p.scheme == "azblob" { // without the name of the account, there is no address
		f.remedy = remedies[p.scheme]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.bucket != nil {
		if f = p.mu.bucket.problem(err); f == (fault{}) {
			f = fault{statestore.ProblemUnreachable, "cannot be reached", "check the network and the location; everything stored so far is intact"}
		}
	}
	return &statestore.StoreError{Location: p.shown, Problem: f.problem, Detail: f.detail, Remedy: f.remedy, Err: reason(err)}
}

// request is the beginning of the texts of errors, which repeat the request.
var request = regexp.MustCompile(`^blob \(code=\w+\): |^(operation error \w+: \w+, )|^` + noneOfAmazon + `: |^open bucket \S+: `)

// reason is the text of an error without the request.
func reason(err error) error {
	text, _, _ := strings.Cut(err.Error(), "\n")
	for {
		rest := request.ReplaceAllString(text, "")
		if rest == text {
			return errors.New(text)
		}
		text = rest
	}
}

func (p *place) create(ctx context.Context, name string, object []byte) error {
	return p.request(ctx, func(ctx context.Context, b bucket) error { return b.create(ctx, name, object) })
}

func (p *place) put(ctx context.Context, name string, object []byte) error {
	return p.request(ctx, func(ctx context.Context, b bucket) error { return b.put(ctx, name, object) })
}

func (p *place) read(ctx context.Context, name string) (object []byte, err error) {
	err = p.request(ctx, func(ctx context.Context, b bucket) (err error) {
		object, err = b.read(ctx, name)
		return err
	})
	return object, err
}

func (p *place) modified(ctx context.Context, name string) (at time.Time, err error) {
	err = p.request(ctx, func(ctx context.Context, b bucket) (err error) {
		at, err = b.modified(ctx, name)
		return err
	})
	return at.UTC(), err
}

func (p *place) list(ctx context.Context, prefix string, token []byte, most int) (names []string, next []byte, err error) {
	err = p.request(ctx, func(ctx context.Context, b bucket) (err error) {
		names, next, err = b.list(ctx, prefix, token, most)
		return err
	})
	return names, next, err
}

func (p *place) folders(ctx context.Context, prefix string) (names []string, err error) {
	err = p.request(ctx, func(ctx context.Context, b bucket) (err error) {
		names, err = b.folders(ctx, prefix)
		return err
	})
	return names, err
}

func (p *place) remove(ctx context.Context, name string) error {
	return p.request(ctx, func(ctx context.Context, b bucket) error { return b.remove(ctx, name) })
}

// now returns the time of the service.
func (p *place) now(ctx context.Context) (time.Time, error) {
	name := p.prefix + "clocks/" + rand.Text()
	if err := p.create(ctx, name, nil); err != nil && !errors.Is(err, errExists) {
		return time.Time{}, err
	}
	at, err := p.modified(ctx, name)
	return at, errors.Join(err, p.remove(ctx, name))
}

// corrupt returns the error about damage.
func (p *place) corrupt(what string) error {
	return &statestore.StoreError{
		Location: p.shown, Problem: statestore.ProblemCorrupt, Detail: "is damaged: " + what,
		Remedy: "keep a copy of " + p.shown + ", then restore the objects from a version or a backup",
	}
}

// unreadable returns the error of an object that cannot be understood.
func (p *place) unreadable(object string, err error) error {
	switch {
	case errors.Is(err, errNewer):
		return &statestore.StoreError{
			Location: p.shown, Problem: statestore.ProblemNewer, Detail: "was written by a newer cairn: " + object + " is not known here",
			Remedy: "use a newer cairn",
		}
	case errors.Is(err, errOlder):
		return &statestore.StoreError{
			Location: p.shown, Problem: statestore.ProblemNotState,
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
	return statestore.MovedError(p.shown, location, at)
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
