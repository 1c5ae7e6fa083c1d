// Copyright (c) The cairn authors
// SPDX-License-Identifier: MPL-2.0

//go:build !linux

package statestore

import "testing"

func mountSmall(t *testing.T, _ string, _ int) {
	t.Helper()
	t.Skip("SKIPPED: no small file systems are made on this system")
}
