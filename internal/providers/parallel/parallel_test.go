// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package parallel_test

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/cairnstacks/cairn/internal/providers/parallel"
)

func TestEach(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var running, most, sum atomic.Int64
		began := time.Now()
		parallel.Each([]int64{1, 2, 3, 4, 5}, 2, func(i int, item int64) {
			most.Store(max(most.Load(), running.Add(1)))
			time.Sleep(time.Second) //nolint:forbidigo // the time of the bubble
			running.Add(-1)
			sum.Add(item * int64(i))
		})
		if got := sum.Load(); got != 2+2*3+3*4+4*5 {
			t.Errorf("the calls have %d", got)
		}
		if took := time.Since(began); most.Load() != 2 || took != 3*time.Second {
			t.Errorf("at most %d run at the same time, and all take %s", most.Load(), took)
		}
	})
}
