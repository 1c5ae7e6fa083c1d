// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package session

import (
	"os"
	"syscall"
	"testing"
	"time"
)

// A signal that comes twice at the same moment is one interrupt; anything later, or another one, is
// the second.
func TestInterruptRepeats(t *testing.T) {
	start := time.Now()
	first := interrupts{syscall.SIGTERM, start}
	for _, test := range []struct {
		before interrupts
		signal os.Signal
		after  time.Duration
		want   bool
	}{
		{interrupts{}, os.Interrupt, 0, false},
		{first, syscall.SIGTERM, time.Millisecond, true},
		{first, os.Interrupt, time.Millisecond, false},
		{first, syscall.SIGTERM, sameMoment, false},
	} {
		if got := test.before.repeats(test.signal, start.Add(test.after)); got != test.want {
			t.Errorf("%v after %v, and %s: %t, want %t", test.signal, test.before.first, test.after, got, test.want)
		}
	}
}
