// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package rpcapi

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"google.golang.org/grpc/stats"
)

// Memory is given back once after the last call of many, and only if there is much of it.
func TestReclaim(t *testing.T) {
	for name, test := range map[string]struct {
		memory uint64
		want   int64 // times, after two rows of calls
	}{
		"little": {keptMemory, 0},
		"much":   {keptMemory + 1, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var got atomic.Int64
				r := &reclaimer{memory: func() uint64 { return test.memory }, reclaim: func() { got.Add(1) }}
				for range 2 {
					for range 10 {
						r.HandleRPC(t.Context(), &stats.Begin{})
						r.HandleRPC(t.Context(), &stats.End{})
						time.Sleep(quiet / 2) //nolint:forbidigo // virtual time
					}
					time.Sleep(quiet) //nolint:forbidigo // virtual time
				}
				synctest.Wait()
				if got := got.Load(); got != test.want {
					t.Errorf("memory was given back %d times, want %d", got, test.want)
				}
			})
		})
	}
}

// A call that holds a connection open for longer is none that has ended.
func TestReclaimWaitsForAnEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := &reclaimer{memory: func() uint64 { return keptMemory + 1 }, reclaim: func() { t.Error("memory was given back") }}
		r.HandleRPC(t.Context(), &stats.Begin{})
		time.Sleep(2 * quiet) //nolint:forbidigo // virtual time
		synctest.Wait()
	})
}
