// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package tracing

import (
	"context"
	"testing"

	"google.golang.org/grpc/stats"
)

// discard is a handler that keeps nothing.
type discard struct{ stats.Handler }

func (discard) HandleRPC(context.Context, stats.RPCStats) {}

// The channel is closed when the last call has ended, and at once where no call is open.
func TestCallsEnded(t *testing.T) {
	var open calls
	handler := counted{discard{}, nil, &open}
	isClosed := func(c <-chan struct{}) bool {
		select {
		case <-c:
			return true
		default:
			return false
		}
	}
	if !isClosed(open.ended()) {
		t.Error("without a call, the channel is open")
	}
	handler.HandleRPC(t.Context(), &stats.Begin{})
	handler.HandleRPC(t.Context(), &stats.Begin{})
	first := open.ended()
	handler.HandleRPC(t.Context(), &stats.End{})
	if second := open.ended(); isClosed(first) || isClosed(second) {
		t.Error("with a call, the channel is closed")
	}
	handler.HandleRPC(t.Context(), &stats.End{})
	if !isClosed(first) || !isClosed(open.ended()) {
		t.Error("after the last call, the channel is open")
	}
}
