// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package objecttest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"time"

	"github.com/cairnstacks/cairn/internal/testenv"
)

// fault is what happens to a request, apart from its delay.
type fault int

const (
	noFault fault = iota
	repeat
	reorder
	cutBefore
	cutAfter
	unavailable
)

// passage is what was chosen for a request.
type passage struct {
	number int // by the order of arrival
	delay  time.Duration
	fault  fault
}

// begin counts a request and chooses what happens to it. It returns false where the proxy has
// ended.
func (p *Proxy) begin(method string) (passage, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.mu.closed {
		return passage{}, false
	}
	p.mu.running.Add(1)
	p.mu.counts.Requests[method]++
	p.mu.next++
	// As many random numbers for each request, so that the faults of one change nothing for others.
	slow, chosen := p.mu.random.Float64(), p.mu.random.Float64()
	f := p.mu.faults
	begun := passage{number: p.mu.next, delay: time.Duration(slow * float64(f.MaxDelay))}
	for _, option := range []struct {
		part  float64
		fault fault
	}{
		{f.Repeat, repeat},
		{f.Reorder, reorder},
		{f.CutBefore, cutBefore},
		{f.CutAfter, cutAfter},
		{f.Unavailable, unavailable},
	} {
		if chosen >= 0 && chosen < option.part {
			begun.fault = option.fault
		}
		chosen -= option.part
	}
	if begun.fault == repeat && (method == http.MethodGet || method == http.MethodHead) {
		begun.fault = noFault
	}
	countFault(&p.mu.counts, begun)
	return begun, true
}

// countFault counts the faults of a request. Whether it is passed is not known yet.
func countFault(c *Counts, begun passage) {
	if begun.delay > 0 {
		c.Delayed++
	}
	switch begun.fault {
	case repeat:
		c.Repeated++
	case cutBefore:
		c.CutBefore++
	case cutAfter:
		c.CutAfter++
	case unavailable:
		c.Unavailable++
	case noFault, reorder:
	}
}

// errCut is why there is no answer.
var errCut = errors.New("the connection is cut")

func (p *Proxy) handle(w http.ResponseWriter, r *http.Request) {
	answer, err := p.answer(r)
	if err != nil {
		panic(http.ErrAbortHandler) // closes the connection
	}
	maps.Copy(w.Header(), answer.header)
	w.WriteHeader(answer.status)
	_, _ = w.Write(answer.body) //nolint:errcheck // A client that has gone does not want it.
}

// answer is what the server has answered.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// answer returns the answer for the client. An error cuts the connection.
func (p *Proxy) answer(r *http.Request) (answer, error) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return answer{}, err
	}
	begun, ok := p.begin(r.Method)
	if !ok {
		return answer{}, errCut
	}
	defer p.mu.running.Done()
	<-time.After(begun.delay)
	switch begun.fault {
	case cutBefore:
		return answer{}, errCut
	case unavailable:
		return answer{status: http.StatusServiceUnavailable}, nil
	case reorder:
		p.hold(begun.number)
	case noFault, repeat, cutAfter:
	}
	defer p.pass(begun.number)
	got, err := p.forward(r, body)
	switch begun.fault {
	case repeat:
		if err == nil {
			got, err = p.forward(r, body)
		}
	case cutAfter:
		return answer{}, errCut
	case noFault, reorder, cutBefore, unavailable:
	}
	return got, err
}

// hold waits until the server has answered a request that came later.
func (p *Proxy) hold(number int) {
	mine := passing{number: number, passed: make(chan struct{})}
	p.mu.Lock()
	p.mu.held = append(p.mu.held, mine)
	p.mu.Unlock()
	select {
	case <-mine.passed:
	case <-time.After(Hold):
	}
}

// pass lets go of earlier requests that are held back, as one has been answered.
func (p *Proxy) pass(number int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	var later []passing
	for _, held := range p.mu.held {
		switch {
		case held.number < number:
			close(held.passed)
			p.mu.counts.Reordered++
		case held.number > number:
			later = append(later, held)
		default: // itself, which nothing has passed
		}
	}
	p.mu.held = later
}

// forward sends a request to the server, whether the client still waits or not.
func (p *Proxy) forward(r *http.Request, body []byte) (answer, error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), testenv.Patience)
	defer cancel()
	request := r.Clone(ctx)
	request.RequestURI = "" // which a client must not set
	request.URL = &url.URL{
		Scheme: "http", Host: p.server.Address(),
		Path: r.URL.Path, RawPath: r.URL.RawPath, RawQuery: r.URL.RawQuery, ForceQuery: r.URL.ForceQuery,
	}
	request.Body, request.Close = io.NopCloser(bytes.NewReader(body)), false
	if len(body) == 0 && r.ContentLength == 0 {
		request.Body = http.NoBody
	}
	// They are of the connection to the proxy, and nobody signs them.
	for _, name := range []string{"Connection", "Expect", "Keep-Alive"} {
		request.Header.Del(name)
	}
	if _, ok := request.Header["User-Agent"]; !ok {
		request.Header.Set("User-Agent", "") // adds none
	}
	response, err := p.transport.RoundTrip(request)
	if err != nil {
		return answer{}, err
	}
	received, err := io.ReadAll(response.Body)
	if err = errors.Join(err, response.Body.Close()); err != nil {
		return answer{}, err
	}
	response.Header.Del("Connection")
	return answer{status: response.StatusCode, header: response.Header, body: received}, nil
}
