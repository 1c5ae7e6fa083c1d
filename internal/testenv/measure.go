// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import (
	"runtime"
	"runtime/metrics"
	"sync"
	"testing"
	"time"
)

// Measure runs do in the loop of a benchmark. It reports metrics that the wall clock doesn't show:
// the processor time, which other work on the machine changes little, of one run and of each of the
// items that one run is about; and the peak of the heap.
func Measure(b *testing.B, items int, do func()) {
	b.Helper()
	b.ReportAllocs()
	runtime.GC()
	stop := watchHeap()
	before := processorTime()
	for b.Loop() {
		do()
	}
	spent := float64(processorTime()-before) / float64(b.N)
	b.ReportMetric(float64(stop())/1e6, "peak-heap-MB")
	b.ReportMetric(spent/1e6, "cpu-ms/op")
	b.ReportMetric(spent/float64(items), "cpu-ns/item")
}

// watchHeap looks at the heap every millisecond. Stop returns the peak of its size, garbage
// included, beyond the size at first.
func watchHeap() (stop func() uint64) {
	sample := []metrics.Sample{{Name: "/memory/classes/heap/objects:bytes"}}
	read := func() uint64 {
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	first := read()
	peak := first
	done := make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		ticker := time.NewTicker(time.Millisecond)
		defer ticker.Stop()
		for {
			peak = max(peak, read())
			select {
			case <-done:
				return
			case <-ticker.C:
			}
		}
	})
	return func() uint64 {
		close(done)
		watching.Wait()
		return max(peak, read()) - first
	}
}
