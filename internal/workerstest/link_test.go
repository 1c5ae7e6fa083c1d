// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build linux

package workerstest_test

import (
	"context"
	"errors"
	"net"
	"sync"
	"testing"
)

// link is the way of one program to a server. It can be interrupted: bytes stay where they are, as
// in a network that is gone, or connections are closed and refused.
type link struct {
	listener net.Listener
	target   string

	mu struct {
		sync.Mutex
		changed *sync.Cond
		frozen  bool
		refuses bool
		ended   bool
		open    map[net.Conn]bool
	}
}

// newLink starts a link to a server, which ends with the test.
func newLink(t testing.TB, target string) *link {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(context.WithoutCancel(t.Context()), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &link{listener: listener, target: target}
	l.mu.changed = sync.NewCond(&l.mu)
	l.mu.open = map[net.Conn]bool{}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { l.serve(client) })
		}
	})
	t.Cleanup(func() {
		l.change(func() { l.mu.ended = true })
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		l.closeAll()
		serving.Wait()
	})
	return l
}

func (l *link) address() string { return l.listener.Addr().String() }

func (l *link) change(how func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	how()
	l.mu.changed.Broadcast()
}

// freeze keeps all bytes back.
func (l *link) freeze() { l.change(func() { l.mu.frozen = true }) }

// cut closes all connections, and refuses others.
func (l *link) cut() {
	l.change(func() { l.mu.refuses = true })
	l.closeAll()
}

// heal lets everything through again.
func (l *link) heal() { l.change(func() { l.mu.frozen, l.mu.refuses = false, false }) }

func (l *link) closeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for conn := range l.mu.open {
		_ = conn.Close() // it is cut
	}
}

func (l *link) serve(client net.Conn) {
	defer client.Close() //nolint:errcheck // as above
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", l.target)
	if err != nil || !l.admit(client, server) {
		return
	}
	defer server.Close() //nolint:errcheck // as above
	var both sync.WaitGroup
	both.Go(func() { l.pass(server, client) })
	l.pass(client, server)
	both.Wait()
	l.change(func() {
		delete(l.mu.open, client)
		delete(l.mu.open, server)
	})
}

// admit adds a connection unless it is refused.
func (l *link) admit(client, server net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mu.refuses || l.mu.ended {
		_ = server.Close() // nothing was sent
		return false
	}
	l.mu.open[client], l.mu.open[server] = true, true
	return true
}

// pass copies bytes until one end is closed, and closes both.
func (l *link) pass(to, from net.Conn) {
	defer to.Close()   //nolint:errcheck // as above
	defer from.Close() //nolint:errcheck // as above
	buffer := make([]byte, 32<<10)
	for {
		n, err := from.Read(buffer)
		l.mu.Lock()
		for l.mu.frozen && !l.mu.ended {
			l.mu.changed.Wait()
		}
		l.mu.Unlock()
		_, writeErr := to.Write(buffer[:n])
		if errors.Join(err, writeErr) != nil {
			return
		}
	}
}
