// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package postgrestest

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
)

// Proxy passes bytes on between clients and a [Server], and cuts a connection after a number of
// bytes of answers, once each time that it is told to. It is safe for concurrent use.
type Proxy struct {
	address  string
	cutAfter atomic.Int64
	cuts     atomic.Int64
}

// uncut is more than any test has answers.
const uncut = 1 << 60

// NewProxy starts a proxy, which runs until the test ends, and cuts nothing yet.
func NewProxy(t testing.TB, server *Server) *Proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{address: listener.Addr().String()}
	p.Uncut()
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(client, server.Address()) })
		}
	})
	t.Cleanup(func() {
		if err := listener.Close(); err != nil {
			t.Error(err)
		}
		serving.Wait()
	})
	return p
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.address }

// CutAfter has the connection cut that gets the answer after so many bytes.
func (p *Proxy) CutAfter(bytes int64) { p.cutAfter.Store(bytes) }

// Uncut has no connection cut any more.
func (p *Proxy) Uncut() { p.cutAfter.Store(uncut) }

// Cuts returns how many connections were cut.
func (p *Proxy) Cuts() int64 { return p.cuts.Load() }

func (p *Proxy) serve(client net.Conn, to string) {
	defer client.Close() //nolint:errcheck // It is cut.
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	defer server.Close() //nolint:errcheck // as above
	var requests sync.WaitGroup
	defer requests.Wait()
	requests.Go(func() {
		_, _ = io.Copy(server, client) //nolint:errcheck // as above
		_ = server.Close()             //nolint:errcheck // as above
	})
	buffer := make([]byte, 64)
	for {
		n, err := server.Read(buffer)
		if left := p.cutAfter.Add(-int64(n)); left < 0 {
			p.Uncut()
			p.cuts.Add(1)
			_ = client.Close() //nolint:errcheck // as above
			return
		}
		if _, writeErr := client.Write(buffer[:n]); err != nil || writeErr != nil {
			_ = client.Close() //nolint:errcheck // as above
			return
		}
	}
}
