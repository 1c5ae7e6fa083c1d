// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objectstore

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/cairnstacks/cairn/internal/statestore"
)

// Client makes requests to the bucket of a location, which it connects to with the first of them. A
// request waits for a service that is away, for a while. It is safe for concurrent use.
//
// Errors: ErrExists and ErrMissing as of [Bucket], all others as [*statestore.StoreError].
type Client struct {
	// Patience has the time for which a service is waited for. It must not be changed after the first
	// request.
	Patience *statestore.Patience

	// RequestTime is how long the answer to a request may take. It must not be changed after the first
	// request.
	RequestTime time.Duration

	// Wrap returns the bucket to use in place of one: that of a test. It may be nil.
	Wrap func(Bucket) Bucket

	address Address

	mu struct {
		sync.Mutex
		bucket Bucket // nil until first used
	}
}

const (
	// usualRequestTime is enough for objects of some megabytes.
	usualRequestTime = 30 * time.Second

	// mostRequests is how many requests are made at the same time for one call.
	mostRequests = 16
)

// NewClient returns the client of a location. Several locations of one bucket share the knowledge
// of whether it is reached. Away is told that the service is away, and may be nil.
func NewClient(a Address, reach *statestore.Reach, away func(statestore.Outage)) *Client {
	c := &Client{address: a, RequestTime: usualRequestTime}
	c.Patience = &statestore.Patience{
		Server: reach, Location: a.Shown, AtMost: statestore.UsualPatience, Away: away, IsLost: c.isLost, Reason: reason,
	}
	return c
}

// opened returns the bucket, which is connected to with the first request.
func (c *Client) opened(ctx context.Context) (Bucket, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.bucket != nil {
		return c.mu.bucket, nil
	}
	b, err := Open(ctx, c.address)
	if err != nil {
		return nil, err
	}
	if c.Wrap != nil {
		b = c.Wrap(b)
	}
	c.mu.bucket = b
	return b, nil
}

// Close closes the connections. A later request makes new ones.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.bucket == nil {
		return nil
	}
	err := c.mu.bucket.Close()
	c.mu.bucket = nil
	return err
}

// request makes a request, again while the service is away (rule B3).
func (c *Client) request(ctx context.Context, do func(context.Context, Bucket) error) error {
	if ctx.Err() != nil { // a directory does not look
		return context.Cause(ctx)
	}
	err := c.Patience.Call(ctx, func() error {
		b, err := c.opened(ctx)
		if err != nil {
			return err
		}
		within, cancel := context.WithTimeout(ctx, c.RequestTime)
		defer cancel()
		err = do(within, b)
		if err == nil || !c.isLost(err) {
			c.Patience.Server.Reached()
		}
		return err
	}, nil)
	return c.explain(ctx, err)
}

// isLost reports whether the service is away, perhaps for a moment.
func (c *Client) isLost(err error) bool {
	if isAnswer(err) {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.mu.bucket != nil && c.mu.bucket.Problem(err) == Fault{}
}

// isAnswer reports whether an error is one of our own.
func isAnswer(err error) bool {
	return errors.Is(err, ErrExists) || errors.Is(err, ErrMissing) || errors.As(err, new(*statestore.StoreError))
}

func (c *Client) explain(ctx context.Context, err error) error {
	if err == nil || isAnswer(err) {
		return err
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	f := Fault{statestore.ProblemURL, "cannot be opened", "correct the location: " + Forms}
	if c.address.Scheme == "azblob" { // without the name of the account, there is no address
		f.Remedy = remedies[c.address.Scheme]
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.mu.bucket != nil {
		if f = c.mu.bucket.Problem(err); f == (Fault{}) {
			f = Fault{statestore.ProblemUnreachable, "cannot be reached", "check the network and the location; everything stored so far is intact"}
		}
	}
	return &statestore.StoreError{Location: c.address.Shown, Problem: f.Problem, Detail: f.Detail, Remedy: f.Remedy, Err: reason(err)}
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

// Create is [Bucket.Create].
func (c *Client) Create(ctx context.Context, name string, object []byte) error {
	return c.request(ctx, func(ctx context.Context, b Bucket) error {
		err := b.Create(ctx, name, object)
		if err == nil || !c.isLost(err) {
			return err
		}
		// A server that knows by the name alone that it refuses may end the connection before it has
		// read a large object, so that the answer is never seen, however often it is asked.
		if _, there := b.Modified(ctx, name); there == nil {
			return ErrExists
		}
		return err
	})
}

// Put is [Bucket.Put].
func (c *Client) Put(ctx context.Context, name string, object []byte) error {
	return c.request(ctx, func(ctx context.Context, b Bucket) error { return b.Put(ctx, name, object) })
}

// Read is [Bucket.Read].
func (c *Client) Read(ctx context.Context, name string) (object []byte, err error) {
	err = c.request(ctx, func(ctx context.Context, b Bucket) (err error) {
		object, err = b.Read(ctx, name)
		return err
	})
	return object, err
}

// Modified is [Bucket.Modified], in UTC.
func (c *Client) Modified(ctx context.Context, name string) (at time.Time, err error) {
	err = c.request(ctx, func(ctx context.Context, b Bucket) (err error) {
		at, err = b.Modified(ctx, name)
		return err
	})
	return at.UTC(), err
}

// List is [Bucket.List].
func (c *Client) List(ctx context.Context, prefix string, token []byte, most int) (names []string, next []byte, err error) {
	err = c.request(ctx, func(ctx context.Context, b Bucket) (err error) {
		names, next, err = b.List(ctx, prefix, token, most)
		return err
	})
	return names, next, err
}

// Folders is [Bucket.Folders].
func (c *Client) Folders(ctx context.Context, prefix string) (names []string, err error) {
	err = c.request(ctx, func(ctx context.Context, b Bucket) (err error) {
		names, err = b.Folders(ctx, prefix)
		return err
	})
	return names, err
}

// Remove is [Bucket.Remove].
func (c *Client) Remove(ctx context.Context, name string) error {
	return c.request(ctx, func(ctx context.Context, b Bucket) error { return b.Remove(ctx, name) })
}

// ListAll returns all names that begin with a prefix, which ends with a slash, sorted.
func (c *Client) ListAll(ctx context.Context, prefix string) (names []string, err error) {
	for token, isFirst := []byte(nil), true; isFirst || token != nil; isFirst = false {
		var page []string
		if page, token, err = c.List(ctx, prefix, token, MostListed); err != nil {
			return nil, err
		}
		names = append(names, page...)
	}
	slices.Sort(names)
	return names, nil
}

// RemoveAll removes all objects whose names begin with a prefix, which ends with a slash. In a
// directory, it removes that folder with all that writers who were killed have left there, so that
// nobody may write into it meanwhile.
func (c *Client) RemoveAll(ctx context.Context, prefix string) error {
	names, err := c.ListAll(ctx, prefix)
	if err != nil {
		return err
	}
	if c.address.Scheme == directoryScheme {
		folder := filepath.Join(c.address.Bucket, filepath.FromSlash(prefix))
		return c.request(ctx, func(context.Context, Bucket) error { return os.RemoveAll(folder) })
	}
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(mostRequests)
	for _, name := range names {
		group.Go(func() error { return c.Remove(within, name) })
	}
	return group.Wait()
}
