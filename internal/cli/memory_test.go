// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package cli

import "testing"

func TestGarbage(t *testing.T) {
	const mb = 1 << 20
	for used, want := range map[uint64]uint64{
		1 * mb:    64 * mb,  // small: once in 64 MB
		200 * mb:  200 * mb, // as the runtime does it
		400 * mb:  208 * mb, // keeps to 608 MB
		500 * mb:  125 * mb, // more often would cost too much
		4000 * mb: 1000 * mb,
	} {
		if got := garbage(used); got != want {
			t.Errorf("garbage(%d MB) is %d MB, want %d MB", used/mb, got/mb, want/mb)
		}
	}
}
