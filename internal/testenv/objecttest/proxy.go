// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objecttest

import (
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// Faults are what a [Proxy] does to requests. The zero value does nothing.
//
// All but MaxDelay are parts of the requests between 0 and 1. A request has one of these faults at
// most, so their sum should not exceed 1.
type Faults struct {
	// MaxDelay is the longest time that a request is delayed. All are, at random.
	MaxDelay time.Duration

	// Repeat sends a request to the server again that it has answered. The client gets the second
	// answer. Requests that only read are not repeated.
	Repeat float64

	// Reorder holds a request back until the server has answered a later one, or for [Hold] if there
	// is none.
	Reorder float64

	// CutBefore closes the connection before the server gets the request, CutAfter when it has handled
	// it.
	CutBefore, CutAfter float64

	// Unavailable answers with the status 503 and does not forward the request.
	Unavailable float64
}

// Hold is how long a request is held back where no later one comes.
const Hold = 200 * time.Millisecond

// Counts are the numbers of requests to a [Proxy]: all by their methods, and those with each fault.
type Counts struct {
	Requests map[string]int // as clients have sent them

	Delayed, Repeated, CutBefore, CutAfter, Unavailable int

	Reordered int // those that a later one has passed
}

// Total is the number of all requests.
func (c Counts) Total() int {
	total := 0
	for _, n := range c.Requests {
		total += n
	}
	return total
}

// Proxy forwards requests over HTTP to a [Server], with faults. It changes no header that a client
// may have signed, and begins without faults.
//
// What a client has sent is forwarded also if the client does not wait for the answer any longer:
// so a server may handle it late, as with a network that is slow. Safe for concurrent use.
type Proxy struct {
	server    *Server
	address   string
	transport *http.Transport

	mu struct {
		sync.Mutex
		running  sync.WaitGroup // the server and all requests; added to under the lock alone
		random   *rand.Rand
		faults   Faults
		counts   Counts
		next     int          // the number of the next request
		held     []passing    // requests that are held back
		listener net.Listener // nil if it is down
		server   *http.Server // of the listener
		closed   bool
	}
}

// passing is a request that is held back until another has passed it.
type passing struct {
	number int
	passed chan struct{} // closed when a later one has been answered
}

// NewProxy starts a proxy in front of a server, which runs until the test ends. The seed decides
// which requests have which faults, by the order in which they arrive.
func NewProxy(t testing.TB, server *Server, seed uint64) *Proxy {
	t.Helper()
	p := &Proxy{server: server, transport: &http.Transport{
		DisableCompression:  true, // would add a header, and change the answer
		MaxIdleConnsPerHost: 100,
	}}
	p.mu.random = rand.New(rand.NewPCG(seed, 0)) //nolint:gosec // the choice of faults is left to chance
	p.mu.counts.Requests = map[string]int{}
	listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p.address = listener.Addr().String()
	p.serve(listener)
	t.Cleanup(func() {
		p.mu.Lock()
		p.mu.closed = true
		p.mu.Unlock()
		p.SetDown(t, true)
		testenv.Within(t, "all requests to the proxy have ended", p.mu.running.Wait)
		p.transport.CloseIdleConnections()
	})
	return p
}

// serve answers requests until [Proxy.SetDown] ends it.
func (p *Proxy) serve(listener net.Listener) {
	server := &http.Server{Handler: http.HandlerFunc(p.handle), ReadHeaderTimeout: testenv.Patience}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.listener, p.mu.server = listener, server
	p.mu.running.Go(func() { _ = server.Serve(listener) }) //nolint:errcheck // It ends by being closed.
}

// Address is where it listens.
func (p *Proxy) Address() string { return p.address }

// Access returns how the server is reached through the proxy.
func (p *Proxy) Access() Access { return p.server.Through(p.address) }

// SetFaults sets the faults of all later requests.
func (p *Proxy) SetFaults(faults Faults) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.faults = faults
}

// SetDown closes all connections and has further ones refused, or accepts them again.
func (p *Proxy) SetDown(t testing.TB, down bool) {
	t.Helper()
	p.mu.Lock()
	listener, server := p.mu.listener, p.mu.server
	if down {
		p.mu.listener = nil
	}
	p.mu.Unlock()
	switch {
	case down && listener != nil:
		// The server may not know its listener yet, or have closed it when asked a second time.
		_ = listener.Close() //nolint:errcheck // A listener has nothing to lose.
		_ = server.Close()   //nolint:errcheck // It reports that the listener is closed.
	case !down && listener == nil:
		listener, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", p.address)
		if err != nil {
			t.Fatal(err)
		}
		p.serve(listener)
	}
}

// Counts returns the numbers of the requests since the start or the last [Proxy.ResetCounts].
func (p *Proxy) Counts() Counts {
	p.mu.Lock()
	defer p.mu.Unlock()
	counts := p.mu.counts
	counts.Requests = maps.Clone(counts.Requests)
	return counts
}

// ResetCounts sets all numbers to zero.
func (p *Proxy) ResetCounts() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.mu.counts = Counts{Requests: map[string]int{}}
}
