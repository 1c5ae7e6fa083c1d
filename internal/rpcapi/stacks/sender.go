// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package stacks

import (
	"sync"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
)

// sender sends the events of one call, one after the other (rule A4 of package rpcapi), until that
// fails. It is safe for concurrent use.
type sender[E any] struct {
	stream grpc.ServerStreamingServer[E]

	mu  sync.Mutex
	err error
}

func newSender[E any](stream grpc.ServerStreamingServer[E]) *sender[E] {
	return &sender[E]{stream: stream}
}

// send sends an event. After an error it does nothing.
func (s *sender[E]) send(event *E) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.err = s.stream.Send(event)
	}
}

// fail takes note of an error because of which the call cannot say all that it has to. Nil is none.
func (s *sender[E]) fail(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil && err != nil {
		s.err = status.Errorf(codes.Internal, "an event cannot be encoded: %s", err)
	}
}

// failed returns the first error.
func (s *sender[E]) failed() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.err
}
