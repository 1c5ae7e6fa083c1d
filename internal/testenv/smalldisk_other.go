// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package testenv

import "testing"

// SmallDisk ends the test, on CI too: no system but Linux mounts a file system of some bytes by one
// call.
func SmallDisk(t testing.TB, _ string, _ int) {
	t.Helper()
	t.Skip("needs Linux, which can mount a small file system")
}
