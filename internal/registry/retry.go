// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package registry

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strconv"
	"syscall"
	"time"
)

const (
	requestTries = 3 // unless the environment says something else
	firstPause   = 250 * time.Millisecond

	// longestPause is how long a server may make a client wait. One that asks for more is not waited
	// for.
	longestPause = time.Minute
)

// passingError is an error whose reason may be gone the next time.
type passingError struct {
	err   error
	after time.Duration // that the server asks to wait for; 0 if it does not
}

func (e *passingError) Error() string { return e.err.Error() }
func (e *passingError) Unwrap() error { return e.err }

// passing marks an error whose reason may pass.
func passing(err error) error {
	var timeout net.Error
	switch {
	case err == nil:
		return nil
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE),
		errors.As(err, &timeout) && timeout.Timeout():
		return &passingError{err: err}
	}
	return err
}

// passingStatus reports whether an answer is one that may be another the next time.
func passingStatus(code int) bool {
	return code == http.StatusTooManyRequests || code >= http.StatusInternalServerError && code != http.StatusNotImplemented
}

// retryAfter returns how long a server wants a client to wait; 0 if it does not say.
func retryAfter(resp *http.Response) time.Duration {
	written := resp.Header.Get("Retry-After")
	if seconds, err := strconv.Atoi(written); err == nil && seconds > 0 {
		return time.Duration(min(seconds, int(2*longestPause/time.Second))) * time.Second
	}
	if at, err := http.ParseTime(written); err == nil {
		return max(time.Until(at), 0)
	}
	return 0
}

// pause waits before a request is repeated.
//
// Errors: the cause of the end of ctx.
func (c *Client) pause(ctx context.Context, try int, asked time.Duration) error {
	wait := max(asked, firstPause<<(try-1))
	if c.Pause != nil {
		return c.Pause(ctx, wait)
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// retried makes requests until one has an answer that is not about to pass. The answer may be one
// of an error.
func (c *Client) retried(ctx context.Context, request func() (*http.Response, error)) (*http.Response, error) {
	for try := 1; ; try++ {
		resp, err := request()
		var asked time.Duration
		switch again, ok := errors.AsType[*passingError](err); {
		case try >= c.tries, err != nil && !ok, err == nil && !passingStatus(resp.StatusCode):
			return resp, err
		case ok:
			asked = again.after
		default:
			if asked = retryAfter(resp); asked > longestPause {
				return resp, nil
			}
			_ = resp.Body.Close() //nolint:errcheck // it was not read
		}
		if err := c.pause(ctx, try, asked); err != nil {
			return nil, err
		}
	}
}
