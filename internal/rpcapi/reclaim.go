// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"time"

	"google.golang.org/grpc/stats"
)

const (
	quiet      = time.Second // how long no call may end until memory is given back
	keptMemory = 64 << 20    // the memory that a process without work may keep, in bytes
)

// reclaimer gives memory back to the system when a client makes no calls. The Go runtime alone
// would keep the memory of large requests, which is about three times their size: it collects after
// as much again was allocated, which does not happen in a process without work, or else every two
// minutes, and the pools of gRPC outlive one collection. It is a [stats.Handler] because calls
// whose requests cannot be decoded come to no interceptor.
type reclaimer struct {
	memory  func() uint64 // the memory that the process has of the system, in bytes
	reclaim func()

	mu    sync.Mutex
	timer *time.Timer // nil before the first call has ended
}

func newReclaimer() *reclaimer { return &reclaimer{memory: mappedMemory, reclaim: reclaim} }

// mappedMemory is all that the runtime has mapped and not given back, in bytes.
func mappedMemory() uint64 {
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64() - sample[1].Value.Uint64()
}

// reclaim collects twice: objects in pools outlive one collection.
func reclaim() {
	runtime.GC()
	debug.FreeOSMemory()
}

// callEnded begins to wait anew.
func (r *reclaimer) callEnded() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.timer == nil {
		r.timer = time.AfterFunc(quiet, r.run)
		return
	}
	r.timer.Reset(quiet)
}

// run gives memory back, if there is enough to be worth collections. Calls may run, or end, at the
// same time.
func (r *reclaimer) run() {
	if r.memory() > keptMemory {
		r.reclaim()
	}
}

// HandleRPC implements [stats.Handler].
func (r *reclaimer) HandleRPC(_ context.Context, event stats.RPCStats) {
	if _, ok := event.(*stats.End); ok {
		r.callEnded()
	}
}

// TagRPC implements [stats.Handler].
func (*reclaimer) TagRPC(ctx context.Context, _ *stats.RPCTagInfo) context.Context { return ctx }

// TagConn implements [stats.Handler].
func (*reclaimer) TagConn(ctx context.Context, _ *stats.ConnTagInfo) context.Context { return ctx }

// HandleConn implements [stats.Handler].
func (*reclaimer) HandleConn(context.Context, stats.ConnStats) {}
