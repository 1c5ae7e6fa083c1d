// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import (
	"os"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
)

// How much garbage there may be before it is collected. A small stack is done before the first
// collection, and a large one keeps to an amount of memory as long as that does not cost more than
// collecting is worth.
const (
	leastGarbage = 64 << 20
	usualMemory  = 608 << 20 // with garbage
	mostOften    = 4         // garbage is at least this part of the memory in use
)

// garbage returns how much of it there may be next to memory in use.
func garbage(used uint64) uint64 {
	left := uint64(0)
	if used < usualMemory {
		left = usualMemory - used
	}
	return max(leastGarbage, min(used, left), used/mostOften)
}

// tuneMemory sets when garbage is collected, now and after each collection, unless the user has
// said when.
func tuneMemory() {
	if os.Getenv("GOGC") != "" || os.Getenv("GOMEMLIMIT") != "" {
		return
	}
	debug.SetGCPercent(100 * leastGarbage / (4 << 20)) // of the 4 MB that the runtime takes for the least heap
	runtime.SetFinalizer(&collection{}, (*collection).ended)
}

// collection is garbage, so that its finalizer runs when it was collected.
type collection struct{ _ [16]byte } // not so small that it shares its place with others

func (c *collection) ended() {
	samples := []metrics.Sample{
		{Name: "/gc/heap/live:bytes"},
		{Name: "/gc/scan/stack:bytes"},
		{Name: "/gc/scan/globals:bytes"},
		{Name: "/memory/classes/heap/stacks:bytes"},
	}
	metrics.Read(samples)
	live, scanned := samples[0].Value.Uint64(), samples[1].Value.Uint64()
	globals, stacks := samples[2].Value.Uint64(), samples[3].Value.Uint64()
	base := max(live+scanned+globals, 1<<20)                   // of which the runtime takes the percentage
	debug.SetGCPercent(int(100 * garbage(live+stacks) / base)) //nolint:gosec // at most a few thousand
	runtime.SetFinalizer(c, (*collection).ended)
}
