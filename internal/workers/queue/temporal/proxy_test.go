// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package temporal_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
)

// proxy passes on what clients and a server say to each other.
type proxy struct {
	address string
	answers sync.Mutex // locked while no answer is passed on
}

// newProxy starts a proxy, which ends with the test.
func newProxy(t *testing.T, to string) *proxy {
	t.Helper()
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &proxy{address: listener.Addr().String()}
	var serving sync.WaitGroup
	serving.Go(func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			serving.Go(func() { p.serve(client, to) })
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

func (p *proxy) serve(client net.Conn, to string) {
	defer client.Close() //nolint:errcheck // It is cut.
	server, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", to)
	if err != nil {
		return
	}
	var requests sync.WaitGroup
	defer requests.Wait()
	requests.Go(func() {
		defer server.Close()           //nolint:errcheck // as above
		_, _ = io.Copy(server, client) // as above
	})
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		p.answers.Lock()
		_, writeErr := client.Write(buffer[:n])
		p.answers.Unlock()
		if err != nil || writeErr != nil {
			return
		}
	}
}
