// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

package testenv

import "testing"

// SkipUnderRace skips a test in a program with the race detector, under which the test would take
// long and find nothing: it does one thing at a time, or the same things at the same time as
// another test. Scripts say the same by their condition [race].
func SkipUnderRace(tb testing.TB, reason string) {
	tb.Helper()
	if RaceDetector {
		tb.Skip("not under the race detector: " + reason)
	}
}
