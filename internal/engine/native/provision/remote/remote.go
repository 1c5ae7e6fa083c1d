// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package remote

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"
)

// Endpoint is a machine with an sshd, and the user that logs in there.
type Endpoint struct {
	Host     string
	Port     int
	User     string
	Password string // "" for none

	PrivateKey  string // PEM; "" for none
	Certificate string // of the private key, in the format of authorized keys; "" for none
	HostKey     string // of the machine, or of the authority that signs host keys, in the same format; "" accepts each
}

func (e *Endpoint) address() string { return net.JoinHostPort(e.Host, strconv.Itoa(e.Port)) }

// Options say how to reach a machine.
type Options struct {
	Endpoint
	Bastion *Endpoint // the machine from which the other one is reached; nil without one
	Proxy   *Proxy    // for the first of them; nil without one

	Agent    string // socket of an agent with keys; "" for none
	Identity string // the key of the agent to begin with: its comment, a file with it, or the key itself; "" for any

	Timeout time.Duration // for all tries to connect

	// Failed is called with the error of a try to connect when another is to follow, if the error
	// differs from that of the try before. May be nil.
	Failed func(error)

	// Grace is how long an interrupted command may take to end; 0 stands for five seconds. KeepAlive
	// is how often a machine is asked whether it is still there; 0 stands for every 30 seconds. One
	// that does not answer until it is asked again is gone.
	Grace, KeepAlive time.Duration
}

// Between tries, and for one of them.
const (
	firstPause = 200 * time.Millisecond
	maxPause   = 5 * time.Second
	maxTry     = 30 * time.Second
)

// Machine is a machine that is reached. Made by [Connect].
type Machine struct{ client *ssh.Client }

// SettingsError says that no try to connect can succeed.
type SettingsError struct{ Reason string }

func (e *SettingsError) Error() string { return e.Reason }

// TimeoutError says that no try to connect has succeeded in time.
type TimeoutError struct {
	Timeout time.Duration
	Last    error
}

func (e *TimeoutError) Error() string {
	return fmt.Sprintf("no connection within %s; the last try: %s", e.Timeout, e.Last)
}

func (e *TimeoutError) Unwrap() error { return e.Last }

// Connect connects with a machine and uses it. The connection is closed afterwards.
//
// Errors: [*SettingsError], [*TimeoutError], the cause of the end of ctx, and those of use.
func Connect(ctx context.Context, opts Options, use func(*Machine) error) error {
	if opts.Grace == 0 {
		opts.Grace = 5 * time.Second
	}
	if opts.KeepAlive == 0 {
		opts.KeepAlive = 30 * time.Second
	}
	d, err := newDialer(&opts)
	if err != nil {
		return err
	}
	defer d.close()
	c, err := d.untilTimeout(ctx)
	if err != nil {
		return err
	}
	defer c.close()
	var watching sync.WaitGroup
	done := make(chan struct{})
	watching.Go(func() { c.keepAlive(opts.KeepAlive, done) })
	watching.Go(func() { c.endAfter(ctx, opts.Grace, done) })
	defer watching.Wait()
	defer close(done)
	return use(&Machine{c.client})
}

// untilTimeout tries to connect until it succeeds or the time is over (rule R1).
func (d *dialer) untilTimeout(ctx context.Context) (*connection, error) {
	limited, cancel := context.WithTimeout(ctx, d.Timeout)
	defer cancel()
	context.AfterFunc(limited, d.close) // so that nobody waits for the agent any more
	var last error
	for pause := firstPause; ; pause = min(2*pause, maxPause) {
		try, done := context.WithTimeout(limited, maxTry)
		c, err := d.connect(try)
		done()
		switch {
		case err == nil:
			return c, nil
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		}
		if limited.Err() == nil && (last == nil || err.Error() != last.Error()) && d.Failed != nil {
			d.Failed(err)
		}
		if last == nil || !errors.Is(err, context.DeadlineExceeded) { // which says less than the one before
			last = err
		}
		select {
		case <-time.After(pause):
		case <-limited.Done():
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			return nil, &TimeoutError{d.Timeout, last}
		}
	}
}

// connection is a machine with those that it is reached through.
type connection struct {
	client *ssh.Client
	behind *ssh.Client // nil without one
}

func (c *connection) close() {
	hangUp(c.client)
	if c.behind != nil {
		hangUp(c.behind)
	}
}

// endAfter closes the connection some time after ctx has ended (rule R3).
func (c *connection) endAfter(ctx context.Context, grace time.Duration, done <-chan struct{}) {
	select {
	case <-done:
		return
	case <-ctx.Done():
	}
	select {
	case <-done:
	case <-time.After(grace):
		c.close()
	}
}

// hangUp closes something without a loss of data: readers and writers see that it is closed.
func hangUp(c io.Closer) {
	_ = c.Close() //nolint:errcheck // as above
}

// keepAlive asks the machine from time to time whether it is there, and closes the connection if it
// is not.
func (c *connection) keepAlive(every time.Duration, done <-chan struct{}) {
	var asking sync.WaitGroup
	defer asking.Wait()
	answered := make(chan struct{}, 1)
	answered <- struct{}{}
	timer := time.NewTicker(every)
	defer timer.Stop()
	defer c.close() // so that nobody waits for an answer any more
	for {
		select {
		case <-done:
			return
		case <-timer.C:
		}
		select {
		case <-answered:
		default:
			return
		}
		asking.Go(func() {
			if _, _, err := c.client.SendRequest("keepalive@openssh.com", true, nil); err == nil {
				answered <- struct{}{}
			}
		})
	}
}
